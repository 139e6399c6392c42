#!/usr/bin/perl
#
# Numbers, units and statistics: what the judge computes with.

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp ();
use Test::More;

my $here = dirname(abs_path(__FILE__));
unshift @INC, abs_path($ENV{ASSAY_HARNESS} || "$here/../harness");

require Assay::Record;
require Assay::Rule;
require Assay::Stats;
require Assay::Tap;
require Assay::Text;
require Assay::Units;

# A number is decimal, finite, and the whole text.
my %number = (
    '1.2e+05' => 120000, '1.2E5' => 120000, '120000' => 120000,
    '120000.' => 120000, '.5' => 0.5, '-3' => -3, '+3' => 3, '0' => 0,
    '0e0' => 0, '-0' => 0, '1e308' => 1e308,
);
is(Assay::Units::finite_number($_), $number{$_}, "$_ is a number")
    for sort keys %number;
is(Assay::Units::finite_number($_), undef, "'$_' is no number")
    for q{}, q{ }, ' 1', '1 ', "1\n", 'nan', 'NaN', 'inf', '-inf', '0x10',
    '1e999', '-1e999', '1e-999', '1,5', '1_000', '--1', '1e', 'e5', q{.},
    '1.2.3', '1MB', "\xd9\xa1";

# Units convert within a dimension, and only there.
sub base { return (Assay::Units::parse_quantity($_[0]))[0]{base} }
for my $pair (['1000 MB/s', '1 GB/s'], ['1024 MiB/s', '1 GiB/s'],
    ['1048576 B/s', '1 MiB/s'], ['1000 kB/s', '1 MB/s'], ['600 ns', '0.6 us'],
    ['1500 us', '1.5 ms'], ['1 s', '1000 ms'], ['1.2 x', '120 %'],
    ['82 Kmsg/s', '82000 msg/s'], ['0.125 GUPS', '125 MUPS'],
    ['32 MiB', '33554432 B'], ['2 TB', '2000 GB']) {
    is(Assay::Units::compare(map { base($_) } @$pair), 0, "@$pair are equal");
}
for my $text ('5', '5 KB/s', '5 frob', 'five us', '5 us us', 'us') {
    my ($none, $why) = Assay::Units::parse_quantity($text);
    ok(!defined $none && $why, "'$text' is refused: $why");
}
isnt(Assay::Units::dimension('MB/s'), Assay::Units::dimension('MB'),
    'a rate is no size');
isnt(Assay::Units::dimension('entries'), Assay::Units::dimension('count'),
    'entries are no iterations');
is(Assay::Units::compare(0.1 + 0.2, 0.3), 0, 'rounding decides nothing');
is(Assay::Units::compare(1, 1 + 1e-9), -1, 'a real difference does');
is(Assay::Units::compare(0, 1e-30), -1, 'so does a small one near zero');
is_deeply([Assay::Units::show_against(99_999_999e3, 100e9, 'GB/s')],
    ['99.999999', '100'], 'a figure never looks equal to a bound it misses');

# The median of an even count is the mean of the two in the middle.
is(Assay::Stats::median(101, 97, 103, 99), 100, 'median of four');
is(Assay::Stats::median(101153.8, 100908.0, 100516.0, 100549.5), 100728.75,
    'median of four, unsorted');
is(Assay::Stats::median(7), 7, 'median of one');
is(Assay::Stats::median(7, 9), 8, 'median of two');
is(Assay::Stats::median(9, 7, 8), 8, 'median of three');
is(Assay::Stats::quantile(0.25, 1 .. 5), 2, 'quartile');
is(Assay::Stats::quantile(0.1, 10, 20), 11, 'quantile between two');
is(Assay::Stats::quantile(0.99, 5), 5, 'quantile of one');
is(Assay::Stats::mean(1, 2, 6), 3, 'mean');
is(Assay::Stats::mean(1e308, 1e308), 1e308, 'mean of huge values');
cmp_ok(abs(Assay::Stats::cv(90, 100, 110) - 0.1), '<', 1e-12, 'cv');
is(Assay::Stats::cv(5), undef, 'cv of one value is none');
is(Assay::Stats::cv(-1, 1), undef, 'cv around zero is none');
for my $name (qw(mean median)) {
    ok(!eval { Assay::Stats->can($name)->(); 1 }, "$name of nothing croaks");
}

# Order-statistic intervals of the median.
is_deeply([Assay::Stats::interval(1, 0.5, 0.5)], [], 'one value has none');
is_deeply([Assay::Stats::interval(2, 0.5, 0.5)], [1, 2, 0.5],
    'two values cover 50 %');
is_deeply([Assay::Stats::interval(5, 0.5, 0.95)], [], 'five do not reach 95 %');
is_deeply([Assay::Stats::interval(6, 0.5, 0.95)], [1, 6, 0.96875],
    'six cover 96.875 %');
my ($low, $high, $coverage) = Assay::Stats::interval(20, 0.5, 0.95);
is("$low $high", '6 15', 'of twenty, the sixth and the fifteenth');
cmp_ok(abs($coverage - 0.9586105346679688), '<', 1e-12, 'and their coverage');
($low, $high, $coverage) = Assay::Stats::interval(10_000, 0.5, 0.95);
cmp_ok(abs($coverage - 0.95), '<', 0.005, 'many values come close to 95 %');
is(Assay::Stats::least_count(0.5, 0.95), 6, 'a median at 95 % needs six');
is(Assay::Stats::least_count(0.5, 0.99), 8, 'a median at 99 % needs eight');
is(Assay::Stats::least_count(0.95, 0.95), 72, 'p95 at 95 % needs 72');

# What others wrote is shown, not obeyed.
is(Assay::Text::printable("a\e[2J\x07"), 'a\x{1b}[2J\x{7}', 'escapes');
is(Assay::Text::printable("\xc3\xa4"), "\xc3\xa4", 'a letter stays');
is(Assay::Text::printable("\xe2\x80\xae."), '\x{202e}.', 'no right-to-left');
is(Assay::Text::printable("\xc2\x9b1m"), '\x{9b}1m', 'no C1 control');
is(Assay::Text::printable("\xff"), '\x{ff}', 'no stray byte');
is(Assay::Tap::escape('x # SKIP \\'), 'x \\# SKIP \\\\', 'no directive');
is(Assay::Tap::scalar_text('a: b'), '"a: b"', 'no second key');
is(Assay::Tap::scalar_text("a\nb"), '"a\\\\x{a}b"', 'no second line');
is(Assay::Tap::scalar_text('22.1 GB/s'), '22.1 GB/s', 'plain stays plain');
is(Assay::Tap::scalar_text('say "hi"'), '"say \\"hi\\""', 'quotes');

# Fields.
is_deeply([Assay::Text::split_fields(' a=1 b="x y" c= d=e=f')],
    [{a => 1, b => 'x y', c => q{}, d => 'e=f'}], 'fields');
for my $text ('a=1', ' a', ' a=1 a=2', ' a="', ' a="x"y', ' =1', ' 1=2',
    ' a="\q"', ' a=x"y"') {
    my ($none, $why) = Assay::Text::split_fields($text);
    ok(!$none && $why, "'$text' are no fields");
}

# Rules that can't be read.
for my $text ('a', 'a >= ', '>= 1', '1 >= 2', 'a >= "x"', 'a >= 5 frob',
    'a ~ 5', 'a >= b c', 'a = "\q"') {
    my ($none, $why) = Assay::Rule::parse($text);
    ok(!$none && $why, "'$text' is no rule");
}

# A metric and its samples as libassay writes them are read the short way; with
# another blank, the long way; behind records that are alike, as one page with
# the lines around it.  All find the same faults.
my @KEY = qw(value n best min q1 median q3 max samples);
my $found;

sub figures_fault {
    my ($blank, %with) = @_;
    my %f = (value => '9.5', n => 4, best => '9.5', min => '7.5', q1 => '8.0',
        median => '8.5', q3 => '9.0', max => '9.5',
        samples => '8.0,9.0,7.5,9.5', %with);
    my $file = File::Temp->new;
    my $twice = $with{twice} || q{};

    $found = 0;
    print {$file} 'record version=1 bench=x', "\ncheck name=data ok=yes\n",
        (map { "metric name=$_ value=3 unit=s n=1 best=3 min=3 q1=3 median=3 "
                . "q3=3 max=3 host=n1 threads=4\n" } 'before', $twice || ()),
        'metric name=m', "$blank value=$f{value} unit=GB/s",
        (map {" $_=$f{$_}"} @KEY[1 .. 7]), " host=n1 threads=4\n",
        'sample name=m', "$blank unit=GB/s values=$f{samples} ",
        "host=n1 threads=4\nend status=ok\n" or die "$file: $!\n";
    close $file or die "$file: $!\n";
    my $record = Assay::Record->new(
        path   => $file->filename,
        known  => $with{known},
        metric => sub { $found++ },
        plan   => sub { return {take => sub { $found++ }} },
    )->read_file();
    return $record->{class} eq q{} ? "good, $found found" : $record->{why};
}

my @odd = (qw(1.2.3 1-2 -9.5 . - 9.4 9.51 100.5 1e1 nan .5 10 9.5.),
    '0.' . '0' x 330 . '1', '1' x 310, '1' x 41, '09.5');
for my $key (@KEY) {
    for my $odd (@odd, $key eq 'n' ? (0, 1, 3) : ()) {
        my %with = ($key => $key eq 'samples' ? "8.0,9.0,7.5,$odd" : $odd);
        my $what = "$key " . substr $odd, 0, 20;
        my $fault = figures_fault(q{ }, %with);
        is(figures_fault(q{}, %with), $fault, "$what either way");
        is(figures_fault(q{}, %with, known => page()), $fault,
            "$what on a page");
    }
}

# What is known when two records had the page.
sub page {
    my %known;
    figures_fault(q{}, known => \%known) for 1, 2;
    return \%known;
}

is(figures_fault(q{}), 'good, 2 found', 'figures that agree are good');
is(figures_fault(q{}, known => page()), 'good, 2 found', 'so they are on a page');
is(figures_fault(q{}, samples => '8.0,9.0,7.50,9.5'), 'good, 2 found',
    'with more digits, too');
is(figures_fault(q{}, known => page(), twice => 'other'), 'good, 3 found',
    'another line is no part of the page');
like(figures_fault(q{}, known => page(), twice => 'before'),
    qr{line 4: metric before stands twice}, 'a line of a page stands twice');
for my $known (undef, page()) {
    like(figures_fault(q{}, known => $known, twice => 'm'),
        qr/line 5: metric m stands twice/, 'a metric stands twice');
}
for my $wrong ([median => '8.9'], [q1 => '8.9'], [max => '9.9'], [n => 5],
    [samples => '8.0,9.0,7.5,9.5,8.5'], [samples => '8.0,9.0,7.0,9.5'],
    [samples => '8.0,9.0,7.5,1.2.3'], [samples => '10.0,9.0,7.5,9.5'],
    [min => '0.0', samples => '8.0,9.0,9.5,0.' . '0' x 330 . '1'],
    [value => '-5.0', best => '-5.0', min => '-1.0', q1 => '-2.0',
        median => '-3.0', q3 => '-4.0', max => '-5.0',
        samples => '-1.0,-2.0,-4.0,-5.0']) {
    isnt(figures_fault(q{}, @$wrong), 'good, 2 found',
        substr("@$wrong", 0, 60) . ' is a fault');
}

done_testing();
