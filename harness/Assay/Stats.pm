package Assay::Stats;

# Statistics over few values: what a verdict needs, and no more.

use strict;
use warnings;

use Carp qw(croak);
use Exporter qw(import);

our @EXPORT_OK = qw(cv interval least_count mean median quantile);

sub mean {
    my @values = sort { $a <=> $b } @_;
    my $sum = 0;

    croak 'no values' if !@values;
    # Dividing first keeps the sum of huge finite values finite.
    $sum += $_ / @values for @values;
    return $sum;
}

sub median {
    return quantile(0.5, @_);
}

sub quantile {
    my ($p, @rest) = @_;
    my @values = sort { $a <=> $b } @rest;
    croak 'no values' if !@values;
    my $place = $p * $#values;
    my $low = int $place;

    return $values[-1] if $low >= $#values;
    my $part = $place - $low;
    return $values[$low] if $part == 0;
    return $values[$low] / 2 + $values[$low + 1] / 2 if $part == 0.5;
    return $values[$low] * (1 - $part) + $values[$low + 1] * $part;
}

sub cv {
    my @values = @_;
    return if @values < 2;

    my $mean = mean(@values);
    return if $mean == 0;
    my $sum = 0;
    $sum += (($_ - $mean) / $mean)**2 for @values;
    return sqrt($sum / $#values);
}

sub interval {
    my ($n, $p, $confidence) = @_;
    my $tail = (1 - $confidence) / 2 + 1e-12;
    my ($below, $low, $high, $covered) = (0, 0, undef, 0);
    my $log = $n * log(1 - $p);

    # $below is P(B < k), B the count of values under the true quantile.
    for my $k (0 .. $n) {
        my $mass = exp $log;
        if ($below <= $tail) { ($low, $covered) = ($k, 0) }
        elsif (1 - $below <= $tail) { $high = $k; last }
        $covered += $mass;
        $below += $mass;
        $log += log(($n - $k) / ($k + 1)) + log($p / (1 - $p)) if $k < $n;
    }
    return if $low < 1 || !defined $high;
    return ($low, $high, $covered);
}

sub least_count {
    my ($p, $confidence) = @_;

    for my $n (1 .. 100_000) {
        return $n if interval($n, $p, $confidence);
    }
    return;
}

1;

__END__

=head1 NAME

Assay::Stats - statistics over few values

=head1 FUNCTIONS

Each takes its values in any order and croaks on an empty list.

=over

=item mean(VALUES), median(VALUES)

The median of an even count is the mean of the two middle values.

=item quantile(P, VALUES)

The quantile by linear interpolation between order statistics at
(n - 1) P, counted from zero: type 7 of Hyndman and Fan.

=item cv(VALUES)

The standard deviation with divisor n - 1 over the size of the mean, as a
fraction; nothing for fewer than two values or a mean of zero.

=item interval(N, P, CONFIDENCE)

The order-statistic interval of the quantile P of N values: (LOW, HIGH,
COVERAGE), LOW and HIGH counted from 1.  Each tail gets at most half of what
CONFIDENCE leaves; COVERAGE is the chance, exact for continuous values of any
distribution, that the interval holds the true quantile.  Nothing where N is
too small for an interval.  For a median: N = 1 has none, N = 2 covers 50 %,
and from N = 6 there is one at 95 % (96.875 %).

=item least_count(P, CONFIDENCE)

The smallest N that has such an interval; nothing above 100000.

=back

=cut
