#!/usr/bin/perl
#
# The dual-rail study's figures of indexgather, stream and ra: what just meets
# them passes, what just misses fails, and another configuration is none.

use 5.016;
use strict;
use warnings;

use Cwd qw(getcwd);
use File::Temp qw(tempdir);
use Test::More;

my $source = $ENV{ASSAY_SRCDIR} || getcwd();
my $assay = ($ENV{ASSAY_HARNESS} || "$source/harness") . '/assay';
my $dir = tempdir(CLEANUP => 1);
my $count = 0;

# A record of one metric line with these keys.
sub record {
    my ($bench, $name, $unit, $value, $keys, $opt) = @_;
    my $path = sprintf '%s/%04d.record', $dir, ++$count;

    open my $out, '>', $path or die "$path: $!";
    print {$out} "record version=1 bench=$bench time=2026-11-30T13:21:09Z run=$count\n",
        'opt ', $opt // 'nodes=2 kernels=2', "\n", "check name=x.data ok=yes\n",
        "metric name=$name value=$value unit=$unit n=1 median=$value $keys\n",
        "end status=ok\n";
    close $out or die "$path: $!";
    return $path;
}

# Exit status of the judge, and how many points are not ok.
sub judge {
    my ($file, @records) = @_;
    my $out = qx{$^X '$assay' judge --nodes n1 --reference '$source/reference/dual-rail-genoa/$file' @records 2>&1};
    return ($? >> 8, scalar(my @bad = $out =~ /^not ok/mg), $out);
}

my @columns = (
    ['colocales=1 confined=no nics=1 nic_share=own pshm=no',  34],
    ['colocales=1 confined=no nics=2 nic_share=own pshm=no',  64],
    ['colocales=1 confined=yes nics=1 nic_share=own pshm=no', 34],
    ['colocales=1 confined=yes nics=2 nic_share=own pshm=no', 34],
    ['colocales=2 confined=yes nics=1 nic_share=shared pshm=no', 50],
    ['colocales=2 confined=yes nics=2 nic_share=own pshm=no',    54],
    ['colocales=2 confined=yes nics=2 nic_share=shared pshm=no', 50],
);

# The row, each figure a part of what was promised; one may be another part.
sub row {
    my ($part, $other, $else, $opt, $size) = @_;
    $size //= 'table=16777216 updates=16777216 buffer=65536';
    return map {
        record('indexgather', 'rate', 'GB/s',
            $columns[$_][1] * (defined $other && $other == $_ ? $else : $part),
            "per=job mode=aggregated gatherers=0 distribution=block $size $columns[$_][0]", $opt)
    } 0 .. $#columns;
}

subtest 'indexgather' => sub {
    my ($status, $bad, $out) = judge('indexgather.ref', row(0.9501));
    is "$status $bad", '0 0', 'a hair above the tolerance: all seven pass' or diag $out;
    ($status, $bad) = judge('indexgather.ref', row(0.9499));
    is "$status $bad", '1 7', '... a hair below: none';
    ($status, $bad) = judge('indexgather.ref', row(1, 3, 0.9));
    is "$status $bad", '1 1', 'one alone fails alone';
    ($status) = judge('indexgather.ref', row(1, 1, 4));
    is $status, 3, 'more than two adapters carry is INVALID';
    ($status) = judge('indexgather.ref', (row(1))[0 .. 5]);
    is $status, 3, 'a column that is missing is missed';
    ($status) = judge('indexgather.ref', row(1, undef, undef, 'nodes=2 kernels=1'));
    is $status, 3, 'two containers of one machine are no two nodes';
    ($status) = judge('indexgather.ref',
        row(1, undef, undef, undef, 'table=1 updates=16777216 buffer=65536'));
    is $status, 3, 'a table of one word is another one';
};

# One co-locale, then two, on a node.
sub stream {
    my ($two, $cache, $other) = @_;
    my $opt = 'array_bytes=4000 cache_bytes=' . ($cache // 1000);
    my $same = 'host=n1 mode=job threads=8 type=double kernel=avx2 pin=compact stores=regular write_allocate=no';
    my $one = $same;
    my ($key) = ($other // q{}) =~ /\A(\w+)=/;
    $one =~ s/\b$key=\S+/$other/ if $key;
    return (
        record('stream', 'triad', 'MB/s', 100, "$one colocales=1 confined=no ranks=2", $opt),
        record('stream', 'triad', 'MB/s', $two, "$same colocales=2 confined=yes ranks=4", $opt),
    );
}

subtest 'stream' => sub {
    is +(judge('jobstream.ref', stream(120)))[0], 0, 'two co-locales with 120 % of one: within 5 % of 125 %';
    is +(judge('jobstream.ref', stream(118)))[0], 1, '... 118 % are not';
    is +(judge('jobstream.ref', (stream(125))[1]))[0], 3, 'without the one there is no ratio';
    is +(judge('jobstream.ref', stream(125, 1001)))[0], 3, 'nor with arrays that the caches hold';
    is +(judge('jobstream.ref', stream(125, 1000, $_)))[0], 3, "nor of one with $_"
        for qw(write_allocate=yes threads=1 stores=nontemporal type=float);
};

sub ra {
    my ($two, $table) = @_;
    my @keys = map {"per=job mode=rmo distribution=block updates=4194304 tasks=1 ranks=2 window=64 kind=allocate $_"}
        @{[map { $_->[0] } @columns]}[0 .. 6];
    my %one = (0 => 1, 2 => 1, 4 => 1);    # columns of one adapter
    return map {
        record('ra', 'gups', 'GUPS', $one{$_} ? 1 : $two,
            "$keys[$_] table=" . ($one{$_} ? 2**24 : $table // 2**24))
    } 0 .. 6;
}

subtest 'ra' => sub {
    is +(judge('ra.ref', ra(0.81)))[0], 0, 'flat, give or take a fifth';
    is join(q{ }, (judge('ra.ref', ra(0.79)))[0, 1]), '1 4', '... not less, of one co-locale or two';
    is +(judge('ra.ref', ra(1.26)))[0], 1, '... nor more';
    is +(judge('ra.ref', ra(1, 1024)))[0], 3, 'another table is other work';
};

done_testing;
