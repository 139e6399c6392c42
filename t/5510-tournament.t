#!/usr/bin/perl
#
# Rounds of disjoint pairs: every pair once, for every count from 2 to 33;
# samples and bisections of the size that is asked for.

use 5.016;
use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use List::Util qw(max min);
use Test::More;

use lib $ENV{ASSAY_HARNESS} // abs_path(dirname(__FILE__)) . '/../harness';
use Assay::Tournament qw(pairs_of rounds round_count);

sub names { return [map { sprintf 'n%02d', $_ } 1 .. $_[0]] }

# Faults of rounds: a node twice in one, a pair twice in all, or turned round.
sub faults {
    my (@rounds) = @_;
    my (%seen, @faults);

    for my $round (@rounds) {
        my %busy;
        for my $pair (@{$round}) {
            push @faults, "@{$pair} twice" if $seen{"@{$pair}"}++;
            push @faults, "@{$pair} turned" if $pair->[0] ge $pair->[1];
            push @faults, "$_ busy" for grep { $busy{$_}++ } @{$pair};
        }
        push @faults, 'an empty round' if !@{$round};
    }
    return join ', ', @faults;
}

sub meetings {
    my (@rounds) = @_;
    my %count;

    $count{$_}++ for map { @{$_} } map { @{$_} } @rounds;
    return \%count;
}

my @bad;
for my $count (2 .. 33) {
    my @rounds = rounds('all', names($count));
    push @bad, "$count: " . faults(@rounds) if faults(@rounds);
    push @bad, "$count: rounds" if @rounds != ($count % 2 ? $count : $count - 1);
    push @bad, "$count: planned" if @rounds != round_count('all', $count);
    push @bad, "$count: pairs" if pairs_of(@rounds) != $count * ($count - 1) / 2;
}
is "@bad", q{}, 'all: every pair once, N - 1 rounds, or N of an odd count';

@bad = ();
for my $count (2 .. 20) {
    for my $want (1 .. 5) {
        my @rounds = rounds('sample', names($count), count => $want, seed => 'x');
        my $met = meetings(@rounds);
        my $each = min($want, $count - 1);
        push @bad, "$count/$want: " . faults(@rounds) if faults(@rounds);
        push @bad, "$count/$want: planned " . @rounds
            if abs(@rounds - round_count('sample', $count, $want)) > ($count % 2);
        push @bad, "$count/$want: someone left out" if keys %{$met} != $count;
        push @bad, "$count/$want: uneven @{[%{$met}]}"
            if min(values %{$met}) < $each - ($count % 2) || max(values %{$met}) > $each + ($count % 2);
    }
}
is "@bad", q{}, 'sample: each node in K pairs';
is_deeply [rounds('sample', names(10), count => 3, seed => 'x')],
    [rounds('sample', names(10), count => 3, seed => 'x')], 'the same for the same seed';
isnt join(q{ }, pairs_of(rounds('sample', names(10), count => 3, seed => 'x'))),
    join(q{ }, pairs_of(rounds('sample', names(10), count => 3, seed => 'y'))),
    '... and another for another';

@bad = ();
for my $count (2 .. 20) {
    for my $want (1 .. 4) {
        my @rounds = rounds('bisection', names($count), count => $want);
        my @inside = grep { $_->[0] gt sprintf('n%02d', $count / 2)
            || $_->[1] le sprintf('n%02d', $count / 2) } map { @{$_} } @rounds;
        push @bad, "$count/$want: " . faults(@rounds) if faults(@rounds);
        push @bad, "$count/$want: within a half" if @inside;
        push @bad, "$count/$want: planned" if @rounds != round_count('bisection', $count, $want);
    }
}
is "@bad", q{}, 'bisection: each of one half with K of the other';

is round_count('all', 10_000), 9999, '10,000 nodes: counted';
my @large = rounds('sample', names(10_000), count => 4, seed => 'x');
is scalar(map { @{$_} } @large), 20_000, '... and a sample of them made';
ok !eval { rounds('all', names(1)); 1 }, 'one node: refused';
like $@, qr/two nodes/, '... and says why';

done_testing;
