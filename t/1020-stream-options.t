#!/usr/bin/perl
#
# What stream is asked: refusals quote the bad word and exit 2, help and manual
# page agree with the table.

use 5.014;
use strict;
use warnings;

use FindBin qw($Bin);
use lib $Bin;
use Stream;
use Test::More;

my $small = '--elements=100000 --repetitions=2';

# Each with what the message must quote.
my @refused = (
    ['--elements=0',                 qr/elements.*0/],
    ['--elements=-1',                qr/elements.*-1/],
    ['--elements=12x',               qr/12x/],
    ['--repetitions=1',              qr/repetitions.*1/],
    ['--repetitions=0',              qr/repetitions.*0/],
    ['--threads=0',                  qr/threads.*0/],
    ['--threads=two',                qr/two/],
    ['--type=quad',                  qr/quad/],
    ['--kernel=sse9',                qr/sse9/],
    ['--stores=temporary',           qr/temporary/],
    ['--write-allocate=maybe',       qr/maybe/],
    ['--pin=scatter',                qr/scatter/],
    ['--mode=fast',                  qr/fast/],
    ['--hugepages=big',              qr/big/],
    ['--element=4',                  qr/element/],
    ['100',                          qr/100/],
    ['--scaling=1,2',                qr/--scaling.*mode=scaling/],
    ['--plot=x.svg',                 qr/--plot.*mode=scaling/],
    ['--original=x.c',               qr/--original.*mode=original/],
    ['--mode=original',              qr/--original=FILE/],
    ['--mode=original --original=no/such.c', qr{no/such\.c}],
    ['--mode=length --elements=1M',  qr/--elements.*length/],
    ['--mode=scaling --scaling=',    qr/--scaling.*''/],
    ['--mode=scaling --scaling=1,x', qr/'x'/],
    ['--mode=scaling --scaling=1,,2', qr/''/],
    ['--mode=scaling --scaling=0',   qr/'0'/],
    ['--mode=scaling --scaling=2,1', qr/'1' does not ascend/],
    ['--mode=scaling --scaling=1,1', qr/'1' does not ascend/],
    ['--mode=scaling --scaling=sockets', qr/'sockets'/],
    ['--mode=classic --stores=regular --write-allocate=yes',
        qr/classic never counts/],
);
for my $row (@refused) {
    my ($options, $why) = @$row;
    my $run = stream("STREAM \@ $options");

    is($run->{status}, 2, "$options: exit 2");
    like($run->{err}, $why, 'and the bad word');
    unlike($run->{out}, qr/MB\/s/, 'no figure');
    ok(!defined $run->{record} || $run->{record} !~ /^metric/m,
        'none in the record either');
}

# Counting write-allocate with stores that allocate nothing would invent it.
my $run = stream("STREAM $small --stores=nontemporal --write-allocate=yes");
SKIP: {
    skip 'no non-temporal stores here', 2 if $run->{status} == 77;
    is($run->{status}, 2, 'write-allocate with nontemporal stores: exit 2');
    like($run->{err}, qr/nontemporal stores fetch no line/, 'and why');
}

# An instruction set that is not here is not replaced.
my $foreign = `uname -m` =~ /^aarch64|^arm64/ ? 'avx2' : 'neon';
$run = stream("STREAM $small --kernel=$foreign");
is($run->{status}, 77, "--kernel=$foreign: can't run here");
like($run->{err}, qr/no $foreign kernels/, 'says so');
$run = stream("STREAM $small --kernel=plain --stores=nontemporal");
is($run->{status}, 77, 'plain C has no nontemporal stores');
$run = stream("STREAM @ $small --kernel=plain");
is($run->{status}, 0, 'plain C runs anywhere');
is((metrics($run, 'triad'))[0]{kernel}, 'plain', 'and says what it is');
is((metrics($run, 'triad'))[0]{stores}, 'regular', 'and how it stores');
for my $isa (qw(avx2 avx512)) {
    $run = stream("STREAM @ $small --kernel=$isa");
    next if $run->{status} == 77;
    is((metrics($run, 'triad'))[0]{kernel}, $isa, "$isa is what it says");
}

# K, M, G are powers of 1024, of elements.
$run = stream('STREAM @ --elements=64K --repetitions=2 --threads=1');
is(field($run, 'opt', 'elements'), 65536, '64K elements');
is((metrics($run, 'copy'))[0]{elements}, 65536, 'on the metric line too');

# Repetitions: of two, one counts.
$run = stream("STREAM @ --mode=classic --elements=1M --repetitions=2");
my @times = $run->{out} =~ /^Triad: +\S+ +(\S+) +(\S+) +(\S+)/m;
is("$times[0] $times[1]", "$times[1] $times[2]", 'least, mean and most of one');
is((metrics($run, 'triad'))[0]{n}, 1, 'one sample');

# Help, and the manual page.
$run = stream('STREAM --help');
is($run->{status}, 0, '--help: exit 0');
is((grep { length > 80 } split /\n/, $run->{out}), 0, 'within 80 columns');
my @options = $run->{out} =~ /^ .*?--([a-z-]+)/mg;
cmp_ok(scalar @options, '>', 15, 'options in help');
like($run->{out}, qr/--repetitions.*(?:\n.*)?10/, 'help has live defaults');
my $manual = slurp(source('doc/stream.1'));
ok(defined $manual, 'a manual page');
$manual =~ s/\\-/-/g;
for my $option (@options) {
    like($manual, qr/^\.(?:It|TP|BR?|IR?|Op|Fl).*?--?\Q$option\E\b
        |^\.It\ .*\Q-$option\E\b/mx, "the manual page has --$option");
}
my %known = map { $_ => 1 } @options;
my @named = $manual =~ /^\.It .*?Fl -([a-z][a-z-]+)/mg;
cmp_ok(scalar @named, '>=', scalar @options, 'and lists as many');
is(join(q{ }, grep { !$known{$_} } @named), q{}, 'and none that there is not');
is(join(q{ }, sort $manual =~ /^\.It Fl (\w) , Fl -/mg),
    join(q{ }, sort $run->{out} =~ /^  -(\w), --/mg), 'the same letters');
for my $mode (qw(bandwidth benchmark scaling length kernels numa classic
    original)) {
    like($manual, qr/^\.It Cm $mode$/m, "and mode $mode");
}
is(stream('STREAM --version')->{status}, 0, '--version: exit 0');

done_testing();
