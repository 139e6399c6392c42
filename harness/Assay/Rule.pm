package Assay::Rule;

# Run rules: conditions on how a run was made, such as `bytes >= 4 x cache`.

use strict;
use warnings;

use Assay::Text qw(unquote);
use Assay::Units qw(compare dimension finite_number scale);

my $OPERATOR = qr/>=|<=|!=|=|>|</;
my $NUMBER = qr/[+-]?[0-9]*[.]?[0-9]+(?:[eE][+-]?[0-9]+)?/;
my $QUOTED = qr/"(?:[^"\\]|\\.)*"/;

my %HOLDS = (
    '>=' => sub { $_[0] >= 0 },
    '<=' => sub { $_[0] <= 0 },
    '>'  => sub { $_[0] > 0 },
    '<'  => sub { $_[0] < 0 },
    '='  => sub { $_[0] == 0 },
    '!=' => sub { $_[0] != 0 },
);

sub parse {
    my ($text) = @_;

    my ($left, $operator, $right)
        = $text =~ /\A((?:$QUOTED|[^"<>=!])+?)\s*($OPERATOR)\s*(.+)\z/
        or return (undef, "not KEY OPERATOR VALUE: '$text'");
    my %rule = (text => $text, operator => $operator);
    for my $side ([left => $left], [right => $right]) {
        my ($parsed, $why) = _side($side->[1]);
        return (undef, $why) if !$parsed;
        $rule{$side->[0]} = $parsed;
    }
    $rule{keys} = [grep { defined } map { $rule{$_}{key} } qw(left right)];
    return (undef, "names no key: '$text'") if !@{$rule{keys}};
    for my $side (@rule{qw(left right)}) {
        return (undef, "'$operator' has no meaning for text")
            if defined $side->{text} && $operator !~ /\A!?=\z/;
    }
    return \%rule;
}

sub _side {
    my ($text) = @_;
    $text =~ s/\A\s+|\s+\z//g;

    if ($text =~ /\A(?:($NUMBER)\s*x\s+)?([A-Za-z_][\w.-]*)\z/a) {
        my ($factor, $key) = ($1, $2);
        $factor = defined $factor ? finite_number($factor) : 1;
        return (undef, "bad factor in '$text'") if !defined $factor;
        return {key => $key, factor => $factor};
    }
    if ($text =~ /\A$QUOTED\z/) {
        my $value = unquote($text);
        return (undef, "unknown backslash escape in $text")
            if !defined $value;
        return {text => $value};
    }
    my $quantity = _quantity($text);
    return {quantity => $quantity} if $quantity;
    return (undef, "neither a key, a number with a known unit nor "
            . "a quoted text: '$text'");
}

# [number in the base unit, dimension]; a bare number has the dimension ''.
sub _quantity {
    my ($text) = @_;

    my ($digits, $unit) = $text =~ /\A($NUMBER)\s*([^\s0-9]\S*)?\z/ or return;
    my $number = finite_number($digits);
    return if !defined $number;
    return [$number, q{}] if !defined $unit;
    my $dimension = dimension($unit);
    return if !defined $dimension;
    return [$number * scale($unit), $dimension];
}

sub broken {
    my ($rule, $values) = @_;
    my @sides;

    for my $side (@$rule{qw(left right)}) {
        if (!defined $side->{key}) {
            push @sides, [$side];
            next;
        }
        my $found = $values->($side->{key});
        return "rule '$rule->{text}': no $side->{key} in the record"
            if !$found || !@$found;
        push @sides, [map { _looked_up($side, $_) } @$found];
    }
    for my $left (@{$sides[0]}) {
        for my $right (@{$sides[1]}) {
            my $why = _compare($rule, $left, $right);
            return "rule '$rule->{text}' is broken: $why" if $why;
        }
    }
    return;
}

sub _looked_up {
    my ($side, $value) = @_;
    my $quantity = _quantity($value);

    return {text => $value, said => "$side->{key}=$value"} if !$quantity;
    return {
        text     => $value,
        said     => "$side->{key}=$value",
        quantity => [$quantity->[0] * $side->{factor}, $quantity->[1]],
    };
}

sub _compare {
    my ($rule, $left, $right) = @_;
    my $said = join ', ', grep { defined } map { $_->{said} } $left, $right;
    my $operator = $rule->{operator};

    if ($left->{quantity} && $right->{quantity}) {
        my ($one, $two) = map { $_->{quantity} } $left, $right;
        my %dimension = map { ($_->[1] eq 'size' ? q{} : $_->[1]) => 1 }
            $one, $two;
        return "$said: of different dimensions" if 1 < keys %dimension;
        return if $HOLDS{$operator}->(compare($one->[0], $two->[0]));
        return $said;
    }
    return "$said: not a number" if $operator !~ /\A!?=\z/;
    return "$said: number against text"
        if !defined $left->{text} || !defined $right->{text};
    my $equal = $left->{text} eq $right->{text};
    return $said if $operator eq q{=} ? !$equal : $equal;
    return;
}

1;

__END__

=head1 NAME

Assay::Rule - run rules: conditions on how a run was made

=head1 SYNOPSIS

  rule = array_bytes >= 4 x cache
  rule = 8 x elements >= 4 x cache
  rule = cache >= 32 MiB
  rule = pin != "none"

=head1 RULES

A rule is SIDE OPERATOR SIDE with one of C<< >= <= > < = != >>.  A side is
C<KEY> or C<N x KEY>, a number with or without a unit, or a double-quoted
text; one side at least names a key.  Words without quotes are keys.

Two numbers are compared as numbers.  A number without a unit is taken for
bytes where the other side has a unit of size, since records hold sizes as
plain bytes; other dimensions must be equal.  Text knows C<=> and C<!=> alone
and is compared exactly.

=head1 FUNCTIONS

=over

=item parse(TEXT)

The rule, or (undef, WHY).

=item broken(RULE, VALUES)

Why the rule does not hold, or nothing.  C<< VALUES->(KEY) >> returns an array
of the values that the key has in the run, or nothing; every one of them must
hold.  A key that is not there breaks the rule.

=back

=cut
