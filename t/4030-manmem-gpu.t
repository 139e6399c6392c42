#!/usr/bin/perl
#
# The back ends for GPUs, as they were built: code for every architecture that
# configure found, what happens where there is no device; and, with a stand-in
# for the HIP library that runs the kernels on the host, all of their calls.

use 5.014;
use strict;
use warnings;

use FindBin qw($Bin);
use lib $Bin;
use Manmem;
use Test::More;

my $build = $ENV{ASSAY_BUILDDIR} || source(q{.});
my $makefile = slurp("$build/Makefile") // q{};

sub setting {
    my ($name) = @_;
    return $makefile =~ /^\Q$name\E = *(.*)$/m ? $1 : q{};
}

sub command { return system("command -v $_[0] >/dev/null 2>&1") == 0 }

my %plugin = map { $_ => "$build/manmem/manmem-$_.so" } qw(hip cuda);
plan skip_all => 'neither HIP nor CUDA was found by configure'
    if !grep {-e} values %plugin;

SKIP: {
    skip 'built without HIP', 1 if !-e $plugin{hip};
    my @archs = split q{ }, setting('HIP_BUILT');
    cmp_ok(scalar @archs, '>', 0, 'HIP: architectures') or last;
    my $code = slurp($plugin{hip});
    for my $arch (@archs) {
        ok(index($code, "amdgcn-amd-amdhsa--$arch") >= 0, "HIP: code for $arch");
    }
    unlike($code, qr/amdgcn-amd-amdhsa--gfx803/, "HIP: none for hipcc's silent default");
    unlike(qx(ldd '$plugin{hip}' 2>&1), qr/not found/, 'HIP: it can be loaded');
}
SKIP: {
    skip 'built without CUDA', 1 if !-e $plugin{cuda};
    my %has = map { $_ => 1 } cuda_code(slurp($plugin{cuda}));
    my @archs = map {s/\d\K[a-z]\z//r} split q{ }, setting('CUDA_BUILT');
    skip 'built by NVCC_FLAGS of your own', 1 if grep { !/\A(?:sm|compute)_\d+\z/ } @archs;
    is_deeply([grep { !$has{$_} } @archs], [], "CUDA: code for @archs");
    is_deeply([grep {/^sm_/ && !/^(?:@{[join q{|}, @archs]})$/} keys %has], [],
        'CUDA: and for no other');
}

# What the fat binaries in a file hold: sm_NN, or compute_NN for PTX.
sub cuda_code {
    my ($code) = @_;
    my @found;

    while ($code =~ /\x50\xed\x55\xba/g) {
        my ($head, $size) = unpack 'x2 v Q<', substr $code, pos $code, 12;
        my $at = pos($code) - 4 + $head;
        for (my $end = $at + $size; $at < $end;) {
            my ($kind, $more, $length, $arch) = unpack 'v x2 V Q< x12 V', substr $code, $at, 32;
            push @found, ($kind == 1 ? 'compute_' : 'sm_') . $arch;
            last if !$more;
            $at += $more + $length;
        }
    }
    return @found;
}

# Where there is a device it is measured, else that is what is said.
for my $name (grep { -e $plugin{$_} } sort keys %plugin) {
    my $run = manmem("MANMEM \@ --backend=$name --num-blocks=8 --elements-per-thread=1K");
    if ($run->{status} == 77) {
        like($run->{err}, qr/^manmem: $name: no device: (?:hip|cuda)GetDeviceCount: (?:hip|cuda)Error\w+ \((?:35|100)\)$/,
            "$name: no device, by call and error");
        is(field($run, 'end', 'status'), 'notrun', "$name: NOTRUN in the record");
    }
    else {
        like($run->{status}, qr/^[03]$/, "$name: measured") or diag($run->{err});
        is((metrics($run, 'cold'))[0]{backend}, $name, "$name: by this back end");
    }
}

# A node without ROCm: the program runs, and says what is missing.
SKIP: {
    skip 'built without HIP', 3 if !-e $plugin{hip};
    my $code = slurp($plugin{hip});
    $code =~ s/libamdhip64/libamdhip00/g;
    mkdir 'bare' or die;
    open my $file, '>:raw', 'bare/manmem-hip.so' or die;
    print {$file} $code;
    close $file or die;
    my $run = manmem('MANMEM @ --backend=hip --plugins=bare');
    is($run->{status}, 77, 'without the HIP library: exit 77');
    like($run->{err}, qr/^manmem: no back end hip: libamdhip00\.so\S*: cannot open shared object/,
        '... and what is missing');
    is(field($run, 'end', 'status'), 'notrun', '... in the record too');
}

# The stand-in library. What it is told by STUB each call that is named returns.
my ($needed) = -e $plugin{hip}
    ? map {/\[(libamdhip64\.so[.\d]*)\]/} grep {/NEEDED/} qx(LC_ALL=C readelf -d '$plugin{hip}' 2>&1)
    : ();
SKIP: {
    my $stub = "$build/t/programs/hip_stub.so";
    skip 'no HIP library to stand in for', 1 if !$needed || !-e $stub;
    mkdir 'stub' or die;
    symlink $stub, "stub/$needed" or die;
    my $hip = 'LD_LIBRARY_PATH=stub MANMEM @ --backend=hip --block-size=64 --num-blocks=16'
        . ' --elements-per-thread=1000 --iterations=6';
    for my $options (q{}, '--type=double', '--access=coalesced', '--type=double --access=coalesced',
        '--prefetch --advise=coarse --ping-pong=2 --rounds=2') {
        my $run = emulation("$hip $options");
        is($run->{status}, 0, "HIP's calls, kernels run by the host: $options") or diag($run->{err});
        is(scalar(grep { $_->{ok} eq 'yes' } check($run, 'sums')), 6, '... with the right sums');
        is((metrics($run, 'steady'))[0]{arch}, 'gfx90a:sramecc+:xnack+', '... on its device')
            if !$options;
        is("@{line($run, 'device')}{qw(xnack managed_memory bus memory)}",
            'on yes 0000:C1:00.0 1073741824', '... as that says') if !$options;
        like($run->{out}, qr/; hip runtime 50200000, driver 50200000$/m, '... and its run time')
            if !$options;
        my ($kernel) = metrics($run, 'kernel');
        is($kernel->{n}, 6, '... and its clock');
    }
    my %error = (
        'hipGetDeviceCount=100'    => [77, qr/no device: hipGetDeviceCount: hipErrorNoDevice \(100\)/],
        'hipGetDeviceCount=35'     => [77, qr/no device: hipGetDeviceCount: hipErrorInsufficientDriver \(35\)/],
        'hipGetDeviceCount=101'    => [99, qr/hipGetDeviceCount: hipError101 \(101\)/],
        'hipSetDevice=101'         => [99, qr/opening it: hipSetDevice: hipError101/],
        'hipGetLastError=209'      => [99, qr/opening it: hipGetLastError: hipError209 \(209\): this build has code for \S*gfx/],
        'hipGetDeviceProperties=1' => [99, qr/asking what it is: hipGetDeviceProperties\w*: hipError1/],
        'hipMallocManaged=801'     => [77, qr/managed memory: hipMallocManaged: hipError801/],
        'hipMallocManaged=2'       => [99, qr/managed memory: hipMallocManaged: hipError2/],
        'hipMalloc=2'              => [99, qr/device memory: hipMalloc: hipError2/],
        'hipMemcpy=1'              => [99, qr/hipMemcpy: hipError1/],
        'hipDeviceSynchronize=700' => [99, qr/hipDeviceSynchronize: hipError700/],
        'hipEventElapsedTime=600'  => [99, qr/kernel: hipEventElapsedTime: hipError600/],
        'hipMemPrefetchAsync=1'    => [99, qr/prefetching: hipMemPrefetchAsync: hipError1/],
        'hipMemAdvise=801'         => [77, qr/advising: hipMemAdvise: hipError801/],
        'hipFree=1'                => [99, qr/releasing memory: hipFree: hipError1/],
    );
    for my $word (sort keys %error) {
        my ($status, $why) = @{$error{$word}};
        my $run = manmem("STUB=$word $hip --prefetch --advise=read");
        is($run->{status}, $status, "$word: exit $status");
        like($run->{err}, $why, '... call and error by name');
    }
    my $several = emulation("STUB=devices=3 $hip --devices=0,2");
    is($several->{status}, 0, 'two of three devices') or diag($several->{err});
    is(join(q{ }, map {"$_->{device}/$_->{at_once}"} metrics($several, 'cold')), '0/1 2/1 0/2 2/2',
        '... one by one, and at once');
    is(join(q{ }, map { ($_ =~ / bus=(\S+)/)[0] } lines($several, 'device')),
        '0000:C1:00.0 0000:C3:00.0', '... each at its own bus');
    my $run = manmem("STUB=xnack=- $hip");
    is((metrics($run, 'cold'))[0]{xnack}, 'off', 'XNACK off');
    like($run->{err}, qr/XNACK is off/, '... is warned of');
    $run = manmem("STUB=nothing=1 $hip");
    is($run->{status}, 1, 'a launch that does nothing: wrong sums, exit 1');
}

done_testing();
