#!/usr/bin/perl
#
# A run that a signal ends: the record says so, and so does the way it dies.

use 5.014;
use strict;
use warnings;

use Config;
use FindBin qw($Bin);
use lib $Bin;
use Probe;
use Test::More;
use Time::HiRes qw(sleep);

my %number;
@number{split q{ }, $Config{sig_name}} = split q{ }, $Config{sig_num};

# Start a probe that prints, measures and then sleeps; send it the signals once
# it has measured.
sub killed {
    my ($shell, @signals) = @_;
    my $pid = probe_start("$shell exec PROBE @ --do=print,metric,sleep");

    for (1 .. 200) {
        last if (slurp('record') || q{}) =~ /^sample /m;
        sleep 0.05;
    }
    for my $signal (@signals) {
        kill $signal, $pid;
        sleep 0.1;
    }
    return probe_end($pid);
}

for my $row (['TERM', 'timeout'], ['XCPU', 'timeout'], ['ALRM', 'timeout'],
    ['INT', 'failed'], ['HUP', 'failed'], ['QUIT', 'failed'])
{
    my ($signal, $status) = @$row;
    my $run = killed('ulimit -c 0;', $signal);
    is($run->{status}, 128 + $number{$signal}, "SIG$signal: dies of it");
    is((lines($run, 'end'))[0], "end status=$status reason=SIG$signal",
        'after its end line');
    like($run->{record}, qr/reason=SIG$signal\n\z/, 'the last of the record');
    is($run->{out}, "figure\n", 'what was printed is there');
    like(verdict($run), qr/^spoiled: .*SIG$signal/, 'spoiled to the judge');
}

my $run = killed(q{}, 'KILL');
is($run->{status}, 137, 'SIGKILL: dies of it');
unlike($run->{record}, qr/^end /m, 'without an end line');
like(verdict($run), qr/^spoiled: no end line/, 'spoiled to the judge');

$run = killed('trap "" HUP;', 'HUP', 'TERM');
is(line($run, 'end')->{reason}, 'SIGTERM', 'under nohup SIGHUP is ignored');

# A library that calls exit, as libgomp does where it gets no thread.
$run = probe('PROBE @ --do=print,metric,exit');
is($run->{status}, 99, 'exit by a library: 99, whatever its status');
is(line($run, 'end')->{status}, 'failed', 'failed in the record');
like($run->{record}, qr/\n\z/, 'in a whole line');
like($run->{err}, qr/^probe: a library ended the program$/m, 'and said');
is($run->{out}, "figure\n", 'what was printed is there');
is(probe('PROBE --do=exit')->{status}, 99, 'without a record, too');

# A reader of stdout that has gone.
$run = probe('(sleep 0.3; PROBE @ --do=metric,print; echo $? >status) | true');
is(slurp('status'), 128 + $number{PIPE} . "\n", 'SIGPIPE: dies of it');
is(line($run, 'end')->{reason}, 'SIGPIPE', 'after its end line');
$run = probe('trap "" PIPE; (sleep 0.3; PROBE @ --do=metric,print; '
        . 'echo $? >status) | true');
is(slurp('status'), "99\n", 'SIGPIPE ignored: exit 99');
is(line($run, 'end')->{status}, 'failed', 'and the record says so');

# The first process of a PID namespace does not die of its own signal.
SKIP: {
    my $unshare = 'unshare --user --map-root-user --pid --fork';
    skip 'no PID namespaces here', 2 if system("$unshare true 2>/dev/null");
    $run = probe("timeout 20 $unshare PROBE \@ --do=metric,term,metric");
    is($run->{status}, 143, 'first process of a container: exits all the same');
    is(scalar(() = $run->{record} =~ /^end /mg), 1, 'with one end line');
}

# Chances for a second end line, or none.
my ($good, $runs) = (0, 25);
for my $i (1 .. $runs) {
    my $delay = 0.004 * $i;
    $run = probe("PROBE \@ & p=\$!; sleep $delay; kill \$p 2>/dev/null; "
        . 'wait $p');
    my @ends = lines($run, 'end');
    $good++ if !defined $run->{record} || $run->{record} eq q{}
        || (@ends <= 1 && ($run->{status} == 143 || @ends == 1));
}
is($good, $runs, 'killed at any time: one end line at most, and none twice');

done_testing();
