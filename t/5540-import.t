#!/usr/bin/perl
#
# assay import: what originals printed, as records: rates recomputed, what
# contradicts itself noted, hostile logs refused. assay compare: the speed-up.

use 5.016;
use strict;
use warnings;

use File::Basename qw(dirname);
use lib dirname(__FILE__) . '/data/run_scripts';
use Test::More;

use TestTree;

use lib harness_dir();
use Assay::Figures;

my $tree = make_tree();
my $data = source_dir() . '/t/data/import';

sub import_log { return run_command($tree->{command}, 'import', @_) }

sub compare { return run_command($tree->{command}, 'compare', @_) }

# The value of one metric line, by its name and a text that it holds.
sub value {
    my ($record, $name, $with) = @_;

    my ($line) = grep { index("$_ ", " $with ") >= 0 } lines_of($record, qr/^metric name=$name /);
    return ($line // q{}) =~ / value=(\S+)/ ? $1 : 'none';
}

sub judged {
    my ($record, $metric) = @_;

    spew('x.record', $record);
    spew('x.ref', "[clause 1]\nmetric = $metric\nscope = every node\nstatistic = median\n",
        "take = value\nlimit = report only\n");
    return run_command($tree->{command}, 'judge', '--reference', 'x.ref', 'x.record');
}

subtest 'usage' => sub {
    my ($status, $out, $err) = import_log('--help');
    is $status, 0, '--help exits 0';
    is scalar(lines_of($out, qr/.{81}/)), 0, '... within 80 columns';
    my %refused = (
        'no log'            => ['manmem'],
        'no such program'   => ['frob', "$data/stream.log"],
        'no such log'       => ['manmem', 'nosuch'],
        'a folder'          => ['manmem', $data],
        'another program\'s log' => ['manmem', "$data/stream.log"],
        'no host name'      => ['--host', 'a b', 'stream', "$data/stream.log"],
        'no pair'           => ['--pair', 'a', 'stream', "$data/stream.log"],
        'no key'            => ['--key', '=b', 'stream', "$data/stream.log"],
        'which of two runs' => ['manmem', "$data/manmem-b.log"],
        'no third run'      => ['--run', 3, 'manmem', "$data/manmem-b.log"],
        'an output there'   => ['--output', "$tree->{command}", 'stream', "$data/stream.log"],
    );
    for my $what (sort keys %refused) {
        ($status, $out, $err) = import_log(@{$refused{$what}});
        is "$status $out", '2 ', "$what: exit 2";
        like $err, qr/\S/, '... with a message';
    }
};

subtest 'manmem' => sub {
    my ($status, $out, $err) = import_log('--host', 'mi210', '--key', 'arch=gfx90a', 'manmem',
        "$data/manmem-a.log");
    is "$status $err", '0 ', 'a sound log: no warning';
    is value($out, 'iteration', 'iteration=0'), '19632.823', 'times as printed';
    like value($out, 'cold', 'host=mi210'), qr/\A0\.109382/, 'cold: bytes over time';
    like value($out, 'steady', 'arch=gfx90a'), qr/\A373\.8/, 'steady';
    is value($out, 'converged', 'device=0'), 3, 'converged after three iterations';
    like value($out, 'migrated', 'bytes=2147483648'), qr/\A0\.0811/, 'migrated, over three of them';
    ($status, $out, $err) = import_log('--run', 1, 'manmem', "$data/manmem-b.log");
    is scalar(lines_of($out, qr/^warning /)), 3, 'contradictions are in the record';
    like $err, qr/dimensions 512 x 256 x 2048 .* 1073741824 bytes, but it prints 4294967296/,
        '... of dimensions and bytes';
    like $out, qr/iteration 1: prints 2231\.218 GB\/s, but its bytes and time are 2199\.16"/,
        '... of a rate';
    unlike $out, qr/iteration 2: prints/, '... and not of one that is right';
    my $good = slurp("$data/manmem-a.log");
    spew('odd.log', $good =~ s/5\.745 ms \(\S+/9.000 ms (238.609/r);
    (undef, my $late, $err) = import_log('manmem', 'odd.log');
    like $err, qr/not steady: iteration 4 of 6 was the first within 10 % /, 'steady too late: said';
    is join(q{ }, map { value($late, $_, 'device=0') } qw(steady converged migrated)),
        'none none none', '... and no figure of what is steady';
    spew('odd.log', $good =~ s/(Iteration \d): .*/$1: 5.745 ms (373.8 GiB\/s)./gr);
    (undef, my $flat) = import_log('manmem', 'odd.log');
    is value($flat, 'converged', 'device=0'), 0, 'never cold: converged from the first on';
    spew('odd.log', $good =~ s/0x80000000/0x100000000/r =~ s/^Iteration.*\n//mgr,
        map {"Iteration $_: 10.000 ms (429.497 GiB/s).\n"} 0 .. 5);
    (undef, my $double, $err) = import_log('manmem', 'odd.log');
    is value($double, 'cold', 'type=double') . $err, '429.49673', 'twice the bytes: doubles';
    (undef, my $tap) = judged($out, 'manmem.cold');
    like $tap, qr/not ok 1 .*INVALID: no check line: the data was not verified/,
        'no clause takes it for a measurement';
};

subtest 'the others' => sub {
    my ($status, $out, $err) = import_log('--pair', 'n1:n2', 'mpi_overhead', "$data/overhead.log");
    is $status, 0, 'mpi_overhead';
    is value($out, 'overhead', 'msgsize=8'), '0.484', '... its figures';
    is value($out, 'availability', 'pair=n1:n2'), '77.8', '... its pair';
    unlike $err, qr/msgsize 8:/, '... a sound row';
    like $err, qr/msgsize 1024: overhead 4\.000 is not iter_t 9\.000 - work_t 4\.000/, '... a wrong sum';
    like $err, qr/msgsize 4096: an availability of -202\.0 % is none/, '... nonsense';
    for my $log ('msgrate.log', 'msgrate-o.log') {
        ($status, $out, $err) = import_log('msgrate', "$data/$log");
        is "$status $err", '0 ', $log;
        is value($out, 'pair_based', 'ranks=192'), '112546.58', '... its rate';
        is value($out, 'all_start', 'nodes=8'), '82540.99', '... its nodes';
    }
    ($status, $out, $err) = import_log('stream', "$data/stream.log");
    is $status, 0, 'stream';
    is value($out, 'copy', 'threads=2'), '10000.0', '... its rate';
    like $err, qr/triad: prints 24000\.0 MB\/s, but its bytes and least time are 12000$/m,
        '... twice what time and bytes say';
    is value($out, 'triad', 'threads=2'), '12000', '... of which the lower counts';
    unlike $err, qr/copy|scale|add/, '... and the others sound';
    is +(judged($out, 'stream.copy'))[0], 0, 'it says that its data is right: valid';
    my $text = slurp("$data/stream.log") =~ s/Solution Validates.*/Failed Validation on array a[]/r;
    spew('wrong.log', $text);
    ($status, $out) = import_log('stream', 'wrong.log');
    is +(judged($out, 'stream.copy'))[0], 3, '... or wrong: INVALID';
    $text = slurp("$data/stream.log");
    spew('two.log', $text, $text =~ s/= 10000000/= 90000000/r =~ s/^Function.*//msr);
    ($status, $out, $err) = import_log('stream', 'two.log');
    is "$status $out", '2 ', 'two runs, one without figures: exit 2';
    like $err, qr/2 runs: one log for each/, '... and why';
};

subtest 'hostile' => sub {
    my $good = slurp("$data/manmem-a.log");
    my %log = (
        'a huge number'   => $good =~ s/375\.071 ms/1e999 ms/r,
        'a time of zero'  => $good =~ s/19632\.823 ms/0.000 ms/r,
        'no bytes'        => $good =~ s/^Starting.*\n//mr,
        'bytes of zero'   => $good =~ s/0x80000000/0x0/r,
        'no time'         => $good =~ s/5\.745 ms/nan ms/r,
        'one is missing'  => $good =~ s/^Iteration 0.*\n//mr,
        'one comes twice' => $good =~ s/^(Iteration 2.*\n)/$1$1/mr,
        'nothing'         => q{},
        'binary'          => join(q{}, map {chr} 0 .. 255) x 40,
    );
    for my $what (sort keys %log) {
        spew('bad.log', $log{$what});
        my ($status, $out) = import_log('manmem', 'bad.log');
        is "$status $out", '2 ', "$what: exit 2";
    }
    spew('odd.log', $good, "Iteration 6\$(touch owned)`touch owned`: 1.000 ms (1 GB/s).\n",
        "Iteration 9: \@{[system 'touch owned']} ms (1 GB/s).\n", "end status=ok\nok 1\n");
    my ($status, $out) = import_log('--key', "note=a\nend status=ok\nmetric name=x", 'manmem', 'odd.log');
    ok !-e 'owned', 'text is not run';
    is $status, 2, 'a key with a line feed: exit 2';
    ($status, $out) = import_log('--key', 'label="; rm -rf x" \\', 'manmem', 'odd.log');
    is scalar(lines_of($out, qr/^metric name=iteration/)), 6, 'what is no line of it is passed over';
    is scalar(lines_of($out, qr/^end /)), 1, 'one end';
    spew('odd.record', $out);
    my @series = Assay::Figures::series({unverified => 1}, 'odd.record');
    is $series[0]{keys}{label}, '"; rm -rf x" \\', 'a key with quotes comes back as it was';
};

subtest 'compare' => sub {
    for my $run ([hip => 'manmem-a.log', 1], [cuda => 'manmem-b.log', 2]) {
        import_log('--key', "backend=$run->[0]", '--run', $run->[2], '--host', $run->[0],
            '--output', "$run->[0].record", 'manmem', "$data/$run->[1]");
    }
    my ($status, $out) = compare('hip.record', 'cuda.record');
    is $status, 0, 'exit 0';
    like $out, qr/^differ in backend: hip, cuda$/m, 'what differs as a whole is named';
    like $out, qr/^manmem\.iteration ms +iteration=0 +19632\.8 +3246\.55 +0\.1654 +6\.047$/m,
        'times: the speed-up is above 1 where B is faster';
    like $out, qr/^manmem\.cold GB\/s +0\.109382 +0\.661467 +6\.047 +6\.047$/m, 'rates: too';
    like $out, qr/^manmem\.converged iterations +3 +2 +0\.6667 +-$/m, 'a count: no speed-up';
    is +(compare('hip.record', 'nosuch'))[0], 2, 'no such record: exit 2';
    is +(compare('hip.record'))[0], 2, 'one record: exit 2';
    is +(compare('--metric', 'nosuch', 'hip.record', 'cuda.record'))[0], 2, 'no such metric: exit 2';

    my $line = 'name=triad value=%s unit=%s n=7 min=%s median=%s max=%s host=n1';
    my @sides = (['a', 'GB/s', [98 .. 104]], ['b', 'MB/s', [map { 1000 * $_ } 100 .. 106]]);
    for my $side (@sides, ['c', 'GB/s', [198 .. 204]]) {
        my ($name, $unit, $values) = @{$side};
        my ($min, $median, $max) = @{$values}[0, 3, 6];
        spew("$name.record", "record version=1 bench=stream time=x$name\ncheck name=x ok=yes\n",
            'metric ' . sprintf($line, $median, $unit, $min, $median, $max) . "\n",
            "sample name=triad unit=$unit values=" . join(q{,}, @{$values}) . " host=n1\n",
            "end status=ok\n");
    }
    (undef, $out) = compare('a.record', 'b.record');
    like $out, qr/101 \[98, 104\] +103 \[100, 106\] +1\.02 +1\.02 ~$/m,
        'other units are converted; intervals stand behind; what overlaps is marked';
    (undef, $out) = compare('a.record', 'c.record');
    like $out, qr/201 \[198, 204\] +1\.99 +1\.99$/m, '... and what does not is not';
    mkdir 'many';
    spew("many/$_.record", slurp('a.record') =~ s/time=xa/time=$_/r) for 1 .. 3;
    (undef, $out) = compare('many', 'c.record');
    like $out, qr/^A: many \(3 records\)$/m, 'a folder';
    is +(compare('x.ref', 'c.record'))[0], 2, 'what is no record: exit 2';
};

done_testing;
