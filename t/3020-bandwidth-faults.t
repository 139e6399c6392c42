#!/usr/bin/perl
#
# What simpleBandwidth must not take for a measurement: blocks that are wrong in
# any place, did not come, or came too late; ranks that die or hang.

use 5.016;
use strict;
use warnings;

use FindBin;
use Test::More;

use lib $FindBin::Bin;
use Mpi;
use Probe;

# There may be more tasks than CPUs.
local $ENV{OMP_WAIT_POLICY} = 'passive';

my $program = 't/programs/bandwidth_faulty';
plan skip_all => missing($program) if missing($program);

sub faulty {
    my ($fault, $options) = @_;

    return [2, $program, "--tasks=1 --trials=2 $options \@", "RMA_FAULT=$fault"];
}

# The operation, the size, the fault: a stamp that is wrong, what lies between
# the stamps, what is left from the trial before, or from the first. More of
# them: 3090.
my @faults = (['put', 1000, 'middle'], ['get', 1000, 'last'], ['put', 64, 'skip'],
    ['put', 1000, 'ends']);
my @runs = jobs_at_once(
    map { faulty("$_->[2]:$_->[0]", "--size=$_->[1] --operation=$_->[0]") } @faults);
for my $fault (@faults) {
    my ($operation, $size, $kind) = @{$fault};
    my $run = shift @runs;

    is $run->{status}, 1, "$operation of $size bytes, $kind: wrong data"
        or diag $run->{err};
    like $run->{err}, qr/$operation\.data: wrong data: \d+ blocks? of $size bytes .* task 0 of rank \d on rank \d/,
        '... which says what and where';
    is Probe::line($run, 'end')->{status}, 'wrong', '... as the record does';
}

# Windows whose size is no multiple of 16: see 3000-window.t.
if (library() =~ /\AMPICH 4\.0/) {
    is job(@{faulty('unpad', '--size=64K --bidirectional')})->{status}, 1,
        'MPICH 4.0 puts the data of an unpadded window in a wrong place, which is seen';
}

done_testing;
