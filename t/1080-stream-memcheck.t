#!/usr/bin/perl
#
# valgrind has nothing to say.

use 5.014;
use strict;
use warnings;

use FindBin qw($Bin);
use lib $Bin;
use Stream;
use Test::More;

my $binary = stream_path();
plan skip_all => 'no valgrind here'
    if system('command -v valgrind >/dev/null 2>&1') != 0;
plan skip_all => 'built with a sanitizer'
    if `nm '$binary' 2>/dev/null` =~ /__[atu]b?san_/;

my $valgrind = 'OMP_WAIT_POLICY=passive valgrind -q --error-exitcode=42';
plan skip_all => 'valgrind cannot read what this compiler makes'
    if stream("$valgrind STREAM --version")->{status} != 0;

for my $options ('--kernel=plain --threads=2', '--type=float --threads=1',
    '--mode=kernels --threads=1 --kernel=plain') {
    my $run = stream("$valgrind STREAM @ --elements=20000 --repetitions=2 $options");
    isnt($run->{status}, 42, "$options: no error");
    unlike($run->{err}, qr/==\d+==/, 'not a word');
    like($run->{record}, qr/name=triad\.data ok=yes/, 'and right data');
}

done_testing();
