#!/usr/bin/perl
#
# msgrate on several nodes, though there is one: the shapes that it takes and
# those that it refuses, each node's rate, and the slowest one by name.

use 5.016;
use strict;
use warnings;

use FindBin;
use Test::More;

use lib $FindBin::Bin;
use Mpi;
use Probe;

my $program = 't/programs/msgrate_faulty';
plan skip_all => missing($program) if missing($program);

# MAP says on which node each rank is.
sub words {
    my ($map, $options, $more) = @_;
    my $ranks = 1 + ($map =~ tr/,//);
    return ($ranks, $program, "-c 4096 $options", "MPI_NODES=$map " . ($more // q{}));
}

sub on_nodes { return job(words(@_)) }

# The record, held to what must hold on any machine: status and output.
sub judged {
    my ($run) = @_;

    open my $file, '>:raw', 'msgrate.record' or die;
    print {$file} $run->{record};
    close $file or die;
    my ($assay, $reference) = (program('harness/assay'), source('reference/any-machine.ref'));
    my $out = qx{$^X '$assay' judge --strict --nodes n1,n2 --reference '$reference' msgrate.record 2>&1};
    my $status = $? >> 8;
    unlink 'msgrate.record';
    return ($status, $out);
}

subtest 'two nodes' => sub {
    my $run = on_nodes('0,1', '-p 1 -i 8 @', 'MPI_FAULT=slow:1');
    is $run->{status}, 0, 'no --functional is needed' or diag $run->{err};
    is verdict($run), 'good', 'the record is whole';
    unlike $run->{out} . $run->{record}, qr/functional only|functional=yes/,
        'nothing is marked functional';
    unlike $run->{err}, qr/share a node/, 'no peers share a node';
    my @nodes = grep { $_->{per} eq 'node' && $_->{name} eq 'all_start' } metrics($run);
    is join(q{ }, sort map { $_->{host} } @nodes), 'n1 n2', 'a rate of each node';
    my %rate = map { ($_->{host} => $_->{value}) } @nodes;
    cmp_ok $rate{n2}, '<=', 256 / 2e-3, '... that of n2 with its delay';
    my ($job) = grep { $_->{per} eq 'job' && $_->{name} eq 'all_start' } metrics($run);
    # Of means of times: 2 / (1/a + 1/b) each.
    my $both = 4 / (1 / $rate{n1} + 1 / $rate{n2});
    cmp_ok abs($both / $job->{value} - 1), '<', 1e-9, '... and of both together';
    my ($slow) = sort { $rate{$a} <=> $rate{$b} } keys %rate;
    my $rate = sprintf '%.2f', $rate{$slow};
    like $run->{out}, qr/^# all_start .*; a node: median \S+, slowest $slow with \Q$rate\E$/m,
        'the slowest is named';
    is Probe::line($run, 'opt')->{mock_nodes}, 0, 'no node is made up';

    my ($status, $out) = judged($run);
    is $status, 3, 'any-machine.ref does not take 4 KiB for a cold cache';
    like $out, qr/'cache_bytes >= cache_least' is broken: cache_bytes=4096, cache_least=\d+/,
        '... and says so';
    $run = job(2, $program, '-c 8M -p 1 -i 8 @', 'MPI_NODES=0,1');
    ($status, $out) = judged($run);
    is $status, 0, '... but 8 MiB, whatever the cache' or diag $out;
    is scalar(my @ok = $out =~ /^ok/mg), 8, '... four rates of two nodes';
    unlike $run->{err}, qr/kernel/, '... each with a kernel of its own';

    $run = job(2, $program, '-c 8M -p 1 -i 8 @', 'MPI_NODES=0,1 MPI_KERNEL=one');
    is $run->{status}, 0, 'two containers of one machine: exit 0' or diag $run->{err};
    like $run->{err}, qr/^msgrate: warning: 2 nodes run on 1 kernel: .*no network between them$/m,
        '... and it is said';
    is Probe::line($run, 'opt')->{kernels}, 1, '... a fact of the record';
    ($status, $out) = judged($run);
    is $status, 3, '... which the judge does not take for two nodes';
    like $out, qr/'kernels >= nodes' is broken: kernels=1, nodes=2/, '... and says so';
    $run = job(2, $program, '-c 8M -p 1 -i 8 @', q{MPI_NODES=0,1 MPI_KERNEL=''});
    is Probe::line($run, 'opt')->{kernels}, 'unknown', 'kernels that are not known';
    is +(judged($run))[0], 3, '... are none';
};

subtest 'placement' => sub {
    my $run = on_nodes('0,1,2,0,1,2', '-p 2 -n 2 -i 2 -o @');
    is $run->{status}, 0, 'six ranks, cyclic, -n 2' or diag $run->{err};
    like $run->{out}, qr/\A6 2 2 128 8 4096 2(?: \d+\.\d\d){4}\n\z/, '... in one line';
    is Probe::line($run, 'opt')->{placement}, 'cyclic', '... as the record says';
    my %refused = (
        '0,1,0,1 -p 1 -n 1' => qr/-n 1: there are 2 ranks on each node/,
        '0,1,1 -p 1'        => qr/n1 has 1 ranks? and n2 has 2: all nodes must have the same/,
        '0,1 -p 2'          => qr/-p 2: 2 distinct peers on other nodes need 3 nodes, and there are 2/,
    );
    my @runs = jobs_at_once(map { [words(/(\S+) (.*)/)] } sort keys %refused);
    for my $what (sort keys %refused) {
        $run = shift @runs;
        is $run->{status}, 2, "$what: exit 2" or diag $run->{err};
        like $run->{err}, $refused{$what}, '... and why';
    }
};

done_testing;
