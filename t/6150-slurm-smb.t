#!/usr/bin/perl
#
# Programs on MPI under a real Slurm: a rank that is lost on another node, a start
# that never comes, nodes that are no machines, a campaign within a job.

use strict;
use warnings;

use File::Basename qw(dirname);
use Test::More;
use Time::HiRes qw(time);

use lib dirname(__FILE__);
use Cluster;
use Mpi;

my $why = missing('t/programs/mpi_probe') || missing('smb/msgrate');
plan skip_all => $why if $why;
$ENV{CLUSTER} = cluster_dir();
cluster_up('--cpus', 4, '--share', dirname(program('smb')), 2);
my $folder = $ENV{CLUSTER};
chdir $folder or die $!;
my @srun = ('srun', '--kill-on-bad-exit=1', '-N2', '-n2',
    '--mpi=' . (library() =~ /Open MPI/ ? 'pmix' : 'pmi2'));

# Its exit status, what it says, and the record's last line.
sub srun {
    my ($variables, $program, @words) = @_;
    my ($start, $record) = (time, "$folder/one.record");

    unlink $record;
    my ($status, $text)
        = on_login('env', @{$variables}, @srun, program($program), "--record=$record", @words);
    my ($end) = (slurp($record) // q{}) =~ /([^\n]*)\n\z/;
    return {status => $status, out => $text, end => $end // q{}, seconds => time - $start};
}

subtest 'a rank is lost on another node' => sub {
    my $run = srun([], 't/programs/mpi_probe', qw(--do=kill --rank=1));
    isnt $run->{status}, 0, 'the job fails';
    cmp_ok $run->{seconds}, '<', 60, '... within seconds';
    like $run->{end}, qr/^end status=failed reason="SIGTERM: ended from outside, by a time limit or because a rank on another node was lost"\z/,
        '... and the record says what is known of it';
    $run = srun([], 't/programs/mpi_probe', qw(--do=exit --rank=1 --watchdog=2));
    isnt $run->{status}, 0, 'one that ends as if all were well: the job fails';
    like $run->{end}, qr/^end status=(?:timeout reason="no progress within 2 s: the deed"|failed)/,
        '... by its watchdog';
};

subtest 'a start that never comes' => sub {
    for my $early ('exit:1', 'hang:1') {
        my $run = srun(["MPI_EARLY=$early"], 't/programs/mpi_probe', '--start-limit=2');
        isnt $run->{status}, 0, "$early: the job fails";
        cmp_ok $run->{seconds}, '<', 60, '... within seconds';
        like $run->{out}, qr/^mpi_probe: .*no progress within [27] s: the start of MPI/m,
            '... and says why';
    }
};

subtest 'nodes of one kernel' => sub {
    my $run = srun([], 'smb/msgrate', qw(-p 1 -i 8 -c 8M));
    is $run->{status}, 0, 'a run on two of them: exit 0' or diag $run->{out};
    is $run->{end}, 'end status=ok', '... with a whole record';
    like $run->{out}, qr/warning: 2 nodes run on 1 kernel:/, '... and a warning';
    my ($status, $out) = output(program('harness/assay'), 'judge', '--strict', '--nodes', 'n1,n2',
        '--reference', source('reference/any-machine.ref'), "$folder/one.record");
    is $status, 3, 'the judge does not take them for two machines';
    like $out, qr/'kernels >= nodes' is broken: kernels=1, nodes=2/, '... and says so';
};

subtest 'a campaign in a job' => sub {
    my ($assay, $script) = map { program($_) } qw(harness/assay run_scripts/run_msgrate);
    my $run = "'$script' --functional -- -p 1 -i 2 -c 1M";
    my $job = submit('-N2', '--ntasks-per-node=1', '-o', "$folder/job.out", '--wrap',
        qq{exec '$assay' campaign run --results '$folder' --name both "$run" "$run --sizes=8"});
    my $end = ended($job);
    is "$end->{JobState} $end->{ExitCode}", 'COMPLETED 0:0', 'two runs of one run_script'
        or diag slurp("$folder/job.out");
    is join(q{|}, slurp("$folder/both/ledger") =~ /^attempt .* options="([^"]*)".* status=valid/mg),
        '--functional -- -p 1 -i 2 -c 1M|--functional -- -p 1 -i 2 -c 1M --sizes=8',
        '... each with its options in the ledger';
};

done_testing;
