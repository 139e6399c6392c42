package Assay::Figures;

# What records measured, by place: series to compare with each other, whatever
# they are called.

use 5.016;
use strict;
use warnings;

use Exporter qw(import);
use List::Util qw(max);

use Assay::Record;
use Assay::Stats qw(median);
use Assay::Units qw(dimension finite_number);

our @EXPORT_OK = qw(groups odd_ones orientation series);

use constant SLICES => 3;    # of the rows of a sweep over sizes
use constant LEAST_SHARE => 1e-9;    # of the best rate, at which one is held to be

# Of a metric line's figures: value n best min q1 median q3 max.
use constant {VALUE => 0, MEDIAN => 5};

# What more of is better, and what less of; of anything else nobody knows.
my %HIGHER = (
    'time' => 0,
    map { ($_ => 1) } 'data rate', 'message rate', 'operation rate',
    'compute rate', 'update rate'
);

# series(HOW, PATH...): what these records measured, one element for each metric
# (`program.name`), unit, kind of place and set of keys. HOW may have metrics, a
# hash of those that are wanted (all, if it is empty), samples, if these are too,
# unverified, if a record will do whose only fault is that nothing was checked,
# unstable, if one will do that ended without an honest figure, and places, an
# Assay::Places by whose names hosts go.
# An element is a hash: metric, unit, kind (host, pair or device), keys, values
# ({PLACE => [VALUE...]}, in the order of the records) and samples (the same, of
# the last record).
sub series {
    my ($how, @paths) = @_;

    my (%series, @order);
    my $wanted = $how->{metrics} // {};
    for my $path (@paths) {
        for my $line (_lines($path, $how)) {
            my ($bench, $name, $unit, $figures, $place, $shape, $samples) = @{$line};
            my $metric = "$bench.$name";
            next if %{$wanted} && !$wanted->{$metric} && !$wanted->{$name};
            my ($kind, $where) = _place($place, $how->{places}) or next;
            my $id = join "\0", $metric, $unit, $kind, _text($shape->{keys});
            push @order, $id if !$series{$id};
            my $one = $series{$id} //= {
                metric => $metric,
                unit   => $unit,
                kind   => $kind,
                keys   => $shape->{keys},
            };
            push @{$one->{values}{$where}}, 0 + ($figures->[MEDIAN] // $figures->[VALUE]);
            $one->{samples}{$where} = $samples if $samples;
        }
    }
    return map { $series{$_} } @order;
}

use constant UNVERIFIED => 'no check line: the data was not verified';

# The metric lines of a record that is a measurement: bench, name, unit, figures,
# place, shape and samples.
sub _lines {
    my ($path, $how) = @_;

    my (@lines, %wanted);
    my $record = Assay::Record->new(
        path   => $path,
        wanted => \%wanted,
        metric => sub {
            my ($from, $name, @line) = @_;
            $wanted{"$from->{bench}.$name"} = 1 if $how->{samples};
            push @lines, [$from->{bench}, $name, @line];
        },
        plan => sub {
            my ($bench, $name, $unit, $shape) = @_;
            $wanted{"$bench.$name"} = 1 if $how->{samples};
            return {take => sub {
                my ($host, $figures, $identity) = @_;
                push @lines, [$bench, $name, $unit, [@{$figures}], {host => $host}, $shape,
                    $identity];
            }};
        }
    );
    $record->read_file;
    my $good = $record->{class} eq q{}
        || ($how->{unverified} && $record->{why} eq UNVERIFIED)
        || ($how->{unstable} && $record->{class} eq 'spoiled'
        && ($record->{end} // q{}) eq 'unstable');
    return if !$good;
    for my $line (@lines) {
        my $samples = $record->{samples}{$line->[6]};
        $line->[6] = ref $samples ? $samples : undef;
    }
    return @lines;
}

sub _place {
    my ($place, $places) = @_;

    my ($pair, $host) = map {
        defined ? join q{:}, map { $places ? $places->name_of($_) : $_ } split /:/ : undef
    } @{$place}{qw(pair host)};
    return (pair => $pair) if defined $pair;
    return (device => "$host/$place->{device}") if defined $place->{device};
    return defined $host ? (host => $host) : ();
}

sub _text {
    my ($keys) = @_;

    return join q{ }, map {"$_=$keys->{$_}"} sort keys %{$keys};
}

# 1 where more of the unit is better, 0 where less is; undef where nobody knows.
sub orientation {
    my ($unit) = @_;

    return $HIGHER{dimension($unit) // q{}};
}

# groups(SERIES...): what is compared at once. A sweep over sizes has many rows,
# each with its noise: they make three groups, small, middle and large, and in
# each a place has one figure: the median over the rows of how many times longer
# it takes than the middle of the places. An array of hashes: metric, kind,
# label, time ({PLACE => FIGURE}), rows (how many).
sub groups {
    my @series = @_;

    my (%family, @order);
    for my $one (grep { defined orientation($_->{unit}) } @series) {
        my $id = "$one->{metric}\0$one->{kind}";
        push @order, $id if !$family{$id};
        push @{$family{$id}}, $one;
    }
    return map { _families(_pooled(@{$family{$_}})) } @order;
}

# odd_ones(SERIES...): places that were measured otherwise than most: texts such
# as `n4: threads=1, most have 2`.
sub odd_ones {
    my @series = @_;

    my $value = _of_places(@series);
    my @odd;
    for my $key (sort keys %{$value}) {
        my (%count, $most);
        $count{$_}++ for values %{$value->{$key}};
        ($most) = grep { 2 * $count{$_} > keys %{$value->{$key}} } keys %count;
        next if !defined $most || keys %count < 2;
        push @odd, map {"$_: $key=$value->{$key}{$_}, most have $most"}
            grep { $value->{$key}{$_} ne $most } sort keys %{$value->{$key}};
    }
    return @odd;
}

# The keys of which each place has one value only: {KEY => {PLACE => VALUE}}.
sub _of_places {
    my @series = @_;

    my (%value, %varies);
    my %all = map { ($_ => 1) } map { keys %{$_->{keys}} } @series;
    for my $one (@series) {
        for my $key (keys %all) {
            my $has = $one->{keys}{$key} // q{-};
            for my $place (keys %{$one->{values}}) {
                $varies{$key} = 1 if ($value{$key}{$place} //= $has) ne $has;
            }
        }
    }
    delete @value{keys %varies};
    return \%value;
}

# Series of one metric, of which those make one that differ only in what is a
# place's own: a node that has fewer threads is to be compared, not left alone.
sub _pooled {
    my @series = @_;

    my $own = _of_places(@series);
    my (%pool, @order);
    for my $one (@series) {
        my %keys = %{$one->{keys}};
        my @differ = grep {
            my $key = $_;
            my %seen = map { ($_ => 1) } values %{$own->{$key}};
            keys %seen > 1
        } keys %{$own};
        delete @keys{@differ};
        my $id = _text(\%keys);
        push @order, $id if !$pool{$id};
        my $pool = $pool{$id} //= {%{$one}, keys => \%keys, values => {}};
        push @{$pool->{values}{$_}}, @{$one->{values}{$_}} for keys %{$one->{values}};
    }
    return map { $pool{$_} } @order;
}

# The series of one metric, apart by all keys but the one that rows differ in.
sub _families {
    my @series = @_;

    my ($row, @apart) = row_key(@series);
    my (%part, @order);
    for my $one (@series) {
        my $id = join q{ }, map { "$_=" . ($one->{keys}{$_} // q{-}) } @apart;
        push @order, $id if !$part{$id};
        push @{$part{$id}}, $one;
    }
    return map { _slices($row, $_, @{$part{$_}}) } @order;
}

# row_key(SERIES...): the numeric key that has the most values, or undef, and the
# others that differ.
sub row_key {
    my @series = @_;

    my %values;
    for my $one (@series) {
        $values{$_}{$one->{keys}{$_}} = 1 for keys %{$one->{keys}};
    }
    my @differ = sort { keys %{$values{$b}} <=> keys %{$values{$a}} || $a cmp $b }
        grep { keys %{$values{$_}} > 1 } keys %values;
    my ($row) = grep {
        !grep { !defined finite_number($_) } keys %{$values{$_}}
    } @differ;
    return ($row, sort grep { $_ ne ($row // q{}) } @differ);
}

sub _slices {
    my ($row, $apart, @series) = @_;

    my @sorted = defined $row
        ? sort { ($a->{keys}{$row} // 0) <=> ($b->{keys}{$row} // 0) } @series : @series;
    my $size = @sorted < 2 * SLICES ? 1 : @sorted / SLICES;
    my @groups;
    for (my $at = 0; $at < @sorted; $at += $size) {
        my @rows = @sorted[int $at .. int($at + $size + 1e-9) - 1];
        my $time = _slowness(@rows) or next;
        my @label = ($rows[0]{metric}, $apart eq q{} ? () : $apart);
        push @label, "$row=" . join '..', map { $_->{keys}{$row} } @rows[@rows > 1 ? (0, -1) : 0]
            if defined $row;
        push @groups, {
            metric => $rows[0]{metric},
            kind   => $rows[0]{kind},
            label  => "@label",
            time   => $time,
            rows   => scalar @rows,
        };
    }
    return @groups;
}

# Of each place the median over the rows of its time over the middle of all.
# A row with a time that is not above zero tells nothing of ratios; a rate of
# zero is the slowest there can be, and hides nobody else who is slow.
sub _slowness {
    my @rows = @_;

    my %slow;
    for my $row (@rows) {
        my %time = map { ($_ => median(@{$row->{values}{$_}})) } keys %{$row->{values}};
        if (orientation($row->{unit})) {
            my $least = LEAST_SHARE * max(values %time);
            next if $least <= 0;
            %time = map { ($_ => 1 / max($time{$_}, $least)) } keys %time;
        }
        next if grep { $_ <= 0 } values %time;
        my @sorted = sort { $a <=> $b } values %time;
        my $middle = $sorted[$#sorted / 2];
        push @{$slow{$_}}, $time{$_} / $middle for keys %time;
    }
    return if !%slow;
    return {map { ($_ => median(@{$slow{$_}})) } keys %slow};
}

1;

__END__

=head1 NAME

Assay::Figures - what records measured, as series and groups to compare

=head1 DESCRIPTION

Knows no metric by its name: of a rate more is better, of a time less; a share,
a count or a size is not compared. The figure of a line is its median, where it
has one.

=cut
