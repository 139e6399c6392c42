#!/usr/bin/perl
#
# A run from argv to the exit status: what a program prints, what its record
# says, and what the judge's reader makes of that.

use 5.014;
use strict;
use warnings;

use FindBin qw($Bin);
use lib $Bin;
use Probe;
use Test::More;

my $run = probe('PROBE @');
is($run->{status}, 0, 'a good run exits 0');
is($run->{err}, q{}, 'without a word on stderr');
is(verdict($run), 'good', 'its record is good');
like($run->{record}, qr/\Arecord\ version=1\ bench=probe
    \ program="assay\ [^"]+"\ time=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\n/x,
    'which begins with a record line');
is(join(q{ }, map {/^(\w+)/} split /\n/, $run->{record}),
    'record env opt check metric sample env end', 'then these, in this order');
like($run->{record}, qr/^end status=ok\n\z/m, 'and ends with its end line');
is((lines($run, 'metric'))[0] =~ s/ host=.*//r,
    'metric name=probe.rate value=103 unit=MB/s n=4 best=103 min=97 q1=98.5 '
        . 'median=100 q3=101.5 max=103', 'the figures of a metric line');
is(line($run, 'sample')->{values}, '101,97,103,99', 'samples as they came');
is(line($run, 'sample')->{host}, line($run, 'metric')->{host},
    'with the keys of their metric');
is(join(q{ }, sort keys %{line($run, 'opt')}),
    'colour count lower median real_number samples unit',
    'the opt line: options that have a value, dashes made underscores');
ok(defined((lines($run, 'env'))[0]), 'an env line');

$run = probe('PROBE @ --median');
is(line($run, 'metric')->{value}, 100, '--median: the value is the median');
$run = probe('PROBE @ --lower');
is(line($run, 'metric')->{value}, 97, '--lower: the value is the least');
is(line($run, 'metric')->{best}, 97, 'which is the best');
$run = probe('PROBE @ --samples=0.1');
like((lines($run, 'metric'))[0], qr/value=0.1 .*n=1 .*q1=0.1 .*max=0.1/,
    'one sample');

# Without a record the same happens, but for the record.
for my $row (['wrong', 1], ['twice', 99], ['die77', 77], ['metric', 0]) {
    my ($do, $status) = @$row;
    is(probe("PROBE --do=$do")->{status}, $status, "$do: exit $status");
}
$run = probe('PROBE --do=metric,print');
is("$run->{status} $run->{out}$run->{err}", "0 figure\n", 'no record');
$run = probe('PROBE @ --quiet --do=metric,print,warn');
is($run->{out}, q{}, '--quiet: nothing on stdout');
like($run->{err}, qr/beware/, 'but warnings on stderr');

# Statuses, reasons, and messages that are one line each.
my @ends = (
    ['wrong',          1,  'wrong',    qr/data: wrong data: error 0.5, tol/],
    ['nan',            1,  'wrong',    qr/data: wrong data: error not finite/],
    ['fact',           1,  'wrong',    qr/fact: wrong data: two = 3/],
    ['metric,unstable', 3, 'unstable', qr/no knee/],
    ['unstable,wrong', 1,  'wrong',    qr/data: wrong data: error 0.5/],
    ['wrong,fact',     1,  'wrong',    qr/data: wrong data: error 0.5/],
    ['die77',          77, 'notrun',   qr/asked to: die77/],
    ['die3',           3,  'unstable', qr/asked to: die3/],
    ['die99',          99, 'failed',   qr/asked to: die99/],
    ['metric,die99',   99, 'failed',   qr/asked to: die99/],
    ['empty',          99, 'failed',   qr/metric probe.rate: no samples/],
    ['twice',          99, 'failed',   qr/check line: a key that stands twice/],
    ['nokey',          99, 'failed',   qr/notrun line: a key that is no key/],
    ['opt',            99, 'failed',   qr/opt line: written twice/],
    ['many',           99, undef,      qr/record: a line of more than 8 MiB/],
);
for my $row (@ends) {
    my ($do, $status, $word, $why) = @$row;

    $run = probe("PROBE \@ --do=$do");
    is($run->{status}, $status, "$do: exit $status");
    like($run->{err}, qr/^probe: (?:warning: unstable: )?$why/m,
        'the reason on stderr');
    unlike($run->{err}, qr/^(?!probe: )./m, 'one line each');
    my $end = line($run, 'end');
    if (!defined $word) {
        ok(!$end, "$do: no end line");
        next;
    }
    is($end->{status}, $word, "$do: end status");
    like($end->{reason}, $why, "$do: and reason");
    unlike(verdict($run), qr/^good/, "$do: the judge does not take it");
}
like(verdict(probe('PROBE @ --do=metric,fact')), qr/^wrong: /,
    'wrong data is wrong to the judge');
like(verdict(probe('PROBE @ --do=metric,unstable')), qr/^spoiled: /,
    'unstable is spoiled');
like(verdict(probe('PROBE @ --do=die77')), qr/^notrun: .*asked to/,
    'not run is not run');
$run = probe('PROBE @ --do=nan');
unlike((lines($run, 'check'))[0], qr/nan/, 'NaN is not written');

# Numbers that are none never reach a record.
for my $samples ('nan', '1,nan', '1,inf,2', '-inf', '1e999') {
    $run = probe("PROBE \@ --samples=$samples");
    is($run->{status}, 99, "samples $samples: exit 99");
    like($run->{err}, qr/metric probe.rate: a sample is not finite/,
        'and why');
    unlike($run->{record}, qr/^(?:metric|sample) /m, 'nothing is written');
    is(line($run, 'end')->{status}, 'failed', 'the run failed');
}
$run = probe('PROBE @ --unit=KB/s');
is($run->{status}, 99, 'a unit that the judge does not know: exit 99');
like($run->{err}, qr{unknown unit 'KB/s'}, 'and why');

# Any text comes back as it was.
my @texts = ('two words', q{"quoted"}, 'back\\slash', "line\nfeed\ttab\rcr",
    "\x01\x1b[31m\x7f", "caf\xc3\xa9 \xe2\x95\x94", "latin \xe9 \xff", 'a=b',
    q{it's $HOME `x`}, "\xed\xa0\x80", '-', '#', ' ', 'host=evil name=x',
    "\xc2\x85", 'end\\', '\\x41', '100%');
for my $text (@texts) {
    (my $quoted = $text) =~ s/'/'\\''/g;
    $run = probe("PROBE \@ --text='$quoted'");
    my $show = $text =~ s/([^ -~]|#)/sprintf '\\x%02x', ord $1/ger;
    is(line($run, 'opt')->{text}, $text, "opt $show");
    is(line($run, 'metric')->{label}, $text, "key $show");
    is(verdict($run), 'good', 'in a good record');
}
$run = probe(qq{PROBE \@ --do=die99 --text='two\nlines \x1b[2J'});
is($run->{err}, "probe: asked to: two?lines ?[2J\n",
    'a message is one line, and harmless');

# Warnings and what was not run.
$run = probe(q{PROBE @ --do=metric,warn,notrun --text='look out'});
is($run->{err}, "probe: warning: look out\n", 'a warning on stderr');
is(line($run, 'warning')->{text}, 'look out', 'and in the record');
is(line($run, 'notrun')->{reason}, 'drained', 'a notrun line');
is(line($run, 'notrun')->{host}, line($run, 'metric')->{host},
    'says for which host');
is(verdict($run), 'good', 'in a good record');

# A record is never overwritten.
$run = probe('echo keep >record; PROBE @; s=$?; cat record; exit $s');
is($run->{status}, 2, 'an existing record: exit 2');
like($run->{err}, qr/^probe: --record: record: File exists$/, 'and why');
is($run->{record}, "keep\n", 'and it is left alone');
$run = probe('PROBE --record=nowhere/record');
is($run->{status}, 99, 'no such directory: exit 99');
like($run->{err}, qr{^probe: --record: nowhere/record: No such file}, 'why');

# Full disks: never an end line, never 0.
SKIP: {
    skip 'no /dev/full', 9 if !-c '/dev/full';
    $run = probe('PROBE --record=/dev/full');
    is($run->{status}, 99, 'the record on a full disk: exit 99');
    is($run->{err}, "probe: /dev/full: No space left on device\n", 'and why');
    $run = probe('PROBE @ --do=metric,print >/dev/full');
    is($run->{status}, 99, 'stdout on a full disk: exit 99');
    like($run->{err}, qr/^probe: standard output: /, 'and why');
    is(line($run, 'end')->{status}, 'failed', 'and the record says so');
    for my $option (qw(--help --version)) {
        $run = probe("PROBE $option >/dev/full");
        is($run->{status}, 99, "$option on a full disk: exit 99");
        like($run->{err}, qr/^probe: standard output: /, 'and why');
    }
}
$run = probe('ulimit -f 1; PROBE @ --text=' . 'x' x 4000);
is($run->{status}, 99, 'a record over the file size limit: exit 99');
is($run->{err}, "probe: record: File too large\n", 'and why');
unlike($run->{record}, qr/^end /m, 'and there is no end line');

# Descriptors that are closed: a record never becomes stdout.
$run = probe('PROBE @ --do=metric,print >&-');
is($run->{status}, 99, 'stdout closed: exit 99');
unlike($run->{record}, qr/figure/, 'nothing strays into the record');
is(line($run, 'end')->{status}, 'failed', 'which says so');
$run = probe('PROBE @ --quiet --do=metric,print >&-');
is($run->{status}, 0, 'stdout closed, but not used: exit 0');
$run = probe('PROBE @ --do=metric,warn 0<&- 2>&-');
is($run->{status}, 0, 'stdin and stderr closed: exit 0');
unlike($run->{record}, qr/^probe:/m, 'nothing strays into the record');
is(verdict($run), 'good', 'which is good');

# A machine that is not this one measures nothing that counts.
$run = probe('HWLOC_SYNTHETIC="pack:2 core:4 pu:1" PROBE @ --do=metric');
my $hwloc = (lines($run, 'env'))[0] !~ / hwloc=none /;
SKIP: {
    skip 'built without hwloc', 6 if !$hwloc;
    is($run->{status}, 0, 'a synthetic machine: exit 0');
    like($run->{err}, qr/^probe: warning: the machine is a recorded one/,
        'with a warning');
    for my $kind (qw(opt metric sample)) {
        is(line($run, $kind)->{functional}, 'yes', "functional=yes: $kind");
    }
    $run = probe('HWLOC_XMLFILE=/nonexistent.xml PROBE @');
    ok($run->{status} == 99 || line($run, 'metric')->{functional} eq 'yes',
        'a machine that can\'t be read: broken, or nothing that counts');
}

# Neither /proc nor /sys: what the kernel itself tells is told, and no more.
my $hidden = 'mount -t tmpfs none /proc && mount -t tmpfs none /sys';
SKIP: {
    skip 'no mount namespace here', 4
        if system("unshare -m sh -c '$hidden' >/dev/null 2>&1") != 0;
    skip 'a sanitizer needs /proc', 4
        if `nm '@{[probe_path()]}' 2>/dev/null` =~ /__asan_init/;
    $run = probe(qq{unshare -m sh -c "$hidden && exec PROBE @"});
    is($run->{status}, $hwloc ? 0 : 99,
        'without /proc and /sys: what hwloc knows, else broken');
    skip 'built without hwloc', 3 if !$hwloc;
    like((lines($run, 'env'))[0], qr/ memory_limit="free memory/,
        'the free memory is known');
    like((lines($run, 'env'))[0], qr/ memory="unknown \(/, 'not all of it');
    unlike((lines($run, 'env'))[0], qr/ (?:cores|sockets|numa_nodes|memory\w*)=0 /,
        'and nothing is said to be none');
}

done_testing();
