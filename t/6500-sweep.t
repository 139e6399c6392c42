#!/usr/bin/perl
#
# assay sweep on a real Slurm, whose n1 calls itself n1.cluster.example: a partition
# with a drained node, a node without CPU, a slow link, a node that loses its power;
# an allocation.

use 5.016;
use strict;
use warnings;

use File::Basename qw(dirname);
use POSIX ();
use Test::More;
use Time::HiRes qw(sleep time);

use lib dirname(__FILE__);
use Cluster;
use Mpi;

my $why = missing('commbw/simpleBandwidth');
plan skip_all => $why if $why;
$ENV{CLUSTER} = cluster_dir();
cluster_up(qw(--cpus 2 --domain cluster.example --share), dirname(program('commbw')), 5);
my $folder = $ENV{CLUSTER};
my $assay = program('harness/assay');
chdir $folder or die $!;
delete @ENV{grep {/^(?:S(?:BATCH|ALLOC|RUN)_|ASSAY_(?:SRUN|LAUNCH|MPIRUN|NODES|SYSTEM|REFERENCES|JUDGE|CAMPAIGN))/} keys %ENV};

sub spew {
    my ($file, @text) = @_;
    open my $out, '>', $file or die "$file: $!";
    print {$out} @text;
    close $out or die "$file: $!";
    return;
}

# Debian's Open MPI offers components that fail between nodes.
$ENV{OMPI_MCA_osc} = '^ucx';

# What is asked: figures, whatever they are.
mkdir $_ for "$folder/reference", "$folder/reference/functional";
spew("$folder/reference/any-machine.ref", "[clause triad]\nmetric = stream.triad\n",
    "scope = every node\nstatistic = median\nlimit = report only\n");
spew("$folder/reference/functional/pair.ref", map {
    "[clause $_]\nmetric = simpleBandwidth.$_\nwhere = functional=yes\nscope = every pair\n"
        . "statistic = median\nlimit = report only\n"
} qw(get put));
$ENV{ASSAY_REFERENCES} = "$folder/reference";

# A run_script of two nodes that takes a second.
my $scripts = program('run_scripts');
spew("$folder/run_pair", <<"END");
#!/bin/sh
set -eu
assay_script=run_pair
assay_run_scripts='$scripts'
assay_job=yes
. "\$assay_run_scripts/assay.sh"
assay_options "\$@"
shift "\$assay_shift"
assay_place_job 2 1
assay_pairs=\${assay_nodes% *}:\${assay_nodes#* }
assay_launch_job simpleBandwidth '@{[program('commbw/simpleBandwidth')]}' "--record={record}" \\
    --functional --size=256K --tasks=1 --trials=40 "\$@"
END
chmod 0755, "$folder/run_pair";
# A sample takes longer than what a quota grants at a time: a tick of the kernel, 4 or
# 10 ms. Of shorter ones half are whole, and the median is of those.
my @stream = ("$scripts/run_stream", '--', '--elements=16M', '--repetitions=3', '--threads=1',
    '--pin=none');
my @pair = ("$folder/run_pair", '--functional');

sub sweep { return on_login('env', "PATH=$ENV{PATH}", $assay, 'sweep', @_) }

# Faults, all at once: each sweep has to find its own.
fault(qw(drain n5), 'bad DIMM in slot 3');
fault(qw(slow-link n1-n3 30));
fault(qw(throttle n4 5));

my ($status, $out) = sweep(qw(nodes --partition all --name nodes --at-once 1 --tolerance 600), @stream);
like $out, qr/^run_stream on 5 nodes: 4 measured, 1 not$/m, 'a partition: four of five nodes'
    or diag $out;
like $out, qr/^  n5: .*drain.*: bad DIMM in slot 3/m, '... the fifth with the scheduler\'s reason';
like $out, qr/^slow: node n4,/m, '... the throttled one is slow';
is scalar(() = $out =~ /^slow:/mg), 1, '... and no other';
is $status, 1, '... exit 1';
($status, $out) = sweep(qw(show --strict), "$folder/results/nodes");
like $out, qr/\b1 NOTRUN/, 'from its folder alone: NOTRUN';
($status, $out) = on_login($assay, qw(campaign verify), "$folder/results/nodes");
is $status, 0, '... and its ledger holds' or diag $out;
fault(qw(clear n4));

($status, $out) = sweep(qw(pairs --partition all --name pairs --at-once 1 --tolerance 1500), @pair);
like $out, qr/^run_pair on 10 pairs of 5 nodes: 6 measured, 4 not$/m, 'pairs: six of ten'
    or diag $out;
like $out, qr/^  all pairs of n5: .*DIMM/m, '... those of the drained node not';
like $out, qr/^slow: link n1 - n3,/m, '... a slow link is named' or diag $out;
is scalar(() = $out =~ /^slow:/mg), 1, '... and no other, nor a node' or diag $out;

# A node that is gone when its turn comes: the others are measured.
fault(qw(clear n1));
fault(qw(clear n5));
my $pid = fork // die "fork: $!";
if (!$pid) {
    my ($code, $text) = sweep(qw(nodes --partition all --name dead --at-once 1 --tolerance 400),
        @stream);
    spew("$folder/dead.out", "$text\nexit $code\n");
    POSIX::_exit(0);
}
my $begin = time;
sleep 0.1 while !-e "$folder/results/dead/0001-run_stream" && time < $begin + 60;
fault(qw(kill-node n5));
waitpid $pid, 0;
$out = slurp("$folder/dead.out") // q{};
like $out, qr/^run_stream on 5 nodes: 4 measured, 1 not\n  n5: \S/m,
    'a node that loses its power is named, and the others are measured' or diag $out;
like $out, qr/^exit [35]$/m, '... and counts against the clause';
fault(qw(clear n5));

# Within an allocation.
my $job = submit(qw(-N3 --nodelist=n[1-3] --no-requeue -o), "$folder/job.out", '--wrap',
    "exec $assay sweep nodes --name inside --at-once 1 --tolerance 400 @stream");
my $end = ended($job, 60);
$out = slurp("$folder/job.out") // q{};
is "$end->{JobState} $end->{ExitCode}", 'COMPLETED 0:0', 'as a batch job: well' or diag $out;
like $out, qr/^run_stream on 3 nodes: 3 measured, 0 not$/m, '... its three nodes';
($status, $out) = sweep(qw(nodes --nodes n[1-3] --name inside --tolerance 400), @stream);
is $status, 0, 'once more: nothing is owed, no job is needed' or diag $out;

done_testing;
