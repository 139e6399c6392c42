#!/usr/bin/perl
#
# simpleBandwidth below MPI: UCX and libfabric, where the build has them, move
# the same blocks, and say so; where it has not, that is no measurement.

use 5.016;
use strict;
use warnings;

use FindBin;
use Test::More;

use lib $FindBin::Bin;
use Mpi;
use Probe;

# There may be more tasks than CPUs.
local $ENV{OMP_WAIT_POLICY} = 'passive';

my $program = 'commbw/simpleBandwidth';
plan skip_all => missing($program) if missing($program);

my $config = slurp(program('config.h'));
for my $kind (['ucx', 'HAVE_UCX', qr/\AUCX \d/], ['ofi', 'HAVE_LIBFABRIC', qr/\A\w+/]) {
    my ($name, $macro, $details) = @{$kind};
    my $built = $config =~ /^#define $macro 1/m;
    my $options = "--transport=$name --tasks=2 --trials=2 --sizes=1,65537 --window=3";
    my $run = job(2, $program, "$options --bidirectional \@");

    if (!$built) {
        is $run->{status}, 77, "$name is not in this build: exit 77";
        like $run->{err}, qr/--transport=$name: this build has no .*: configure --with-/,
            '... with what to do';
        next;
    }
    is $run->{status}, 0, "$name: two tasks, both ways" or diag $run->{err};
    is verdict($run), 'good', '... with a whole record';
    my @metrics = metrics($run);
    is scalar(grep { $_->{transport} eq $name && $_->{kind} eq 'own' } @metrics), 8,
        '... whose lines say it';
    my @checks = map { Assay::Text::split_fields(s/^\S+//r) } Probe::lines($run, 'check');
    is scalar(grep { $_->{ok} eq 'yes' && $_->{verified} >= 2 * 2 * 3 * 4 } @checks), 4,
        '... all blocks of both directions are right';
    my ($env) = grep { $_->{transport_used} }
        map { Assay::Text::split_fields(s/^\S+//r) } Probe::lines($run, 'env');
    like $env->{transport_details}, $details, '... and what it has chosen is kept';
}

my $run = job(2, $program, '--transport=ucx --kind=create');
isnt $run->{status}, 0, 'windows are MPI\'s alone';

done_testing;
