#!/usr/bin/perl
#
# What stream leaves behind: a record that the judge takes, in every mode, and
# one that it does not take when the run was cut short.

use 5.014;
use strict;
use warnings;

use FindBin qw($Bin);
use lib $Bin;
use Stream;
use Test::More;

my $small = '--elements=1M --repetitions=4';

my $run = stream("STREAM @ $small --threads=2");
is($run->{status}, 0, 'exit 0');
is(verdict($run), 'good', 'a good record');
is(join(q{ }, map { $_->{n} } map { metrics($run, $_) } qw(copy scale add triad)),
    '3 3 3 3', 'every repetition but the first is a sample');
for my $name (qw(copy scale add triad)) {
    my ($metric) = metrics($run, $name);
    my ($sample) = map { Assay::Text::split_fields(s/^\S+//r) }
        grep {/ name=$name /} lines($run, 'sample');
    my @values = sort { $a <=> $b } split /,/, $sample->{values};

    is($metric->{unit}, 'MB/s', "$name in MB/s");
    is($metric->{value}, $values[2], "$name: the value is the best");
    is($metric->{best}, $metric->{value}, "$name: which is the best");
    is($metric->{median}, $values[1], "$name: the median beside it");
    is($metric->{$_->[0]}, $_->[1], "$name: $_->[0]=$_->[1]")
        for ['threads', 2], ['elements', 1048576], ['type', 'double'],
        ['pin', 'compact'], ['mode', 'bandwidth'];
    like($metric->{$_}, qr/./, "$name: $_")
        for qw(host kernel stores write_allocate);
    like(join("\n", lines($run, 'check')),
        qr/^check name=$name\.data ok=yes error=0 tolerance=1e-13 /m,
        "$name: its data is right, exactly");
}
my @best = sort { $a <=> $b }
    map { (metrics($run, $_))[0]{value} } qw(copy scale add triad);
is((metrics($run, 'minimum'))[0]{value}, $best[0], 'minimum of the four');
is((metrics($run, 'maximum'))[0]{value}, $best[3], 'maximum of the four');
cmp_ok(abs((metrics($run, 'median'))[0]{value} / (($best[1] + $best[2]) / 2) - 1),
    '<', 1e-12, 'median of the four');
is(field($run, 'opt', 'array_bytes'), 8388608, 'array_bytes and');
cmp_ok(field($run, 'opt', 'cache_bytes'), '>', 0, 'cache_bytes for the rule');
is(field($run, 'opt', 'threads_requested'), 2, 'threads asked for');
my ($pinning) = map { Assay::Text::split_fields(s/^\S+//r) }
    grep {/ name=pinning /} lines($run, 'check');
is($pinning->{threads_counted}, 2, 'threads counted');
is($pinning->{ok}, 'yes', 'pinned as asked');
my $allowed = field($run, 'opt', 'cpus_allowed');
like($pinning->{cpus}, $allowed =~ /\A\d+\z/ ? qr/\A$allowed\z/ : qr/\A\d+[-,]\d+\z/,
    'where they were: on two CPUs, where there are two');
is($pinning->{moved}, 0, 'none moved');

# The floats' tolerance is their own.
$run = stream("STREAM @ $small --type=float");
like($run->{record}, qr/name=triad\.data ok=yes error=0 tolerance=1e-06 /,
    'float');

# Every mode; no two lines alike.
for my $mode (qw(benchmark scaling length kernels classic numa)) {
    my $size = $mode eq 'length' ? '--repetitions=2' : $small;
    $run = stream("STREAM @ --mode=$mode $size --threads=2 --quiet");
    next if $mode eq 'numa' && $run->{status} == 77;
    is($run->{status}, 0, "$mode: exit 0");
    is($run->{out}, q{}, "$mode: quiet");
    is(verdict($run), 'good', "$mode: a good record");
    ok(unique($run, $_), "$mode: each $_ line is told from the others")
        for qw(metric sample check);
}

# The record of a run without it is none; the figures are the same kind.
$run = stream("STREAM $small --threads=1");
ok(!defined $run->{record}, 'no --record, no record');

# Killed, it is no measurement.
$run = stream("STREAM @ --elements=4M --repetitions=100000 >/dev/null & pid=\$!;"
    . ' sleep 1; kill -9 $pid; wait $pid');
is($run->{status}, 137, 'killed');
unlike($run->{record}, qr/^end /m, 'no end line');
unlike(verdict($run), qr/^good/, 'no measurement');
$run = stream("STREAM @ --elements=4M --repetitions=100000 >/dev/null & pid=\$!;"
    . ' sleep 1; kill $pid; wait $pid');
is($run->{status}, 143, 'terminated');
is(field($run, 'end', 'status'), 'timeout', 'says so');
unlike(verdict($run), qr/^good/, 'no measurement');

# A full disk is noticed.
SKIP: {
    skip 'no /dev/full here', 2 if !-c '/dev/full';
    is(stream("STREAM --record=/dev/full $small")->{status}, 99,
        'no room for the record: exit 99');
    is(stream("STREAM $small >/dev/full")->{status}, 99,
        'no room for the output: exit 99');
}

done_testing();
