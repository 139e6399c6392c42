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

# What can be taken, in the order of the figures that Assay::Record hands on.
my @TAKE = qw(value n best min q1 median q3 max samples);
my %FIGURE = map { $TAKE[$_] => $_ } 0 .. $#TAKE;
my $SAMPLES = $FIGURE{samples};

my @MERGED = qw(data trouble functional notrun touched);

sub new {
    my ($class, %given) = @_;
    my $self = bless {
        series  => $given{series},
        places  => $given{places},
        ran     => $given{ran} || {},
        share_from => defined $given{share_from} ? $given{share_from}
            : $SHARE_FROM,
        known   => {},
        name_of => {},
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
        $series->{at} = $self->_names($series->{at}) if $series->{at};
    }
    return $self;
}

sub read_all {
    my ($self, @paths) = @_;
    my $total = 0;
    my @sizes = map { -s $_ || 0 } @paths;

    $total += $_ for @sizes;
    if ($total < $self->{share_from} || @paths < 2) {
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
    my %with = (
        known  => $self->{known},
        wanted => $self->{sampled},
        metric => sub { $self->_metric(@_) },
        plan   => sub { $self->_plan(@_) },
    );

    $self->_read_one($_, path => $paths->[$_], %with) for $first .. $last;
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
        qw(records metrics unfit kinds units sigs name_of)
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
    $self->{name_of}{$_} = $other->{name_of}{$_} for keys %{$other->{name_of}};
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
            my $old = $mine->{$place};
            my $sig = $id->[unpack 'N', $entry];
            substr $entry, 0, 4, pack 'N', $sig;
            if (!defined $old) { $mine->{$place} = $entry; next }
            my $first = unpack 'N', $old;
            $self->_differ($s, $row, $place, (values_of($entry))[1][0],
                $first, $sig) if $first != $sig;
            $mine->{$place} .= substr $entry, 4;
        }
    }
    return;
}

sub _read_one {
    my ($self, $attempt, %with) = @_;
    my $kept = $self->{kept} = [];
    my $record = Assay::Record->new(%with);

    $record->read_file();
    $self->_rename($record);
    my $bench = $record->{bench};
    my %about = (
        path    => $with{path},
        bench   => $bench,
        class   => $record->{class},
        run     => scalar $record->run_key(),
        figures => defined $bench ? scalar $record->figures_key() : undef,
        measured => $record->{metrics},
        hosts    => join(q{,}, $self->_hosts_of($record)),
    );
    @about{qw(why excused)} = ($record->{why}, scalar $record->excused())
        if $record->{class};
    $about{notrun} = $record->{notrun}[0]{reason} if @{$record->{notrun}};
    my @opt = map { $self->_asked_of($_) } @{$record->{opt}};
    $about{opt} = \@opt if @opt;
    $self->{records}[$attempt] = \%about;
    if (defined $bench) {
        $self->{metrics}{"$bench.$_"}++ for keys %{$record->{names}};
    }
    my $found = $record->{found};
    if ($record->{class} || $record->{functional}) {
        $self->_look_again($kept, $found);
        $found = [];
    }
    if ($record->{class}) {
        for my $k (@$kept) {
            push @{$self->{touched}[$k->[0]{s}]{$k->[0]{row}}{$k->[1]}},
                $attempt;
        }
    }
    else {
        $self->_keep_found($attempt, $found);
        $self->_keep($attempt, $record, $kept);
    }
    push @{$self->{notrun}}, [$attempt, $_->{host}, $_->{reason}]
        for @{$record->{notrun}};
    return;
}

# Where it ran: a faulty record may not have come to say it all, or be read
# that far.
sub _hosts_of {
    my ($self, $record) = @_;
    my %hosts = $record->{stopped} ? () : %{$record->{hosts}};
    my $ran = $record->{class} && $self->{ran}{$record->{path}};

    $hosts{$_} = 1 for split /,/, $ran || q{};
    my %named = map { $self->_name($_) => 1 } keys %hosts;
    my @sorted = sort keys %named;
    return @sorted;
}

# The name under which a host is on the list.
sub _name {
    my ($self, $host) = @_;
    return $self->{name_of}{$host} //= $self->{places}->name_of($host);
}

# The same of a line's place.
sub _names {
    my ($self, $at) = @_;
    my %named = %$at;

    $named{host} = $self->_name($at->{host}) if defined $at->{host};
    $named{pair} = join q{:}, map { $self->_name($_) } split /:/, $at->{pair}
        if defined $at->{pair};
    return \%named;
}

# The same of what a record says of hosts elsewhere.
sub _rename {
    my ($self, $record) = @_;
    my $found = $record->{found};

    return if !grep { $self->_name($_) ne $_ } keys %{$record->{hosts}};
    for my $line (grep { defined $_->{host} } @{$record->{env}}, @{$record->{notrun}}) {
        $line->{host} = $self->_name($line->{host});
    }
    for (my $i = 1; $i < @$found; $i += 3) {
        $found->[$i] = $self->_name($found->[$i]);
    }
    return;
}

# Hosts that one name of the list stands for, more than one: a sentence each.
sub ambiguous {
    my ($self) = @_;
    my %hosts;

    push @{$hosts{$self->{name_of}{$_}}}, $_
        for grep {/[.]/} sort keys %{$self->{name_of}};
    return map {"$_ on the list may be any of @{$hosts{$_}}: name hosts in full"}
        grep { @{$hosts{$_}} > 1 } sort keys %hosts;
}

# Of an opt line, the keys that some clause fixes.
sub _asked_of {
    my ($self, $fields) = @_;
    my @asked = grep { defined $fields->{$_} } keys %{$self->{fixed}};
    return if !@asked;
    return {map { $_ => $fields->{$_} } @asked};
}

# What Assay::Record does with the lines of a node that are alike and have all
# figures; nothing where no clause asks for them.  Most lines answer one clause
# that takes one figure, if it is not beyond the ceiling.
sub _plan {
    my ($self, $bench, $name, $unit, $shape) = @_;
    my $asks = $self->_asks("$bench.$name", $unit, 'node', $shape);
    my ($ask) = @$asks;

    return if !$ask;
    my %plan = (take => sub {
        my ($host, $figures, $id) = @_;
        my $name = $self->_name($host);
        $self->_answer($asks, $name, {host => $name}, $unit, $figures, $id);
    });
    return \%plan if @$asks > 1 || $ask->{unfit} || $ask->{trouble}
        || $ask->{at} || !$ask->{simple} || $ask->{series}{floor};
    my $index = defined $ask->{index} ? $ask->{index} : $FIGURE{median};
    return \%plan if $index == $SAMPLES;
    return {
        %plan,
        figure => $index,
        most   => defined $ask->{ceiling} ? $ask->{ceiling} / $ask->{scale}
            : 9**9**9,
        ask    => {
            %$ask,
            index => $index,
            sig   => $ask->{sig}{$index},
            head  => pack('N', $ask->{sig}{$index}),
            whole => $ask,
        },
    };
}

# One metric line: keep what the clauses ask for.
sub _metric {
    my ($self, $record, $name, $unit, $figures, $at, $shape, $id) = @_;
    my $kind = defined $at->{pair} ? 'pair'
        : defined $at->{device}    ? 'device'
        : defined $at->{host}      ? 'node'
        :                            'none';
    my $asks = $shape->{asks}{"$record->{bench}.$name $unit $kind"}
        ||= $self->_asks("$record->{bench}.$name", $unit, $kind, $shape);

    return if !@$asks;
    $at = $self->_names($at);
    my $place = $kind eq 'node' ? $at->{host}
        : $kind eq 'pair'       ? $at->{pair}
        : $kind eq 'device'     ? "$at->{host}/$at->{device}"
        :                         'system';
    $self->_answer($asks, $place, $at, $unit, $figures, $id);
    return;
}

# Keep [ASK, PLACE, VALUE, WHY, INDEX, IDENTITY] for each ASK that the line
# answers.
sub _answer {
    my ($self, $asks, $place, $at, $unit, $figures, $id) = @_;

    for my $ask (@$asks) {
        if ($ask->{unfit}) {
            $self->{unfit}{$ask->{unfit}}++;
            next;
        }
        next if $ask->{at} && _elsewhere($ask->{at}, $at);
        my $index = defined $ask->{index} ? $ask->{index}
            : defined $figures->[5]       ? 5
            :                               0;
        my $value = $figures->[$index];
        my $why = $ask->{trouble};
        if    (defined $value)      { $value *= $ask->{scale} }
        elsif ($index != $SAMPLES) { $why ||= $ask->{lost} }
        $why ||= _beyond($ask, $unit, $figures) if $ask->{bounded};
        push @{$self->{kept}}, [$ask, $place, $value, $why, $index, $id];
    }
    return;
}

sub _elsewhere {
    my ($at, $place) = @_;
    return grep { !defined $place->{$_} || $place->{$_} ne $at->{$_} }
        keys %$at;
}

# What is asked of lines of one metric, unit, kind of place and shape: found
# out once.
sub _asks {
    my ($self, $metric, $unit, $kind, $shape) = @_;
    my $keys = $shape->{keys};
    my @asks;

    for my $series (@{$self->{by_metric}{$metric} || []}) {
        my $where = $series->{where};
        next if grep { !defined $keys->{$_} || $keys->{$_} ne $where->{$_} }
            keys %$where;
        $self->{kinds}[$series->{index}]{$kind} = 1;
        next if $series->{scope} ne 'system' && $series->{scope} ne $kind;
        $self->{units}[$series->{index}] ||= $unit;
        push @asks, $self->_ask($series, $unit, $kind, $keys);
    }
    return \@asks if @asks || !$self->{by_metric}{$metric};
    return [{unfit => $metric}];
}

sub _ask {
    my ($self, $series, $unit, $kind, $keys) = @_;
    my $take = $series->{take};
    my $scale = scale($unit);
    my %rest = %$keys;
    my %ask = (
        series     => $series,
        at         => $series->{at},
        s          => $series->{index},
        scale      => defined $scale ? $scale : 1,
        index      => defined $take ? $FIGURE{$take} : undef,
        lost       => 'no ' . ($take || 'value') . ' on the metric line',
        bounded    => $series->{ceiling} || $series->{floor},
        ceiling    => $series->{ceiling} ? $series->{ceiling}{base} : undef,
        functional => defined $keys->{functional}
            && $keys->{functional} ne 'no' ? 1 : 0,
        row => join("\0", map { defined $_ ? $_ : q{} }
            @$keys{@{$series->{each}}}),
        facts => {map { $_ => $keys->{$_} }
            grep { defined $keys->{$_} } @{$series->{facts}}},
    );

    delete @rest{keys %{$series->{where}}, @{$series->{each}}, 'functional'};
    delete $rest{ranks} if $kind eq 'pair' && $series->{across};
    my $text = join "\0", map {"$_=$rest{$_}"} sort keys %rest;
    $ask{sig}{$_} = $self->_sig("$text\0take=$TAKE[$_]") for 0 .. $#TAKE;
    my ($lacking) = grep { !defined $keys->{$_} && !$series->{optional}{$_} }
        @{$series->{each}};
    $ask{trouble} = !defined $scale ? "unknown unit '$unit'"
        : _other_dimension($series, $unit) || (defined $lacking
            ? "no key $lacking on the metric line" : undef);
    $ask{simple} = $series->{scope} ne 'system' && !@{$series->{rules}}
        && $ask{functional} == $series->{functional};
    return \%ask;
}

sub _other_dimension {
    my ($series, $unit) = @_;
    my $own = dimension($unit);

    return "unit $unit measures $own, not $series->{dimension}"
        if defined $series->{dimension} && $series->{dimension} ne $own;
    for my $end (grep { $series->{$_} } qw(ceiling floor)) {
        return "unit $unit against a $end of $series->{$end}{text}"
            if $series->{$end}{dimension} ne $own;
    }
    return;
}

sub _sig {
    my ($self, $text) = @_;
    my $id = $self->{sig_of}{$text};

    return $id if defined $id;
    push @{$self->{sigs}}, $text;
    return $self->{sig_of}{$text} = $#{$self->{sigs}};
}

# A figure that can't be, on the line, makes the whole measurement doubtful.
sub _beyond {
    my ($ask, $unit, $figures) = @_;
    my ($scale, $series) = @$ask{qw(scale series)};
    my ($min, $max) = (sort { $a <=> $b } grep { defined }
            @$figures[0, 2 .. 7])[0, -1];

    if (my $ceiling = $series->{ceiling}) {
        return "$max $unit is beyond the ceiling of $ceiling->{text}"
            if $max * $scale > $ceiling->{base}
            && compare($max * $scale, $ceiling->{base}) > 0;
    }
    if (my $floor = $series->{floor}) {
        return "$min $unit is beyond the floor of $floor->{text}"
            if $min * $scale < $floor->{base}
            && compare($min * $scale, $floor->{base}) < 0;
    }
    return;
}

# Usual lines of a record that turned out to be none of the usual.
sub _look_again {
    my ($self, $kept, $found) = @_;

    for (my $i = 0; $i < @$found; $i += 3) {
        my ($ask, $place, $value) = @$found[$i .. $i + 2];
        push @$kept, [$ask->{whole}, $place, $value * $ask->{scale}, undef,
            $ask->{index}];
    }
    return;
}

# What the usual lines of a good record hold: ASK, PLACE, FIGURE and so on,
# figures that no scale takes out of range.
sub _keep_found {
    my ($self, $attempt, $found) = @_;
    my $tail = pack 'N', $attempt;

    for (my $i = 0; $i < @$found; $i += 3) {
        my ($ask, $place, $value) = @$found[$i .. $i + 2];
        my $table = $ask->{table}
            ||= $self->{data}[$ask->{s}]{$ask->{row}} ||= {};
        my $entry = \$table->{$place};
        $value *= $ask->{scale};
        if (!defined $$entry) {
            $$entry = $ask->{head} . pack('d', $value) . $tail;
        }
        elsif (substr($$entry, 0, 4) eq $ask->{head}
            && substr($$entry, -4) ne $tail) {
            $$entry .= pack('d', $value) . $tail;
        }
        else {
            $self->_pool($entry, $ask->{s}, $ask->{row}, $place, $ask->{sig},
                $attempt, $value);
        }
    }
    return;
}

# The record turned out to be good: its lines count.
sub _keep {
    my ($self, $attempt, $record, $kept) = @_;
    my %system;

    for my $k (@$kept) {
        my ($ask, $place, $value, $why, $index) = @$k;
        my ($s, $row) = @$ask{qw(s row)};
        if (!$ask->{simple} || $record->{functional} || $index == $SAMPLES) {
            $self->_keep_other($attempt, $record, $k, \%system);
        }
        elsif (defined $why || !($value - $value == 0)) {
            $self->_trouble($s, $row, $place, $attempt,
                defined $why ? $why : 'out of range');
        }
        else {
            $self->_add($s, $row, $place, $ask->{sig}{$index}, $attempt,
                [$value]);
        }
    }
    for my $s (keys %system) {
        $self->_across($s, $_, $attempt, $system{$s}{$_})
            for keys %{$system{$s}};
    }
    return;
}

# The lines that need a second look, now that the whole record is known.
sub _keep_other {
    my ($self, $attempt, $record, $k, $system) = @_;
    my ($ask, $place, $value, $why, $index, $id) = @$k;
    my ($s, $row, $series) = @$ask{qw(s row series)};
    my $functional = $ask->{functional} || $record->{functional} ? 1 : 0;

    if ($functional != $series->{functional}) {
        $place = 'system' if $series->{scope} eq 'system';
        push @{$self->{functional}[$s]{$row}{$place}}, $attempt;
        return;
    }
    $why ||= _broken_rule($series, $record, $ask, $place)
        if @{$series->{rules}};
    my @values = $index == $SAMPLES
        ? _samples($record, $id, $ask->{scale}) : $value;
    $why ||= 'no sample line' if !@values;
    $why ||= 'out of range' if grep { !defined || !($_ - $_ == 0) } @values;
    if ($series->{scope} eq 'system') {
        push @{$system->{$s}{$row}},
            [$place, $ask->{sig}{$index}, $why, @values];
        return;
    }
    return $self->_trouble($s, $row, $place, $attempt, $why) if $why;
    return $self->_add($s, $row, $place, $ask->{sig}{$index}, $attempt,
        \@values);
}

sub _samples {
    my ($record, $id, $scale) = @_;
    my $samples = $record->{samples}{$id};

    return if !ref $samples;
    return map { $_ * $scale } @$samples;
}

sub _broken_rule {
    my ($series, $record, $ask, $place) = @_;
    my $facts = $ask->{facts};
    my @hosts = grep { $_ ne 'system' } map { split /:/ }
        $place =~ m{\A([^/]*)};

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
    my $entry = \$self->{data}[$s]{$row}{$place};
    return $self->_pool($entry, $s, $row, $place, $sig, $attempt, @$values);
}

# Add the values of one attempt to an entry: a packed string, since there may
# be a million of them.  Lines that are not of one kind are never pooled.
sub _pool {
    my ($self, $entry, $s, $row, $place, $sig, $attempt, @values) = @_;
    my $added = @values == 1 ? pack 'dN', @values, $attempt
        : pack '(dN)*', map { ($_, $attempt) } @values;

    if (!defined $$entry) {
        $$entry = pack('N', $sig) . $added;
        return;
    }
    my $first = unpack 'N', $$entry;
    if ($first != $sig) {
        $self->_differ($s, $row, $place, $attempt, $first, $sig);
    }
    elsif (unpack('N', substr $$entry, -4) == $attempt) {
        $self->_trouble($s, $row, $place, $attempt,
            'two lines of one place in one record');
    }
    $$entry .= $added;
    return;
}

# The values of an entry, and the attempt of each.
sub values_of {
    my ($entry) = @_;
    return ([unpack 'x4(dx4)*', $entry], [unpack 'x4(x8N)*', $entry]);
}

sub figures_of {
    return unpack 'x4(dx4)*', $_[0];
}

# The same for entries of the same attempts.
sub attempts_key {
    return join q{}, unpack 'x4(x8a4)*', $_[0];
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
    my (%run, %figures, %digest);

    for my $attempt (0 .. $#{$self->{records}}) {
        my $record = $self->{records}[$attempt];
        my ($run, $figures) = delete @$record{qw(run figures)};
        next if !defined $run;
        my $first = $run{$run};
        if (defined $first) {
            $self->_copy($attempt, $first, \%digest);
            next;
        }
        $run{$run} = $attempt;
        next if !defined $figures;
        $first = $figures{$figures};
        if (!defined $first) { $figures{$figures} = $attempt; next }
        $self->_leave_out($attempt, "the figures of "
            . "$self->{records}[$first]{path}, to the last digit");
    }
    return;
}

sub _leave_out {
    my ($self, $attempt, $why) = @_;
    my $record = $self->{records}[$attempt];

    @$record{qw(class why excused)} = ('wrong', $why, undef);
    $self->{left_out}{$attempt} = 1;
    return;
}

# An exact copy is one attempt; a copy that was altered is none, and says that
# somebody meddled: a run that measured nothing may just look like another.
sub _copy {
    my ($self, $attempt, $first, $digest) = @_;
    my ($record, $original) = @{$self->{records}}[$attempt, $first];
    my ($mine, $other) = map {
        $digest->{$_->{path}} ||= Assay::Record::digest($_->{path}) || q{}
    } $record, $original;

    if ($mine ne q{} && $mine eq $other) {
        $record->{copy_of} = $first;
        $self->{left_out}{$attempt} = 1;
    }
    elsif ($record->{measured}) {
        $self->_leave_out($attempt,
            "same run as $original->{path}, but altered");
    }
    return;
}

# Faulty records and what could not be run, by the hosts they name.
sub _index_bad {
    my ($self) = @_;

    for my $attempt (0 .. $#{$self->{records}}) {
        my $record = $self->{records}[$attempt];
        next if !$record->{class} || defined $record->{copy_of};
        my @hosts = split /,/, $record->{hosts};
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

__END__

=head1 NAME

Assay::Collect - what the records hold of what the clauses ask for

=head1 METHODS

=over

=item new(series => SERIES, places => PLACES, ran => HOSTS, share_from => BYTES)

SERIES is an array from Assay::Series, PLACES an Assay::Places; HOSTS has, by the
path of a record, the hosts that its run was on.  From BYTES of
records on (16 MiB) a second process reads half of them.

=item read_all(PATHS)

Reads the records; croaks where the second process fails.  An attempt is the
index of its path.  Afterwards the object holds:

  data        series, row, place => packed values and attempts: values_of
  trouble     series, row, place => [ATTEMPT, WHY] ...: a measurement that
              can't count
  functional  series, row, place => attempts that were of another shape
  touched     series, row, place => attempts of faulty records
  records     by attempt: path, bench, class, why, hosts (with commas), ...
  left_out    attempts that are copies
  bad, bad_at, bad_anywhere, notrun_at   faulty records and what was not run
  metrics     program.name => records that hold it
  unfit       program.name => lines that no clause asks for
  kinds       by series: the kinds of place its lines had
  units       by series: the first unit

=back

=head1 FUNCTIONS

=over

=item values_of(ENTRY)

Arrays of the values, in the base unit of their dimension, and of the attempt
of each.

=item figures_of(ENTRY), attempts_key(ENTRY)

The values alone, as a list, and a text that is the same for entries of the
same attempts.

=back

=head1 WHAT IS NEVER POOLED

Lines of one place that differ in a key that neither C<where> nor C<each>
names, or in the figure taken, in one record or between records; two lines of
one place in one record.  Lines of one record that C<across> combines must
agree in all such keys too (but for C<ranks> of a pair), and cover the list of
places where there is one.  Records of one host each are never combined: they
did not run at the same time.

=cut
