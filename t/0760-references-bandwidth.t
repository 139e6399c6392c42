#!/usr/bin/perl
#
# The reference of the dual-rail system for simpleBandwidth: the figures of its
# table, and each clause with a record that passes and one that fails it; and
# what must hold on any machine, and of a functional run.

use 5.016;
use strict;
use warnings;

use File::Basename qw(dirname);
use lib dirname(__FILE__) . '/data/run_scripts';
use Test::More;

use TestTree;

use lib harness_dir();
use Assay::Reference;

my $tree = make_tree();
my $references = source_dir() . '/reference';
my $dual = "$references/dual-rail-genoa/simpleBandwidth.ref";

# Operation, NICs, GB/s, as published.
my @table = (['put', 1, 25], ['put', 2, 46], ['get', 1, 39], ['get', 2, 75]);

my %keys = (size => 131072, tasks => 96, tasks_as => 'threads', window => 1,
    kind => 'allocate', direction => 'one', at_once => 'all', transport => 'mpi',
    nic_share => 'own', pshm => 'no', colocales => 1, confined => 'no', places => 1,
    per => 'pair', pair => 'n1:n2', ranks => '0:1');

# A record of these rows, each a factor times as fast as published.
sub record {
    my ($factor, %more) = @_;
    my $file = "$tree->{top}/simpleBandwidth.record";
    my @lines = (
        'record version=1 bench=simpleBandwidth time=2026-11-30T13:21:09Z',
        'env threads=' . (delete $more{threads} // 96),
        'opt nodes=2 kernels=' . (delete $more{kernels} // 2),
        'check name=put.data ok=' . (delete $more{ok} // 'yes'),
    );
    my $only = delete $more{nics};

    for my $row (@table) {
        my ($name, $nics, $rate) = @{$row};
        next if defined $only && $only != $nics;
        my %all = (%keys, nics => $nics, %more);
        my $value = $rate * 1000 * $factor;
        push @lines, "metric name=$name value=$value unit=MB/s n=9 best=$value"
            . " min=$value median=$value max=$value "
            . join q{ }, map {"$_=$all{$_}"} sort keys %all;
    }
    spew($file, map {"$_\n"} @lines, 'end status=ok');
    return $file;
}

sub judge {
    my ($reference, $record) = @_;
    my ($status, $out, $err) = run_command($tree->{command}, 'judge', '--reference',
        $reference, '--strict', '--pairs', 'n1:n2', '--nodes', 'n1,n2', $record);

    return ($status, scalar lines_of($out, qr/^not ok/), $out . $err);
}

my %got;
for my $clause (@{Assay::Reference::load($dual)->{clauses}}) {
    my ($nics) = $clause->{id} =~ /nics-(\d)/;
    my ($operation) = $clause->{metric} =~ /\.(\w+)\z/;
    $got{"$operation $nics"} = $clause->{limits}[0]{text};
}
is_deeply \%got, {map { ("$_->[0] $_->[1]" => ">= $_->[2] GB/s") } @table},
    'the figures of the table';
my ($status, $out, $err) = run_command($tree->{command}, 'lint', $dual,
    "$references/functional/simpleBandwidth.ref", "$references/any-machine.ref");
is $status, 0, 'no fault' or diag $out, $err;

my ($not_ok, $said);
($status, $not_ok, $said) = judge($dual, record(1));
is $status, 0, 'as published: passes' or diag $said;
($status, $not_ok) = judge($dual, record(0.9));
is "$status $not_ok", '1 4', 'a tenth slower: each fails';
# What is none of the measurements that were promised: status 3, or 1.
for my $bad (
    [3, 'faster than an adapter', 2.1],
    [3, 'one adapter alone',      1, nics => 1],
    [3, 'another size',           1, size => 65536],
    [3, 'two locales of a node',  1, colocales => 2],
    [3, 'both ways',              1, direction => 'both'],
    [3, 'confined to a socket',   1, confined => 'yes'],
    [3, 'tasks for some CPUs',    1, tasks => 48],
    [3, 'one task',               1, tasks => 1],
    [3, 'tasks that are ranks',   1, tasks_as => 'ranks'],
    [3, 'UCX, not MPI',           1, transport => 'ucx', kind => 'own'],
    [3, 'another window',         1, kind => 'create'],
    [3, 'blocks under way',       1, window => 64, places => 64],
    [3, 'blocks in one place',    1, window => 64],
    [3, 'pairs in turn',          1, at_once => 'each'],
    [3, 'an adapter for all',     1, nic_share => 'shared'],
    [3, 'shared memory',          1, pshm => 'yes'],
    [3, 'two nodes of one host',  1, kernels => 1],
    [3, 'wrong data',             1, ok => 'no'],
    [3, 'a functional run',       1, functional => 'yes'],
) {
    my ($wanted, $what, $factor, %more) = @{$bad};
    ($status) = judge($dual, record($factor, %more));
    is $status, $wanted, "$what: exit $wanted";
}

($status, $not_ok, $said) = judge("$references/any-machine.ref", record(0.001));
is $status, 0, 'on any machine, any rate that is one' or diag $said;
is scalar(my @ok = $said =~ /^ok/mg), 4, '... of each operation and number of cards';
($status) = judge("$references/any-machine.ref", record(1000));
is $status, 3, '... and none above the ceiling';
($status) = judge("$references/functional/simpleBandwidth.ref", record(1));
is $status, 3, 'functional/ takes no other run';
($status, $not_ok, $said) = judge("$references/functional/simpleBandwidth.ref",
    record(1, functional => 'yes'));
is $status, 0, '... but a functional one' or diag $said;

done_testing;
