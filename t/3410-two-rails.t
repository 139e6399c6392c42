#!/usr/bin/perl
#
# run_commbw on two emulated nodes with two interfaces of limited rate each:
# messages use both, two ranks with one each do, and where the bytes of a column
# of two went over one, its cell says so.

use 5.016;
use strict;
use warnings;

use FindBin;
use Test::More;

use lib $FindBin::Bin;
use Mpi;
use Probe;
use Cluster;

plan skip_all => missing('commbw/indexgather') if missing('commbw/indexgather');

# Less than the CPUs can do, however busy: the interfaces decide.
cluster_up(qw(--rails 2 --rate 100mbit 2));
my $results = "$ENV{CLUSTER}/results";
my @salloc = qw(salloc -Q -N2 --exclusive);
my @options = ('--functional', '--as-root', '--tasks=1', '--nics=rail1,rail2', '-t', 60, '-r', $results);

# Ranks of MPICH never give way: where others keep the CPUs busy, four on two of
# them are slower than the rails, unless they come first.
if (library() !~ /\AOpen MPI/ && $> == 0 && -e '/proc/self/autogroup') {
    my $first = "$ENV{CLUSTER}/first";
    open my $out, '>', $first or die "$first: $!";
    print {$out} "#!/bin/sh\necho -20 >/proc/self/autogroup\nexec \"\$@\"\n";
    close $out or die "$first: $!";
    chmod 0755, $first;
    $ENV{ASSAY_LAUNCH} = "srun --mpi=pmi2 --nodes={nodes} --ntasks={ranks} --ntasks-per-node={ppn} $first";
}

sub run_cell {
    my ($column, $benchmark, @variables) = @_;
    return on_login('env', @variables, @salloc, program('run_scripts/run_commbw'), @options,
        "--column=$column", "--benchmark=$benchmark");
}

# The table as it is now; and the cells of one of its rows, as texts.
sub table {
    my ($status, $out) = output($^X, program('harness/assay'), 'matrix', $results);
    return $out;
}

sub row {
    my ($name) = @_;
    my ($line) = grep {/^\Q$name\E/} split /\n/, table();
    return split /\s*[|]\s*/, $line // q{};
}

for my $cell ([1, 'indexgather'], [2, 'indexgather'], [1, 'simpleBandwidth'],
    [6, 'simpleBandwidth'], [3, 'ra']) {
    my ($status, $out) = run_cell(@{$cell});
    is $status, 0, "column $cell->[0], $cell->[1]" or diag $out;
}

my @gather = row('indexgather');
my ($one, $two) = map { s/f\z//r } @gather[1, 2];
like "$one $two", qr/\A[\d.e-]+ [\d.e-]+\z/, 'indexgather has figures over one rail and two'
    or diag table();
cmp_ok $two, '>', 1.4 * $one, "... messages run nearly twice as fast: $one, $two GB/s";
for my $row (qw(PUT GET)) {
    my @cells = row($row);
    my ($alone, $both) = map { s/f\z//r } @cells[1, 6];
    cmp_ok $both, '>', 1.3 * $alone, "$row: two ranks with a rail each: $alone, $both GB/s";
}
my %sockets = map { (slurp($_) => 1) }
    glob '/sys/devices/system/cpu/cpu[0-9]*/topology/physical_package_id';
like +(row('ra-rmo'))[3], keys %sockets > 1 ? qr/\A[\d.]/ : qr/\ANOTRUN\[\d\]\z/,
    'what this machine lacks is NOTRUN';
is +(row('ra-rmo'))[4], q{-}, '... and what was not run has no cell';

# On nodes of two sockets, by what their /sys says, those columns are.
if (keys %sockets == 1 && slurp('/proc/cpuinfo') =~ /^processor\s*:\s*1$/m) {
    for my $node (qw(n1 n2)) {
        my $folder = "$ENV{CLUSTER}/sockets-$node";
        mkdir $folder;
        my ($status, $out) = node($node, $^X, source('t/data/commbw/two_sockets'), $folder, 'true');
        is $status, 0, "$node has two sockets" or diag $out;
    }
    for my $cell ([3, 'indexgather'], [4, 'indexgather'], [3, 'stream']) {
        my ($status, $out) = run_cell(@{$cell});
        is $status, 0, "column $cell->[0], $cell->[1]" or diag $out;
    }
    @gather = row('indexgather');
    like $gather[3], qr/\A[\d.e-]+f\z/, 'a rank confined to a socket, one rail';
    like $gather[4], qr/\A[\d.e-]+f\z/, '... and two';
    like +(row('stream'))[3], qr/\A[\d.e+]+f\z/, '... and stream';
}

# The knobs of Open MPI's other ways, each by what the counters say. An endpoint
# of libfabric has one interface.
sub way {
    my ($way, @variables) = @_;
    on_login('rm', '-rf', $results);
    for my $cell ([1, 'indexgather'], [2, 'indexgather'], [6, 'simpleBandwidth']) {
        my ($status, $out) = run_cell(@{$cell}, @variables);
        is $status, 0, "$way, column $cell->[0], $cell->[1]" or diag $out;
    }
    return map { s/f\z//r } (row('indexgather'))[1, 2], (row('PUT'))[6];
}

if (library() =~ /\AOpen MPI/) {
    my $info = qx{ompi_info --parsable 2>/dev/null};
    SKIP: {
        skip 'Open MPI has no UCX', 1 if $info !~ /^mca:pml:ucx:/m;
        my ($single, $double, $each) = way('UCX', 'UCX_TLS=tcp,self', qw(OMPI_MCA_pml=ucx OMPI_MCA_osc=ucx),
            map {"OMPI_MCA_opal_common_ucx_$_=any"} qw(tls devices));
        cmp_ok $double, '>', 1.4 * $single, 'UCX: messages run nearly twice as fast over two rails';
        like $each, qr/\A[\d.e-]+\z/, '... and two ranks have a rail each' or diag table();
    }
    SKIP: {
        skip 'Open MPI has no libfabric', 1 if $info !~ /^mca:mtl:ofi:/m;
        my ($single, $double, $each) = way('libfabric', qw(OMPI_MCA_pml=cm OMPI_MCA_mtl=ofi),
            map {"OMPI_MCA_$_"} qw(mtl_ofi_provider_include=tcp osc=^ucx), 'btl=tcp,self');
        like "$single $each", qr/\A[\d.e-]+ [\d.e-]+\z/, 'libfabric: a rank has a rail, two have one each';
        like $double, qr/\ANOTRUN\[\d\]\z/, '... and one rank does not have two';
    }
}

# Small messages do not stripe: the column's cell must not pass for two rails.
my ($status, $out) = on_login('rm', '-rf', $results);
($status, $out) = on_login(@salloc, 'env', 'OMPI_MCA_btl_tcp_if_include=rail1',
    program('run_scripts/run_commbw'), @options[0 .. 2], '--nics=rail1,rail1', @options[4 .. $#options],
    '--column=2', '--benchmark=indexgather');
my ($cell) = (row('indexgather'))[2];
like $cell, qr/\ANOTRUN\[1\]\z/, 'a column of two rails whose bytes went over one has no figure';
($status, $out) = output($^X, program('harness/assay'), 'matrix', $results);
like $out, qr/^\[1\] asked for nics=2; nics=1 is what the counters say \(n1:rail1 n2:rail1\)/m,
    '... and the interfaces that carried them are named';

done_testing;
