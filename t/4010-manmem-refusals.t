#!/usr/bin/perl
#
# What manmem is asked: refusals quote the bad word and exit 2; what is not here
# is exit 77, says what, and is in the record; help and manual page agree.

use 5.014;
use strict;
use warnings;

use FindBin qw($Bin);
use lib $Bin;
use Manmem;
use Test::More;

my $fake = '--backend=hip --plugins=PROGRAMS/fake';

# Each with what the message must quote.
my @refused = (
    ['--backend=rocm',                  qr/rocm/],
    ['--block-size=0',                  qr/block-size.*0/],
    ['--num-blocks=0',                  qr/num-blocks.*0/],
    ['--num-blocks=2147483648',         qr/2147483648/],
    ['--elements-per-thread=12x',       qr/12x/],
    ['--elements-per-thread=266306',    qr/266306.*266305.*float/],
    ['--elements-per-thread=1T --type=double --num-blocks=2000000000 --block-size=1048576',
        qr/more than can be addressed/],
    ['--iterations=3',                  qr/iterations.*3/],
    ['--type=half',                     qr/half/],
    ['--access=random',                 qr/random/],
    ['--advise=well',                   qr/well/],
    ['--order=any',                     qr/any/],
    ['--ping-pong=0',                   qr/ping-pong.*0/],
    ['--chunk=1000',                    qr/chunk.*1000/],
    ['--chunk=12K',                     qr/12288: not a power of 2/],
    ['--stand-ins=17',                  qr/17/],
    ['--watchdog=0',                    qr/watchdog.*0/],
    ['--backend=host --devices=1',      qr/no device 1: host has 1/],
    ['--backend=host --devices=0,x',    qr/'x' is no device number/],
    ['--backend=host --devices=0,',     qr/'' is no device number/],
    ['--backend=host --devices=0,0',    qr/'0' names a device twice/],
    ['--backend=host --stand-ins=3 --devices=2-1', qr/'2-1' does not ascend/],
    ["$fake --block-size=2048",         qr/2048: device 0 has at most 1024 threads/],
    ['4',                               qr/4/],
);
my $here = manmem('HOST --block-size=16 --num-blocks=1 --iterations=4')->{status} != 77;
for my $row (@refused) {
    my ($options, $why) = @$row;

    next if !$here && $options =~ /backend=host/;
    my $run = manmem("MANMEM \@ $options");
    is($run->{status}, 2, "$options: exit 2");
    like($run->{err}, $why, '... and the bad word');
    unlike($run->{out}, qr/GB\/s\)/, '... no figure');
    ok(!defined $run->{record} || $run->{record} !~ /^metric/m, '... none in the record');
}

# More than the device has: with the numbers, unless that is what is wanted.
my $large = '--block-size=64 --num-blocks=1 --elements-per-thread=1024 --iterations=4';
my $run = manmem("FAKE=memory=262399 MANMEM @ $fake $large");
is($run->{status}, 2, 'a byte too much: exit 2');
like($run->{err}, qr/64 x 1 x 1024 elements take 262144 bytes, and 256 for sums: device 0 has 1073741824 bytes, 262399 of them free: .*--oversubscribe/,
    '... with the numbers');
$run = emulation("FAKE=memory=262400 MANMEM @ $fake $large");
is($run->{status}, 0, 'just enough: exit 0') or diag($run->{err});
$run = emulation("FAKE=memory=262399 MANMEM @ $fake $large --oversubscribe");
is($run->{status}, 0, 'oversubscribed on demand: exit 0') or diag($run->{err});
is((metrics($run, 'cold'))[0]{oversubscribed}, 'yes', '... and says so in its keys');
is(scalar(metrics($run, 'device')), 0, '... without the arm that does not fit');
like($run->{out}, qr/device memory: not measured/, '... which is said');

# Host memory.
$run = manmem("HOST @ --num-blocks=100000 --elements-per-thread=64K");
SKIP: {
    skip 'no userfaultfd here', 2 if !$here;
    isnt($run->{status}, 0, 'more than the host has');
    like($run->{err}, qr/may be had|--oversubscribe/, '... with the numbers');
}

# What is not here.
$run = manmem('MANMEM @ --backend=hip --plugins=/nonexistent');
is($run->{status}, 77, 'no back end: exit 77');
like($run->{err}, qr{no back end hip: /nonexistent/manmem-hip\.so: not built or not installed},
    '... and which');
is(field($run, 'end', 'status'), 'notrun', '... NOTRUN in the record');
like(verdict($run), qr/^notrun: .*no back end hip/, '... for the judge too');
$run = manmem('MANMEM @ --plugins=/nonexistent');
is($run->{status}, 77, 'none of all: exit 77, and no host emulation instead');
like($run->{err}, qr/no back end hip.*; no back end cuda/, '... with both reasons');
mkdir 'plugins' or die;
open my $file, '>', 'plugins/manmem-hip.so' or die;
print {$file} "no library\n";
close $file or die;
$run = manmem('MANMEM @ --backend=hip --plugins=plugins');
is($run->{status}, 77, 'one that the loader refuses: exit 77');
like($run->{err}, qr/no back end hip: .*manmem-hip\.so/, '... and the loader\'s reason');
SKIP: {
    skip 'no C compiler here', 4 if system('command -v cc >/dev/null 2>&1') != 0;
    compile('plugins/manmem-hip.so', 'int other;');
    $run = manmem('MANMEM @ --backend=hip --plugins=plugins');
    is($run->{status}, 99, 'a library that is no back end: exit 99');
    like($run->{err}, qr/is no back end of this version/, '... and says so');
    compile('plugins/manmem-hip.so', '#include "manmem/gpu.h"
const struct gpu_backend *gpu_backend(void)
{ static const struct gpu_backend b = {.version = GPU_VERSION + 1}; return &b; }');
    $run = manmem('MANMEM @ --backend=hip --plugins=plugins');
    is($run->{status}, 99, 'one of another version: exit 99');
    like($run->{err}, qr/is no back end of this version/, '... and says so');

    # Whoever waits for a page goes on when all of the move is done, however
    # late its second half comes.
    skip 'no userfaultfd here', 1 if !$here;
    compile('late.so', '#include <linux/userfaultfd.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int ioctl(int fd, unsigned long what, ...)
{
    va_list more;
    va_start(more, what);
    void *p = va_arg(more, void *);
    va_end(more);
    int result = (int)syscall(SYS_ioctl, fd, what, p);
    if (what == UFFDIO_COPY)
        usleep(5000);
    return result;
}');
    $run = manmem('ASAN_OPTIONS="$ASAN_OPTIONS:verify_asan_link_order=0" LD_PRELOAD=./late.so'
            . ' HOST @ --block-size=16 --num-blocks=1 --iterations=4 --ping-pong=1');
    is_deeply([grep { $_->{ok} ne 'yes' } map { check($run, $_) } qw(pingpong.sums faults.pingpong)],
        [], 'a slow page-fault handler: the right data') or diag($run->{err});
    is(scalar(check($run, 'pingpong.sums')), 5, '... in all rounds');
}

sub compile {
    my ($file, $text) = @_;

    open my $out, '>', 'x.c' or die;
    print {$out} "$text\n";
    close $out or die;
    my $top = source(q{.});
    system("cc -shared -fPIC -D_GNU_SOURCE -I '$top' -o $file x.c") == 0 or die 'cc';
    return;
}

# An ordinary user; and one who may not call userfaultfd.
SKIP: {
    skip 'not root, or no userfaultfd: that is the test of 4000', 2
        if $> != 0 || !$here || system('setpriv --version >/dev/null 2>&1') != 0;
    my $path = manmem_path();
    skip 'an ordinary user can\'t run it here', 2
        if system("setpriv --reuid=65534 --regid=65534 --clear-groups '$path' --version >/dev/null 2>&1") != 0;
    $run = emulation('setpriv --reuid=65534 --regid=65534 --clear-groups HOST --block-size=64 --num-blocks=1');
    is($run->{status}, 0, 'host emulation by an ordinary user') or diag($run->{err});
    like($run->{out}, qr/^# faults: 16 in iteration 0, 0 later/m, '... faults and all');
}
SKIP: {
    my %why = (
        forbidden => qr/host: no device: userfaultfd: Operation not permitted \(forbidden here, /,
        missing   => qr/host: no device: userfaultfd: Function not implemented \(not in this kernel, /,
    );
    for my $how (sort keys %why) {
        $run = manmem("PROGRAMS/noufd $how HOST @");
        skip 'no seccomp here', 1 if $run->{status} == 126;
        is($run->{status}, 77, "userfaultfd is $how: exit 77");
        like($run->{err}, $why{$how}, '... and why');
        is(field($run, 'end', 'status'), 'notrun', '... NOTRUN in the record');
    }
    skip 'no userfaultfd', 1 if !$here;
    $run = manmem('PROGRAMS/noufd immovable HOST @ --block-size=64 --num-blocks=1 --watchdog=5');
    is($run->{status}, 99, 'pages that can\'t be moved: exit 99');
    like($run->{err}, qr/running the kernel: UFFDIO_COPY: Cannot allocate memory/, '... and why');
    skip 'not root', 1 if $> != 0;
    $run = emulation('PROGRAMS/noufd old HOST --block-size=64 --num-blocks=1');
    is($run->{status}, 0, 'a kernel that knows not of user mode alone: works for root')
        or diag($run->{err});
}

# Help, and the manual page: without a device, and without a back end.
$run = manmem("FAKE=nocount MANMEM --help $fake");
is($run->{status}, 0, '--help: exit 0, whatever the devices');
is((grep { length > 80 } split /\n/, $run->{out}), 0, 'within 80 columns');
my @options = $run->{out} =~ /^ .*?--([a-z-]+)/mg;
cmp_ok(scalar @options, '>', 20, 'options in help');
like($run->{out}, qr/--elements-per-thread.*(?:\n.*)?default: 4K/, 'help has live defaults');
my $manual = slurp(source('doc/manmem.1'));
$manual =~ s/\\-/-/g;
my %known = map { $_ => 1 } @options;
my @named = $manual =~ /^\.It .*?Fl -([a-z][a-z-]+)/mg;
is(join(q{ }, sort @named), join(q{ }, sort @options), 'the manual page has the same');
is(manmem('MANMEM --version')->{status}, 0, '--version: exit 0');

done_testing();
