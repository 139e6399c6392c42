package Assay::Collect;

# What the records hold of what the clauses ask for.

use strict;
use warnings;

use Assay::Record;
use Assay::Rule;
use Assay::Units qw(compare dimension scale);
use Carp qw(croak);
use POSIX ();
use Storable ();

# Above this many bytes a second process reads half of the records.
my $SHARE_FROM = 16 << 20;

# The order of the figures that Assay::Record hands on.
my %FIGURE = (value => 0, best => 2, min => 3, q1 => 4, median => 5, q3 => 6,
    max => 7);

my @MERGED = qw(data trouble functional notrun touched);

sub new {
    my ($class, %given) = @_;
    my $self = bless {
        series  => $given{series},
        places  => $given{places},
        shapes  => {},
        records => [],
        metrics => {},
        unfit   => {},
        kinds   => [],
        units   => [],
        sigs    => [],
        sig_of  => {},
        data    => [],
        trouble => [],
        functional => [],
        touched    => [],
        notrun     => [],
    }, $class;

    for my $series (@{$self->{series}}) {
        push @{$self->{by_metric}{$series->{metric}}}, $series;
        $self->{fixed}{$_} = 1 for keys %{$series->{where}};
        $self->{sampled}{$series->{metric}} = 1
            if defined $series->{take} && $series->{take} eq 'samples';
    }
    return $self;
}

sub read_all {
    my ($self, @paths) = @_;
    my $total = 0;
    my @sizes = map { -s $_ || 0 } @paths;

    $total += $_ for @sizes;
    if ($total < $SHARE_FROM || @paths < 2) {
        $self->_read_range(\@paths, 0, $#paths);
    }
    else {
        my ($half, $split) = (0, 0);
        $half += $sizes[$split++]
            while $split < $#paths && $half + $sizes[$split] <= $total / 2;
        $split ||= 1;
        $self->_read_shared(\@paths, $split);
    }
    $self->_find_copies();
    $self->_index_bad();
    return $self;
}

sub _read_range {
    my ($self, $paths, $first, $last) = @_;
    $self->_read_one($_, $paths->[$_]) for $first .. $last;
    return;
}

sub _read_shared {
    my ($self, $paths, $split) = @_;

    pipe my $from, my $to or croak "can't make a pipe: $!";
    my $child = fork;
    croak "can't fork: $!" if !defined $child;
    if (!$child) {
        close $from;
        my $done = eval {
            $self->_read_range($paths, $split, $#$paths);
            Storable::nstore_fd($self->_yield(), $to) && close $to;
        };
        print {*STDERR} "assay judge: $@" if !$done;
        POSIX::_exit($done ? 0 : 1);
    }
    close $to;
    $self->_read_range($paths, 0, $split - 1);
    my $other = eval { Storable::fd_retrieve($from) };
    waitpid $child, 0;
    croak 'the second reader failed' if $? || !$other;
    $self->_merge($other);
    return;
}

sub _yield {
    my ($self) = @_;
    return {
        map { $_ => $self->{$_} } @MERGED,
        qw(records metrics unfit kinds units sigs)
    };
}

sub _merge {
    my ($self, $other) = @_;
    my @id = map { $self->_sig($_) } @{$other->{sigs}};

    $self->{records}[$_] ||= $other->{records}[$_]
        for 0 .. $#{$other->{records}};
    for my $count (qw(metrics unfit)) {
        $self->{$count}{$_} += $other->{$count}{$_}
            for keys %{$other->{$count}};
    }
    push @{$self->{notrun}}, @{$other->{notrun}};
    for my $s (0 .. $#{$self->{series}}) {
        $self->{units}[$s] ||= $other->{units}[$s];
        $self->{kinds}[$s]{$_} = 1 for keys %{$other->{kinds}[$s] || {}};
        $self->_merge_data($s, $other->{data}[$s] || {}, \@id);
        for my $what (qw(trouble functional touched)) {
            my $table = $other->{$what}[$s] || {};
            for my $row (keys %$table) {
                push @{$self->{$what}[$s]{$row}{$_}}, @{$table->{$row}{$_}}
                    for keys %{$table->{$row}};
            }
        }
    }
    return;
}

sub _merge_data {
    my ($self, $s, $table, $id) = @_;

    for my $row (keys %$table) {
        my $mine = $self->{data}[$s]{$row} ||= {};
        for my $place (keys %{$table->{$row}}) {
            my $entry = $table->{$row}{$place};
            $entry->[0] = $id->[$entry->[0]];
            my $old = $mine->{$place};
            if (!$old) { $mine->{$place} = $entry; next }
            $self->_differ($s, $row, $place, $entry->[1], $old->[0],
                $entry->[0]) if $old->[0] != $entry->[0];
            push @$old, @$entry[2 .. $#$entry];
            $old->[1] = $entry->[1];
        }
    }
    return;
}

sub _read_one {
    my ($self, $attempt, $path) = @_;
    my @kept;
    my $record = Assay::Record->new(
        path   => $path,
        shapes => $self->{shapes},
        wanted => $self->{sampled},
        metric => sub { $self->_metric(\@kept, @_) },
    );

    $record->read_file();
    my $bench = $record->{bench};
    my @hosts = sort keys %{$record->{hosts}};
    $self->{records}[$attempt] = {
        path   => $path,
        bench  => $bench,
        class  => $record->{class},
        why    => $record->{why},
        digest => $record->{digest},
        run    => scalar $record->run_key(),
        hosts  => $record->{stopped} ? [] : \@hosts,
        opt    => [map { $self->_asked_of($_) } @{$record->{opt}}],
        excused => scalar $record->excused(),
        notrun  => @{$record->{notrun}}
            ? $record->{notrun}[0]{reason} : undef,
    };
    if (defined $bench) {
        $self->{metrics}{"$bench.$_"}++ for keys %{$record->{names}};
    }
    if ($record->{class}) {
        for my $k (@kept) {
            push @{$self->{touched}[$k->{s}]{$k->{row}}{$k->{place}}},
                $attempt;
        }
    }
    else {
        $self->_keep($attempt, $record, \@kept);
    }
    push @{$self->{notrun}}, [$attempt, $_->{host}, $_->{reason}]
        for @{$record->{notrun}};
    return;
}

# Of an opt line, the keys that some clause fixes.
sub _asked_of {
    my ($self, $fields) = @_;
    my %kept = map { $_ => $fields->{$_} }
        grep { $self->{fixed}{$_} } keys %$fields;
    return %kept ? \%kept : ();
}

# One metric line: keep what the clauses ask for.
sub _metric {
    my ($self, $kept, $record, $m) = @_;
    my $metric = "$record->{bench}.$m->{name}";

    my $asked = $self->{by_metric}{$metric} or return;
    my $place = $m->{place};
    my $kind = defined $place->{pair} ? 'pair'
        : defined $place->{device}    ? 'device'
        : defined $place->{host}      ? 'node'
        :                               'none';
    my $fits = $m->{shape}{fits}{"$metric $kind"}
        ||= $self->_fits($asked, $kind, $m->{shape});
    my $name = $kind eq 'node' ? $place->{host}
        : $kind eq 'pair'      ? $place->{pair}
        : $kind eq 'device'    ? "$place->{host}/$place->{device}"
        :                        'system';
    my $fitted = 0;
    for my $fit (@$fits) {
        my $series = $fit->{series};
        next if $series->{at} && _elsewhere($series->{at}, $place);
        $fitted = 1;
        push @$kept, $self->_figure($fit, $m, $name);
    }
    $self->{unfit}{$metric}++ if !$fitted;
    return;
}

sub _elsewhere {
    my ($at, $place) = @_;
    return grep { !defined $place->{$_} || $place->{$_} ne $at->{$_} }
        keys %$at;
}

# Which series a line of this shape belongs to: remembered with the shape.
sub _fits {
    my ($self, $asked, $kind, $shape) = @_;
    my $keys = $shape->{keys};
    my @fits;

    for my $series (@$asked) {
        my $where = $series->{where};
        next if grep { !defined $keys->{$_} || $keys->{$_} ne $where->{$_} }
            keys %$where;
        $self->{kinds}[$series->{index}]{$kind} = 1;
        next if $series->{scope} ne 'system' && $series->{scope} ne $kind;
        my %rest = %$keys;
        delete @rest{keys %$where, @{$series->{each}}, 'functional'};
        delete $rest{ranks} if $kind eq 'pair' && $series->{across};
        my ($lacking) = grep { !defined $keys->{$_} } @{$series->{each}};
        push @fits, {
            series     => $series,
            functional => defined $keys->{functional}
                && $keys->{functional} ne 'no' ? 1 : 0,
            lacking => $lacking,
            row => join("\0", map { defined $_ ? $_ : q{} }
                @$keys{@{$series->{each}}}),
            rest => join("\0", map {"$_=$rest{$_}"} sort keys %rest),
            facts => {map { $_ => $keys->{$_} }
                grep { defined $keys->{$_} } @{$series->{facts}}},
        };
    }
    return \@fits;
}

sub _sig {
    my ($self, $text) = @_;
    my $id = $self->{sig_of}{$text};

    return $id if defined $id;
    push @{$self->{sigs}}, $text;
    return $self->{sig_of}{$text} = $#{$self->{sigs}};
}

# What one line says to one series.
sub _figure {
    my ($self, $fit, $m, $place) = @_;
    my $series = $fit->{series};
    my $figures = $m->{figures};
    my $take = defined $series->{take} ? $series->{take}
        : defined $figures->[5]        ? 'median'
        :                                'value';
    my $scale = scale($m->{unit});
    my $sig = $fit->{sig}{$take};

    $sig = $fit->{sig}{$take} = $self->_sig("$fit->{rest}\0take=$take")
        if !defined $sig;
    my %kept = (s => $series->{index}, row => $fit->{row}, place => $place,
        sig => $sig, fit => $fit);
    $self->{units}[$series->{index}] ||= $m->{unit};
    if (!defined $scale) {
        $kept{trouble} = "unknown unit '$m->{unit}'";
    }
    elsif (defined $series->{dimension}
        && $series->{dimension} ne dimension($m->{unit})) {
        $kept{trouble} = "unit $m->{unit} measures "
            . dimension($m->{unit}) . ", not $series->{dimension}";
    }
    elsif (defined $fit->{lacking}) {
        $kept{trouble} = "no key $fit->{lacking} on the metric line";
    }
    elsif ($take eq 'samples') {
        @kept{qw(identity scale)} = ($m->{identity}, $scale);
    }
    elsif (!defined $figures->[$FIGURE{$take}]) {
        $kept{trouble} = "no $take on the metric line";
    }
    else {
        my $value = $figures->[$FIGURE{$take}] * $scale;
        if ($value - $value == 0) { $kept{value} = $value }
        else                      { $kept{trouble} = 'out of range' }
    }
    $kept{trouble} ||= _beyond($series, $m, $scale, $kept{value})
        if $series->{ceiling} || $series->{floor};
    return \%kept;
}

# A figure that can't be, on the line, makes the whole measurement doubtful.
sub _beyond {
    my ($series, $m, $scale, $taken) = @_;
    my $figures = $m->{figures};

    return if !defined $scale;
    for my $end ([ceiling => 1, 7], [floor => -1, 3]) {
        my ($name, $side, $extreme) = @$end;
        my $bound = $series->{$name} or next;
        return "unit $m->{unit} against a $name of $bound->{text}"
            if $bound->{dimension} ne dimension($m->{unit});
        for my $figure (grep { defined } @$figures[0, 2, $extreme]) {
            next if compare($figure * $scale, $bound->{base}) != $side;
            return "$figure $m->{unit} is beyond the $name of "
                . $bound->{text};
        }
        return "beyond the $name of $bound->{text}"
            if defined $taken && compare($taken, $bound->{base}) == $side;
    }
    return;
}

# The record turned out to be good: its lines count.
sub _keep {
    my ($self, $attempt, $record, $kept) = @_;
    my %system;

    for my $k (@$kept) {
        my ($s, $row, $place, $fit) = @$k{qw(s row place fit)};
        my $series = $fit->{series};
        my $functional = $fit->{functional} || $record->{functional} ? 1 : 0;
        if ($functional != $series->{functional}) {
            $place = 'system' if $series->{scope} eq 'system';
            push @{$self->{functional}[$s]{$row}{$place}}, $attempt;
            next;
        }
        my $why = $k->{trouble};
        $why ||= _broken_rule($series, $record, $k)
            if @{$series->{rules}};
        my @values = _values($record, $k);
        $why ||= 'no sample line' if !@values;
        $why ||= 'out of range'
            if grep { defined && !($_ - $_ == 0) } @values;
        if ($series->{scope} eq 'system') {
            push @{$system{$s}{$row}}, [$place, $k->{sig}, $why, @values];
        }
        elsif ($why) {
            $self->_trouble($s, $row, $place, $attempt, $why);
        }
        else {
            $self->_add($s, $row, $place, $k->{sig}, $attempt, \@values);
        }
    }
    for my $s (keys %system) {
        $self->_across($s, $_, $attempt, $system{$s}{$_})
            for keys %{$system{$s}};
    }
    return;
}

sub _values {
    my ($record, $k) = @_;

    return $k->{value} if !defined $k->{identity};
    my $samples = $record->{samples}{$k->{identity}};
    return if !ref $samples;
    return map { $_ * $k->{scale} } @$samples;
}

sub _broken_rule {
    my ($series, $record, $k) = @_;
    my $facts = $k->{fit}{facts};
    my @hosts = grep { $_ ne 'system' } map { split /:/ }
        $k->{place} =~ m{\A([^/]*)};

    for my $rule (@{$series->{rules}}) {
        my $why = Assay::Rule::broken($rule, sub {
            my ($key) = @_;
            return [$facts->{$key}] if defined $facts->{$key};
            return $record->facts($key, \@hosts);
        });
        return $why if $why;
    }
    return;
}

sub _trouble {
    my ($self, $s, $row, $place, $attempt, $why) = @_;
    push @{$self->{trouble}[$s]{$row}{$place}}, [$attempt, $why];
    return;
}

sub _add {
    my ($self, $s, $row, $place, $sig, $attempt, $values) = @_;
    my $entry = $self->{data}[$s]{$row}{$place} ||= [$sig, -1];

    if ($entry->[0] != $sig) {
        $self->_differ($s, $row, $place, $attempt, $entry->[0], $sig);
    }
    elsif ($entry->[1] == $attempt) {
        $self->_trouble($s, $row, $place, $attempt,
            'two lines of one place in one record');
    }
    $entry->[1] = $attempt;
    push @$entry, map { ($_, $attempt) } @$values;
    return;
}

sub _differ {
    my ($self, $s, $row, $place, $attempt, $one, $two) = @_;
    my ($mine, $other) = map {
        +{map { split /=/, $_, 2 } split /\0/, $self->{sigs}[$_]}
    } $one, $two;
    my %all = (%$mine, %$other);
    my @differ = grep {
        !defined $mine->{$_} || !defined $other->{$_}
            || $mine->{$_} ne $other->{$_}
    } sort keys %all;

    return $self->_trouble($s, $row, $place, $attempt,
        'lines differ in ' . join(', ', map {
            "$_ (" . join(', ', map { defined $_ ? $_ : 'none' }
                $mine->{$_}, $other->{$_}) . ')'
        } @differ) . ', named neither in where nor in each');
}

# One figure of the system from the lines of one record.
sub _across {
    my ($self, $s, $row, $attempt, $lines) = @_;
    my $series = $self->{series}[$s];
    my $across = $series->{across};
    my %seen;

    for my $line (@$lines) {
        my ($place, $sig, $why) = @$line;
        return $self->_trouble($s, $row, 'system', $attempt,
            "$place: $why") if $why;
        return $self->_trouble($s, $row, 'system', $attempt,
            "$place: two lines of one place in one record")
            if $across && $seen{$place}++;
        return $self->_differ($s, $row, 'system', $attempt,
            $lines->[0][1], $sig) if $sig != $lines->[0][1];
    }
    return $self->_trouble($s, $row, 'system', $attempt,
        @$lines . ' lines in one record: where or across must say which')
        if !$across && @$lines > 1;
    my @values = map { @$_[3 .. $#$_] } @$lines;
    if ($across) {
        my $why = $self->_uncovered($series, [keys %seen]);
        return $self->_trouble($s, $row, 'system', $attempt, $why) if $why;
        @values = (_combine($across, @values));
        return $self->_trouble($s, $row, 'system', $attempt, 'out of range')
            if !($values[0] - $values[0] == 0);
    }
    return $self->_add($s, $row, 'system', $lines->[0][1], $attempt,
        \@values);
}

sub _combine {
    my ($across, @values) = @_;
    my $sum = 0;

    if ($across eq 'sum') {
        $sum += $_ for @values;
        return $sum;
    }
    @values = sort { $a <=> $b } @values;
    return $values[0]  if $across eq 'min';
    return $values[-1] if $across eq 'max';
    return ($values[$#values / 2] + $values[@values / 2]) / 2;
}

sub _uncovered {
    my ($self, $series, $seen) = @_;
    my ($kind) = $seen->[0] =~ m{([:/])};
    $kind = !defined $kind ? 'node' : $kind eq q{:} ? 'pair' : 'device';

    my %seen = map { $_ => 1 } @$seen;
    my ($foreign) = grep { !$self->{places}->lists($kind, $_) } sort @$seen;
    return "$foreign is not on the list" if defined $foreign;
    my $expected = $self->{places}->expected($kind) or return;
    my @lost = grep { !$seen{$_} } @$expected;
    return if !@lost;
    return "no measurement of $lost[0]"
        . (@lost > 1 ? " and $#lost more" : q{});
}

# The same run counts once, whatever its files are called.
sub _find_copies {
    my ($self) = @_;
    my (%digest, %run);

    for my $attempt (0 .. $#{$self->{records}}) {
        my $record = $self->{records}[$attempt];
        my ($digest, $run) = @$record{qw(digest run)};
        if (defined $digest && defined $digest{$digest}) {
            $record->{copy_of} = $digest{$digest};
            $self->{left_out}{$attempt} = 1;
        }
        elsif (defined $run && defined $run{$run}) {
            my $first = $self->{records}[$run{$run}]{path};
            $record->{class} = 'wrong';
            $record->{why} = "same run as $first, but altered";
            $record->{excused} = undef;
            $self->{left_out}{$attempt} = 1;
        }
        $digest{$digest} = $attempt
            if defined $digest && !defined $digest{$digest};
        $run{$run} = $attempt if defined $run && !defined $run{$run};
    }
    return;
}

# Faulty records and what could not be run, by the hosts they name.
sub _index_bad {
    my ($self) = @_;

    for my $attempt (0 .. $#{$self->{records}}) {
        my $record = $self->{records}[$attempt];
        next if !$record->{class} || defined $record->{copy_of};
        my @hosts = @{$record->{hosts}};
        push @{$self->{bad_at}{$_}}, $attempt for @hosts;
        push @{$self->{bad_anywhere}}, $attempt if @hosts < 2;
        $self->{bad}{$attempt} = $record;
    }
    for my $line (@{$self->{notrun}}) {
        next if $self->{left_out}{$line->[0]};
        push @{$self->{notrun_at}{$line->[1]}}, $line;
    }
    return;
}

1;
