#!/usr/bin/perl
#
# Windows: every kind, sizes that a library's padding hides or shows, the last
# byte, and one past it, which MPI never sees.

use 5.016;
use strict;
use warnings;

use FindBin;
use Test::More;

use lib $FindBin::Bin;
use Mpi;
use Probe;

my $program = 't/programs/mpi_window';
plan skip_all => missing($program) if missing($program);

my $run = job(4, $program, '--step=333');
is $run->{status}, 0, 'all kinds, all sizes: bytes are where they belong'
    or diag $run->{err};

my @past = (['put-past', '1 bytes at 1000'], ['row-past', '1000 bytes at 1'],
    ['row-wraps', '18446744073709551615 bytes at 0'],
    ['start-past', '2 bytes at 18446744073709551615']);
my @ended = jobs_at_once(map { [2, $program, "--bytes=1000 --do=$_->[0] \@"] } @past);
for my $past (@past) {
    my ($deed, $what) = @{$past};
    $run = shift @ended;
    isnt $run->{status}, 0, "$deed: refused";
    like $run->{err}, qr/rank 1 on \S+: one-sided access to $what of rank 0: its window ends at 1000/,
        '... which names what, where, and the end';
    isnt verdict($run), 'good', '... and the record is none of a measurement';
}

# Why windows are padded: if this is no more, the padding may go.
if (library() =~ /\AMPICH 4\.0/) {
    $run = job(2, $program, q{}, 'WINDOW_EXACT=1001');
    is $run->{status}, 1, 'MPICH 4.0: without padding, data is in a wrong place';
    like $run->{err}, qr/window\.data: wrong data: \d+ bytes of a window \(allocate\) of 1001/, '... which is seen';
}

# What carries the bytes, as the interfaces' own counters tell.
my $no_shm = library() =~ /\AOpen MPI/
    ? 'OMPI_MCA_btl=self,tcp OMPI_MCA_osc=^ucx,sm OMPI_MCA_btl_tcp_if_include=lo'
    : 'MPIR_CVAR_NOLOCAL=1 UCX_TLS=tcp,self';
$run = job(2, $program, '--do=paths');
like $run->{out}, qr/^nics=0 nic_share=none pshm=yes colocales=2 confined=\S+ interfaces=none$/m,
    'ranks of a node share memory' or diag $run->{err};
$run = job(2, $program, '--do=paths @', $no_shm);
like $run->{out}, qr/ pshm=no /, '... unless they are told not to'
    or diag $run->{err};
my ($lo) = map {/ sent=(\d+)/} grep {/ interface=lo /} Probe::lines($run, 'traffic');
cmp_ok $lo, '>', 8 << 20, '... and go through an interface, as the record says';

done_testing;
