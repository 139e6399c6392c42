#!/usr/bin/perl
#
# Memory that runs out, at each allocation in turn: the run is broken and says
# so, or did not need it. It never crashes, and never ends well by half.

use 5.014;
use strict;
use warnings;

use FindBin qw($Bin);
use lib $Bin;
use Probe;
use Test::More;

my $cc = $ENV{CC} || 'cc';
if (system("$cc -shared -fPIC -o nomem.so '$Bin/data/nomem.c' -ldl 2>nomem.log"))
{
    plan skip_all => "no preload library here ($cc, glibc)";
}

# The preload library is for the probe alone, not for the shell.
my $with = 'exec env LD_PRELOAD=./nomem.so NOMEM_AT=';
my $do = 'PROBE @ --do=metric,warn,notrun';
my $all = probe("${with}0 $do");
my ($calls) = $all->{err} =~ /^nomem: (\d+) calls$/m;
if (!$calls) {
    plan skip_all => 'the preload library sees no allocation (a sanitiser?)';
}
is($all->{status}, 0, "all $calls allocations succeed: exit 0");

my ($broken, $fine) = (0, 0);
my $step = 1 + int $calls / 60;
for (my $n = 1; $n <= $calls; $n += $step) {
    my $run = probe("$with$n $do");
    my $end = line($run, 'end');
    my $said = $run->{err} =~ /^probe: (?!warning: )/m;
    my $right
        = $run->{status} == 99 ? $said && (!$end || $end->{status} eq 'failed')
        : $run->{status} == 0  ? verdict($run) eq 'good'
        :                        0;
    $run->{status} == 99 ? $broken++ : $fine++;
    ok($right, "allocation $n fails: exit $run->{status}")
        or diag($run->{err}, $run->{record});
}
cmp_ok($broken, '>=', 15, "$broken of them broke the run, $fine did not");

done_testing();
