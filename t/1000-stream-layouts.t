#!/usr/bin/perl
#
# What stream prints: the lines that users' scripts read, in every mode, and
# what the figures count, beside them.

use 5.014;
use strict;
use warnings;

use FindBin qw($Bin);
use lib $Bin;
use Stream;
use Test::More;

my $rate = qr/\d+\.\d/;
my $small = '--elements=1M --repetitions=3';

sub box {
    my ($threads, $head) = @_;
    my $counted = $head ? "╠══╡ \\($threads threads\\)\n" : q{};
    return ($threads > 1 ? "╔══╡ Multi-threaded:\n" : "╔══╡ Single-threaded:\n")
        . $counted
        . "╟─ COPY:  $rate MB/s\n"
        . "╟─ SCALE: $rate MB/s\n"
        . "╟─ ADD:   $rate MB/s\n"
        . "╟─ TRIAD: $rate MB/s\n"
        . "╟─────────────────────\n"
        . "║ Median: $rate MB/s\n"
        . "╚═════════════════════\n";
}

my $summary = "median = $rate, minimum = $rate, maximum = $rate";
my $facts = "(?:# .*\n)+";

# The box.
my $run = stream("STREAM $small --threads=1");
is($run->{status}, 0, 'one thread: exit 0');
my $single = box(1, 1);
like($run->{out}, qr/\A$facts$single\($summary\)\n\z/, 'the box');
my %figure = map { $_ => rate_of($run, $_) } qw(COPY SCALE ADD TRIAD);
my @sorted = sort { $a <=> $b } values %figure;
like($run->{out}, qr/minimum = $sorted[0], maximum = $sorted[3]\)/,
    'least and largest of the four');
my ($median) = $run->{out} =~ /median = ($rate)/;
cmp_ok(abs($median - ($sorted[1] + $sorted[2]) / 2), '<=', 0.11,
    'the median of four is the mean of the middle two');
is($median, rate_of($run, 'Median'), 'the same in the box');

$run = stream("STREAM $small --threads=2");
my $multi = box(2, 1);
like($run->{out}, qr/\A$facts$multi\($summary\)\n\z/, 'the box of two threads');

# What the figures count.
like($run->{out}, qr/^# arrays: 3 of 1048576 doubles, 8\.0 MiB each, 24\.0 MiB/m,
    'size of the arrays');
like($run->{out}, qr/^# threads: requested 2, counted 2, on CPUs [\d,-]+, pin compact/m,
    'threads and their CPUs');
$run = stream("STREAM $small --stores=regular");
like($run->{out}, qr/^# stores: regular \(\w+\); write-allocate counted; bytes an element: 24 24 32 32$/m,
    'regular stores: write-allocate counted');
$run = stream("STREAM $small --stores=regular --write-allocate=no");
like($run->{out}, qr/; write-allocate not counted; bytes an element: 16 16 24 24$/m,
    'or not, when told so');
$run = stream("STREAM $small --stores=regular --type=float");
like($run->{out}, qr/^# arrays: 3 of 1048576 floats, 4\.0 MiB each/m, 'floats');
like($run->{out}, qr/bytes an element: 12 12 16 16$/m, 'are half as long');
$run = stream("STREAM $small --stores=nontemporal");
SKIP: {
    skip 'no non-temporal stores here', 1 if $run->{status} == 77;
    like($run->{out}, qr/^# stores: nontemporal \(\w+\); write-allocate none; bytes an element: 16 16 24 24$/m,
        'non-temporal stores: none to count');
}

# benchmark.
$run = stream("STREAM $small --mode=benchmark --threads=2");
my ($first, $second) = (box(1, 0), box(2, 1));
like($run->{out}, qr/\A$facts$first\n$facts$second\n\(single = \($summary\), multi = \($summary\)\)\n\z/,
    'benchmark: single, then multi');

# scaling.
$run = stream("STREAM $small --mode=scaling --scaling=1,2");
is($run->{status}, 0, 'scaling: exit 0');
like($run->{out}, qr/^# Threads: 1\tMax\. memory bandwidth: $rate\n# Threads: 2\tMax\. memory bandwidth: $rate\n/m,
    'scaling: a line a count');
my ($one) = metrics({record => stream("STREAM @ $small --mode=scaling --scaling=1")->{record}}, 'maximum');
is($one->{threads}, 1, 'a list of one');
SKIP: {
    skip 'no gnuplot here', 3
        if system('command -v gnuplot >/dev/null 2>&1') != 0;
    like($run->{out}, qr/Bandwidth Scaling/, 'and a plot');
    $run = stream("STREAM --quiet $small --mode=scaling --scaling=1,2 --plot=p.svg");
    is($run->{out}, q{}, 'quiet draws nothing');
    like(slurp('p.svg'), qr/<svg.*Bandwidth Scaling.*<\/svg>/s, 'but the SVG');
    like(slurp('p.svg'), qr/<rect [^>]*fill="#ffffff"/, '... on white, whoever shows it');
    unlike(slurp('p.svg'), qr/>\s*1\.5\s*</, '... with no half threads');
}
$run = stream("PATH=/nowhere STREAM $small --mode=scaling --scaling=1 --plot=q.svg");
is($run->{status}, 0, 'without gnuplot: exit 0');
like($run->{out}, qr/^# no plot: gnuplot is not on the path$/m, 'says so');
like($run->{err}, qr/--plot: no plot: gnuplot is not on the path/,
    'and warns where a file was asked for');
$run = stream("STREAM $small --mode=scaling --scaling=1 --plot=none/q.svg");
is($run->{status}, 99, 'a plot that can\'t be written: exit 99');
unlike($run->{out}, qr/MB\/s|bandwidth: /, 'before anything is measured');
mkdir 'bin' or die;
open my $plotter, '>', 'bin/gnuplot' or die;
print {$plotter} "#!/bin/sh\nhead -c 9 >/dev/null\necho '<svg>'\n";
close $plotter or die;
chmod 0755, 'bin/gnuplot';
$run = stream("PATH=\"bin:\$PATH\" STREAM --quiet $small --mode=scaling --scaling=1 --plot=r.svg");
like($run->{err}, qr/--plot: r\.svg: cut short/, 'half a plot is none');

# length: multiples of the cache, whatever that is here.
$run = stream('STREAM @ --mode=length --repetitions=2 --threads=1');
my $elements = field($run, 'opt', 'cache_bytes') / 8;
my $lengths = join q{}, map { "$_: " . $_ * $elements . " => $rate\n" } 1 .. 4;
like($run->{out}, qr/\A$facts$lengths\z/, 'length: a line a factor');
my @medians = metrics($run, 'median');
is(join(q{ }, map { $_->{elements} } @medians),
    join(q{ }, map { $_ * $elements } 1 .. 4), 'and a metric line');
like($run->{out}, qr/^4: \d+ => @{[sprintf '%.1f', $medians[3]{value}]}$/m,
    'of the same figure');
is($medians[0]{array_bytes}, 8 * $elements, 'which bears its own length');
unlike($run->{err}, qr/smaller than/, 'and no warning that was asked for');

# kernels.
$run = stream("STREAM @ $small --mode=kernels --stores=regular");
like($run->{out}, qr/^╟─ READ:   $rate\ MB\/s\n╟─ WRITE:  $rate\ MB\/s\n╟─ UPDATE: $rate\ MB\/s\n╟─ DAXPY:  $rate MB\/s$/m,
    'kernels: four more');
like($run->{out}, qr/bytes an element: 24 24 32 32 8 16 16 24$/m,
    'with what each counts');
is((metrics($run, 'read'))[0]{stores}, 'none', 'read stores nothing');
is((metrics($run, 'daxpy'))[0]{write_allocate}, 'no',
    'daxpy reads what it writes');
is((metrics($run, 'write'))[0]{write_allocate}, 'yes', 'write does not');

# numa.
$run = stream("STREAM @ $small --mode=numa");
SKIP: {
    skip 'no NUMA node can be told here', 3 if $run->{status} == 77;
    is($run->{status}, 0, 'numa: exit 0');
    like($run->{out}, qr/^node +\d+.*\n +\d+ +$rate/m, 'a matrix');
    my @cells = metrics($run, 'maximum');
    ok(defined $cells[0]{cpu_node} && defined $cells[0]{mem_node},
        'the nodes stand on the metric line');
}

# classic.
$run = stream("STREAM @ $small --mode=classic --stores=regular --threads=1");
is($run->{status}, 0, 'classic: exit 0');
like($run->{out}, qr/based on a variant of the STREAM benchmark/,
    'the heading calls it a variant');
like($run->{out}, qr/^Array size = 1048576 \(elements\), Offset = 0 \(elements\)\nMemory per array = 8\.0 MiB \(= 0\.0 GiB\)\.\nTotal memory required = 24\.0 MiB \(= 0\.0 GiB\)\.\nEach kernel will be executed 3 times\.$/m,
    'sizes');
like($run->{out}, qr/^Your clock granularity\/precision appears to be [\d.e-]+ microseconds\.\nEach test below will take on the order of \d+ microseconds\.\n   \(= \d+ clock ticks\)$/m,
    'clock');
my $row = qr/ {2,}\d+\.\d(?: {3,}\d+\.\d{6}){3}\n/;
like($run->{out}, qr/^Function    Best Rate MB\/s  Avg time     Min time     Max time\nCopy:${row}Scale:${row}Add:${row}Triad:${row}-----/m,
    'the table');
is(length((grep {/^Copy:/} split /\n/, $run->{out})[0]), 62,
    'as wide as the original');
like($run->{out}, qr/^Solution Validates: avg error less than 1\.000000e-13 on all three arrays$/m,
    'the verdict');
my ($copy) = metrics($run, 'copy');
is($copy->{write_allocate}, 'no', 'never counts write-allocate');
my ($best, $least) = $run->{out} =~ /^Copy: +(\S+) +\S+ +(\S+)/m;
cmp_ok(abs($best * $least / 16.777216 - 1), '<', 0.01,
    'rate x time is what copy moves');

done_testing();
