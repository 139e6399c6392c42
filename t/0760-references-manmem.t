#!/usr/bin/perl
#
# The sample runs of managed memory as reference systems: their figures are
# those of the logs, recomputed from bytes and times, and each clause has a
# record that passes and one that fails it. Those of any machine and of host
# emulation likewise.

use 5.016;
use strict;
use warnings;
no warnings qw(portable);    # hexadecimal numbers of more than 32 bits

use File::Basename qw(dirname);
use lib dirname(__FILE__) . '/data/run_scripts';
use Test::More;

use TestTree;

use lib harness_dir();
use Assay::Reference;

my $tree = make_tree();
my $references = source_dir() . '/reference';

sub median {
    my @sorted = sort { $a <=> $b } @_;
    return ($sorted[$#sorted / 2] + $sorted[@sorted / 2]) / 2;
}

# What a log amounts to, by name of the metric.
sub figures {
    my ($log) = @_;

    my ($bytes) = $log =~ /\((0x[0-9a-f]+) bytes\)/;
    $bytes = hex $bytes;
    my ($fill) = $log =~ /took ([\d.]+) ms/;
    my @ms = $log =~ /^Iteration \d+: ([\d.]+) ms/mg;
    my $steady = median(@ms[@ms / 2 .. $#ms]);
    my $converged = 0;
    $converged++ while $ms[$converged] > 1.1 * $steady;
    my $lost = -$converged * $steady;
    $lost += $_ for @ms[0 .. $converged - 1];
    return (
        fill      => $bytes / $fill * 1e-6,
        cold      => $bytes / $ms[0] * 1e-6,
        migrated  => $bytes / $lost * 1e-6,
        steady    => median(map { $bytes / $_ * 1e-6 } @ms[@ms / 2 .. $#ms]),
        converged => $converged,
    );
}

# A record with a line for each clause; VALUE gets the name of the metric.
sub record {
    my ($file, $parsed, $value, %more) = @_;

    my @lines = ("record version=1 bench=manmem time=2026-11-30T13:21:09Z", 'opt x=1',
        'check name=sums ok=yes error=0 tolerance=0');
    my %seen;
    for my $clause (@{$parsed->{clauses}}) {
        my ($metric) = $clause->{metric} =~ /\Amanmem[.](\w+)/ or next;
        my %keys = (
            arch => 'gfx90a', xnack => 'on', bytes => 2**30, dimensions => '1,2,3', type => 'float',
            access => 'consecutive', advise => 'none', prefetch => 'no',
            iterations => 20, at_once => 1,
            backend => 'hip', chunk => 65536, %{$clause->{where}},
        );
        delete $keys{functional} if defined $more{functional} && !$more{functional};
        my $figure = $value->($metric);
        my $unit = $metric eq 'converged' ? 'iterations' : $metric eq 'total' ? 'ms' : 'GB/s';
        push @lines, "metric name=$metric value=$figure unit=$unit n=1 best=$figure min=$figure"
            . " median=$figure max=$figure host=n001 device=0 "
            . join q{ }, map {"$_=$keys{$_}"} sort keys %keys
            if !$seen{$metric}++;
    }
    $lines[1] .= ' functional=yes' if $more{functional};
    spew($file, map {"$_\n"} @lines, 'end status=ok');
    return $file;
}

sub judge {
    my ($reference, $record) = @_;

    my ($status, $out, $err) = run_command($tree->{command}, 'judge', '--reference', $reference,
        '--nodes', 'n001', '--devices', 1, '--strict', $record);
    my @not_ok = lines_of($out, qr/^not ok/);
    return ($status, scalar @not_ok, $out . $err);
}

my @samples = qw(mi210-hip mi210-scale mi355-hip mi355-scale);
my @files = map {"$references/manmem-$_/manmem.ref"} @samples;
my ($status, $out, $err) = run_command($tree->{command}, 'lint', @files,
    "$references/functional/manmem.ref", "$references/any-machine.ref");
is $status, 0, 'lint finds no fault' or diag $out, $err;
unlike "$out$err", qr/warning: /, '... and nothing doubtful';

for my $sample (@samples) {
    subtest $sample => sub {
        my $file = "$references/manmem-$sample/manmem.ref";
        my $parsed = Assay::Reference::load($file);
        my %wanted = figures(slurp(source_dir() . "/t/data/manmem/$sample.log"));
        my %clauses = map { ($_->{metric} =~ s/\Amanmem[.]//r => $_) } @{$parsed->{clauses}};
        is_deeply [sort keys %clauses], [sort keys %wanted], 'a clause a figure';
        for my $name (sort keys %wanted) {
            my ($limit) = $clauses{$name}{limits}[0]{text} =~ /\A[<>]= (\S+) /;
            cmp_ok $limit, '<=', $wanted{$name}, "$name: $wanted{$name} by the log";
            cmp_ok $limit, '>', $wanted{$name} * (1 - 1e-5), '... to five digits';
        }
        my $record = "$tree->{top}/$sample.record";
        my ($status, $not_ok, $said)
            = judge($file, record($record, $parsed, sub { $wanted{$_[0]} }));
        is $status, 0, 'as published: passes' or diag $said;
        ($status, $not_ok, $said) = judge($file, record($record, $parsed,
            sub { $_[0] eq 'converged' ? $wanted{$_[0]} + 1 : $wanted{$_[0]} * 0.94 }));
        is "$status $not_ok", '1 5', '6 % slower, an iteration later: each fails' or diag $said;
        ($status, $not_ok)
            = judge($file, record($record, $parsed, sub { $wanted{$_[0]} }, functional => 1));
        is $status, 3, 'functional runs satisfy none';
    };
}

# What the samples' notes say of them.
my %log = map { $_ => slurp(source_dir() . "/t/data/manmem/$_.log") } @samples;
for my $sample (qw(mi355-hip mi355-scale)) {
    my ($x, $y, $z) = $log{$sample} =~ /^Dimensions: (\d+), (\d+), (\d+)/;
    is $x * $y * $z * 4 * 4, 4294967296, "$sample: its dimensions are a quarter of its bytes";
}
my ($hip, $scale) = map { join q{ }, $log{$_} =~ /^Iteration [1-5]: ([\d.]+) ms/mg }
    qw(mi355-hip mi355-scale);
is $scale, $hip, 'MI355: the times of iterations 1 to 5 are the same in both logs';
isnt join(q{ }, $log{'mi355-scale'} =~ /\(([\d.]+) GiB/g),
    join(q{ }, $log{'mi355-hip'} =~ /\(([\d.]+) GiB/g), '... the rates are not';

# The speed-up of one stack over the other, cold and for each iteration.
my %speed_up = (
    mi355 => {cold => 104.3, 0 => 104.3, 1 => 1},
    mi210 => {cold => 6.047, 0 => 6.047, 1 => 69.44, 2 => 64.05, 3 => 1.005},
);
for my $device (sort keys %speed_up) {
    for my $stack (qw(hip scale)) {
        my ($status, $out, $err) = run_command($tree->{command}, 'import', '--host', $device,
            'manmem', source_dir() . "/t/data/manmem/$device-$stack.log");
        is $status, 0, "$device: the log of $stack is read" or diag $err;
        spew("$tree->{top}/$stack.record", $out);
    }
    my ($status, $out) = run_command($tree->{command}, 'compare', "$tree->{top}/hip.record",
        "$tree->{top}/scale.record");
    my %wanted = %{$speed_up{$device}};
    for my $row (sort keys %wanted) {
        my $name = $row eq 'cold' ? qr/manmem\.cold GB\/s/ : qr/manmem\.iteration ms +iteration=$row/;
        my ($times) = $out =~ /^$name .* ([\d.]+)$/m;
        cmp_ok abs(($times // 0) / $wanted{$row} - 1), '<', 0.001,
            "$device: SCALE over HIP, $row: $wanted{$row} x";
    }
}

my %any = (fill => 5, cold => 1, steady => 300, device => 1000, converged => 3, total => 30000);
for my $case (["$references/any-machine.ref", 0], ["$references/functional/manmem.ref", 1]) {
    my ($file, $functional) = @{$case};
    my $name = $file =~ s{.*/reference/}{}r;
    my $parsed = Assay::Reference::load($file);
    my $record = "$tree->{top}/any.record";
    my ($status, $not_ok, $said)
        = judge($file, record($record, $parsed, sub { $any{$_[0]} }, functional => $functional));
    is $status, 0, "$name: a measurement passes" or diag $said;
    ($status, $not_ok) = judge($file, record($record, $parsed, sub { $any{$_[0]} },
            functional => !$functional));
    is $status, 3, "$name: one of the other kind does not";
    ($status, $not_ok) = judge($file, record($record, $parsed,
            sub { $_[0] =~ /converged|total/ ? $any{$_[0]} : 50000 }, functional => $functional));
    is "$status $not_ok", '3 4', "$name: above its ceiling no rate is one";
}

done_testing;
