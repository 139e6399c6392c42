#!/usr/bin/perl
#
# Every script is one for any POSIX shell, and a batch script's directives are
# where the scheduler reads them.

use strict;
use warnings;

use Cwd qw(getcwd);
use File::Find;
use Test::More;

my $source = $ENV{ASSAY_SRCDIR} || getcwd();

# Those of ours: build-aux has automake's own as well.
my @tops = grep { -e "$source/$_" } qw(
    .ci/run bootstrap quickstart build-aux/check-matrix build-aux/revision
    run_scripts harness bench stream t
);
my @scripts;
find(
    {   no_chdir => 1,
        wanted   => sub {
            my $path = $_;
            return if !-f $path || !-T $path;
            $path =~ s{^\Q$source\E/}{};
            my @lines = read_lines("$source/$path");
            return if !@lines;
            push @scripts, [ $path, @lines ]
                if $lines[0] =~ m{^#!\s*/bin/sh} || $path =~ /\.sh(?:\.in)?\z/;
        },
    },
    map {"$source/$_"} @tops
);
cmp_ok( scalar @scripts, '>=', 4, 'there are scripts' );

my @shells = grep { in_path($_) } qw(dash sh);
for my $script (@scripts) {
    my ( $path, @lines ) = @{$script};
    for my $shell (@shells) {
        my $said = qx($shell -n '$source/$path' 2>&1);
        is( $said, '', "$path: $shell -n finds nothing" );
    }
    is( join( ' ', bashisms(@lines) ), '', "$path: no words of bash" );
    is( join( ' ', batch_faults(@lines) ),
        '', "$path: batch directives stand where they count" )
        if grep {/^#SBATCH/} @lines;
}

# That each of these checks can fail.
for my $bash (
    '[[ -n $x ]]',      '[ a == b ]',
    'x=(1 2)',          'set -o pipefail',
    'echo ${x//a/b}',   'function f {',
    'source ./x',       'echo $((2**3))',
    '[ 1.5 -lt 5 ]',    'local x=1',
    'echo -e "x"',      'y=${x^^}',
    'read -a words',    'cmd &> log',
    'cat <<< "$x"',     'eval "$x"',
    )
{
    isnt( scalar bashisms("$bash\n"), 0, "'$bash' would be found" );
}
for my $batch (
    "#!/bin/sh\necho hello\n#SBATCH -N1\n",
    "#!/bin/sh\n#SBATCH --output=\$HOME/x\n",
    "#!/bin/sh\n#SBATCH --job-name=a b\n",
    )
{
    isnt( scalar batch_faults( map {"$_\n"} split /\n/, $batch ),
        0, 'a wrong batch header would be found: ' . ( split /\n/, $batch )[-1] );
}

SKIP: {
    skip 'no shellcheck here', 2 if !in_path('shellcheck');
    my $names = join ' ', map {"'$_->[0]'"} grep { $_->[0] !~ m{^t/data/} } @scripts;
    my $said = qx(cd '$source' && shellcheck -x $names 2>&1);
    is( $said, '', 'shellcheck finds nothing' );
    isnt( qx(printf '#!/bin/sh\nif [[ a == b ]]; then :; fi\n' | shellcheck - 2>&1),
        '', '... and would find what is not POSIX' );
}

done_testing();

sub read_lines {
    my ($path) = @_;
    open my $fh, '<', $path or die "$path: $!";
    my @lines = <$fh>;
    close $fh or die "$path: $!";
    return @lines;
}

sub in_path {
    my ($command) = @_;
    return grep { -x "$_/$command" } split /:/, $ENV{PATH};
}

# Words that dash does not know, or takes otherwise.
sub bashisms {
    my @lines = @_;
    my @found;
    for (@lines) {
        next if /^\s*#/;
        push @found, $1
            if /(?:^|[;&|(]|\b(?:then|else|do)\s)\s*(\[\[|function\s|source\s|local\s|declare\s|typeset\s|eval\s|echo\s+-e|read\s+-a)/
            || /\b(pipefail)\b/
            || /\[\s[^]]*\s(==)\s/
            || /^\s*\w+=(\()/
            || /(\$\{\w+(?:\/|\^|,|:\d))/
            || /\$\(\([^)]*(\*\*)/
            || /\[\s+(\d+\.\d+)\s+-(?:lt|gt|le|ge|eq|ne)/
            || /(&>|<<<|\|&)/;
    }
    return @found;
}

# sbatch stops reading at the first command, and expands nothing.
sub batch_faults {
    my @lines = @_;
    my ( @found, $ended );
    for (@lines) {
        if (/^#SBATCH\s+(.*)/) {
            my $value = $1;
            push @found, "after a command: $value" if $ended;
            push @found, "has a variable: $value"  if $value =~ /[\$`]/;
            push @found, "has a blank: $value"     if $value =~ /=\S*\s+\S/;
        }
        $ended = 1 if !/^\s*(?:#|$)/;
    }
    return @found;
}
