#!/usr/bin/perl
#
# The reference systems: free of faults, with exactly the figures of their
# source, and each clause with a record that passes and one that fails it.

use 5.016;
use strict;
use warnings;

use File::Basename qw(dirname);
use lib dirname(__FILE__) . '/data/run_scripts';
use Test::More;

use TestTree;

use lib harness_dir();
use Assay::Reference;

# The figures as they were published, MB/s.
my @ELEMENTS = (3604480, 7208960, 10813440, 14417920);
my %published = (
    'streambenchmark-10core' => {
        copy => 100205.2, scale => 100218.7, add => 100364.7, triad => 100293.1,
        median => 100255.9, minimum => 100205.2, maximum => 100364.7,
    },
    'streambenchmark-10core-benchmark' => {
        'copy threads=1'    => 18880.8, 'copy threads=10'   => 100358.1,
        'scale threads=1'   => 18537.2, 'scale threads=10'  => 100218.2,
        'add threads=1'     => 17380.2, 'add threads=10'    => 99508.0,
        'triad threads=1'   => 17359.9, 'triad threads=10'  => 99582.4,
        'median threads=1'  => 17958.7, 'median threads=10' => 99900.3,
    },
    'streambenchmark-10core-scaling' => {
        'maximum threads=1' => 19058.7, 'maximum threads=2' => 37511.2,
        'maximum threads=3' => 55204.6, 'maximum threads=4' => 68706.6,
        'maximum threads=5' => 76869.9, 'maximum threads=6' => 83669.9,
        'maximum threads=7' => 88656.0, 'maximum threads=8' => 93701.0,
        'maximum threads=9' => 97093.6, 'maximum threads=10' => 101293.9,
    },
    'streambenchmark-10core-length' => {
        "median elements=$ELEMENTS[0]" => 121692.2,
        "median elements=$ELEMENTS[1]" => 99755.5,
        "median elements=$ELEMENTS[2]" => 98705.5,
        "median elements=$ELEMENTS[3]" => 98660.5,
    },
    'streambenchmark-10core-original' => {
        copy => 11039.8, scale => 12491.1, add => 13370.0, triad => 13396.9,
    },
    'streambenchmark-10core-single' => {
        copy => 12749.1, scale => 12468.2, add => 13095.3, triad => 13131.2,
        median => 12922.2,
    },
);

my $tree = make_tree();
my $references = source_dir() . '/reference';

# The rows of a reference: hashes of clause, metric, keys of the metric line,
# limit, and a name such as `copy threads=1`.
sub rows {
    my ($parsed) = @_;

    my @rows;
    for my $clause (@{$parsed->{clauses}}) {
        for my $limit (@{$clause->{limits}}) {
            my %keys = (%{$clause->{where}}, %{$limit->{when}});
            my $metric = $clause->{metric} =~ s/\Astream[.]//r;
            push @rows, {
                clause => $clause,
                metric => $metric,
                keys   => \%keys,
                limit  => $limit,
                name   => join(q{ }, $metric, $limit->{name} || ()),
            };
        }
    }
    return @rows;
}

# A record with a line for each row; VALUE gets the row, returns its figure.
sub record {
    my ($file, $rows, $value, %more) = @_;

    my $host = $more{host} // 'n001';
    my $ok = $more{ok} // 'yes';
    my $opt = 'array_bytes=' . ($more{array} // 115343360) . ' cache_bytes=28835840';
    my @lines = (
        "record version=1 bench=stream time=2026-11-30T13:21:09Z",
        "opt $opt",
        "check name=copy.data ok=$ok error=0 tolerance=1e-13",
        "check name=pinning ok=" . ($more{pinned} // 'yes'),
    );
    for my $row (@{$rows}) {
        my $figure = $value->($row);
        my $keys = join q{ }, map {"$_=$row->{keys}{$_}"} sort keys %{$row->{keys}};
        push @lines, "metric name=$row->{metric} value=$figure unit=MB/s n=9"
            . " best=$figure min=1 median=" . $figure / 2 . " max=$figure host=$host $keys";
    }
    spew($file, map {"$_\n"} @lines, $more{open} ? () : 'end status=ok');
    return $file;
}

sub judge {
    my ($reference, $record) = @_;

    my ($status, $out, $err) = run_command($tree->{command}, 'judge', '--reference', $reference,
        '--nodes', 'n001', '--strict', $record);
    my @not_ok = lines_of($out, qr/^not ok/);
    return ($status, scalar @not_ok, $out . $err);
}

my @systems = map {m{/([^/]+)/stream[.]ref\z}} glob "'$references'/*/stream.ref";
is_deeply [sort @systems], [sort keys %published], 'a table for each system, and the reverse';

my ($status, $out, $err) = run_command($tree->{command}, 'lint', "$references/any-machine.ref",
    map {"$references/$_/stream.ref"} @systems);
is $status, 0, 'lint finds no fault' or diag $out, $err;
unlike "$out$err", qr/warning: /, '... and nothing doubtful';

for my $system (sort @systems) {
    subtest $system => sub {
        my $file = "$references/$system/stream.ref";
        my $parsed = Assay::Reference::load($file);
        like $parsed->{heading}{$file}{source}, qr/\ASTREAMBenchmark\.jl, README, section /,
            'the source is cited';
        my @rows = rows($parsed);
        my %figure = map { ($_->{name} => $_->{limit}{text} =~ s/\A>= (\S+) MB\/s\z/$1/r) } @rows;
        my %wanted = %{$published{$system}};
        is_deeply [sort keys %figure], [sort keys %wanted], 'the same rows as published';
        is $figure{$_} + 0, $wanted{$_}, "$_: $wanted{$_} MB/s" for sort keys %wanted;

        my $record = "$tree->{top}/$system.record";
        my $limit = sub { $wanted{$_[0]{name}} };
        my ($status, $not_ok, $said) = judge($file, record($record, \@rows, $limit));
        is $status, 0, 'as published: passes' or diag $said;
        ($status, $not_ok, $said)
            = judge($file, record($record, \@rows, sub { 0.9501 * $limit->(@_) }));
        is $status, 0, '5 % less: passes' or diag $said;
        ($status, $not_ok) = judge($file, record($record, \@rows, sub { 0.9499 * $limit->(@_) }));
        is $status, 1, 'more than 5 % less: exit 1';
        is $not_ok, scalar @rows, '... in each clause and row';
        my $one = $rows[-1];
        ($status, $not_ok) = judge($file,
            record($record, \@rows, sub { $limit->(@_) * ($_[0] == $one ? 0.9 : 1) }));
        is "$status $not_ok", '1 1', 'one of them alone: exit 1, one point';
        ($status) = judge($file, record($record, [@rows[1 .. $#rows]], $limit));
        is $status, 3, 'one of them missing: exit 3';
        my @other = map { {%{$_}, keys => {%{$_->{keys}}, threads => 77}} } $rows[0];
        ($status) = judge($file, record($record, \@other, $limit));
        is $status, 3, 'another number of threads is no measurement of it: exit 3';
        ($status) = judge($file, record($record, \@rows, sub { 1.1e6 }));
        is $status, 3, 'faster than the machine can be: exit 3';
    };
}

subtest 'any-machine' => sub {
    my $file = "$references/any-machine.ref";
    my @rows = grep { $_->{clause}{metric} =~ /\Astream[.]/ }
        rows(Assay::Reference::load($file));
    $_->{keys} = {threads => 2, elements => 14417920, stores => 'regular', write_allocate => 'no'}
        for @rows;
    is_deeply [map { $_->{metric} } @rows], [qw(copy scale add triad median minimum maximum)],
        'a clause for each figure of stream';
    is_deeply [map { $_->{limit}{text} } @rows], [('report only') x @rows], 'no rate is promised';
    my $record = "$tree->{top}/any.record";
    my $slow = sub { 2 };
    my %good = ('a slow machine' => {}, 'arrays of just 4 caches' => {array => 4 * 28835840});
    for my $what (sort keys %good) {
        my ($status, $not_ok, $said) = judge($file, record($record, \@rows, $slow, %{$good{$what}}));
        is $status, 0, "$what passes" or diag $said;
    }
    my %bad = (
        'wrong data'                 => {ok => 'no'},
        'not pinned as asked'        => {pinned => 'no'},
        'arrays of less than 4 caches' => {array => 4 * 28835840 - 8},
        'a record without its end'   => {open => 1},
        'another host'               => {host => 'n002'},
    );
    for my $what (sort keys %bad) {
        my ($status, $not_ok) = judge($file, record($record, \@rows, $slow, %{$bad{$what}}));
        is $status, 3, "$what: exit 3";
        cmp_ok $not_ok, '>=', scalar @rows, '... in each clause';
    }
    is +(judge($file, record($record, \@rows, sub { 19.9e6 })))[0], 0, 'below the ceiling passes';
    is +(judge($file, record($record, \@rows, sub { 20.1e6 })))[0], 3, 'above it: exit 3';
    is +(judge($file, record($record, [@rows[1 .. $#rows]], $slow)))[0], 3,
        'a figure that is missing: exit 3';
};

done_testing;
