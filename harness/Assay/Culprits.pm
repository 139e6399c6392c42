package Assay::Culprits;

# Of a sweep, from its folder alone: who was not measured and why, and who is
# slow.

use 5.016;
use strict;
use warnings;

use List::Util qw(max);

use Assay::Attempt;
use Assay::Blame qw(blame_nodes blame_pairs);
use Assay::Figures qw(groups odd_ones series);
use Assay::Nodes qw(expand_nodes);
use Assay::Picture;
use Assay::Record;
use Assay::Results;
use Assay::Text qw(plural printable);
use Assay::Tournament;
use Assay::Units qw(finite_number);

use constant MOST_NAMED => 20;     # places in a list
use constant MOST_DRAWN => 32;     # nodes of a matrix in characters
use constant FEW => 8;             # nodes, from which on their spread is known
use constant NOISY => 0.05;        # a spread that lets few nodes pass for others

# options(GIVEN): tolerance, metric, locations and picture, checked. Dies with
# one line.
sub options {
    my ($given) = @_;

    my %finding = (metrics => {map { ($_ => 1) } @{$given->{metric} // []}});
    if (defined(my $text = $given->{tolerance})) {
        my $number = finite_number($text =~ s/\s*%\z//r);
        die "--tolerance: '$text' is no share in % above zero\n"
            if !defined $number || $number <= 0;
        $finding{tolerance} = $number / 100;
    }
    $finding{locations} = _locations($given->{locations}) if defined $given->{locations};
    $finding{picture} = $given->{picture};
    Assay::Picture::format_of($finding{picture}) if defined $finding{picture};
    return \%finding;
}

# Lines "NODE SWITCH"; NODE may be a list such as n[1-8].
sub _locations {
    my ($file) = @_;

    open my $in, '<:raw', $file or die "--locations: $file: $!\n";
    my %at;
    while (defined(my $line = <$in>)) {
        next if $line =~ /\A\s*(?:#|\z)/;
        my ($nodes, $switch) = $line =~ /\A\s*(\S+)\s+(\w[\w.-]*)\s*\z/a
            or die "--locations: $file line $.: not 'NODE SWITCH'\n";
        for my $node (expand_nodes($nodes)) {
            die "--locations: $file line $.: $node stands twice\n" if defined $at{$node};
            $at{$node} = $switch;
        }
    }
    return \%at;
}

# report(RESULTS, SWEEP, FINDING): print it; returns how many are slow. SWEEP is
# a line of the ledger.
sub report {
    my ($results, $sweep, $finding) = @_;

    my $found = found($results, $sweep, $finding);
    my ($nodes, $shown) = @{$found}{qw(nodes shown)};
    print $found->{text};
    print "\n", Assay::Picture::text($nodes, $shown)
        if $shown && $shown->{kind} eq 'pair' && @{$nodes} <= MOST_DRAWN;
    Assay::Picture::draw($finding->{picture}, $nodes, $shown) if defined $finding->{picture};
    return $found->{slow};
}

# found(RESULTS, SWEEP, FINDING): a hash of text, slow (how many are), nodes and
# shown (the group that a picture is best made of, or undef).
sub found {
    my ($results, $sweep, $finding) = @_;

    my @attempts = $results->attempts(@{$sweep}{qw(script options)});
    my $kind = $sweep->{of} eq 'pairs' ? 'pair' : 'host';
    my ($sound, $unstable) = map {
        my $status = $_;
        [map {"$results->{folder}/$_->{record}"} grep { $_->{status} eq $status } @attempts];
    } qw(valid spoiled);
    my %how = (metrics => $finding->{metrics},
        places => Assay::Places->new(nodes => $sweep->{hosts}));
    my @series = series(\%how, @{$sound});
    my $text = _coverage($results, $sweep, $kind, @series);
    my $doubt = _shaky(\%how, $kind, \@series, $unstable);
    my @groups = grep { _fits($kind, $_) } groups(@series);
    $_->{blame} = _blame($_, $finding) for @groups;
    my @slow = _merged(@groups);
    my $shown = _most_telling(@groups);
    return {
        text  => $text . _odd_text(grep { _fits($kind, $_) } @series)
            . _slow_text($doubt, @slow) . _comparison($kind, @groups),
        slow  => $doubt ? 0 : scalar @slow,
        nodes => $shown && $shown->{kind} eq 'device' ? [sort keys %{$shown->{time}}]
            : [split /,/, $sweep->{hosts}],
        shown => $shown,
    };
}

# Whether a series or group is of what the sweep is over: of nodes their devices
# are, too.
sub _fits {
    my ($kind, $one) = @_;

    return $kind eq 'pair' ? $one->{kind} eq 'pair' : $one->{kind} ne 'pair';
}

# A slow link or a throttled node is what makes a run end without an honest
# figure. Its figures are no measurement, but a hint at where to look: they are
# added where a place has no others. Returns whether any were.
sub _shaky {
    my ($how, $kind, $series, $paths) = @_;

    my %has = map { ($_ => 1) } map { keys %{$_->{values}} }
        grep { $_->{kind} eq $kind } @{$series};
    my $any = 0;
    for my $one (series({%{$how}, unstable => 1}, @{$paths})) {
        my %more = map { ($_ => $one->{values}{$_}) } grep { !$has{$_} } keys %{$one->{values}};
        next if !_fits($kind, $one) || !%more;
        push @{$series}, {%{$one}, values => \%more};
        $any = 1;
    }
    return $any;
}

# What was not measured alike may be slow for that alone.
sub _odd_text {
    my @odd = odd_ones(@_);

    my $more = @odd - MOST_NAMED;
    splice @odd, MOST_NAMED if $more > 0;
    return join(q{}, map { 'not alike: ' . printable($_) . "\n" } @odd)
        . ($more > 0 ? "... and $more more\n" : q{});
}

sub _blame {
    my ($group, $finding) = @_;

    my $time = $group->{time};
    my %more = map { ($_ => $finding->{$_}) } grep { defined $finding->{$_} }
        qw(tolerance locations);
    if ($group->{kind} eq 'device' && $more{locations}) {
        $more{locations} = {map { ($_ => $finding->{locations}{s{/.*}{}r}) } keys %{$time}};
    }
    return blame_nodes($time, %more) if $group->{kind} ne 'pair';
    return blame_pairs([map { [split(/:/, $_), $time->{$_}] } sort keys %{$time}], %more);
}

# The findings of all groups: one for each culprit, with the worst figure first.
sub _merged {
    my @groups = @_;

    my (%merged, @order);
    for my $group (@groups) {
        for my $finding (@{$group->{blame}{findings}}) {
            my $id = "$finding->{kind} $finding->{name}";
            push @order, $id if !$merged{$id};
            push @{$merged{$id}}, {%{$finding}, label => $group->{label}};
        }
    }
    my @merged = map { [sort { $b->{factor} <=> $a->{factor} } @{$merged{$_}}] } @order;
    @merged = sort { $b->[0]{factor} <=> $a->[0]{factor} } @merged;
    return @merged;
}

my %WORDS = (
    switch => 'switch %s (all its nodes)',
    node   => 'node %s',
    trunk  => 'what lies between switches %s',
    link   => 'link %s',
    pair   => 'pair %s (its link, or either end)',
);

sub _slow_text {
    my ($doubt, @slow) = @_;

    my $text = $doubt ? "some runs ended unstable: what follows is a hint, no finding\n" : q{};
    my $slow = $doubt ? 'perhaps slow' : 'slow';
    for my $same (@slow) {
        my ($worst, @also) = @{$same};
        my $words = $worst->{kind} eq 'node' && $worst->{name} =~ m{/}
            ? 'device %s' : $WORDS{$worst->{kind}};
        $text .= "$slow: " . sprintf("$words, %.3g times as long as the rest: %s",
            $worst->{name} =~ s/:/ - /r, $worst->{factor}, $worst->{label}) . "\n";
        next if !@also;
        my @shown = @also > 3 ? @also[0 .. 2] : @also;
        $text .= '      also: ' . join(', ', map {
            sprintf '%.3g times %s', $_->{factor}, $_->{label}
        } @shown) . (@also > @shown ? ' and ' . (@also - @shown) . ' more' : q{}) . "\n";
    }
    return printable($text =~ s/\n/\0/gr) =~ s/\\x\{0\}/\n/gr;
}

# What was compared with what, and what would have been found.
sub _comparison {
    my ($kind, @groups) = @_;

    my @told = grep { !defined $_->{blame}{cannot} } @groups;
    if (!@told) {
        my $why = @groups ? $groups[0]{blame}{cannot} : 'no rate or time was measured';
        return "nobody can be said to be slow: $why\n";
    }
    my @limits = sort { $a <=> $b } map {
        max($_->{blame}{limit}, $_->{blame}{link_limit} // 0)
    } @told;
    my $text = (grep { @{$_->{blame}{findings}} } @told) ? q{} : "nobody is slow\n";
    $text .= sprintf "compared: %s; slow is from %.3g times as long on%s\n",
        plural(scalar @told, 'figure') . ' of ' . plural(_most_places(@told), 'place'),
        $limits[0],
        $limits[-1] > 1.01 * $limits[0]
        ? sprintf(' (up to %.3g where they differ much by themselves)', $limits[-1]) : q{};
    return $text . _doubt(@told);
}

# Few nodes tell little of what they differ by themselves.
sub _doubt {
    my @told = @_;

    my $count = max(map { scalar keys %{%{$_->{blame}{factors}} ? $_->{blame}{factors}
                : $_->{time}} } @told);
    my $spread = max(map { $_->{blame}{spread} // 0 } @told);
    return q{} if $count >= FEW || ($spread <= NOISY && !grep { @{$_->{blame}{findings}} } @told);
    return sprintf "of so few (%d, which differ by %.2g %%) a healthy one may be named and a"
        . " slow one missed:\nrun it again, or take --tolerance from what healthy runs differ by\n",
        $count, 100 * $spread;
}

sub _most_places { return max(map { scalar keys %{$_->{time}} } @_) }

# The group to draw: the one with the worst finding, else the last of the first
# metric, which has the largest rows.
sub _most_telling {
    my @groups = grep { !defined $_->{blame}{cannot} } @_;

    return if !@groups;
    my ($worst) = sort { $b->[0] <=> $a->[0] } map {
        my $findings = $_->{blame}{findings};
        @{$findings} ? [max(map { $_->{factor} } @{$findings}), $_] : ()
    } @groups;
    return $worst->[1] if $worst;
    return (grep { $_->{metric} eq $groups[0]{metric} } @groups)[-1];
}

##
# Coverage
##

sub _coverage {
    my ($results, $sweep, $kind, @series) = @_;

    my @nodes = split /,/, $sweep->{hosts};
    my @places = $kind eq 'host' ? @nodes
        : Assay::Tournament::pairs_of(Assay::Results::sweep_rounds($sweep));
    my %measured = map { ($_ => 1) } map { keys %{$_->{values}} }
        grep { $_->{kind} ne 'device' || $kind eq 'host' } @series;
    $measured{s{/.*}{}r} = 1 for grep {m{/}} keys %measured;
    my @missing = grep { !$measured{$_} && !$measured{join q{:}, reverse split /:/} } @places;
    my $text = sprintf "%s on %s%s: %d measured, %d not\n", $sweep->{script},
        plural(scalar @places, $kind eq 'host' ? 'node' : 'pair'),
        $kind eq 'host' ? q{} : ' of ' . plural(scalar @nodes, 'node'),
        @places - @missing, scalar @missing;
    return $text if !@missing;
    my $why = _reasons($results, $sweep);
    my %told;
    my @lines = grep { !$told{$_}++ } map { _missing_line($_, $why) } @missing;
    my $more = @lines - MOST_NAMED;
    splice @lines, MOST_NAMED if $more > 0;
    return $text . join(q{}, map { '  ' . printable($_) . "\n" } @lines)
        . ($more > 0 ? "  ... and $more more\n" : q{});
}

# By place and by node, why it could not be measured.
sub _reasons {
    my ($results, $sweep) = @_;

    my %why;
    for my $attempt ($results->attempts(@{$sweep}{qw(script options)})) {
        $why{$attempt->{hosts} =~ s/,/:/gr} = "$attempt->{status}: $attempt->{reason}";
        next if !Assay::Attempt::is_untested($attempt);
        my $record = Assay::Record->new(path => "$results->{folder}/$attempt->{record}",
            metric => sub { });
        $record->read_file;
        $why{$_->{host}} = $_->{reason} for @{$record->{notrun}};
    }
    return \%why;
}

sub _missing_line {
    my ($place, $why) = @_;

    return "$place: $why->{$place}" if defined $why->{$place};
    my ($node) = grep { defined $why->{$_} } split /:/, $place;
    return "all pairs of $node: $why->{$node}" if defined $node;
    return "$place: not yet";
}

1;

__END__

=head1 NAME

Assay::Culprits - of a sweep, who was not measured, and who is slow

=cut
