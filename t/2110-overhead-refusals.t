#!/usr/bin/perl
#
# What mpi_overhead refuses, and what it does when data, ranks or time go wrong.

use 5.016;
use strict;
use warnings;

use FindBin;
use Test::More;

use lib $FindBin::Bin;
use Mpi;
use Probe;

my $program = 'smb/mpi_overhead';
plan skip_all => missing($program) if missing($program);

sub refused {
    my ($run, $status, $why, $what) = @_;
    is $run->{status}, $status, "$what: exit status $status" or diag $run->{err};
    my @own = grep { /^mpi_overhead:/ && !/warning:/ } split /\n/, $run->{err};
    is scalar @own, 1, '... one line' or diag $run->{err};
    like $own[0] // q{}, $why, '... that says why';
    unlike $run->{out}, qr/^\d/m, '... and no row';
    return;
}

# Before MPI starts.
my %bad = (
    '-i 0'          => qr/'0'/,
    '-i x'          => qr/'x'/,
    '-m -1'         => qr/'-1'/,
    '-m 8x'         => qr/'8x'/,
    '-m 2G'         => qr/'2G'/,
    '-t 1'          => qr/'1'/,
    '-t nan'        => qr/'nan'/,
    '-b 0.5'        => qr/'0\.5'/,
    '--watchdog=-1' => qr/'-1'/,
    '--effort=0'    => qr/'0'/,
    '--pair'        => qr/'--pair'/,
    'word'          => qr/'word'/,
);
refused(alone($program, $_), 2, $bad{$_}, "'$_'") for sort keys %bad;
for my $help (qw(-q --help)) {
    my $run = alone($program, $help);
    is $run->{status}, 0, "$help exits 0, without a launcher";
    is scalar(grep { length > 80 } split /\n/, $run->{out}), 0, '... in 80 columns';
    like $run->{out}, qr/--thresh.*default: 1\.5/s, '... with live defaults';
}

# On all ranks alike.
my @refused = (
    [2, '--sizes=8,4', qr/--sizes: '4' does not come after/, 'falling sizes'],
    [2, '-r --both', qr/--recv: /, '-r --both'],
    [2, '-b 2', qr/--bthresh: 2 is not under --thresh, 1\.5/, 'thresholds'],
    [3, q{}, qr/3 found, an even number/, 'three ranks'],
);
my @ended = jobs_at_once(map { [$_->[0], $program, $_->[1]] } @refused);
refused(shift @ended, 2, @{$_}[2, 3]) for @refused;
refused(alone($program, q{}), 2, qr/1 found, an even number.*no launcher/, 'one rank');

# What is not known by a time waits for its launcher, while others work.
my $never = job_start('never', 2, $program, '-t 1e11 -i 1 --effort=0.5 @');
my $more = job_start('more', 2, $program, '-i 1000000000 --effort=0.3 @');

# Singletons of the other library's launcher.
my ($other) = library() =~ /\AOpen MPI/ ? 'mpirun.mpich' : 'mpirun.openmpi';
SKIP: {
    skip "no $other", 3 if !grep { -x "$_/$other" } split /:/, $ENV{PATH};
    my $run = alone($program, '@', "timeout 30 $other -n 2");
    isnt $run->{status}, 0, "$other: no job";
    is $run->{out} . ($run->{record} // q{}), q{}, '... no result, no record';
    my @own = grep {/^mpi_overhead:/} split /\n/, $run->{err};
    is scalar(grep {/job of 1 rank, the launcher says 2 .* mpirun, or srun --mpi=/} @own), 1,
        '... one message, with both sizes and the cure' or diag $run->{err};
}

# The knee that is never reached.
my $run = job_end($never);
is $run->{status}, 3, 'no knee: exit status 3';
like $run->{out}, qr/^8 +1 +- +- +- +[\d.]+ +unstable$/m, '... the row says unstable';
like $run->{err}, qr/msgsize=8 direction=send .*the knee was not reached: \d+ units of work/, '... and why';
is scalar(metrics($run)), 0, '... with no figure in the record';
is Probe::line($run, 'end')->{status}, 'unstable', '... which is unstable';

# A network of which nothing is known in the time that there is.
$run = job_end($more);
is $run->{status}, 3, 'more iterations than there is time for: exit status 3';
like $run->{err}, qr/msgsize=8 direction=send .*(?:of 1000000000 iterations after \S+ s, and --effort|the knee was not reached|no knee that lasts)/,
    '... and why';
cmp_ok $run->{seconds}, '<', 60, '... in bounded time';

# Faults of the job, and of the data.
my $faulty = 't/programs/overhead_faulty';
SKIP: {
    skip 'no faulty program' if missing($faulty);
    # That a short effort leaves the overhead unknown makes no data right.
    my @faults = (
        ['-i 10 --effort=0.3', 'MPI_FAULT=data:1'],
        ['-r -m 1 -i 10 --effort=0.3', 'MPI_FAULT=data:0'],
        ['-m 256K -i 10 --effort=0.3', 'MPI_FAULT=middle:1'],
        ['-m 100 -i 400', 'MPI_FAULT=middle:1 MPI_FAULT_CALL=10'],
        map { ['--sizes=8,16 -i 20 --effort=0.5 --watchdog=3', "MPI_FAULT=$_ MPI_FAULT_BYTES=16"] }
            qw(die:1 hang:1)
    );
    my @runs = jobs_at_once(map { [2, $faulty, "$_->[0] \@", $_->[1]] } @faults);
    $run = shift @runs;
    is $run->{status}, 1, 'wrong data: exit status 1';
    like $run->{err}, qr/^mpi_overhead: data: wrong data: error [1-9]/m, '... and it is said';
    is Probe::line($run, 'end')->{status}, 'wrong', '... in the record too';
    $run = shift @runs;
    is $run->{status}, 1, 'one byte, received by the origin';
    $run = shift @runs;
    is $run->{status}, 1, 'one byte in the middle of a long message that is timed';
    like $run->{err}, qr/^mpi_overhead: data: wrong data: error 1, tolerance 0$/m, '... it alone';
    $run = shift @runs;
    is $run->{status}, 1, 'or of a short one, with others behind it in the same sample';
    for my $stale ('-m 16K', '-r -m 4K') {
        my $rank = $stale =~ /-r/ ? 0 : 1;
        $run = job(2, $faulty, "$stale -i 400 \@", "MPI_FAULT=stale:$rank MPI_FAULT_CALL=30");
        is $run->{status}, 1, "$stale: one of a sample that did not come";
    }
    for my $fault (qw(die:1 hang:1)) {
        $run = shift @runs;
        isnt $run->{status}, 0, "$fault: the job fails";
        cmp_ok $run->{seconds}, '<', 150, '... within seconds';
        isnt verdict($run), 'good', '... and its record is no measurement';
        is scalar(Probe::lines($run, 'point')), 1, '... but has the size that was finished';
        like $run->{err}, qr/^mpi_overhead: (?:rank 1 on \S+: )?no progress within [38] s: msgsize=16 /m,
            '... by its watchdog' if $fault =~ /hang/;
    }
}

done_testing;
