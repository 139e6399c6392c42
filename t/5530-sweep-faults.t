#!/usr/bin/perl
#
# assay sweep where something goes wrong: a dead node, a dead pair, an end before
# the end, a ledger that somebody forged. Nodes are stand-ins.

use 5.016;
use strict;
use warnings;

use File::Basename qw(dirname);
use File::Copy qw(copy);
use Time::HiRes qw(sleep time);
use lib dirname(__FILE__);
use lib dirname(__FILE__) . '/data/run_scripts';
use Test::More;

use Sweep;
use TestTree;

subtest 'a dead node' => sub {
    slow('n3 40');
    my ($status, $out) = sweep({DEAD => 'n2'}, 'nodes', '--nodes', 'n[1-4]', '--name', 'dead', $stream);
    is $status, 1, 'exit 1, of a slow one and a dead one';
    is statuses('dead'), 'n1=valid n2=spoiled n3=valid n4=valid', 'not tried again';
    like $out, qr/^21 PASS|^of all: .*7 INVALID/m, 'the dead one is INVALID';
    like $out, qr/^run_stream on 4 nodes: 3 measured, 1 not\n  n2: spoiled: .*exit status 1: stream: the memory is gone$/m,
        'named, in the words of the program, not of its launcher';
    like $out, qr/^slow: node n3/m, '... and the slow one found among the others';
    unlike $out, qr/of all: .*(?:8|9|\d\d) INVALID/, 'its fault is no other node\'s';
    ($status, $out) = sweep({STANDIN => 'unstable'}, 'nodes', '--nodes', 'n[1-3]', '--name', 'shaky',
        $stream);
    is $status, 3, 'runs that end unstable: exit 3';
    like $out, qr/3 nodes: 0 measured, 3 not$/m, '... are no measurement';
    like $out, qr/^some runs ended unstable: .*\nperhaps slow: node n3/m, '... but a hint';
};

subtest 'a slow node, a dead pair' => sub {
    slow(map {"$_ 50"} 'n1,n3', 'n2,n3', 'n3,n4', 'n3,n5');
    my ($status, $out) = sweep('pairs', '--nodes', 'n[1-5]', '--name', 'node', $link);
    is scalar(lines_of($out, qr/^slow:/)), 1, 'a slow node: blamed alone';
    like $out, qr/^slow: node n3, 2 times/m, '... not its links';
    slow();
    ($status, $out) = sweep({DEAD => 'n1,n2'}, 'pairs', '--nodes', 'n[1-5]', '--name', 'cut', $link);
    is $status, 3, 'a dead pair: exit 3';
    like $out, qr/^of all: 9 PASS, 1 INVALID|^of all: 1 INVALID, 9 PASS/m, '... and no other is INVALID';
    like $out, qr/^  n1:n2: spoiled/m, '... it is named';
};

# Interrupted once gently, once by death; a place never measured counts.
subtest 'going on' => sub {
    slow();
    my @run = ('nodes', '--nodes', 'n[1-4]', '--at-once', 1, '--name', 'later', $stream);
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        open STDOUT, '>', '/dev/null';
        open STDERR, '>', "$tree->{top}/stopped";
        $ENV{BUSY} = 0.7;
        exec $tree->{command}, 'sweep', @run;
    }
    my $end = time + 30;
    sleep 0.05 while !-e "$results/later/0002-run_stream" && time < $end;
    kill 'TERM', $pid;
    waitpid $pid, 0;
    is $? >> 8, 3, 'told to stop: exit 3';
    like slurp("$tree->{top}/stopped"), qr/stopped by SIGTERM; to go on: .*--name later/, '... says how';
    is statuses('later'), 'n1=valid n2=valid', 'what ran was let end';
    my ($status, $out) = sweep('show', "$results/later");
    is $status, 3, 'not all measured: exit 3';
    like $out, qr/^  n3: not yet\n  n4: not yet$/m, '... and who was not';
    like $out, qr/INVALID/, '... counts against the clause';
    is +(run_command($tree->{command}, 'campaign', 'judge', "$results/later"))[0], 3,
        '... for assay campaign, too';
    ($status, $out) = sweep(@run);
    is $status, 0, 'it goes on';
    is statuses('later'), 'n1=valid n2=valid n3=valid n4=valid', '... where it stopped';
    ($status) = sweep('nodes', '--nodes', 'n[1-5]', '--name', 'later', $stream);
    is $status, 2, 'with other nodes: exit 2';
    ($status) = sweep(@run, '--', '--threads=2');
    is statuses('later'), join(q{ }, map { ("n$_=valid") x 2 } 1 .. 4),
        'with other options of the program it is another sweep';
};

subtest 'cut short' => sub {
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        open STDOUT, '>', '/dev/null';
        @ENV{qw(STANDIN STANDIN_SLEEP)} = ('wait', 30);
        exec $tree->{command}, 'sweep', 'nodes', '--nodes', 'n[1-2]', '--name', 'lost', $stream;
    }
    my $end = time + 30;
    sleep 0.05 while 2 != (() = glob "$results/lost/*/stream.record") && time < $end;
    my @children = map {m{/(\d+)/}} grep { (slurp_quiet($_) =~ /\) \S (\d+) /)[0] == $pid }
        glob '/proc/[0-9]*/stat';
    kill 'KILL', $pid;
    waitpid $pid, 0;
    kill 'TERM', @children;
    sleep 0.1 while time < $end && grep { kill 0, $_ } @children;
    my ($status, $out) = sweep('nodes', '--nodes', 'n[1-2]', '--name', 'lost', $stream);
    is statuses('lost'), 'n1=spoiled n1=valid n2=spoiled n2=valid',
        'what was cut short with its sweep is charged, and measured again';
    is $status, 3, '... and charged it is: exit 3';
};

# A program may say what it likes of why it ended.
subtest 'cut short by its own word' => sub {
    local $SIG{ALRM} = sub { die "it goes on for ever\n" };
    alarm 60;
    my ($status) = sweep({END => 'unstable reason="stopped by SIGTERM"'}, 'pairs', '--nodes',
        'n[1-2]', '--name', 'word', $link);
    alarm 0;
    is $status, 3, 'exit 3';
    is statuses('word'), 'n1,n2=spoiled', 'it is not run again and again';
};

# A program of devices: each stands for itself.
subtest 'a slow device' => sub {
    slow();
    spew("$tree->{programs}/stream/stream", <<'END');
#!/bin/sh
for word; do case $word in --record=*) record=${word#*=} ;; esac; done
{
    echo "record version=1 bench=stream time=$(date -u +%Y-%m-%dT%H:%M:%S.%NZ)"
    echo 'opt array_bytes=4 cache_bytes=1'
    echo 'check name=x ok=yes'
    for device in 0 1; do
        [ "$STANDIN_HOST/$device" = n2/1 ] && rate=30 || rate=100
        echo "metric name=triad value=$rate unit=MB/s host=$STANDIN_HOST device=$device"
    done
    echo 'end status=ok'
} >"$record"
END
    my ($status, $out) = sweep('nodes', '--nodes', 'n[1-3]', '--name', 'devices', $stream);
    like $out, qr/^run_stream on 3 nodes: 3 measured, 0 not$/m, 'nodes are measured by their devices';
    like $out, qr{^slow: device n2/1, 3\.33 times as long as the rest: stream\.triad$}m, 'one is slow';
    is scalar(lines_of($out, qr/^slow:/)), 1, '... alone';
    copy(source_dir() . '/t/data/run_scripts/standin', "$tree->{programs}/stream/stream");
};

# A scheduler: nodes that take no work, with its own reasons; a job that ends.
subtest 'a scheduler' => sub {
    slow();
    my $bin = "$tree->{top}/bin";
    mkdir $bin;
    spew("$bin/scontrol", <<'END');
#!/bin/sh
case $* in
*"show job"*) echo JobId=7 ;;
*"show node"*)
    echo 'NodeName=n1 Arch=x86_64 State=MIXED ThreadsPerCore=1'
    echo 'NodeName=n2 Arch=x86_64 State=IDLE+DRAIN ThreadsPerCore=1 Reason=bad DIMM, slot 3 [root@2026-11-30T13:21:09]'
    echo 'NodeName=n3 Arch=x86_64 State=DOWN* ThreadsPerCore=1 Reason=Not responding [slurm@2026-11-30T13:21:09]'
    echo 'NodeName=n4 Arch=x86_64 State=ALLOCATED ThreadsPerCore=1' ;;
*) exit 1 ;;
esac
END
    spew("$bin/squeue", "#!/bin/sh\necho \${LEFT-1:00:00}\n");
    spew("$bin/sinfo", "#!/bin/sh\ncase \$* in *=main*) printf 'n%s\\n' 1 1 2 3 4 5 ;; esac\n");
    chmod 0755, glob "'$bin'/*";
    my %job = (PATH => "$bin:$ENV{PATH}", SLURM_JOB_ID => 7, SLURM_JOB_NODELIST => 'n[1,4]');
    my ($status, $out) = sweep(\%job, 'nodes', '--partition', 'main', '--strict', '--name', 'five', $stream);
    is $status, 5, 'two of five nodes of a partition, under --strict: exit 5';
    is statuses('five'), 'n1=valid n2,n3,n5=notrun n4=valid', '... each is accounted for';
    like $out, qr/^  n2: idle\+drain: bad DIMM, slot 3 \[root@\S+\]$/m, '... in the scheduler\'s words';
    like $out, qr/^  n3: down\*: Not responding \[slurm@\S+\]$/m, '... all of them';
    like $out, qr/^  n5: the scheduler does not know this node$/m, '... or for want of any';
    ($status) = sweep(\%job, 'nodes', '--partition', 'nosuch', $stream);
    is $status, 2, 'no such partition: exit 2';

    my ($end, undef, $err) = sweep({%job, LEFT => '0:03', BUSY => 2}, 'nodes', '--nodes', 'n1,n4',
        '--at-once', 1, '--name', 'late', $stream);
    is $end, 3, 'the end of the job comes: exit 3';
    like $err, qr/the job ends in -?\d+ s, and a run takes \d+ s; to go on:/, '... says so';
    is statuses('late'), 'n1=valid', '... and begins nothing that it would cut short';
};

# A scheduler says n1, where the node calls itself n1.cluster.example.
subtest 'names in full' => sub {
    slow('n2 40');
    my %named = (DOMAIN => '.cluster.example');
    my ($status, $out) = sweep(\%named, 'nodes', '--nodes', 'n[1-3]', '--name', 'full', $stream);
    is statuses('full'), 'n1=valid n2=valid n3=valid', 'nodes that give their names in full';
    like $out, qr/^21 PASS$/m, '... are those of the list';
    like $out, qr/^run_stream on 3 nodes: 3 measured, 0 not$/m, '... each measured';
    like $out, qr/^slow: node n2, /m, '... and blamed by the name that is on it';
    is $status, 1, '... exit 1';
    slow('n1,n2 20');
    ($status, $out) = sweep(\%named, 'pairs', '--nodes', 'n[1-3]', '--name', 'full-pairs', $link);
    like $out, qr/^3 PASS$/m, 'pairs likewise';
    like $out, qr/^run_link on 3 pairs of 3 nodes: 3 measured, 0 not$/m, '... each measured';
    slow();
    ($status, $out) = run_command($tree->{command}, 'judge', '--nodes', 'n[1-3]',
        map({ ('--reference', $_) } glob "'$results'/full/reference/*.ref"), '--',
        glob "'$results'/full/*/*.record");
    is $status, 0, 'the judge alone, with a list';
    my ($record) = glob "'$results'/full/0001*/stream.record";
    spew("$tree->{top}/work/other.record", slurp($record) =~ s/n\d[.]cluster/n1.elsewhere/gr
            =~ s/ time=\S+/ time=2026-11-30T13:21:09Z/r);
    ($status, $out) = run_command($tree->{command}, 'judge', '--nodes', 'n[1-3]',
        map({ ('--reference', $_) } glob "'$results'/full/reference/*.ref"), '--',
        "$tree->{top}/work/other.record", glob "'$results'/full/*/*.record");
    is $status, 3, 'two that one name may mean: exit 3';
    like $out, qr/^not ok .*n1 on the list may be any of n1[.]cluster[.]example n1[.]elsewhere/m,
        '... which is said';
};

sub slurp_quiet {
    my ($file) = @_;

    return eval { slurp($file) } // ') x 0 ';
}

# What a line of a ledger may make of the judge.
subtest 'forged' => sub {
    sweep('nodes', '--nodes', 'n1', '--name', 'even', $stream);
    for my $field ([hosts => '@/etc/passwd'], [method => 'x'], [count => '1e9'], [of => 'x']) {
        my $name = "forged-$field->[0]";
        system 'cp', '-a', "$results/even", "$results/$name";
        my %line = (script => 'run_stream', of => 'nodes', hosts => 'n1,n2', method => 'all',
            count => 0, seed => 'x', words => q{}, options => q{}, @{$field});
        Assay::Ledger->new("$results/$name")->append('sweep', sub {%line});
        my ($status, $out) = run_command($tree->{command}, 'campaign', 'judge', "$results/$name");
        is $status, 3, "$field->[0]: exit 3";
        like $out, qr/ledger line \d+: no sweep/, '... and it is named';
    }
};

# Killed before its first attempt, a sweep still owes all.
subtest 'begun and no more' => sub {
    my $folder = "$results/begun";
    sweep('nodes', '--nodes', 'n1', '--name', 'begun', $stream);
    is +(run_command($tree->{command}, 'campaign', 'judge', $folder))[0], 0, 'a sweep that passes';
    my %line = (script => 'run_link', of => 'pairs', hosts => 'n1,n2', method => 'all',
        count => 0, seed => 'x', words => q{}, options => q{});
    Assay::Ledger->new($folder)->append('sweep', sub {%line});
    for my $command (['campaign', 'judge'], ['campaign', 'show'], ['sweep', 'show'], ['report']) {
        my ($status, $out) = run_command($tree->{command}, @{$command}, $folder);
        is $status, 3, "@{$command}: exit 3";
        like $out, qr/run_link: a sweep was begun, and nothing was run/, '... and it is named';
    }
};

subtest 'no evidence' => sub {
    slow('n2 40');
    sweep('nodes', '--nodes', 'n[1-3]', '--name', 'changed', $stream);
    my ($record) = glob "'$results'/changed/0001*/stream.record";
    spew($record, slurp($record) =~ s/value=/value=9/r);
    my ($status, $out) = run_command($tree->{command}, 'sweep', 'show', "$results/changed");
    is $status, 3, 'a changed record: exit 3';
    like $out, qr/has changed/, '... which is said';
    unlike $out, qr/slow/, '... and of nobody that he is slow, or is not';
};

done_testing;
