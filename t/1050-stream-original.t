#!/usr/bin/perl
#
# The user's own stream.c beside ours: built as told, run in turn, read
# strictly, and not believed unless it validates.

use 5.014;
use strict;
use warnings;

use Cwd qw(getcwd);
use FindBin qw($Bin);
use lib $Bin;
use Stream;
use Test::More;
use Time::HiRes qw(sleep);

my $cc = compiler();
plan skip_all => 'no C compiler here' if !$cc;
my $openmp = system("echo 'int main(void) { return 0; }' >omp.c; "
        . "$cc -fopenmp omp.c -o omp >/dev/null 2>&1") == 0;
plan skip_all => "$cc has no OpenMP" if !$openmp;

mkdir 'tmp' or die;
local $ENV{TMPDIR} = 'tmp';

my $standin = source('t/data/stream/standin.c');
my $small = "--elements=200000 --repetitions=3 --rounds=2 --mode=original --compiler=$cc";
my $rate = qr/\d+\.\d/;

my $run = stream("STREAM @ $small --original='$standin' --flags='-O2  -DEXTRA=1' --threads=2");
is($run->{status}, 0, 'a stand-in: exit 0');
is(verdict($run), 'good', 'a good record');
my $rows = join q{}, map { "$_: +$rate +$rate +\\d+\\.\\d{3}\n" }
    qw(Copy Scale Add Triad);
like($run->{out}, qr/^# original: $cc -O2 -DEXTRA=1 -DSTREAM_ARRAY_SIZE=200000 -DNTIMES=3\n# best of 2 rounds in turn, 1 thread,.*\nFunction +original +assay +ratio\n$rows/m,
    'one thread, both and their ratio');
like($run->{out}, qr/^# original: .* -fopenmp .*\n#.* 2 threads,.*\nFunction.*\n$rows/m,
    'two threads, too');
for my $source (qw(original assay)) {
    for my $threads (1, 2) {
        my ($copy) = grep { ($_->{source} // q{}) eq $source
            && $_->{threads} == $threads } metrics($run, 'copy');
        is($copy->{n}, 2, "$source, $threads: a sample a round");
        is($copy->{write_allocate}, 'no', 'counted alike');
    }
}
my ($ratio) = metrics($run, 'triad_ratio');
my ($ours) = grep { ($_->{source} // q{}) eq 'assay' } metrics($run, 'triad');
my ($theirs) = grep { ($_->{source} // q{}) eq 'original' }
    metrics($run, 'triad');
cmp_ok(abs($ratio->{value} - 100 * $ours->{best} / $theirs->{best}), '<', 1e-6,
    'the ratio is that of the best, in %');
is($ratio->{unit}, '%', 'and says so');
ok(unique($run, $_), "each $_ line is told from the others")
    for qw(metric sample check);
is((() = glob('tmp/*')), 0, 'nothing is left in TMPDIR');

# Where it runs: our CPUs, and no other binding of the user's.
open my $places, '>', 'places.c' or die;
print {$places} <<'END';
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    const char *places = getenv("OMP_PLACES"), *gomp = getenv("GOMP_CPU_AFFINITY");
    fprintf(stderr, "threads %s places %s gomp %s\n", getenv("OMP_NUM_THREADS"),
            places ? places : "none", gomp ? gomp : "none");
    puts("Copy: 1.2e+05\nScale: 1.2E5\nAdd: 120000\nTriad: 120000.");
    puts("Solution Validates: yes");
    return 0;
}
END
close $places or die;
$run = stream("GOMP_CPU_AFFINITY=0 STREAM @ $small --original=places.c --threads=2");
like($run->{err}, qr/^threads 2 places \{\d+\},\{\d+\} gomp none$/m,
    'its threads are placed as ours');
is($run->{status}, 0, 'numbers in any spelling');
for my $name (qw(copy scale add triad)) {
    my ($metric) = grep { ($_->{source} // q{}) eq 'original' }
        metrics($run, $name);
    is($metric->{value}, 120000, "$name is read as 120000");
}
like($run->{err}, qr/does not say how long its arrays are/,
    'what it does not say is warned about');
$run = stream("STREAM $small --original=places.c --threads=2 --pin=none");
like($run->{err}, qr/^threads 2 places none/m, '--pin=none places neither');

# What is not believed.  The compiler is one that answers every source with the
# program that prints these lines and ends with that status.
open my $printer, '>', 'printer.c' or die;
print {$printer} <<'END';
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    fputs(getenv("LINES"), stdout);
    return atoi(getenv("STATUS"));
}
END
close $printer or die;
system("$cc printer.c -o printer") == 0 or die;
open my $fake, '>', 'fakecc' or die;
print {$fake} "#!/bin/sh\n"
    . "while [ \$# -gt 0 ]; do [ \"\$1\" = -o ] && out=\$2; shift; done\n"
    . "cp printer \"\$out\"\n";
close $fake or die;
chmod 0755, 'fakecc';
my $good = 'Copy: 1\nScale: 1\nAdd: 1\nTriad: 1\n';
my $valid = 'Solution Validates: avg error less\n';
my @bad = (
    ['no verdict',     $good,                                0],
    ['failed',         $good . 'Failed Validation on a[]\n', 0],
    ['both verdicts',  $good . $valid . 'Failed Validation on b[]\n', 0],
    ['exit 1',         $good . $valid,                       1],
    ['a row less',     'Copy: 1\nScale: 1\nAdd: 1\n' . $valid, 0],
    ['a row twice',    $good . $good . $valid,               0],
    ['nan',            'Copy: nan\nScale: 1\nAdd: 1\nTriad: 1\n' . $valid, 0],
    ['inf',            'Copy: 1\nScale: inf\nAdd: 1\nTriad: 1\n' . $valid, 0],
    ['zero',           'Copy: 1\nScale: 1\nAdd: 0.0\nTriad: 1\n' . $valid, 0],
    ['negative',       'Copy: 1\nScale: 1\nAdd: -5\nTriad: 1\n' . $valid, 0],
    ['trailing junk',  'Copy: 1x\nScale: 1\nAdd: 1\nTriad: 1\n' . $valid, 0],
    ['another size',   'Array size = 9 (elements)\n' . $good . $valid, 0],
    ['other threads',  'Number of Threads counted = 7\n' . $good . $valid, 0],
    ['a huge size',    'Array size = 1e300\n' . $good . $valid, 0],
    ['nothing',        q{},                                  0],
);
for my $case (@bad) {
    my ($what, $lines, $status) = @$case;

    local $ENV{LINES} = $lines =~ s/\\n/\n/gr;
    local $ENV{STATUS} = $status;
    $run = stream('STREAM @ --elements=200000 --repetitions=2 --rounds=1 '
        . '--mode=original --original=printer.c --compiler=./fakecc --threads=1');
    is($run->{status}, 1, "$what: exit 1");
    is(field($run, 'end', 'status'), 'wrong', "$what: wrong");
    unlike(verdict($run), qr/^good/, "$what: not believed");
    unlike($run->{record}, qr/_ratio/, "$what: no ratio")
        if $what !~ /verdict|failed|exit|size|threads/;
}

# A stand-in that never ends goes with us. It says who it is.
my $child_file = getcwd() . '/child';
open my $endless, '>', 'endless.c' or die;
print {$endless} <<"END";
#include <stdio.h>
#include <unistd.h>
int main(void)
{
    FILE *file = fopen("$child_file", "w");
    fprintf(file, "%d\\n", (int)getpid());
    fclose(file);
    for (;;)
        pause();
}
END
close $endless or die;
system("$cc endless.c -o printer") == 0 or die;
$run = stream('STREAM @ --elements=200000 --repetitions=2 --rounds=1 '
    . '--mode=original --original=printer.c --compiler=./fakecc --threads=1 '
    . '>/dev/null & pid=$!; n=0; until [ -s child ] || [ $n -ge 30 ]; do '
    . 'sleep 1; n=$((n + 1)); done; kill $pid; wait $pid');
is($run->{status}, 143, 'terminated while the original runs');
my ($child) = (slurp('child') // q{}) =~ /(\d+)/;
for (1 .. 30) {
    last if !$child || (slurp("/proc/$child/stat") // q{ Z }) =~ /[ ]Z[ ]/;
    sleep 0.1;
}
ok($child && (slurp("/proc/$child/stat") // q{ Z }) =~ /[ ]Z[ ]/,
    'which ends too');

# Terminated while a compiler runs.
open my $slow, '>', 'slowcc' or die;
print {$slow} "#!/bin/sh\n: >started\nexec sleep 30\n";
close $slow or die;
chmod 0755, 'slowcc';
$run = stream('STREAM @ --elements=200000 --repetitions=2 --rounds=1 '
    . '--mode=original --original=printer.c --compiler=./slowcc --threads=1 '
    . '& pid=$!; n=0; until [ -e started ] || [ $n -ge 300 ]; do '
    . 'sleep 0.1; n=$((n + 1)); done; kill $pid; wait $pid');
is($run->{status}, 143, 'terminated while it is compiled');
for (1 .. 100) {
    last if !(() = glob 'tmp/*');
    sleep 0.1;
}
is((() = glob('tmp/*')), 0, 'nothing is left in TMPDIR');

# A daemon that it leaves behind is not waited for.
open my $daemon, '>', 'daemon.c' or die;
print {$daemon} <<'END';
#include <stdio.h>
#include <unistd.h>
int main(void)
{
    puts("Copy: 1\nScale: 1\nAdd: 1\nTriad: 1\nSolution Validates: x");
    fflush(stdout);
    if (fork() == 0)
        sleep(20);
    return 0;
}
END
close $daemon or die;
system("$cc daemon.c -o printer") == 0 or die;
my $before = time;
$run = stream('STREAM @ --elements=200000 --repetitions=2 --rounds=1 '
    . '--mode=original --original=printer.c --compiler=./fakecc --threads=1');
is($run->{status}, 0, 'a daemon holds its output');
cmp_ok(time - $before, '<', 15, 'and is not waited for');

# What is made and can't be run.
$run = stream("STREAM @ $small --original='$standin' --flags=-c");
is($run->{status}, 77, 'an object file: exit 77, not wrong data');
like($run->{err}, qr/made no program that can be run here/, 'and why');
is(stream("STREAM $small --original=$_")->{status}, 2, "$_: no plain file")
    for '/dev/zero', '/';

# What can't be built, or fetched.
open my $broken, '>', 'broken.c' or die;
print {$broken} "int main(void) { return nothing; }\n";
close $broken or die;
$run = stream("STREAM @ $small --original=broken.c");
is($run->{status}, 99, 'does not compile: exit 99');
$run = stream('STREAM --elements=1000 --mode=original --original=places.c --compiler=no-such-cc');
is($run->{status}, 77, 'no such compiler: exit 77');
like($run->{err}, qr/'no-such-cc .*' can't be run/, 'and which');
$run = stream("STREAM $small --original='x; touch hacked.c'");
is($run->{status}, 2, 'a name is a name');
ok(!-e 'hacked.c', 'and never a command');
is(stream("STREAM $small --original=ftp://localhost/stream.c")->{status}, 2,
    'only http and https are fetched');
mkdir 'bin' or die;
$run = stream("PATH=bin STREAM --elements=1000 --mode=original --original=https://localhost:1/x.c");
is($run->{status}, 77, 'no curl: exit 77');
like($run->{err}, qr/curl is not on the path/, 'says so');

# A stand-in for curl that "fetches": what it is told, and what it got.
open my $curl, '>', 'bin/curl' or die;
print {$curl} "#!/bin/sh\necho \"curl \$*\" >&2\n"
    . "while [ \$# -gt 0 ]; do [ \"\$1\" = -o ] && out=\$2; shift; done\n"
    . "cat places.c >\"\$out\"\n";
close $curl or die;
chmod 0755, 'bin/curl';
$run = stream("PATH=\"bin:\$PATH\" STREAM $small --original=https://example.org/stream.c --threads=1");
is($run->{status}, 0, 'a URL is fetched');
like($run->{err}, qr/^curl -fsSL --proto =https,http .*--url https:\/\/example\.org\/stream\.c$/m,
    'by http or https alone');
is((() = glob('tmp/*')), 0, 'nothing is left in TMPDIR');

done_testing();
