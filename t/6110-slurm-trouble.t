#!/usr/bin/perl
#
# What a real Slurm does to jobs: time limits, requeues, dead nodes, dead ranks,
# drained nodes, partitions, dependencies, folders that are not there. Nothing
# passes that was cut short, nothing that ended is lost, and nobody is charged
# for what the scheduler did.

use strict;
use warnings;

use File::Basename qw(dirname);
use POSIX qw(strftime);
use Test::More;
use Time::HiRes qw(sleep time);

use lib dirname(__FILE__);
use Cluster;
use Mpi;

my $why = missing('smb/msgrate');
plan skip_all => $why if $why;
$ENV{CLUSTER} = cluster_dir();
cluster_up('--conf', 'PartitionName=left Nodes=n[1-2]', '--conf',
    'PartitionName=right Nodes=n[3-16]', '--share', dirname(program("smb")), 16);
my $folder = $ENV{CLUSTER};
my $scripts = program('run_scripts');
chdir $folder or die $!;
delete @ENV{grep {/^SBATCH_|^ASSAY_(?:SRUN|LAUNCH|MPIRUN|NODES|SYSTEM)/} keys %ENV};

my @quick = qw(--functional -- -i 1 -c 1M);
my @long = qw(--functional -- -i 1000000 -c 1M --watchdog 100);

sub batch {
    my (@words) = @_;
    return submit('-o', "$folder/job-%j.out", @words);
}

sub said { return slurp("$folder/job-$_[0].out") // q{} }

# Wait until the attempt is under way: its program runs.
sub under_way {
    my ($results, $number) = @_;
    my $end = time + 60;
    my $path = sprintf '%s/%04d-*/*.record', $results, $number // 1;
    sleep 0.1 while !glob $path and time < $end;
    return;
}

# Ranks that are stopped leave the CPUs to others; what ends them wakes them.
sub stop_ranks {
    for my $node (@_) {
        node($node, qw(sh -c), q(for p in /proc/[0-9]*; do [ "$(cat $p/comm)" != msgrate ] ||)
                . q( kill -STOP ${p#/proc/}; done));
    }
    return;
}

sub ledger { return join q{}, grep {/^attempt /} map {"$_\n"} split /\n/, slurp("$_[0]/ledger") // q{} }

sub ends_in {
    my ($job, $state, $exit, $what) = @_;
    my $end = ended($job);
    is "$end->{JobState} $end->{ExitCode}", "$state $exit:0", $what or diag said($job);
    return $end;
}

# All of them at once: most of it is waiting.
my @pair = ('-N2', '--ntasks-per-node=1');
my %job;
$job{left} = batch(qw(-p left), @pair, "$scripts/run_msgrate", '-r', "$folder/limit", @quick);
$job{requeue} = batch('-w', 'n3,n4', '--requeue', @pair, "$scripts/run_msgrate", @long);
$job{dead} = batch('-w', 'n5,n6', @pair, "$scripts/run_msgrate", '-r', "$folder/dead", @long);
$job{host} = batch('-w', 'n7,n8', @pair, "$scripts/run_msgrate", '-r', "$folder/host", @long);
$job{rank} = batch('-w', 'n9,n10', @pair, "$scripts/run_msgrate", '-r', "$folder/rank", @long);
$job{drained} = batch('-w', 'n11,n12', @pair, "$scripts/run_msgrate", '-r', "$folder/drained", @quick);
$job{nowhere} = batch("-w", "n13", "-N1", "-D", "/nonexistent", "$scripts/run_msgrate", @quick);
$job{after} = batch("--dependency=afterok:$job{left}", qw(-p left -N1 --wrap), 'echo after');
$job{never} = batch("--dependency=afterok:$job{rank}", qw(-p left -N1 --wrap), 'echo never');
{
    spew("$folder/lingers", "#!/bin/sh\n\"\$@\"\nstatus=\$?\nsleep 100\nexit \$status\n");
    chmod 0755, "$folder/lingers";
    local $ENV{ASSAY_LAUNCH} = "$folder/lingers srun --mpi="
        . (library() =~ /Open MPI/ ? 'pmix' : 'pmi2') . ' -n {ranks} -N {nodes}';
    $job{hang} = batch('-w', 'n13,n14', @pair, "$scripts/run_msgrate", '-r', "$folder/hang", @quick);
}
$job{array} = batch('-w', 'n15,n16', '--array=1-3', @pair, "$scripts/run_msgrate", '-r',
    "$folder/array", @quick);

# One node of a pair, and the node on which a job's script runs.
under_way("$folder/$_") for qw(dead host rank);
stop_ranks(qw(n5 n8));
fault('kill-node', 'n6');
fault('kill-node', 'n7');
started($job{drained});
fault(qw(drain n11 broken));
node('n10', 'sh', '-c',
    'for p in /proc/[0-9]*; do [ "$(cat $p/comm)" != msgrate ] || kill -9 ${p#/proc/}; done');
started($job{requeue});
my ($requeued) = glob "$folder/results/*-job$job{requeue}";
under_way($requeued);
stop_ranks(qw(n3 n4));
is +(on_login(qw(scontrol requeue), $job{requeue}))[0], 0, 'a job is requeued';

# What is over by itself.
ends_in($job{left}, 'COMPLETED', 0, 'in a partition');
like said($job{left}), qr/^# run_msgrate on n[12]/m, '... of its own nodes';
ends_in($job{after}, 'COMPLETED', 0, 'afterok: what depends on a pass is run');
isnt +(on_login(qw(sbatch -p left -N3 --wrap true)))[0], 0,
    'more nodes than the partition has are refused';
ends_in($job{drained}, 'COMPLETED', 0, 'a node that is drained meanwhile');

ends_in($job{rank}, 'FAILED', 3, 'a rank that is killed: exit 3');
like ledger("$folder/rank"), qr/ status=spoiled /, '... the attempt is spoiled';
unlike slurp((glob "$folder/rank/*/*.record")[0]), qr/ scheduler=/, '... and charged';
ok reason_is($job{never}, qr/^DependencyNeverSatisfied/),
    'afterok: what depends on it is not run';

# A time limit: what was finished in the same campaign counts.
{
    my $job = batch(qw(-p left), @pair, "$scripts/run_msgrate", '-r', "$folder/limit", @long);
    under_way("$folder/limit", 2);
    stop_ranks(qw(n1 n2));
    my $soon = strftime('%Y-%m-%dT%H:%M:%S', localtime(time + 2));
    is +(on_login('scontrol', 'update', "jobid=$job", "EndTime=$soon"))[0], 0, 'a time limit';
    ends_in($job, 'TIMEOUT', 3, '... ends the job, exit 3');
    my ($first, $second) = split /\n/, ledger("$folder/limit");
    like $first, qr/ status=valid /, 'what was finished is kept';
    like $second, qr/ status=spoiled .*\(TIMEOUT, says the scheduler\)/, '... the rest spoiled';
    like said($job), qr/^not ok .*INVALID.*: ended (?:failed|timeout): /m, '... and INVALID, in TAP';
    like said($job), qr/^# attempt 1: valid\b.*\n# attempt 2: spoiled/m, '... that lists both';
}

# A campaign of two, of which one is finished.
{
    my $assay = program('harness/assay');
    my $job = batch(qw(-p left), @pair, '--wrap',
        "exec $assay campaign run --name two '$scripts/run_msgrate @quick' '$scripts/run_msgrate @long'");
    under_way("$folder/results/two", 2);
    stop_ranks(qw(n1 n2));
    on_login('scancel', $job);
    ends_in($job, 'CANCELLED', 3, 'a campaign that is cancelled: exit 3');
    like said($job), qr/^results: .*two$/m, '... prints its verdicts';
    like ledger("$folder/results/two"), qr/ status=valid .*\n.* status=spoiled /,
        '... of what was finished, and not';
}

# The requeued one: cut it anew, then look.
{
    under_way($requeued, 2);
    like ledger($requeued), qr/ status=spoiled .*\(REQUEUE, says the scheduler\)/,
        'the attempt that was cut short is spoiled';
    on_login('scancel', $job{requeue});
    ended($job{requeue});
    my $record = slurp((glob "$requeued/0001-*/*.record")[0]);
    like $record, qr/^end status=failed .* scheduler=REQUEUE /m, '... with the scheduler\'s word';
    like said($job{requeue}), qr/not charged/, '... and not charged';
    like ledger($requeued), qr/^attempt number=2 /m, '... and done again, in the same folder';
}

# Dead nodes: Slurm notices after a while.
ends_in($job{dead}, 'NODE_FAIL', 3, 'a node dies: exit 3');
like ledger("$folder/dead"), qr/ status=spoiled .*\(NODE_FAIL, says the scheduler\)/,
    '... the attempt is spoiled';
is ended($job{host})->{JobState}, 'NODE_FAIL', 'the node of the script dies';
is ledger("$folder/host"), q{}, '... which leaves no word';
fault("clear", $_) for qw(n6 n7);
my %of = (dead => "n5,n6", host => "n7,n8");
for my $name (sort keys %of) {
    my $job = batch("-w", $of{$name}, @pair, "$scripts/run_msgrate", '-r', "$folder/$name", @quick);
    ends_in($job, 'COMPLETED', 0, 'a further attempt passes');
    like ledger("$folder/$name"), qr/ status=spoiled .*NODE_FAIL.*\n.* status=valid /,
        '... as the node is not charged';
}

# A folder that is on no node.
{
    my $job = $job{nowhere};
    ends_in($job, 'FAILED', 2, 'a folder that is not there: exit 2');
    like said($job), qr{the job's folder /nonexistent is not on this node, and Slurm took /tmp},
        '... and says so';
}

# A program that does not end after its last word.
{
    ends_in($job{hang}, 'COMPLETED', 0, 'a launcher that hangs after the last word');
    like ledger("$folder/hang"),
        qr/ status=valid reason="[^"]*its record was whole, but the program did not end/,
        '... is noted';
}

# Array jobs: attempts of one campaign.
{
    my $job = $job{array};
    my $end = time + 90;
    sleep 0.3 while (on_login('squeue', '-h', '-t', 'PD,R,CG', '-j', $job))[1] =~ /\S/ && time < $end;
    is scalar(my @valid = ledger("$folder/array") =~ /status=valid/g), 3,
        'an array of jobs: three attempts of one campaign';
    is +(output(program('harness/assay'), 'campaign', 'verify', "$folder/array"))[0], 0,
        '... whose ledger holds';
}

done_testing;

sub spew {
    my ($path, $text) = @_;
    open my $out, '>', $path or die "$path: $!";
    print {$out} $text;
    close $out or die "$path: $!";
    return;
}
