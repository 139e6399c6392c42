#!/usr/bin/perl
#
# What mpi_overhead refuses, and what it does when data, ranks or time go wrong.

use 5.016;
use strict;
use warnings;

use FindBin;
use Test::More;
use Time::HiRes qw(time);

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
refused(job(2, $program, '--sizes=8,4'), 2, qr/--sizes: '4' does not come after/, 'falling sizes');
refused(job(2, $program, '-r --both'), 2, qr/--recv: /, '-r --both');
refused(job(2, $program, '-b 2'), 2, qr/--bthresh: 2 is not under --thresh, 1\.5/, 'thresholds');
refused(job(3, $program, q{}), 2, qr/3 found, an even number/, 'three ranks');
refused(alone($program, q{}), 2, qr/1 found, an even number.*no launcher/, 'one rank');

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
my $run = job(2, $program, '-t 1e11 -i 1 @');
is $run->{status}, 3, 'no knee: exit status 3';
like $run->{out}, qr/^8 +1 +- +- +- +[\d.]+ +unstable$/m, '... the row says unstable';
like $run->{err}, qr/msgsize=8 direction=send .*the knee was not reached: \d+ units of work/, '... and why';
is scalar(metrics($run)), 0, '... with no figure in the record';
is Probe::line($run, 'end')->{status}, 'unstable', '... which is unstable';

# A network of which nothing is known in the time that there is.
my $start = time;
$run = job(2, $program, '-i 1000000000 --effort=0.3 @');
is $run->{status}, 3, 'more iterations than there is time for: exit status 3';
like $run->{err}, qr/msgsize=8 direction=send .*(?:of 1000000000 iterations after \S+ s, and --effort|the knee was not reached|no knee that lasts)/,
    '... and why';
cmp_ok time - $start, '<', 60, '... in bounded time';

# Faults of the job, and of the data.
my $faulty = 't/programs/overhead_faulty';
SKIP: {
    skip 'no faulty program' if missing($faulty);
    $run = job(2, $faulty, '-i 10 @', 'MPI_FAULT=data:1');
    is $run->{status}, 1, 'wrong data: exit status 1';
    like $run->{err}, qr/^mpi_overhead: data: wrong data: error [1-9]/m, '... and it is said';
    is Probe::line($run, 'end')->{status}, 'wrong', '... in the record too';
    $run = job(2, $faulty, '-r -m 1 -i 10 @', 'MPI_FAULT=data:0');
    is $run->{status}, 1, 'one byte, received by the origin';
    $run = job(2, $faulty, '-m 256K -i 10 @', 'MPI_FAULT=middle:1');
    is $run->{status}, 1, 'one byte in the middle of a long message that is timed';
    like $run->{err}, qr/^mpi_overhead: data: wrong data: error 1, tolerance 0$/m, '... it alone';
    $run = job(2, $faulty, '-m 100 -i 400 @', 'MPI_FAULT=middle:1 MPI_FAULT_CALL=30');
    is $run->{status}, 1, 'or of a short one, with others behind it in the same sample';
    for my $stale ('-m 16K', '-r -m 4K') {
        my $rank = $stale =~ /-r/ ? 0 : 1;
        $run = job(2, $faulty, "$stale -i 400 \@", "MPI_FAULT=stale:$rank MPI_FAULT_CALL=30");
        is $run->{status}, 1, "$stale: one of a sample that did not come";
    }
    for my $fault (qw(die:1 hang:1)) {
        $start = time;
        $run = job(2, $faulty, '--sizes=8,16 -i 20 --watchdog=2 @',
            "MPI_FAULT=$fault MPI_FAULT_BYTES=16");
        isnt $run->{status}, 0, "$fault: the job fails";
        cmp_ok time - $start, '<', 150, '... within seconds';
        isnt verdict($run), 'good', '... and its record is no measurement';
        is scalar(Probe::lines($run, 'point')), 1, '... but has the size that was finished';
        like $run->{err}, qr/^mpi_overhead: (?:rank 1 on \S+: )?no progress within [27] s: msgsize=16 /m,
            '... by its watchdog' if $fault =~ /hang/;
    }
}

done_testing;
