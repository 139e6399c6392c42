package Assay::Point;

# A verdict in words: the line of one point, and what stands under it.

use strict;
use warnings;

use Assay::Collect;
use Assay::Tap;
use Assay::Verdict;
use Assay::Units qw(scale show show_against);

# How many values and records a point names.
my $NAMED_MOST = 20;

# Of how many places the words are kept.
my $PLACES_MOST = 50_000;

my %OPPOSITE = ('>=' => q{<}, '<=' => q{>}, within => 'outside');

sub judge {
    my ($verdicts, $clause, $row, $place, $why) = @_;

    if (!defined $why) {
        my $form = $clause->{forms}{$row};
        $form = $clause->{forms}{$row} = _form($verdicts, $clause, $row)
            if !defined $form;
        my $passed = $form && _passed($verdicts, $form, $place);
        return $passed if $passed;
    }
    my $head = "clause $clause->{id} $clause->{metric} ";

    return _finish($verdicts, $clause, {
        head    => $head . $place,
        verdict => 'INVALID', why => $why, figure => {}, place => $place,
    }) if defined $why;

    my $limit = $verdicts->limit_of($clause, $row);
    my $figure = $verdicts->judged($clause, $limit, $row, $place);
    my $text = Assay::Verdict::row_text($clause, $row);
    return _finish($verdicts, $clause, {
        head    => $head . $place . ($text eq q{} ? q{} : " $text"),
        verdict => $figure->{verdict},
        why     => $figure->{why},
        figure  => $figure,
        limit   => $limit,
        place   => $place,
        row     => $text,
    });
}

# What the points of a clause and row have in common, where each needs no more
# than a look at its figure; 0 where nothing is so simple.
sub _form {
    my ($verdicts, $clause, $row) = @_;
    my $limit = $verdicts->limit_of($clause, $row);
    my $low = $limit->{kind} eq '>=';
    my $unit = $limit->{unit};
    my $table = $verdicts->undisturbed($clause, $row);

    return 0 if !$table || $clause->{relative} || $clause->{confidence}
        || $clause->{statistic}{name} eq 'cv'
        || !($low || $limit->{kind} eq '<=');
    my $bound = (Assay::Verdict::bounds($clause, $limit))[$low ? 0 : 1];
    my $text = Assay::Verdict::row_text($clause, $row);
    my $shown = show($bound, $unit);
    return {
        table  => $table,
        runs   => $clause->{runs},
        scope  => $clause->{series}{scope},
        statistic => $clause->{statistic},
        median => $clause->{statistic}{name} eq 'median',
        low    => $low ? $bound : undef,
        high   => $low ? undef : $bound,
        shown  => $shown,
        to_n      => qq{ $unit"\n  n: },
        to_values => qq{\n  bound: "$shown $unit"\n  values: "},
        to_records => qq{ $unit"\n},
        scale  => scale($unit),
        head   => "clause $clause->{id} $clause->{metric} ",
        each   => $text eq q{} ? q{} : " $text",
        name   => " $clause->{statistic}{name} ",
        bound  => " $unit $limit->{kind} $shown $unit",
        promise => "  verdict: PASS\n" . _promise($clause, $limit),
        row    => $text eq q{} ? q{} : Assay::Tap::lines([each => $text]),
    };
}

# A point that passes, and by so much that six digits show it; or nothing.
sub _passed {
    my ($verdicts, $form, $place) = @_;
    my $entry = $form->{table}{$place};
    my $said = $verdicts->{said}{"$form->{scope} $place"}
        ||= _place_text($verdicts, $form->{scope}, $place);

    return if !defined $entry || !$said->{listed};
    my @values = Assay::Collect::figures_of($entry);
    my $n = @values;
    return if $n < $form->{runs} || $n > $NAMED_MOST;
    my $records = $said->{Assay::Collect::attempts_key($entry)}
        //= _distinct($verdicts, $entry);
    my $value = $form->{median} && $n % 2
        ? (sort { $a <=> $b } @values)[$n / 2]
        : (Assay::Verdict::statistic($form->{statistic}, \@values))[0];
    return if !$records || !(defined $form->{low} ? $value >= $form->{low}
        : $value <= $form->{high});
    my $scale = $form->{scale};
    my $shown = sprintf '%.6g', $value / $scale;
    return if $shown eq $form->{shown};

    my $list = sprintf $form->{list}[$n] ||= join(', ', ('%.6g') x $n),
        map { $_ / $scale } @values;
    return {
        verdict     => 'PASS',
        ok          => 1,
        description => "$form->{head}$place$form->{each}$form->{name}$shown"
            . "$form->{bound} (n=$n)",
        block => "$form->{promise}$said->{line}$form->{row}  value: \"$shown"
            . "$form->{to_n}$n$form->{to_values}$list$form->{to_records}"
            . $records,
    };
}

# The records of an entry, where each gave one value; else 0.
sub _distinct {
    my ($verdicts, $entry) = @_;
    my (undef, $from) = Assay::Collect::values_of($entry);

    return 0 if grep { $from->[$_] == $from->[$_ - 1] } 1 .. $#$from;
    return _evidence($verdicts, {attempts => $from});
}

# What there is to say of a place, whatever the clause.
sub _place_text {
    my ($verdicts, $scope, $place) = @_;
    my $said = $verdicts->{said};

    %$said = () if keys %$said > $PLACES_MOST;
    return {
        listed => $verdicts->{places}->lists($scope, $place),
        line   => _place_line($place),
    };
}

sub _place_line {
    my ($place) = @_;
    return '  place: ' . Assay::Tap::scalar_text($place) . "\n";
}

sub _finish {
    my ($verdicts, $clause, $p) = @_;
    my $verdict = $p->{verdict};
    my $directive;

    $p->{said} = defined $p->{why} ? "$verdict: $p->{why}"
        : _measured($clause, $p);
    ($verdict, $directive) = _waived($verdicts, $clause, $verdict);
    my $ok = $verdict eq 'PASS';
    my $description = "$p->{head} $p->{said}";
    if ($verdict eq 'NOTRUN' && !$verdicts->{strict}) {
        ($ok, $directive) = (1, [SKIP => $p->{why}]);
        $description = "$p->{head} NOTRUN";
    }
    return {
        verdict     => $verdict,
        ok          => $ok,
        description => $description,
        directive   => $directive,
        block       => _block($verdicts, $clause, $p, $verdict),
    };
}

# A waiver is for what was measured and falls short, never for data that is
# no measurement.
sub _waived {
    my ($verdicts, $clause, $verdict) = @_;
    my $waiver = $clause->{waiver};

    return $verdict if !$waiver || $verdict !~ /\A(?:FAIL|INCONCLUSIVE)\z/;
    return 'FAIL' if $waiver->{until} lt $verdicts->{today};
    return ('WAIVED', [TODO => "waived by $waiver->{who}: $waiver->{why}, "
            . "until $waiver->{until}"]);
}

# `median 22.1 GB/s < 23.75 GB/s (n=3)`
sub _measured {
    my ($clause, $p) = @_;
    my ($figure, $limit) = @$p{qw(figure limit)};
    my $name = $clause->{statistic}{name};
    my $n = 'n=' . scalar @{$figure->{values}};
    my $of = !$clause->{relative} ? q{}
        : $clause->{relative}{fleet} ? ' of the fleet'
        : " of $clause->{relative}{metric}";

    if ($limit->{kind} eq 'report') {
        my $unit = _unit($clause, $figure);
        return "$name " . show($figure->{value}, $unit)
            . " $unit$of (report only, $n)";
    }
    my $unit = $limit->{unit};
    my ($value, $bound) = _against($clause, $limit, $figure->{value});
    @$p{qw(shown bound)} = ($value, $bound);
    my $text = "$name $value $unit$of";
    if ($figure->{interval}) {
        my ($low, $high) = map { show($_, $unit) } @{$figure->{interval}};
        $text .= " [$low, $high]";
        $n .= sprintf ', %.4g %%', 100 * $figure->{coverage};
    }
    $n .= ', too few for an interval' if $figure->{no_interval};
    my $word = $p->{verdict} eq 'PASS' ? $limit->{kind}
        : $p->{verdict} eq 'FAIL'      ? $OPPOSITE{$limit->{kind}}
        :                                'INCONCLUSIVE against';
    return "$text $word $bound ($n)";
}

# The unit of a figure that no limit names one for.
sub _unit {
    my ($clause, $figure) = @_;
    return q{%}
        if $clause->{relative} || $clause->{statistic}{name} eq 'cv';
    return $figure->{unit};
}

# The value and the bound, with enough digits to tell them apart.
sub _against {
    my ($clause, $limit, $value) = @_;
    my ($low, $high) = Assay::Verdict::bounds($clause, $limit);
    my $unit = $limit->{unit};

    if ($limit->{kind} eq 'within') {
        my ($shown) = show_against($value,
            abs($value - $low) < abs($value - $high) ? $low : $high, $unit);
        return ($shown, show($low, $unit) . ' .. ' . show($high, $unit)
                . " $unit");
    }
    my ($one, $two)
        = show_against($value, defined $low ? $low : $high, $unit);
    return ($one, "$two $unit");
}

sub _block {
    my ($verdicts, $clause, $p, $verdict) = @_;
    my ($figure, $limit) = @$p{qw(figure limit)};
    my $own = _place_line($p->{place});

    $own .= Assay::Tap::lines([each => $p->{row}])
        if defined $p->{row} && $p->{row} ne q{};
    $own .= Assay::Tap::lines([reason => $p->{why}]) if defined $p->{why};
    $own .= _figures($clause, $p) if defined $figure->{value};
    $own .= _evidence($verdicts, $figure);
    my $name = $limit ? $limit->{name} : q{};
    my $promise = $clause->{promise}{$name} ||= _promise($clause, $limit);
    return "  verdict: $verdict\n$promise$own";
}

# What was promised: the same for all points of a clause and limit.
sub _promise {
    my ($clause, $limit) = @_;
    my @out = (
        [clause    => $clause->{id}],
        [reference => "$clause->{file}:$clause->{line}"],
        [metric    => $clause->{metric}],
    );

    push @out, [where => join q{ }, map {"$_=$clause->{where}{$_}"}
            sort keys %{$clause->{where}}] if %{$clause->{where}};
    push @out, [limit => $limit->{text}] if $limit;
    push @out, [statistic => $clause->{statistic}{name}];
    push @out, ['relative to' => $clause->{relative}{text}]
        if $clause->{relative};
    for my $key (qw(tolerance ceiling floor)) {
        push @out, [$key => $clause->{$key}{text}] if $clause->{$key};
    }
    push @out, [waiver => join ', ', @{$clause->{waiver}}{qw(who why)},
        "until $clause->{waiver}{until}"] if $clause->{waiver};
    return Assay::Tap::lines(@out);
}

# Numbers and units need no escapes, whatever the records say.
sub _figures {
    my ($clause, $p) = @_;
    my ($figure, $limit) = @$p{qw(figure limit)};
    my $own = $figure->{unit};
    my $unit = defined $limit->{unit} ? $limit->{unit}
        : _unit($clause, $figure);
    my $raw = $clause->{relative} || $clause->{statistic}{name} eq 'cv'
        ? $own : $unit;
    my $scale = scale($raw);
    my @values = map { sprintf '%.6g', $_ / $scale } @{$figure->{values}};
    my $value = defined $p->{shown} ? $p->{shown}
        : show($figure->{value}, $unit);
    my $text = qq{  value: "$value $unit"\n  n: } . @values . "\n";

    $text .= qq{  bound: "$p->{bound}"\n} if defined $p->{bound};
    $text .= '  values: "' . _named(@values) . qq{ $raw"\n};
    $text .= '  base: "' . show($figure->{base}, $own) . qq{ $own"\n}
        if defined $figure->{base};
    return $text if !$figure->{interval};
    my $ends = join ' .. ', map { show($_, $unit) } @{$figure->{interval}};
    return $text . qq{  interval: "$ends $unit"\n}
        . sprintf qq{  coverage: "%.4g %%"\n}, 100 * $figure->{coverage};
}

sub _evidence {
    my ($verdicts, $figure) = @_;
    my $text = q{};

    my $records = $verdicts->{data}{records};
    $text = '  records: ' . Assay::Tap::quoted(_named(
            map { $records->[$_]{path} } @{$figure->{attempts}})) . "\n"
        if @{$figure->{attempts} || []};
    for my $list ([spoiled => $figure->{spoiled}],
        ['not charged' => $figure->{excused}]) {
        my ($name, $all) = @$list;
        $text .= "  $name: " . Assay::Tap::quoted(_named(@$all)) . "\n"
            if $all && @$all;
    }
    return $text;
}

sub _named {
    my (@all) = @_;

    return join ', ', @all if @all <= $NAMED_MOST;
    return join(', ', @all[0 .. $NAMED_MOST - 1])
        . ' and ' . (@all - $NAMED_MOST) . ' more';
}

1;

__END__

=head1 NAME

Assay::Point - a verdict in words: the line of one point and its block

=head1 FUNCTIONS

=over

=item judge(VERDICTS, CLAUSE, ROW, PLACE, WHY)

A hash of C<verdict>, C<ok>, C<description>, C<directive> and C<block>, as
Assay::Tap wants them.  ROW, PLACE and WHY are from C<< VERDICTS->points >>.

=back

=head1 WAIVERS

A waiver turns FAIL and INCONCLUSIVE into WAIVED up to and including its last
day (UTC); from the next day on both are FAIL.  It does nothing for PASS,
INVALID and NOTRUN.

=cut
