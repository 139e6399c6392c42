#!/usr/bin/perl
#
# A step of the wall clock in mid-run changes nothing.

use 5.014;
use strict;
use warnings;

use FindBin qw($Bin);
use lib $Bin;
use Stream;
use Test::More;

my $cc = compiler();
plan skip_all => 'no C compiler here' if !$cc;
my $binary = stream_path();
plan skip_all => 'a sanitizer wants to be loaded first'
    if `nm '$binary' 2>/dev/null` =~ /__[at]san_init/;

# gettimeofday and CLOCK_REALTIME run backwards, a second a call.
open my $shim, '>', 'shim.c' or die;
print {$shim} <<'END';
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static long calls;
int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
    (void)zone;
    tv->tv_sec = 1700000000 - ++calls;
    tv->tv_usec = 0;
    return 0;
}
int clock_gettime(clockid_t id, struct timespec *t)
{
    if (id == CLOCK_REALTIME) {
        t->tv_sec = 1700000000 - ++calls;
        t->tv_nsec = 0;
        return 0;
    }
    return (int)syscall(SYS_clock_gettime, id, t);
}
END
close $shim or die;
system("$cc -O -fPIC -shared shim.c -o shim.so") == 0
    or plan skip_all => "$cc makes no shared library";

my $small = '--elements=2M --repetitions=5 --threads=1';
my $plain = stream("STREAM @ $small");
my $shifted = stream("LD_PRELOAD=./shim.so STREAM @ $small");
is($shifted->{status}, 0, 'exit 0');
is(verdict($shifted), 'good', 'a good record');
for my $name (qw(copy scale add triad)) {
    my ($here) = metrics($plain, $name);
    my ($there) = metrics($shifted, $name);

    is($there->{n}, 4, "$name: every time counts");
    cmp_ok($there->{value}, '>', $here->{value} / 20, "$name: a rate like");
    cmp_ok($there->{value}, '<', $here->{value} * 20, 'that without the shim');
}

# A clock of 4 ms: times that are 0 are discarded and counted, not divided by.
open my $coarse, '>', 'coarse.c' or die;
print {$coarse} <<'END';
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t id, struct timespec *t)
{
    int result = (int)syscall(SYS_clock_gettime, id, t);

    t->tv_nsec -= t->tv_nsec % 4000000;
    return result;
}
END
close $coarse or die;
system("$cc -O -fPIC -shared coarse.c -o coarse.so") == 0 or die;
my $run = stream('LD_PRELOAD=./coarse.so STREAM @ --elements=100000 '
    . '--repetitions=20 --threads=1');
is($run->{status}, 3, 'a clock of 4 ms: exit 3');
unlike("$run->{out}$run->{record}", qr/=-?(?:inf|nan)\b/i, 'no inf, no nan');
like($run->{err}, qr/times of 0 or less were discarded/, 'they are discarded');
like($run->{err}, qr/ticks of the clock/, 'and the clock is blamed');
is(field($run, 'end', 'status'), 'unstable', 'no measurement');

done_testing();
