#!/usr/bin/perl
#
# What a GPU can do wrong, by a back end that does it: each error by its name,
# wrong sums, a kernel that never ends, pages that stay where they are.

use 5.014;
use strict;
use warnings;

use FindBin qw($Bin);
use lib $Bin;
use Manmem;
use Test::More;

my $shape = '--block-size=32 --num-blocks=2 --elements-per-thread=64';

# On a busy machine such short times may be no curve, exit 3: asked for again.
sub fake { return emulation(command(@_)) }

sub command {
    my ($words, $options) = @_;
    return "FAKE='$words' MANMEM \@ --backend=hip --plugins=PROGRAMS/fake $shape "
        . ($options // '--iterations=6');
}

my $run = fake(q{});
is($run->{status}, 0, 'a device without fault: exit 0') or diag($run->{err});
is(verdict($run), 'good', '... and a good record');
like($run->{out}, qr/^# backend hip: a fake, for tests$/m, 'it says what it is');
my %device = %{line($run, 'device')};
is("@device{qw(model arch xnack managed_memory host_page_tables integrated)}",
    'fake, for tests gfx000 on yes unknown no', 'what the device says of itself is kept');
is("@device{qw(bus numa_node)}", '0000:F0:00.0 not there', '... bus and NUMA node too');
like(field($run, 'opt', 'plugin_sha256'), qr/^[0-9a-f]{64}$/, '... and the plugin\'s hash');
is(field($run, 'opt', 'plugin_archs'), 'gfx000', '... and what it was built for');
my ($kernel) = metrics($run, 'kernel');
is("$kernel->{n} $kernel->{median}", '6 1', "the device's own clock is kept");

# Errors. No device is not a fault of anything; all else is, by its name.
my @errors = (
    ['nodevice',   77, qr/hip: no device: hipGetDeviceCount: hipErrorNoDevice \(100\)/],
    ['devices=0',  77, qr/hip: no device: 0 devices/],
    ['nocount',    99, qr/hip: looking for devices: hipGetDeviceCount: hipErrorUnknown \(999\)/],
    ['noopen',     99, qr/hip device 0: opening it: hipGetLastError: hipErrorNoBinaryForGpu \(209\)/],
    ['nomalloc',   99, qr/hip device 0: allocating managed memory: hipMallocManaged: hipErrorOutOfMemory \(2\)/],
    ['nomanaged',  77, qr/hip device 0: allocating managed memory: hipMallocManaged: hipErrorNotSupported \(801\)/],
    ['fail=2',     99, qr/hip device 0: running the kernel: hipDeviceSynchronize: hipErrorIllegalAddress \(700\)/],
);
for my $row (@errors) {
    my ($word, $status, $why) = @$row;

    $run = fake($word);
    is($run->{status}, $status, "$word: exit $status");
    like($run->{err}, $why, '... call and error by name');
    is(scalar(() = $run->{err} =~ /\n/g), 1, '... in one line');
    my ($end) = line($run, 'end');
    is($end->{status}, $status == 77 ? 'notrun' : 'failed', '... in the record');
    like($end->{reason}, $why, '... with the reason');
}
is(scalar(metrics($run, 'iteration')), 2, 'what was measured before is kept');
$run = fake('noprefetch', '--prefetch');
is($run->{status}, 99, 'a prefetch that fails: exit 99');
like($run->{err}, qr/prefetching: hipMemPrefetchAsync: hipErrorInvalidValue/, '... by name');
$run = fake('noadvice', '--advise=coarse');
is($run->{status}, 77, 'advice that the device does not take: exit 77');
like($run->{err}, qr/advising: hipMemAdvise: hipErrorNotSupported/, '... by name');
for my $advice (qw(preferred accessed read coarse)) {
    $run = fake(q{}, "--advise=$advice --iterations=4");
    is((metrics($run, 'cold'))[0]{advise}, $advice, "advise $advice stands in the keys");
}
$run = manmem("FAKE=nodevice MANMEM \@ --plugins=PROGRAMS/fake");
is($run->{status}, 77, 'auto, and no device of HIP');
like($run->{err}, qr/hipErrorNoDevice \(100\); no back end cuda/, '... CUDA is tried then');
$run = manmem("FAKE=nocount MANMEM \@ --plugins=PROGRAMS/fake");
is($run->{status}, 99, 'auto, and a broken HIP: not passed over');

# Wrong data.
my %wrong = (
    'wrong=0'    => 'sums',
    'wrong=5'    => 'sums',
    'nan=1'      => 'sums',
    'stale=3'    => 'sums',
    'scribble=5' => 'writeback.data',
    'wrong=6'    => 'device.sums',
    'wrong=11'   => 'device.sums',
);
for my $word (sort keys %wrong) {
    $run = fake($word, '--iterations=6');
    is($run->{status}, 1, "$word: exit 1");
    my ($bad) = grep { $_->{ok} eq 'no' } check($run, $wrong{$word});
    ok($bad, "... by the check $wrong{$word}");
    like(verdict($run), qr/^wrong: /, '... and the judge sees it');
}
for my $wrong (8, 9) {
    $run = fake("wrong=$wrong", '--iterations=6 --ping-pong=2 --rounds=2');
    is((grep { $_->{ok} eq 'no' } check($run, 'pingpong.sums'))[0]{round}, 1,
        'wrong sums in ping-pong: by its round');
}

# A kernel that never ends, or takes a hundred times as long.
$run = fake('hang=2', '--iterations=6 --watchdog=0.5');
is($run->{status}, 128 + 14, 'a kernel that never ends: ended by the watchdog');
like($run->{err}, qr/^manmem: no progress within 0\.5 s: iteration 2$/m, '... which says where');
is(field($run, 'end', 'status'), 'timeout', '... in the record too');
is(scalar(metrics($run, 'iteration')), 2, '... which has what there was');
like($run->{out}, qr/^Iteration 1: /m, '... as does the output');
like(verdict($run), qr/^spoiled: /, '... and counts for nothing');
$run = fake('ms=700,1', '--iterations=4 --watchdog=0.3');
is($run->{status}, 128 + 14, 'one that is slow is ended as well');
like($run->{err}, qr/iteration 0$/m, '... as iteration 0');
$run = fake('devices=4 ms=400,1', '--iterations=4 --watchdog=0.3 --order=together');
is($run->{status}, 0, 'four at once may take four times as long') or diag($run->{err});
$run = fake('ms=20 direct=20', '--iterations=4 --watchdog=0.4 --ping-pong=30 --rounds=1');
is($run->{status}, 0, 'a round of ping-pong is more than one step') or diag($run->{err});
$run = fake('hang=7', '--iterations=4 --watchdog=0.3 --ping-pong=5 --rounds=1');
like($run->{err}, qr/no progress within 0\.3 s: an iteration of ping-pong$/m, '... each watched');

# Migration over three iterations, as MI210 does.
my ($last, $try) = (q{}, 0);
do {
    $run = fake('ms=90,60,40,5 direct=4', '--iterations=12');
    $last = join q{ }, map { $_->{value} } metrics($run, 'converged');
} while $last ne '3' && ++$try < 5;
is($last, '3', 'three cold iterations: converged after 3');
my ($migrated) = metrics($run, 'migrated');
my $bytes = 64 * 64 * 4;
cmp_ok(abs($migrated->{value} / ($bytes / 0.175 * 1e-9) - 1), '<', 0.25,
    'migrated: bytes over what they cost beyond steady ones');
my ($lost) = metrics($run, 'lost');
cmp_ok(abs($lost->{value} - 100 * 175 / 235), '<', 15, 'lost: its share of the total');

# Pages that stay with the host: steady, and slow.
$run = fake('ms=12 direct=2', '--iterations=8');
is($run->{status}, 0, 'remote reads: a valid measurement');
like($run->{err}, qr/warning: steady is [\d.]+ % of device memory's rate: the pages are read remotely, they did not migrate/,
    '... that says what it is');
cmp_ok((metrics($run, 'steady_share'))[0]{value}, '<', 50, '... in the record, for a clause');
$run = fake('ms=40,4 direct=4', '--iterations=8');
unlike($run->{err}, qr/remotely/, 'and where they came it is not said');

# What the curve can't tell: it went on falling till after the half.
$run = manmem(command('ms=40,40,40,40,40,40,2,2', '--iterations=8'));
is($run->{status}, 3, 'not steady: exit 3');
like($run->{err}, qr/not steady: iteration \d of 8 .*take more --iterations/, '... and the cure');
is(scalar(metrics($run, 'steady')), 0, '... without a steady rate');
is(field($run, 'end', 'status'), 'unstable', '... in the record too');

# What keeps pages from moving is said beforehand.
my %warned = (
    'xnack=off'         => qr/XNACK is off.*HSA_XNACK=1/,
    'xnack=unsupported' => qr/has no XNACK/,
    unmanaged           => qr/no managed memory/,
    integrated          => qr/shares its memory with the host/,
    'devices=2 twins'   => qr/devices 0 and 1 are both at bus 0000:F0:00\.0: one GPU twice/,
);
for my $word (sort keys %warned) {
    $run = fake($word, '--iterations=4');
    like($run->{err}, $warned{$word}, "$word: a warning");
    like((lines($run, 'warning'))[0], $warned{$word}, '... in the record too');
}
is((metrics(fake('xnack=off', '--iterations=4'), 'cold'))[0]{xnack}, 'off',
    'XNACK stands in the keys, as the device says');
$run = fake('xnack=on', '--iterations=4');
unlike($run->{err}, qr/XNACK/, 'and where it is on there is no warning');
is((metrics(fake('xnack=unknown', '--iterations=4'), 'cold'))[0]{xnack}, 'unknown',
    'nor is there one to tell, through SCALE');

# Of several devices the slow one is told.
$run = fake('devices=3 ms=10 direct=10 slow=1', '--iterations=6');
is($run->{status}, 0, 'three devices, one by one and at once') or diag($run->{err});
my %steady = map { ("$_->{device}/$_->{at_once}" => $_->{value}) } metrics($run, 'steady');
is(join(q{ }, sort keys %steady), '0/1 0/3 1/1 1/3 2/1 2/3', 'each twice');
cmp_ok($steady{'1/1'} * 1.3, '<', $steady{'2/1'}, 'the slow one is slow, alone');
cmp_ok($steady{'1/3'} * 1.3, '<', $steady{'2/3'}, '... and at once, without holding others up');
like($run->{out}, qr/^At once, device 1: Iteration 5: /m, 'lines tell them apart');

done_testing();
