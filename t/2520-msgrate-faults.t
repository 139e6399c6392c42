#!/usr/bin/perl
#
# What goes wrong while msgrate runs: data that was not sent, a rank that dies,
# one that hangs; and that what is timed is the whole of it.

use 5.016;
use strict;
use warnings;

use FindBin;
use Test::More;

use lib $FindBin::Bin;
use Mpi;
use Probe;

my $program = 't/programs/msgrate_faulty';
plan skip_all => missing($program) if missing($program);

# Jobs of faults and options, at once: each waits for its launcher or watchdog.
my %run;
my @jobs = (
    [none => 'none:0', '-i 8'],
    [data => 'data:1', '-i 8'],
    [byte => 'data:1', '-i 8 -s 1'],
    [die  => 'die:1', '-i 8'],
    [hang => 'hang:1', '--watchdog=3 -i 1 --sizes=8,16'],
    [slow => 'slow:-1', '-i 4'],
);
@run{map { $_->[0] } @jobs} = jobs_at_once(map {
    [2, $program, "-p 1 -c 4096 --functional $_->[2] \@", "MPI_FAULT=$_->[1]"]
} @jobs);

subtest 'none' => sub {
    my $run = $run{none};
    is "$run->{status} " . verdict($run), '0 good', 'without a fault all is well'
        or diag $run->{err};
};

subtest 'wrong data' => sub {
    my $run = $run{data};
    is $run->{status}, 1, 'one byte that was not sent: wrong data';
    like $run->{err}, qr/single_direction\.data: wrong data: 1 messages? .*message 127 of rank 0 to rank 1 in iteration 3/,
        '... which message, of whom, to whom, when';
    like verdict($run), qr/^wrong/, '... and the record is none of a measurement';
    is Probe::line($run, 'end')->{status}, 'wrong', '... as its end line says';
    is $run{byte}{status}, 1, 'of messages of one byte too';
};

subtest 'a rank dies' => sub {
    my $run = $run{die};
    isnt $run->{status}, 0, 'the job fails';
    cmp_ok $run->{seconds}, '<', 100, '... within seconds';
    isnt verdict($run), 'good', '... and its record is cut short';
};

# The third Waitall is in the second pattern.
subtest 'a rank hangs' => sub {
    my $run = $run{hang};
    isnt $run->{status}, 0, 'the job fails';
    cmp_ok $run->{seconds}, '<', 100, '... by its watchdog';
    like $run->{err}, qr/no progress within 3\.?\d* s: pair_based msgsize=8/,
        '... which says of what there was none';
    like verdict($run), qr/^spoiled: .*no progress/, '... in the record too';
    is scalar(grep { $_->{name} eq 'single_direction' } metrics($run)), 3,
        'the pattern before the hang is in the record';
    is scalar(metrics($run)), 3, '... and nothing of the one that hung';
};

subtest 'what is timed' => sub {
    my $run = $run{slow};
    my ($rate) = grep { $_->{per} eq 'rank' } metrics($run, 'single_direction');
    cmp_ok $rate->{value}, '<=', 128 / 2e-3, 'waiting is timed';
    ($rate) = grep { $_->{per} eq 'rank' } metrics($run, 'pre_post');
    cmp_ok $rate->{value}, '<=', 256 / 2e-3, '... in all patterns';
};

done_testing;
