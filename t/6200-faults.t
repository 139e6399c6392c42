#!/usr/bin/perl
#
# Faults that are injected into a cluster are found: of `make check-faults` those
# that hang on no speed. t/6500 has a slow link and a throttled node.

use strict;
use warnings;

use File::Basename qw(dirname);
use Test::More;

use lib dirname(__FILE__);
use Cluster;
use Mpi;

my $why = missing('commbw/simpleBandwidth');
plan skip_all => $why if $why;
plan skip_all => 'the plugin of Open MPI is what is put wrong' if library() !~ /Open MPI/;

my @faults = qw(placement plugin pinned rank dead-node cut slurmd drained disk clock);
my ($status, $text) = output(lab('faults'), qw(--spread 0 --healthy 0 --least 900), @faults);
plan skip_all => $text if $status == 77;
my @rows = $text =~ /^\| ((?!fault |-).*) \|$/mg;
is scalar @rows, @faults, 'a row for each fault' or diag $text;
like $_, qr/^[^|]+ \| yes \| [0-9]+ \| \S/, 'found: ' . (split / \|/)[0] for @rows;
is $status, 0, 'exit 0' or diag $text;

($status, $text) = output(lab('faults'), 'gremlins');
is $status, 2, 'a fault that is none: exit 2';
like $text, qr/gremlins: none of slow-link /, '... and what there is';

done_testing;
