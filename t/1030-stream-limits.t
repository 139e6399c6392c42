#!/usr/bin/perl
#
# Lengths: from the caches, within the memory, too short for the clock, longer
# than 32 bits can count.

use 5.014;
use strict;
use warnings;

use FindBin qw($Bin);
use lib $Bin;
use Stream;
use Test::More;

# What the judge says by the reference for any machine, and its exit status.
sub judged {
    my ($what) = @_;

    open my $file, '>', 'judge.record' or die;
    print {$file} $what->{record};
    close $file or die;
    my $assay = stream_path() =~ s{stream/stream$}{harness/assay}r;
    my $command = "'$^X' '$assay' judge --reference '"
        . source('reference/any-machine.ref') . q{' judge.record 2>&1};
    my $said = `$command`;
    return $said . 'exit ' . ($? >> 8);
}

# The default: four times the outermost caches that the CPUs can reach.
my $run = stream('STREAM @ --repetitions=2');
my $cache = field($run, 'opt', 'cache_bytes');
plan skip_all => 'less memory than 12 x cache here'
    if $run->{err} =~ /arrays cut/;
is(field($run, 'opt', 'array_bytes'), 4 * $cache, 'is 4 x cache an array');
is(field($run, 'opt', 'elements'), $cache / 2, 'in doubles');
like(field($run, 'opt', 'cache_source'), qr/^(?:hwloc|sysfs|sysconf|assumed)$/,
    'and says where the cache is known from');
like($run->{out}, qr/^# arrays: .* of cache \(\w+\)$/m, 'in the output too');
unlike($run->{err}, qr/smaller than 4 x cache/, 'no warning');
my $default = $run;

# Smaller arrays are said to be, and break the rule of the references.
$run = stream('STREAM @ --elements=1000000 --repetitions=3');
is($run->{status}, 0, 'arrays within the cache are measured');
like($run->{err}, qr/smaller than 4 x cache/, 'with a warning');
like(field($run, 'warning', 'text'), qr/smaller than 4 x cache/,
    'in the record too');
cmp_ok(field($run, 'opt', 'array_bytes'), '<',
    4 * field($run, 'opt', 'cache_bytes'), 'and break the rule');
like(judged($run), qr/^not ok .*stream\.triad .*INVALID|exit 3$/m,
    'so the judge does not accept them');
like(judged($default), qr/^ok .*stream\.triad .*\n(?s:.*)exit 0$/m,
    'as it does the others');

# Never more than the memory there is.
my $sanitized = `nm '@{[stream_path()]}' 2>/dev/null` =~ /__asan_init/;
SKIP: {
    skip 'a sanitizer takes all address space', 13 if $sanitized;
    $run = stream('ulimit -v 2097152; STREAM @ --repetitions=2');
    is($run->{status}, 0, 'under 2 GiB of address space');
    cmp_ok(field($run, 'opt', 'array_bytes') * 3, '<', 2 * 2**30, 'it fits');
    $run = stream('ulimit -v 400000; STREAM @ --repetitions=2 --threads=1');
    my $bytes = field($run, 'opt', 'array_bytes');
    skip 'the cache is too small to be cut', 11 if 12 * $cache < 350000 * 1024;
    is($run->{status}, 0, 'under 400 MB of address space');
    cmp_ok($bytes, '<', 4 * $cache, 'arrays are cut');
    like($run->{err}, qr/arrays cut from .*: RLIMIT_AS/, 'and that is said');
    my $gomp = (field($run, 'env', 'openmp') // q{}) =~ /libgomp/;
    for my $case ([400_000, 2], [400_000, 8], [100_000, 2]) {
        my ($limit, $threads) = @$case;
        # Other libraries take more for a thread than it has arrays.
        next if $limit / $threads < 100_000 && !$gomp;
        $run = stream("ulimit -v $limit; "
            . "STREAM @ --repetitions=2 --threads=$threads");
        is($run->{status}, 0, "$limit kB have room for $threads threads");
    }
    $run = stream('ulimit -v 400000; STREAM @ --threads=500');
    isnt($run->{status}, $_, "threads that can't be had: not exit $_")
        for 0, 1;
    unlike(verdict($run), qr/^good/, 'and no measurement');
    $run = stream('ulimit -v 400000; STREAM @ --elements=100M --threads=1');
    is($run->{status}, 99, 'what was asked for by number is not cut');
    like($run->{err}, qr/elements: 3 arrays of 104857600 take /, 'but refused');
}
$run = stream('STREAM --elements=16777215T');
is($run->{status}, 99, 'more than any memory: exit 99');
unlike($run->{out}, qr/MB\/s/, 'no figure');
$run = stream('STREAM --elements=1G --hugepages=hugetlb');
SKIP: {
    skip 'there are that many huge pages', 1 if $run->{status} == 0;
    is($run->{status}, 77, 'more huge pages than the pool has: exit 77');
}

# A cache that can't be told is assumed.
my $described = stream('HWLOC_SYNTHETIC="numa:1 core:2 pu:1" '
        . 'STREAM @ --repetitions=2 --type=float --quiet');
SKIP: {
    skip 'built without hwloc', 4
        if field($described, 'opt', 'cache_bytes')
        == field($default, 'opt', 'cache_bytes')
        && field($described, 'opt', 'cache_source') ne 'assumed';
    is($described->{status}, 0, 'a machine whose caches are not known');
    is(field($described, 'opt', 'cache_source'), 'assumed', 'is said to be');
    is(field($described, 'opt', 'elements'), 2**25, '32 MiB assumed');
    like($described->{err}, qr/32\.0 MiB assumed/, 'with a warning');
}

# Too short for the clock: no figure that is inf, nan, or believed.
for my $elements (1, 10, 100) {
    $run = stream("STREAM \@ --elements=$elements --threads=1");
    is($run->{status}, 3, "$elements elements: exit 3");
    unlike("$run->{out}$run->{record}", qr/\binf|\bnan/i, 'no inf, no nan');
    like($run->{err}, qr/ticks of the clock: at least 20/, 'a warning');
    like($run->{out}, qr/TRIAD: .*\(invalid: too short\)/, 'the row is marked');
    is(field($run, 'end', 'status'), 'unstable', 'unstable in the record');
    unlike(verdict($run), qr/^good/, 'not a measurement');
}
is(stream('STREAM --elements=1 --threads=2')->{status}, 3,
    'one element, two threads');
$run = stream('STREAM --mode=classic --elements=10');
is($run->{status}, 3, 'nor in the classic table');

# Bytes that pass 2^31, with the fetch of the lines that are written.
SKIP: {
    my ($free) = (slurp('/proc/meminfo') // q{}) =~ /^MemAvailable: +(\d+)/m;
    skip 'less than 4 GiB of memory', 2 if !$free || $free < 4 * 2**20;
    $run = stream('STREAM @ --elements=67108865 --repetitions=2 '
        . '--stores=regular --write-allocate=yes --quiet');
    my ($add) = metrics($run, 'add');
    is($run->{status}, 0, 'add moves 2147483680 bytes');
    ok($add->{value} > 0 && $add->{value} < 1e7, 'at a rate that can be');
}

# Huge pages: what was got is said.
for my $kind (qw(never thp)) {
    $run = stream("STREAM @ --elements=4M --repetitions=2 --hugepages=$kind");
    like($run->{out}, qr/huge pages \($kind\): \d/, "$kind: what was got");
    my ($pages) = map { Assay::Text::split_fields(s/^\S+//r) }
        grep {/ name=placement /} lines($run, 'check');
    ok($kind ne 'never' || $pages->{huge_bytes} == 0, 'never is none');
    cmp_ok($pages->{huge_bytes}, '<=', 3 * (2**25 + 2**21), 'no more than all');
}

done_testing();
