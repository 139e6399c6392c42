package Manmem;

# Run manmem in a directory of its own, and read what it left.  Everything of
# Probe may be used on the result.

use strict;
use warnings;

use Cwd qw(abs_path);
use Exporter qw(import);
use File::Basename qw(dirname);
use FindBin;
use lib $FindBin::Bin;
use Probe;

our @EXPORT = qw(check emulation field line lines manmem manmem_path metric
    slurp source unique verdict);

my $source = $ENV{ASSAY_SRCDIR} || abs_path(dirname(__FILE__) . '/..');
my $build = $ENV{ASSAY_BUILDDIR} || $source;

delete @ENV{grep {/^(?:HSA_|SCALE_|HIP_|ROCR_|CUDA_|FAKE)/} keys %ENV};
-x manmem_path() or die manmem_path() . " is not built\n";

sub manmem_path { return "$build/manmem/manmem" }
sub source { return "$source/$_[0]" }

# Run the shell command, in which MANMEM stands for the program, HOST for it
# with host emulation, PROGRAMS for t/programs, and every @ for a record that
# does not exist yet.
sub manmem {
    my ($command) = @_;
    my $path = manmem_path();

    $command =~ s/HOST/MANMEM --backend=host/g;
    $command =~ s/MANMEM/'$path'/g;
    $command =~ s{PROGRAMS}{'$build/t/programs'}g;
    return probe($command);
}

# The same of host emulation, whose figures may be no curve while others keep
# the machine busy: exit 3 is then the honest answer, and asked for again.
sub emulation {
    my ($command) = @_;

    for (1 .. 5) {
        my $run = manmem($command);
        return $run if $run->{status} != 3;
    }
    return manmem($command);
}

# A field of the last line of a kind.
sub field {
    my ($run, $kind, $name) = @_;
    my $fields = line($run, $kind);
    return $fields ? $fields->{$name} : undef;
}

# All lines of one metric, or of one check, each as a hash of its fields.
sub metric { return _named('metric', @_) }
sub check { return _named('check', @_) }

sub _named {
    my ($kind, $run, $name) = @_;
    return map { Assay::Text::split_fields(s/^\S+//r) }
        grep {/ name=\Q$name\E /} lines($run, $kind);
}

# Whether no two lines of a kind have the same name and the same keys.
sub unique {
    my ($run, $kind) = @_;
    my %seen;

    for my $line (lines($run, $kind)) {
        my $fields = Assay::Text::split_fields($line =~ s/^\S+//r);
        delete @{$fields}{qw(value n best min q1 median q3 max values error
            tolerance ok)};
        return 0 if $seen{join q{ }, map {"$_=$fields->{$_}"} sort keys %$fields}++;
    }
    return 1;
}

1;
