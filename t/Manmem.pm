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

our @EXPORT = qw(check emulation field line lines manmem manmem_path metrics
    slurp source unique verdict);

my $source = $ENV{ASSAY_SRCDIR} || abs_path(dirname(__FILE__) . '/..');
my $build = $ENV{ASSAY_BUILDDIR} || $source;

delete @ENV{grep {/^(?:HSA_|SCALE_|HIP_|ROCR_|CUDA_|FAKE)/} keys %ENV};
-x manmem_path() or die manmem_path() . " is not built\n";

sub manmem_path { return "$build/manmem/manmem" }

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

# All lines of one check, each as a hash of its fields.
sub check {
    my ($run, $name) = @_;
    return map { Assay::Text::split_fields(s/^\S+//r) }
        grep {/ name=\Q$name\E /} lines($run, 'check');
}

1;
