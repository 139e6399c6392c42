#!/usr/bin/perl
#
# What every program does with its command line.

use 5.014;
use strict;
use warnings;

use FindBin qw($Bin);
use lib $Bin;
use Probe;
use Test::More;

for my $help (qw(--help -h), '--help --bad', '--count=7 --help', '-mlh') {
    my $run = probe("PROBE $help");
    is($run->{status}, 0, "$help: exit 0");
    is($run->{err}, q{}, 'nothing on stderr');
    like($run->{out}, qr/\Ausage: probe \[OPTION\]\.\.\.\n\n/, 'usage');
    unlike($run->{out}, qr/^.{80}/m, 'within 80 columns');
    like($run->{out}, qr/--count=N +a whole number \(default: 2\)/,
        'defaults are the program\'s, not the command line\'s');
}
my $help = probe('PROBE --help')->{out};
for my $option (qw(do samples unit median lower count size real-number colour
    text record quiet help version))
{
    like($help, qr/--\Q$option\E\b/, "--help names --$option");
}

for my $version (qw(--version -V)) {
    like(probe("PROBE $version")->{out}, qr/\Aprobe \(assay\) \d\S*\n\z/,
        $version);
}

my %bad = (
    '--bad'               => q{'--bad' is no option (see --help)},
    '--bad --help'        => q{'--bad' is no option (see --help)},
    '--coun=3'            => q{'--coun=3' is no option (see --help)},
    '--count=64x'         => q{--count: '64x' is not a whole number, 1 to 64},
    '--count=65'          => q{--count: '65' is not a whole number, 1 to 64},
    '-c 0'                => q{-c: '0' is not a whole number, 1 to 64},
    '--count=""'          => q{--count: '' is not a whole number, 1 to 64},
    '--size=1Q'           => q{--size: '1Q' is not a size (a whole number, }
        . q{or one with K, M, G or T), 8 to 1M},
    '--real-number=nan'   => q{--real-number: 'nan' is not a number, -1 to 1.5},
    '--real-number=1,5'   => q{--real-number: '1,5' is not a number, -1 to 1.5},
    '--colour=pink'       => q{--colour: 'pink' is none of: red, green, blue},
    '--median=yes'        => q{--median takes no value: 'yes'},
    '-c1 -c2'             => q{-c: '2' contradicts the one given before},
    '--record'            => q{--record needs a value: --record=VALUE }
        . q{(one that begins with a dash only so)},
    'operand'             => q{'operand': no operand is taken},
    '-- operand'          => q{'operand': no operand is taken},
    '"$(printf "a\nb")"'  => q{'a?b': no operand is taken},
);
for my $words (sort keys %bad) {
    my $run = probe("PROBE $words");
    is($run->{status}, 2, "$words: exit 2");
    is($run->{err}, "probe: $bad{$words}\n", 'the bad word, and what is right');
    is($run->{out}, q{}, 'nothing on stdout');
}
my $run = probe('PROBE @ --count=x');
is($run->{record}, undef, 'a usage error leaves no record');

$run = probe('PROBE @ --size=64K --real-number -0.5 -kblue --text=');
is($run->{status}, 2, 'an empty text: exit 2');
$run = probe('PROBE @ --size=64K --real-number -0.5 -kblue -mt "a b"');
is((lines($run, 'opt'))[0], 'opt samples=101,97,103,99 unit=MB/s median=yes '
        . 'lower=no count=2 size=65536 real_number=-0.5 colour=blue '
        . 'text="a b"', 'the opt line has the values, in exact numbers');

# No locale has a say. The test needs one with a decimal comma.
SKIP: {
    my ($comma) = grep {/^(?:de_DE|fr_FR)[.]?(?:utf-?8)?$/i}
        split /\n/, qx(locale -a 2>/dev/null);
    skip 'no locale with a decimal comma is installed', 1 if !defined $comma;
    $run = probe("LC_ALL=$comma PROBE \@ --real-number=0.5 --samples=1.5");
    like((lines($run, 'opt'))[0], qr/real_number=0\.5 /, "in $comma");
}

done_testing();
