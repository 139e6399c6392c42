#!/usr/bin/perl
#
# jobstream: stream on all ranks at once. What it prints and records, whose
# bytes it counts, what it refuses, and what it makes of a wrong element.

use 5.016;
use strict;
use warnings;

use FindBin;
use Test::More;

use lib $FindBin::Bin;
use Mpi;
use Probe;

my $program = 't/programs/jobstream_faulty';
plan skip_all => missing($program) if missing($program);

my @KERNELS = qw(copy scale add triad);
my $FEW = '--elements=200K --repetitions=5 --threads=1';

# What ends badly waits for its launcher, while others work.
my $wrong = job_start('wrong', 2, $program, "$FEW \@", 'MPI_ARRAY=2:1:20');
my $odd = job_start('odd', 1, 'commbw/jobstream',
    '--write-allocate=yes --stores=nontemporal --elements=1K');

subtest 'two ranks' => sub {
    my $run = job(2, 'commbw/jobstream', "$FEW \@");
    is $run->{status}, 0, 'two ranks' or diag $run->{err};
    is verdict($run), 'good', '... leave a good record';
    like $run->{record}, qr/^record version=1 bench=stream /, '... of stream';
    my %of = map { ($_->{name} => $_) } metrics($run);
    is join(q{ }, sort keys %of), 'add copy maximum median minimum scale triad',
        'four kernels, and their median, least and most';
    for my $name (@KERNELS) {
        my $line = $of{$name};
        is "$line->{n} $line->{unit} $line->{mode}", '4 MB/s job', "$name: all passes but the first";
        is "$line->{ranks} $line->{colocales} $line->{threads} $line->{elements}",
            '2 2 2 ' . 2 * 200 * 1024, '... of the node: threads and elements of both ranks';
    }
    my ($host) = map { $_->{host} } values %of;
    my @rates = $run->{out} =~ /^\Q$host\E\s+2\s+2\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)$/m;
    is_deeply \@rates, [map { sprintf '%.1f', $of{$_}{value} } @KERNELS], 'it prints the best';
};

# Half the ranks with twice the arrays move as many bytes.
subtest 'one rank' => sub {
    my $run = job(1, 'commbw/jobstream', '--elements=400K --repetitions=3 --stores=regular @');
    is $run->{status}, 0, 'one rank is a job too' or diag $run->{err};
    my ($triad) = metrics($run, 'triad');
    is "$triad->{colocales} $triad->{elements} $triad->{write_allocate}", '1 409600 yes',
        '... with the fetch of written lines counted, where stores are regular';
    $run = alone('commbw/jobstream', '--repetitions=1');
    is $run->{status}, 2, 'one pass is refused';
    $run = job_end($odd);
    isnt $run->{status}, 0, 'to count what non-temporal stores do not fetch is refused';
};

subtest 'a wrong element' => sub {
    my $run = job_end($wrong);
    is $run->{status}, 1, 'wrong data on rank 1';
    like $run->{err}, qr/\.data: wrong data/, '... it says';
    is Probe::line($run, 'end')->{status}, 'wrong', '... as its end line does';
    $run = job(2, $program, "$FEW \@", 'MPI_ARRAY=2:1:999');
    is $run->{status}, 0, 'without it all is well' or diag $run->{err};
};

subtest 'threads that are not bound' => sub {
    my ($cpus) = slurp('/proc/self/status') =~ /^Cpus_allowed_list:\s*(\S+)/m;
    plan skip_all => 'one CPU' if $cpus =~ /\A\d+\z/;
    my $run = job(1, $program, "$FEW --pin=compact \@", 'OMPI_MCA_hwloc_base_binding_policy=none MPI_ARRAY=unbound');
    isnt $run->{status}, 0, 'no measurement';
    is Probe::line($run, 'check')->{ok}, 'no', '... by the check of their places'
        or diag $run->{record}, $run->{err};
    is Probe::line($run, 'check')->{name}, 'pinning', '... which is that';
};

done_testing;
