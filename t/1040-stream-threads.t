#!/usr/bin/perl
#
# Threads: as many as asked for or as the CPUs allow, where they were put, and
# what there really were.

use 5.014;
use strict;
use warnings;

use FindBin qw($Bin);
use lib $Bin;
use Stream;
use Test::More;

my $small = '--elements=1M --repetitions=3';

sub pinning {
    my ($run) = @_;
    my ($fields) = map { Assay::Text::split_fields(s/^\S+//r) }
        grep {/ name=pinning /} lines($run, 'check');
    return $fields;
}

# The default: one a core.
my $run = stream("STREAM @ $small");
my $cores = field($run, 'opt', 'cores_allowed');
my $default = field($run, 'opt', 'threads');
cmp_ok($default, '>=', 1, 'a default');
cmp_ok($default, '<=', $cores, 'of one thread a core at most');
is(pinning($run)->{threads_counted}, $default, 'there were as many');
is(pinning($run)->{crowded}, 0, 'none shared a core');
my ($cpus) = `taskset -cp $$ 2>/dev/null` =~ /: ([\d,-]+)$/m;
my @cpus = map { /(\d+)-(\d+)/ ? $1 .. $2 : $_ } split /,/, $cpus // q{};

# Binding variables narrow the mask of the main thread before main.
for my $bind ('OMP_PROC_BIND=true', 'OMP_PLACES=cores OMP_PROC_BIND=close') {
    my $bound = stream("$bind STREAM @ $small");
    is(field($bound, 'opt', 'cpus_allowed'), field($run, 'opt', 'cpus_allowed'),
        "$bind: all CPUs are known");
    is(field($bound, 'opt', 'threads'), $default, 'and used');
    is(pinning($bound)->{ok}, 'yes', 'as asked');
}

# OMP_NUM_THREADS is a wish; the option goes before it.
$run = stream("OMP_NUM_THREADS=1 STREAM @ $small");
is(field($run, 'opt', 'threads'), 1, 'OMP_NUM_THREADS=1');
$run = stream("OMP_NUM_THREADS=1 STREAM @ $small --threads=2");
is((metrics($run, 'copy'))[0]{threads}, 2, '--threads=2 goes before it');
$run = stream("OMP_NUM_THREADS=2,1 STREAM @ $small");
is(field($run, 'opt', 'threads'), 2, 'of a list the first counts');

my $gomp = field($run, 'env', 'openmp') =~ /libgomp/;
for my $wish (0, 65537, 'many') {
    # libomp of LLVM 14 fails an assertion of its own then, now and again.
    next if $wish eq 'many' && !$gomp;
    $run = stream("OMP_NUM_THREADS=$wish STREAM @ $small");
    is(field($run, 'opt', 'threads'), $default, "OMP_NUM_THREADS=$wish is none");
    like($run->{err}, qr/warning: OMP_NUM_THREADS=$wish: not a number of threads/,
        'which is said');
}

# What was asked for is not what there was.
$run = stream("OMP_THREAD_LIMIT=1 OMP_NUM_THREADS=2 STREAM @ $small");
is($run->{status}, 0, 'a limit on threads');
like($run->{err}, qr/threads requested 2, counted 1/, 'is said');
like($run->{out}, qr/^# threads: requested 2, counted 1,/m, 'in the output');
like($run->{out}, qr/\(1 threads\)/, 'the box has what there was');
is((metrics($run, 'triad'))[0]{threads}, 1, 'so has the metric line');
is(pinning($run)->{threads_requested}, 2, 'the record has both');
$run = stream("OMP_THREAD_LIMIT=1 OMP_NUM_THREADS=2 STREAM @ $small --mode=scaling");
is(join(q{ }, $run->{out} =~ /^# Threads: (\d+)\t/mg), 1,
    'one scaling row, labelled 1');
is(verdict($run), 'good', 'and a record without doubled lines');
$run = stream("OMP_THREAD_LIMIT=1 STREAM $small --mode=classic --threads=2");
like($run->{out}, qr/^Number of Threads requested = 2\nNumber of Threads counted = 1$/m,
    'the classic table has both');

# More threads than CPUs run, with a warning.
my $many = 2 * (@cpus || $cores) + 1;
$run = stream("OMP_NUM_THREADS=$many STREAM @ --elements=100000 --repetitions=2");
is($run->{status}, 0, "$many threads");
like($run->{err}, qr/more threads than CPUs/, 'are warned about');
like($run->{err}, qr/threads shared a core/, 'where they sat too');
is((metrics($run, 'copy'))[0]{threads}, $many, 'and counted');
is((metrics($run, 'copy'))[0]{oversubscribed}, 'yes', 'and marked');

# Steps of a machine of two sockets, four NUMA nodes and eight cores.
my $other = 'HWLOC_SYNTHETIC="pack:2 numa:2 core:2 pu:2"';
my $tiny = '--elements=100000 --repetitions=2';
$run = stream("$other STREAM @ $tiny --mode=scaling --scaling=numa");
SKIP: {
    skip 'built without hwloc', 5 if $run->{err} !~ /recorded/;
    is(join(q{ }, $run->{out} =~ /^# Threads: (\d+)\t/mg), '2 4 6 8',
        'scaling by NUMA nodes');
    is((metrics($run, 'copy'))[0]{functional}, 'yes',
        'which is no measurement of that machine');
    $run = stream("$other STREAM $tiny --mode=scaling --scaling=socket");
    is(join(q{ }, $run->{out} =~ /^# Threads: (\d+)\t/mg), '4 8',
        'scaling by sockets');
    $run = stream("$other STREAM @ $tiny --mode=numa");
    is($run->{status}, 77, 'nodes that are not here: exit 77');
    unlike($run->{record}, qr/^metric/m, 'before anything is measured');
}

SKIP: {
    skip 'taskset and two CPUs are needed', 8 if @cpus < 2;
    my $last = $cpus[-1];
    $run = stream("taskset -c $last STREAM @ $small");
    is(field($run, 'opt', 'threads'), 1, 'one CPU allowed: one thread');
    is(pinning($run)->{cpus}, $last, 'on that CPU');
    $run = stream("OMP_NUM_THREADS=2 taskset -c $last STREAM @ --elements=100000 --repetitions=2");
    like($run->{err}, qr/2 threads on 1 CPUs/, 'two on it: a warning');
    $run = stream("OMP_NUM_THREADS=8 taskset -c $last STREAM --elements=100000 --repetitions=2 --mode=scaling");
    is(join(q{ }, $run->{out} =~ /^# Threads: (\d+)\t/mg), 1,
        'scaling ends at the CPUs allowed');
    $run = stream("OMP_NUM_THREADS=99 taskset -c $cpus[0],$cpus[1] STREAM --elements=100000 --repetitions=2 --mode=scaling");
    is(join(q{ }, $run->{out} =~ /^# Threads: (\d+)\t/mg), '1 2', 'and at two');
    $run = stream("taskset -c $cpus[0],$cpus[1] STREAM @ $small --threads=2 --pin=spread");
    is(pinning($run)->{ok}, 'yes', 'spread');
    $run = stream("taskset -c $cpus[0],$cpus[1] STREAM @ $small --threads=2 --pin=none");
    is((metrics($run, 'copy'))[0]{pin}, 'none', 'not pinned');
    like(pinning($run)->{reason}, qr/not asked for/, 'is not checked');

    # Each thread touches its own half of the pages first.
    $run = stream("STREAM @ $small --threads=2 --hugepages=never");
    my @faults = split /,/, pinning($run)->{faults};
    my $sum = $faults[0] + $faults[1];
    ok($_ >= 0.4 * $sum && $_ <= 0.6 * $sum, "$_ of $sum faults")
        for @faults;
    cmp_ok($sum, '>=', 3 * 8 * 2**20 / 4096 * 0.99, 'one a page');
}

done_testing();
