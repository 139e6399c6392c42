#!/usr/bin/perl
#
# Who may depend on whom: the table of CONTRIBUTING.md, held against every
# #include, use and require, and shown to fail on a planted violation of each
# row.

use strict;
use warnings;

use Cwd qw(getcwd);
use File::Find;
use Test::More;

my $source = $ENV{ASSAY_SRCDIR} || getcwd();

# A row: files of these folders, lines that name something (the first capture)
# and what must not be named, why, and a line that would be a violation.
my $include = qr/^\s*#\s*include\s*[<"]([^>"]+)[>"]/;
my $use     = qr/^\s*(?:use|require)\s+([A-Za-z_][\w:]*)/;
my $core    = join '|', qw(
    strict warnings utf8 feature parent constant overload lib vars open
    integer bytes Carp Config Cwd Data::Dumper Digest::SHA Encode Errno Exporter
    Fcntl File::(?:Basename|Compare|Copy|Find|Path|Spec|Spec::Functions|Temp)
    FindBin Getopt::Long IO::(?:File|Handle|Select|Pipe|Socket) IPC::Open[23]
    JSON::PP List::Util Math::Trig POSIX Scalar::Util Socket Storable
    Sys::Hostname Symbol Term::ANSIColor Test::(?:More|Builder)
    Text::(?:Wrap|ParseWords) Tie::File Time::(?:HiRes|Local|Piece) version
);
my $programs = join '|', qw(stream manmem smb commbw launch);

my @rules = (
    {   where => qr{^lib/(?!job(?:_\w+)?\.[ch]$).*\.[ch]$},
        name  => $include,
        never => qr{^(?:mpi|lib/job.*)\b},
        why   => 'lib knows no MPI, but for libassaympi',
        plant => [ 'lib/clock.c', '#include <mpi.h>' ],
    },
    {   where => qr{^lib/.*\.[ch]$},
        name  => $include,
        never => qr{^(?:hip/.*|cuda.*|slurm/.*|pmi2?)\b},
        why   => 'lib knows neither GPUs nor schedulers',
        plant => [ 'lib/job.c', '#include <slurm/pmi2.h>' ],
    },
    {   where => qr{^lib/.*\.[ch]$},
        name  => $include,
        never => qr{^(?:\.\./|(?:$programs|harness|reference|t|bench)/)},
        why   => 'lib depends on nothing of the suite',
        plant => [ 'lib/clock.c', '#include "stream/options.h"' ],
    },
    {   where => qr{^lib/(?!launcher\.[ch]$).*\.[ch]$},
        name  => qr/"([^"]*\bSLURM_\w*|[^"]*\bPBS_\w*|[^"]*\.ref)"/,
        never => qr/./,
        why   => 'lib reads neither limits nor, but for one file, a scheduler\'s variables',
        plant => [ 'lib/clock.c', 'getenv("SLURM_JOB_ID");' ],
    },
    (   map {
            my $own = $_;
            {   where => qr{^$own/.*\.[ch]$},
                name  => $include,
                never => qr{^(?:\.\./|(?!$own/)(?:$programs|harness|reference|t|bench)/)},
                why   => "$own depends on lib alone, not on another program",
                plant => [ "$own/main.c", '#include "harness/x.h"' ],
            }
        } split /\|/,
        $programs
    ),
    {   where => qr{^stream/.*\.[ch]$},
        name  => $include,
        never => qr{^(?:mpi\.h|hip/|cuda)},
        why   => 'stream needs no MPI and no GPU',
        plant => [ 'stream/main.c', '# include <mpi.h>' ],
    },
    {   where => qr{^run_scripts/},
        name  => qr/(#\s*include\b|\bbc\s+-l|\bawk\b|\bexpr\b|\bperl\b)/,
        never => qr/./,
        why   => 'run_scripts place and launch; arithmetic on results is not theirs',
        plant => [ 'run_scripts/assay.sh', 'rate=$(awk "{print $2}" record)' ],
    },
    {   where => qr{^harness/},
        name  => $use,
        never => qr{^(?!Assay\b)(?!(?:$core)$)},
        why   => 'the harness uses core modules and its own',
        plant => [ 'harness/assay', 'use Moose;' ],
    },
    {   where => qr{^harness/(?!Assay/Nodes\.pm)},
        name  => qr/\b(SLURM_\w+|PBS_\w+|s(?:control|batch|run|acct|info)\b)/,
        never => qr/./,
        why   => 'the harness knows schedulers in Assay::Nodes alone',
        plant => [ 'harness/Assay/Judge.pm', 'my $id = $ENV{SLURM_JOB_ID};' ],
    },
    {   where => qr{^(?:harness|run_scripts)/},
        name  => qr/(\b(?:gcc|mpicc|hipcc)\b|#\s*include\b)/,
        never => qr/./,
        why   => 'neither harness nor run_scripts compile anything',
        plant => [ 'harness/assay', 'system("gcc x.c");' ],
    },
    {   where => qr{^reference/.*\.(?!ref$|hosts$|mk$)\w+$},
        name  => qr/^(#!.*)/,
        never => qr/./,
        why   => 'reference is data',
        plant => [ 'reference/x/make.sh', '#!/bin/sh' ],
    },
    {   where => qr{^(?!bench/).},
        name  => qr/^#!\s*(\S*python\S*|\S*env python\S*|\S*bash\S*|\S*env bash\S*)/,
        never => qr/./,
        why   => 'python and bash are needed nowhere',
        plant => [ 't/0000-x.t', '#!/usr/bin/env python3' ],
    },
);

# The violations of a rule in lines of one file: "path:line: what".
sub violations {
    my ( $rule, $path, @lines ) = @_;
    my ( @found, $number );
    return if $path !~ $rule->{where};
    for (@lines) {
        $number++;
        last if $path =~ m{^harness/} && /^__END__$/;
        next if m{^\s*(?:#(?!!|\s*include)|//|\*|/\*)};
        my ($named) = $_ =~ $rule->{name} or next;
        push @found, "$path:$number: $named" if $named =~ $rule->{never};
    }
    return @found;
}

# All text files of the source, path => [lines].
sub house {
    my %house;
    my @tops = grep { -e "$source/$_" }
        qw(lib stream run_scripts harness reference t bench build-aux
        bootstrap quickstart .ci), split /\|/, $programs;
    find(
        {   no_chdir => 1,
            wanted   => sub {
                my $path = $_;
                return if !-f $path || !-T $path || -s $path > 1_000_000;
                $path =~ s{^\Q$source\E/}{};
                return if $path =~ m{^t/data/|\.(?:log|trs|o)$|/\.deps/};
                return if $path eq 't/0020-house.t';
                open my $fh, '<', "$source/$path" or die "$path: $!";
                $house{$path} = [<$fh>];
                close $fh or die "$path: $!";
            },
        },
        map { "$source/$_" } @tops
    );
    return \%house;
}

my $house = house();
cmp_ok( scalar keys %{$house}, '>', 20, 'there is a house' );
for my $rule (@rules) {
    my @found = map { violations( $rule, $_, @{ $house->{$_} } ) }
        sort keys %{$house};
    is( join( "\n", @found ), '', $rule->{why} );
    my ( $path, $line ) = @{ $rule->{plant} };
    isnt( scalar violations( $rule, $path, "\n", "$line\n" ),
        0, "... and '$line' in $path would be found" );
}

# Every macro that C code takes from config.h is one that configure sets.
my $template = '';
if ( open my $fh, '<', "$source/config.h.in" ) {
    local $/ = undef;
    $template = <$fh>;
    close $fh or die $!;
}
SKIP: {
    skip 'no config.h.in (./bootstrap makes it)', 1 if $template eq '';
    my @unknown;
    for my $path ( grep {/\.[ch]$/} sort keys %{$house} ) {
        for ( @{ $house->{$path} } ) {
            next if !/^\s*#\s*(?:if|elif)/;
            push @unknown, "$path: $1"
                while /\b(HAVE_\w+)/g && $template !~ /\b$1\b/ && $1;
        }
    }
    is( "@unknown", '', 'configure looks for every HAVE_ that C code asks of' );
}

# config.h is included first: it says which C library is asked for.
my @late;
for my $path ( grep {m{^(?:lib|stream|t)/.*\.c$}} sort keys %{$house} ) {
    my ($first) = map { /$include/ ? $1 : () } @{ $house->{$path} };
    push @late, $path if defined $first && $first ne 'config.h';
}
is( "@late", '', 'every C file includes config.h, first' );

done_testing();
