#!/usr/bin/perl
#
# The batch files for PBS, LSF and Flux: a run_script on the nodes that the
# scheduler gave. The schedulers are stand-ins: what they set, and what they run.

use 5.016;
use strict;
use warnings;

use File::Basename qw(dirname);
use lib dirname(__FILE__) . '/data/run_scripts';
use Test::More;

use TestTree;

delete @ENV{grep {/^(?:FLUX_|PBS_|LS|ASSAY_(?:NODES|LAUNCH|MPIRUN|RUN))/} keys %ENV};
my $tree = make_tree();
my $bin = "$tree->{top}/bin";
my $work = "$tree->{top}/work";
mkdir $bin;
mkdir "$tree->{programs}/smb";
system 'cp', '-r', map({ source_dir() . "/reference/$_" } qw(any-machine.ref functional)),
    $tree->{reference};
local $ENV{PATH} = "$bin:$ENV{PATH}";

sub script {
    my ($path, $body) = @_;
    spew($path, "#!/bin/sh\n$body\n");
    chmod 0755, $path;
    return;
}
script("$bin/mpirun", 'exit 99');
script("$bin/id", 'echo 1000');
script("$bin/flux", '[ "$*" = "getattr hostlist" ] && echo "n[1-2]"');
script("$tree->{programs}/smb/$_", 'exit 99') for qw(msgrate mpi_overhead);
@{$tree}{qw(mpi mpirun)} = ('Open MPI 4.1.4', "$bin/mpirun");
TestTree::fill(source_dir() . '/run_scripts/paths.sh.in', $tree);

# What a scheduler does: its variables, and the file from some folder of its own.
sub batch {
    my ($file, $run, %variables) = @_;
    chdir q{/};
    my ($status, $out, $err) = run_command({%variables, defined $run ? (ASSAY_RUN => $run) : ()},
        '/bin/sh', "$tree->{scripts}/$file");
    chdir $work;
    my ($nodes) = $out =~ /^# nodes = (.*)$/m;
    my ($words) = $out =~ /([^\n]*)\n\z/;
    return ($status, $nodes // q{}, ($words // q{}) =~ s{\Q$tree->{top}\E/\w+/}{}gr =~ tr{'}{}dr, $err);
}

# Two nodes, four slots each, in the order in which slots are.
spew("$work/slots", map {"$_\n"} ('n2') x 4, ('n1') x 4);
my %job = (
    'batch.pbs' => {PBS_O_WORKDIR => $work, PBS_NODEFILE => "$work/slots"},
    'batch.lsf' => {LS_SUBCWD => $work, LSB_DJOB_HOSTFILE => "$work/slots"},
    'batch.flux' => {FLUX_URI => 'local:///run/flux'},
);
for my $file (sort keys %job) {
    my %variables = %{$job{$file}};
    my ($status, $nodes, $words, $err) = batch($file, 'run_mpi_overhead -n', %variables);
    is $status, 0, "$file: a run_script" or diag $err;
    is $nodes, 'n1 n2', '... on the nodes of the job, each once';
    if ($file eq 'batch.flux') {
        like $words, qr/\Aflux run --nodes=2 --tasks-per-node=1 /, '... by flux';
    }
    else {
        like $words, qr/\Ampirun -n 2 --host n1:1,n2:1 --map-by ppr:1:node /, '... by mpirun';
    }
    ($status, $nodes, $words) = batch($file, 'run_mpi_overhead --functional -p 2 -n', %variables);
    like $words, qr/ppr:2:node|--tasks-per-node=2 /, '... with the options that were given';
    ($status, $nodes, $words, $err) = batch($file, undef, %variables);
    is $status, 2, '... not without one';
    like $err, qr/ASSAY_RUN: which run_script\?/, '... and says so';
    ($status, $nodes, $words, $err) = batch($file, 'run_mpi_overhead -n');
    is $status, 2, '... nor outside of a job';
    like $err, qr/no job of (?:PBS|LSF|Flux)/, '... and says so';
    ($status, $nodes, $words, $err) = batch($file, '../run_scripts/run_mpi_overhead -n', %variables);
    is $status, 2, '... nor what is elsewhere';
    like $err, qr/a run_script's name has no \//, '... and says so';
    ($status, $nodes, $words) = batch($file, 'run_mpi_overhead -n -- /*', %variables);
    like $words, qr{ /\*\z}, '... in whose words no pattern is expanded';
    ($status) = batch($file, 'run_nothing', %variables);
    is $status, 127, '... nor what is no run_script';
}

# One node too many: the exit status is the run_script's.
spew("$work/slots", map {"$_\n"} qw(n1 n2 n3));
my ($status, $nodes, $words, $err) = batch('batch.pbs', 'run_mpi_overhead -n',
    %{$job{'batch.pbs'}});
is $status, 3, 'three nodes where two are required: exit 3';
like $err, qr/the required run has 2 nodes, and here is 3/, '... and says so';

# A list of nodes that is empty or not there is no job of this node alone.
spew("$work/empty", q{});
for my $file (qw(batch.pbs batch.lsf)) {
    for my $list (qw(empty nosuch)) {
        my %variables = map { ($_ => $job{$file}{$_} =~ s{/slots\z}{/$list}r) } keys %{$job{$file}};
        ($status, $nodes) = batch($file, 'run_stream -n', %variables);
        is "$status $nodes", '2 ', "$file: a list of nodes that is $list: exit 2";
    }
}

done_testing;
