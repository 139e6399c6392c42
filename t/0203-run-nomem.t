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

# The first env line: what the machine is.
sub machine {
    my ($run) = @_;
    return Assay::Text::split_fields((lines($run, 'env'))[0] =~ s/^\S+//r);
}

# Facts that don't change from run to run.
my $facts = machine($all);
my @facts = grep { exists $facts->{$_} } qw(cpu microcode cores threads sockets
    numa_nodes allowed_cpus cache_bytes hypervisor memory memory_limit os dimms
    openmp quota);

cmp_ok(scalar @facts, '>=', 8, 'facts that are told');

# Those that a run tells otherwise, and not as unknown for want of memory.
sub untrue {
    my ($run) = @_;
    my $env = machine($run);

    return grep { $env->{$_} ne $facts->{$_}
            && $env->{$_} !~ /no memory|^\d+ unknown library$/ } @facts;
}

my ($broken, $fine) = (0, 0);
my $step = 1 + int $calls / 200;
for (my $n = 1; $n <= $calls; $n += $step) {
    my $run = probe("$with$n $do");
    my $end = line($run, 'end');
    my $said = $run->{err} =~ /^probe: (?!warning: )/m;
    my $right
        = $run->{status} == 99 ? $said && (!$end || $end->{status} eq 'failed')
        : $run->{status} == 0  ? verdict($run) eq 'good' && !untrue($run)
        :                        0;
    $run->{status} == 99 ? $broken++ : $fine++;
    ok($right, "allocation $n fails: exit $run->{status}")
        or diag(join(q{ }, untrue($run)), "\n", $run->{err}, $run->{record});
}
cmp_ok($broken, '>=', 15, "$broken of them broke the run, $fine did not");

done_testing();
