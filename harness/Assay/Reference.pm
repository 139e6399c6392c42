package Assay::Reference;

# Reference files: what was promised, clause by clause.

use strict;
use warnings;

use Assay::Rule;
use Assay::Text qw(encoding_fault printable split_fields);
use Assay::Units qw(parse_quantity);
use Digest::SHA;

my $SIZE_MOST = 8 << 20;
my $WORD      = qr/[A-Za-z_][\w.-]*/a;
my $METRIC    = qr/[A-Za-z_][\w-]*[.][A-Za-z_][\w.-]*/a;
my $NUMBER    = qr/[+-]?[0-9]*[.]?[0-9]+(?:[eE][+-]?[0-9]+)?/;
my $OPTION    = qr/\A(?:$WORD)\z/;

my %SCOPE = (
    'every node'   => 'node',
    'every pair'   => 'pair',
    'every device' => 'device',
    'system'       => 'system',
);

my %CHOICE = (
    across => {map { $_ => 1 } qw(sum min median max)},
    take   => {
        map { $_ => 1 } qw(value best min q1 median q3 max samples)
    },
    statistic => {map { $_ => 1 } qw(min median mean max cv)},
);

# How each key of a clause is read: a function that returns a value, or
# (undef, WHY).
my %KEY = (
    metric     => \&_metric,
    where      => \&_where,
    each       => \&_each,
    scope      => \&_scope,
    across     => sub { _choice('across', @_) },
    statistic  => \&_statistic,
    take       => sub { _choice('take', @_) },
    runs       => sub { _whole('runs', 1, @_) },
    spoiled    => sub { _whole('spoiled', 0, @_) },
    tolerance  => \&_tolerance,
    ceiling    => \&parse_quantity,
    floor      => \&parse_quantity,
    confidence => \&_confidence,
    waiver     => \&_waiver,
    source     => \&_words,
    note       => \&_words,
    'relative to' => \&_relative,
);

my @REQUIRED = qw(metric scope statistic);
my %DEFAULT = (runs => 1, spoiled => 0);

sub load {
    my (@paths) = @_;
    my $self = bless {files => [], clauses => [], faults => []}, __PACKAGE__;

    for my $path (@paths) {
        my $before = @{$self->{clauses}};
        $self->_read_file($path) or next;
        next if @{$self->{clauses}} > $before;
        $self->_fault({file => $path, line => 1}, 'no clause in the file')
            if !grep { $_->{file} eq $path } @{$self->{faults}};
    }
    $self->_doubled();
    return $self;
}

sub _fault {
    my ($self, $at, $why) = @_;
    push @{$self->{faults}}, {
        file => $at->{file},
        line => $at->{line},
        text => "$at->{file}:$at->{line}: " . printable($why),
    };
    return;
}

sub _read_file {
    my ($self, $path) = @_;
    my %at = (file => $path, line => 1);

    return $self->_fault(\%at, 'not a plain file') if -e $path && !-f _;
    open my $file, '<:raw', $path
        or return $self->_fault(\%at, "can't read it: $!");
    my $got = read $file, my ($text), $SIZE_MOST + 1;
    return $self->_fault(\%at, "can't read it: $!") if !defined $got;
    return $self->_fault(\%at, 'too large') if $got > $SIZE_MOST;
    push @{$self->{files}},
        {path => $path, sha256 => Digest::SHA::sha256_hex($text)};

    my $section;
    for my $line (split /\n/, $text, -1) {
        my $why = encoding_fault($line);
        $why = _line($self, \$section, \%at, $line) if !$why;
        $self->_fault(\%at, $why) if $why;
        $at{line}++;
    }
    $self->_close($section);
    return 1;
}

# One line; returns WHY where it is at fault.
sub _line {
    my ($self, $section, $at, $line) = @_;

    $line = _without_comment($line);
    return if $line eq q{};
    if ($line =~ /\A\[/) {
        my ($id) = $line =~ /\A\[clause\s+([A-Za-z0-9][\w.:-]*)\]\z/a;
        $self->_close($$section);
        $$section = {id => $id, %$at, said => {}, limits => [], rules => []};
        return defined $id ? undef : "not [clause ID]: '$line'";
    }
    my ($key, $option, $value)
        = $line =~ /\A([a-z]+(?:\s+[a-z]+)?)\s*(?:\[([^\]]*)\])?\s*=\s*(.*)\z/
        or return "not KEY = VALUE: '$line'";
    $key =~ s/\s+/ /;
    return "$key without a value" if $value eq q{};
    return _heading($self, $at, $key, $value) if !$$section;
    return "unknown key '$key\[$option]'"
        if defined $option && $key ne 'limit';
    return _limit_line($$section, $option, $value, $at) if $key eq 'limit';
    return _rule_line($$section, $value) if $key eq 'rule';
    return "unknown key '$key'" if !$KEY{$key};
    return "$key stands twice in the clause" if $$section->{said}{$key};

    $$section->{said}{$key} = $at->{line};
    my ($parsed, $why) = $KEY{$key}->($value);
    return "$key: $why" if !defined $parsed;
    $$section->{$key eq 'relative to' ? 'relative' : $key} = $parsed;
    return;
}

# A comment runs from a # that opens the line or follows a blank.
sub _without_comment {
    my ($line) = @_;
    my $kept = q{};

    while ($line =~ /\G("(?:[^"\\]|\\.)*"|\s+|[^\s"]+|")/gc) {
        my $part = $1;
        last if $part =~ /\A#/ && $kept =~ /(?:\A|\s)\z/;
        $kept .= $part;
    }
    $kept =~ s/\A\s+|\s+\z//g;
    return $kept;
}

sub _heading {
    my ($self, $at, $key, $value) = @_;

    return "unknown key '$key' before the first clause"
        if $key ne 'system' && $key ne 'source';
    return "$key stands twice" if $at->{$key}++;
    $self->{heading}{$at->{file}}{$key} = $value;
    return;
}

sub _metric {
    my ($text) = @_;
    return $text if $text =~ /\A$METRIC\z/;
    return (undef, "not PROGRAM.NAME: '$text'");
}

sub _where {
    my ($text) = @_;
    my ($fields, $why) = split_fields(" $text");

    return (undef, $why) if !$fields;
    return $fields if %$fields;
    return (undef, "no key=value: '$text'");
}

sub _each {
    my ($text) = @_;
    my (@keys, %seen);

    for my $word (split q{ }, $text) {
        my $key = $word =~ s/[?]\z//r;
        return (undef, "not a key: '$word'") if $key !~ $OPTION;
        return (undef, "'$key' stands twice") if $seen{$key}++;
        push @keys, $word;
    }
    return \@keys;
}

sub _scope {
    my ($text) = @_;
    return $SCOPE{$text} if $SCOPE{$text};
    return (undef, "unknown scope '$text'");
}

sub _choice {
    my ($key, $text) = @_;
    return $text if $CHOICE{$key}{$text};
    return (undef, "unknown word '$text'");
}

sub _statistic {
    my ($text) = @_;

    return {name => $text, $text eq 'median' ? (p => 0.5) : ()}
        if $CHOICE{statistic}{$text};
    my ($percent) = $text =~ /\Ap([0-9]{1,2}(?:[.][0-9]{1,3})?)\z/
        or return (undef, "unknown statistic '$text'");
    return (undef, "p$percent is no quantile") if $percent <= 0;
    return {name => $text, p => $percent / 100};
}

sub _whole {
    my ($key, $least, $text) = @_;
    return $text + 0 if $text =~ /\A[0-9]{1,6}\z/ && $text >= $least;
    return (undef, "not a whole number from $least up: '$text'");
}

sub _tolerance {
    my ($text) = @_;
    my ($quantity, $why) = parse_quantity($text);

    return (undef, $why) if !$quantity;
    return (undef, "negative: '$text'") if $quantity->{number} < 0;
    return $quantity;
}

sub _confidence {
    my ($text) = @_;
    my ($percent) = $text =~ /\A($NUMBER)\s*%\z/
        or return (undef, "not a percentage: '$text'");
    return (undef, "not between 0 and 100 %: '$text'")
        if !($percent > 0 && $percent < 100);
    return $percent / 100;
}

sub _waiver {
    my ($text) = @_;
    my ($who, $why, $date)
        = $text =~ /\A([^,]*\S),\s*(\S.*),\s*until\s+(\S+)\z/
        or return (undef, "not WHO, WHY, until YYYY-MM-DD: '$text'");
    return (undef, "not a date: '$date'") if !is_date($date);
    return {who => $who, why => $why, until => $date};
}

sub is_date {
    my ($text) = @_;
    my ($year, $month, $day) = $text =~ /\A([0-9]{4})-([0-9]{2})-([0-9]{2})\z/
        or return 0;
    my @days = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31);

    $days[1] = 29 if $year % 4 == 0 && ($year % 100 || $year % 400 == 0);
    return $month >= 1 && $month <= 12 && $day >= 1
        && $day <= $days[$month - 1];
}

sub _words {
    my ($text) = @_;
    return $text;
}

sub _relative {
    my ($text) = @_;

    return {fleet => 1, text => $text} if $text eq 'fleet median';
    my ($metric, $where) = $text =~ /\A($METRIC)(?:\s+where\s+(.+))?\z/
        or return (undef, "neither 'fleet median' nor METRIC where ...: "
            . "'$text'");
    return {metric => $metric, where => {}, text => $text}
        if !defined $where;
    my ($fields, $why) = _where($where);
    return (undef, $why) if !$fields;
    return {metric => $metric, where => $fields, text => $text};
}

sub _rule_line {
    my ($clause, $text) = @_;
    my ($rule, $why) = Assay::Rule::parse($text);

    return "rule: $why" if !$rule;
    push @{$clause->{rules}}, $rule;
    return;
}

sub _limit_line {
    my ($clause, $option, $text, $at) = @_;
    my $when = {};

    if (defined $option) {
        ($when, my $why) = _where($option);
        return "limit[$option]: $why" if !$when;
    }
    my $name = join q{ }, map { "$_=$when->{$_}" } sort keys %$when;
    return "limit[$name] stands twice in the clause"
        if $clause->{said}{"limit[$name]"}++;
    my ($limit, $why) = _limit($text);
    return "limit: $why" if !$limit;
    push @{$clause->{limits}},
        {%$limit, when => $when, name => $name, line => $at->{line}};
    return;
}

sub _limit {
    my ($text) = @_;

    return {kind => 'report', text => $text} if $text eq 'report only';
    if ($text =~ /\A(>=|<=)\s*(.+)\z/) {
        my ($kind, $rest) = ($1, $2);
        my ($bound, $why) = parse_quantity($rest);
        return (undef, $why) if !$bound;
        my $end = $kind eq '>=' ? 'low' : 'high';
        return {
            kind => $kind, text => "$kind $bound->{text}",
            $end => $bound->{base},
            unit => $bound->{unit}, dimension => $bound->{dimension},
        };
    }
    my ($low, $high) = $text =~ /\Awithin\s+(\S.*?)\s*[.][.]\s*(\S.*)\z/
        or return (undef, "not >= A, <= A, within A .. B or report only: "
            . "'$text'");
    my ($top, $why) = parse_quantity($high);
    return (undef, $why) if !$top;
    $low .= " $top->{unit}" if $low =~ /\A$NUMBER\z/;
    (my $bottom, $why) = parse_quantity($low);
    return (undef, $why) if !$bottom;
    return (undef, 'A and B are of different dimensions')
        if $bottom->{dimension} ne $top->{dimension};
    return (undef, "empty interval: '$text'")
        if $bottom->{base} > $top->{base};
    return {
        kind => 'within', text => "within $bottom->{text} .. $top->{text}",
        low => $bottom->{base}, high => $top->{base},
        unit => $top->{unit}, dimension => $top->{dimension},
    };
}

# A clause has ended: complete it and check what one line can't show.
sub _close {
    my ($self, $clause) = @_;

    return if !$clause || !defined $clause->{id};
    for my $key (@REQUIRED) {
        next if $clause->{said}{$key};
        $self->_fault($clause, "clause $clause->{id} has no $key");
    }
    $self->_fault($clause, "clause $clause->{id} has no limit")
        if !@{$clause->{limits}}
        && !grep { /\Alimit/ } keys %{$clause->{said}};
    for my $key (keys %DEFAULT) {
        $clause->{$key} = $DEFAULT{$key} if !defined $clause->{$key};
    }
    $clause->{where} ||= {};
    my @each = @{$clause->{each} || []};
    $clause->{optional} = {map { (s/[?]\z//r => 1) } grep {/[?]\z/} @each};
    $clause->{each} = [map {s/[?]\z//r} @each];
    push @{$self->{clauses}}, $clause;
    return;
}

# The limit of a row: the one that names most of the row's keys.
sub limit_of {
    my ($clause, $row) = @_;
    my ($best, $most) = (undef, -1);

    for my $limit (@{$clause->{limits}}) {
        my $when = $limit->{when};
        next if grep { !defined $row->{$_} || $row->{$_} ne $when->{$_} }
            keys %$when;
        ($best, $most) = ($limit, scalar keys %$when)
            if keys %$when > $most;
    }
    return $best;
}

sub _doubled {
    my ($self) = @_;
    my %first;

    for my $clause (@{$self->{clauses}}) {
        my $other = $first{$clause->{id}};
        $first{$clause->{id}} ||= $clause;
        next if !$other;
        $self->_fault($clause, "clause $clause->{id} is doubled: also at "
                . "$other->{file}:$other->{line}");
    }
    return;
}

1;

__END__

=head1 NAME

Assay::Reference - what was promised, clause by clause

=head1 FUNCTIONS

=over

=item load(FILES)

A hash of C<clauses>, C<files> (each C<path> and C<sha256>) and C<faults> (each
C<file>, C<line> and C<text>, which is C<FILE:LINE: WHY>).  All faults are
found, not only the first.  A file without a clause is a fault, and so is a
clause that stands twice in all files together.

=item limit_of(CLAUSE, ROW)

The limit for a row (a hash of the C<each> keys): of those whose keys fit, the
one that names most.  Nothing where none fits: such a row is not judged.

=item is_date(TEXT)

Whether TEXT is a day of the calendar, YYYY-MM-DD.

=back

=head1 THE FORMAT

Lines of UTF-8, ended by line feeds.  A comment runs from a C<#> that opens the
line or follows a blank, except within double quotes.  C<system> and C<source>
may stand before the first clause.  C<[clause ID]> opens a clause; an ID is
letters, digits, C<_>, C<.>, C<:> and C<->.  Then C<KEY = VALUE>, each key once
except C<rule> and C<limit[...]>:

  metric       PROGRAM.NAME
  where        KEY=VALUE ...: exact; host, pair and device may be fixed too
  each         KEY ...: a point for each combination of values; KEY? may be
               missing on a line, which is then a value too
  scope        every node | every pair | every device | system
  across       sum | min | median | max: of the lines of one record
  statistic    min | median | mean | max | pNN | cv
  take         value | best | min | q1 | median | q3 | max | samples
  runs         attempts owed at each place (1)
  spoiled      attempts that may be cut short at each place (0)
  limit        >= A | <= A | within A .. B | report only
  limit[K=V]   the same for the rows with these values
  tolerance    N % of the limit's own size, or a quantity
  ceiling      no figure of a line may be above it
  floor        no figure of a line may be below it
  confidence   N %
  relative to  fleet median | METRIC [where KEY=VALUE ...]
  waiver       WHO, WHY, until YYYY-MM-DD (that day included)
  rule         see Assay::Rule
  source       words for a reader, as is note

metric, scope, statistic and a limit are required.

=cut
