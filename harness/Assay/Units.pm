package Assay::Units;

# Numbers and units as records and references write them.

use strict;
use warnings;

use Exporter qw(import);

our @EXPORT_OK = qw(compare dimension finite_number parse_quantity scale
    show show_against);

my $NUMBER = qr/[+-]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+)(?:[eE][+-]?[0-9]+)?/;

# Two figures closer than this, relative to their size, are equal: it is far
# below what any program prints, and far above the rounding of a conversion.
my $EQUAL = 1e-12;

my @DECIMAL = ([q{} => 1], [K => 1e3], [M => 1e6], [G => 1e9], [T => 1e12],
    [P => 1e15]);
my @BINARY = map { ["$_->[0]i" => 1024**$_->[1]] }
    (['K', 1], ['M', 2], ['G', 3], ['T', 4], ['P', 5]);

# unit => [dimension, size in the dimension's base unit]
my %UNIT = (
    ns         => ['time',       1],
    us         => ['time',       1e3],
    ms         => ['time',       1e6],
    s          => ['time',       1e9],
    q{%}       => ['ratio',      1],
    x          => ['ratio',      100],
    ratio      => ['ratio',      100],
    entries    => ['entries',    1],
    iterations => ['iterations', 1],
    count      => ['count',      1],
    _prefixed('B',      'size',          \@DECIMAL, \@BINARY),
    _prefixed('B/s',    'data rate',     \@DECIMAL, \@BINARY),
    _prefixed('msg/s',  'message rate',  \@DECIMAL),
    _prefixed('op/s',   'operation rate', \@DECIMAL),
    _prefixed('FLOP/s', 'compute rate',  \@DECIMAL),
    _prefixed('UPS',    'update rate',   \@DECIMAL),
);

# Kilobytes are kB (1000) or KiB (1024); KB could be either and is unknown.
# Where no binary multiple exists K and k are both 1000.
sub _prefixed {
    my ($unit, $dimension, @tables) = @_;
    my $bytes = $unit =~ /\AB/;
    my @made;

    for my $row (map {@$_} @tables) {
        my ($prefix, $size) = @$row;
        push @made, "k$unit" => [$dimension, $size] if $prefix eq 'K';
        next if $prefix eq 'K' && $bytes;
        push @made, "$prefix$unit" => [$dimension, $size];
    }
    return @made;
}

sub dimension {
    my ($unit) = @_;
    return $UNIT{$unit} ? $UNIT{$unit}[0] : undef;
}

sub scale {
    my ($unit) = @_;
    return $UNIT{$unit} ? $UNIT{$unit}[1] : undef;
}

sub finite_number {
    my ($text) = @_;

    return if !defined $text || $text !~ /\A$NUMBER\z/;
    my $number = 0 + $text;
    return if !($number - $number == 0);
    return if $number == 0 && $text =~ /\A[^eE]*[1-9]/;
    return $number;
}

sub parse_quantity {
    my ($text) = @_;

    my ($digits, $unit) = $text =~ /\A($NUMBER)\s*(\S*)\z/
        or return (undef, "not a number and unit: '$text'");
    my $number = finite_number($digits);
    return (undef, "number out of range: '$digits'") if !defined $number;
    return (undef, "no unit after '$digits'") if $unit eq q{};
    return (undef, "unknown unit '$unit'") if !$UNIT{$unit};
    return {
        number    => $number,
        unit      => $unit,
        dimension => $UNIT{$unit}[0],
        base      => $number * $UNIT{$unit}[1],
        text      => "$digits $unit",
    };
}

sub compare {
    my ($one, $two) = @_;
    my ($size, $other) = (abs $one, abs $two);

    $size = $other if $other > $size;
    return 0 if abs($one - $two) <= $EQUAL * $size;
    return $one <=> $two;
}

sub show {
    my ($base, $unit) = @_;
    my $scale = defined $unit && scale($unit);
    return sprintf '%.6g', $scale ? $base / $scale : $base;
}

# A figure printed beside its bound must not look equal to it when it isn't.
sub show_against {
    my ($base, $bound, $unit) = @_;
    my $scale = $UNIT{$unit}[1];
    my ($short, $other) = (sprintf('%.6g', $base / $scale),
        sprintf '%.6g', $bound / $scale);

    # Rounding keeps the order: texts that differ tell it rightly.
    return ($short, $other) if $short ne $other;
    my $order = compare($base, $bound);
    for my $digits (6, 8, 10, 12, 15) {
        my ($one, $two) = map { sprintf "%.${digits}g", $_ / scale($unit) }
            ($base, $bound);
        return ($one, $two) if ($one <=> $two) == $order;
    }
    return map { sprintf '%.17g', $_ / scale($unit) } ($base, $bound);
}

1;

__END__

=head1 NAME

Assay::Units - numbers and units as records and references write them

=head1 FUNCTIONS

=over

=item finite_number(TEXT)

The number that the whole of TEXT says in decimal (C<12>, C<-.5>, C<1.2e+05>),
or nothing.  Refused: the empty text, blanks, C<nan>, C<inf>, hexadecimal, a
number too large for a double, and one so small that it would become zero.
No locale has a say.

=item parse_quantity(TEXT)

A hash of C<number>, C<unit>, C<dimension>, C<base> (the number in the base
unit of the dimension) and C<text>; or (undef, WHY).  The unit is required.

=item dimension(UNIT), scale(UNIT)

What UNIT measures and its size in the base unit, or undef for a unit that is
not known.  Two units convert into each other when their dimensions are equal.

=item compare(ONE, TWO)

-1, 0 or 1.  Figures within one part in 10^12 of each other are equal, so
that a conversion's rounding never decides a verdict.

=item show(BASE, UNIT), show_against(BASE, BOUND, UNIT)

Numbers to print in UNIT, six digits; beside a bound as many more as it takes
to show on which side of the bound the figure lies.

=back

=head1 UNITS

  size             B kB MB GB TB PB (powers of 1000), KiB MiB GiB TiB PiB
  data rate        the same with /s
  time             ns us ms s
  ratio            % x ratio (1 x is 100 %)
  message rate     msg/s Kmsg/s (or kmsg/s) Mmsg/s Gmsg/s ...
  update rate      UPS KUPS MUPS GUPS ...: updates per second
  operation rate   op/s Kop/s ...
  compute rate     FLOP/s ... GFLOP/s TFLOP/s PFLOP/s
  entries, iterations, count   each a dimension of its own

C<KB> is not known: it is read as 1000 by some and as 1024 by others.

=cut
