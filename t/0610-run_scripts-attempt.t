#!/usr/bin/perl
#
# run_stream with a stand-in for the program, good and bad: what it prints,
# its exit status, what it keeps, and that it leaves no process behind.

use 5.016;
use strict;
use warnings;

use File::Basename qw(dirname);
use File::Copy qw(copy);
use POSIX ();
use Sys::Hostname qw(hostname);
use Time::HiRes qw(sleep time);
use lib dirname(__FILE__) . '/data/run_scripts';
use Test::More;
use TAP::Parser;

use TestTree;

use lib harness_dir();
use Assay::Ledger;
use Assay::Nodes;

my $tree = make_tree();
my $script = "$tree->{scripts}/run_stream";
copy(source_dir() . '/reference/any-machine.ref', $tree->{reference});
my $clauses = () = slurp("$tree->{reference}/any-machine.ref") =~ /^\[clause stream[.]/mg;

# run_stream in a new campaign: exit status, stdout, stderr, campaign.
my $campaigns = 0;

sub run_stream {
    my ($variables, @arguments) = @_;

    my $folder = "$tree->{top}/work/c" . ++$campaigns;
    my @got = run_command($variables, $script, '-r', $folder, @arguments);
    return (@got, $folder);
}

# One that hangs until its time limit, and until it is killed, while others work.
my $hanging = 2_000_000 + $$;    # what its sleep is called by
my $hang_folder = "$tree->{top}/work/hang";
my $hang_start = time;
my $hang = fork // die "fork: $!";
if (!$hang) {
    @ENV{qw(STANDIN STANDIN_SLEEP)} = ('hang', $hanging);
    open STDOUT, '>', "$hang_folder.out" or die;
    exec $script, '-r', $hang_folder, '-t', '1' or die;
}

sub read_tap {
    my ($tap) = @_;

    my $parser = TAP::Parser->new({tap => $tap});
    my @points;
    while (my $result = $parser->next) {
        push @points, $result if $result->is_test;
    }
    return ($parser, @points);
}

sub last_attempt {
    my ($folder) = @_;

    my @attempts = grep { $_->{kind} eq 'attempt' } Assay::Ledger->new($folder)->entries;
    return $attempts[-1] // {};
}

subtest 'a good run' => sub {
    my ($status, $out, $err, $folder) = run_stream({STANDIN => 'good'});
    is $status, 0, 'exit 0';
    is $err, q{}, 'nothing on stderr';
    my ($parser, @points) = read_tap($out);
    is scalar($parser->parse_errors), 0, 'TAP without a fault';
    is $parser->plan, "1..$clauses", 'a point for each clause';
    is scalar(grep { $_->is_ok } @points), $clauses, 'all of them ok';
    like $out, qr/^# run_stream on \S+, system any-machine \(no system named/m,
        'the system is named, and why';
    like $out, qr/^# ╔/m, "the program's output is there, as a comment";
    like $out, qr/^ok 1 .* 100 MB\/s /m, 'value and unit stand on the line';

    my $attempt = "$folder/0001-run_stream";
    ok -s "$attempt/$_", "it keeps $_" for qw(stream.record stdout environment tap);
    ok -e "$attempt/stderr", '... and stderr';
    is slurp("$attempt/tap"), $out, 'the TAP kept is the TAP printed';
    ok -s "$folder/reference/any-machine.ref", 'the reference is kept';
    my $entry = last_attempt($folder);
    is $entry->{status}, 'valid', 'the ledger says valid';
    like $entry->{$_}, qr/\A[0-9a-f]{64}\z/, "... with $_"
        for qw(record_sha256 program_sha256 reference_sha256 stdout_sha256
        stderr_sha256 environment_sha256 previous);
    is $entry->{hosts}, $tree->{host}, '... and the host';

    is +(run_command($tree->{command}, 'judge', '--reference',
        "$tree->{reference}/any-machine.ref", $folder))[0], 0,
        'the same verdict from the archive';
};

subtest 'what no program may get past' => sub {
    my %bad = (
        silent   => [3, 'spoiled', qr/the program ended without an end line/],
        killed   => [3, 'spoiled', qr/killed by SIGKILL/],
        endless  => [3, 'spoiled', qr/the program ended without an end line/],
        torn     => [3, 'spoiled', qr/cut short/],
        refused  => [3, 'spoiled', qr/exit status 99: stream: no memory/],
        wrong    => [3, 'wrong', qr/triad\.data: the arrays differ/],
        unstable => [3, 'spoiled', qr/the clock ran backwards/],
        late     => [3, 'spoiled', qr/ended failed: exit status 139/],
        pipe     => [3, 'wrong', qr/stream\.record: not a plain file/],
        device   => [3, 'wrong', qr/stream\.record: not a plain file/],
    );
    for my $behaviour (sort keys %bad) {
        my ($want, $class, $why) = @{$bad{$behaviour}};
        my ($status, $out, $err, $folder) = run_stream({STANDIN => $behaviour});
        is $status, $want, "$behaviour: exit $want";
        my ($parser, @points) = read_tap($out);
        is scalar($parser->parse_errors), 0, '... TAP without a fault';
        is scalar(grep { $_->is_ok } @points), 0, '... no clause passes';
        like $out, $why, '... for the right reason';
        is last_attempt($folder)->{status}, $class, "... the ledger says $class";
        like last_attempt($folder)->{reason}, qr/exit status 139/, '... and what happened'
            if $behaviour eq 'late';
    }
    my ($status, $out, $err, $folder) = run_stream({STANDIN => 'notrun'});
    is $status, 3, 'notrun after metric lines is INVALID';
    like $out, qr/INVALID/, '... and says so';

    ($status, $out, $err, $folder) = run_stream({STANDIN => 'absent'});
    is $status, 5, 'what cannot run here: exit 5, since nothing passed';
    like $out, qr/^ok 1 .* # SKIP .*no memory of this kind here/m, '... skipped, with the reason';
    is last_attempt($folder)->{status}, 'notrun', '... the ledger says notrun';
    ($status, $out) = run_stream({STANDIN => 'absent'}, '--strict');
    is $status, 5, '... and under --strict';
    like $out, qr/^not ok 1 /m, '... not ok';

    ($status, $out) = run_stream({STANDIN => 'good', RATE => '1e9'});
    is $status, 3, 'a rate above the ceiling: exit 3';
    ($status, $out) = run_stream({STANDIN => 'good', ELEMENTS => 1000});
    is $status, 3, 'arrays in cache: exit 3';
    like $out, qr/array_bytes >= 4 x cache_bytes/, '... by the rule';
    ($status, $out) = run_stream({STANDIN => 'good', PINNED => 'no'});
    is $status, 3, 'not pinned as asked: exit 3';
    ($status, $out) = run_stream({STANDIN => 'good', RATE => 'nan'});
    is $status, 3, 'not a number: exit 3';
    ($status, $out) = run_stream({STANDIN => 'good', STANDIN_HOST => 'elsewhere'});
    isnt $status, 0, 'a record of another host does not pass for this one';

    my $program = "$tree->{programs}/stream/stream";
    rename $program, "$program.away";
    ($status, $out, $err, $folder) = run_stream({});
    is $status, 3, 'a missing program: exit 3';
    like $out, qr/stream: No such file or directory/, '... and it is named';
    is last_attempt($folder)->{program_sha256}, 'missing', '... in the ledger too';
    spew($program, "#!/nonexistent/interpreter\n");
    is +(run_stream({}))[0], 3, 'one that may not be run: exit 3';
    rename "$program.away", $program;
    ($status, $out, $err, $folder) = run_stream({}, '--', '--nonsense');
    is $status, 2, "a word that the program refuses: exit 2";
    like $out, qr/--nonsense: no such option/, '... quoted';
};

subtest 'rates and limits' => sub {
    mkdir "$tree->{reference}/promised";
    my $clause = "[clause 1]\nmetric = stream.triad\nscope = every node\n"
        . "statistic = median\nlimit = >= 100 MB/s\ntolerance = 5 %\n";
    spew("$tree->{reference}/promised/stream.ref", $clause);
    my @system = ('-m', 'promised');
    is +(run_stream({TRIAD => '95'}, @system))[0], 0, 'just within tolerance: exit 0';
    is +(run_stream({TRIAD => '94.9'}, @system))[0], 1, 'just outside: exit 1';
    like +(run_stream({TRIAD => '94.9'}, @system))[1],
        qr/^# judged 1 clause; 6 metrics have no clause: .*stream\.copy/m,
        'what has no clause is counted and named';

    spew("$tree->{reference}/promised/stream.ref", $clause =~ s/triad/nosuch/r);
    is +(run_stream({}, @system))[0], 3, 'a metric that never comes: exit 3';
    spew("$tree->{reference}/promised/stream.ref", $clause =~ s/stream/msgrate/r);
    my ($status, $out, $err, $folder) = run_stream({}, @system);
    is $status, 3, 'a system without a clause for what is run: exit 3';
    like $out, qr/^not ok 1 - INVALID .*has no clause for stream$/m, '... said in TAP';
    ok !-e $folder, '... before anything is run';
    for my $text (q{}, "limit = \n", $clause =~ s/median/middle/r, "$clause$clause") {
        spew("$tree->{reference}/promised/stream.ref", $text);
        ($status, $out, $err) = run_stream({}, @system);
        is $status, 2, 'a faulty reference: exit 2';
        like $err, qr{promised/stream\.ref:\d+: }, '... with file and line';
    }
    spew("$tree->{reference}/promised/stream.ref", "${clause}confidence = 95 %\n");
    ($status, $out, $err, $folder) = run_stream({}, @system);
    is $status, 2, 'a reference that contradicts itself: exit 2';
    ok !-e $folder, '... before anything is run';
    unlink "$tree->{reference}/promised/stream.ref";
    is +(run_stream({}, @system))[0], 3, 'a system without a file: exit 3';

    spew("$tree->{reference}/promised/stream.ref", "${clause}runs = 2\n");
    ($status, $out, $err, $folder) = run_stream({}, @system);
    is $status, 3, 'one run of two: exit 3';
    like $out, qr/1 of 2 runs/, '... and says how many are owed';
    ($status, $out) = run_command({RATE => '101'}, $script, @system, '-r', $folder);
    is $status, 0, 'the second in the same folder: exit 0';
    like $out, qr/n=2/, '... over both';
    ($status, $out) = run_command({RATE => $_}, $script, @system, '-r', $folder)
        for 80, 79;
    is $status, 1, 'all valid attempts count: exit 1';
    ($status, $out) = run_command({STANDIN => 'killed'}, $script, @system, '-r', $folder);
    is $status, 3, 'a spoiled attempt is charged: exit 3';
    ($status, $out) = run_command({RATE => '200'}, $script, @system, '-r', $folder);
    is $status, 3, '... and not run away';
};

subtest 'output that looks like TAP' => sub {
    my ($status, $out) = run_stream({STANDIN => 'tap'});
    is $status, 0, 'exit 0';
    my ($parser) = read_tap($out);
    is scalar($parser->parse_errors), 0, 'TAP without a fault';
    is $parser->tests_run, $clauses, 'the planned count is unchanged';
    like $out, qr/^# $_$/m, "'$_' is a comment" for 'ok then', '1..5', 'not ok', 'Bail out!',
        'stderr: ok 77';
    ($status, $out) = run_stream({STANDIN => 'control'});
    is $status, 0, 'control characters and bytes that are no text: exit 0';
    unlike $out, qr/[\x00-\x09\x0b-\x1f\x7f]/, '... and none gets through';
    ($status, $out) = run_stream({STANDIN => 'flood'});
    is $status, 0, '200,000 lines: exit 0';
    cmp_ok length $out, '<', 100_000, '... cut short';
    like $out, qr{^# \.\.\. and \d+ more lines in .*/stdout$}m, '... with where the rest is';
    like $out, qr{^# ╔══╡ Multi-threaded:$}m, '... and blanks beside wide characters as they are';
    ($status, $out) = run_stream({STANDIN => 'broad'});
    is $status, 0, 'a line of 3 MB: exit 0';
    like $out, qr/^# x{1000}$/m, '... cut at 1000 characters';
    like $out, qr/^# behind it$/m, '... and the next line is there';
    ($status, $out) = run_stream({STANDIN => 'mute'});
    is $status, 0, 'a pipe in place of the output: exit 0';
    is $out =~ /╔/, q{}, '... and nothing is read from it';
    my ($full, undef, $err) = run_command('sh', '-c', 'exec "$@" >/dev/full', 'sh',
        $script, '-r', "$tree->{top}/work/deaf");
    is $full, 3, 'a TAP that can be written nowhere: exit 3';
    like $err, qr/can't write: No space left/, '... and says why';
};

subtest 'noise on stderr' => sub {
    my ($status, $out, $err, $folder) = run_stream({STANDIN => 'noise'});
    is $status, 0, 'exit 0';
    my (undef, $quiet) = run_stream({STANDIN => 'good'});
    is_deeply [map {s/ in \S+//r} lines_of($out, qr/^(?:not )?ok/)],
        [map {s/ in \S+//r} lines_of($quiet, qr/^(?:not )?ok/)], 'the results are the same';
    is scalar(() = slurp("$folder/0001-run_stream/stderr") =~ /^Read -1/mg), 5,
        'the noise is in the log';
    is scalar(lines_of($out, qr/^# hint: /)), 1, 'one hint';
    is scalar(lines_of($quiet, qr/^# hint: /)), 0, '... and none without noise';
};

# Processes of the stand-in: its sleep has a number of its own, and of this
# test, which may run twice at once.
$ENV{STANDIN_SLEEP} = 1_000_000 + $$;

sub sleepers {
    my $number = shift // $ENV{STANDIN_SLEEP};
    my @found;
    for my $file (glob '/proc/[0-9]*/cmdline') {
        open my $in, '<', $file or next;
        my $line = <$in> // next;
        push @found, $file if $line eq "sleep\0$number\0";
    }
    return @found;
}

subtest 'time limit' => sub {
    waitpid $hang, 0;
    is $? >> 8, 3, 'exit 3';
    my $end = (stat "$hang_folder.out")[9];
    my ($status, $out) = (undef, slurp("$hang_folder.out"));
    like $out, qr/^not ok 1 .*timeout after 1 s/m, 'the point says timeout after 1 s';
    is scalar(sleepers($hanging)), 0, 'no process is left, not even in a session of its own';
    cmp_ok $end - $hang_start, '<', 15, 'it did not wait for the program';
    is last_attempt($hang_folder)->{status}, 'spoiled', 'the ledger says spoiled';

    ($status, $out) = run_stream({STANDIN => 'daemon'});
    is $status, 0, 'a process left behind by a good run: exit 0';
    is scalar(sleepers()), 0, '... but ended';
    like $out, qr/left 1 process behind/, '... and mentioned';
    ($status, $out) = run_stream({STANDIN => 'escaped'});
    is scalar(sleepers()), 0, 'one without parent, session or variables of ours: ended';
    like $out, qr/left 1 process behind/, '... and mentioned';
    is +(run_stream({STANDIN => 'stdin'}))[0], 0, 'standard input is empty';
};

subtest 'a launcher that is killed' => sub {
    my $folder = "$tree->{top}/work/killed";
    my $launcher = start_waiting($folder);
    my ($program) = slurp("$folder/0001-run_stream/stream.record") =~ /\bpid=(\d+)/;
    kill 'KILL', $launcher;
    waitpid $launcher, 0;
    my $end = time + 10;
    sleep 0.05 while -e "/proc/$program" && slurp("/proc/$program/stat") !~ /\) Z/ && time < $end;
    cmp_ok time, '<', $end, 'takes its program with it';
    kill 'KILL', map {m{/(\d+)/}} sleepers();
};

subtest 'variables of a job' => sub {
    my $host = hostname();
    my $bin = "$tree->{top}/slurm";
    mkdir $bin;
    my %job = (SLURM_JOB_ID => 4711, SLURM_JOB_NODELIST => $host, PATH => "$bin:$ENV{PATH}");
    my %said = (
        'echo JobId=4711 JobState=RUNNING' => 4711,
        '[ "$1" = ping ] && echo "Slurmctld(primary) at x is UP"' => 'none',
        'exit 1' => 4711,
    );
    for my $scontrol (sort keys %said) {
        spew("$bin/scontrol", "#!/bin/sh\n$scontrol\n");
        chmod 0755, "$bin/scontrol";
        my $folder = (run_stream({%job}))[3];
        is last_attempt($folder)->{job}, $said{$scontrol}, "'$scontrol': job $said{$scontrol}";
    }
    my $folder = (run_stream({%job, SLURM_JOB_NODELIST => 'elsewhere'}))[3];
    is last_attempt($folder)->{job}, 'none', 'nobody knows it, and it names others: none';
};

# Why a job was cut short: in the scheduler's own words while it knows the job,
# in those of its accounts later, a line for each time that the job was started.
subtest 'words of the scheduler' => sub {
    my $bin = "$tree->{top}/words";
    mkdir $bin;
    local $ENV{PATH} = "$bin:$ENV{PATH}";
    my %said = (
        'JobState=RUNNING Reason=None Restarts=0' => undef,
        'JobState=COMPLETED Reason=None Restarts=0' => undef,
        'JobState=RUNNING Reason=None Restarts=1' => 'REQUEUE',
        'JobState=PENDING Reason=BeginTime Restarts=1' => 'REQUEUE',
        'JobState=COMPLETING Reason=TimeLimit Restarts=0' => 'TIMEOUT',
        'JobState=COMPLETING Reason=NodeDown Restarts=0' => 'NODE_FAIL',
        'JobState=CANCELLED Reason=None Restarts=0' => 'CANCELLED',
        'JobState=FAILED Reason=NonZeroExitCode Restarts=0' => undef,
    );
    for my $text (sort keys %said) {
        spew("$bin/scontrol", "#!/bin/sh\necho 'JobId=7 $text'\n");
        chmod 0755, "$bin/scontrol";
        is Assay::Nodes::cut_short(7, 0), $said{$text}, $text;
    }
    spew("$bin/scontrol", "#!/bin/sh\nexit 1\n");
    spew("$bin/sacct", "#!/bin/sh\nprintf '%s\\n' \$STATES\n");
    chmod 0755, "$bin/sacct";
    for my $case ([0, undef, 'COMPLETED'], [0, 'REQUEUE', 'REQUEUED COMPLETED'],
        [1, undef, 'REQUEUED COMPLETED'], [1, 'NODE_FAIL', 'REQUEUED NODE_FAIL'],
        [0, 'TIMEOUT', 'TIMEOUT'], [0, 'CANCELLED', 'CANCELLED'], [1, undef, 'TIMEOUT'],
        [0, undef, q{}]) {
        my ($restarts, $word, $states) = @{$case};
        local $ENV{STATES} = $states;
        is Assay::Nodes::cut_short(7, $restarts), $word,
            "of the accounts: '$states', start " . ($restarts + 1);
    }
    unlink "$bin/sacct";
    is Assay::Nodes::cut_short(7, 0), undef, 'without accounts nobody knows';
    is Assay::Nodes::cut_short('7; x', 0), undef, 'what is no job is not asked for';
};

subtest 'a clock that is set meanwhile' => sub {
    require Assay::Launch;
    my $now = 1e9;
    no warnings qw(once redefine);
    local *Assay::Launch::time = sub { return $now += 1000 };
    my %run = Assay::Launch::launch(
        command => ['sleep', '0.2'],
        limit   => 100,
        stdout  => '/dev/null',
        stderr  => '/dev/null',
        mark    => 'none'
    );
    ok !$run{timeout}, 'no time limit is reached by it';
    cmp_ok $run{seconds}, '<', 100, '... nor do the seconds count it';
};

subtest 'signals' => sub {
    for my $signal (qw(TERM INT)) {
        my $folder = "$tree->{top}/work/signal-$signal";
        my $pid = start_waiting($folder);
        kill $signal, $pid;
        waitpid $pid, 0;
        is $? >> 8, 3, "SIG$signal: exit 3";
        is scalar(sleepers()), 0, '... no process is left';
        my $entry = last_attempt($folder);
        is $entry->{status}, 'spoiled', '... the ledger says spoiled';
        like $entry->{reason}, qr/stopped by SIG$signal/, '... and why';
        like slurp("$folder.out"), qr/^not ok 1 .*SIG$signal/m, '... as does the TAP';
    }
    my $folder = "$tree->{top}/work/nohup";
    local $SIG{HUP} = 'IGNORE';
    my $pid = start_waiting($folder);
    kill 'HUP', $pid;
    sleep 0.2;
    kill 'TERM', $pid;
    waitpid $pid, 0;
    like last_attempt($folder)->{reason}, qr/stopped by SIGTERM/, 'under nohup SIGHUP stops nothing';
};

# run_stream in the background, with a stand-in that waits for ever.
sub start_waiting {
    my ($folder) = @_;

    my $pid = fork // die "fork: $!";
    if (!$pid) {
        $ENV{STANDIN} = 'wait';
        open STDOUT, '>', "$folder.out" or die;
        open STDERR, '>&', \*STDOUT or die;
        exec $script, '-r', $folder or die;
    }
    my $end = time + 20;
    sleep 0.05 while !sleepers() && time < $end;
    return $pid;
}

subtest 'disk' => sub {
    my $folder = "$tree->{top}/work/limited";
    my ($status, $out, $err) = run_command({STANDIN => 'full'}, 'sh', '-c',
        'ulimit -f 100; trap "" XFSZ; exec "$@"', 'sh', $script, '-r', $folder);
    is $status, 3, 'a record that does not fit: exit 3';
    like $out, qr/^not ok 1 /m, '... said in TAP';
    is last_attempt($folder)->{status}, 'spoiled', '... the ledger says spoiled';

    SKIP: {
        my $disk = "$tree->{top}/disk";
        mkdir $disk;
        skip 'no tmpfs: not root', 4
            if $> != 0 || system "mount -t tmpfs -o size=256k tmpfs '$disk' 2>/dev/null";
        ($status, $out, $err) = run_command({STANDIN => 'full'}, $script, '-r', "$disk/c");
        is $status, 3, 'a program that fills the disk: exit 3';
        like $out, qr/^not ok 1 .*INVALID/m, '... said in TAP';
        system 'sh', '-c', 'rm "$1"/c/0001-run_stream/*', 'sh', $disk;
        spew("$disk/filler", 'x' x 1024);
        ($status, $out, $err) = run_command({STANDIN => 'good'}, $script, '-r', "$disk/c");
        is $status, 3, 'later runs do not hide it';
        system 'sh', '-c', 'cat /dev/zero >"$1/filler" 2>/dev/null', 'sh', $disk;
        ($status, $out, $err) = run_command({STANDIN => 'good'}, $script, '-r', "$disk/d");
        isnt $status, 0, 'a disk that is full before: not 0';
        like "$out$err", qr/No space left/, '... and says why';
        system "umount '$disk'";
    }
};

subtest 'folders' => sub {
    my ($status, $out, $err) = run_command($script, '-r', '/proc/nowhere');
    is $status, 2, 'a folder that cannot be made: exit 2';
    like $err, qr{/proc/nowhere}, '... named';
    mkdir "$tree->{top}/work/other";
    spew("$tree->{top}/work/other/thesis.tex", 'precious');
    ($status, $out, $err) = run_command($script, '-r', 'other');
    is $status, 2, 'a folder with something else in it: exit 2';
    like $err, qr/neither empty nor a campaign/, '... and says so';

    mkdir "$tree->{reference}/twin";
    copy("$tree->{reference}/any-machine.ref", "$tree->{reference}/twin/stream.ref");
    my (undef, undef, undef, $folder) = run_stream({});
    ($status, $out, $err) = run_command($script, '-r', $folder, '-m', 'twin');
    is $status, 2, 'a campaign of another system: exit 2';
    like $err, qr/a campaign of the system any-machine, not of twin/, '... and says so';

    ($status, $out) = run_command($script);
    is $status, 0, 'without -r: exit 0';
    my @made = glob 'results/*/ledger';
    is scalar @made, 1, '... in a folder of its own under results/';
    run_command($script);
    @made = glob 'results/*/ledger';
    is scalar @made, 2, '... each time anew';
};

done_testing;
