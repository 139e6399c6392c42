#!/usr/bin/perl
#
# run_launch and pmi2 under a real Slurm: PMI-2 as srun serves it.

use strict;
use warnings;

use File::Basename qw(dirname);
use Test::More;

use lib dirname(__FILE__);
use Cluster;
use Mpi;

plan skip_all => 'no libpmi2 in this build' if !-x program('launch/pmi2_rank');
$ENV{CLUSTER} = cluster_dir();
cluster_up('--share', dirname(program('launch')), 8);
my $folder = $ENV{CLUSTER};
chdir $folder or die $!;
delete @ENV{grep {/^SBATCH_|^ASSAY_/} keys %ENV};
my @mpi = library() =~ /./ ? () : ('--no-init');

sub pmi2 {
    my ($srun, @options) = @_;
    return on_login(program('launch/pmi2'), '--rank-program=' . program('launch/pmi2_rank'),
        "--launch=srun $srun", @options);
}

my $job = submit('-o', "$folder/out", qw(-N8 --ntasks-per-node=2),
    program('run_scripts/run_launch'), '-r', "$folder/results", @mpi, '--', '--keys=3');
my $end = ended($job);
my $out = slurp("$folder/out");
my $record = slurp((glob "$folder/results/*/pmi2.record")[0]) // q{};
if (@mpi) {
    is $end->{ExitCode}, '3:0', 'run_launch without MPI: the clause of init is not met';
}
else {
    is "$end->{JobState} $end->{ExitCode}", 'COMPLETED 0:0', 'run_launch on 8 nodes'
        or diag $out;
    like $out, qr/^ok .* pmi2[.]init system ranks=16 nodes=8 ppn=2 /m, '... to the end of MPI_Init';
}
like $out, qr/^ok .* pmi2[.]$_ system ranks=8 nodes=8 ppn=1 /m, "... $_" for qw(first fence get);
my %max = $record =~ /^metric name=(\w+) .* max=([0-9.]+) .* ranks=16 /mg;
cmp_ok $max{first}, '<=', $max{fence}, 'the last rank runs before the last fence';
cmp_ok $max{fence}, '<=', $max{get}, '... which is before the last key';
is scalar(my @good = $record =~ /^check name=keys[.]\w+ ok=yes /mg), 4, '... and all keys are right';

my ($status, $text) = pmi2('--mpi=none -N{nodes} -n{ranks}', '--nodes=2');
is $status, 99, 'N singletons: exit 99';
like $text, qr/^pmi2: PMI-2: 2 processes that each believe to be alone, not a job of 2/m,
    '... which are told from a job';
($status, $text) = pmi2('--mpi=pmi2 -N{nodes} -n{ranks}', '--nodes=2', '--ppn=2');
is $status, 99, 'ranks that Slurm places as 3 and 1: exit 99';
like $text, qr/^pmi2: PMI-2: 3 ranks on n1, not 2/m, '... by name';
($status, $text) = pmi2('--mpi=pmi2 -N{nodes} -n{ranks} -t 1', '--nodes=9');
is $status, 99, 'more nodes than there are: exit 99';
like $text, qr/^pmi2: PMI-2: 0 of 9 ranks said `first'; the launcher ended with status 1/m,
    '... and says so';

($status, $text) = output(program('run_scripts/run_launch'), '-n');
is $status, 3, 'outside of a job: exit 3';
like $text, qr/job start is measured in a job of Slurm, and this is none/, '... and says so';

SKIP: {
    skip 'no MPI in this build', 2 if @mpi;
    my ($mine) = library() =~ /Open MPI/ ? 'none' : 'pmix';
    ($status, $text) = pmi2('--mpi=pmi2 -N{nodes} -n{ranks}', '--nodes=2', '--init-program='
            . program('launch/mpi_init'), "--init-launch=srun --mpi=$mine -N{nodes} -n{ranks}");
    is $status, 99, 'MPI ranks under the wrong plugin: exit 99';
    like $text, qr/^pmi2: MPI_Init: (?:2 processes that each believe|0 of 2 ranks said `init')/m,
        '... and says so';
}

done_testing;
