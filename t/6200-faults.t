#!/usr/bin/perl
#
# Faults that are injected into a cluster are found, and healthy runs report
# nobody: the short form of `make check-faults`.

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

my @faults = qw(slow-link placement plugin pinned disk);
my ($status, $text) = output(lab('faults'), qw(--spread 1 --healthy 1 --least 100), @faults);
plan skip_all => $text if $status == 77;
my @rows = $text =~ /^\| ((?!fault |-).*) \|$/mg;
is scalar @rows, @faults, 'a row for each fault' or diag $text;
like $_, qr/^[^|]+ \| yes \| [0-9]+ \| \S/, 'found: ' . (split / \|/)[0] for @rows;
like $text, qr/^1 healthy sweeps of 4 nodes: 0 reported somebody$/m, 'and no false alarm';
is $status, 0, 'exit 0' or diag $text;

($status, $text) = output(lab('faults'), 'gremlins');
is $status, 2, 'a fault that is none: exit 2';
like $text, qr/gremlins: none of slow-link /, '... and what there is';

done_testing;
