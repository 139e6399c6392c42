package Assay::Verdict;

# One clause at one place: what was measured, and whether that will do.

use strict;
use warnings;

use Assay::Collect;
use Assay::Places;
use Assay::Reference;
use Assay::Stats qw(cv interval mean quantile);
use Assay::Text qw(plural);
use Assay::Units qw(compare scale);

# Stand for a place and a row where none is known; no record can hold them: a
# row has a NUL between two values, and values have none.
my $NOWHERE = '(nowhere)';
my $NO_ROW  = "\0" x 1000;

sub new {
    my ($class, %given) = @_;
    return bless {
        data   => $given{data},
        places => $given{places},
        strict => $given{strict},
        today  => $given{today},
        fleet  => {},
        used   => {},
        said   => {},
        listed => {},
    }, $class;
}

# Every point of a clause: [CLAUSE, ROW, PLACE], or [CLAUSE, undef, WHAT, WHY]
# for a fault of the whole clause.
sub points {
    my ($self, $clause) = @_;
    my $series = $clause->{series};
    my @places = $self->_places($series);
    my @rows = $self->_rows($clause);
    my $unlisted = $self->{strict} && $self->_unlisted($series);
    my @points;

    push @points, [$clause, undef, 'coverage', $unlisted] if $unlisted;
    push @points,
        map { [$clause, undef, "limit[$_]", 'no such row was measured'] }
        $self->_missing_rows($clause, \@rows);
    @places = ($NOWHERE) if !@places;
    @rows = ($NO_ROW) if !@rows;
    for my $row (grep { $self->limit_of($clause, $_) } @rows) {
        push @points, map { [$clause, $row, $_] } @places;
    }
    return @points if @points;
    return [$clause, undef, 'each', 'no row that was measured has a limit'];
}

# Why coverage could not be checked, or nothing.
sub _unlisted {
    my ($self, $series) = @_;
    my $kind = $series->{scope};

    return if $self->{places}->expected($kind);
    if ($kind eq 'system') {
        return if !$series->{across};
        my ($seen) = grep { $_ ne 'none' }
            sort keys %{$self->{data}{kinds}[$series->{index}] || {}};
        return if !$seen || $self->{places}->expected($seen);
        $kind = $seen;
    }
    return "no list of ${kind}s was given: coverage was not checked";
}

sub unlisted {
    my ($self, $clause) = @_;
    return $self->_unlisted($clause->{series});
}

sub _nothing {
    my ($self, $series) = @_;
    my @kinds = grep { $_ ne $series->{scope} }
        sort keys %{$self->{data}{kinds}[$series->{index}] || {}};

    return 'no measurement of it'
        if !@kinds || $series->{scope} eq 'system';
    return "measured by @kinds, not by $series->{scope}";
}

sub _places {
    my ($self, $series) = @_;
    my $kind = $series->{scope};

    return 'system' if $kind eq 'system';
    my $expected = $self->{places}->expected($kind);
    if ($expected && !$series->{at}) {
        my $listed = $self->{listed}{$kind}
            ||= {map { $_ => 1 } @$expected};
        return (@$expected, sort grep { !$listed->{$_} }
            $self->_seen($series, $listed));
    }
    my %seen = map { $_ => 1 } $self->_seen($series, {});
    if ($kind eq 'device' && !$expected) {
        my %hosts = map { $_ => 1 }
            map { Assay::Places::hosts('device', $_) } keys %seen;
        $seen{$_} = 1
            for map { $self->{places}->devices_of($_) } keys %hosts;
        # A node of which no device is known owes one.
        $seen{"$_/any"} = 1 for grep { !$hosts{$_} && $self->_is_at($series, "$_/any") }
            @{$self->{places}->expected('node') || []};
    }
    my @at = grep { $self->_is_at($series, $_) } @{$expected || []};
    my %listed = map { $_ => 1 } @at;
    return (@at, sort grep { !$listed{$_} } keys %seen);
}

# A clause on one host or pair owes that one alone.
sub _is_at {
    my ($self, $series, $place) = @_;
    my $at = $series->{at};
    my ($host) = Assay::Places::hosts($series->{scope}, $place);

    return 0 if defined $at->{pair} && $place ne $at->{pair};
    return 0 if defined $at->{device} && $place !~ m{/\Q$at->{device}\E\z};
    return !defined $at->{host} || $host eq $at->{host};
}

# Places that the records name, but for those known.  Without a list of nodes,
# every host of every run that may be of the kind owes its figure.
sub _seen {
    my ($self, $series, $known) = @_;
    my $data = $self->{data};
    my ($s, $kind) = @$series{qw(index scope)};
    my %seen;

    for my $table (map { $data->{$_}[$s] || {} }
        qw(data trouble functional touched)) {
        for my $row (values %$table) {
            for my $place (keys %$row) {
                $seen{$place} = 1 if !$known->{$place};
            }
        }
    }
    return keys %seen
        if $kind ne 'node' || $self->{places}->expected('node');
    my @hosts = map { $_->[1] } grep { $self->_concerns($_->[0], $series) }
        grep { !$data->{left_out}{$_->[0]} } @{$data->{notrun}};
    for my $attempt (0 .. $#{$data->{records}}) {
        push @hosts, split /,/, $data->{records}[$attempt]{hosts}
            if $self->_concerns($attempt, $series);
    }
    $seen{$_} = 1 for @hosts;
    return keys %seen;
}

sub _rows {
    my ($self, $clause) = @_;
    my $each = $clause->{each};
    my $s = $clause->{series}{index};
    my %rows;

    return q{} if !@$each;
    for my $table (map { $self->{data}{$_}[$s] || {} }
        qw(data trouble functional touched)) {
        $rows{$_} = 1 for keys %$table;
    }
    for my $limit (@{$clause->{limits}}) {
        my $when = $limit->{when};
        next if grep { !defined $when->{$_} } @$each;
        $rows{join "\0", @$when{@$each}} = 1;
    }
    my @sorted = sort { _by_row($a, $b) } keys %rows;
    return @sorted;
}

sub _by_row {
    my ($one, $two) = map { [_row_values($_)] } @_;

    for my $i (0 .. $#$one) {
        my ($left, $right) = ($one->[$i], $two->[$i]);
        my $numbers = !grep { !/\A[0-9]{1,15}\z/ } $left, $right;
        my $order = $numbers ? $left <=> $right : $left cmp $right;
        return $order if $order;
    }
    return 0;
}

sub _missing_rows {
    my ($self, $clause, $rows) = @_;
    my %met;

    for my $row (@$rows) {
        my $limit = $self->limit_of($clause, $row);
        $met{$limit->{name}} = 1 if $limit;
    }
    return grep { $_ ne q{} && !$met{$_} }
        map { $_->{name} } @{$clause->{limits}};
}

# A row of one empty value is empty, and splits into nothing.
sub _row_values {
    my ($row) = @_;
    return $row eq q{} ? q{} : split /\0/, $row, -1;
}

sub row_keys {
    my ($clause, $row) = @_;
    my %keys;
    my @values = _row_values($row);
    @keys{@{$clause->{each}}}
        = map { defined $values[$_] ? $values[$_] : q{} }
        0 .. $#{$clause->{each}};
    return \%keys;
}

sub limit_of {
    my ($self, $clause, $row) = @_;
    return $clause->{limits}[0]
        if $row eq $NO_ROW
        || @{$clause->{limits}} == 1 && !%{$clause->{limits}[0]{when}};
    return Assay::Reference::limit_of($clause, row_keys($clause, $row));
}

# Rows that were measured and that no limit is for.
sub unlimited {
    my ($self, $clause) = @_;
    return map { row_text($clause, $_) }
        grep { !$self->limit_of($clause, $_) } $self->_rows($clause);
}

sub row_text {
    my ($clause, $row) = @_;
    my $keys = row_keys($clause, $row);
    return q{} if $row eq $NO_ROW;
    return join q{ }, map {"$_=$keys->{$_}"}
        grep { $keys->{$_} ne q{} || !$clause->{optional}{$_} } @{$clause->{each}};
}

# Whether a record may belong to a series: nothing it says rules that out.
sub _concerns {
    my ($self, $attempt, $series) = @_;
    my $record = $self->{data}{records}[$attempt];

    return 1 if !defined $record->{bench};
    return 0 if $series->{metric} !~ /\A\Q$record->{bench}\E[.]/;
    my $where = $series->{where};
    for my $opt (@{$record->{opt} || []}) {
        return 0 if grep { defined $opt->{$_} && $opt->{$_} ne $where->{$_} }
            keys %$where;
    }
    return 1;
}

# The faulty records that bear on a place.
sub _bad {
    my ($self, $series, $row, $place) = @_;
    my $data = $self->{data};
    my %bad;

    return if !$data->{bad};
    my @hosts = Assay::Places::hosts($series->{scope}, $place);
    for my $attempt (@{$data->{touched}[$series->{index}]{$row}{$place}
        || []}) {
        $bad{$attempt} = 1 if $data->{bad}{$attempt};
    }
    my @near = map { @{$data->{bad_at}{$_} || []} } @hosts;
    for my $attempt (@{$data->{bad_anywhere} || []}) {
        my $named = $data->{bad}{$attempt}{hosts};
        push @near, $attempt
            if $named eq q{} || $series->{scope} eq 'pair';
    }
    @near = keys %{$data->{bad}} if $series->{scope} eq 'system';
    for my $attempt (@near) {
        $bad{$attempt} = 1 if $self->_concerns($attempt, $series)
            && _may_be_of($data->{bad}{$attempt}, @hosts);
    }
    $self->{used}{$_} = 1 for keys %bad;
    return map { [$_, $data->{bad}{$_}] } sort { $a <=> $b } keys %bad;
}

# Whether a faulty record may be one of a place's: a run on two nodes and more
# that names them all measured no pair with another.
sub _may_be_of {
    my ($record, @hosts) = @_;
    my %named = map { $_ => 1 } split /,/, $record->{hosts};

    return 1 if @hosts < 2 || keys %named < 2;
    return !grep { !$named{$_} } @hosts;
}

# What could not be run at a place: lines [ATTEMPT, HOST, WHY].
sub _notrun {
    my ($self, $series, $place) = @_;
    my @lines;

    return if !$self->{data}{notrun_at};
    for my $host (Assay::Places::hosts($series->{scope}, $place)) {
        push @lines, grep { $self->_concerns($_->[0], $series) }
            @{$self->{data}{notrun_at}{$host} || []};
    }
    $self->{used}{$_->[0]} = 1 for @lines;
    return @lines;
}

# The figure of a series at a place: {value, values, attempts, ...}, or with
# `verdict` and `why` where there is none.
sub figure {
    my ($self, $clause, $series, $row, $place) = @_;
    my $data = $self->{data};
    my ($values, $attempts)
        = $self->_values($data->{data}[$series->{index}]{$row}{$place});
    my %out = (values => $values, attempts => $attempts);

    $self->_disturbed(\%out, $clause, $series, $row, $place)
        if $data->{bad} || $data->{notrun_at}
        || $data->{trouble}[$series->{index}]{$row};
    return \%out if defined $out{why};
    if (@$attempts < $clause->{runs}) {
        $out{why} = $self->_too_few($clause, $series, $row, $place, $attempts);
    }
    else {
        ($out{value}, $out{why}) = statistic($clause->{statistic}, $values);
    }
    $out{verdict} = 'INVALID' if defined $out{why};
    return \%out;
}

# The packed figures of a clause and row by place, where nothing went wrong
# anywhere that could bear on them; else nothing.
sub undisturbed {
    my ($self, $clause, $row) = @_;
    my $data = $self->{data};
    my $s = $clause->{series}{index};

    return if $row eq $NO_ROW || $data->{bad} || $data->{notrun_at}
        || $data->{left_out} || $data->{trouble}[$s]{$row};
    return $data->{data}[$s]{$row};
}

# Where something went wrong somewhere: did it here?
sub _disturbed {
    my ($self, $out, $clause, $series, $row, $place) = @_;
    my $attempts = $out->{attempts};
    my %measured = map { $_ => 1 } @$attempts;

    $self->_collect_bad($out, $series, $row, $place);
    my @notrun = (@{$out->{notrun} || []}, $self->_notrun($series, $place));
    my @spoiled = @{$out->{spoiled} || []};
    my ($both) = grep { $measured{$_->[0]} } @notrun;
    my ($trouble) = grep { !$self->{data}{left_out}{$_->[0]} }
        @{$self->{data}{trouble}[$series->{index}]{$row}{$place} || []};
    $out->{why} = $trouble
        ? $trouble->[1] . ' in ' . $self->path($trouble->[0])
        : defined $out->{wrong} ? $out->{wrong}
        : $both ? 'measured and not run in one record: '
        . $self->path($both->[0])
        : @spoiled > $clause->{spoiled}
        ? $self->_too_many_spoiled($clause, \@spoiled)
        : undef;
    $out->{verdict} = 'INVALID' if defined $out->{why};
    @$out{qw(verdict why)} = ('NOTRUN', $notrun[0][2])
        if !defined $out->{why} && @notrun && !@$attempts && !@spoiled;
    return;
}

# Note which faulty records bear on a point, without judging it.
sub touch {
    my ($self, $clause, $row, $place, $why) = @_;

    return if defined $why;
    return if !$self->{data}{bad} && !$self->{data}{notrun_at};
    $self->_bad($clause->{series}, $row, $place);
    $self->_notrun($clause->{series}, $place);
    return;
}

# The figure held to its limit, with its verdict; `why` where it is none.
sub judged {
    my ($self, $clause, $limit, $row, $place) = @_;
    my $series = $clause->{series};
    my $figure = $self->figure($clause, $series, $row, $place);

    if (!$self->{places}->lists($series->{scope}, $place)) {
        $figure->{why} = 'not on the list of what must be there'
            if !defined $figure->{why} && $place ne $NOWHERE;
        $figure->{verdict} = 'INVALID';
    }
    elsif (!defined $figure->{why} && $clause->{relative}) {
        $figure->{why} = $self->_relate($clause, $figure, $row, $place);
        $figure->{verdict} = 'INVALID' if defined $figure->{why};
    }
    delete $figure->{value} if defined $figure->{why};
    return $figure if defined $figure->{why};
    $figure->{unit} = $self->{data}{units}[$series->{index}];
    $figure->{verdict} = decide($clause, $limit, $figure);
    return $figure;
}

sub _collect_bad {
    my ($self, $out, $series, $row, $place) = @_;

    for my $bad ($self->_bad($series, $row, $place)) {
        my ($attempt, $record) = @$bad;
        my $said = "$record->{why} in $record->{path}";
        if ($record->{class} eq 'notrun') {
            push @{$out->{notrun}}, [$attempt, undef, $record->{why}];
        }
        elsif ($record->{class} eq 'wrong') {
            $out->{wrong} = $said if !defined $out->{wrong};
        }
        elsif (defined $record->{excused}) {
            push @{$out->{excused}}, "$record->{path} ($record->{excused})";
        }
        else {
            push @{$out->{spoiled}}, $said;
        }
    }
    return;
}

# Copies of a record are not attempts.
sub _values {
    my ($self, $entry) = @_;
    my $left_out = $self->{data}{left_out};

    return ([], []) if !defined $entry;
    my ($values, $from) = Assay::Collect::values_of($entry);
    if ($left_out) {
        my @good = grep { !$left_out->{$from->[$_]} } 0 .. $#$from;
        ($values, $from) = ([@$values[@good]], [@$from[@good]]);
    }
    my @attempts;
    for my $attempt (@$from) {
        push @attempts, $attempt
            if !@attempts || $attempts[-1] != $attempt;
    }
    return ($values, \@attempts);
}

sub _too_many_spoiled {
    my ($self, $clause, $spoiled) = @_;
    return $spoiled->[0] if @$spoiled == 1;
    return plural(scalar @$spoiled, 'attempt') . ' spoiled, '
        . "$clause->{spoiled} allowed: $spoiled->[0]";
}

sub _too_few {
    my ($self, $clause, $series, $row, $place, $attempts) = @_;
    my $functional
        = $self->{data}{functional}[$series->{index}]{$row}{$place};

    return scalar @$attempts . " of $clause->{runs} runs" if @$attempts;
    return 'only functional runs, which do not count' if $functional;
    my $why = $self->_nothing($series);
    $why .= " ($series->{metric})" if $clause->{series} != $series;
    return $why;
}

sub statistic {
    my ($statistic, $values) = @_;
    my ($name, $p) = @$statistic{qw(name p)};

    return quantile($p, @$values) if defined $p;
    return mean(@$values) if $name eq 'mean';
    my @sorted = sort { $a <=> $b } @$values;
    return $sorted[0]  if $name eq 'min';
    return $sorted[-1] if $name eq 'max';
    my $cv = cv(@sorted);
    return $cv * scale('x') if defined $cv;
    return (undef, @sorted < 2 ? 'one value has no spread'
        : 'the mean is zero: no relative spread');
}

sub path {
    my ($self, $attempt) = @_;
    return $self->{data}{records}[$attempt]{path};
}

# The figure in per cent of what the clause compares it with.
sub _relate {
    my ($self, $clause, $figure, $row, $place) = @_;
    my ($base, $why);

    if ($clause->{relative}{fleet}) {
        ($base, $why) = $self->_fleet($clause, $row);
    }
    else {
        my $keys = row_keys($clause, $row);
        my $base_row = join "\0", @$keys{@{$clause->{base}{each}}};
        my $other = $self->figure($clause, $clause->{base}, $base_row,
            $place);
        ($base, $why) = @$other{qw(value why)};
        my ($mine, $theirs) = map { Assay::Units::dimension($_) }
            grep { defined } map { $self->{data}{units}[$_->{index}] }
            $clause->{series}, $clause->{base};
        $why = 'base and metric are of different dimensions'
            if !defined $why && $mine ne $theirs;
        $why = "base: $why" if defined $why;
    }
    return $why if defined $why;
    return 'the base is not above zero' if $base <= 0;
    $figure->{base} = $base;
    $figure->{value} = $figure->{value} / $base * scale('x');
    return 'out of range beside the base'
        if !($figure->{value} - $figure->{value} == 0);
    return;
}

sub _fleet {
    my ($self, $clause, $row) = @_;
    my $known = $self->{fleet}{$clause->{id}}{$row};

    if (!$known) {
        my $series = $clause->{series};
        my @values = grep { defined }
            map { $self->figure($clause, $series, $row, $_)->{value} }
            grep { $self->{places}->lists($series->{scope}, $_) }
            $self->_places($series);
        $known = @values < 2 ? [undef, 'a fleet of fewer than two']
            : [quantile(0.5, @values)];
        $self->{fleet}{$clause->{id}}{$row} = $known;
    }
    return @$known;
}

# Low and high bound, tolerance included: a share of the limit's own size.
sub bounds {
    my ($clause, $limit) = @_;
    my $tolerance = $clause->{tolerance};

    return @{$limit->{bounds}} if $limit->{bounds};
    my %slack = map {
        my $bound = $limit->{$_};
        $_ => !$tolerance || !defined $bound ? 0
            : $tolerance->{unit} eq q{%}
            ? abs($bound) * $tolerance->{number} / 100
            : $tolerance->{base};
    } qw(low high);
    $limit->{bounds} = [
        defined $limit->{low}  ? $limit->{low} - $slack{low}   : undef,
        defined $limit->{high} ? $limit->{high} + $slack{high} : undef,
    ];
    return @{$limit->{bounds}};
}

sub _within {
    my ($value, $low, $high) = @_;
    return 0 if defined $low  && compare($value, $low) < 0;
    return 0 if defined $high && compare($value, $high) > 0;
    return 1;
}

# Hold a figure to its limit; returns the verdict.
sub decide {
    my ($clause, $limit, $figure) = @_;
    my ($low, $high) = bounds($clause, $limit);

    return 'PASS' if $limit->{kind} eq 'report';
    return _within($figure->{value}, $low, $high) ? 'PASS' : 'FAIL'
        if !$clause->{confidence};
    my @sorted = sort { $a <=> $b } @{$figure->{values}};
    my ($from, $to, $coverage) = interval(scalar @sorted,
        $clause->{statistic}{p}, $clause->{confidence});
    if (!defined $from) {
        $figure->{no_interval} = 1;
        return 'INCONCLUSIVE';
    }
    my @ends = @sorted[$from - 1, $to - 1];
    @$figure{qw(interval coverage)} = (\@ends, $coverage);
    return 'PASS' if 2 == grep { _within($_, $low, $high) } @ends;
    return 'FAIL'
        if defined $low && compare($ends[1], $low) < 0
        || defined $high && compare($ends[0], $high) > 0;
    return 'INCONCLUSIVE';
}

1;

__END__

=head1 NAME

Assay::Verdict - one clause at one place: measured, and held to its limit

=head1 METHODS

=over

=item new(data => COLLECT, places => PLACES, strict => BOOLEAN, today => DATE)

=item points(CLAUSE)

The points of a clause: [CLAUSE, ROW, PLACE], and [CLAUSE, undef, WHAT, WHY]
for a fault of the clause as a whole.  Places are those on the list and any
others that were measured.  Without a list of nodes, every host of every run of
the program owes its figure.  Each row that was measured anywhere, or that a
limit names, is owed at every place.

=item undisturbed(CLAUSE, ROW)

The packed figures by place, where no faulty record, no line that can't count
and no copy could bear on them; nothing otherwise.

=item touch(POINT)

Notes which faulty records bear on a point, for C<used>.

=item judged(CLAUSE, LIMIT, ROW, PLACE)

A hash of C<verdict> (before any waiver) and C<why>, or of C<value>, C<values>,
C<attempts>, C<base>, C<interval> and C<coverage>.

=item limit_of(CLAUSE, ROW), unlimited(CLAUSE), unlisted(CLAUSE), path(ATTEMPT)

The limit of a row, the rows without one, why coverage was not checked, and
where an attempt's record lies.

=back

=head1 FUNCTIONS

=over

=item bounds(CLAUSE, LIMIT)

Low and high bound with the tolerance: a percentage is of the bound's own
size, so that a negative bound is widened too.

=item decide(CLAUSE, LIMIT, FIGURE)

PASS or FAIL by the statistic; with C<confidence>, PASS where the whole
order-statistic interval meets the limit, FAIL where all of it misses, else
INCONCLUSIVE, as where there are too few values for an interval.

=item row_text(CLAUSE, ROW), row_keys(CLAUSE, ROW)

=item statistic(STATISTIC, VALUES)

The statistic of values, or (undef, WHY) where there is none.

=back

=head1 IN THIS ORDER

A point is INVALID where: its place is not on the list; a measurement there
can't count (unit, ceiling, floor, rule, keys that differ); a record that is
wrong bears on it; it was measured and not run in one record; more attempts
were spoiled than allowed.  It is NOTRUN where nothing was attempted but what
could not be run.  It is INVALID where fewer attempts than C<runs> are left, or
the statistic does not exist.  Then the limit decides.

The fleet of C<relative to = fleet median> is the listed places that have a
figure, two at least; a base must have a figure that would count itself, be of
the same dimension and above zero.

=cut
