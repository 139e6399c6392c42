#!/usr/bin/perl
#
# The reference system of Sandia's microbenchmarks: exactly the figures of their
# README, and each clause with a record that passes and one that fails it; and
# what must hold of both programs on any machine, and of a functional run.

use 5.016;
use strict;
use warnings;

use File::Basename qw(dirname);
use lib dirname(__FILE__) . '/data/run_scripts';
use Test::More;

use TestTree;

use lib harness_dir();
use Assay::Reference;

my $tree = make_tree();
my $references = source_dir() . '/reference';

# msgsize overhead base_t availability, as published.
my @overhead = map { [split] } split /\n/, <<'END';
0 0.398 2.035 80.4
2 0.473 2.180 78.3
4 0.464 2.165 78.6
8 0.484 2.176 77.8
16 0.500 2.205 77.3
32 0.489 2.211 77.9
64 0.507 2.187 76.8
128 0.612 2.249 72.8
256 0.661 2.241 70.5
512 0.748 2.340 68.0
1024 0.965 2.616 63.1
2048 1.423 3.335 57.3
4096 2.193 4.815 54.5
8192 1.099 3.178 65.4
16384 1.248 3.733 66.6
32768 1.177 5.486 78.5
65536 1.159 12.528 90.8
131072 1.209 23.783 94.9
262144 1.130 50.570 97.8
524288 1.850 139.149 98.7
1048576 2.189 295.571 99.3
2097152 2.198 593.447 99.6
4194304 1.738 1139.772 99.8
END

# msg/s of one rank, as published, of 8 and of 1024 bytes.
my %rate = (
    single_direction => [86432.43,  18679.41],
    pair_based       => [112546.58, 29312.91],
    pre_post         => [79560.22,  17854.26],
    all_start        => [82540.99,  17997.65],
);

# One row of a reference or of a record: metric, keys, figure, unit.
my @send = map {
    my ($size, @figures) = @{$_};
    my @units = ([overhead => 'us'], [base_t => 'us'], [availability => '%']);
    map { {
            metric => $units[$_][0],
            keys   => "msgsize=$size direction=send shared_node=no",
            place  => 'pair=n1:n2 ranks=0:1',
            figure => $figures[$_],
            unit   => $units[$_][1],
    } } 0 .. 2;
} @overhead;

sub rates {
    my ($place, $per, %more) = @_;
    my %keys = (npeers => 6, nmsgs => 128, cache => 8388608, ranks => 192, nodes => 8,
        ppn => 24, %more);
    my $keys = join q{ }, map {"$_=$keys{$_}"} sort keys %keys;

    return map {
        my $metric = $_;
        map { {
                metric => $metric,
                keys   => 'msgsize=' . (8, 1024)[$_] . " per=$per $keys",
                place  => $place,
                figure => $rate{$metric}[$_],
                unit   => 'msg/s',
        } } 0, 1;
    } sort keys %rate;
}

# A record of these rows; VALUE gets a row and returns its figure.
sub record {
    my ($bench, $rows, $value, %more) = @_;
    my $file = "$tree->{top}/$bench.record";
    my $opt = $more{opt}
        // 'iterations=4096 adaptive=no mock_nodes=0 batch=64 cache_bytes=8388608'
        . ' cache_least=8388608';
    $opt .= ' nodes=8 kernels=8' if $opt !~ /\bkernels=/;
    my @lines = (
        "record version=1 bench=$bench time=2026-11-30T13:21:09Z",
        "opt $opt",
        'check name=all_start.data ok=' . ($more{ok} // 'yes'),
    );

    for my $row (@{$rows}) {
        my $figure = $value->($row);
        push @lines, "metric name=$row->{metric} value=$figure unit=$row->{unit} n=9"
            . " best=$figure min=$figure median=$figure max=$figure $row->{place} $row->{keys}";
    }
    spew($file, map {"$_\n"} @lines, $more{open} ? () : 'end status=ok');
    return $file;
}

sub judge {
    my ($reference, $record, @options) = @_;

    my ($status, $out, $err) = run_command($tree->{command}, 'judge', '--reference',
        "$references/$reference", '--strict', @options, $record);
    return ($status, scalar lines_of($out, qr/^not ok/), $out . $err);
}

sub as_is { return $_[0]{figure} }

subtest 'lint' => sub {
    my @files = ("$references/any-machine.ref", glob "'$references'/{sandia-smb,functional}/{mpi_overhead,msgrate}.ref");
    is scalar @files, 5, 'two systems, two programs, and any machine';
    my ($status, $out, $err) = run_command($tree->{command}, 'lint', @files);
    is $status, 0, 'no fault' or diag $out, $err;
    unlike "$out$err", qr/warning: /, '... and nothing doubtful';
};

subtest 'as published' => sub {
    my %wanted = map {
        my ($size) = $_->{keys} =~ /msgsize=(\d+)/;
        ("$_->{metric} msgsize=$size" => "$_->{figure} $_->{unit}")
    } @send, rates(q{}, 'rank');
    my %got;
    for my $file (qw(mpi_overhead msgrate)) {
        my $parsed = Assay::Reference::load("$references/sandia-smb/$file.ref");
        like $parsed->{heading}{"$references/sandia-smb/$file.ref"}{source},
            qr/\ASMB 1\.0-1, README, section /, "$file.ref cites its source";
        for my $clause (@{$parsed->{clauses}}) {
            my $metric = $clause->{metric} =~ s/.*[.]//r;
            my $sense = $metric =~ /overhead|base_t/ ? '<=' : '>=';
            for my $limit (@{$clause->{limits}}) {
                my ($way, $number, $unit) = split q{ }, $limit->{text};
                is $way, $sense, "$metric $limit->{name} is $sense" if $way ne $sense;
                $got{"$metric $limit->{name}"} = $number + 0 . " $unit";
            }
        }
    }
    $_ = (split)[0] + 0 . q{ } . (split)[1] for values %wanted;
    is_deeply \%got, \%wanted, '69 and 8 limits, the figures of the README';
};

# The same trials of both tables.
for my $table (
    ['mpi_overhead', \@send, ['--pairs', 'n1:n2', '--nodes', 'n1,n2'], 3 * 23],
    ['msgrate', [rates(q{}, 'rank')], ['--nodes', 'n[1-8]'], 8],
) {
    my ($bench, $rows, $options, $points) = @{$table};
    subtest "sandia-smb: $bench" => sub {
        my $reference = "sandia-smb/$bench.ref";
        my $worse = sub {
            my ($row) = @_;
            return $row->{figure} * ($row->{metric} =~ /overhead|base_t/ ? 1.3 : 0.9);
        };
        my ($status, $not_ok, $said)
            = judge($reference, record($bench, $rows, \&as_is), @{$options});
        is $status, 0, 'as published: passes' or diag $said;
        is scalar(my @ok = $said =~ /^ok/mg), $points, "... $points points";
        ($status, $not_ok) = judge($reference, record($bench, $rows, $worse), @{$options});
        is "$status $not_ok", "1 $points", 'worse by a tenth: each fails' or diag $said;
        my $last = $rows->[-1];
        ($status, $not_ok) = judge($reference,
            record($bench, $rows, sub { $_[0] == $last ? $worse->(@_) : as_is(@_) }),
            @{$options});
        is "$status $not_ok", '1 1', 'one of them alone: one point';
        ($status) = judge($reference,
            record($bench, [@{$rows}[1 .. $#{$rows}]], \&as_is), @{$options});
        is $status, 3, 'one of them missing: exit 3';
        my @marked = map { {%{$_}, keys => "$_->{keys} functional=yes"} } @{$rows};
        ($status) = judge($reference, record($bench, \@marked, \&as_is), @{$options});
        is $status, 3, 'a functional run is none: exit 3';
        ($status) = judge($reference, record($bench, $rows, \&as_is, open => 1), @{$options});
        is $status, 3, 'a record without its end: exit 3';
        ($status) = judge($reference, record($bench, $rows, \&as_is, ok => 'no'), @{$options});
        is $status, 3, 'wrong data: exit 3';
    };
}

subtest 'sandia-smb: another run is none' => sub {
    my @rows = rates(q{}, 'rank');
    my %bad = (
        'fewer iterations' => {opt => 'iterations=4095 adaptive=no'},
        'an adaptive run'  => {opt => 'iterations=4096 adaptive=yes'},
    );
    for my $what (sort keys %bad) {
        is +(judge('sandia-smb/msgrate.ref', record('msgrate', \@rows, \&as_is, %{$bad{$what}})))[0],
            3, "$what: exit 3";
    }
    my $one = 'iterations=4096 adaptive=no mock_nodes=0 cache_bytes=8388608'
        . ' cache_least=8388608 nodes=8 kernels=';
    is +(judge('sandia-smb/msgrate.ref', record('msgrate', \@rows, \&as_is, opt => $one . $_->[0])))[0],
        $_->[1], "kernels=$_->[0] for eight nodes: exit $_->[1]"
        for [8, 0], [7, 3], ['unknown', 3];
    is +(judge('sandia-smb/mpi_overhead.ref',
            record('mpi_overhead', \@send, \&as_is, opt => 'nodes=2 kernels=1'),
            '--pairs', 'n1:n2'))[0], 3, 'two containers of one machine: exit 3';
    @rows = rates(q{}, 'rank', nodes => 16, ppn => 12);
    is +(judge('sandia-smb/msgrate.ref', record('msgrate', \@rows, \&as_is)))[0], 3,
        'other nodes: exit 3';
    my @shared = map { {%{$_}, keys => $_->{keys} =~ s/shared_node=no/shared_node=yes/r} } @send;
    is +(judge('sandia-smb/mpi_overhead.ref', record('mpi_overhead', \@shared, \&as_is),
            '--pairs', 'n1:n2'))[0],
        3, 'two ranks on one node: exit 3';
};

my @full = map {
    my $size = $_;
    map { {
            metric => $_,
            keys   => "msgsize=$size direction=send shared_node=no",
            place  => 'pair=n1:n2 ranks=0:1',
            figure => 3,
            unit   => $_ eq 'availability' ? '%' : 'us',
    } } qw(iter_t work_t overhead base_t availability);
} 0, 8;

subtest 'any machine' => sub {
    my @pairs = ('--pairs', 'n1:n2', '--nodes', 'n1,n2');
    my $any = 'any-machine.ref';
    my ($status, $not_ok, $said) = judge($any, record('mpi_overhead', \@full, \&as_is), @pairs);
    is $status, 0, 'mpi_overhead: any figure passes' or diag $said;
    ($status) = judge($any, record('mpi_overhead', [@full[1 .. $#full]], \&as_is), @pairs);
    is $status, 0, '... at the sizes that were run';
    is +(judge($any, record('mpi_overhead', [grep { $_->{metric} ne 'iter_t' } @full], \&as_is),
            @pairs))[0], 3, '... but none may be left out';
    is +(judge($any, record('mpi_overhead', \@full,
                    sub { $_[0]{metric} eq 'availability' ? 111 : 3 }), @pairs))[0], 3,
        '... and 111 % is not available';
    is +(judge($any, record('mpi_overhead', \@full,
                    sub { $_[0]{metric} eq 'availability' ? -202 : 3 }), @pairs))[0], 3,
        '... nor are -202 %';
    is +(judge($any, record('mpi_overhead', \@full, \&as_is), '--pairs', 'n1:n2,n1:n3'))[0], 3,
        '... a pair that is missing is missed';
    is +(judge($any, record('mpi_overhead', \@full, \&as_is, opt => 'nodes=2 kernels=1'), @pairs))[0],
        3, '... and two containers are no two nodes';

    my @nodes = ('--nodes', 'n1,n2');
    my @rows = map { rates("host=$_", 'node') } 'n1', 'n2';
    ($status, $not_ok, $said) = judge($any, record('msgrate', \@rows, \&as_is), @nodes);
    is $status, 0, 'msgrate: any rate passes' or diag $said;
    is +(judge($any, record('msgrate', [rates('host=n1', 'node')], \&as_is), @nodes))[0], 3,
        '... of every node';
    is +(judge($any, record('msgrate', \@rows, sub { 2.1e10 }), @nodes))[0], 3,
        '... up to what a node can do';
    is +(judge($any, record('msgrate', \@rows, \&as_is, opt => 'mock_nodes=2'
                    . ' cache_bytes=8388608 cache_least=8388608'), @nodes))[0], 3,
        '... of nodes that there are';
    for my $least (4096, 8388609, undef) {
        my $cache = 'mock_nodes=0 cache_bytes=8388608' . (defined $least ? " cache_least=$least" : q{});
        is +(judge($any, record('msgrate', \@rows, \&as_is, opt => $cache), @nodes))[0],
            ($least // 8388609) > 8388608 ? 3 : 0,
            '... of a cache that is cold: ' . ($least // 'no') . ' bytes at least';
    }
};

subtest 'functional' => sub {
    my @rows = rates('host=n1', 'node', functional => 'yes');
    my @nodes = ('--nodes', 'n1');
    my ($status, $not_ok, $said)
        = judge('functional/msgrate.ref', record('msgrate', \@rows, \&as_is), @nodes);
    is $status, 0, 'msgrate: a marked run passes' or diag $said;
    is +(judge('functional/msgrate.ref',
            record('msgrate', [rates('host=n1', 'node')], \&as_is), @nodes))[0], 3,
        '... one without a mark does not';
    my @marked = map { {%{$_}, keys => "$_->{keys} functional=yes"} } @full;
    my @pairs = ('--pairs', 'n1:n2');
    ($status, $not_ok, $said)
        = judge('functional/mpi_overhead.ref', record('mpi_overhead', \@marked, \&as_is), @pairs);
    is $status, 0, 'mpi_overhead: a marked run passes' or diag $said;
    my @more = map { {%{$_}, place => 'pair=n1:n2 ranks=2:3'} } @marked;
    ($status, $not_ok, $said) = judge('functional/mpi_overhead.ref',
        record('mpi_overhead', [@marked, @more], \&as_is), @pairs);
    is $status, 0, '... of several ranks on a node too' or diag $said;
    is +(judge('functional/mpi_overhead.ref', record('mpi_overhead', \@full, \&as_is), @pairs))[0],
        3, '... one without a mark does not';
};

done_testing;
