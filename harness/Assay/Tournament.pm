package Assay::Tournament;

# Which pairs of nodes meet in which round.

use 5.016;
use strict;
use warnings;

use Digest::SHA qw(sha256);
use Exporter qw(import);
use List::Util qw(min);

our @EXPORT_OK = qw(pairs_of rounds round_count);

# rounds(METHOD, NODES, more): an array of rounds, each an array of pairs
# [A, B], in which no node stands twice. A stands before B in NODES. Methods:
#   all        every pair once
#   sample     count => K: each node in K pairs, seed => TEXT
#   bisection  count => K: each node of one half with K of the other
# Dies with one line.
sub rounds {
    my ($method, $nodes, %more) = @_;

    my %rounds_of = (all => \&_all, sample => \&_sample, bisection => \&_bisection);
    my $code = $rounds_of{$method} or die "no way to pair nodes: '$method'\n";
    die 'pairs need two nodes or more, and here is ' . @{$nodes} . "\n"
        if @{$nodes} < 2;
    my $most = round_count('all', scalar @{$nodes});
    my $count = min($more{count} // 1, $most);
    my @rounds = $code->(scalar @{$nodes}, $count, $more{seed} // q{});
    return map { [map { [@{$nodes}[sort { $a <=> $b } @{$_}]] } @{$_}] } @rounds;
}

# How many rounds these are, without making them: for any number of nodes.
sub round_count {
    my ($method, $nodes, $count) = @_;

    my $most = $nodes % 2 ? $nodes : $nodes - 1;
    return $most if $method eq 'all';
    my $rounds = min($count // 1, $method eq 'bisection' ? int(($nodes + 1) / 2) : $most);
    return $rounds + ($method eq 'sample' && $nodes % 2 && $rounds < $most ? 1 : 0);
}

# The pairs of rounds as `A:B`, in order.
sub pairs_of {
    my @rounds = @_;

    return map { join q{:}, @{$_} } map { @{$_} } @rounds;
}

# The circle method: in round r those meet whose numbers add up to 2 r, and who
# would meet itself meets the last. With an odd count there is no last: it rests.
sub _circle {
    my ($count, $round) = @_;

    my $players = $count % 2 ? $count : $count - 1;
    my @pairs = map { [($round + $_) % $players, ($round - $_) % $players] }
        1 .. ($players - 1) / 2;
    unshift @pairs, [$round, $count - 1] if $count % 2 == 0;
    return \@pairs;
}

sub _all {
    my ($count) = @_;

    return map { _circle($count, $_) } 0 .. round_count('all', $count) - 1;
}

# Some rounds of the circle, around which the nodes stand in an order that the
# seed gives: neighbours by number are often neighbours by cable. With an odd
# count one node rests in each round; those meet in a round of their own.
sub _sample {
    my ($count, $want, $seed) = @_;

    my $most = round_count('all', $count);
    my @place = _shuffled($seed, 0 .. $count - 1);
    my @chosen = (_shuffled("$seed rounds", 0 .. $most - 1))[0 .. $want - 1];
    my @rounds = map {
        [map { [@place[@{$_}]] } @{_circle($count, $_)}]
    } @chosen;
    return @rounds if $count % 2 == 0 || $want == $most;
    my $last = _rested([@place[@chosen]], \@rounds, $count);
    return @{$last} ? (@rounds, $last) : @rounds;
}

# Pairs, not seen yet, of those that rested; the odd one out meets another.
sub _rested {
    my ($rested, $rounds, $count) = @_;

    my %met = map { ("@{[sort { $a <=> $b } @{$_}]}" => 1) } map { @{$_} } @{$rounds};
    my (@pairs, %busy);
    for my $one (@{$rested}) {
        next if $busy{$one};
        my ($other) = grep {
            $_ != $one && !$busy{$_} && !$met{"@{[sort { $a <=> $b } $one, $_]}"}
        } @{$rested}, 0 .. $count - 1;
        next if !defined $other;
        @busy{$one, $other} = (1, 1);
        push @pairs, [$one, $other];
    }
    return \@pairs;
}

# All at once across the middle: node i of one half with i, i + 1 ... of the
# other.
sub _bisection {
    my ($count, $want) = @_;

    my $low = int $count / 2;
    my $high = $count - $low;
    return map {
        my $turn = $_;
        [map { [$_, $low + ($_ + $turn) % $high] } 0 .. $low - 1]
    } 0 .. min($want, $high) - 1;
}

# In an order that the seed gives, the same on every machine and Perl.
sub _shuffled {
    my ($seed, @list) = @_;

    my %key = map { ($_ => sha256("$seed $_")) } @list;
    my @sorted = sort { $key{$a} cmp $key{$b} } @list;
    return @sorted;
}

1;

__END__

=head1 NAME

Assay::Tournament - which pairs of nodes meet in which round

=head1 DESCRIPTION

The pairs of a round are disjoint, so all of them can be measured at once, and
every node is as busy as any other. C<all> is a round-robin tournament by the
circle method: N - 1 rounds for an even count of nodes, N for an odd one, in
which one node rests in each. C<sample> takes K of these rounds, for more nodes
than there is time for; with K from 2 a slow node is told from a slow link.
C<bisection> pairs the two halves of the list: the load that a network's
bisection has to bear.

=cut
