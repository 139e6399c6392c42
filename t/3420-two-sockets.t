#!/usr/bin/perl
#
# run_commbw on a node of two sockets: columns 3 and 4 are launched confined to
# one, the CPUs that ranks get are that socket's alone, and the programs find out
# that they are. Where this machine has one socket, /sys says that it has two.

use 5.016;
use strict;
use warnings;

use File::Temp qw(tempdir);
use FindBin;
use Test::More;

use lib $FindBin::Bin;
use Mpi;
use Probe;

plan skip_all => missing('commbw/jobstream') if missing('commbw/jobstream');

# The CPUs of this process by socket.
my %socket;
my ($allowed) = slurp('/proc/self/status') =~ /^Cpus_allowed_list:\s*(\S+)/m;
for my $cpu (map { /\A(\d+)-(\d+)\z/ ? $1 .. $2 : $_ } split /,/, $allowed) {
    my $number = slurp("/sys/devices/system/cpu/cpu$cpu/topology/physical_package_id");
    push @{$socket{$number // q{}}}, $cpu;
}

my $fake = q{};
if (keys %socket == 1) {
    my $folder = tempdir(CLEANUP => 1);
    my $spaces = $> == 0 ? '-m' : '-rm';
    $fake = "unshare $spaces $^X '" . source('t/data/commbw/two_sockets') . "' '$folder'";
    plan skip_all => 'one socket, and no mount namespace to make it two'
        if probe("$fake true")->{status} != 0;
    my ($all) = values %socket;
    plan skip_all => 'one CPU is no two sockets' if @{$all} < 2;
    %socket = map { my $odd = $_; ($odd => [grep { $_ % 2 == $odd } @{$all}]) } 0, 1;
}

sub run_commbw {
    my ($options) = @_;
    return probe("$fake timeout 100 '@{[program('run_scripts/run_commbw')]}' --as-root $options </dev/null");
}

# The words of a rank's wrapper, or why there are none.
sub words {
    my ($column) = @_;
    my $run = run_commbw("-n --functional --nics=a,b --column=$column --benchmark=stream");
    return $run->{out} =~ m{/commbw_rank'? (\S+ \d \S+ \S+) a,b} ? $1
        : $run->{out} =~ /(lacks [^']*)'/                         ? $1
        :                                                           $run->{err};
}

is words(3), 'socket 1 own no', 'column 3: on one';
is words(4), 'socket 2 shared no', 'column 4: on one, with both interfaces';
is words(6), 'socket 2 own no', 'column 6: each of two on its own';

# What ranks 0 and 1 may use.
my $rank = program('run_scripts/commbw_rank');
my $run = probe("$fake timeout 60 @{[launcher(2)]} '$rank' socket 1 own no - - - - "
        . q{sh -c 'echo "$(grep Cpus_allowed_list /proc/self/status)"' </dev/null});
is join(q{ }, sort $run->{out} =~ /^Cpus_allowed_list:\s*(\S+)$/mg),
    join(q{ }, sort map { ranges(@{$_}) } (map { $socket{$_} } sort { $a <=> $b } keys %socket)[0, 1]),
    'two ranks of a node have a socket each' or diag $run->{err};

# As the kernel writes CPUs.
sub ranges {
    my @cpus = @_;
    my @runs;

    for my $cpu (@cpus) {
        if (@runs && $runs[-1][1] == $cpu - 1) { $runs[-1][1] = $cpu }
        else                                   { push @runs, [$cpu, $cpu] }
    }
    return join q{,}, map { $_->[0] == $_->[1] ? $_->[0] : "$_->[0]-$_->[1]" } @runs;
}

# Stream needs no second node: what it measured there is of that column.
my $results = tempdir(CLEANUP => 1) . '/results';
$run = run_commbw("--functional -t 60 -r '$results' --column=3 --benchmark=stream");
is $run->{status}, 0, 'column 3 of stream' or diag $run->{out}, $run->{err};
like slurp((glob "$results/*/stream.record")[0]), qr/^metric name=triad .* colocales=1 confined=yes/m,
    '... by a rank that found out that it was confined';
my $table = qx{$^X '@{[program('harness/assay')]}' matrix '$results'};
my ($row) = grep {/^stream/} split /\n/, $table;
like +(split /\s*[|]\s*/, $row)[3], qr/\A[\d.e+]+f\z/, '... and a figure of the table' or diag $table;

done_testing;
