#!/usr/bin/perl
#
# Who is slow: synthetic matrices, healthy and with a fault planted, of every
# small size; a spread of nearly nothing blames nobody.

use 5.016;
use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use Test::More;

use lib $ENV{ASSAY_HARNESS} // abs_path(dirname(__FILE__)) . '/../harness';
use Assay::Blame qw(blame_nodes blame_pairs);

# Random numbers that are the same everywhere.
my $state = 20_261_130;

sub uniform {
    $state = ($state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return ($state + 0.5) / 2_147_483_648;
}

sub normal { return sqrt(-2 * log uniform()) * cos(6.283185307 * uniform()) }

# The pairs of so many nodes, of noise SIGMA; SLOW has factors of nodes and of
# pairs.
sub matrix {
    my ($count, $sigma, %slow) = @_;

    my @cells;
    for my $i (1 .. $count) {
        for my $j ($i + 1 .. $count) {
            my ($one, $two) = ($slow{"n$i"} // 1, $slow{"n$j"} // 1);
            my $time = 7 * ($one > $two ? $one : $two) * ($slow{"n$i:n$j"} // 1);
            push @cells, ["n$i", "n$j", $time * exp $sigma * normal()];
        }
    }
    return \@cells;
}

sub found {
    my ($result) = @_;

    return join ', ', map {"$_->{kind} $_->{name}"} @{$result->{findings}};
}

sub rates {
    my ($cells) = @_;

    return [map { [@{$_}[0, 1], 1 / $_->[2]] } @{$cells}];
}

subtest 'nodes' => sub {
    my %same = map { ("n$_" => 100) } 1 .. 8;
    for my $count (1 .. 8) {
        my %node = map { ("n$_" => 100) } 1 .. $count;
        is found(blame_nodes(\%node, higher => 1)), q{}, "$count equal nodes: nobody";
        next if $count < 2;
        $node{n2} = 50;
        is found(blame_nodes(\%node, higher => 1)), 'node n2', '... one at half the rate: it';
        is found(blame_nodes({map { ($_ => 1 / $node{$_}) } keys %node})), 'node n2',
            '... and of times';
        $node{n2} = 200;
        is found(blame_nodes(\%node, higher => 1)), $count == 2 ? 'node n1' : q{},
            '... one at twice the rate: nobody, but of two the other';
        $node{n2} = 100 * (1 - 1e-9);
        is found(blame_nodes(\%node, higher => 1)), q{},
            '... one a trifle slower, where the rest are equal: nobody';
    }
    like blame_nodes({n1 => 5})->{cannot}, qr/no other node/, 'one node: says why not';
    like blame_nodes({n1 => 5, n2 => 0})->{cannot}, qr/not above zero/, 'a zero: says why not';
    is found(blame_nodes({%same, n3 => 79}, higher => 1)), 'node n3', 'beyond the tolerance';
    is found(blame_nodes({%same, n3 => 81}, higher => 1)), q{}, 'within it';
    is found(blame_nodes({%same, n3 => 81}, higher => 1, tolerance => 0.1)), 'node n3',
        '... unless it is narrower';
    is found(blame_nodes({%same, n3 => 50, n7 => 20}, higher => 1)), 'node n7, node n3',
        'two, the slower first';
    is found(blame_nodes({a => 1, b => 1.4, c => 0.8, d => 1.9, e => 0.6, f => 2.2})), q{},
        'where all differ much nobody stands out';
    my $result = blame_nodes({%same, n3 => 50}, higher => 1);
    cmp_ok abs($result->{findings}[0]{factor} - 2), '<', 1e-9, 'the factor is 2';
    is $result->{limit}, 1.25, 'the limit is told';
};

subtest 'pairs, without noise' => sub {
    for my $count (1 .. 9) {
        my $cells = matrix($count, 0);
        my $result = blame_pairs($cells);
        is found($result), q{}, "$count equal nodes: nobody";
        if (@{$cells} < 3) {
            like $result->{cannot}, qr/fewer than three pairs/, '... and says why';
            next;
        }
        is found(blame_pairs(matrix($count, 0, n2 => 2))), 'node n2', '... a slow node';
        is found(blame_pairs(rates(matrix($count, 0, n2 => 2)), higher => 1)), 'node n2',
            '... and of rates';
        is found(blame_pairs(matrix($count, 0, 'n1:n3' => 2))), 'link n1:n3', '... a slow link';
        is found(blame_pairs(matrix($count, 0, map { ("n$_" => 2) } 1 .. $count))), q{},
            '... all slow: nobody more than another';
        is found(blame_pairs(matrix($count, 0, 'n1:n2' => 1 + 1e-9))), q{},
            '... a trifle: nobody';
        next if $count < 4;
        is found(blame_pairs(matrix($count, 0, n2 => 2, 'n1:n3' => 3))), 'node n2, link n1:n3',
            '... a slow node and a slow link apart';
        is found(blame_pairs([grep { "@{$_}" !~ /n4/ } @{matrix($count, 0, n2 => 2)}])),
            'node n2', '... a slow node and a dead one';
        next if $count < 5;
        is found(blame_pairs(matrix($count, 0, n2 => 2, 'n1:n2' => 3))), 'node n2, link n1:n2',
            '... a slow node, one of whose links is slower still';
        is found(blame_pairs(matrix($count, 0, n2 => 2, n4 => 3))), 'node n4, node n2',
            '... two slow nodes, of which the link between is not blamed';
    }
    my $one = [['n1', 'n2', 1], ['n3', 'n4', 1], ['n5', 'n6', 2], ['n7', 'n8', 1]];
    is found(blame_pairs($one)), 'pair n5:n6', 'one pair a node: link or node, nothing tells';
};

# The tolerance that is stated: noise of 3 % is never blamed, a factor of 2
# always is.
subtest 'noise' => sub {
    my ($healthy, $false, %missed) = (0, 0);
    for my $round (1 .. 2000) {
        my $count = 3 + $round % 7;
        $healthy++;
        my $result = blame_pairs(matrix($count, 0.03));
        $false++ if found($result) ne q{};
        next if $round % 2;
        my $bad = 'n' . (1 + $round % $count);
        $missed{node}++ if found(blame_pairs(matrix($count, 0.03, $bad => 2))) ne "node $bad";
        $missed{link}++
            if found(blame_pairs(matrix($count, 0.03, 'n1:n3' => 2))) ne 'link n1:n3';
        next if $count < 5;
        $missed{both}++ if found(blame_pairs(matrix($count, 0.03, n2 => 2, 'n1:n3' => 2)))
            !~ /\Anode n2, link n1:n3\z|\Alink n1:n3, node n2\z/;
    }
    is $false, 0, "$healthy healthy matrices: nobody blamed";
    is_deeply \%missed, {}, 'every fault of 2 found, and nothing beside it';
    my $wide = 0;
    for my $round (1 .. 500) {
        $wide++ if found(blame_pairs(matrix(3 + $round % 7, 0.12), tolerance => 1)) ne q{};
    }
    is $wide, 0, 'noise of 12 %: nobody blamed at a tolerance of 100 %';
    my ($few, $missed) = (0, 0);
    for my $round (1 .. 2000) {
        my %node = map { ("n$_" => exp(0.03 * normal())) } 1 .. 2 + $round % 7;
        $few++ if found(blame_nodes(\%node)) ne q{};
        $node{n1} *= 2;
        $missed++ if keys %node > 3 && found(blame_nodes(\%node)) ne 'node n1';
    }
    is $few, 0, 'nodes: nobody blamed';
    is $missed, 0, '... every fault of 2 found';
};

subtest 'switches' => sub {
    my %at = map { ("n$_" => $_ <= 3 ? 'a' : $_ <= 6 ? 'b' : 'c') } 1 .. 9;
    my %node = map { ("n$_" => $_ >= 4 && $_ <= 6 ? 2 : 1) } 1 .. 9;
    is found(blame_nodes(\%node)), 'node n4, node n5, node n6', 'unknown: the nodes';
    is found(blame_nodes(\%node, locations => \%at)), 'switch b', 'known: the switch';
    $node{n4} = 1;
    is found(blame_nodes(\%node, locations => \%at)), 'node n5, node n6',
        '... where one of its nodes is not slow: the nodes';
    my %slow = map { ("n$_" => 2) } 4 .. 6;
    is found(blame_pairs(matrix(9, 0.03, %slow), locations => \%at)), 'switch b', 'of pairs, too';
    my %trunk = map {
        my $i = $_;
        map { ("n$i:n$_" => 3) } 4 .. 6
    } 1 .. 3;
    my $result = blame_pairs(matrix(9, 0.03, %trunk), locations => \%at);
    is found($result), 'trunk a:b', 'all links between two switches';
    is $result->{findings}[0]{cells}, 9, '... nine of them';
    is found(blame_pairs(matrix(9, 0.03, 'n1:n4' => 3), locations => \%at)), 'link n1:n4',
        '... one of them: the link';
};

done_testing;
