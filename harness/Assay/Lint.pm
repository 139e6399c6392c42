package Assay::Lint;

# Contradictions in references that no single line shows.

use strict;
use warnings;

use Assay::Reference;
use Assay::Stats qw(least_count);
use Assay::Text qw(plural printable);
use Getopt::Long ();
use POSIX qw(strftime);

my @CHECKS = (
    \&_keys, \&_scope, \&_limits, \&_rows, \&_dimensions, \&_order,
    \&_relative, \&_confidence, \&_waiver, \&_tolerance,
);

my %PLACE = map { $_ => 1 } qw(host pair device);

# What a line measured, or says of it: never a key that tells lines apart.
my %FIGURE = map { $_ => 1 } qw(name value unit n best min q1 median q3 max
    mean sd mad cv note warning values);

sub main {
    my (@argv) = @_;
    my %opt = (today => strftime('%Y-%m-%d', gmtime));

    my $status = _options(\%opt, \@argv);
    return $status if defined $status;
    my $reference = Assay::Reference::load(@argv);
    my ($faults, $warnings) = check($reference, $opt{today});
    print {*STDERR} "$_\n" for map { $_->{text} } @$faults;
    print {*STDERR} "$_\n" for map {"$_->{text} (warning)"} @$warnings;
    return 2 if @$faults;
    print plural(scalar @{$reference->{clauses}}, 'clause') . ' in '
        . plural(scalar @argv, 'file') . ', '
        . plural(scalar @$warnings, 'warning') . "\n";
    return close STDOUT ? 0 : 99;
}

sub _options {
    my ($opt, $argv) = @_;
    my @said;
    local $SIG{__WARN__} = sub { push @said, @_ };
    my $parser = Getopt::Long::Parser->new(
        config => [qw(no_auto_abbrev no_ignore_case)]);

    my $ok = $parser->getoptionsfromarray($argv, 'help|h' => \$opt->{help},
        'as-of=s' => \$opt->{today});
    if ($ok && $opt->{help}) {
        print _usage();
        return close STDOUT ? 0 : 99;
    }
    push @said, "--as-of: not a date: '$opt->{today}'\n"
        if !Assay::Reference::is_date($opt->{today});
    push @said, "no reference file named\n" if !@$argv;
    return if $ok && !@said;
    chomp @said;
    print {*STDERR} map { 'assay lint: ' . printable(lcfirst $_) . "\n" }
        @said;
    print {*STDERR} _usage();
    return 2;
}

sub _usage {
    return "usage: assay lint [--as-of DATE] REFERENCE...\n\n"
        . "Find faults and contradictions in reference files.\n\n"
        . "      --as-of DATE  judge waivers by this day (today)\n"
        . "  -h, --help        print this\n\n"
        . "Exit status: 0 none (warnings aside), 2 faults.\n";
}

sub check {
    my ($reference, $today) = @_;
    my @faults = @{$reference->{faults}};
    my @warnings;

    # A clause with a fault in it can't be checked any further.
    my %faulty = map { ("$_->{file}:$_->{line}" => 1) } @faults;
    for my $clause (grep { _is_whole($_) } @{$reference->{clauses}}) {
        my $at = "$clause->{file}:$clause->{line}";
        for my $check (@CHECKS) {
            for my $found ($check->($clause, $today)) {
                my $warning = $found =~ s/\Awarning: //;
                push @{$warning ? \@warnings : \@faults}, {
                    file => $clause->{file}, line => $clause->{line},
                    text => printable("$at: clause $clause->{id}: $found"),
                };
            }
        }
    }
    push @faults, _opposed($reference->{clauses}) if !@faults;
    return (\@faults, \@warnings);
}

sub _is_whole {
    my ($clause) = @_;
    return 4 == grep { defined } @$clause{qw(metric scope statistic)},
        $clause->{limits}[0];
}

sub _keys {
    my ($clause) = @_;
    my @found;

    for my $key (@{$clause->{each}}) {
        push @found, "each names '$key', which where fixes"
            if defined $clause->{where}{$key};
        push @found, "each names '$key', which is a place: use scope"
            if $PLACE{$key} || $key eq 'functional';
    }
    push @found, map {"'$_' is what was measured, not how"}
        grep { $FIGURE{$_} } @{$clause->{each}}, sort keys %{$clause->{where}};
    for my $where ($clause->{where}, ($clause->{relative} || {})->{where}) {
        my $word = ($where || {})->{functional};
        push @found, "functional=$word: yes or no"
            if defined $word && $word !~ /\A(?:yes|no)\z/;
    }
    return @found;
}

sub _scope {
    my ($clause) = @_;
    return 'across goes with scope = system alone'
        if defined $clause->{across} && $clause->{scope} ne 'system';
    return 'one run has no spread: cv needs runs = 2 or more'
        if $clause->{statistic}{name} eq 'cv' && $clause->{runs} < 2
        && ($clause->{take} || q{}) ne 'samples';
    return;
}

sub _limits {
    my ($clause) = @_;
    my %each = map { $_ => 1 } @{$clause->{each}};
    my @found;

    for my $limit (@{$clause->{limits}}) {
        push @found, map {"limit[$limit->{name}]: '$_' is not in each"}
            grep { !$each{$_} } sort keys %{$limit->{when}};
    }
    return @found;
}

# Two limits that fit one row equally well.
sub _rows {
    my ($clause) = @_;
    my @limits = @{$clause->{limits}};
    my @found;

    for my $i (0 .. $#limits) {
        my $one = $limits[$i]{when};
        for my $other (@limits[$i + 1 .. $#limits]) {
            my $two = $other->{when};
            next if keys %$one != keys %$two;
            next if grep { defined $two->{$_} && $two->{$_} ne $one->{$_} }
                keys %$one;
            push @found, "limit[$limits[$i]{name}] and "
                . "limit[$other->{name}] fit the same rows";
        }
    }
    return @found;
}

sub _dimensions {
    my ($clause) = @_;
    my @bounded = grep { defined $_->{dimension} } @{$clause->{limits}};
    my %dimension = map { $_->{dimension} => 1 } @bounded;
    my $share = $clause->{relative} || $clause->{statistic}{name} eq 'cv';
    my @found;

    push @found, 'limits of more than one dimension: '
        . join ', ', sort keys %dimension if keys %dimension > 1;
    return @found if !@bounded;
    my ($own) = keys %dimension;
    push @found, "the limit must be in %, not $bounded[0]{unit}"
        if $share && $own ne 'ratio';
    my $tolerance = $clause->{tolerance};
    push @found, "tolerance $tolerance->{text} against a limit in "
        . $bounded[0]{unit}
        if $tolerance && $tolerance->{unit} ne q{%}
        && $tolerance->{dimension} ne $own;
    return @found if $share;
    for my $key (grep { $clause->{$_} } qw(ceiling floor)) {
        push @found, "$key $clause->{$key}{text} against a limit in "
            . $bounded[0]{unit} if $clause->{$key}{dimension} ne $own;
    }
    return @found;
}

sub _order {
    my ($clause) = @_;
    my ($ceiling, $floor) = @$clause{qw(ceiling floor)};
    my $share = $clause->{relative} || $clause->{statistic}{name} eq 'cv';
    my @found;

    push @found, "floor $floor->{text} is above ceiling $ceiling->{text}"
        if $ceiling && $floor
        && $ceiling->{dimension} eq $floor->{dimension}
        && $floor->{base} > $ceiling->{base};
    return @found if $share;
    for my $limit (@{$clause->{limits}}) {
        push @found, "ceiling $ceiling->{text} is below limit $limit->{text}"
            if $ceiling && defined $limit->{low}
            && $ceiling->{base} < $limit->{low};
        push @found, "floor $floor->{text} is above limit $limit->{text}"
            if $floor && defined $limit->{high}
            && $floor->{base} > $limit->{high};
        push @found, "warning: ceiling $ceiling->{text} is below limit "
            . "$limit->{text}: it will always be met"
            if $ceiling && defined $limit->{high}
            && $ceiling->{base} < $limit->{high};
    }
    return @found;
}

sub _relative {
    my ($clause) = @_;
    my $base = $clause->{relative} or return;
    my ($mine, $other) = map { _sorted($_) }
        $clause->{where}, $base->{where} || {};

    return 'cv relative to something has no meaning'
        if $clause->{statistic}{name} eq 'cv';
    return 'a fleet median needs a scope of many places'
        if $base->{fleet} && $clause->{scope} eq 'system';
    return 'relative to itself'
        if !$base->{fleet} && $base->{metric} eq $clause->{metric}
        && $mine eq $other;
    return;
}

sub _sorted {
    my ($fields) = @_;
    return join "\0", map {"$_=$fields->{$_}"} sort keys %$fields;
}

sub _confidence {
    my ($clause) = @_;
    my $confidence = $clause->{confidence} or return;
    my $p = $clause->{statistic}{p};
    my $percent = sprintf '%.6g %%', 100 * $confidence;

    return "confidence is for median and pNN, not $clause->{statistic}{name}"
        if !defined $p;
    return 'confidence together with relative to' if $clause->{relative};
    return if ($clause->{take} || q{}) eq 'samples';
    my $least = least_count($p, $confidence);
    return "no number of runs reaches $percent" if !defined $least;
    return if $clause->{runs} >= $least;
    return "runs = $clause->{runs} is too few: $clause->{statistic}{name} "
        . "at $percent needs $least";
}

sub _waiver {
    my ($clause, $today) = @_;
    my $waiver = $clause->{waiver} or return;
    return if $waiver->{until} ge $today;
    return "warning: waiver expired on $waiver->{until}";
}

# A tolerance that takes away all of what is promised.
sub _tolerance {
    my ($clause) = @_;
    my $tolerance = $clause->{tolerance} or return;

    return map {"tolerance $tolerance->{text} leaves nothing of $_->{text}"}
        grep { ($tolerance->{unit} eq q{%} ? $tolerance->{number} >= 100
            : $tolerance->{base} >= $_->{low}) }
        grep { $_->{kind} eq '>=' && $_->{low} > 0 } @{$clause->{limits}};
}

# Clauses that ask the same figure for what can't both hold.
sub _opposed {
    my ($clauses) = @_;
    my (%asked, @found);

    for my $clause (@$clauses) {
        next if @{$clause->{limits}} != 1;
        my $key = join "\1", $clause->{metric}, _sorted($clause->{where}),
            "@{$clause->{each}}", $clause->{scope}, $clause->{across} || q{},
            $clause->{statistic}{name}, $clause->{take} || q{},
            ($clause->{relative} || {})->{text} || q{};
        for my $other (@{$asked{$key} || []}) {
            my ($one, $two) = map { $_->{limits}[0] } $clause, $other;
            next if _meet($one, $two) && _meet($two, $one);
            push @found, {
                file => $clause->{file}, line => $clause->{line},
                text => "$clause->{file}:$clause->{line}: clause "
                    . "$clause->{id}: $one->{text} contradicts clause "
                    . "$other->{id}: $two->{text}",
            };
        }
        push @{$asked{$key}}, $clause;
    }
    return @found;
}

sub _meet {
    my ($one, $two) = @_;
    return 1 if !defined $one->{low} || !defined $two->{high};
    return 1 if $one->{dimension} ne $two->{dimension};
    return $one->{low} <= $two->{high};
}

1;

__END__

=head1 NAME

Assay::Lint - contradictions in references that no single line shows

=head1 FUNCTIONS

=over

=item main(ARGUMENTS)

C<assay lint>: prints C<FILE:LINE: WHY> to the standard error; returns 0, or
2 where there are faults.

=item check(REFERENCE, TODAY)

Arrays of faults and of warnings, each C<file>, C<line> and C<text>; REFERENCE
is from Assay::Reference, whose own faults come first.  C<assay judge> refuses
a reference with faults, so a contradiction is never judged.

=back

=head1 WHAT IS A FAULT

=over

=item *

C<each> names a key that C<where> fixes, or a place.

=item *

C<across> without C<scope = system>; C<cv> of one run.

=item *

C<limit[KEY=...]> with a KEY that is not in C<each>; two such limits that fit
the same rows.

=item *

Limits of two dimensions; a tolerance, ceiling or floor of another dimension
than the limit; a limit that is not in % where C<relative to> or C<cv> makes
it a share.

=item *

A tolerance that leaves nothing of a C<<= >= >> limit above zero.

=item *

A ceiling below what the limit asks for, a floor above it or above the
ceiling.

=item *

C<relative to> itself; C<relative to> with C<cv> or C<confidence>; a fleet
median of the system.

=item *

C<confidence> with a statistic that has no order-statistic interval, or with
too few runs for one.

=item *

Two clauses that ask the same figure for what can't both hold.

=back

A waiver that has expired is a warning, and so is a ceiling that a C<<= <= >>
limit can never exceed.

=cut
