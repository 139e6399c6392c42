#!/usr/bin/perl
#
# assay sweep without a scheduler: every node, every pair, and who is slow.
# Nodes are stand-ins.

use 5.016;
use strict;
use warnings;

use File::Basename qw(dirname);
use lib dirname(__FILE__);
use lib dirname(__FILE__) . '/data/run_scripts';
use Test::More;

use Sweep;
use TestTree;

use lib harness_dir();
use Assay::Blame qw(blame_nodes);
use Assay::Figures qw(groups odd_ones series);
use Assay::Picture;

subtest 'usage' => sub {
    my ($status, $out, $err) = sweep('--help');
    is $status, 0, '--help exits 0';
    is scalar(lines_of($out, qr/.{81}/)), 0, '... within 80 columns';
    my @two = ('--nodes', 'a,b');
    my %refused = (
        'no subcommand'        => [],
        'an unknown one'       => ['frob'],
        'an unknown option'    => ['nodes', '--frob', $stream],
        'no run_script'        => ['nodes', @two],
        'no nodes'             => ['nodes', $stream],
        'a list that is none'  => ['nodes', '--nodes', 'n[1', $stream],
        'one that is not there' => ['nodes', @two, 'nosuch'],
        'none at once'         => ['nodes', @two, '--at-once', 0, $stream],
        'a sample of nodes'    => ['nodes', @two, '--sample', 1, $stream],
        'two ways at once'     => ['pairs', @two, '--sample', 1, '--bisection', 1, $link],
        'pairs of one node'    => ['pairs', '--nodes', 'a', $link],
        'pairs of a run_script of one node' => ['pairs', @two, $stream],
        'nodes of one of two'  => ['nodes', @two, $link],
        'a tolerance of 0'     => ['nodes', @two, '--tolerance', '0', $stream],
        'a picture of a kind'  => ['nodes', @two, '--picture', 'x.gif', $stream],
        'locations not there'  => ['nodes', @two, '--locations', 'nosuch', $stream],
        'a partition'          => ['nodes', '--partition', 'nosuch', $stream],
        'nothing to show'      => ['show', $tree->{top}],
    );
    for my $what (sort keys %refused) {
        ($status, $out, $err) = sweep(@{$refused{$what}});
        is $status, 2, "$what: exit 2";
        like $err, qr/\S/, '... with a message';
    }
    ok !-e $results, 'none of it made a folder';
};

subtest 'dry run' => sub {
    my ($status, $out) = sweep('pairs', '--nodes', 'n[1-4]', '--dry-run', '--seconds', 30, $link);
    is $status, 0, 'exit 0';
    like $out, qr/^run_link of pairs of 4 nodes \(all\): 3 rounds, 2 runs at once$/m, 'rounds';
    like $out, qr/^3 runs one after another, 30 s each \(as named\): 90 s$/m, 'time';
    is scalar(lines_of($out, qr/^round \d: n\d:n\d n\d:n\d$/)), 3, 'pairs';
    ($status, $out) = sweep('pairs', '--nodes', 'n[00001-10000]', '--dry-run', '--seconds', 30, $link);
    like $out, qr/: 9999 rounds, 5000 runs at once\n.* 30 s each .*: 3\.5 days\n\z/, '10,000 nodes';
    ($status, $out) = sweep('nodes', '--nodes', 'n[1-5]', '--dry-run', '--at-once', 2, $stream);
    like $out, qr/^3 runs one after another, 60 s each \(a guess.*\): 180 s$/m, 'two at a time';
    ok !-e $results, 'nothing is run';
};

subtest 'nodes' => sub {
    slow();
    my ($status, $out, $err) = sweep('nodes', '--nodes', 'n[1-4]', '--name', 'even', $stream);
    is $status, 0, 'all equal: exit 0';
    is statuses('even'), 'n1=valid n2=valid n3=valid n4=valid', '... each measured once';
    like $out, qr/^28 PASS$/m, '... and judged';
    like $out, qr/^run_stream on 4 nodes: 4 measured, 0 not$/m, '... and counted';
    like $out, qr/^nobody is slow\ncompared: 7 figures of 4 places; slow is from 1\.25 times/m,
        '... nobody is slow, and what that means is said';
    unlike $out, qr/^of so few/m, '... as it may be, where they are alike';
    ($status, $out) = run_command($tree->{command}, 'campaign', 'verify', "$results/even");
    is $status, 0, 'its ledger holds';
    ($status, $out) = sweep('nodes', '--nodes', 'n[1-4]', '--name', 'even', $stream);
    is statuses('even'), 'n1=valid n2=valid n3=valid n4=valid', 'once more: nothing is owed';

    slow('n3 40');
    ($status, $out) = sweep('nodes', '--nodes', 'n[1-4]', '--name', 'odd', '--at-once', 1,
        '--picture', "$tree->{top}/odd.txt", $stream);
    is $status, 1, 'one is slow: exit 1';
    like $out, qr/^slow: node n3, 2\.5 times as long as the rest: stream\.\w+$/m, '... and named';
    like slurp("$tree->{top}/odd.txt"), qr/^n3 +2\.50 \*{25}$/m, '... and drawn';
    ($status, $out) = sweep('show', '--tolerance', '200', "$results/odd");
    is $status, 0, 'within a wider tolerance: exit 0';
    spew("$tree->{top}/at", "n[1-2] a\nn[3-4] b\n");
    slow('n3 40', 'n4 40');
    ($status, $out) = sweep('nodes', '--nodes', 'n[1-4]', '--name', 'switch',
        '--locations', "$tree->{top}/at", $stream);
    like $out, qr/^slow: switch b \(all its nodes\)/m, 'a slow switch';
    like $out, qr/^of so few \(4, which differ by 0 %\) a healthy one may be named/m,
        '... of so few nodes, which is said';
};

subtest 'pairs' => sub {
    slow('n2,n3 20');
    my $plots = grep { -x "$_/gnuplot" } split /:/, $ENV{PATH};
    my ($status, $out) = sweep('pairs', '--nodes', 'n[1-4]', '--name', 'pairs',
        $plots ? ('--picture', "$tree->{top}/pairs.svg") : (), $link);
    is $status, 1, 'a slow link: exit 1';
    like $out, qr/^run_link on 6 pairs of 4 nodes: 6 measured, 0 not$/m, 'all pairs';
    like $out, qr/^slow: link n2 - n3, 5 times as long as the rest: link\.rate$/m, '... it is named';
    like $out, qr/^n2  \. \\ 5 \.$/m, '... and stands in the matrix';
    SKIP: {
        skip 'no gnuplot', 3 if !$plots;
        like slurp("$tree->{top}/pairs.svg"), qr/<svg.*n4.*<\/svg>/s, '... and is drawn';
        (undef, undef, my $err) = sweep('show', '--picture', "$tree->{top}/pairs.png", "$results/pairs");
        is $err, q{}, '... without a word';
        like slurp("$tree->{top}/pairs.png"), qr/\A\x89PNG/, '... from the folder alone';
    }
    slow();
    ($status, $out) = sweep('pairs', '--nodes', 'n[1-4]', '--sample', 2, '--name', 'few', $link);
    is $status, 0, 'a sample: exit 0';
    like $out, qr/^run_link on 4 pairs of 4 nodes: 4 measured, 0 not$/m, '... of two pairs a node';
    ($status, $out) = sweep('pairs', '--nodes', 'n[1-4]', '--sample', 3, '--name', 'few', $link);
    is $status, 2, '... under the same name another sample: exit 2';
    local $ENV{PATH} = "$tree->{top}/nowhere";
    ($status, $out, my $err) = run_command($^X, $tree->{command}, 'sweep', 'show',
        '--picture', 'x.svg', "$results/pairs");
    is $status, 2, 'no gnuplot for a picture: exit 2';
    is "$out$err", "assay sweep: x.svg: gnuplot is not here, which draws it: a .txt needs none\n",
        '... before anything else is done';
};

# A node that was measured otherwise is compared all the same, and named; sizes
# make three groups; a run that ended unstable is no measurement.
subtest 'series' => sub {
    my @paths = map {
        my ($node, $threads, $factor) = @{$_};
        my $file = "$tree->{top}/work/$node.record";
        spew($file, "record version=1 bench=x time=$node\ncheck name=x ok=yes\n",
            (map {"metric name=t value=@{[$_ * $factor]} unit=us host=$node threads=$threads size=$_\n"}
                    1 .. 9), 'end status=' . ($node eq 'n5' ? 'unstable' : 'ok') . "\n");
        $file;
    } [n1 => 2, 1], [n2 => 2, 1], [n3 => 2, 1], [n4 => 1, 5], [n5 => 2, 1];
    my @series = series({}, @paths);
    my @groups = groups(@series);
    is join(q{, }, map { $_->{label} } @groups),
        'x.t size=1..3, x.t size=4..6, x.t size=7..9', 'three groups of sizes';
    is_deeply $groups[0]{time}, {n1 => 1, n2 => 1, n3 => 1, n4 => 5},
        'a node with other threads is among the rest';
    is_deeply [odd_ones(@series)], ['n4: threads=1, most have 2'], '... and named';
    is scalar(keys %{(groups(series({unstable => 1}, @paths)))[0]{time}}), 5,
        'unstable ones only where they are asked for';
};

# A rate of zero is slow, and hides nobody.
subtest 'zero' => sub {
    my %one = (metric => 'x.rate', kind => 'host', keys => {},
        values => {n1 => [100], n2 => [0], n3 => [50], n4 => [100], n5 => [100]});
    my ($group) = groups({%one, unit => 'MB/s'});
    my $found = blame_nodes($group->{time});
    is join(q{, }, map { $_->{name} } @{$found->{findings}}), 'n2, n3', 'a rate of zero';
    is scalar(() = groups({%one, unit => 'us'})), 0, 'a time of zero tells nothing';
    $_ = [0] for values %{$one{values}};
    is scalar(() = groups({%one, unit => 'MB/s'})), 0, '... nor do rates that all are zero';
    unlike Assay::Picture::text(['n1'], {kind => 'host', label => "a\e[2Jb", time => {n1 => 1}}),
        qr/\e/, 'a label is no command of a terminal';
};

done_testing;
