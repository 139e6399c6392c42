#!/usr/bin/perl
#
# run_scripts as batch jobs of a real Slurm, with the MPI library of this build:
# how it launches, from where, and in what environment.

use strict;
use warnings;

use File::Basename qw(dirname);
use Test::More;

use lib dirname(__FILE__);
use Cluster;
use Mpi;

my $why = missing('smb/msgrate');
plan skip_all => $why if $why;
$ENV{CLUSTER} = cluster_dir();
cluster_up('--cpus', 4, '--share', dirname(program('smb')), 8);
my $folder = $ENV{CLUSTER};
my $scripts = program('run_scripts');
chdir $folder or die $!;
delete @ENV{grep {/^SBATCH_|^ASSAY_(?:SRUN|LAUNCH|MPIRUN|NODES|SYSTEM)/} keys %ENV};
my ($mine, $other) = library() =~ /Open MPI/ ? qw(pmix pmi2) : qw(pmi2 pmix);

# The program is quick so; what it finds is of no interest.
my @quick = qw(--functional -- -i 1 -c 1M);

# All jobs are handed over at once, and looked at afterwards.
my %job;

sub hand_over {
    my ($name, @words) = @_;
    $job{$name} = submit('-o', "$folder/job-%A.out", @words);
    return;
}

hand_over(plain => '-N2', '--ntasks-per-node=1', "$scripts/run_msgrate", @quick);
for my $plugin ('no', $other, 'none') {
    local $ENV{ASSAY_SRUN_MPI} = $plugin;
    hand_over($plugin => '-N2', '--ntasks-per-node=1', "$scripts/run_msgrate", @quick);
}
hand_over(four => qw(-N2 -n4), "$scripts/run_msgrate", '-p', 1, @quick);
hand_over(required => qw(-N2 -n4), "$scripts/run_msgrate");
hand_over(bare => '-N2', '-n2', '--export=NONE', "$scripts/run_msgrate", @quick);
hand_over(login => '-N2', '-n2', '--wrap', "exec sh -l $scripts/run_msgrate -p 1 @quick");
hand_over(cpus => qw(-N2 --ntasks-per-node=1 -c 3), "$scripts/run_msgrate", @quick);
hand_over(more => qw(-N2 --ntasks-per-node=1 -c 3), "$scripts/run_msgrate", '-p', 2, @quick);
{
    delete local @ENV{qw(MAKEFLAGS MFLAGS MAKEOVERRIDES)};
    my ($status, $text) = output('make', '-s', '-C', program(q{.}), 'install',
        "prefix=$folder/usr");
    is $status, 0, 'make install' or diag $text;
    hand_over(installed => '-N2', '--ntasks-per-node=1',
        "$folder/usr/libexec/assay/run_scripts/run_msgrate", @quick);
}

# The job's end, and what it printed.
sub end_of {
    my ($name) = @_;
    my $end = ended($job{$name});
    $end->{out} = slurp("$folder/job-$job{$name}.out") // q{};
    return $end;
}

sub passes {
    my ($name, $what) = @_;
    my $end = end_of($name);
    is "$end->{JobState} $end->{ExitCode}", 'COMPLETED 0:0', "$what: the job is well"
        or diag $end->{out};
    like $end->{out}, qr/^# attempt \d+: valid/m, '... for its attempt is';
    return $end;
}

sub refused {
    my ($name, $what, $message) = @_;
    my $end = end_of($name);
    is "$end->{JobState} $end->{ExitCode}", 'FAILED 3:0', "$what: exit 3" or diag $end->{out};
    like $end->{out}, $message, '... and says why';
    return;
}

# The records that a run left.
sub record_of {
    my ($end) = @_;
    my ($results) = $end->{out} =~ /^# results: (.*)$/m or return q{};
    return join q{}, map { slurp($_) // q{} } glob "$results/*/*.record";
}

{
    my $end = passes('plain', "srun --mpi=$mine");
    my ($first, $second) = map { (on_login(qw(scontrol show hostnames), $end->{NodeList}))[1]
            =~ /(\w+)\n(\w+)\n/ } 1;
    like $end->{out}, qr/^# run_msgrate on $first/m, 'from a copy in a spool folder';
    my %hosts = map { ($_ => 1) } record_of($end) =~ /^metric .*host=(\w+)/mg;
    is join(q{ }, sort keys %hosts), "$first $second", '... on both nodes';
    like $end->{out}, qr{^# results: \Q$folder\E/results/\w+-$first-job$end->{JobId}$}m,
        '... where it was submitted, with the number of the job';
}
passes('no', 'mpirun in the allocation');
refused($_, "srun --mpi=$_", qr/launcher and library do not match|OPAL ERROR: Unreachable/)
    for $other, 'none';
like record_of(passes('four', 'four tasks, which Slurm puts as 3 and 1')),
    qr/^metric .* ranks=2 nodes=2 ppn=1\b/m, '... are placed as they should';
refused('required', 'of a required run',
    qr/the required run has 8 nodes, and here is 2 \(n\d n\d\)/);
passes('bare', 'without environment');
passes('login', 'a login shell');
passes('cpus', 'CPUs per task');
refused('more', '... which srun is told of',
    qr/More processors requested|Requested node configuration/);
passes('installed', 'installed');

# No scheduler, and a list of hosts: mpirun reaches them as a site's ssh would.
{
    open my $agent, '>', "$folder/agent" or die $!;
    print {$agent} "#!/bin/sh\nwhile case \$1 in -*) ;; *) false ;; esac; do shift; done\n",
        "host=\$1\nshift\n", lab("node"), " exec \"\$host\" sh -c \"\$*\" || exit 255\n";
    close $agent or die $!;
    chmod 0755, "$folder/agent";
    local @ENV{qw(ASSAY_NODES OMPI_MCA_plm_rsh_agent HYDRA_LAUNCHER HYDRA_LAUNCHER_EXEC)}
        = ('n7,n8', "$folder/agent", 'ssh', "$folder/agent");
    my ($status, $text) = on_login("$scripts/run_msgrate", '-p', 1, '-r', "$folder/hosts", @quick);
    is $status, 0, 'no scheduler: a list of hosts, over mpirun' or diag $text;
    my %hosts = map { ($_ => 1) } $text =~ m{^ok .* (n\d) }mg;
    is join(q{ }, sort keys %hosts), 'n7 n8', '... on both';
    local $ENV{ASSAY_NODES} = 'n7,n9';
    # MPICH's mpirun waits for it for ever.
    is +(on_login('timeout', 60, "$scripts/run_msgrate", '-p', 1, '-t', 15, '-r', "$folder/lost", @quick))[0],
        3, '... and one that is not there is no pass';
}

done_testing;
