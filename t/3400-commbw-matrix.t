#!/usr/bin/perl
#
# The table of run_commbw: what each configuration is launched with, what is
# NOTRUN and why, and that no figure stands in a column that it is not of.

use 5.016;
use strict;
use warnings;

use File::Basename qw(dirname);
use lib dirname(__FILE__) . '/data/run_scripts';
use Test::More;

use TestTree;

BEGIN { unshift @INC, source_dir() . '/harness' }
use Assay::Matrix;

my $tree = make_tree();
my $host = $tree->{host};
my $bin = "$tree->{top}/bin";
my $script = "$tree->{scripts}/run_commbw";
delete @ENV{grep {/^(?:FLUX_|PMI|OMPI_|MPIEXEC_|ASSAY_(?:NODES|NICS|LAUNCH|MPIRUN|SRUN))/} keys %ENV};
mkdir $bin;
mkdir "$tree->{programs}/commbw";
for my $file (map({"$bin/$_"} qw(mpirun ompi_info)),
    map {"$tree->{programs}/commbw/$_"} qw(jobstream simpleBandwidth indexgather ra)) {
    spew($file, "#!/bin/sh\nexit 99\n");
    chmod 0755, $file;
}
spew("$bin/id", "#!/bin/sh\necho 1000\n");
chmod 0755, "$bin/id";
system 'cp', '-r', map({ source_dir() . "/reference/$_" } qw(any-machine.ref functional)),
    $tree->{reference};
@{$tree}{qw(mpi mpirun)} = ('Open MPI 4.1.4', "$bin/mpirun");
TestTree::fill(source_dir() . '/run_scripts/paths.sh.in', $tree);
local $ENV{PATH} = "$bin:$ENV{PATH}";

# The words behind the rank's wrapper, or what stands in their place.
sub words {
    my ($column, $benchmark, @more) = @_;
    my ($status, $out, $err) = run_command({ASSAY_NODES => 'n[1-2]'}, $script, '-n',
        "--column=$column", "--benchmark=$benchmark", '--nics=a,b', @more);
    return "exit $status: $err" if $status != 0;
    return "$1" if $out =~ /(lacks [^']*)'/;
    my ($words) = $out =~ m{/commbw_rank'? (.*?) '?/[^']*/programs/};
    return $words // $out;
}

subtest 'configurations' => sub {
    my @want = ('none 1 own no', 'none 2 shared no', 'socket 1 own no', 'socket 2 shared no',
        'socket 1 own no', 'socket 2 own no', 'socket 2 shared no', 'socket 1 own yes',
        'socket 2 own yes', 'socket 2 shared yes');
    is words($_, 'ra'), "$want[$_ - 1] a,b - - -", "column $_" for 1, 4, 6, 7, 9;
    my ($status, $out) = run_command({ASSAY_NODES => 'n[1-2]'}, $script, '-n', '--column=5',
        '--benchmark=indexgather', '--nics=a,b', '--tasks=3');
    like $out, qr/-n 4 .*--bind-to none .* --record=\{record\} --tasks=3 --gatherers=0/,
        'two ranks on each of two nodes, bound by nobody';
    like $out, qr/^# options = --column=5 --benchmark=indexgather --tasks=3$/m,
        '... which the ledger tells from others';
};

subtest 'what is not there' => sub {
    my ($status, $out) = run_command({ASSAY_NODES => 'n1'}, $script, '-n', '--column=1',
        '--benchmark=ra');
    like $out, qr/'lacks 2 nodes: here is 1 \(n1\)'/, 'one node';
    is words(2, 'ra', '--nics=a'), 'lacks 2 network interfaces: a node has a (--nics names them)',
        'one interface';
    ($status, $out) = run_command({ASSAY_NODES => 'n[1-2]'}, $script, '-n', '--column=2',
        '--benchmark=ra');
    like $out, qr/'lacks names of 2 network interfaces \(--nics\): \Q$host\E is no node of the job'/,
        'the interfaces of another host are none of the nodes\'';
    my %sockets = map { (slurp($_) => 1) }
        glob '/sys/devices/system/cpu/cpu[0-9]*/topology/physical_package_id';
    ($status, $out) = run_command($script, '-n', '--column=3', '--benchmark=stream');
    like $out, keys %sockets > 1 ? qr/commbw_rank.*socket 1 own/
        : qr/'lacks one of several sockets: a node has 1'/, 'one socket, of a node that is here';
    for my $options (' --column=3') {
        my $words = $script =~ s/ /\\ /gr . $options;
        ($status, $out, my $err) = run_command($tree->{command}, 'campaign', 'run', $words);
        is $status, 2, "a campaign takes one run, not those of '$options'";
        like $err, qr/run_commbw: this makes several runs: for one, say --column=N and --benchmark=NAME/,
            '... and says what to ask for';
    }
    for my $bad ('--column=11', '--column=x', '--benchmark=smb', '--tasks=0', '--nics=,', '--row=1') {
        ($status) = run_command($script, '-n', $bad);
        is $status, 2, "$bad: exit 2";
    }
    ($status, $out) = run_command($script, '--column=1', '--benchmark=ra', '-r', 'kept');
    is $status, 5, 'nothing that can run: exit 5';
    like $out, qr/^ok 1 - .* # SKIP lacks 2 nodes/m, '... NOTRUN, and why';
    ($status) = run_command($script, '--strict', '--column=2', '--benchmark=ra', '-r', 'kept');
    is $status, 5, '... not ok where it is asked for';
};

# An attempt of a column, with one metric line.
sub attempt {
    my ($column, $benchmark, $line, %more) = @_;
    return {
        column    => $column,
        benchmark => $benchmark,
        status    => 'valid',
        reason    => q{},
        metrics   => [{unit => 'MB/s', per => 'node', %{$line}}],
        traffic   => [map { traffic($_) } qw(a b)],
        %more
    };
}

sub traffic {
    my ($interface, %more) = @_;
    return {host => 'n1', interface => $interface, sent => 1000, received => 9, %more};
}

# The cell of the row that begins so, and the note that it names.
sub cell {
    my ($name, $column, @attempts) = @_;
    my @lines = Assay::Matrix::matrix(@attempts);
    my ($row) = grep {/^\Q$name\E/} @lines;
    my $text = (split /\s*[|]\s*/, $row)[$column];
    my ($number) = $text =~ /\[(\d+)\]/ or return $text;
    my ($note) = grep {/^\[$number\] /} @lines;
    return "$text $note";
}

my %place = (colocales => 2, confined => 'no');
my %ways = (%place, nics => 2, nic_share => 'own', pshm => 'no');
my %rate = (name => 'rate', value => 5000, %ways);

subtest 'cells' => sub {
    is cell('indexgather', 6, attempt(6, 'indexgather', \%rate)), '5', 'a figure, in GB/s';
    is cell('indexgather', 7, attempt(6, 'indexgather', \%rate)), q{-}, '... of no other column';
    is cell('stream', 5, attempt(5, 'stream', {name => 'triad', value => 123456, %place})), '123',
        'stream has no interfaces';
    my $three = join q{}, cell('indexgather', 6,
        map { attempt(6, 'indexgather', {%rate, value => $_}) } 4000, 9000, 5000);
    is $three, '5', 'of three attempts, the median';
    is cell('indexgather', 6, attempt(6, 'indexgather', {%rate, functional => 'yes'})), '5f',
        'a functional one is marked';
    my @legends = map { (Assay::Matrix::matrix(attempt(6, 'indexgather', $_)))[-1] } \%rate, {%rate, functional => 'yes'};
    is_deeply [map {/\A1s: .*; 2s: .*; -: not run(.*)/} @legends], [q{}, '; f: a functional run'],
        '... and marks are explained';
    my @bad = (
        [nics      => 1,        'nics=2; nics=1'],
        [nic_share => 'shared', 'nic_share=own; nic_share=shared'],
        [pshm      => 'yes',    'pshm=no; pshm=yes'],
        [colocales => 1,        'colocales=2; colocales=1'],
    );
    for my $bad (@bad) {
        my ($key, $value, $text) = @{$bad};
        like cell('indexgather', 6, attempt(6, 'indexgather', {%rate, $key => $value})),
            qr/\ANOTRUN\[1\] \[1\] asked for \Q$text\E is what the counters say \(n1:a n1:b\), and 5 GB/,
            "$key=$value is another configuration";
    }
    like cell('stream', 3, attempt(3, 'stream', {name => 'triad', value => 1, colocales => 1, confined => 'no'})),
        qr/asked for confined=yes; confined=no/, 'so is a rank that was not confined';
};

subtest 'interfaces' => sub {
    my @both = map { traffic($_) } qw(a b);
    my $cell = sub { cell('indexgather', 6, attempt(6, 'indexgather', \%rate, traffic => [@_])) };
    is $cell->(@both), '5', 'both carried bytes while it was measured';
    like $cell->($both[0], {%{$both[1]}, sent => 10}),
        qr/\ANOTRUN\[1\] \[1\] asked for nics=2; while it was measured, n1:a carried its bytes: 5 GB/,
        'one alone did: no figure of two';
    like $cell->($both[0], {%{$both[1]}, interface => 'lo'}), qr/\ANOTRUN/, '... nor with the loopback';
    my @other = map { {%{$_}, host => 'n2'} } @both;
    is $cell->($both[0], @other), '5', 'beside the rank that gathers, another\'s own may be idle';
    like $cell->($both[0], $other[0]), qr/\ANOTRUN/, '... on one node';
    like cell('indexgather', 7, attempt(7, 'indexgather', {%rate, nic_share => 'shared'}, traffic => [$both[0], @other])),
        qr/\ANOTRUN/, '... and not one that it shares';
    like $cell->(), qr/\ANOTRUN\[1\] .* no interface carried its bytes/, 'nor is there one without traffic';
    like $cell->($both[0], {%{$both[1]}, sent => 'many'}), qr/\ANOTRUN/, '... nor with no numbers';
    like $cell->($both[0], {host => 'n1', interface => 'b'}), qr/\ANOTRUN/, '... nor without any';
};

subtest 'lines of somebody else' => sub {
    for my $bad ([value => 'fast'], [value => 'nan'], [unit => 'GUPS'], [unit => 'furlongs'], [unit => undef]) {
        my ($key, $value) = @{$bad};
        like cell('indexgather', 6, attempt(6, 'indexgather', {%rate, $key => $value})),
            qr/\ANOTRUN\[1\] \[1\] a line of rate without a number in GB/,
            "$key=" . ($value // 'nothing') . ' is no figure';
    }
};

subtest 'endings' => sub {
    my @wrong = map { attempt(6, 'indexgather', \%rate, %{$_}) }
        {}, {status => 'wrong', reason => 'wrong data', metrics => []};
    like cell('indexgather', 6, @wrong), qr/\AINVALID\[1\] \[1\] wrong data\z/,
        'wrong data is not outdone by an attempt that was right';
    like cell('ra-rmo', 6, attempt(6, 'ra', {}, status => 'spoiled', reason => 'timeout')),
        qr/\AINVALID\[1\] \[1\] timeout\z/, 'one that was cut short';
    like cell('ra-rmo', 6, attempt(6, 'ra', {name => 'gups', unit => 'GUPS', value => 1, %ways})),
        qr/\ANOTRUN\[1\] \[1\] no line of gups/, 'and one without the line';
};

done_testing;
