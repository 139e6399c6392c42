package TestTree;

# A tree of run_scripts with a stand-in for the program, for tests.

use 5.016;
use strict;
use warnings;

use Cwd qw(abs_path);
use Exporter qw(import);
use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use POSIX ();
use Sys::Hostname qw(hostname);

our @EXPORT = qw(build_dir harness_dir lines_of make_tree run_command
    source_dir slurp spew);

my $here = dirname(abs_path(__FILE__));
my %folders_of;    # modules of a tree's command
my %used;

sub source_dir { return $ENV{ASSAY_SRCDIR} // abs_path("$here/../../..") }
sub build_dir { return $ENV{ASSAY_BUILDDIR} // source_dir() }
sub harness_dir { return $ENV{ASSAY_HARNESS} // source_dir() . '/harness' }

# make_tree(): run_scripts filled in as make does, a program `stream` that is
# the stand-in, an empty folder for references. Returns a hash of its places.
# Variables that would tell the scripts something are taken away.
sub make_tree {
    delete @ENV{grep {/^(?:SLURM|ASSAY_(?:SYSTEM|REFERENCES|CAMPAIGN))/} keys %ENV};
    my $top = tempdir('assay test-XXXXXX', TMPDIR => 1, CLEANUP => 1);
    my %tree = (
        top       => $top,
        scripts   => "$top/run_scripts",
        programs  => "$top/programs",
        reference => "$top/reference",
        command   => "$top/assay",
        host      => hostname(),
    );
    make_path("$top/programs/stream", @tree{qw(scripts reference)}, "$top/work");
    chdir "$top/work" or die "chdir: $!";
    copy("$here/standin", "$top/programs/stream/stream") or die "copy: $!";
    chmod 0755, "$top/programs/stream/stream";
    spew($tree{command}, _command("$top/perl"));
    $folders_of{$tree{command}} = [harness_dir(), "$top/perl"];
    chmod 0755, $tree{command};
    fill($_, \%tree) for glob_in(source_dir() . '/run_scripts');
    return \%tree;
}

sub glob_in {
    my ($folder) = @_;

    opendir my $handle, $folder or die "$folder: $!";
    return map {"$folder/$_"} sort grep {m{\A(?:assay[.]sh|[a-z].*[.]in)\z}} readdir $handle;
}

# The dispatcher, without what configure would have to make first.
sub _command {
    my ($harness, $made) = (harness_dir(), shift);
    if (!-e "$harness/Assay/Config.pm") {
        make_path("$made/Assay");
        spew("$made/Assay/Config.pm",
            slurp(source_dir() . '/harness/Assay/Config.pm.in') =~ s{\@PACKAGE_VERSION\@}{0}r);
    }
    return <<"END";
#!$^X
use lib '$harness', '$made';
my (\$name, \@rest) = \@ARGV;
my \$module = 'Assay::' . ucfirst \$name;
eval "require \$module" or die \$\@;
exit \$module->can('main')->(\@rest);
END
}

sub fill {
    my ($file, $tree) = @_;

    my $text = slurp($file);
    my %token = (
        run_scripts => $tree->{scripts},
        programs    => $tree->{programs},
        command     => $tree->{command},
        reference   => $tree->{reference},
        layout      => 'build',
        mpi         => $tree->{mpi} // q{},
        mpirun      => $tree->{mpirun} // q{},
    );
    $text =~ s/\@assay_(\w+)\@/$token{$1}/g;
    my ($name) = $file =~ m{/([^/]+?)(?:[.]in)?\z};
    spew("$tree->{scripts}/$name", $text);
    chmod 0755, "$tree->{scripts}/$name" if $name =~ /\Arun_/;
    return;
}

# The function of a subcommand of a tree's command, which a fork of the test can
# call as the command would, in a tenth of the time. None at its first use: so
# each is run once as it is, with no module there that it has not asked for.
sub _main_of {
    my ($command, $name, @words) = @_;

    return if !$folders_of{$command} || !defined $name;
    return if !$used{join q{ }, $name, $words[0] // q{}}++;
    unshift @INC, @{$folders_of{$command}} if !$used{$command}++;
    my $module = ucfirst $name;
    my $file = "Assay/$module.pm";
    return eval { require $file } ? "Assay::$module"->can('main') : undef;
}

sub _end_as {
    my ($main, $command, $name, @words) = @_;

    local $0 = $command;
    my $status = eval { $main->(@words) };
    print {*STDERR} $@ if !defined $status;
    close STDOUT;
    close STDERR;
    POSIX::_exit($status // 255);
}

# run_command(COMMAND...): its exit status (128 and more: a signal), stdout and
# stderr. The first argument may be a hash of variables to set.
sub run_command {
    my @command = @_;

    my $variables = ref $command[0] ? shift @command : {};
    local @ENV{keys %{$variables}} = values %{$variables};
    my $out = File::Temp->new;
    my $err = File::Temp->new;
    my $main = _main_of(@command);
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        open STDOUT, '>', "$out" or die;
        open STDERR, '>', "$err" or die;
        _end_as($main, @command) if $main;
        exec {$command[0]} @command or die "exec: $!";
    }
    waitpid $pid, 0;
    my $status = $? & 127 ? 128 + ($? & 127) : $? >> 8;
    return ($status, slurp("$out"), slurp("$err"));
}

sub slurp {
    my ($file) = @_;

    open my $in, '<:raw', $file or die "$file: $!";
    local $/ = undef;
    return <$in> // q{};
}

sub spew {
    my ($file, @text) = @_;

    open my $out, '>:raw', $file or die "$file: $!";
    print {$out} @text;
    close $out or die "$file: $!";
    return;
}

# Whatever folder a test ends in can be cleaned away.
END { chdir q{/} }

# The lines of a text that fit a pattern.
sub lines_of {
    my ($text, $pattern) = @_;

    return grep {$_ =~ $pattern} split /\n/, $text;
}

1;
