package Assay::Record;

# One record file: reading it in bounded memory, and deciding whether it is
# a measurement at all.  What it measures is handed on line by line.

use strict;
use warnings;

use Assay::Text qw(encoding_fault split_fields);
use Assay::Units qw(finite_number);
use Digest::SHA qw(sha256);

my $BLOCK     = 1 << 20;
my $LINE_MOST = 8 << 20;

# What a metric line measured; any other key says what was measured.  The
# order is that of the figures handed on.
my @FIGURE = qw(value n best min q1 median q3 max mean sd mad cv);
my %FIGURE = map { $FIGURE[$_] => $_ } 0 .. $#FIGURE;

# No figures and no identity either: notes for a reader.
my %REMARK = map { $_ => 1 } qw(name unit note warning values);

my %PLACE = map { $_ => 1 } qw(host pair device);

# Kinds whose lines are the same in many records: read once, never changed.
my %COMMON = map { $_ => 1 } qw(opt check end);

my %END = map { $_ => 1 } qw(ok wrong unstable notrun timeout failed);
my %CUT_SHORT = map { $_ => 1 } qw(unstable timeout failed);

# A metric line as libassay writes it, and the line of its samples where that
# follows; any other goes the long way round.  Neither line can be too long.
# Figures are only told from words here: _layout looks closer.
my $FIGURE  = '[0-9.-]{1,40}+';
my $COUNT   = '[1-9][0-9]{0,14}+';
my $SAMPLES = '[0-9.,-]{1,9999}+';
my $HOST    = '[A-Za-z0-9_][A-Za-z0-9_.-]{0,999}+';
my $SPREAD  = " n=$COUNT best=$FIGURE min=$FIGURE q1=$FIGURE median=$FIGURE"
    . " q3=$FIGURE max=$FIGURE";
my $USUAL = qr/\G(metric[ ]name=([A-Za-z_][\w.-]{0,998}+)
    [ ]value=($FIGURE[ ]unit=([^\s"]{1,99}+)(?-x:$SPREAD))
    [ ]host=($HOST)([ ][^"\n]{0,9999}+|))\n
    (?:sample[ ]name=\2[ ]unit=\4[ ]values=($SAMPLES)[ ]host=\5\6\n)?/xa;
my $GROUPS = 7;

my $FIGURE_KEY = qr/ (?:value|best|min|q1|median|q3|max)=/;

# Numbers of fewer characters neither overflow nor vanish.
my $LONG = 300;

# The figures of a usual line and its samples, each digit taken for 0: digits,
# perhaps a point and more digits, which conversion can't spoil.
my $ZEROS = qr/-?0+[.]?0*+/;
my $FORM = qr/\A($ZEROS)[ ]unit=\S+[ ]n=(0+)[ ]best=($ZEROS)[ ]min=($ZEROS)
    [ ]q0=($ZEROS)[ ]median=($ZEROS)[ ]q0=($ZEROS)[ ]max=($ZEROS)\n
    ((?:$ZEROS,)*+$ZEROS|)\z/x;



# Of how many usual lines a page is made, and how many are remembered.
my $PAGE_MOST  = 64;
my $PAGES_MOST = 100;

sub new {
    my ($class, %given) = @_;
    return bless {
        path     => $given{path},
        metric   => $given{metric},
        plan     => $given{plan} || sub { return },
        known    => _emptied($given{known} || {}),
        wanted   => $given{wanted} || {},
        class    => q{},
        why      => undef,
        line     => 0,
        hosts    => {},
        opt      => [],
        env      => [],
        notrun   => [],
        found    => [],
        seen     => {},
        samples  => {},
        metrics  => 0,
        checks   => 0,
        names    => {},
    }, $class;
}

# What is remembered must not grow for ever, nor be lost within a record: the
# numbers of shapes tell its lines apart.
sub _emptied {
    my ($known) = @_;
    my $count = 0;

    $count += keys %{$_} for values %$known;
    %$known = () if $count > 20_000;
    return $known;
}

sub read_file {
    my ($self) = @_;
    my $path = $self->{path};
    my $file;

    if (!-e $path)                   { $self->_fault("can't read it: $!") }
    elsif (!-f _)                    { $self->_fault('not a plain file') }
    elsif (open $file, '<:raw', $path) {
        $self->_read_blocks($file, -s _ || 0);
    }
    else { $self->_fault("can't read it: $!") }
    $self->_conclude();
    return $self;
}

sub _read_blocks {
    my ($self, $file, $size) = @_;
    my $block = $size < $BLOCK ? $size + 1 : $BLOCK;
    my $rest = q{};

    while (1) {
        my $got = sysread $file, my ($text), $block;
        if (!defined $got) { $self->_fault("can't read it: $!"); last }
        last if $got == 0;
        $self->{size} += $got;
        my $end = 1 + rindex $text, "\n";
        my $next = substr $text, $end, $got, q{};
        if ($end) {
            $self->_lines($rest . $text) or last;
            $rest = $next;
        }
        else { $rest .= $next }
        if (length $rest > $LINE_MOST) {
            $self->{line}++;
            $self->_fault('line of more than ' . ($LINE_MOST >> 20) . ' MiB');
            $self->{stopped} = 1;
            return;
        }
    }
    return if $rest eq q{} || $self->{stopped};
    $self->{line}++;
    my $why = encoding_fault($rest);
    $self->_fault($why) if $why;
    $self->_fault('last line has no line feed: cut short', 'spoiled');
    return;
}

# False where reading on makes no sense.
sub _lines {
    my ($self, $text) = @_;

    if (my $why = encoding_fault($text)) {
        my ($before) = $text =~ /\A([\t\n\x20-\x7e]*)/;
        $self->{line} += 1 + ($before =~ tr/\n//);
        $self->_fault($why);
        $self->{stopped} = 1;
        return 0;
    }
    my ($at, $length) = (0, length $text);
    while ($at < $length) {
        if ($self->{plans} && !$self->{end} && !$self->{early}
            && substr($text, $at, 7) eq 'metric ') {
            pos($text) = $at;
            if (!$self->_page(\$text)) {
                my @usual = $text =~ /$USUAL/gc;
                $self->_usual(\@usual) if @usual;
            }
            $at = pos $text;
            last if $at == $length;
        }
        my $end = index $text, "\n", $at;
        $self->{line}++;
        if ($end - $at > $LINE_MOST) {
            $self->_fault('line of more than '
                . ($LINE_MOST >> 20) . ' MiB');
        }
        else { $self->_line(substr $text, $at, $end - $at) }
        $at = $end + 1;
    }
    return 1;
}

# Remember the first fault of the worst class.  Wrong is never excused;
# spoiled is an attempt cut short; notrun could not be made here.
sub _fault {
    my ($self, $why, $class) = @_;
    my %rank = (q{} => 0, notrun => 1, spoiled => 2, wrong => 3);

    $class = 'wrong' if !defined $class;
    return if $rank{$class} <= $rank{$self->{class}};
    $self->{class} = $class;
    $self->{why} = $self->{line} && $class ne 'notrun'
        ? "line $self->{line}: $why" : $why;
    return;
}

my %KIND = (
    record => \&_record,
    env    => \&_env,
    opt    => \&_opt,
    check  => \&_check,
    metric => \&_metric,
    sample => \&_sample,
    notrun => \&_notrun,
    end    => \&_end,
);

sub _line {
    my ($self, $line) = @_;
    my $lines = $self->{known}{lines} ||= {};
    my $known = $lines->{$line};

    $known = _parsed($line) if !$known;
    my ($kind, $fields, $why) = @$known;
    return defined $why ? $self->_fault($why) : undef if !defined $kind;
    return $self->_fault('content after the end line')
        if $self->{end} && !$self->_gainsaid($kind, $fields);
    return $self->_fault("the first line is not 'record'")
        if !$self->{head} && $kind ne 'record';
    return $self->_fault($why) if !$fields;
    $lines->{$line} = $known if $COMMON{$kind};
    if ($kind eq 'record') {
        return $self->_fault('a second record line') if $self->{head};
        $self->{head} = $line;
    }
    $self->{functional} = 1 if $kind ne 'metric'
        && defined $fields->{functional} && _functional($fields);
    $KIND{$kind}->($self, $fields, $line) if $KIND{$kind};
    return;
}

# What the launcher adds to a run that said `ok` and then did not end well, or
# to one of which the scheduler says why it was cut short.
sub _gainsaid {
    my ($self, $kind, $fields) = @_;

    return 0 if $kind ne 'end' || !$fields || !defined $fields->{by}
        || ($fields->{status} || q{}) eq 'ok';
    return $self->{end} eq 'ok'
        || $CUT_SHORT{$self->{end}} && defined $fields->{scheduler};
}

# The kind of a line and its fields, or why there are none; nothing of a line
# that is blank.
sub _parsed {
    my ($line) = @_;
    my ($kind) = $line =~ /\A([a-z][a-z0-9_]*+)(?=[ \t]|\z)/;

    return [$kind, split_fields(substr $line, length $kind)]
        if defined $kind;
    return $line =~ /[^ \t]/ ? [undef, undef, 'malformed: no kind'] : [];
}

# Only a plain `no` is a no: a doubtful word must not count as a full run.
sub _functional {
    my ($fields) = @_;
    return defined $fields->{functional} && $fields->{functional} ne 'no';
}

sub _record {
    my ($self, $f) = @_;

    $self->{bench} = $f->{bench}
        if defined $f->{bench} && $f->{bench} =~ /\A[A-Za-z_][\w-]*\z/a;
    return $self->_fault('record line without version')
        if !defined $f->{version};
    return $self->_fault("record version '$f->{version}', not 1")
        if $f->{version} ne '1';
    return $self->_fault('record line without a proper bench')
        if !defined $self->{bench};
    $self->{plans} = $self->{known}{"plans of $self->{bench}"} ||= {};
    $self->{pages} = $self->{known}{"pages of $self->{bench}"}
        ||= {of => {}};
    return;
}

sub _env {
    my ($self, $f) = @_;
    $self->_host($f->{host}) if defined $f->{host};
    push @{$self->{env}}, $f;
    return;
}

sub _opt {
    my ($self, $f) = @_;
    push @{$self->{opt}}, $f;
    return;
}

sub _host {
    my ($self, $host) = @_;
    if ($host !~ /\A[A-Za-z0-9_][\w.-]*\z/a) {
        $self->_fault("no host name: '$host'");
        return 0;
    }
    $self->{hosts}{$host} = 1;
    return 1;
}

sub _check {
    my ($self, $f) = @_;
    my $name = defined $f->{name} ? $f->{name} : q{?};
    my %figure;

    $self->{checks}++;
    return $self->_fault("check $name without ok") if !defined $f->{ok};
    return $self->_fault("check $name says ok=$f->{ok}") if $f->{ok} ne 'yes';
    for my $key (qw(error tolerance)) {
        next if !defined $f->{$key};
        $figure{$key} = finite_number($f->{$key});
        return $self->_fault("check $name: $key '$f->{$key}' is not a "
                . 'finite number') if !defined $figure{$key};
        return $self->_fault("check $name: $key is negative")
            if $figure{$key} < 0;
    }
    return if 2 > keys %figure;
    return if $figure{error} <= $figure{tolerance};
    return $self->_fault("check $name says ok=yes, but error $f->{error} > "
            . "tolerance $f->{tolerance}");
}

# Usual lines: figures by position, and what was measured from memory.  A line
# that may be at fault goes the long way.
sub _usual {
    my ($self, $usual) = @_;
    my $plans = $self->{plans};
    my $host = $usual->[4];
    my (@plans, @parts, %seen);

    $self->_recall();
    for (my $i = 0; $i < @$usual; $i += $GROUPS) {
        my (undef, $name, $figures, $unit, $on, $rest, $list)
            = @$usual[$i .. $i + $GROUPS - 1];
        my $plan = $plans->{"$name $unit$rest"}
            // $self->_plan($name, $unit, $rest);
        last if !$plan || $on ne $host || $seen{$plan->{id}}++
            || exists $self->{seen}{"$plan->{id}host=$host"};
        push @plans, $plan;
        push @parts, $figures, defined $list ? $list : q{};
    }
    if (@plans * $GROUPS == @$usual
        && $self->_take($host, \@plans, \@parts)) {
        $self->_learn_page(\@plans, \@parts);
    }
    elsif (@$usual == $GROUPS) { $self->_long_way(@$usual) }
    else {
        $self->_usual([splice @$usual, 0, $GROUPS]) while @$usual;
    }
    return;
}

sub _long_way {
    my ($self, $metric, $name, undef, $unit, $host, $rest, $list) = @_;
    my @lines = ($metric);

    push @lines, "sample name=$name unit=$unit values=$list host=$host$rest"
        if defined $list;
    for my $line (@lines) {
        $self->{line}++;
        $self->_line($line);
    }
    return;
}

# Different usual lines of one host: all of them or, where one may be at fault,
# none.  PARTS are two a line: figures, and samples or nothing.  Figures that
# are alike are in the same order as text and as numbers, which spares their
# conversion.
sub _take {
    my ($self, $host, $plans, $parts) = @_;
    my $layouts = $self->{known}{layouts} ||= {};
    my (@found, @others);
    my ($at, $lines) = (0, 0);

    for my $plan (@$plans) {
        my ($figures, $list) = ($parts->[$at], $parts->[$at + 1]);
        $at += 2;
        (my $form = "$figures\n$list") =~ tr/0-9/0/;
        my $layout = $layouts->{$form} // _layout($layouts, $form)
            or return 0;
        my ($value, $n, $best, $min, $q1, $median, $q3, $max)
            = unpack $layout->{figures}, $figures;
        return 0 if !($layout->{alike}
            ? $min le $q1 && $q1 le $median && $median le $q3 && $q3 le $max
                && $min le $value && $value le $max
            : $min <= $q1 && $q1 <= $median && $median <= $q3 && $q3 <= $max
                && $min <= $value && $value <= $max)
            || $best ne $max && $best ne $min && $best != $max
            && $best != $min
            || $n eq '1' && $min ne $max;
        $lines++;
        if (my $count = $layout->{count}) {
            my ($least, $middle, $most)
                = (sort unpack $layout->{samples}, $list)
                [0, $count / 2, -1];
            return 0 if $n != $count || !($layout->{alike} && $count % 2
                ? $min eq $least && $max eq $most && $median eq $middle
                : _agree($min, $median, $max, $list));
            $lines++;
        }
        if ($plan->{asked} && $max <= $plan->{most}) {
            push @found, $plan->{ask}, $host, ($value, $n, $best, $min, $q1,
                $median, $q3, $max)[$plan->{figure}];
        }
        elsif ($plan->{take}) {
            push @others, [$plan, $list, $value, $n, $best, $min, $q1,
                $median, $q3, $max];
        }
    }
    push @{$self->{found}}, @found;
    $self->_take_other($host, @$_) for @others;
    $self->_note($host, $plans, $parts, $lines);
    return 1;
}

# Whether samples agree with the figures of their metric to the last digit.
sub _agree {
    my ($min, $median, $max, $list) = @_;
    my @sorted = sort { $a <=> $b } split /,/, $list;
    my $half = @sorted / 2;

    return $min == $sorted[0] && $max == $sorted[-1]
        && $median == (@sorted % 2 ? $sorted[$half]
        : $sorted[$half - 1] / 2 + $sorted[$half] / 2);
}

# How to take figures and samples of a form apart, and whether they are alike;
# 0 where one is no plain number.
sub _layout {
    my ($layouts, $form) = @_;

    return $layouts->{$form} = 0 if $form !~ $FORM;
    my @place = map { [$-[$_], $+[$_] - $-[$_]] } 1 .. 8;
    my ($list) = $form =~ /\n(.*)/;
    my @samples = split /,/, $list;
    my @all = (@samples, map { substr $form, $_->[0], $_->[1] }
        @place[0, 2 .. 7]);
    return $layouts->{$form} = 0 if grep { length >= $LONG } @samples;
    return $layouts->{$form} = {
        figures => join(q{ }, map {"\@$_->[0] a$_->[1]"} @place),
        samples => join(' x ', map { 'a' . length } @samples),
        count   => scalar @samples,
        alike   => $all[0] !~ /-/ && !grep { $_ ne $all[0] } @all,
    };
}

# Lines that answer more than one clause, or one that asks for more than a
# figure.
sub _take_other {
    my ($self, $host, $plan, $list, @figures) = @_;
    my $identity = "$plan->{id}host=$host";

    $self->{samples}{$identity} = [split /,/, $list]
        if $plan->{wanted} && $list ne q{};
    $plan->{take}->($host, \@figures, $identity);
    return;
}

# What was taken; `seen` and `samples` only learn of it when they are asked.
sub _note {
    my ($self, $host, $plans, $parts, $lines) = @_;

    $self->{noted} = [$host, $plans, $parts];
    $self->{first} = $self->_noted_line(0) if !$self->{metrics};
    $self->{last} = $self->_noted_line($#$plans);
    $self->{metrics} += @$plans;
    $self->{line} += $lines;
    $self->{hosts}{$host} = 1;
    $self->{names}{$_->{name}} = 1 for @$plans;
    return;
}

sub _noted_line {
    my ($self, $i) = @_;
    my ($host, $plans, $parts) = @{$self->{noted}};
    return "metric name=$plans->[$i]{name} value=$parts->[2 * $i]"
        . " host=$host$plans->[$i]{rest}";
}

sub _recall {
    my ($self) = @_;
    my ($host, $plans, $parts) = @{$self->{noted} || return};

    for my $i (0 .. $#$plans) {
        my $identity = "$plans->[$i]{id}host=$host";
        $self->{seen}{$identity} = $self->_noted_line($i);
        $self->{samples}{$identity} ||= 1 if $parts->[2 * $i + 1] ne q{};
    }
    delete $self->{noted};
    return;
}

# Records of like nodes differ in host and figures alone: from the second of
# them on their usual lines, a page, are found as one piece.
sub _learn_page {
    my ($self, $plans, $parts) = @_;
    my $pages = $self->{pages};
    my $key = join q{ }, map {
        $plans->[$_]{number} . ($parts->[2 * $_ + 1] eq q{} ? q{} : 's')
    } 0 .. $#$plans;

    return if $self->{metrics} > @$plans || @$plans > $PAGE_MOST;
    my $page = $pages->{of}{$key};
    if (!$page) {
        %{$pages->{of}} = () if keys %{$pages->{of}} > $PAGES_MOST;
        $pages->{of}{$key} = {};
        return;
    }
    $page->{plans} = $plans;
    $page->{pattern} ||= _page_pattern($plans, $parts);
    $pages->{next} = $page;
    return;
}

sub _page_pattern {
    my ($plans, $parts) = @_;
    my $pattern = q{};
    my $host = "($HOST)";

    for my $i (0 .. $#$plans) {
        my ($name, $unit, $rest)
            = map {quotemeta} @{$plans->[$i]}{qw(name unit rest)};
        $pattern .= "metric name=$name value=($FIGURE unit=$unit$SPREAD)"
            . " host=$host$rest\\n";
        $host = '\2';
        $pattern .= $parts->[2 * $i + 1] eq q{} ? '()'
            : "sample name=$name unit=$unit values=($SAMPLES)"
            . " host=$host$rest\\n";
    }
    return qr/\G$pattern/;
}

# Take the page of the record before; false, and nothing done, where it is not
# the same or a line may be at fault.
sub _page {
    my ($self, $text) = @_;
    my $page = $self->{pages}{next};
    my $at = pos $$text;

    return 0 if !$page || $self->{metrics};
    my @parts = $$text =~ /$page->{pattern}/gc or return 0;
    my $host = splice @parts, 1, 1;
    return 1 if @parts == 2 * @{$page->{plans}}
        && $self->_take($host, $page->{plans}, \@parts);
    pos($$text) = $at;
    return 0;
}

# What to do with lines of a name, unit and rest, on a node; 0 where the rest
# is not what it should be.
sub _plan {
    my ($self, $name, $unit, $rest) = @_;
    my ($fields) = split_fields($rest);

    return 0 if !defined $self->{bench};
    return $self->{plans}{"$name $unit$rest"} = 0
        if !$fields || grep { exists $FIGURE{$_} || $PLACE{$_} || $REMARK{$_} }
            keys %$fields;
    my $shape = $self->_shape($fields);
    my $plan = $self->{plan}->($self->{bench}, $name, $unit, $shape);
    return $self->{plans}{"$name $unit$rest"} = {
        %{$plan || {}},
        asked  => $plan && defined $plan->{figure},
        name   => $name,
        unit   => $unit,
        rest   => $rest,
        number => scalar keys %{$self->{plans}},
        id     => "$name\1$shape->{id}\1",
        wanted => $self->{wanted}{"$self->{bench}.$name"},
    };
}

# What was measured, apart from the place: the keys, and a number that is the
# same for the same keys and values in any order.
sub _shape {
    my ($self, $fields) = @_;
    my $known = $self->{known}{shapes} ||= {};
    my $text = join "\0", map {"$_=$fields->{$_}"} sort keys %$fields;

    $known->{$text} = {keys => $fields, id => scalar keys %$known}
        if !$known->{$text};
    return $known->{$text};
}

sub _metric {
    my ($self, $f, $line) = @_;
    my ($name, $unit) = @$f{qw(name unit)};

    $self->{metrics}++;
    $self->{first} = $line if !defined $self->{first};
    $self->{last} = $line;
    my $place = $self->_place($f) or return;
    return $self->_fault('metric line without a proper name')
        if !defined $name || $name !~ /\A[A-Za-z_][\w.-]*\z/a;
    $self->{names}{$name} = 1;
    return $self->_fault("metric $name without unit")
        if !defined $unit || $unit eq q{};
    return $self->_fault("metric $name without value")
        if !defined $f->{value};

    my @figures = @$f{@FIGURE};
    for my $i (grep { defined $figures[$_] } 0 .. $#FIGURE) {
        next if defined finite_number($figures[$i]);
        return $self->_fault("metric $name: $FIGURE[$i] '$figures[$i]' is "
                . 'not a finite number');
    }
    my $why = _contradiction(\@figures);
    return $self->_fault("metric $name contradicts itself: $why") if $why;
    return $self->_hand_on($f, \@figures, $place, $line);
}

# The keys that say what was measured.
sub _keys {
    my ($f) = @_;
    return {map { $_ => $f->{$_} } grep {
        !exists $FIGURE{$_} && !$PLACE{$_} && !$REMARK{$_}
    } keys %$f};
}

# The line's place, its hosts noted; nothing where it is none.
sub _place {
    my ($self, $f) = @_;
    my %place;

    for my $key (grep { defined $f->{$_} } keys %PLACE) {
        $place{$key} = $f->{$key};
    }
    if (defined $place{host}) { $self->_host($place{host}) or return }
    if (defined $place{pair}) {
        my @ends = split /:/, $place{pair}, -1;
        if (@ends != 2) {
            $self->_fault("pair '$place{pair}' is not HOST:HOST");
            return;
        }
        for my $end (@ends) { $self->_host($end) or return }
    }
    if (defined $place{device}) {
        if ($place{device} !~ /\A[\w.:-]+\z/a || !defined $place{host}) {
            $self->_fault('device without a host, or no device name');
            return;
        }
    }
    return \%place;
}

# Half a unit of the last printed digit.
sub _rounding {
    my ($text) = @_;
    my ($part, $exponent)
        = $text =~ /\A[+-]?[0-9]*(?:[.]([0-9]*))?(?:[eE]([+-]?[0-9]+))?\z/;
    return 0 if $text == 0 && $exponent;
    return 0.5 * 10**(($exponent || 0) - length(defined $part ? $part : q{}));
}

sub _above {
    my ($one, $two, $slack) = @_;
    my $size = abs $one > abs $two ? abs $one : abs $two;
    return $one - $two > _rounding($one) + _rounding($two)
        + ($slack || 0) + 1e-9 * $size;
}

sub _contradiction {
    my ($figures) = @_;
    my ($value, $n, $best, $min, $q1, $median, $q3, $max) = @$figures;

    return "n=$n" if defined $n && $n !~ /\A[1-9][0-9]*\z/;
    my @rising = grep { defined $_->[1] } (['min', $min], ['q1', $q1],
        ['median', $median], ['q3', $q3], ['max', $max]);
    for my $i (1 .. $#rising) {
        my ($low, $high) = @rising[$i - 1, $i];
        return "$low->[0] $low->[1] > $high->[0] $high->[1]"
            if _above($low->[1], $high->[1]);
    }
    for my $pair (['value', $value], ['best', $best]) {
        my ($what, $figure) = @$pair;
        next if !defined $figure;
        return "$what $figure < min $min"
            if defined $min && _above($min, $figure);
        return "$what $figure > max $max"
            if defined $max && _above($figure, $max);
    }
    return "best $best is neither min $min nor max $max"
        if defined $best && defined $min && defined $max
        && _above($best, $min) && _above($max, $best);
    return "n=1, but min $min < max $max"
        if defined $n && $n == 1 && defined $min && defined $max
        && _above($max, $min);
    return;
}

# One name, place and shape make one measurement.
sub _identity {
    my ($name, $place, $shape) = @_;
    return join "\1", $name, $shape->{id},
        map {"$_=$place->{$_}"} sort keys %$place;
}

sub _hand_on {
    my ($self, $f, $figures, $place, $line) = @_;
    my ($name, $unit) = @$f{qw(name unit)};
    my $shape = $self->_shape(_keys($f));
    my $identity = _identity($name, $place, $shape);

    $self->_recall();
    return $self->_fault("metric $name stands twice with the same keys")
        if exists $self->{seen}{$identity};
    $self->{seen}{$identity} = $line;
    my $early = $self->{early} && delete $self->{early}{$identity};
    my $why = $early && _disagreement($unit, $figures, $early);
    return $self->_fault("metric $name contradicts its samples: $why")
        if $why;
    return if !defined $self->{bench};
    $self->{metric}->($self, $name, $unit, $figures, $place, $shape,
        $identity);
    return;
}

sub _sample {
    my ($self, $f) = @_;
    my $name = defined $f->{name} ? $f->{name} : q{?};
    my $place = $self->_place($f) or return;

    return $self->_fault("sample $name without values")
        if !defined $f->{values};
    my @values = split /,/, $f->{values}, -1;
    return $self->_fault("sample $name without values") if !@values;
    for my $value (@values) {
        return $self->_fault("sample $name: '$value' is not a finite number")
            if !defined finite_number($value);
    }
    my $identity = _identity($name, $place, $self->_shape(_keys($f)));
    $self->_recall();
    return $self->_fault("sample $name stands twice with the same keys")
        if exists $self->{samples}{$identity};

    my $summary = _summary(\@values, $f->{unit});
    $self->{samples}{$identity}
        = $self->{wanted}{$self->_full_name($name)} ? \@values : 1;
    if (!exists $self->{seen}{$identity}) {
        $self->{early}{$identity} = $summary;
        return;
    }
    my ($metric) = split_fields($self->{seen}{$identity} =~ s/\A\w+//r);
    my $why = _disagreement($metric->{unit}, [@$metric{@FIGURE}], $summary);
    $self->_fault("sample $name contradicts its metric: $why") if $why;
    return;
}

sub _full_name {
    my ($self, $name) = @_;
    return defined $self->{bench} ? "$self->{bench}.$name" : $name;
}

sub _summary {
    my ($values, $unit) = @_;
    my @sorted = sort { $a <=> $b } @$values;
    my $middle = @sorted / 2;
    my $slack = 0;

    for my $value (@$values) {
        my $half = _rounding($value);
        $slack = $half if $half > $slack;
    }
    return {
        unit   => defined $unit ? $unit : q{},
        n      => scalar @sorted,
        min    => $sorted[0],
        max    => $sorted[-1],
        median => @sorted % 2 ? $sorted[$middle]
            : $sorted[$middle - 1] / 2 + $sorted[$middle] / 2,
        slack => $slack,
    };
}

sub _disagreement {
    my ($unit, $figures, $summary) = @_;
    my ($value, $n, $best, $min, undef, $median, undef, $max) = @$figures;
    my $slack = $summary->{slack};

    return "unit $unit against $summary->{unit}" if $unit ne $summary->{unit};
    return "n=$n, but there are $summary->{n} samples"
        if defined $n && $n != $summary->{n};
    for my $pair ([min => $min], [median => $median], [max => $max]) {
        my ($what, $said) = @$pair;
        next if !defined $said;
        my $true = $summary->{$what};
        return "$what $said, but the samples' is $true"
            if _above($said, $true, $slack) || _above($true, $said, $slack);
    }
    for my $pair ([value => $value], [best => $best]) {
        my ($what, $said) = @$pair;
        next if !defined $said;
        return "$what $said lies outside the samples"
            if _above($said, $summary->{max}, $slack)
            || _above($summary->{min}, $said, $slack);
    }
    return;
}

sub _notrun {
    my ($self, $f) = @_;

    return $self->_fault('notrun line without a host')
        if !defined $f->{host};
    $self->_host($f->{host}) or return;
    push @{$self->{notrun}}, {
        host   => $f->{host},
        reason => defined $f->{reason} ? $f->{reason} : 'no reason given',
    };
    return;
}

sub _end {
    my ($self, $f) = @_;
    my $status = defined $f->{status} ? $f->{status} : q{};
    my $reason = defined $f->{reason} && $f->{reason} ne q{}
        ? $f->{reason} : 'no reason given';

    $self->{end} = $status || 'none';
    return $self->_fault("end line with status '$status'") if !$END{$status};
    $self->{scheduler} = $f->{scheduler} if $CUT_SHORT{$status};
    return $self->_fault("ended $status: $reason") if $status eq 'wrong';
    return $self->_fault("ended $status: $reason", 'spoiled')
        if $CUT_SHORT{$status};
    return if $status ne 'notrun';
    return $self->_fault('ended notrun, but holds metric lines')
        if $self->{metrics};
    return $self->_fault($reason, 'notrun');
}

# What tells one run from another, whatever else the file says: its head and
# what it measured; the size, where it measured nothing.
sub run_key {
    my ($self) = @_;
    return if !$self->{size};
    my $key = $self->{metrics} ? $self->_ends_key() : "size $self->{size}";
    return sha256(join "\n", map { defined $_ ? $_ : q{} } $self->{head}, $key);
}

# The first and the last metric line and how many there are.
sub _ends_key {
    my ($self) = @_;
    return $self->{ends}
        ||= sha256(join "\n", @$self{qw(metrics first last)});
}

# The figures alone, where no two runs can agree in them by chance: three or
# more different ones, of six or more significant digits each.
sub figures_key {
    my ($self) = @_;
    my %long;

    for my $line (grep { defined } @$self{qw(first last)}) {
        while (keys %long < 3 && $line =~ /$FIGURE_KEY([0-9.]+)(?=\ |\z)/g) {
            (my $digits = $1) =~ tr/.//d;
            $long{$1} = 1 if $digits =~ /\A0*([1-9][0-9]{4,}[1-9])/;
        }
    }
    return if keys %long < 3;
    return "$self->{bench}\n" . $self->_ends_key();
}

# The digest of a whole file, or nothing.
sub digest {
    my ($path) = @_;
    return eval { Digest::SHA->new(256)->addfile($path, 'b')->hexdigest };
}

# The scheduler's own word for why the run was cut short, where it is one
# that nobody is charged for.
sub excused {
    my ($self) = @_;
    return if $self->{class} ne 'spoiled' || !defined $self->{scheduler};
    return if $self->{scheduler} !~ /\A(?:NODE_FAIL|REQUEUED?)\z/i;
    return $self->{scheduler};
}

# The values of a key on the opt lines, else on the env lines of the hosts:
# nothing where a host that has env lines of its own lacks it.
sub facts {
    my ($self, $key, $hosts) = @_;
    my @values = grep { defined } map { $_->{$key} } @{$self->{opt}};

    return \@values if @values;
    my @lines = grep { defined $_->{$key} } @{$self->{env}};
    my @common = grep { !defined $_->{host} } @lines;
    return [map { $_->{$key} } @lines] if !@$hosts;
    for my $host (@$hosts) {
        my @own = grep { defined $_->{host} && $_->{host} eq $host } @lines;
        return if !@own && !@common;
        push @values, map { $_->{$key} } @own;
    }
    return [@values, map { $_->{$key} } @common];
}

# What shows only once everything was read.
sub _conclude {
    my ($self) = @_;

    $self->{line} = 0;
    return $self->_fault('empty file', 'spoiled')
        if !$self->{head} && !$self->{class};
    return if !$self->{head};
    $self->_fault('no end line: cut short', 'spoiled') if !$self->{end};
    $self->_fault('samples of ' . scalar(keys %{$self->{early}})
            . ' metrics that are not there')
        if !$self->{class} && %{$self->{early} || {}};
    $self->_fault('no check line: the data was not verified')
        if !$self->{class} && $self->{metrics} && !$self->{checks};
    $self->_fault('ended ok, but holds no metric line')
        if !$self->{class} && !$self->{metrics} && !@{$self->{notrun}};
    return;
}

1;

__END__

=head1 NAME

Assay::Record - one record file, read in bounded memory

=head1 SYNOPSIS

  my $record = Assay::Record->new(path => $path, metric => \&take);
  $record->read_file();
  die $record->{why} if $record->{class} ne q{};

=head1 METHODS

=over

=item new(path, metric, plan, known, wanted)

C<metric> is called for each metric line as it is read, with the record, name,
unit, figures (an array: value n best min q1 median q3 max ...), place (a hash
of host, pair, device), shape and identity.  A shape's C<keys> are the other
keys of the line.  What is handed on counts only if the record turns out to be
good, which shows at its end.

The rest is for speed and may be left out.  C<plan> is called once for lines of
one program, name, unit and shape that have a host and all figures; it returns
nothing, or a hash.  Its C<take> is called with host, figures and identity in
place of C<metric>.  Where it has C<figure>, C<most> and C<ask>, and the
greatest figure of the line is not above C<most>, no function is called: ASK,
host and the figure of that index are appended to C<found>.  C<known> is a hash
that records share.  C<wanted> names the metrics (C<program.name>) whose samples
are to be kept.

=item read_file()

Reads it all and sets C<class> and C<why>: the first fault of the worst class.
The class is C<wrong>, C<spoiled>, C<notrun> or the empty text for a good
record.  Then C<bench>, C<hosts>, C<opt>, C<env>, C<notrun>, C<names>,
C<metrics> and C<samples> say what the record holds.

=item run_key(), figures_key(), digest(PATH)

What tells one run from another; its figures alone, or nothing where these are
too few or too round to tell; and the SHA-256 of a file.

=item excused()

The scheduler's word for a run that nobody is charged for, or nothing.

=item facts(KEY, HOSTS)

The values that a run rule looks up: those of the C<opt> lines, else those of
the C<env> lines of the hosts (of all, where HOSTS is empty) and of lines
without a host; nothing where a host has none.

=back

=head1 WHAT A RECORD MUST BE

Lines of UTF-8, each ended by a line feed, none longer than 8 MiB.  Refused are
a byte order mark, NUL, carriage returns and other control characters except
tab.  Each line is a kind (lower-case) and fields, as in Assay::Text; kinds and
keys that are not known are ignored, but must be well-formed.  Blank lines are
ignored.  It must be a plain file.

The first line is C<record version=1 bench=...>, and there is one.  C<end> is
the last line, with a known status; behind C<status=ok> a launcher may add one
more, with C<by> and another status, which counts.  A good record has a metric line or a
C<notrun> line; one with metric lines has a C<check> line.

A check must say C<ok=yes>; where it bears C<error> and C<tolerance> they are
finite, not negative, and the error is not above the tolerance.

A metric line has name, value and unit.  Each figure (value n best min q1
median q3 max mean sd mad cv) is a finite decimal number, n a whole number from
1 up.  The figures must agree within the rounding of their printed digits: min,
q1, median, q3, max rise, value and best lie between min and max, best is one
of the two, and all are equal where n is 1.  No two metric lines may agree in
name, place and all keys that are neither figures nor C<unit>, C<note> and
C<warning>.

A sample line bears the name, unit, place and keys of a metric line, before or
after it, once.  Its values must be finite, as many as n, and have the min,
median and max of the metric line.

Hosts are letters, digits, C<_>, C<.> and C<->; a pair is C<HOST:HOST>; a
device stands beside its host.

=cut
