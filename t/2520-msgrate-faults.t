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

sub faulty {
    my ($fault, $options) = @_;
    return job(2, $program, "-p 1 -c 4096 --functional $options \@",
        "MPI_FAULT=$fault");
}

subtest 'none' => sub {
    my $run = faulty('none:0', '-i 8');
    is "$run->{status} " . verdict($run), '0 good', 'without a fault all is well'
        or diag $run->{err};
};

subtest 'wrong data' => sub {
    my $run = faulty('data:1', '-i 8');
    is $run->{status}, 1, 'one byte that was not sent: wrong data';
    like $run->{err}, qr/single_direction\.data: wrong data: 1 messages? .*message 127 of rank 0 to rank 1 in iteration 3/,
        '... which message, of whom, to whom, when';
    like verdict($run), qr/^wrong/, '... and the record is none of a measurement';
    is Probe::line($run, 'end')->{status}, 'wrong', '... as its end line says';
    $run = faulty('data:1', '-i 8 -s 1');
    is $run->{status}, 1, 'of messages of one byte too';
};

subtest 'a rank dies' => sub {
    my $start = time;
    my $run = faulty('die:1', '-i 8');
    isnt $run->{status}, 0, 'the job fails';
    cmp_ok time - $start, '<', 100, '... within seconds';
    isnt verdict($run), 'good', '... and its record is cut short';
};

# The third Waitall is in the second pattern.
subtest 'a rank hangs' => sub {
    my $start = time;
    my $run = faulty('hang:1', '--watchdog=2 -i 1 --sizes=8,16');
    isnt $run->{status}, 0, 'the job fails';
    cmp_ok time - $start, '<', 100, '... by its watchdog';
    like $run->{err}, qr/no progress within 2\.?\d* s: pair_based msgsize=8/,
        '... which says of what there was none';
    like verdict($run), qr/^spoiled: .*no progress/, '... in the record too';
    is scalar(grep { $_->{name} eq 'single_direction' } metrics($run)), 3,
        'the pattern before the hang is in the record';
    is scalar(metrics($run)), 3, '... and nothing of the one that hung';
};

subtest 'what is timed' => sub {
    my $run = faulty('slow:-1', '-i 4');
    my ($rate) = grep { $_->{per} eq 'rank' } metrics($run, 'single_direction');
    cmp_ok $rate->{value}, '<=', 128 / 2e-3, 'waiting is timed';
    ($rate) = grep { $_->{per} eq 'rank' } metrics($run, 'pre_post');
    cmp_ok $rate->{value}, '<=', 256 / 2e-3, '... in all patterns';
};

done_testing;
