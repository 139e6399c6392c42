#!/usr/bin/perl
#
# pmi2: what it makes of what ranks say. The launcher here is a stand-in that
# says it for them; t/3650 has the real one.

use strict;
use warnings;

use File::Basename qw(dirname);
use Test::More;

use lib dirname(__FILE__);
use Mpi;
use Probe;

# The launcher: the words of all ranks, as SAY tells. Its own words come behind.
open my $out, '>', 'launcher' or die;
print {$out} <<'END';
#!/bin/sh
# launcher NODES RANKS PPN PROGRAM KEYS SIZE
echo "$*" >words
one() { echo "launch $*"; }
say() { # WORD MISSING WRONG
    rank=0
    while [ "$rank" -lt "$ranks" ]; do
        one "$1" "$rank" "$ranks" "$2" "$3" "n$((rank / ppn))"
        rank=$((rank + 1))
    done
}
nodes=$1 ranks=$2 ppn=$3
case $SAY in
silence) sleep 987 ;;
hang) exec sleep 987 ;;
nothing) exit 0 ;;
alone) one first -1 0 0 0 n0; one first -1 0 0 0 n0; one alone 0 1 0 0 n0; one alone 0 1 0 0 n1; exit ;;
esac
say first 0 0
echo "a word of somebody else"
[ "$SAY" != lost ] || { one fence 0 "$ranks" 0 0 n0; say get 0 0; exit 0; }
say fence 0 0
[ "$SAY" != half ] || { one get 0 "$ranks" 0 0 n0; exit 0; }
case $SAY in
missing) say get 1 0 ;;
wrong) say get 0 1 ;;
placed) one get 0 2 0 0 n0; one get 1 2 0 0 n0 ;;
twice) say get 0 0; one get 0 "$ranks" 0 0 n0 ;;
foreign) one get 0 "$ranks" 0 0 n0; one get 7 "$ranks" 0 0 n1 ;;
larger) one get 0 2 0 0 n0; one get 1 4 0 0 n1 ;;
slow) sleep 0.3; say get 0 0 ;;
linger) say get 0 0; sleep 987 ;;
*) say get 0 0 ;;
esac
[ "$SAY" != fails ] || exit 3
END
close $out;
chmod 0755, 'launcher';

sub run {
    my ($say, $options) = @_;
    return alone('launch/pmi2', "--launch='./launcher {nodes} {ranks} {ppn}' --nodes=2 "
            . ($options // q{}) . ' @', "SAY=$say");
}

my $run = run('well', '--ppn=1,3 --keys=2 --size=10');
is $run->{status}, 0, 'a job that is well' or diag $run->{err};
is verdict($run), 'good', '... is a good record';
is slurp('words'), "2 6 3 pmi2_rank 2 10\n", '... with the words filled in';
my @metrics = metrics($run);
is scalar @metrics, 6, '... first, fence and get of two jobs';
is join(q{ }, @{$metrics[3]}{qw(name ranks nodes ppn keys size n per unit)}),
    'first 6 2 3 2 10 6 job ms',
    '... with their keys';
cmp_ok $_->{value}, '==', $_->{max}, "... $_->{name}: the last rank counts" for @metrics[0 .. 2];
like $run->{out}, qr/^a word of somebody else$/m, '... and other words are passed on';

$run = run('slow');
my %of = map { ($_->{name} => $_) } metrics($run);
cmp_ok $of{get}{min} - $of{fence}{max}, '>', 250, 'time is that of the arrival';
cmp_ok $of{fence}{min}, '<', $of{get}{min} - 250, '... of each word';

$run = run('missing');
is $run->{status}, 1, 'missing keys: exit 1';
like $run->{record}, qr/^check name=keys.missing ok=no error=2 /m, '... in the record';
$run = run('wrong');
is $run->{status}, 1, 'wrong keys: exit 1';
like $run->{record}, qr/^check name=keys.data ok=no /m, '... in the record';

my %broken = (
    alone => qr/2 processes that each believe to be alone, not a job of 2/,
    nothing => qr/0 of 2 ranks said `first'; the launcher ended with status 0/,
    half => qr/1 of 2 ranks said `get'/,
    lost => qr/1 of 2 ranks said `fence'/,
    placed => qr/2 ranks on n0, not 1: the launcher placed them otherwise/,
    twice => qr/1 ranks that speak twice/,
    foreign => qr/1 words of other jobs' ranks/,
    larger => qr/1 words of other jobs' ranks/,
    fails => qr/all ranks are well, but the launcher ended with status 3/,
);
for my $say (sort keys %broken) {
    $run = run($say);
    is $run->{status}, 99, "$say: exit 99";
    like $run->{err}, qr/^pmi2: PMI-2: .*$broken{$say}/m, '... and says why';
    is scalar(metrics($run)), 0, '... and no figure';
}
$run = run('silence', '--limit=1');
is $run->{status}, 99, 'no word in time: exit 99';
like $run->{err}, qr/0 of 2 ranks had their say when the time was over/, '... and says so';
$run = run('linger', '--limit=1');
is $run->{status}, 0, 'a job that does not end after its last word: exit 0' or diag $run->{err};
like $run->{err}, qr/warning: PMI-2: all ranks had their say, but the job did not end/,
    '... with a warning';
is system('pgrep -f "[s]leep 987" >/dev/null') >> 8, 1, '... and ends what it started';

$run = alone('launch/pmi2', "--launch=/nonexistent/launcher @");
is $run->{status}, 99, 'no launcher: exit 99';
like $run->{err}, qr{/nonexistent/launcher: No such file}, '... by name';

for my $options ('--ppn=0', '--ppn=1,', '--ppn=1,1', '--ppn=x', '--nodes=0', '--size=1024',
    "--launch=' '", '--foo') {
    $run = run('well', $options);
    is $run->{status}, 2, "$options: exit 2" or diag $run->{err};
}

done_testing;
