#!/usr/bin/perl
#
# run_scripts of programs on MPI: the words that launch them under each launcher,
# the shape that a required run must have, and what becomes of a run that goes
# wrong. Launchers are stand-ins, but for the last test.

use 5.016;
use strict;
use warnings;

use File::Basename qw(dirname);
use lib dirname(__FILE__) . '/data/run_scripts';
use Test::More;

use TestTree;

# One tree with the launcher and the programs of this build, and one with
# stand-ins for them.
my ($real, $tree) = (make_tree(), make_tree());
my $host = $tree->{host};
my $bin = "$tree->{top}/bin";
my $msgrate = "$tree->{scripts}/run_msgrate";
my $overhead = "$tree->{scripts}/run_mpi_overhead";

delete @ENV{grep {/^(?:FLUX_|PMI|OMPI_|MPIEXEC_|ASSAY_(?:NODES|LAUNCH|MPIRUN|SRUN))/} keys %ENV};
mkdir $bin;
mkdir "$tree->{programs}/smb";
system 'cp', '-r', map({ source_dir() . "/reference/$_" } qw(any-machine.ref functional)),
    $tree->{reference};
my $path = $ENV{PATH};
my $hang = start_hanging();
local $ENV{PATH} = "$bin:$path";

# A rank that never comes back, under the launcher of this build, until its time
# limit: the process of the run_script, or nothing where there is no MPI.
sub start_hanging {
    my $program = build_dir() . '/t/programs/msgrate_faulty';
    my $makefile = slurp_or_nothing(build_dir() . '/Makefile');
    my ($mpirun) = $makefile =~ /^MPIRUN = (.+)$/m;
    my ($name) = $makefile =~ /^MPI_LIBRARY = (.+)$/m;
    return if !-x $program || !defined $mpirun || !-x $mpirun;

    @{$real}{qw(mpi mpirun)} = ($name, $mpirun);
    TestTree::fill(source_dir() . '/run_scripts/paths.sh.in', $real);
    mkdir "$real->{programs}/smb";
    symlink $program, "$real->{programs}/smb/msgrate";
    system 'cp', '-r', source_dir() . '/reference/functional', $real->{reference};
    my $pid = fork // die "fork: $!";
    return $pid if $pid;
    $ENV{MPI_FAULT} = 'hang:1';
    open STDOUT, '>', "$real->{top}/hang.out" or die;
    exec "$real->{scripts}/run_msgrate", '--functional', '--as-root', '-r',
        "$real->{top}/work/hang", '-t', '4', '--', '-i', '4', '-c', '4096', '--watchdog=0' or die;
}

sub script {
    my ($path, $body) = @_;
    spew($path, "#!/bin/sh\n$body\n");
    chmod 0755, $path;
    return;
}

# Build the tree for a library; its launcher runs the program once.
sub library {
    my ($name) = @_;

    @{$tree}{qw(mpi mpirun)} = ($name, "$bin/mpirun");
    TestTree::fill(source_dir() . '/run_scripts/paths.sh.in', $tree);
    return;
}

# Any launcher: it notes its words, then runs the program in them.
script("$bin/launcher", <<'END');
words="${0##*/} $*"
for word; do
    case $word in
    --version) echo "slurm-wlm ${SLURM_VERSION-23.11.4}"; exit ;;
    --mpi=list) echo "MPI plugin types are..."; printf '%s\n' ${PLUGINS-none pmix pmi2}; exit ;;
    */programs/*) break ;;
    esac
    shift
done
printf '%s\n' "$words" >>"$LAUNCHED"
[ -z "${NOISE-}" ] || echo "Read -1, expected 4096, errno = 1" >&2
[ -z "${HANG-}" ] || { sleep 986 & setsid sleep 986 & sleep 986; }
[ -n "${STATUS-}" ] || exec "$@"
"$@"
exit "$STATUS"
END
$ENV{LAUNCHED} = "$tree->{top}/launched";
symlink 'launcher', "$bin/$_" for qw(mpirun srun);

# A program: the record of a run on the hosts in HOSTS.
script("$tree->{programs}/smb/msgrate", <<'END');
functional=
for word; do
    case $word in
    --record=*) record=${word#*=} ;;
    --functional) functional=" functional=yes" ;;
    esac
done
read -r line && echo "stdin: $line" >&2
{
    echo 'record version=1 bench=msgrate time=2026-11-30T13:21:09Z'
    echo 'opt iterations=4096 mock_nodes=0 cache_bytes=4 cache_least=4 nodes=8 kernels=8'
    echo 'check name=x.data ok=yes'
    for name in single_direction pair_based pre_post all_start; do
        for host in $HOSTS; do
            for size in 8 1024; do
                echo "metric name=$name value=5 unit=msg/s n=1 median=5 host=$host" \
                    "msgsize=$size npeers=6 nmsgs=128 cache=4 ranks=192 nodes=8" \
                    "ppn=24 per=node$functional"
            done
        done
    done
    echo 'end status=ok'
} >"$record"
END
script("$tree->{programs}/smb/mpi_overhead", 'exit 99');
library('Open MPI 4.1.4');
script("$bin/id", 'echo 1000');

# What would be run, without the tree's own paths, or the error.
sub command {
    my @command = @_;
    my @variables = ref $command[0] ? shift @command : ();
    my $script = shift @command;

    my ($status, $out, $err) = run_command(@variables, $script, '-n', @command);
    return "exit $status: $err" if $status != 0;
    my ($last) = $out =~ /([^\n]*)\n\z/;
    $last =~ s{'?\Q$tree->{programs}\E/smb/(\w+)'?}{$1};
    $last =~ s{'?\Q$bin\E/(\w+)'?}{$1};
    return $last;
}

my $alive = 'case $* in *"show job"*) echo JobId=7 ;; *) exit 1 ;; esac';

# Variables of a job that lives.
sub slurm {
    my ($nodes, $tasks, %more) = @_;

    script("$bin/scontrol", $alive);
    return {SLURM_JOB_ID => 7, SLURM_JOB_NODELIST => $nodes,
        defined $tasks ? (SLURM_TASKS_PER_NODE => $tasks) : (), %more};
}

my $SIZES = '--record={record} --sizes=8,1024';
my $SWEEP = '--sizes=0,2,4..4M';

subtest 'srun' => sub {
    is command(slurm('n[1-8]', '24(x8)'), $msgrate),
        'srun --nodes=8 --mpi=pmix --ntasks=192 --ntasks-per-node=24'
        . " --time=31 --kill-on-bad-exit=1 msgrate $SIZES", 'for Open MPI: pmix';
    like command(slurm('n[1-8]', '24(x8)', SLURM_CPUS_PER_TASK => 2), $msgrate),
        qr/ --cpus-per-task=2 /, '... which gives each rank the CPUs of the job';
    is command(slurm('n[1-2]', '24(x2)'), $overhead, '-t', '600'),
        'srun --nodes=2 --mpi=pmix --ntasks=2 --ntasks-per-node=1'
        . " --time=11 --kill-on-bad-exit=1 mpi_overhead --record={record} $SWEEP",
        'mpi_overhead: one rank on each of two nodes, whatever the job has';
    like command(slurm('n[1-2]', '1(x2)'), $overhead, '--recv'), qr/ --recv\z/, '... --recv';
    like command(slurm('n[1-2]', '1(x2)'), $overhead, '--both'), qr/ --both\z/, '... --both';
    like command(slurm('n[1-2]', '1(x2)'), $overhead, '--', '--pairs'), qr/ --pairs\z/,
        "... and the program's own options";
    like command({%{slurm('n[1-8]', '24(x8)')}, ASSAY_SRUN_MPI => 'pmi2'}, $msgrate),
        qr/ --mpi=pmi2 /, 'another plugin, by name';
    like command({%{slurm('n[1-8]', '24(x8)')}, PLUGINS => 'none pmix_v4'}, $msgrate),
        qr/ --mpi=pmix /, 'a plugin of a certain version will do';
    library('MPICH 4.0.2');
    like command(slurm('n[1-8]', '24(x8)'), $msgrate), qr/ --mpi=pmi2 /, 'for MPICH: pmi2';
    is command({%{slurm('n[1-8]', '24(x8)')}, PLUGINS => 'none pmix'}, $msgrate),
        "mpirun -n 192 -ppn 24 msgrate $SIZES", '... or its own mpirun, where srun has none';
    library('Open MPI 4.1.4');
};

subtest 'mpirun' => sub {
    is command({ASSAY_NODES => 'n[1-8]'}, $msgrate, '-p', '24'),
        'mpirun -n 192 --host n1:24,n2:24,n3:24,n4:24,n5:24,n6:24,n7:24,n8:24'
        . " --map-by ppr:24:node --timeout 1815 msgrate $SIZES",
        'Open MPI, on nodes that are named';
    is command($msgrate, '--functional'),
        'mpirun -n 2 --oversubscribe --map-by ppr:2:node --timeout 1815'
        . " msgrate $SIZES --functional --repeat-peers", 'Open MPI, on this node';
    library('MPICH 4.0.2');
    is command({ASSAY_NODES => 'n1,n2'}, $overhead),
        "mpirun -n 2 -ppn 1 -hosts n1,n2 mpi_overhead --record={record} $SWEEP",
        'MPICH, on nodes that are named';
    is command($overhead, '--functional'),
        "mpirun -n 2 -ppn 2 -launcher fork -hosts $host mpi_overhead --record={record}"
        . " $SWEEP --functional", 'MPICH, on this node';
    script("$bin/scontrol", 'exit 1');
    my %left = (SLURM_JOB_ID => 7, SLURM_NODELIST => 'x[1-2]', SLURM_NTASKS => 2);
    like command(\%left, $msgrate, '--functional'), qr/ -launcher fork -hosts \Q$host\E /,
        'MPICH does not ask the scheduler of a job that is gone';
    library('Open MPI 4.1.4');
    like command(\%left, $msgrate, '--functional'), qr/ --mca ras '\^slurm' --mca plm '\^slurm' /,
        '... nor does Open MPI';
    like command({%left, SLURM_NODELIST => $host}, $msgrate, '--functional'),
        qr/mpirun -n 2 .*--host \Q$host\E:2 /, '... though its variables name this node';
    is command({ASSAY_MPIRUN => "$bin/srun"}, $msgrate, '--functional') =~ s/ .*//r, 'srun',
        'another mpirun, by name';
    like command({ASSAY_MPIRUN => '/nonexistent'}, $msgrate, '--functional'),
        qr/\Aexit 2: run_msgrate: no launcher for Open MPI 4\.1\.4: name its mpirun/,
        '... which must be there';
    library('Fujitsu 1');
    like command($msgrate, '--functional'), qr/exit 2: .*ASSAY_LAUNCH/, 'an unknown library';
    library('Open MPI 4.1.4');

    script("$bin/id", 'echo 0');
    like +(run_command($msgrate, '--functional'))[2], qr/root: be a user, or say --as-root\n\z/,
        'as root Open MPI needs a switch';
    like command($msgrate, '--functional', '--as-root'), qr/ --allow-run-as-root /, '... its own';
    script("$bin/id", 'echo 1000');
};

# ASSAY_NODES: a part of a job, or the one node of a run_script of one.
subtest 'named nodes' => sub {
    my $one = "$tree->{scripts}/run_stream";
    is command({%{slurm('n[1-8]', '24(x8)')}, ASSAY_NODES => 'n5,n3'}, $overhead),
        'srun --nodes=2 --nodelist=n3,n5 --mpi=pmix --ntasks=2 --ntasks-per-node=1'
        . " --time=31 --kill-on-bad-exit=1 mpi_overhead --record={record} $SWEEP",
        'two nodes of a job, in its order';
    my %old = (%{slurm('n[1-8]', '24(x8)')}, ASSAY_NODES => 'n5,n3', SLURM_VERSION => '22.05.8');
    like command(\%old, $overhead), qr/\Ampirun -n 2 --host n3:1,n5:1 /,
        '... by mpirun, where a step on some nodes may hang';
    like command({%old, SLURM_PMIX_FENCE => 'mixed'}, $overhead), qr/\Asrun /, '... unless told otherwise';
    like command({%old, ASSAY_SRUN_MPI => 'pmix'}, $overhead), qr/\Asrun /, '... or by the plugin';
    like command({%old, SLURM_VERSION => '23.02.1'}, $overhead), qr/\Asrun /, '... nor by later versions';
    delete $old{ASSAY_NODES};
    like command(\%old, $msgrate), qr/\Asrun /, '... not on all nodes';
    is command({%{slurm('n[1-8]', '24(x8)')}, ASSAY_NODES => 'n5,n3', PLUGINS => 'none'}, $overhead)
        =~ s/ --map.*//r, 'mpirun -n 2 --host n3:1,n5:1', '... by mpirun, where srun has no plugin';
    library('MPICH 4.0.2');
    is command({%{slurm('n[1-8]', '24(x8)')}, ASSAY_NODES => 'n5,n3', PLUGINS => 'none'}, $overhead)
        =~ s/ mpi_overhead.*//r, 'mpirun -n 2 -ppn 1 -hosts n3,n5', '... of either library';
    like command({ASSAY_NODES => 'n3'}, $one), qr/\Ampirun -n 1 -ppn 1 -hosts n3 '/,
        'one node that is not this one, by MPICH\'s mpirun';
    like command({ASSAY_NODES => $host}, $overhead, '--functional'),
        qr/\Ampirun -n 2 -ppn 2 -launcher fork -hosts \Q$host\E /, '... and one that is';
    library('Open MPI 4.1.4');
    is command({%{slurm('n[1-8]', '24(x8)')}, ASSAY_NODES => 'n3,x1'}, $overhead) =~ s/ --map.*//r,
        'mpirun -n 2 --host n3:1,x1:1', '... or not of it: without the scheduler';
    unlike command({%{slurm('n[1-8]', '24(x8)')}, ASSAY_NODES => 'n3', SLURM_CPUS_PER_TASK => 2},
        $one), qr/cpus-per-task/, '... of one rank that may use the whole node';
    like command({%{slurm('n[1-8]', '24(x8)')}, ASSAY_NODES => 'n3'}, $one),
        qr/\Asrun --nodes=1 --nodelist=n3 --cpu-bind=none --mpi=none --ntasks=1 .* '?\S+.*stream'? --record=/,
        'one node of a job, with all its CPUs';
    like command({ASSAY_NODES => 'n3'}, $one), qr/\Ampirun -n 1 --host n3:1 --bind-to none /,
        'one node, by mpirun';
    like command({ASSAY_NODES => 'n3', ASSAY_LAUNCH => 'ssh {hosts}'}, $one), qr/\Assh n3 /,
        '... by the words of a site';
    unlike command({ASSAY_NODES => $host}, $one), qr/mpirun|srun/, 'this node: no launcher';
    like command({ASSAY_NODES => 'n3,n4'}, $one), qr/\Aexit 2: .* names 2: 'assay sweep nodes run_stream'/,
        'two of them for a run_script of one: exit 2';
};

subtest 'flux, and words of a site' => sub {
    script("$bin/flux", 'case $* in "getattr hostlist") echo "n[1-8]" ;; *) exit 1 ;; esac');
    my %flux = (FLUX_URI => 'local:///run/flux');
    is command(\%flux, $msgrate, '-p', '4'),
        "flux run --nodes=8 --tasks-per-node=4 --time-limit=1815s msgrate $SIZES", 'flux';
    like command(\%flux, $overhead), qr/2 nodes, and here is 8 \(n1 .* n8\)/, '... counts its nodes';
    unlink "$bin/flux";
    is command({ASSAY_NODES => 'n[1-8]',
                ASSAY_LAUNCH => 'aprun -n {ranks} -N {ppn} --x={nodes}:{ranks} -L {hosts} *'},
            $msgrate, '-p', '2'),
        "aprun -n 16 -N 2 --x=8:16 -L n1,n2,n3,n4,n5,n6,n7,n8 '*' msgrate $SIZES",
        'ASSAY_LAUNCH: split at blanks, filled in, and nothing else';
};

# The shape that a job has, as `-n` tells it, or the error.
sub shape {
    my ($variables, $script, @options) = @_;
    my ($status, $out, $err) = run_command($variables, $script, @options, '-n');
    my ($shape) = $out =~ /^# shape = (.*)$/m;

    return "exit $status: " . ($shape // $err);
}

subtest 'shape' => sub {
    my @good = (['n[009-016]', '24(x8)'], ['a[1-4],b[1-4]', '24(x8)'],
        ['n[1-8]', '24(x3),24(x5)'], ['r[1-2]n[01-04]', '1(x8)']);
    is shape(slurm(@{$_}), $msgrate), 'exit 0: ', "$_->[0] with $_->[1]" for @good;

    my @bad = (
        ['n[1-7]',  '24(x7)',         qr/8 nodes, and here is 7 \(n1 .*sbatch --nodes=8.*--functional/],
        ['n[1-9]',  '24(x9)',         qr/8 nodes, and here is 9/],
        ['n[1-8]',  '40,8(x7)',       qr/how many ranks .*'40 8 8 .*--ntasks-per-node=N, or -p N/],
        ['n[1-13]', '3(x2),1,4(x10)', qr/8 nodes, and here is 13/],
        ['n[1-8]',  undef,            qr/how many ranks on each node/],
    );
    for my $bad (@bad) {
        my ($nodes, $tasks, $why) = @{$bad};
        my $shape = shape(slurm($nodes, $tasks), $msgrate);
        like $shape, qr/\Aexit 3: INVALID: /, "$nodes with " . ($tasks // 'no tasks') . ': exit 3';
        like $shape, $why, '... and the cure';
    }
    is shape(slurm('n[1-8]', undef), $msgrate, '-p', '24'), 'exit 0: ', '-p says how many ranks';
    like shape(slurm('n[1-8]', 'x'), $msgrate), qr/\Aexit 2: .*'x' is no number of tasks/,
        'what is no number of tasks is an error';
    like shape(slurm('n[1-8]', '24(x7)'), $msgrate), qr/\Aexit 2: .*of 7 nodes, and the job has 8/,
        '... and so are those of other nodes';
    like shape({}, $msgrate), qr/exit 3: .* here is 1 \(\Q$host\E\)/, 'no job: exit 3';
    like shape({ASSAY_NODES => 'n[1'}, $msgrate), qr/\Aexit 2: .*unbalanced/, 'no list: exit 2';
    like shape(slurm('n[1-3]', '1(x3)'), $overhead), qr/2 nodes, and here is 3/,
        'mpi_overhead: two nodes';
    like shape(slurm('n[1-2]', '1(x2)'), $overhead, '-p', '2'), qr/1 rank on each node, not 2/,
        '... with one rank';
    my $job = slurm('n[1-8]', '24(x8)');
    is shape($job, $msgrate), 'exit 0: ', 'msgrate: as it is required';
    for my $options (['-c', '32M'], ['-c32M'], ['--cache=llc', '--quiet']) {
        my ($status, $out) = run_command($job, $msgrate, '-n', '--', @{$options});
        is $status, 0, "... with @{$options}";
    }
    for my $options (['-i', '4'], ['--cache', '1M', '-p', '2'], ['--until=1%'], ['-s8']) {
        my ($status, $out, $err) = run_command($job, $msgrate, '-n', '--', @{$options});
        is $status, 3, "... not with @{$options}";
        like $err, qr/: (?:-i|-p|--until=1%|-s8): .* may change -c alone/, '... by name';
    }
    my $pair = slurm('n[1-2]', '1(x2)');
    for my $options (['--pairs', '-v'], ['--plot', 'p.svg', '-n'], ['--watchdog=5', '--quiet']) {
        my ($status, $out) = run_command($pair, $overhead, '-n', '--', @{$options});
        is $status, 0, "mpi_overhead: with @{$options}";
    }
    for my $options (['-b', '50', '-t60'], ['-i1'], ['--sizes=8'], ['--plot=p.svg', '--recv'],
        ['--functional']) {
        my ($status, $out, $err) = run_command($pair, $overhead, '-n', '--', @{$options});
        is $status, 3, "... not with @{$options}";
        like $err, qr/: (?:-b|-i1|--sizes=8|--recv|--functional): no option of a required run/,
            '... by name';
    }
    is +(run_command($overhead, '-n', '--functional', '--', '-i', '5'))[0], 0,
        '... unless it is functional only';
    like shape({ASSAY_NODES => 'n1,n1'}, $overhead), qr/2 nodes, and here is 1 \(n1\)/,
        'a node that is named twice is one node';
    my %het = (SLURM_HET_SIZE => 2, SLURM_JOB_NODELIST_HET_GROUP_0 => 'a[1-2]',
        SLURM_JOB_NODELIST_HET_GROUP_1 => 'b[1-6]');
    like shape(slurm('a[1-2]', undef, %het), $msgrate, '-p', '1'),
        qr/exit 3: .*heterogeneous.*not supported/, 'a job of components: not two nodes in silence';

    my ($status, $out) = run_command({ASSAY_NODES => 'n[1-7]'}, $msgrate, '-p', '24');
    is $status, 3, 'without -n: exit 3 too';
    like $out, qr/\ATAP version 13\n1\.\.1\n.*^not ok 1 - INVALID run_msgrate: the required run/ms,
        '... in TAP';
    ok !-e 'results' && !-e $ENV{LAUNCHED}, '... and nothing is launched or made';
};

# Run it, with all eight nodes as the program tells them.
sub attempt {
    my ($variables, @options) = @_;
    my %all = (HOSTS => join(q{ }, map {"n$_"} 1 .. 8), ASSAY_NODES => 'n[1-8]', %{$variables});

    unlink $ENV{LAUNCHED};
    system 'rm', '-rf', 'results';
    return run_command(\%all, $msgrate, '-p', '24', @options);
}

subtest 'a run' => sub {
    my ($status, $out, $err) = attempt({});
    is $status, 0, 'eight nodes: passes' or diag $out, $err;
    is scalar(lines_of($out, qr/^ok \d+ - clause msgrate[.]/)), 64,
        '... four rates of two sizes of eight nodes';
    is scalar(lines_of(slurp($ENV{LAUNCHED}), qr/./)), 1, '... of one launch';
    unlike $out, qr/stdin:/, '... that reads nothing';
    ($status, $out) = attempt({HOSTS => 'n1 n2 n3 n4 n5 n6 n7'});
    is $status, 3, 'a node that is missing in the record: exit 3';
    like $out, qr/^not ok .* n8 /m, '... by name';
    ($status, $out) = attempt({HOSTS => $host, ASSAY_NODES => q{}}, '--functional');
    is $status, 0, 'functional: passes' or diag $out;
    like $out, qr/system functional \(by --functional: no required run\)/, '... as what it is';
    ($status, $out) = attempt({HOSTS => $host, ASSAY_NODES => q{}}, '--functional', '-m',
        'any-machine');
    is $status, 3, '... but is held to nothing else: exit 3';
    ($status, $out) = attempt({STATUS => 1});
    is $status, 3, 'a launcher that ends with 1 for a reason of its own: exit 3';
    like $out, qr/attempt 1: spoiled.* exit status 1/, '... which is no wrong data';
    ($status, $out) = attempt({NOISE => 1});
    is $status, 0, "a launcher's noise changes nothing";
    is scalar(my @hints = $out =~ /^# hint: cross-memory copy/mg), 1, '... and is explained once';
};

sub living {
    my ($word) = @_;
    return grep { (eval { slurp("/proc/$_/cmdline") } // q{}) =~ /\Q$word\E/ && $_ != $$ }
        map {m{/proc/(\d+)}} glob '/proc/[0-9]*';
}

subtest 'a launcher that hangs' => sub {
    my $start = time;
    my ($status, $out) = attempt({HANG => 1}, '-t', '1');
    is $status, 3, 'exit 3';
    like $out, qr/timeout after 1 s/, '... for the time limit';
    cmp_ok time - $start, '<', 100, '... soon';
    is scalar(living("sleep\x{0}986")), 0, '... and nothing of it lives on';
};

subtest 'options, headers' => sub {
    for my $script ($msgrate, $overhead) {
        my ($status, $out, $err) = run_command($script, '-h');
        is $status, 0, '-h exits 0';
        like $out, qr/\Ausage: run_m/, '... and begins with usage';
        is scalar(lines_of($out, qr/.{81}/)), 0, '... within 80 columns';
        like $out, qr/\Q$_\E\b/, "... names $_"
            for qw(-m -n -p -r -t --strict --functional --as-root ASSAY_NODES ASSAY_LAUNCH);
        my @late = slurp($script) =~ /^set -eu\n.*^#SBATCH/ms;
        is scalar @late, 0, 'its batch header stands before the first command';
        is scalar(lines_of(slurp($script), qr/^#SBATCH(?! --[a-z-]+(?:=[\w-]+)?\z)/)), 0,
            '... without variables or blanks';
        ($status, $out, $err) = run_command('dash', '-u', $script, '-n', '--functional');
        is "$status$err", '0', 'dash runs it';
    }
    my %bad = (
        '-p 0'          => qr/-p: '0' is no number/,
        '-p x'          => qr/-p: 'x' is no number/,
        '--recv'        => qr/--recv: no such option/,
    );
    like +(run_command($msgrate, split q{ }))[2], $bad{$_}, "$_ is refused" for sort keys %bad;
    like +(run_command($overhead, '--recv', '--both'))[2], qr/--recv and --both: one or the other/,
        'run_mpi_overhead --recv --both is refused';
    like command($overhead, '--functional', '--', '--sizes=8'), qr/ --functional --sizes=8\z/,
        'a functional run may have sizes of its own';
    like command($msgrate, '--functional', '--', '--sizes', 16), qr/(?<!1024) --functional .*--sizes 16\z/,
        '... both programs';
    for my $words ('--functional --recv -p 3 -- --pairs', '--functional') {
        my ($out) = (run_command($overhead, '-n', split(q{ }, $words), $words =~ /--recv/ ? () : '-t9'))[1];
        like $out, qr/^# options = \Q$words\E\n/m, "'$words' is what tells this run from others";
    }
    like +(run_command("$tree->{scripts}/run_stream", $_, '-n'))[2], qr/no such option/,
        "run_stream knows no $_" for '-p', '--functional', '--as-root';
};

# The launcher of this build, and the rank that never comes back.
subtest 'ranks' => sub {
    plan skip_all => 'no MPI in this build' if !$hang;
    my @few = ('--', '-i', '4', '-c', '4096');
    my ($status, $out, $err) = run_command({PATH => $path}, "$real->{scripts}/run_msgrate",
        '--functional', '--as-root', '-r', "$real->{top}/work/good", '-t', '60', @few);
    is $status, 0, 'a functional run of this build passes' or diag $out, $err;
    is scalar(lines_of($out, qr/^ok \d+ .* msg\/s \(report only/)), 8, '... each rate of each size';
    like $out, qr/^# # functional only/m, '... marked in its output';
    waitpid $hang, 0;
    is $? >> 8, 3, 'a rank that hangs: exit 3';
    $out = slurp("$real->{top}/hang.out");
    like $out, qr/timeout after 4 s/, '... at the time limit';
    is scalar(living("$real->{programs}/smb/msgrate")), 0, '... no rank lives on';
    like $out, qr/attempt 1: spoiled/, '... and it is charged';

    # Of a busy machine nothing may be known: then that is said.
    symlink build_dir() . '/smb/mpi_overhead', "$real->{programs}/smb/mpi_overhead";
    ($status, $out, $err) = run_command({PATH => $path}, "$real->{scripts}/run_mpi_overhead",
        '--functional', '--as-root', '-r', "$real->{top}/work/pair", '--', '--sizes=8', '-i', '20');
    like $status, qr/\A[03]\z/, 'run_mpi_overhead --functional of this build' or diag $out, $err;
    like $out, $status ? qr/unstable|not linear/ : qr/^ok 1 .* $host:$host /m, '... of its one pair';
    unlike $out, qr/no list of pairs/, '... which was looked for';
};

sub slurp_or_nothing {
    my ($file) = @_;
    return -r $file ? slurp($file) : q{};
}

done_testing;
