#!/usr/bin/perl
#
# assay campaign: runs as often as owed, goes on where it stopped, shares its
# folder with nobody, and verify names whatever was changed afterwards.

use 5.016;
use strict;
use warnings;

use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Path qw(remove_tree);
use Time::HiRes qw(sleep time);
use lib dirname(__FILE__) . '/data/run_scripts';
use Test::More;

use TestTree;

use lib harness_dir();
use Assay::Ledger;
use Assay::Progress;
use Assay::Summary;

my $tree = make_tree();
my $script = "$tree->{scripts}/run_stream";
my $results = "$tree->{top}/work/results";
copy(source_dir() . '/reference/any-machine.ref', $tree->{reference});
mkdir "$tree->{reference}/promised";

# The system `promised` promises 100 MB/s, with more lines in its clause.
sub promise {
    my @lines = @_;

    spew("$tree->{reference}/promised/stream.ref",
        map {"$_\n"} '[clause 1]', 'metric = stream.triad', 'scope = every node',
        'statistic = median', 'limit = >= 100 MB/s', @lines);
    return;
}

sub campaign { return run_command(ref $_[0] ? shift : (), $tree->{command}, 'campaign', @_) }

sub run_promised {
    my ($variables, $name, @more) = @_;

    return campaign($variables, 'run', '--system', 'promised', '--name', $name, @more, $script);
}

sub statuses {
    my ($name) = @_;

    return join q{ }, map { $_->{status} }
        grep { $_->{kind} eq 'attempt' } Assay::Ledger->new("$results/$name")->entries;
}

subtest 'usage' => sub {
    my ($status, $out, $err) = campaign('--help');
    is $status, 0, '--help exits 0';
    is scalar(lines_of($out, qr/.{81}/)), 0, '... within 80 columns';
    my %refused = (
        'no subcommand'           => [],
        'an unknown one'          => ['frobnicate'],
        'an unknown option'       => ['run', '--frob', $script],
        'no run_script'           => ['run'],
        'one that is not there'   => ['run', 'nosuch'],
        'one that is none'        => ['run', '/bin/true'],
        'a name with a slash'     => ['run', '--name', 'a/b', $script],
        'an unknown system'       => ['run', '--system', 'nosuch', $script],
        'no folder'               => ['verify'],
        'a folder without ledger' => ['verify', $tree->{top}],
        'no folder to show'       => ['show', 'nosuch'],
    );
    for my $what (sort keys %refused) {
        ($status, $out, $err) = campaign(@{$refused{$what}});
        is $status, 2, "$what: exit 2";
        like $err, qr/\S/, '... with a message';
    }
    ok !-e $results, 'none of it made a folder';
};

subtest 'as often as owed' => sub {
    promise('runs = 3');
    my ($status, $out, $err) = run_promised({}, 'good');
    is $status, 0, 'exit 0';
    is statuses('good'), 'valid valid valid', 'three attempts';
    like $out, qr/^1 +\S+ +median 100 MB\/s +>= 100 MB\/s +PASS$/m, 'the table says PASS';
    like $out, qr/^results: \Q$results\E\/good$/m, 'the folder is named';
    like $out, qr/^ledger: +3 attempts, last line\n +[0-9a-f]{64}$/m,
        'and what a witness has to note';
    is $err, q{}, 'no progress where there is no terminal';
    is scalar(lines_of($out, qr/.{81}/)), 0, 'the table fits 80 columns';
    ($status, $out) = run_promised({}, 'good');
    is "$status " . statuses('good'), '0 valid valid valid', 'once more: nothing is owed';

    is +(run_promised({TRIAD => 99}, 'slow'))[0], 1, 'under the limit: exit 1';
    ($status, $out) = run_promised({STANDIN => 'killed'}, 'killed');
    is "$status " . statuses('killed'), '3 spoiled', 'spoiled: not tried again';
    like $out, qr/^ +.*killed by SIGKILL/m, '... and the table says why';
    is +(run_promised({STANDIN => 'wrong'}, 'wrong'))[0], 3, 'wrong data: exit 3';
    is statuses('wrong'), 'wrong', '... not tried again';
    spew("$tree->{reference}/promised/stream.ref", "[clause 1]\nmetric = msgrate.x\n",
        "scope = every node\nstatistic = median\nlimit = report only\n");
    ($status, $out) = run_promised({}, 'idle');
    is $status, 3, 'nothing promised of what would run: exit 3';
    ok !-e "$results/idle", '... before anything is run';
    promise('spoiled = 1');
    ($status, $out) = run_promised({STANDIN => 'killed'}, 'twice');
    is "$status " . statuses('twice'), '3 spoiled spoiled', 'one spoiled is allowed: two tries';

    ($status, $out) = campaign('run', $script);
    is $status, 0, 'without a name: exit 0';
    is scalar(my @made = glob "'$results'/2*-*/ledger"), 1, '... in a new folder';
};

subtest 'going on' => sub {
    promise('runs = 2');
    my ($status, $out, $err)
        = run_command($script, '-m', 'promised', '-r', "$results/later");
    is $status, 3, 'one of two runs, by hand';
    ($status, $out) = run_promised({}, 'later');
    is $status, 0, 'the campaign runs what is owed';
    is statuses('later'), 'valid valid', '... and no more';
    ($status, $out, $err) = campaign('run', '--name', 'later', $script);
    is $status, 2, 'another system in the same folder: exit 2';

    promise('runs = 2', 'spoiled = 1');
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        open STDOUT, '>', '/dev/null';
        open STDERR, '>', "$tree->{top}/stopped";
        $ENV{STANDIN} = 'wait';
        exec $tree->{command}, qw(campaign run --system promised --name cut), $script;
    }
    my $end = time + 20;
    sleep 0.05 while !-s "$results/cut/0001-run_stream/stream.record" && time < $end;

    ($status, $out, $err) = run_promised({}, 'cut');
    is $status, 2, 'a second campaign in the same folder: exit 2';
    like $err, qr/another campaign is at work/, '... and says so';
    ($status, $out, $err) = run_command($script, '-m', 'promised', '-r', "$results/cut");
    is $status, 2, 'a run_script by hand beside a campaign: exit 2';
    ok !-e "$results/cut/0002-run_stream", '... and nothing was mixed in';

    kill 'TERM', $pid;
    waitpid $pid, 0;
    is $? >> 8, 3, 'a campaign that is told to stop: exit 3';
    like slurp("$tree->{top}/stopped"), qr/stopped by SIGTERM; to go on: .*--name cut/,
        '... says how to go on';
    is statuses('cut'), 'spoiled', '... and enters the attempt';
    ($status, $out) = run_promised({}, 'cut');
    is "$status " . statuses('cut'), '0 spoiled valid valid', 'it goes on where it stopped';
};

# The tree's name has a blank: so the script's is quoted where options follow.
subtest 'run_scripts with options' => sub {
    promise('runs = 1');
    my $odd = q{--odd=a b$(touch made)'"};
    my @with = ($script, "'$script' -- --odd=1", qq{'$script' -- "--odd=a b\$(touch made)'\\""});
    my @run = ('run', '--system', 'promised', '--name', 'with');
    my ($status, $out, $err) = campaign(@run, @with);
    is $status, 0, 'with options, and without' or diag $out . $err;
    my @attempts = grep { $_->{kind} eq 'attempt' } Assay::Ledger->new("$results/with")->entries;
    is join(', ', map { $_->{options} // 'none' } @attempts),
        "none, -- --odd=1, -- '--odd=a b\$(touch made)'\\''\"'",
        'each is owed for itself, and the ledger has its options';
    my @begun = grep { $_->{kind} eq 'begin' } Assay::Ledger->new("$results/with")->entries;
    is_deeply [map { $_->{options} } @begun], [map { $_->{options} } @attempts], '... from the beginning';
    like slurp("$results/with/0003-run_stream/stdout"), qr/^option: \Q$odd\E$/m,
        'a word with blanks and quotes is one word';
    ok !-e 'made', '... of which nothing is expanded';
    like $out, qr/median 100 MB\/s/, 'they are judged together';
    ($status, $out) = campaign(@run, @with);
    is statuses('with'), 'valid valid valid', 'once more: nothing is owed';
    ($status, $out) = campaign('show', "$results/with");
    like $out, qr/attempt 2: valid \(of -- --odd=1\)/, 'show names them';

    is +(run_command($script, '-m', 'promised', '-r', "$results/hand", '--', '--odd=1'))[0], 0,
        'one by hand';
    $run[-1] = 'hand';
    campaign(@run, "'$script' -- --odd=1");
    is statuses('hand'), 'valid', '... counts for the same options';
    campaign(@run, $script);
    is statuses('hand'), 'valid valid', '... and for no others';

    $run[-1] = 'tab';
    campaign(@run, "'$script' -- 'a\tb'");
    is statuses('tab'), 'valid', 'a word with a tab is owed once';

    my %refused = (
        "'$script' -r elsewhere"   => qr/-r: a campaign says that itself/,
        "'$script' -nt 5"          => qr/-nt: a campaign says that itself/,
        "'$script' --strict"       => qr/--strict: a campaign says that itself/,
        "'$script' --frobnicate"   => qr/can't be planned/,
        "'$script' word"           => qr/can't be planned/,
        "'$script --odd"           => qr/no such run_script/,
        'nosuch --recv'            => qr/nosuch --recv: no such run_script/,
        q{ }                       => qr/no such run_script/,
    );
    $run[-1] = 'refused';
    for my $argument (sort keys %refused) {
        ($status, $out, $err) = campaign(@run, $argument);
        is $status, 2, "$argument: exit 2";
        like $err, $refused{$argument}, '... and why';
    }
    ok !-e "$results/refused", '... before there is a folder';
};

subtest 'cut short without a word' => sub {
    promise('spoiled = 0');
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        open STDOUT, '>', '/dev/null';
        $ENV{STANDIN} = 'wait';
        exec $script, '-m', 'promised', '-r', "$results/lost";
    }
    my $end = time + 20;
    sleep 0.05 while !-s "$results/lost/0001-run_stream/stream.record" && time < $end;
    my ($status, $out) = run_command($script, '-m', 'promised', '-r', "$results/lost");
    is $status, 0, 'beside another run_script: exit 0';
    is statuses('lost'), 'valid', '... which is left alone while it runs';
    my @children = map {m{/(\d+)/}} grep { (slurp_quiet($_) =~ /\) \S (\d+) /)[0] == $pid }
        glob '/proc/[0-9]*/stat';
    kill 'KILL', $pid;
    waitpid $pid, 0;
    kill 'KILL', map { -$_ } @children;
    ($status, $out) = campaign('verify', "$results/lost");
    is $status, 3, 'verify: exit 3';
    like $out, qr/ledger line 2: attempt 1 \(run_stream\) was begun and has not ended/,
        '... names the attempt';
    for my $command (qw(judge show)) {
        ($status, $out) = campaign($command, "$results/lost");
        is $status, 3, "$command: exit 3";
        like $out, qr/attempt 1 \(run_stream\) was begun and has not ended/,
            '... and does not forget it';
    }
    ($status, $out) = run_promised({}, 'lost');
    is $status, 3, 'an attempt that was killed with its run_script is charged';
    is statuses('lost'), 'valid spoiled', '... entered by the next that comes';
    like slurp("$results/lost/0001-run_stream/stream.record"), qr/\nend status=failed .*\n\z/,
        '... in the record of its benchmark';
    is +(campaign('verify', "$results/lost"))[0], 0, '... and then the ledger holds';
};

sub slurp_quiet {
    my ($file) = @_;

    return eval { slurp($file) } // ') x 0 ';
}

# A run_script that plans like run_stream, and then does what it is told.
subtest 'run_scripts that misbehave' => sub {
    promise();
    my %bad = (
        'not ok, exit 0'    => 'echo "1..1"; echo "not ok 1"',
        'ok, exit 3'        => 'echo "1..1"; echo "ok 1"; exit 3',
        'death by signal 9' => 'echo "1..1"; kill -9 $$',
        'one of two'        => 'echo "1..2"; echo "ok 1"',
        'silence'           => ':',
        'Bail out!'         => 'echo "1..2"; echo "Bail out! no power"',
    );
    my $bad = "$tree->{scripts}/run_bad";
    for my $what (sort keys %bad) {
        spew($bad, "#!/bin/sh\ncase \" \$* \" in *' -n '*) exec '$script' -m promised -n ;; esac\n",
            "$bad{$what}\n");
        chmod 0755, $bad;
        my $folder = 'bad' . $what =~ s/\W//gr;
        my ($status, $out, $err)
            = campaign('run', '--system', 'promised', '--name', $folder, $bad, $script);
        isnt $status, 0, "$what: not 0";
        like $err, qr/run_bad: made no attempt/, '... and it is named';
        is statuses($folder), q{}, '... nothing runs after it';
        like $err, qr/Bail out! no power/, '... with the reason' if $what =~ /Bail/;
    }
    my $odd = "$tree->{top}/run_stream";
    spew($odd, "#!/bin/sh\n'$script' \"\$@\"\ncase \" \$* \" in *' -n '*) exit ;; esac\nexit 9\n");
    chmod 0755, $odd;
    my ($status, $out, $err) = campaign('run', '--system', 'promised', '--name', 'odd', $odd);
    is $status, 3, 'an exit status that no run_script has: exit 3, whatever was measured';
    like $err, qr/run_stream ended with exit status 9/, '... and it is named';
};

subtest 'verify' => sub {
    promise('runs = 2');
    run_promised({}, 'pure');
    my ($status, $out) = campaign('verify', "$results/pure");
    is $status, 0, 'untouched: exit 0';
    like $out, qr/\Aledger holds: 2 attempts, last line [0-9a-f]{64}\n\z/, '... with the last hash';

    my $one = '0001-run_stream';
    my %tamper = (
        'a figure in a record' => [qr/record of attempt $one has changed/,
            sub { replace("$one/stream.record", '100.0', '900.0') }],
        'a missing record' => [qr/record of attempt $one has changed \(missing\)/,
            sub { unlink "$one/stream.record" }],
        'a record that is none' => [qr/record of attempt $one has changed \(missing\)/,
            sub { unlink "$one/stream.record"; mkdir "$one/stream.record" }],
        'a changed stderr' => [qr/stderr of attempt $one has changed/,
            sub { spew("$one/stderr", 'oops') }],
        'a changed environment' => [qr/environment of attempt $one has changed/,
            sub { spew("$one/environment", 'A=B') }],
        'a missing folder' => [qr/folder of attempt $one is missing/,
            sub { remove_tree($one) }],
        'an unlisted folder' => [qr/folder 0003-run_stream is not in the ledger/,
            sub { mkdir '0003-run_stream' }],
        'a folder with a line of its own' => [qr/folder 0003-x\\x\{a\}ok 1 - y is not in the/,
            sub { mkdir "0003-x\nok 1 - y" }],
        'a changed line' => [qr/ledger line 4: the hash of the line before/,
            sub { replace('ledger', 'status=valid', 'status=wrong') }],
        'a line taken away' => [qr/ledger line 3: the hash of the line before/,
            sub { replace('ledger', qr/^attempt number=1 .*\n/m, q{}) }],
        'a last line taken away' => [qr/attempt 2 \(run_stream\) was begun and has not ended/,
            sub { replace('ledger', qr/^attempt number=2 .*\n/m, q{}) }],
        'two last lines taken away' => [qr/folder 0002-run_stream is not in the ledger/,
            sub { replace('ledger', qr/^begin number=2 .*\n.*\n/m, q{}) }],
        'a changed reference' => [qr/changed reference: reference\/stream\.ref/,
            sub { replace('reference/stream.ref', '100', '50') }],
        'a missing reference' => [qr/changed reference: reference\/stream\.ref/,
            sub { unlink 'reference/stream.ref' }],
        'an empty ledger' => [qr/ledger is empty/, sub { spew('ledger', q{}) }],
    );
    for my $what (sort keys %tamper) {
        my ($says, $how) = @{$tamper{$what}};
        remove_tree("$results/impure");
        system 'cp', '-a', "$results/pure", "$results/impure";
        chdir "$results/impure";
        $how->();
        chdir "$tree->{top}/work";
        my ($status, $out) = campaign('verify', "$results/impure");
        is $status, 3, "$what: exit 3";
        like $out, $says, '... and it is named';
        next if $what !~ /figure|folder|reference|empty/;
        ($status, $out) = campaign('judge', "$results/impure");
        isnt $status, 0, '... and judge passes nothing';
        unlike $out, qr/^ok/m, '... not even in a line of its own';
    }
};

sub replace {
    my ($file, $old, $new) = @_;

    my $text = slurp($file);
    $text =~ s/$old/$new/ or die "$file: no $old";
    spew($file, $text);
    return;
}

# A chain that holds, around what no run_script would write.
subtest 'forged' => sub {
    my %forged = (
        'hosts read from a file' => [qr{no list of hosts}, hosts => '@/etc/passwd'],
        'a record elsewhere'     => [qr{attempt without a folder}, record => '../pure/x'],
        'a reference elsewhere'  => [qr{no name of a reference},
            reference => '../x.ref', reference_sha256 => '0' x 64],
    );
    for my $what (sort keys %forged) {
        my ($says, %fields) = @{$forged{$what}};
        remove_tree("$results/forged");
        system 'cp', '-a', "$results/pure", "$results/forged";
        my $ledger = Assay::Ledger->new("$results/forged");
        my ($attempt) = grep { $_->{kind} eq 'attempt' } $ledger->entries;
        my %line = (%{$attempt}, number => 3, %fields);
        delete @line{qw(kind line torn broken sha256 previous)};
        $ledger->append('begin', sub { (number => 3, script => 'run_stream') });
        $ledger->append('attempt', sub {%line});
        my ($status, $out) = campaign('verify', "$results/forged");
        is $status, 3, "$what: exit 3";
        like $out, $says, '... and it is named';
        is +(campaign('judge', "$results/forged"))[0], 3, '... and judge passes nothing';
    }
};

# What was begun and never ended is closed by whoever comes next: never by
# writing outside of the folder.
subtest 'forged beginnings' => sub {
    my %forged = (
        script     => '../../escaped',
        benchmarks => '../../escaped',
        number     => '3/../../escaped',
    );
    for my $key (sort keys %forged) {
        remove_tree("$results/forged");
        system 'cp', '-a', "$results/pure", "$results/forged";
        my %line = (number => 3, script => 'run_stream', benchmarks => 'stream',
            host => 'n001', hosts => 'n001', reference => q{}, reference_sha256 => q{},
            $key => $forged{$key});
        Assay::Ledger->new("$results/forged")->append('begin', sub {%line});
        my ($status, $out, $err) = run_promised({}, 'forged');
        is $status, 2, "a $key that is a path: exit 2";
        like $err, qr/ledger line 6: no run_script began this/, '... and it is named';
        is_deeply [glob "'$results'/../escaped* '$results'/escaped*"], [], '... nothing is written';
    }
};

subtest 'reference changed between attempts' => sub {
    promise('runs = 2');
    run_command($script, '-m', 'promised', '-r', "$results/moved");
    promise('runs = 2', 'tolerance = 50 %');
    my ($status, $out) = run_promised({TRIAD => 60}, 'moved');
    is $status, 3, 'exit 3';
    like $out, qr/changed reference: stream\.ref is not what earlier attempts were held to/,
        '... and says why';
    like slurp("$results/moved/reference/stream.ref"), qr/\A(?!.*tolerance)/s,
        'the first one is kept';
};

subtest 'show and judge' => sub {
    my ($status, $out) = campaign('show', "$results/slow");
    is $status, 1, 'show has the exit status of the verdicts';
    is scalar(lines_of($out, qr/ attempt \d+: valid$/)), 3, '... lists the attempts';
    like $out, qr/^1 .* FAIL$/m, '... and the verdict';
    ($status, $out) = campaign('judge', "$results/slow");
    is $status, 1, 'judge too';
    like $out, qr/\ATAP version 13\n1\.\.1\n/, '... in TAP';
    unlike $out, qr/no system named/, 'which names no system where there is one';
    is_deeply [Assay::Summary::points($out)]->[0]{verdict}, 'FAIL', '... of which the table is made';
    rename "$results/slow", "$tree->{top}/moved away";
    ($status, $out) = campaign('judge', "$tree->{top}/moved away");
    is $status, 1, 'the folder may be moved';
};

subtest 'progress' => sub {
    open my $out, '>', \my $text;
    my $progress = Assay::Progress->new(out => $out, terminal => 1, width => 60);
    $progress->show(1, 3, 'run_stream 2 of 3');
    like $text, qr/\A\r\[2 of 3\] run_stream 2 of 3  0:0\d +\r\z/, 'n of N, what runs, elapsed';
    $progress->show(1, 3, 'x' x 200);
    is scalar(grep { length > 60 } split /\r/, $text), 0, 'never wider than the terminal';
    ($text, $progress) = (q{}, Assay::Progress->new(out => $out, terminal => 0));
    $progress->show(1, 3, 'x');
    $progress->clear;
    is $text, q{}, 'nothing where there is no terminal';
    is Assay::Progress::elapsed(59), '0:59', 'seconds';
    is Assay::Progress::elapsed(3600), '1:00:00', 'hours';
    SKIP: {
        skip 'no script(1)', 1 if !grep { -x "$_/script" } split /:/, $ENV{PATH};
        promise();
        my $line = "'$tree->{command}' campaign run --system promised '$script'";
        (undef, my $shown) = run_command('script', '-qec', $line, '/dev/null');
        like $shown, qr/\r\[1 of 1\] run_stream 1 of 1  0:00/, 'on a terminal it is shown';
    }
};

done_testing;
