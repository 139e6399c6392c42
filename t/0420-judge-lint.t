#!/usr/bin/perl
#
# References with one thing wrong each: file, line and word, exit 2, and
# nothing judged.

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use Test::More;

my $here = dirname(abs_path(__FILE__));
unshift @INC, abs_path($ENV{ASSAY_HARNESS} || "$here/../harness");

require Assay::Lint;
require Assay::Reference;

my $folder = tempdir(CLEANUP => 1);
my %GOOD = (
    metric    => 'stream.triad',
    scope     => 'every node',
    statistic => 'median',
    limit     => '>= 100 GB/s',
);

# Faults and warnings of a text, each without its folder.
sub lint {
    my ($text) = @_;
    open my $file, '>:raw', "$folder/x.ref" or die "x.ref: $!\n";
    print {$file} $text;
    close $file or die "x.ref: $!\n";
    my ($faults, $warnings) = Assay::Lint::check(
        Assay::Reference::load("$folder/x.ref"), '2026-11-30');
    return map { join "\n", map { $_->{text} =~ s{\Q$folder/\E}{}r } @$_ }
        $faults, $warnings;
}

# A clause: the good one, with lines put in, in place of or away from it.
sub clause {
    my ($id, @lines) = @_;
    my %line = map { $_ => "$_ = $GOOD{$_}\n" } keys %GOOD;
    my $more = q{};

    for my $text (@lines) {
        my ($key) = $text =~ /\A([a-z]+) =/;
        if (!defined $key || !exists $line{$key}) { $more .= "$text\n" }
        else { $line{$key} = $text =~ /= -\z/ ? q{} : "$text\n" }
    }
    return "[clause $id]\n" . join(q{}, @line{sort keys %line}) . $more;
}

my @FAULTY = (
    ['limit = -',               'has no limit'],
    ['metric = -',              'has no metric'],
    ['scope = -',               'has no scope'],
    ['statistic = -',           'has no statistic'],
    ['metric = triad',          q{not PROGRAM.NAME: 'triad'}],
    ['metric = stream.*',       'not PROGRAM.NAME'],
    ['scope = all nodes',       q{unknown scope 'all nodes'}],
    ['statistic = average',     q{unknown statistic 'average'}],
    ['statistic = p0',          'is no quantile'],
    ['statistic = p100',        'unknown statistic'],
    ['limit = > 100 GB/s',      'not >= A'],
    ['limit = 100 GB/s',        'not >= A'],
    ['limit = >= 100',          q{no unit after '100'}],
    ['limit = >= 100 KB/s',     q{unknown unit 'KB/s'}],
    ['limit = >= nan GB/s',     'not a number'],
    ['limit = >= 1e999 GB/s',   'out of range'],
    ['limit = >= 0x10 GB/s',    'not a number'],
    ['limit = within 12 .. 10 us', 'empty interval'],
    ['limit = within 1 GB/s .. 10 us', 'different dimensions'],
    ['limit = report',          'not >= A'],
    ['take = worst',            q{unknown word 'worst'}],
    ['runs = 0',                'not a whole number from 1 up'],
    ['runs = 3x',               'not a whole number'],
    ['spoiled = -1',            'not a whole number from 0 up'],
    ['tolerance = -5 %',        'negative'],
    ['tolerance = 5',           'no unit'],
    ['tolerance = 5 us',        'tolerance 5 us against a limit in GB/s'],
    ['tolerance = 100 %',       'tolerance 100 % leaves nothing of >= 100 GB/s'],
    ['tolerance = 0.2 TB/s',    'leaves nothing of'],
    ['ceiling = 5 us',          'ceiling 5 us against a limit in GB/s'],
    ['ceiling = 50 GB/s',       'ceiling 50 GB/s is below limit >= 100 GB/s'],
    ['floor = 500 GB/s', 'ceiling = 400 GB/s', 'is above ceiling'],
    ['confidence = 95 %',       'is too few: median at 95 % needs 6'],
    ['confidence = 95 %', 'runs = 5', 'needs 6'],
    ['confidence = 100 %', 'runs = 9', 'not between 0 and 100 %'],
    ['confidence = 95', 'runs = 9', 'not a percentage'],
    ['confidence = 95 %', 'runs = 9', 'statistic = mean',
        'confidence is for median and pNN, not mean'],
    ['waiver = ACME',           'not WHO, WHY, until'],
    ['waiver = ACME, broken, until 2026-02-30', 'not a date'],
    ['rule = threads',          'not KEY OPERATOR VALUE'],
    ['rule = 1 >= 2',           'names no key'],
    ['relative to = fleet mean', q{neither 'fleet median' nor}],
    ['relative to = fleet median', 'the limit must be in %, not GB/s'],
    ['relative to = stream.triad', 'limit = >= 95 %', 'relative to itself'],
    ['relative to = fleet median', 'limit = >= 95 %', 'scope = system',
        'needs a scope of many places'],
    ['statistic = cv', 'runs = 2', 'the limit must be in %'],
    ['statistic = cv', 'limit = <= 5 %', 'cv needs runs = 2 or more'],
    ['across = sum',            'across goes with scope = system alone'],
    ['across = total', 'scope = system', q{unknown word 'total'}],
    ['where = threads',         'malformed'],
    ['where = threads=1 threads=2', 'a key stands twice'],
    ['where = functional=maybe', 'functional=maybe: yes or no'],
    ['each = 8',                q{not a key: '8'}],
    ['each = msgsize msgsize',  q{'msgsize' stands twice}],
    ['each = median',           q{'median' is what was measured}],
    ['where = value=120000',    q{'value' is what was measured}],
    ['each = host',             'which is a place'],
    ['each = threads', 'where = threads=10', 'which where fixes'],
    ['limit[msgsize=8] = <= 1 us', 'limits of more than one dimension'],
    ['limit[msgsize=8] = >= 1 GB/s', q{'msgsize' is not in each}],
    ['each = msgsize', 'limit[msgsize=8] = >= 1 GB/s',
        'limit[msgsize=8] = >= 2 GB/s', 'stands twice in the clause'],
    ['each = a b', 'limit[a=1] = >= 1 GB/s', 'limit[b=1] = >= 2 GB/s',
        'fit the same rows'],
    ['tolerance[x=1] = 5 %',    'unknown key'],
    ['take = best', 'take = value', 'take stands twice'],
    ['frobnicate = yes',        q{unknown key 'frobnicate'}],
    ['take =',                  'take without a value'],
    ['and so on',               'not KEY = VALUE'],
    ["take = best\r",           'carriage return'],
    ["note = a\0b",             'NUL byte'],
    ["note = a\e[2J",           'control character'],
    ["note = \xff",             'not UTF-8'],
);

for my $case (@FAULTY) {
    my ($why, @lines) = (pop @{[@$case]}, @$case[0 .. $#$case - 1]);
    my ($faults) = lint(clause('1', @lines));
    like($faults, qr/^x\.ref:\d+: .*\Q$why\E/m, "@lines: $why"
            =~ s/[^\x20-\x7e]/?/gr);
}

# The line of the fault is the line that says so.
my ($faults) = lint("# a\nsystem = x\n\n" . clause('1', 'take = worst'));
like($faults, qr/^x\.ref:9: take: unknown word 'worst'/, 'the right line');
($faults) = lint(clause('1') . "\n" . clause('1'));
like($faults, qr/^x\.ref:7: clause 1 is doubled: also at \S+x\.ref:1/,
    'a doubled clause');
($faults) = lint(clause('1') . clause('2', 'limit = <= 90 GB/s'));
like($faults, qr/clause 2: <= 90 GB\/s contradicts clause 1: >= 100 GB\/s/,
    'clauses that can not both hold');
($faults) = lint("frob = 1\n" . clause('1'));
like($faults, qr/^x\.ref:1: unknown key 'frob' before the first clause/,
    'an unknown heading');
($faults) = lint("[claws 1]\n" . clause('1'));
like($faults, qr/^x\.ref:1: not \[clause ID\]/, 'an unknown section');
($faults) = lint(q{});
like($faults, qr/^x\.ref:1: no clause/, 'an empty file');
($faults) = lint("\xef\xbb\xbf" . clause('1'));
like($faults, qr/^x\.ref:1: byte order mark/, 'a byte order mark');

# What is right is let through.
for my $lines (
    [], ['limit = report only'], ['statistic = p99.5'],
    ['limit = within 10 .. 12 us'], ['limit = within -1 .. 1 %'],
    ['limit = >= 100 GB/s   # a comment'], ['note = issue#7 # a comment'],
    ['confidence = 95 %', 'runs = 6'], ['confidence = 50 %', 'runs = 2'],
    ['confidence = 95 %', 'take = samples'],
    ['waiver = ACME, it is, as they say, broken, until 2026-12-31'],
    ['rule = array_bytes >= 4 x cache_bytes', 'rule = pin = "compact"'],
    ['each = msgsize', 'limit[msgsize=8] = >= 1 GB/s'],
    ['each = msgsize', 'limit = -', 'limit[msgsize=8] = >= 1 GB/s'],
    ['where = cpu="AMD EPYC # 7742"'],
    ['relative to = fleet median', 'limit = >= 95 %'],
    ['relative to = stream.triad where colocales=1', 'limit = >= 120 %',
        'where = colocales=2', 'ceiling = 900 GB/s'],
    ['scope = system', 'across = sum'], ['tolerance = 500 MB/s'],
) {
    my ($none, $warnings) = lint(clause('1', @$lines));
    is("$none$warnings", q{}, "fine: @$lines");
}
my ($none, $warnings)
    = lint(clause('1', 'waiver = ACME, broken, until 2026-11-29'));
is($none, q{}, 'an expired waiver is no fault');
like($warnings, qr/warning|waiver expired on 2026-11-29/, 'but a warning');
($none, $warnings)
    = lint(clause('1', 'waiver = ACME, broken, until 2026-11-30'));
is($warnings, q{}, 'its last day is not yet past');

done_testing();
