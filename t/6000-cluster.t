#!/usr/bin/perl
#
# The cluster of t/cluster: nodes that have nothing in common but the network,
# faults that act on what they name and on nothing else, and no trace.

use strict;
use warnings;

use File::Basename qw(dirname);
use Test::More;
use Time::HiRes qw(sleep time);

use lib dirname(__FILE__);
use Cluster;

# What the cluster could change of the machine.
sub machine {
    my @cgroups = glob '/sys/fs/cgroup/assay-* /sys/fs/cgroup/cpu/assay-*';
    my ($links) = (output(qw(ip -o link)))[1] =~ s/ (?:mtu|qdisc|state) \S+//gr;
    my $mounts = (output('cat', '/proc/self/mounts'))[1];
    return join "\n", (output('hostname'))[1], $links, $mounts, @cgroups;
}

sub slurp {
    my ($path) = @_;
    open my $in, q{<}, $path or return q{};
    local $/ = undef;
    return scalar(<$in>) // q{};
}

# Living processes of the cluster in a folder.
sub living {
    my ($folder) = @_;
    return grep { slurp("/proc/$_/environ") =~ /\bCLUSTER=\Q$folder\E\0/ } map {m{/proc/(\d+)}} glob '/proc/[0-9]*';
}

my $before = machine();
cluster_up('--rails', 2, '--rate', '200mbit', 4);
my $folder = $ENV{CLUSTER};
my @nodes = map {"n$_"} 1 .. 4;

# Programs for the nodes, which have perl.
my %tool = (
    serve => 'my $s = IO::Socket::INET->new(LocalAddr => shift, LocalPort => 4000,'
        . ' Listen => 9, ReuseAddr => 1) or die; while (my $c = $s->accept) {'
        . ' while (sysread $c, my $b, 65536) { syswrite $c, "x" if $b =~ /e\z/ } }',
    send => 'my ($to, $n) = @ARGV; my $c = IO::Socket::INET->new(PeerAddr => $to,'
        . ' PeerPort => 4000, Timeout => 3) or exit 9; my $t = time;'
        . ' my $b = "b" x 65536; syswrite $c, $b for 1 .. $n; syswrite $c, "e";'
        . ' sysread $c, my $a, 1; print time - $t',
    burn => 'my $t = time + 1; my $n; $n++ while time < $t; print +(times)[0]',
);
my $perl = "$^X";

sub tool {
    my ($name) = @_;
    return ($perl, '-MTime::HiRes=time', '-MIO::Socket::INET', '-e', $tool{$name});
}

# Every node answers on each of its rails.
my @servers;
for my $node (@nodes) {
    for my $rail (1, 2) {
        my $pid = fork // die;
        if (!$pid) {
            node($node, tool('serve'), "198.18.$rail." . substr $node, 1);
            exit;
        }
        push @servers, $pid;
    }
}
sleep 1;

# Seconds that so many blocks of 64 KiB take from one node to another.
sub seconds {
    my ($from, $to, $blocks, $rail) = @_;
    my ($status, $text) = node($from, tool('send'),
        '198.18.' . ($rail // 1) . q{.} . substr($to, 1), $blocks);
    return $status == 0 ? $text : undef;
}

subtest 'nodes are apart' => sub {
    my ($status, $text) = on_login(qw(srun -N4 hostname));
    is join(q{ }, sort split /\n/, $text), "@nodes", 'each has its name';
    my %seen;
    for my $node (@nodes) {
        node($node, 'sh', '-c', 'echo $0 >/tmp/mine; echo $0 >/dev/shm/mine', $node);
        for my $kind (qw(mnt net uts ipc pid)) {
            $seen{$kind}{(node($node, 'readlink', "/proc/self/ns/$kind"))[1]} = 1;
        }
    }
    is scalar keys %{$seen{$_}}, 4, "four $_ namespaces" for sort keys %seen;
    for my $place (qw(/tmp /dev/shm)) {
        is join(q{}, map { (node($_, 'cat', "$place/mine"))[1] } @nodes),
            join(q{}, map {"$_\n"} @nodes), "$place is a node's own";
    }
    is +(node('n2', 'ls', '/sys/class/net'))[1], "lo\nrail1\nrail2\n",
        'a node sees its own interfaces';
    is +(node('n2', 'sh', '-c', 'ip route get 192.0.2.1 2>&1; true'))[1] =~ /via/, q{},
        'no route leads out';
    is +(node('n3', 'sh', '-c', "echo \$\$ >$folder/x"))[0], 0, 'a shared folder';
    is +(on_login('test', '-s', "$folder/x"))[0], 0, '... is shared';
};

subtest 'the command on the login node' => sub {
    chdir '/usr';
    local $ENV{MINE} = 'a b';
    is +(on_login('sh', '-c', 'pwd; echo "$MINE"; hostname'))[1], "/usr\na b\nlogin\n",
        'keeps folder and environment';
    is +(on_login('sh', '-c', 'exit 7'))[0], 7, '... and gives its exit status';
    is +(on_login(lab('exec'), 'hostname'))[1], "login\n", '... there, too';
    chdir '/';
};

subtest 'side by side' => sub {
    local $ENV{CLUSTER} = cluster_dir();
    is +(output(lab('up'), 2))[0], 0, 'another one';
    is +(on_login(qw(srun -N2 hostname)))[1] =~ s/\d//gr, "n\nn\n", '... works';
    is +(on_login(qw(sinfo -h -o %D)))[1], "2\n", '... has its own nodes';
    is +(output(lab('up'), 2))[0], 2, '... and is not brought up twice';
    my $its = $ENV{CLUSTER};
    kill 'KILL', slurp("$its/parent");
    my $end = time + 10;
    sleep 0.1 while living($its) && time < $end;
    is scalar(living($its)), 0, 'kill -9 of its first process ends all';
    is +(cluster_down())[0], 0, 'down after that';
    ok !-e $its, '... removes its folder';
    is +(cluster_down())[0], 0, 'down without any';
};

subtest 'two rails, each of its rate' => sub {
    my $one = seconds(qw(n1 n2 100));
    cmp_ok $one, '>', 0.18, '6.5 MB over 200 Mbit/s take their time';
    my $pid = fork // die;
    if (!$pid) {
        seconds(qw(n1 n2 400 2));
        exit;
    }
    sleep 0.3;
    cmp_ok seconds(qw(n1 n2 100 1)), '<', 1.6 * $one, '... no longer while the other is busy';
    waitpid $pid, 0;
};

subtest 'links' => sub {
    my $good = seconds(qw(n1 n2 40));
    is +(fault(qw(slow-link n2-n3 20)))[0], 0, 'a slow link';
    cmp_ok seconds(qw(n2 n3 40)), '>', 5 * $good, '... is slow';
    cmp_ok seconds(qw(n3 n2 40)), '>', 5 * $good, '... both ways';
    cmp_ok seconds(qw(n3 n2 40 2)), '>', 5 * $good, '... on each rail';
    cmp_ok seconds(qw(n1 n2 40)), '<', 5 * $good, '... and the node is not';
    fault(qw(slow-node n3 20));
    cmp_ok seconds(qw(n1 n3 40)), '>', 5 * $good, 'a slow node is slow';
    cmp_ok seconds(qw(n3 n4 40)), '>', 5 * $good, '... both ways';
    like +(fault('list'))[1], qr/^slow-link n2-n3 20\nslow-node n3 20mbit$/m, 'both are listed';
    is +(fault(qw(clear n3)))[0], 0, 'clear n3';
    is +(fault('list'))[1], q{}, '... ends both';
    cmp_ok seconds(qw(n2 n3 40)), '<', 5 * $good, '... in fact';
    is +(fault(qw(cut n2)))[0], 0, 'cables out';
    is seconds(qw(n1 n2 1)), undef, '... nobody gets there';
    is +(node('n2', 'hostname'))[1], "n2\n", '... while it lives';
    fault(qw(clear n2));
    ok defined seconds(qw(n1 n2 1)), '... and in again';
    if (-w '/dev/net/tun') {
        seconds(qw(n1 n4 1));
        my ($status, $why) = fault(qw(delay n4 50000));
        is $status, 0, 'a delay' or diag $why;
        cmp_ok seconds(qw(n1 n4 1)), '>', 0.1, '... is felt';
        cmp_ok seconds(qw(n1 n2 1)), '<', 0.1, '... there alone';
        fault(qw(clear n4));
        cmp_ok seconds(qw(n1 n4 1)), '<', 0.1, '... and ends';
    }
};

subtest 'CPU and memory' => sub {
    plan skip_all => 'cgroups need root' if $> != 0;
    is +(fault(qw(throttle n4 5)))[0], 0, 'a throttled node';
    my $slow = (node('n4', tool('burn')))[1];
    cmp_ok $slow, '<', 0.12, '... gets its share';
    cmp_ok +(node('n1', tool('burn')))[1], '>', 1.5 * $slow, '... and another all it can';
    my $step = (on_login(qw(srun -w n4 -N1), tool('burn')))[1];
    cmp_ok $step, '<', 0.12, '... under Slurm, too';
    fault(qw(clear n4));
    cmp_ok +(node('n4', tool('burn')))[1], '>', 1.5 * $slow, '... until it is cleared';

    # CPU time of hog's processes on a node while a program of the name runs.
    my $hogs = 'for p in /proc/[0-9]*; do [ "$(cat $p/comm)" = hog ] && cat $p/stat; done';
    my $used = sub {
        my $sum = 0;
        $sum += (split / /)[13] + (split / /)[14]
            for split /\n/, (node('n4', 'sh', '-c', "$hogs; true"))[1];
        return $sum;
    };
    my ($status, $why) = fault(qw(hog-memory n4 victim));
    is $status, 0, 'hogged memory' or diag $why;
    system "cp", "/bin/sleep", "$folder/victim";
    sleep 0.5;
    node("n1", "$folder/victim", 1);
    cmp_ok $used->(), '<', 15, '... not while another node is measured';
    node("n4", "$folder/victim", 1);
    cmp_ok $used->(), '>', 15, '... but while this one is';
    fault(qw(clear n4));
    is +(node('n4', 'sh', '-c', "sleep 0.2; $hogs; true"))[1], q{}, '... and ends';
};

subtest 'what Slurm sees' => sub {
    fault(qw(drain n3 broken));
    like +(on_login(qw(sinfo -h -R -o), '%E %n'))[1], qr/^broken n3$/m, 'a drained node';
    fault(qw(stop-slurmd n2));
    my $slurmd = slurp("$folder/run/slurmd-n2.pid") =~ s{\n}{}r;
    isnt +(node("n2", "kill", "-0", $slurmd))[0], 0, "a node without slurmd";
    fault(qw(kill-node n4));
    isnt +(node('n4', 'true'))[0], 0, 'a node that is off';
    is +(fault('clear'))[0], 0, 'clear';
    my ($status, $text) = on_login(qw(srun -N4 hostname));
    is join(q{ }, sort split /\n/, $text), "@nodes", '... all are back';
};

subtest 'wrong words' => sub {
    my %wrong = (
        up => [[], ['0'], ['x'], ['2', '3'], ['--rails', 3, 2], ['--rails'], ['--foo', 2],
            ['--rate', '1;x', 2]],
        fault => [['slow-link', 'n1-n9', 5], ['slow-link', 'n1-n2'], ['slow-link', 'n1-n2', 'x'],
            ['throttle', 'n1'], ['burn', 'n1'], ['clear', 'x']],
        node => [[], ['up'], ['burn', 'n1'], ['exec', 'n0', 'true'], ['exec', 'n1;x', 'true']],
        exec => [[]],
        down => [['x']],
    );
    for my $command (sort keys %wrong) {
        is +(output(lab($command), @{$_}))[0], 2, "$command @{$_}: exit 2" for @{$wrong{$command}};
    }
    ok !eval { fault(qw(clear x)); 1 }, 'a fault that does not take ends its test';
    like $@, qr/^fault clear x: exit 2: \S/, '... with what it says';
    local $ENV{CLUSTER} = '/usr';
    is +(output(lab('down')))[0], 2, 'no cluster\'s folder is taken away';
};

subtest 'where it is not permitted' => sub {
    my $bin = cluster_dir();
    open my $out, '>', "$bin/unshare" or die;
    print {$out} "#!/bin/sh\necho 'unshare: Operation not permitted' >&2\nexit 1\n";
    close $out;
    chmod 0755, "$bin/unshare";
    local $ENV{PATH} = "$bin:$ENV{PATH}";
    local $ENV{CLUSTER} = "$bin/c";
    my ($status, $text) = output(lab('up'), 2);
    is $status, 77, 'exit 77';
    like $text, qr/^up: no cluster here: namespaces are not permitted: .*not permitted/,
        '... and the reason';
    ok !-e "$bin/c", '... and nothing is made';
    local $ENV{CLUSTER} = "$bin/a b";
    is +(output(lab('up'), 2))[0], 77, 'a folder whose name Slurm does not take';
    unlink "$bin/unshare";
};

subtest 'with its process' => sub {
    local $ENV{CLUSTER} = cluster_dir();
    my $pid = fork // die;
    if (!$pid) {
        output(lab('up'), '--while', $$, 1);
        kill 'KILL', $$;
    }
    waitpid $pid, 0;
    my $end = time + 15;
    sleep 0.2 while -e $ENV{CLUSTER} && time < $end;
    ok !-e $ENV{CLUSTER}, 'a cluster ends with the process that it was for';
    is scalar(living($ENV{CLUSTER})), 0, '... all of it';
};

subtest 'an ordinary user' => sub {
    plan skip_all => 'this is one' if $> != 0;
    local $ENV{CLUSTER} = cluster_dir();
    my @as = qw(setpriv --reuid=65534 --regid=65534 --clear-groups);
    plan skip_all => 'no user nobody here' if (output(@as, 'id', '-un'))[0] != 0;
    chown 65534, 65534, $ENV{CLUSTER};
    my ($status, $text) = output(@as, lab('up'), 2);
    plan skip_all => $text if $status == 77;
    is $status, 0, 'up' or diag $text;
    is +(output(@as, lab('exec'), qw(srun -N2 hostname)))[1] =~ s/\d//gr, "n\nn\n", 'srun';
    is +(output(@as, lab('down')))[0], 0, 'down';
    ok !-e $ENV{CLUSTER} || rmdir $ENV{CLUSTER}, '... leaves nothing';
};

fault(qw(throttle n1 50)) if $> == 0;
is +(cluster_down())[0], 0, 'down';
waitpid $_, 0 for @servers;
ok !-e $folder, '... removes the folder';
is scalar(living($folder)), 0, "... and ends all processes"
    or diag map { slurp("/proc/$_/cmdline") =~ tr{\0}{ }r . "\n" } living($folder);
is machine(), $before, 'nothing of the machine has changed';

done_testing;
