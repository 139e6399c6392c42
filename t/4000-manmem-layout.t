#!/usr/bin/perl
#
# What manmem prints and records, with host emulation: the original's lines
# with the true unit, faults counted exactly, and a curve that is cold first.

use 5.014;
use strict;
use warnings;

use FindBin qw($Bin);
use lib $Bin;
use Manmem;
use Test::More;

my $run = manmem('HOST @ --num-blocks=1 --block-size=16 --iterations=4');
plan skip_all => "no userfaultfd here: $run->{err}" if $run->{status} == 77;

my $time = qr/\d+\.\d{3}/;
$run = emulation('HOST @ --num-blocks=1 --chunk=4K');
is($run->{status}, 0, 'exit 0') or diag($run->{err});
like($run->{out}, qr/^# backend host: host emulation: .*no GPU was measured\n/,
    'the first line says what it is');
like($run->{out}, qr/^Dimensions: 1024, 1, 4096\nStarting source data generation to 0x[0-9a-f]+ \(0x1000000 bytes\)\.\nSource number generation took $time ms\.\n(?:Iteration \d+: $time ms \($time GB\/s\)\.\n){20}#/m,
    "the original's lines");
unlike($run->{out}, qr/GiB\/s/, 'with the true unit');
is(scalar(() = $run->{out} =~ /^Iteration/mg), 20, 'twenty iterations');
my ($ms, $rate) = $run->{out} =~ /^Iteration 0: (\S+) ms \((\S+) GB/m;
cmp_ok(abs($rate * $ms / 16.777216 - 1), '<', 0.01, 'GB/s are 10^9 bytes a second');
is(verdict($run), 'good', 'the record is one');
ok(unique($run, $_), "no two $_ lines alike") for qw(metric sample check);
is(field($run, 'end', 'status'), 'ok', 'and ends well');

# What every metric line says.
for my $line (lines($run, 'metric')) {
    my ($name) = $line =~ / name=(\w+)/;
    like($line, qr/ host=\S+ device=0 backend=host arch=userfaultfd xnack=none bytes=16777216 dimensions=1024,1,4096 type=float access=consecutive advise=none prefetch=no iterations=20 at_once=1 chunk=4096 functional=yes/,
        "$name: its keys, and that it is no GPU's")
        if $name ne 'iteration' || $line =~ / iteration=0$/;
}
is(field($run, 'opt', 'functional'), 'yes', 'the whole record is functional');
like(field($run, 'opt', 'backend_is'), qr/host emulation/, '... and says why');
is(field($run, 'device', 'model'), 'none: host emulation', 'the device is none');
ok(defined field($run, 'driver', 'HSA_XNACK'), "the driver's settings are kept");

# Iterations.
my @iterations = metrics($run, 'iteration');
is(join(q{ }, map { $_->{iteration} } @iterations), join(q{ }, 0 .. 19),
    'a line an iteration');
is(sprintf('%.3f', $iterations[0]{value}), $ms, 'with the time that was printed');

# The curve: cold first. A fault costs more than reading the page it brings,
# even without a compiler's help.
my ($cold) = metrics($run, 'cold');
my ($steady) = metrics($run, 'steady');
cmp_ok($steady->{value}, '>', 1.5 * $cold->{value}, 'cold is slower than steady');
my ($converged) = metrics($run, 'converged');
cmp_ok($converged->{value}, '>=', 1, 'it takes an iteration to converge');
my ($migrated) = metrics($run, 'migrated');
my @times = map { $_->{value} } @iterations;
my @half = sort { $a <=> $b } @times[10 .. 19];
my $beyond = -$converged->{value} * ($half[4] + $half[5]) / 2;
$beyond += $_ for @times[0 .. $converged->{value} - 1];
cmp_ok(abs($migrated->{value} * $beyond / 16.777216 - 1), '<', 1e-6,
    'migrated: the bytes over what the first took beyond steady ones');
is($steady->{n}, 10, 'steady is of the last half');
is($steady->{value}, $steady->{median}, 'and its median');
for my $name (qw(fill device copy writeback total lost steady_share)) {
    my ($one) = metrics($run, $name);
    cmp_ok($one->{value}, '>', 0, "$name is there");
}
my ($total) = metrics($run, 'total');
my $sum = 0;
$sum += $_->{value} for @iterations;
cmp_ok(abs($sum / $total->{value} - 1), '<', 1e-9, 'total is the sum of all');
my ($share, $device) = map { (metrics($run, $_))[0]{value} } qw(steady_share device);
cmp_ok(abs($share - 100 * $steady->{value} / $device), '<', 1e-6,
    'steady_share is steady over device');

# Faults: exactly one a chunk, when it was moved, and none later.
my %faults = (
    '--num-blocks=2 --block-size=128'                       => 64,
    '--num-blocks=1 --block-size=64 --chunk=4K'             => 256,
    '--num-blocks=3 --block-size=256 --chunk=2M'            => 6,
    '--num-blocks=1 --block-size=128 --type=double --chunk=128K' => 32,
    '--num-blocks=1 --block-size=128 --access=coalesced'    => 32,
    '--num-blocks=7 --block-size=3 --elements-per-thread=1001' => 2,
    '--num-blocks=1 --block-size=1 --elements-per-thread=1025 --chunk=4K' => 2,
);
for my $options (sort keys %faults) {
    my $n = $faults{$options};
    my $of = emulation("HOST @ --iterations=4 --ping-pong=2 --rounds=3 $options");
    like($of->{out}, qr/^# faults: $n in iteration 0, 0 later, $n when the host read; $n chunks of \d+ bytes$/m,
        "$options: $n faults");
    for my $name (qw(cold later writeback pingpong)) {
        my ($check) = check($of, "faults.$name");
        is("$check->{ok} $check->{error}", 'yes 0', "... faults.$name is exact");
    }
    is((metrics($of, 'pingpong'))[0]{ping_pong}, 2, '... pingpong says how often');
    is(scalar(grep { $_->{ok} eq 'yes' } check($of, 'sums')), 4, '... sums are right');
    is(scalar(grep { $_->{ok} eq 'yes' } check($of, 'pingpong.sums')), 3,
        '... in ping-pong too');
}

# A prefetch leaves nothing to be done.
$run = emulation('HOST @ --num-blocks=1 --chunk=4K --prefetch');
like($run->{out}, qr/^# faults: 0 in iteration 0, 0 later, 4096 when/m, 'prefetch: no fault');
like($run->{out}, qr/^# prefetch: $time ms/m, '... what it cost is printed');
my ($fetched) = metrics($run, 'cold');
cmp_ok($fetched->{value}, '>', $cold->{value}, '... and nothing is cold');
is($fetched->{prefetch}, 'yes', '... which its key says');

# Ping-pong: pages go forth and back in every round.
$run = emulation('HOST @ --num-blocks=1 --ping-pong=1 --rounds=4');
my ($turns) = metrics($run, 'pingpong');
is($turns->{n}, 4, 'ping-pong: a sample a round');
($steady) = metrics($run, 'steady');
cmp_ok($turns->{value}, '<', $steady->{value}, '... slower than steady');
is((metrics($run, 'retouch'))[0]{n}, 4, "... with the host's part beside it");
like($run->{out}, qr/^# ping-pong: $time GB\/s in rounds of 1 writing by the host, at $time GB\/s, and 1 iteration; /m,
    '... and what it counts is said');

# Several devices.
$run = emulation('HOST @ --num-blocks=1 --block-size=256 --stand-ins=3 --devices=0,2 --iterations=8');
is($run->{status}, 0, 'two of three devices') or diag($run->{err});
is(join(q{ }, map {"$_->{device}/$_->{at_once}"} metrics($run, 'cold')),
    '0/1 2/1 0/2 2/2', 'one by one, then at once');
ok(unique($run, $_), "no two $_ lines alike") for qw(metric sample check);
is(scalar(grep { $_->{ok} eq 'yes' } check($run, 'faults.cold')), 4, 'faults are exact in each');
like($run->{out}, qr/^At once, device 2: Iteration 0: $time ms/m, 'lines say of which device');
is(scalar(lines($run, 'device')), 2, 'a device line each');
$run = emulation('HOST @ --num-blocks=1 --block-size=64 --stand-ins=2 --order=alone --iterations=4');
is(join(q{ }, map {"$_->{device}/$_->{at_once}"} metrics($run, 'cold')), '0/1 1/1', 'alone');
$run = emulation('HOST @ --num-blocks=1 --block-size=64 --stand-ins=2 --order=together --iterations=4');
is(join(q{ }, map {"$_->{device}/$_->{at_once}"} metrics($run, 'cold')), '0/2 1/2', 'together');

$run = emulation('HOST @ --num-blocks=1 --block-size=64 --quiet');
is($run->{out}, q{}, 'quiet prints nothing');
is($run->{status}, 0, '... and does its work');

done_testing();
