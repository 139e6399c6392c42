#!/usr/bin/perl
#
# How a job of several processes ends: alike on all ranks, within seconds, with
# what was finished in the record, whatever one of them does.

use 5.016;
use strict;
use warnings;

use FindBin;
use Test::More;

use lib $FindBin::Bin;
use Mpi;
use Probe;

my $program = 't/programs/mpi_probe';
plan skip_all => missing($program) if missing($program);

# A job as job() takes it.
sub words {
    my ($options, $setting, $ranks) = @_;
    return ($ranks // 2, $program, "$options \@", $setting);
}

# Run and say what the job did: status, how many figures, what it said itself.
sub deed { return told(job(words(@_))) }

sub told {
    my ($run) = @_;

    $run->{figures} = scalar metrics($run);
    $run->{own} = join "\n", grep {/^mpi_probe: /} split /\n/, $run->{err};
    return $run;
}

# Those that end by a clock wait while others work.
my $late = job_start('late', words('--do=nothing', 'MPI_LATE=yes'));
my $early = job_start('early', words('--do=nothing --start-limit=1', 'MPI_EARLY=exit:1'));

subtest 'all is well' => sub {
    my $run = deed('--do=nothing');
    is $run->{status}, 0, 'exit status 0' or diag $run->{err};
    is verdict($run), 'good', 'a whole record';
    is $run->{own}, q{}, 'nothing to say';
    like $run->{out}, qr/\Aranks 2 nodes 1 ppn 2 block \| (?:Open MPI|MPICH|MV|Intel)[^|]* \d[^|]*\| .*\S\n\z/,
        'one rank prints: the job, the library, what carries messages';
    is scalar(grep {/^record /} split /\n/, $run->{record}), 1, 'one record';
    my ($env) = grep { $_->{ranks} } map { Assay::Text::split_fields(s/^\S+//r) }
        Probe::lines($run, 'env');
    is "$env->{ranks} $env->{nodes} $env->{ppn} $env->{placement}", '2 1 2 block',
        'with the job';
    ok $env->{mpi} && $env->{transport} && $env->{hosts}, 'and the library';
};

subtest 'more ranks than CPUs' => sub {
    my $run = deed('--do=nothing --start-limit=0', undef, 8);
    is $run->{status}, 0, 'eight ranks' or diag $run->{err};
    like $run->{out}, qr/\Aranks 8 nodes 1 ppn 8 block /, '... of one node';
    is verdict($run), 'good', '... with a whole record';
};

# What happens to whom: the exit status (or any but 0), the figures that are
# kept, what is said, what the end line may say.
# hydra ends the others by SIGKILL, which leaves no time to tell.
my $openmpi = library() =~ /\AOpen MPI/;
my $gone = $openmpi
    ? qr/\Ampi_probe: rank 1 on \S+ is gone, and the launcher ended the others\z/ : qr/\A\z/;
my @deeds = (
    ['die', 0, 99, 1, qr/\Ampi_probe: asked to: die\z/, qr/^spoiled: .*asked to: die|failed/],
    ['die', 1, 99, 1, qr/\Ampi_probe: rank 1 on \S+: asked to: die\z/, qr/./],
    ['kill', 1, undef, 1, $gone, $openmpi ? qr/^spoiled: .*failed: rank 1 on \S+ is gone, and the launcher ended/ : qr/./],
    ['error', 1, 99, 1, qr/\Ampi_probe: rank 1 on \S+: MPI: .*rank/i, qr/./],
    ['hang', 0, undef, 1, qr/^mpi_probe: no progress within 4 s: the deed$/m, qr/no progress within 4 s/],
    ['hang', 1, undef, 1, qr/^mpi_probe: no progress within 4 s: the deed$/m, qr/no progress within 4 s/],
    ['wrong', 1, 1, 2, qr/^mpi_probe: rank 1 on \S+: data: wrong data: asked to$/m, qr/^wrong/],
    ['refuse', 0, 77, 1, qr/\Ampi_probe: asked to: refuse\z/, qr/./],
);
my @runs = map { told($_) } jobs_at_once(map {
    [words("--do=$_->[0] --rank=$_->[1] --watchdog=" . ($_->[0] eq 'hang' ? 4 : 30))]
} @deeds);
for my $deed (@deeds) {
    my ($what, $rank, $status, $figures, $says, $ends) = @{$deed};
    my $run = shift @runs;
    subtest "rank $rank: $what" => sub {
        if (defined $status) { is $run->{status}, $status, "exit status $status" }
        else { isnt $run->{status}, 0, 'exit status is not 0' }
        cmp_ok $run->{seconds}, '<', 100, 'within seconds';
        is $run->{figures}, $figures, 'what was finished is in the record';
        like $run->{own}, $says, 'said once, by whom it concerns';
        like verdict($run), $ends, 'the record is no measurement';
        isnt verdict($run), 'good', '... at any rate';
    };
}

# A launcher that minds says so itself.
subtest 'before MPI starts' => sub {
    my $run = told(job_end($early));
    isnt $run->{status}, 0, 'a rank that ended: so does the job';
    cmp_ok $run->{seconds}, '<', 60, '... within seconds';
    like $run->{own}, qr/\Ampi_probe: (?:number 1, on \S+: )?no progress within [16] s: the start of MPI: .*--start-limit/,
        '... and says why';
    is $run->{record}, undef, '... without a record';
};

# The record of a time limit is told from that of a lost rank.
subtest 'told to stop' => sub {
    my $run = alone($program, '--do=hang --rank=1 @',
        join q{ }, 'timeout --foreground -k 5 2', launcher(2));
    like verdict($run), $openmpi ? qr/^spoiled: .*SIGTERM\z/ : qr/^spoiled: /, 'no rank was lost';
    unlike $run->{err}, qr/gone/, '... and none is said to be';
};

subtest 'refused before it starts' => sub {
    my @runs = map { told($_) } jobs_at_once([words('--nonsense')], [words(q{}, undef, 3)],
        [2, $program, '--record=/dev/full'], [2, $program, '--help']);
    my $run = shift @runs;
    is $run->{status}, 2, 'a bad option: exit status 2';
    is $run->{own}, "mpi_probe: '--nonsense' is no option (see --help)", '... said once';
    is $run->{record}, undef, '... and no record';
    $run = shift @runs;
    is $run->{status}, 2, 'an odd number of ranks: exit status 2';
    like $run->{own}, qr/\Ampi_probe: ranks: 3 found, an even number, 2 or more needed \(the launcher says 3, \w+\)\z/,
        '... with what the launcher says';
    $run = shift @runs;
    is $run->{status}, 99, 'a record that can not be written: 99';
    is scalar(() = $run->{err} =~ /^mpi_probe: /mg), 1, '... said once';
    $run = shift @runs;
    is $run->{status}, 0, '--help';
    is scalar(() = $run->{out} =~ /^usage:/mg), 1, '... printed once';
};

subtest 'alone' => sub {
    for my $options ('@', '--nonsense') {
        my $run = alone($program, $options, 'PMI_RANK=2 PMI_SIZE=4');
        is $run->{status}, $options eq '@' ? 99 : 2, "variables of a job that is gone, $options";
        is scalar(() = $run->{err} =~ /^mpi_probe: /mg), 1, '... said once' or diag $run->{err};
    }
    my $run = alone($program, '@');
    is $run->{status}, 2, 'no launcher';
    like $run->{err}, qr/1 found, .*\(no launcher: /, '... which is said';
    $run = alone($program, '@', 'SLURM_JOB_ID=7 SLURM_NTASKS=2');
    like $run->{err}, qr/1 found, .*allocation of 2 tasks/, 'in an allocation';
    $run = alone($program, '@',
        'SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=4 SLURM_NTASKS=4 SLURM_PROCID=0')
        if library() =~ /MPICH/;
    like $run->{err}, qr/job of 1 rank, the launcher says 4 \(SLURM_STEP_NUM_TASKS\).*--mpi=pmi2/,
        'in a step of four: all sizes, and the cure' if library() =~ /MPICH/;
    $run = job(2, $program, '@', 'SLURM_NTASKS=4');
    is $run->{status}, 0, 'a job of another size than the allocation';
};

subtest 'MPI that hangs in its end' => sub {
    my $run = told(job_end($late));
    cmp_ok $run->{seconds}, '<', 100, 'the program ends';
    is verdict($run), 'good', '... its record being whole';
    like $run->{own}, qr/\Ampi_probe: MPI did not end within \d+ s/, '... and says so'
        if library() =~ /\AOpen MPI/;    # hydra may lose what comes last
};

done_testing;
