package Assay::Compare;

# The command `assay compare`: two records or campaigns, figure by figure.

use 5.016;
use strict;
use warnings;

use Assay::Attempt qw(glob_in);
use Assay::Command qw(absolute options run_command);
use Assay::Figures qw(orientation series);
use Assay::Results;
use Assay::Stats qw(interval median);
use Assay::Text qw(plural printable);
use Assay::Units qw(dimension finite_number scale);

my $USAGE = <<'END';
usage: assay compare [--metric NAME] A B

A and B are records, folders of records, or campaigns. For each figure that both
have: the median of A and of B, B as a share of A, and how many times as fast B
is: above 1 it is faster, whether the figure is a rate or a time. Where there
are samples enough (6), the interval that holds the median at 95 % stands behind
each; a speed-up of which these overlap is marked `~'.

Keys in which A and B differ as a whole (backend=hip, backend=cuda) are named
above the table, and figures are compared across them; so are places where each
has one only. What only one of them has is counted below.

  --metric NAME  these figures only; may be repeated

Exit status: 0; 2 where there is nothing to compare.
END

sub main { return run_command('compare', $USAGE, \&_compare, @_) }

sub _compare {
    my @arguments = @_;

    options(\@arguments, \my %given, 'metric=s@');
    die "two records, folders or campaigns (assay compare --help)\n" if @arguments != 2;
    my %metrics = map { ($_ => 1) } @{$given{metric} // []};
    my @sides = map { _side($_, \%metrics) } @arguments;
    my %apart = _apart(map { $_->{rows} } @sides);
    my @tables = map { _keyed($_->{rows}, \%apart) } @sides;
    my @common = grep { $tables[1]{$_} } sort { _order($tables[0], $a, $b) } keys %{$tables[0]};
    die "A and B have no figure in common\n" if !@common;
    print _heading(\%apart, \@arguments, @sides);
    print _table(map { _cells($tables[0]{$_}, $tables[1]{$_}, \%apart) } @common);
    for my $i (0, 1) {
        my $alone = grep { !$tables[1 - $i]{$_} } keys %{$tables[$i]};
        print 'only in ', qw(A B)[$i], ': ', plural($alone, 'figure'), "\n" if $alone;
    }
    return 0;
}

##
# What there is
##

sub _side {
    my ($path, $metrics) = @_;

    my @paths = _records($path);
    my @series = series({metrics => $metrics, samples => 1, unverified => 1}, @paths);
    die "$path: no valid record in it" . (%{$metrics} ? ' with that metric' : q{}) . "\n"
        if !@series;
    my @rows;
    for my $one (@series) {
        for my $place (sort keys %{$one->{values}}) {
            my @values = @{$one->{values}{$place}};
            my $samples = @values > 1 ? \@values : $one->{samples}{$place} // \@values;
            push @rows, {
                metric => $one->{metric},
                unit   => $one->{unit},
                keys   => {%{$one->{keys}}, place => $place},
                value  => median(@values),
                values => $samples,
            };
        }
    }
    return {rows => \@rows, records => scalar @paths};
}

# The records that a path stands for; of a campaign the valid attempts.
sub _records {
    my ($path) = @_;

    return $path if -f $path;
    die "$path: no such record or folder\n" if !-d $path;
    return glob_in($path, '*.record') if !-f "$path/ledger";
    my $results = Assay::Results->view(absolute($path));
    my ($fault) = $results->faults;
    die "$path: its records are no evidence: $fault\n" if defined $fault;
    return map {"$results->{folder}/$_->{record}"}
        grep { $_->{status} eq 'valid' } $results->attempts;
}

# Keys that have one value each in A and in B, and not the same: {KEY => [A, B]}.
sub _apart {
    my ($one, $two) = @_;

    my @values;
    for my $i (0, 1) {
        for my $row (@{($one, $two)[$i]}) {
            $values[$i]{$_}{$row->{keys}{$_}} = 1 for keys %{$row->{keys}};
        }
    }
    my %apart;
    for my $key (keys %{{%{$values[0]}, %{$values[1]}}}) {
        my @one = keys %{$values[0]{$key} // {}};
        my @two = keys %{$values[1]{$key} // {}};
        next if @one > 1 || @two > 1 || ($one[0] // q{}) eq ($two[0] // q{});
        $apart{$key} = [$one[0] // q{-}, $two[0] // q{-}];
    }
    return %apart;
}

# The rows by metric and keys, but for those that differ as a whole. Rows that
# are then no longer told from each other are an error.
sub _keyed {
    my ($rows, $apart) = @_;

    my %table;
    for my $row (@{$rows}) {
        my %keys = %{$row->{keys}};
        delete @keys{keys %{$apart}};
        my $dimension = dimension($row->{unit}) // $row->{unit};
        my $id = join "\0", $row->{metric}, $dimension, map {"$_=$keys{$_}"} sort keys %keys;
        die "$row->{metric}: two figures that nothing tells apart\n" if $table{$id};
        $row->{shown} = \%keys;
        $table{$id} = $row;
    }
    return \%table;
}

# By metric, then by keys, numbers as such.
sub _order {
    my ($table, $one, $two) = @_;

    my ($left, $right) = @{$table}{$one, $two};
    my $order = $left->{metric} cmp $right->{metric};
    for my $key (sort keys %{$left->{shown}}) {
        return $order if $order;
        my ($x, $y) = map { $_->{shown}{$key} // q{} } $left, $right;
        $order = defined finite_number($x) && defined finite_number($y)
            ? $x <=> $y : $x cmp $y;
    }
    return $order || $one cmp $two;
}

##
# What is printed
##

sub _heading {
    my ($apart, $names, @sides) = @_;

    my $text = q{};
    for my $i (0, 1) {
        $text .= qw(A B)[$i] . ": $names->[$i] (" . plural($sides[$i]{records}, 'record') . ")\n";
    }
    $text .= "differ in $_: $apart->{$_}[0], $apart->{$_}[1]\n" for sort keys %{$apart};
    return join(q{}, map { printable($_) . "\n" } split /\n/, $text) . "\n";
}

sub _cells {
    my ($one, $two, $apart) = @_;

    my $factor = (scale($two->{unit}) // 1) / (scale($one->{unit}) // 1);
    my ($x, $y) = ($one->{value}, $two->{value} * $factor);
    my @x = _interval(@{$one->{values}});
    my @y = map { $_ * $factor } _interval(@{$two->{values}});
    my $better = orientation($one->{unit});
    my $faster = !defined $better || $x <= 0 || $y <= 0 ? undef
        : $better ? $y / $x : $x / $y;
    my $same = @x && @y && $x[0] <= $y[1] && $y[0] <= $x[1];
    my %shown = %{$one->{shown}};
    my $keys = join q{ }, map {"$_=$shown{$_}"} grep { $shown{$_} ne '-' } sort keys %shown;
    return ["$one->{metric} $one->{unit}", $keys, _figure($x, @x), _figure($y, @y),
        $x != 0 ? sprintf('%.4g', $y / $x) : q{-},
        defined $faster ? sprintf('%.4g', $faster) . ($same ? ' ~' : q{}) : q{-}];
}

sub _figure {
    my ($value, @interval) = @_;

    return sprintf('%.6g', $value)
        . (@interval ? sprintf ' [%.4g, %.4g]', @interval : q{});
}

# The order-statistic interval of the median at 95 %, or nothing.
sub _interval {
    my @sorted = sort { $a <=> $b } @_;

    my ($low, $high) = interval(scalar @sorted, 0.5, 0.95) or return;
    return @sorted[$low - 1, $high - 1];
}

# Keys that are the same in all rows are said once, below the table.
sub _table {
    my @rows = @_;

    my %seen;
    for my $row (@rows) {
        $seen{$_}++ for split q{ }, $row->[1];
    }
    my %same = @rows > 1 ? map { ($_ => 1) } grep { $seen{$_} == @rows } keys %seen : ();
    $_->[1] = join q{ }, grep { !$same{$_} } split q{ }, $_->[1] for @rows;
    unshift @rows, ['figure', 'keys', 'A', 'B', 'B/A', 'speed-up'];
    my @width = map {
        my $column = $_;
        (sort { $b <=> $a } map { length $_->[$column] } @rows)[0]
    } 0 .. 5;
    my $text = join q{}, map {
        my $row = $_;
        printable(join('  ', map { sprintf '%-*s', $width[$_], $row->[$_] } 0 .. 5)
            =~ s/\s+\z//r) . "\n"
    } @rows;
    return $text . (%same ? 'all with ' . printable(join q{ }, sort keys %same) . "\n" : q{});
}

1;

__END__

=head1 NAME

Assay::Compare - the command `assay compare`

=cut
