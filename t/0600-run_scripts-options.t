#!/usr/bin/perl
#
# run_scripts: their options, the system they pick, the nodes they cover, the
# header that a scheduler reads. Print-only: nothing is measured here.

use 5.016;
use strict;
use warnings;

use File::Basename qw(dirname);
use File::Copy qw(copy);
use lib dirname(__FILE__) . '/data/run_scripts';
use Test::More;

use TestTree;

my $tree = make_tree();
my $script = "$tree->{scripts}/run_stream";
copy(source_dir() . '/reference/any-machine.ref', $tree->{reference});

sub print_only { return run_command(@_, '-n') }

# What `-n` says under a name.
sub said {
    my ($name, @command) = @_;

    my ($status, $out, $err) = run_command(@command, '-n');
    return "exit $status: $err" if $status != 0;
    my ($value) = $out =~ /^# \Q$name\E = (.*)$/m;
    return $value // 'nothing';
}

subtest 'options' => sub {
    my ($status, $out, $err) = run_command($script, '-h');
    is $status, 0, '-h exits 0';
    like $out, qr/\Ausage: run_stream /, '... and begins with usage';
    unlike $out, qr/SBATCH|set -eu|shellcheck/, '... ends where the help ends';
    is scalar(lines_of($out, qr/.{81}/)), 0, '... within 80 columns';
    is $err, q{}, '... without a word on stderr';
    for my $option (qw(-h -m -n -r -t --strict --)) {
        like $out, qr/\Q$option\E\b|\Q$option\E /, "... names $option";
    }
    my ($default) = slurp("$tree->{scripts}/assay.sh") =~ /^assay_limit=(\d+)$/m;
    like $out, qr/\(default $default\)/, '... and the limit is the one that is in force';
    is +(run_command($script, '--help'))[1], $out, '--help is the same';
    is +(run_command('sh', '-c', '"$1" -h >/dev/full', 'sh', $script))[0], 99,
        '... and where it can be written nowhere, exit 99';

    ($status, $out) = print_only($script);
    is $status, 0, '-n exits 0';
    like $out, qr{^'?\Q$tree->{programs}\E/stream/stream'? --record=\{record\}$}m,
        '... prints the command';
    ok !-e 'results', '... and makes nothing';
    ($status, $out) = run_command($script, '-n', '--', '--threads=2', 'a b');
    like $out, qr/ --threads=2 'a b'$/m, 'options behind -- reach the program';

    my %refused = (
        'an unknown option'         => [['-x'],          qr/-x: no such option/],
        'an unknown long option'    => [['--frobnicate'], qr/--frobnicate: no such/],
        'a missing value'           => [['-m'],          qr/-m: a value is missing/],
        'a word without --'         => [['word'],        qr/word: unknown word/],
        'a word behind an option'   => [['-n', 'word'],  qr/word: unknown word/],
        'a limit that is no number' => [['-t', '5m'],    qr/-t: '5m' is no number/],
        'a limit of nothing'        => [['-t', '0'],     qr/-t: '0' is no number/],
        'an empty folder'           => [['-r', q{}],     qr/-r: .* is empty/],
        'a path for a system'       => [['-m', '../x'],  qr/'\.\.\/x' is no name/],
    );
    for my $what (sort keys %refused) {
        my ($arguments, $why) = @{$refused{$what}};
        ($status, $out, $err) = run_command($script, @{$arguments});
        is $status, 2, "$what is refused";
        like $err, $why, '... by name';
        is scalar(() = $err =~ /\n/g), 1, '... in one line';
        is $out, q{}, '... with nothing on stdout';
    }
    ok !-e 'results', 'no refusal made a folder';
};

subtest 'system' => sub {
    mkdir "$tree->{reference}/$_" for qw(small large);
    for my $system (qw(small large)) {
        copy(source_dir() . '/reference/any-machine.ref',
            "$tree->{reference}/$system/stream.ref");
    }
    is said('system', $script), "any-machine (no system named, and none known for $tree->{host})",
        'no hint: any machine, and the output says so';
    is said('system', {ASSAY_SYSTEM => 'small'}, $script),
        'small (named by ASSAY_SYSTEM)', 'ASSAY_SYSTEM counts';
    is said('system', {ASSAY_SYSTEM => 'small'}, $script, '-m', 'large'),
        'large (named by -m)', '-m counts more';

    spew("$tree->{reference}/hosts", "# system patterns\nsmall login[0-9]\n\n",
        "large node[0-9][0-9] gpu-*\nlarge *-large\nsmall odd-large\n");
    mkdir "$tree->{top}/bin";
    my %host = (
        login1        => 'small (by the name of host login1)',
        node17        => 'large (by the name of host node17)',
        'node17.site' => 'large (by the name of host node17.site)',
        'gpu-03'      => 'large (by the name of host gpu-03)',
        node170       => 'any-machine (no system named, and none known for node170)',
        xnode17       => 'any-machine (no system named, and none known for xnode17)',
        login1x       => 'any-machine (no system named, and none known for login1x)',
    );
    local $ENV{PATH} = "$tree->{top}/bin:$ENV{PATH}";
    for my $host (sort keys %host) {
        stand_in_hostname($host);
        is said('system', $script), $host{$host}, "host $host";
    }
    is said('system', $script, '-m', 'large'), 'large (named by -m)',
        'a name given explicitly beats the host';
    stand_in_hostname('odd-large');
    like said('system', $script), qr/exit 2: .*fits more than one system/s,
        'a host of two systems is refused';
    unlink "$tree->{reference}/hosts", "$tree->{top}/bin/hostname";

    mkdir "$tree->{top}/$_" for 'site', 'site/mine';
    copy(source_dir() . '/reference/any-machine.ref', "$tree->{top}/site/mine/stream.ref");
    like said('reference', {ASSAY_REFERENCES => "$tree->{top}/site"}, $script, '-m', 'mine'),
        qr{/site/mine/stream[.]ref\z}, 'a site may have references of its own';
    my ($status, $out, $err) = print_only($script, '-m', 'nosuch');
    is $status, 2, 'an unknown system is refused';
    like $err, qr/'nosuch': no such system .*any-machine, large, small/,
        '... with those that there are';
};

sub stand_in_hostname {
    my ($host) = @_;

    spew("$tree->{top}/bin/hostname", "#!/bin/sh\necho $host\n");
    chmod 0755, "$tree->{top}/bin/hostname";
    return;
}

subtest 'node lists' => sub {
    my %list = (
        'n[009-011]'                => 'n009 n010 n011',
        'b04-[09-10]'               => 'b04-09 b04-10',
        'nodeA,nodeB[001,003],nodeC' => 'nodeA nodeB001 nodeB003 nodeC',
        'r[1-2]n[01-02]'            => 'r1n01 r1n02 r2n01 r2n02',
        'host[001,003-004,006]'     => 'host001 host003 host004 host006',
        'c[1-2]'                    => 'c1 c2',
        'n[8-11]'                   => 'n8 n9 n10 n11',
        'n[098-101]'                => 'n098 n099 n100 n101',
        'single'                    => 'single',
        'a,b[2,4],c[1-2]-ib'        => 'a b2 b4 c1-ib c2-ib',
    );
    for my $list (sort keys %list) {
        my $hosts = $list{$list};
        my $count = () = $hosts =~ /\S+/g;
        like said('job', {SLURM_JOB_NODELIST => $list}, $script),
            qr/\A$count nodes \(\Q$hosts\E\)/, "$list in print-only mode";
    }
    my ($status, $out)
        = run_command($tree->{command}, qw(campaign nodes), sort keys %list);
    is $out =~ s{\n}{ }gr, join(q{ }, map { $list{$_} } sort keys %list) . q{ },
        'the same by the command';
    my @bad = ('n[001', 'n001]', 'n[1-2]]', 'n[[1-2]', 'n[2-1]', 'n[a-b]', 'n[]',
        'a,,b', 'a,', 'n[1-2,]', 'n[1-9999999]', 'a b', "a\nb", '-a', 'n[1-]');
    like said('job', {SLURM_JOB_NODELIST => 'n[001'}, $script),
        qr{\Aexit 2: .*unbalanced}, 'a broken list stops a run_script';
    for my $list (@bad) {
        ($status, $out, my $err)
            = run_command($tree->{command}, qw(campaign nodes --), $list);
        is $status, 2, ($list =~ s/\n/\\n/r) . ' is an error';
        is $out, q{}, '... and no host';
        like $err, qr/node list/, '... of the node list';
    }
};

subtest 'tasks per node' => sub {
    my %tasks = (
        '24(x8)'        => '192 tasks on 8 nodes',
        '2(x3),1'       => '7 tasks on 4 nodes',
        '1(x2)'         => '2 tasks on 2 nodes',
        '40,8'          => '48 tasks on 2 nodes',
        '3(x2),1,4(x10)' => '47 tasks on 13 nodes',
    );
    for my $text (sort keys %tasks) {
        like said('job', {SLURM_JOB_NODELIST => 'a', SLURM_TASKS_PER_NODE => $text},
            $script), qr/, \Q$tasks{$text}\E\b/, $text;
    }
    for my $text ('x', '24(8)', '2(x3', '2,', q{}, '0', '2(x0)', '-1') {
        like said('job', {SLURM_JOB_NODELIST => 'a', SLURM_TASKS_PER_NODE => $text},
            $script), qr/\Aexit 2: .*tasks per node/, "'$text' is an error";
    }
};

subtest 'heterogeneous jobs' => sub {
    my %job = (
        SLURM_HET_SIZE                   => 2,
        SLURM_JOB_NODELIST               => 'a[1-2]',
        SLURM_JOB_NODELIST_HET_GROUP_0   => 'a[1-2]',
        SLURM_JOB_NODELIST_HET_GROUP_1   => 'b[1-3]',
    );
    like said('job', \%job, $script), qr/\A5 nodes \(a1 a2 b1 b2 b3\)/,
        'all components, in order';
    delete $job{SLURM_JOB_NODELIST_HET_GROUP_1};
    like said('job', \%job, $script), qr/\Aexit 2: .*not supported/,
        'a component without a list is an error, not two nodes in silence';
    like said('job', {SLURM_HET_SIZE => 'two', SLURM_JOB_NODELIST => 'a'}, $script),
        qr/\Aexit 2: /, 'so is a size that is no number';
};

subtest 'nodes covered' => sub {
    my $host = $tree->{host};
    is said('nodes', $script), $host, 'outside of a job: this host';
    is said('nodes', {SLURM_JOB_ID => 7, SLURM_JOB_NODELIST => "$host"}, $script),
        $host, 'in a job of this node: this host';
    is said('nodes', {SLURM_JOB_ID => 7, SLURM_JOB_NODELIST => "x1,$host,x[2-3]"},
        $script), "x1 $host x2 x3", 'in a job of four nodes: all four';
    is said('nodes', {SLURM_JOB_ID => 7, SLURM_JOB_NODELIST => 'x[1-2]',
            SLURMD_NODENAME => 'x2'}, $script), "x1 $host",
        "the scheduler's name for this node is replaced by its own";
    is +(run_command({SLURM_JOB_ID => 7, SLURM_JOB_NODELIST => 'x[1-2]'}, $tree->{command},
            qw(campaign nodes --allocation --host x2.cluster.example)))[1], "hosts\nx1 -\nx2 -\n",
        '... but where it is its name up to the first dot, which launchers take';

    # Left-over variables: the job is gone, as scontrol says.
    my %left = (SLURM_JOB_ID => 7, SLURM_NODELIST => 'n[1-2]', SLURM_NTASKS => 2);
    stand_in_scontrol('exit 1');
    local $ENV{PATH} = "$tree->{top}/bin:$ENV{PATH}";
    is said('nodes', \%left, $script), $host, 'left-over variables name no node';
    like said('job', \%left, $script), qr/left over/, '... and it is said';
    is said('nodes', {%left, SLURM_JOB_NODELIST => 'n[1'}, $script),
        "exit 2: assay campaign nodes: node list 'n[1' has unbalanced brackets\n",
        'a broken list is an error all the same';

    stand_in_scontrol('echo JobId=7 JobState=RUNNING');
    like said('nodes', \%left, $script),
        qr/exit 2: .*job 7 runs on other nodes than \Q$host\E: start this with sbatch/,
        'in a shell beside a living job: refused, since it would measure the wrong node';

    stand_in_scontrol('[ "$2" = hostnames ] && printf "n001\nn002\n"');
    like said('job', {SLURM_JOB_NODELIST => 'n[1-2]'}, $script), qr/\(n001 n002\)/,
        'scontrol is believed where it names as many hosts';
    stand_in_scontrol('echo "n[1-2]"');
    like said('job', {SLURM_JOB_NODELIST => 'n[1-2]'}, $script), qr/\(n1 n2\)/,
        '... but not where it expands nothing';
    stand_in_scontrol('echo n1; echo n2; exit 1');
    like said('job', {SLURM_JOB_NODELIST => 'n[01-02]'}, $script), qr/\(n01 n02\)/,
        '... nor where it fails';
    unlink "$tree->{top}/bin/scontrol";
};

sub stand_in_scontrol {
    my ($body) = @_;

    spew("$tree->{top}/bin/scontrol", "#!/bin/sh\n$body\n");
    chmod 0755, "$tree->{top}/bin/scontrol";
    return;
}

subtest 'from any folder' => sub {
    mkdir "$tree->{top}/spool";
    copy($script, "$tree->{top}/spool/slurm_script");
    chmod 0755, "$tree->{top}/spool/slurm_script";
    my ($status, $out, $err) = print_only("$tree->{top}/spool/slurm_script");
    is $status, 0, "a scheduler's copy finds its files" or diag $err;
    like $out, qr{\A# run_stream: }, '... and its name';
    is +(run_command("$tree->{top}/spool/slurm_script", '-h'))[1],
        +(run_command($script, '-h'))[1], '... and its help';

    spew("$tree->{top}/spool/assay.sh", "echo wrong tree\nexit 0\n");
    ($status, $out) = print_only("$tree->{top}/spool/slurm_script");
    unlike $out, qr/wrong tree/, 'an assay.sh beside the copy is not taken';

    rename $tree->{scripts}, "$tree->{scripts}.away";
    ($status, $out, $err) = print_only("$tree->{top}/spool/slurm_script");
    is $status, 2, 'where its files have gone it stops';
    like $err, qr/no assay\.sh in \Q$tree->{scripts}\E/, '... and says which';
    rename "$tree->{scripts}.away", $tree->{scripts};
};

# All directives stand before the first command, bear no variable, no value
# with blanks: a scheduler ignores what does not.
sub header_faults {
    my ($text) = @_;

    my (@faults, $command);
    for my $line (split /\n/, $text) {
        $command ||= $line !~ /\A(?:#|\s*\z)/;
        next if $line !~ /\A#SBATCH/;
        push @faults, "after a command: $line" if $command;
        push @faults, "bears a variable: $line" if $line =~ /[\$`]/;
        push @faults, "bears blanks: $line"
            if $line !~ /\A#SBATCH --[a-z-]+(?:=[^\s"']+)?\z/;
    }
    return @faults;
}

subtest 'batch header' => sub {
    is_deeply [header_faults(slurp($script))], [], 'run_stream: none at fault';
    like slurp($script), qr/^#SBATCH --no-requeue$/m,
        'a job that is requeued would run twice';
    my %bad = (
        'after a command'  => "#!/bin/sh\nset -eu\n#SBATCH --nodes=1\n",
        'bears a variable' => "#!/bin/sh\n#SBATCH --output=\$HOME/x\n",
        'bears blanks'     => "#!/bin/sh\n#SBATCH --comment=\"a b\"\n",
    );
    like +(header_faults($bad{$_}))[0], qr/\A$_/, "the check finds: $_"
        for sort keys %bad;
};

subtest 'portable' => sub {
    my @scripts = (glob(q{'} . source_dir() . q{/run_scripts/*.sh'}), $script);
    for my $file (@scripts) {
        my ($status, $out, $err) = run_command('dash', '-n', $file);
        is "$status$err", '0', 'dash reads ' . ($file =~ s{.*/}{}r);
    }
    my ($status, $out, $err) = run_command('dash', '-u', $script, '-n');
    is "$status$err", '0', 'dash runs run_stream';
};

done_testing;
