#!/usr/bin/perl
#
# simpleBandwidth at length: faults of every kind, all pairs at once, sizes of
# 2^31 bytes and more.

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

my $program = 'commbw/simpleBandwidth';
my $faulty = 't/programs/bandwidth_faulty';
plan skip_all => missing($program) if missing($program);

sub faulty {
    my ($fault, $options) = @_;

    return job(2, $faulty, "--tasks=1 --trials=2 $options \@", "RMA_FAULT=$fault");
}

is faulty('none:put', '--size=1000')->{status}, 0, 'without a fault all is well';
for my $fault (['put', 1000, 'first'], ['put', 1000, 'last'], ['get', 1000, 'middle'],
    ['get', 64, 'skip'], ['get', 1000, 'ends'], ['put', 64, 'short'], ['get', 1, 'first']) {
    my ($operation, $size, $kind) = @{$fault};
    my $run = faulty("$kind:$operation", "--size=$size --operation=$operation");

    is $run->{status}, 1, "$operation of $size bytes, $kind: wrong data"
        or diag $run->{err};
}

subtest 'a rank hangs' => sub {
    my $run = faulty('hang:put', '--size=64 --watchdog=2');
    isnt $run->{status}, 0, 'the job fails';
    like $run->{err}, qr/no progress within \S+ s: put size=64/, '... by its watchdog';
    is scalar(metrics($run, 'get')), 2, '... and what was finished is kept';
};

subtest 'what is timed' => sub {
    my $run = faulty('slow', '--size=8');
    my ($put) = grep { $_->{per} eq 'pair' } metrics($run, 'put');
    cmp_ok $put->{value}, '<=', 8 / 2e-3 / 1e6, 'waiting for completion is';
};

subtest 'pairs at once' => sub {
    my $run = job(4, $program, '--tasks=1 --trials=3 --size=1M @');
    my ($job) = grep { $_->{per} eq 'job' } metrics($run, 'put');
    my @pairs = grep { $_->{per} eq 'pair' } metrics($run, 'put');
    is join(q{ }, sort map { $_->{ranks} } @pairs), '0:2 1:3', 'half the job away';
    my @sum = samples($run, 'put', 'pair');
    my @all = samples($run, 'put', 'job');
    my $above = grep { $all[0][$_] > ($sum[0][$_] + $sum[1][$_]) * 1.0000001 } 0 .. 2;
    is $above, 0, 'together they are never faster than the sum of both';
    is $job->{pairs}, 2, '... and the line says how many they are';
};

# The samples of all lines of a metric.
sub samples {
    my ($run, $name, $per) = @_;

    return map { [split /,/, /values=(\S+)/ ? $1 : q{}] }
        grep {/name=$name .*per=$per/} Probe::lines($run, 'sample');
}

# 2^32 bytes, counted in int, are nothing at all; there are four pieces to move.
# The pages of 8 GiB are what takes the time.
subtest 'large blocks' => sub {
    my ($free) = (slurp('/proc/meminfo') // q{}) =~ /^MemAvailable: +(\d+)/m;
    plan skip_all => 'less than 11 GiB of memory are free'
        if ($free // 0) < 11 << 20;
    for my $large (['put', 4294967296]) {
        my ($operation, $size) = @{$large};
        my $run = job(2, $program,
            "--tasks=1 --trials=1 --operation=$operation --size=$size --watchdog=120 @");
        is $run->{status}, 0, "$operation of $size bytes, the last of them too"
            or diag $run->{err};
        is scalar(grep { $_->{size} == $size && $_->{value} > 0 && $_->{value} < 1e6 }
                metrics($run)), 2, '... at a rate that memory has';
    }
};

done_testing;
