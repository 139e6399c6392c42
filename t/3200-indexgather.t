#!/usr/bin/perl
#
# indexgather: what it prints and records, whose words it counts as whose, what
# it refuses, and what it makes of one word that is wrong.

use 5.016;
use strict;
use warnings;

use FindBin;
use Test::More;

use lib $FindBin::Bin;
use Mpi;
use Probe;

my $program = 't/programs/indexgather_faulty';
plan skip_all => missing($program) if missing($program);

# What ends badly waits for its launcher, while others work.
my $large = job_start('large', 2, 'commbw/indexgather', '--table=1T @');
my $wrong = job_start('wrong', 2, $program,
    '--mode=all --table=100 --updates=2000 --trials=1 --tasks=1 --buffer=64 @',
    'MPI_WORD=table:1:2');

# The accesses of a mode, local and remote, as its check tells them.
sub accesses {
    my ($run, $mode) = @_;
    my ($line) = grep {/name=$mode\.accesses /} Probe::lines($run, 'check');
    return ($line // q{}) =~ /local=(\d+) remote=(\d+)/;
}

subtest 'all modes' => sub {
    my $run = job(2, 'commbw/indexgather',
        '--mode=all --table=1001 --updates=20000 --trials=4 --tasks=1 @');
    is $run->{status}, 0, 'two ranks' or diag $run->{err};
    is verdict($run), 'good', '... leave a good record';
    my @metrics = metrics($run, 'rate');
    is scalar @metrics, 9, 'of each mode the rate of the job, a task, the node';
    ok unique($run, 'metric'), '... no two with the same keys';
    for my $mode (qw(ordered unordered aggregated)) {
        my %per = map { ($_->{per} => $_) } grep { $_->{mode} eq $mode } @metrics;
        is $per{job}{n}, 4, "$mode: four samples";
        cmp_ok abs($per{job}{value} / $per{task}{value} - 2), '<', 1e-9,
            '... the job has two tasks';
        is $per{job}{value}, $per{node}{value}, '... both on this node';
        my ($local, $remote) = accesses($run, $mode);
        is $local + $remote, 40_000, '... every word is counted once';
        cmp_ok abs($remote / 40_000 - 0.5), '<', 0.02, '... half of them remote';
        my ($seconds) = $run->{out}
            =~ /^indexgather $mode: 2 ranks on 1 node, 1 task each.*?^seconds: +(\S+) best/ms;
        cmp_ok abs(8e-6 * 40_000 / ($seconds || 1e9) / $per{job}{value} - 1), '<', 0.01,
            '... the rate is 8 bytes a word, over the printed seconds';
    }
    my ($status, $out) = judged($run, 'any-machine.ref', '--nodes', $metrics[2]{host});
    is $status, 0, 'any-machine.ref takes it' or diag $out;
    my %cut = %{$run};
    $cut{record} =~ s/^end .*//m;
    ($status) = judged(\%cut, 'any-machine.ref', '--nodes', $metrics[2]{host});
    is $status, 3, '... not without its end';
};

# Without a GET that waits for its like: some libraries are slow at those where
# there are more ranks than CPUs.
subtest 'one gatherer' => sub {
    my @options = (4, 'commbw/indexgather', '--gatherers=0 --distribution=cyclic --tasks=2'
            . ' --table=100 --updates=5000 --trials=1 --window=300 --buffer=7 @');
    my $run = job(@options[0, 1], "$options[2] --mode=aggregated");
    is $run->{status}, 0, 'four ranks' or diag $run->{err};
    my ($local, $remote) = accesses($run, 'aggregated');
    is $local + $remote, 10_000, 'the tasks of rank 0 alone gather';
    cmp_ok abs($remote / 10_000 - 0.75), '<', 0.02, '... three quarters of it remote';
    my ($job) = grep { $_->{per} eq 'job' } metrics($run);
    my ($task) = grep { $_->{per} eq 'task' } metrics($run);
    cmp_ok abs($job->{value} / $task->{value} - 2), '<', 1e-9, '... which are two';
    is "$job->{gatherers} $job->{distribution} $job->{window} $job->{buffer}", '0 cyclic 0 7',
        '... as the line says';
    $run = job(@options[0, 1], "$options[2] --mode=unordered");
    is_deeply [accesses($run, 'unordered')], [$local, $remote], 'another mode draws the same';
};

subtest 'refusals' => sub {
    my %bad = (
        '--mode=some'       => qr/'some'/,
        '--gatherers=1'     => qr/'1'/,
        '--table=0'         => qr/'0'/,
        '--updates=many'    => qr/'many'/,
        'rank'              => qr/rank/,
        '--distribution=by' => qr/'by'/,
    );
    for my $options (sort keys %bad) {
        my $run = alone('commbw/indexgather', $options);
        is $run->{status}, 2, "$options: exit 2";
        like $run->{err}, $bad{$options}, '... by name';
    }
    my $run = job_end($large);
    is $run->{status}, 99, 'more than there is memory for: exit 99';
    like $run->{err}, qr/table and messages take \S+ TiB a rank: .* may be had/, '... says how much';
    is Probe::line($run, 'end')->{status}, 'failed', '... in the record too';
};

# One word of the table that is wrong when all is gathered; what else may go
# wrong is in another test, which takes longer.
subtest 'one wrong word' => sub {
    my $run = job_end($wrong);
    is $run->{status}, 1, 'wrong data';
    for my $mode (qw(ordered unordered aggregated)) {
        like $run->{err},
            qr/$mode\.data: wrong data: \d+ entries, the first is entry \d+ of task 0 of rank [01]: word 104 of the table/,
            "$mode: which entry of whom, and which word";
    }
    is Probe::line($run, 'end')->{status}, 'wrong', '... as its end line says';
};

subtest 'one access too many' => sub {
    my $run = job(2, $program, '--table=100 --updates=2000 --trials=1 --tasks=1 @', 'MPI_WORD=count:0:0');
    is $run->{status}, 1, 'counted, and not made: wrong data' or diag $run->{out};
    like $run->{err}, qr/aggregated\.accesses: wrong data: 4001 accesses were counted, and there are 4000/,
        '... it says';
};

# Whose pages lie where: each of two threads faults in its part of the table.
subtest 'first touch' => sub {
    my $run = job(2, 't/programs/mpi_table', '--table=4M');
    my @share = $run->{out} =~ /^task \d: (\S+)$/mg;
    is scalar @share, 2, 'two tasks' or diag $run->{err};
    cmp_ok abs($_ - 0.5), '<', 0.1, "... one touches $_ of the pages" for @share;
};

# Two ranks, each taken for a node: whose times count for what.
subtest 'times of nodes and of the job' => sub {
    my @of = (2, $program, '--table=1K --updates=100K --trials=2 --tasks=1 @');
    my $seconds = sub {
        my %of = map { ("$_->{per} " . ($_->{host} // q{}) => 1.6384 / $_->{best}) } metrics(shift);
        return @of{'job ', 'node n1', 'node n2'};
    };
    my $run = job(@of, 'MPI_NODES=0,1 MPI_WORD=late:1:0');
    is $run->{status}, 0, 'a node that runs 1 s after the other' or diag $run->{err};
    my ($job, @nodes) = $seconds->($run);
    cmp_ok $job, '>=', 1, '... is a job that takes that second';
    cmp_ok $_ / 2, '<', $job - 0.9, '... and does not make a node slower' for @nodes;
    $run = job(@of, 'MPI_NODES=0,1 MPI_WORD=short:1:0');
    is $run->{status}, 3, 'no time of one of the nodes: no figure';
    like $run->{err}, qr/rate: a trial takes 0 s on n2, and the clock ticks every/, '... and which node it is';
    is scalar(metrics($run, 'rate')), 0, '... not of the job either';
};

done_testing;
