#!/usr/bin/perl
#
# ra: what it prints and records, what it refuses, that atomic updates lose
# nothing, and what it makes of one update that is lost.

use 5.016;
use strict;
use warnings;

use FindBin;
use Test::More;

use lib $FindBin::Bin;
use Mpi;
use Probe;

my $program = 't/programs/ra_faulty';
plan skip_all => missing($program) if missing($program);

# What ends badly waits for its launcher, while others work.
my @of = ('--mode=rmo --table=64K --updates=512 --trials=1 --tasks=1 @');
my $odd = job_start('odd', 2, 'commbw/ra', '--table=1000');
my $wrong = job_start('wrong', 2, $program,
    '--mode=aggregated --table=64 --updates=3000 --trials=1 --tasks=1 @', 'MPI_WORD=table:1:8');
my $lost = job_start('lost', 2, $program, @of, 'MPI_WORD=put:0:0');

subtest 'all modes' => sub {
    my $run = job(2, 'commbw/ra', '--mode=all --table=4K --trials=3 --tasks=1 @');
    is $run->{status}, 0, 'two ranks' or diag $run->{err};
    is verdict($run), 'good', '... leave a good record';
    my @metrics = metrics($run, 'gups');
    is scalar @metrics, 9, 'of each mode GUPS of the job, a task, the node';
    ok unique($run, 'metric'), '... no two with the same keys';
    for my $mode (qw(rmo amo aggregated)) {
        my %per = map { ($_->{per} => $_) } grep { $_->{mode} eq $mode } @metrics;
        is $per{job}{updates}, 4 * 4096, "$mode: 4 x table updates";
        cmp_ok abs($per{job}{value} / $per{task}{value} - 2), '<', 1e-9, '... by two tasks';
        my ($seconds) = $run->{out} =~ /^ra $mode: 2 ranks.*?^seconds: +(\S+) best/ms;
        cmp_ok abs(1e-9 * 4 * 4096 / ($seconds || 1e9) / $per{job}{value} - 1), '<', 0.01,
            '... GUPS are updates, over the printed seconds';
        my ($wrong) = grep { $_->{mode} eq $mode } metrics($run, 'wrong');
        cmp_ok $wrong->{max}, '<=', $mode eq 'rmo' ? 40 : 0,
            '... ' . ($mode eq 'rmo' ? 'at most 1 %' : 'none') . ' of the entries are wrong';
        is $wrong->{value}, $wrong->{max}, '... the worst trial counts';
        like +(grep {/name=$mode\.accesses/} Probe::lines($run, 'check'))[0],
            qr/local=(\d+) remote=(\d+)/, '... and it is counted who had them';
    }
    my ($node) = grep { $_->{per} eq 'node' } @metrics;
    my ($status, $out) = judged($run, 'any-machine.ref', '--nodes', $node->{host});
    is $status, 0, 'any-machine.ref takes it' or diag $out;
};

# Every word is everybody's at once.
subtest 'races' => sub {
    my $run = job(3, 'commbw/ra',
        '--mode=all --atomic=fetch --table=1K --tasks=2 --trials=1 --window=64 --distribution=cyclic'
        . ' --seed=3 --buffer=5');
    like $run->{out}, qr/^ra amo: 3 ranks .*?^wrong: +0 entries.*^ra aggregated: .*?^wrong: +0 /ms,
        'neither fetch and op nor messages lose anything, by threads'
        or diag $run->{err};
};

subtest 'refusals' => sub {
    for my $options ('--mode=some', '--table=0', '--window=1025', '--atomic=no', 'word') {
        my $run = alone('commbw/ra', $options);
        is $run->{status}, 2, "$options: exit 2";
    }
    my $run = job_end($odd);
    is $run->{status}, 2, 'a table of 1000 words: exit 2';
    like $run->{err}, qr/--table=1000: no power of 2/, '... and why';
};

# Of a table of which one word is more than 1 %; what else may go wrong is in
# another test, which takes longer.
subtest 'one wrong word' => sub {
    my $run = job_end($wrong);
    is $run->{status}, 1, 'wrong data';
    like $run->{err}, qr/aggregated\.data: wrong data: .*tolerance/, '... it says';
    is Probe::line($run, 'end')->{status}, 'wrong', '... as its end line does';
    my ($wrong) = metrics($run, 'wrong');
    is $wrong->{value}, 1, '... and counts one';
};

# Fewer updates than 1 % of the entries: all of them lost is no race.
subtest 'few updates' => sub {
    is job(2, $program, @of)->{status}, 0, 'of 512 updates none is lost';
    my $run = job_end($lost);
    is $run->{status}, 1, 'of all that one rank puts nothing comes: wrong data' or diag $run->{out};
    like $run->{err}, qr/rmo\.data: wrong data/, '... it says';
};

subtest 'one update too many' => sub {
    my $run = job(2, $program, '--mode=amo --table=64 --updates=300 --trials=1 --tasks=1 @', 'MPI_WORD=count:0:0');
    is $run->{status}, 1, 'counted, and not made: wrong data' or diag $run->{out};
    like $run->{err}, qr/amo\.accesses: wrong data: 301 updates were counted, and there are 300/, '... it says';
};

done_testing;
