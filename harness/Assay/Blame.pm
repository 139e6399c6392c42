package Assay::Blame;

# Who is slow: a node, a link between two, a switch, or nobody.

use 5.016;
use strict;
use warnings;

use Exporter qw(import);
use List::Util qw(max);

use Assay::Stats qw(median);

our @EXPORT_OK = qw(blame_nodes blame_pairs);

# How much slower than the rest is not slow yet, whatever the spread.
use constant TOLERANCE => 0.25;

# How many times the spread of the rest (its MAD, scaled to the standard
# deviation of a normal distribution) is not slow yet either.
use constant SPREADS => 5;

# The MAD of few values falls short of that of many by these factors
# (Croux and Rousseeuw, 1992).
my @FEW = (1, 1, 1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107);

# blame_nodes({NODE => VALUE}, more): VALUE is a time, or a rate with
# higher => 1. Of more: tolerance (a fraction), locations ({NODE => SWITCH}).
# Returns a hash: findings, an array of hashes of kind, name, factor (how many
# times slower than the rest) and of what (nodes, cells); limit (the factor
# from which on a place is slow); spread (of the rest, a fraction); factors
# (of every node); cannot (why nobody can be blamed, or undef).
sub blame_nodes {
    my ($value, %more) = @_;

    my %time = _times($value, $more{higher});
    my %result = (findings => [], factors => {}, limit => undef, spread => undef);
    return {%result, cannot => 'a figure is not above zero'}
        if keys %time < keys %{$value};
    return {%result, cannot => 'there is no other node to compare with'}
        if keys %time < 2;
    my $factor = _factors(\%time, \%more, \%result);
    my @slow = grep { $factor->{$_} > $result{limit} } sort keys %time;
    $result{findings} = [_sorted(_switches(\@slow, $factor, \%more))];
    return {%result, cannot => undef};
}

# blame_pairs([[A, B, VALUE]...], more): the same for pairs. The kinds are
# switch, node, trunk (all between two switches), link, and pair where nothing
# tells the link from its ends. factors has those of the nodes, links those of
# the pairs `A:B`, without what their ends account for.
sub blame_pairs {
    my ($cells, %more) = @_;

    my %result = (findings => [], factors => {}, links => {}, limit => undef,
        spread => undef);
    my %value = map { ("$_->[0]:$_->[1]" => $_->[2]) } @{$cells};
    my %time = _times(\%value, $more{higher});
    return {%result, cannot => 'a figure is not above zero'}
        if keys %time < keys %value;
    return {%result, cannot => 'there are fewer than three pairs to compare'}
        if keys %time < 3;

    my $rows = _rows(\%time);
    my %score = map { ($_ => _low(@{$rows->{$_}})) } grep { @{$rows->{$_}} > 1 } keys %{$rows};
    my $factor = %score ? _factors(\%score, \%more, \%result) : {};
    my @slow = grep { $factor->{$_} > $result{limit} } sort keys %{$factor};
    my ($link, $limit) = _links(\%time, $factor, {map { $_ => 1 } @slow}, \%more);
    $result{links} = $link;
    $result{link_limit} = $limit;
    $result{limit} //= $limit;
    my @bad = grep { $link->{$_} > $limit } sort keys %time;
    my @nodes = _switches(\@slow, $factor, \%more);
    my @links = _trunks(\@bad, $link, \%more);
    for my $finding (grep { $_->{kind} eq 'link' } @links) {
        $finding->{kind} = 'pair'
            if grep { @{$rows->{$_}} < 2 } split /:/, $finding->{name};
    }
    $result{findings} = [_sorted(@nodes), _sorted(@links)];
    return {%result, cannot => undef};
}

# As times: the longer, the slower. A figure that is none is left out.
sub _times {
    my ($value, $higher) = @_;

    my @sound = grep { $value->{$_} > 0 } keys %{$value};
    return map { ($_ => $higher ? 1 / $value->{$_} : $value->{$_}) } @sound;
}

# The times of each node's pairs.
sub _rows {
    my ($time) = @_;

    my %rows;
    for my $pair (keys %{$time}) {
        push @{$rows{$_}}, $time->{$pair} for split /:/, $pair;
    }
    return \%rows;
}

# A node's own time is that of its good pairs, since three of four may be spoiled
# by links or by the nodes at their other ends: the lower quartile, as one of
# the values. One of a single pair has none.
sub _low {
    my @sorted = sort { $a <=> $b } @_;

    return $sorted[int($#sorted / 4)];
}

# The median, of an even count the lower of the middle two: of two nodes, the
# slower is held to the faster.
sub _middle {
    my @sorted = sort { $a <=> $b } @_;

    return $sorted[int($#sorted / 2)];
}

# How many times slower than the middle each is; sets limit and spread.
sub _factors {
    my ($time, $more, $result) = @_;

    my $base = _middle(values %{$time});
    my %factor = map { ($_ => $time->{$_} / $base) } keys %{$time};
    $result->{base} = $base;
    @{$result}{qw(limit spread)} = _limit($more, values %factor);
    $result->{factors} = \%factor;
    return \%factor;
}

# From which factor on a place is slow, and the spread; the factors' middle is 1.
sub _limit {
    my ($more, @factors) = @_;

    my $count = @factors;
    my $few = $FEW[$count] // $count / ($count - 0.8);
    my $spread = 1.4826 * $few * _middle(map { abs($_ - 1) } @factors);
    my $slack = max($more->{tolerance} // TOLERANCE, SPREADS * $spread);
    return (1 + $slack, $spread);
}

# What of each pair's time its ends do not account for. Where both ends are
# slow, whether the slower one rules or both add up is not known.
sub _links {
    my ($time, $factor, $slow, $more) = @_;

    my (%rest, %other);
    for my $pair (keys %{$time}) {
        my ($one, $two) = map { $factor->{$_} // 1 } my @ends = split /:/, $pair;
        my $share = max($one, $two);
        $share = $one * $two if 2 == grep { $slow->{$_} } @ends;
        $rest{$pair} = $time->{$pair} / $share;
        $other{$pair} = $rest{$pair} if $share == max($one, $two);
    }
    my $base = _middle(values %other ? values %other : values %rest);
    my %link = map { ($_ => $rest{$_} / $base) } keys %rest;
    my ($limit) = _limit($more, map { $link{$_} } keys %other ? keys %other : keys %link);
    return (\%link, $limit);
}

# Slow nodes as findings; where all nodes of a switch are slow, and others are
# not, the switch.
sub _switches {
    my ($slow, $factor, $more) = @_;

    my $at = $more->{locations} // {};
    my (%all, %bad, @findings, %switch);
    push @{$all{$at->{$_} // q{}}}, $_ for keys %{$factor};
    push @{$bad{$at->{$_} // q{}}}, $_ for @{$slow};
    for my $switch (grep { $_ ne q{} } sort keys %bad) {
        next if @{$bad{$switch}} < 2 || @{$bad{$switch}} < @{$all{$switch}}
            || @{$bad{$switch}} == keys %{$factor};
        $switch{$switch} = 1;
        push @findings, {
            kind   => 'switch',
            name   => $switch,
            factor => median(map { $factor->{$_} } @{$bad{$switch}}),
            nodes  => [sort @{$bad{$switch}}],
        };
    }
    return @findings, map { {kind => 'node', name => $_, factor => $factor->{$_}} }
        grep { !$switch{$at->{$_} // q{}} } @{$slow};
}

# Slow links as findings; where most links between two switches are slow, what
# lies between them.
sub _trunks {
    my ($bad, $link, $more) = @_;

    my $at = $more->{locations} // {};
    my (%all, %bad, %trunk, @findings);
    for my $pair (keys %{$link}) {
        my $trunk = _trunk($at, $pair) // next;
        push @{$all{$trunk}}, $pair;
    }
    for my $pair (@{$bad}) {
        my $trunk = _trunk($at, $pair) // next;
        push @{$bad{$trunk}}, $pair;
    }
    for my $trunk (sort keys %bad) {
        next if @{$bad{$trunk}} < 2 || @{$bad{$trunk}} < 0.75 * @{$all{$trunk}};
        $trunk{$trunk} = 1;
        push @findings, {
            kind   => 'trunk',
            name   => $trunk,
            factor => median(map { $link->{$_} } @{$bad{$trunk}}),
            cells  => scalar @{$bad{$trunk}},
            of     => scalar @{$all{$trunk}},
        };
    }
    return @findings, map { {kind => 'link', name => $_, factor => $link->{$_}} }
        grep { !$trunk{_trunk($at, $_) // q{}} } @{$bad};
}

# The switches that lie at the ends of a pair, or nothing where they are one.
sub _trunk {
    my ($at, $pair) = @_;

    my @ends = map { $at->{$_} } split /:/, $pair;
    return if grep { !defined } @ends;
    return $ends[0] eq $ends[1] ? undef : join q{:}, sort @ends;
}

sub _sorted {
    my @findings = @_;

    my @sorted = sort { $b->{factor} <=> $a->{factor} || $a->{name} cmp $b->{name} } @findings;
    return @sorted;
}

1;

__END__

=head1 NAME

Assay::Blame - who is slow: a node, a link, a switch, or nobody

=head1 DESCRIPTION

Works on one figure of each place, and knows neither records nor units: a time,
or a rate, which is turned into one. A place is slow where it takes so many
times as long as the middle of all that it is beyond both a tolerance (25 % if
none is given) and five times the spread of all. The tolerance is what keeps
places that are nearly equal from being blamed for a spread of nearly nothing;
the spread is the median of the absolute deviations from the middle, scaled to
that of a normal distribution and corrected for few values.

Of pairs, a node's own time is the lower quartile of the times of its pairs: a
slow node is slow with all of them, a slow link spoils one. What a pair takes
beyond the slower of its ends is the link's. So a slow node needs two pairs, and
three of four pairs of a node that is not blamed may be slow. With one pair a
node (C<--sample 1>) nothing tells a link from its ends: that is the kind
C<pair>.

Where it is known at which switch each node is, and all nodes of one are slow
while others are not, the switch is named in their place; where three of four
links between two switches are slow, what lies between these is (C<trunk>).

All of this is relative: where all, or most, are slow, nobody is blamed. Whether
the machine keeps what was promised is for a clause to say.

=cut
