#!/usr/bin/perl
#
# The command and what needs more than a screen: systems and their folders,
# long lines, full disks, many records at once.

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use Test::More;

my $here = dirname(abs_path(__FILE__));
my $harness = abs_path($ENV{ASSAY_HARNESS} || "$here/../harness");
my $assay = "$harness/assay";
my $folder = tempdir(CLEANUP => 1);

unshift @INC, $harness;
require Assay::Judge;

my $CLAUSE = "[clause 1]\nmetric = stream.triad\nscope = every node\n"
    . "statistic = median\nlimit = >= 100 GB/s\n";

sub write_file {
    my ($path, @text) = @_;
    mkdir dirname("$folder/$path");
    open my $file, '>:raw', "$folder/$path" or die "$path: $!\n";
    print {$file} @text;
    close $file or die "$path: $!\n";
    return "$folder/$path";
}

sub record {
    my ($bench, $host, $value, $more) = @_;
    return "record version=1 bench=$bench\nenv host=$host\n"
        . "check name=data ok=yes error=0 tolerance=0\n"
        . ($more || q{})
        . "metric name=triad value=$value unit=MB/s host=$host\n"
        . "end status=ok\n";
}

sub slurp {
    my ($path) = @_;
    open my $file, '<:raw', $path or return q{};
    local $/ = undef;
    return scalar <$file>;
}

# A command's status, standard output and standard error.
sub run {
    my (@command) = @_;
    my ($out, $error) = ("$folder/out", "$folder/error");
    my $child = fork;

    die "fork: $!\n" if !defined $child;
    if (!$child) {
        open STDOUT, '>', $out   or die "$out: $!\n";
        open STDERR, '>', $error or die "$error: $!\n";
        if (ref $command[0]) {
            my ($code, @args) = @command;
            my $status = $code->(@args);
            close STDOUT;
            require POSIX;
            POSIX::_exit($status);
        }
        exec {$command[0]} @command or die "exec: $!\n";
    }
    waitpid $child, 0;
    return ($? & 127 ? "signal $?" : $? >> 8, slurp($out), slurp($error));
}

# What the environment says must not decide what the judge runs or prints.
subtest environment => sub {
    mkdir "$folder/theirs";
    write_file('theirs/Digest/SHA.pm', "package Digest::SHA;\ndie 'theirs';\n");
    write_file('theirs/POSIX.pm', "package POSIX;\ndie 'theirs';\n");
    my $reference = write_file('env/x.ref', $CLAUSE);
    my $record = write_file('env/x.record', record('stream', 'n001', 120_000));
    my @judge = ($assay, 'judge', '--reference', $reference, '--nodes', 'n001', $record);
    my ($status, $out) = run(@judge);
    is $status, 0, 'exit 0';
    for my $pair ([PERL5LIB => "$folder/theirs"], [PERLLIB => "$folder/theirs"],
        [PERLIO => ':crlf'], [PERL_UNICODE => 'SDAL']) {
        my ($name, $value) = @$pair;
        local $ENV{PERL5LIB};
        local $ENV{$name} = $value;
        is_deeply([run(@judge)], [0, $out, q{}], "the same under $name");
    }
    my @attempt = ($assay, qw(campaign attempt --script run_stream
        --benchmark stream --system any-machine --why test --nodes n001
        --program true --references), abs_path("$here/../reference"),
        '--results', "$folder/results", 'true');
    delete local @ENV{qw(PERL5LIB PERLLIB)};
    is((run(@attempt))[2], q{}, 'no variable is there that was not');
    unlike slurp("$folder/results/0001-run_stream/environment"), qr/^PERL/m,
        '... nor handed to a program';
    local $ENV{PERLIO} = ':crlf';
    ($status, $out) = run($assay, '--help');
    unlike $out, qr/\r/, 'nor is there a carriage return elsewhere';
};

# A folder that hides behind a link would hide its records.
subtest 'links to folders' => sub {
    my $reference = write_file('links/x.ref', $CLAUSE);
    mkdir "$folder/links";
    write_file('links/good/x.record', record('stream', 'n001', 120_000));
    write_file('links/bad/x.record', record('stream', 'n001', 10));
    symlink '../bad', "$folder/links/good/y.record" or plan skip_all => 'no links here';
    my @judge = ($assay, 'judge', '--reference', $reference, '--nodes', 'n001');
    my ($status, $out) = run(@judge, "$folder/links/good");
    is $status, 3, 'exit 3';
    like $out, qr{^not ok 2 - link to a folder, not followed: .*/y\.record}m,
        'it is named';
    symlink 'good', "$folder/links/itself";
    unlink "$folder/links/good/y.record";
    for my $named ("$folder/links/itself", "$folder/links/itself/") {
        ($status, $out) = run(@judge, $named);
        is $status, 0, 'a link that is named itself is followed';
    }
};

# The judge, with a folder of references of its own.
sub judge {
    my (@args) = @_;
    return run(sub {
        no warnings 'redefine';
        local *Assay::Config::reference_dir = sub { return "$folder/reference" };
        return Assay::Judge::main(@_);
    }, @args);
}

my $good = write_file('good.record', record('stream', 'n001', 120_000));
my $other = write_file('other.record', record('ra', 'n001', 120_000));
my $reference = write_file('x.ref', $CLAUSE);

subtest 'the command' => sub {
    my ($status, $out, $error) = run($assay, '--help');
    is($status, 0, '--help exits 0');
    like($out, qr/^  judge /m, 'and names the subcommands');
    is_deeply([grep { length > 80 } split /\n/, $out], [], 'in 80 columns');
    for my $subcommand (qw(judge lint)) {
        ($status, $out) = run($assay, $subcommand, '--help');
        is($status, 0, "$subcommand --help exits 0");
        my @wide = grep { length > 80 && !m{^/} } split /\n/, $out;
        is_deeply(\@wide, [], 'in 80 columns');
    }
    ($status, $out) = run($assay, '--version');
    like($out, qr/\Aassay \S+\n\z/, '--version');
    for my $bad ([], ['frobnicate'], ['--frobnicate'], ['judge'], ['lint'],
        ['judge', '--frobnicate', $good], ['lint', '--as-of', 'today', 'x']) {
        ($status, $out, $error) = run($assay, @$bad);
        is($status, 2, "assay @$bad: usage");
        like($error, qr/usage:/, 'says how');
        is($out, q{}, 'on the standard error');
    }
    ($status, $out) = run($assay, qw(judge --reference), $reference,
        '--nodes', 'n001', $good);
    is($status, 0, 'judges');
    symlink $assay, "$folder/link" or die "link: $!\n";
    ($status) = run("$folder/link", '--version');
    is($status, 0, 'finds its modules through a link');
    ($status, $out) = run($assay, 'lint', $reference);
    is("$status $out", "0 1 clause in 1 file, 0 warnings\n", 'lints');
    ($status, $out, $error) = run($assay, 'lint', "$folder/nosuch.ref");
    is($status, 2, 'lint of nothing');
    like($error, qr/nosuch\.ref:1: can't read it/, 'says so');
};

subtest 'a full disk is not a pass' => sub {
    plan skip_all => 'no /dev/full' if !-c '/dev/full';
    my @args = ('judge', '--reference', $reference, '--nodes', 'n001');
    my ($status, undef, $error) = run($assay, @args, '--output', '/dev/full',
        $good);
    is($status, 99, '--output on a full disk');
    like($error, qr/can't write/, 'says so');
    ($status, undef, $error)
        = run('/bin/sh', '-c', '"$@" >/dev/full', 'sh', $assay, @args, $good);
    is($status, 99, 'standard output on a full disk');
    ($status) = run($assay, @args, '--output', "$folder/no/such", $good);
    is($status, 99, '--output that can not be opened');
    ($status, my $out) = run($assay, @args, '--output', "$folder/tap", $good);
    is("$status$out", 0, '--output takes it all');
    like(slurp("$folder/tap"), qr/\ATAP version 13\n.*\nok 1 /s, 'whole');
};

subtest 'no memory is not a verdict' => sub {
    my @args = ('judge', '--reference', $reference, '--nodes', 'n[00001-99999]', $good);
    for my $limit (60_000, 80_000) {
        my ($status, $out) = run('/bin/sh', '-c',
            "ulimit -v $limit; LC_ALL=C exec \"\$\@\"", 'sh', $^X, $assay, @args);
        is($status, 99, "$limit kB for 99999 nodes");
        unlike($out, qr/^# PASS /m, 'no summary');
    }
};

subtest 'systems' => sub {
    mkdir "$folder/reference";
    my ($status, $out, $error) = judge($good);
    is($status, 2, 'no any-machine.ref');
    write_file('reference/any-machine.ref', $CLAUSE =~ s/>=.*/report only/r);
    ($status, $out) = judge('--nodes', 'n001', $good);
    is($status, 0, 'any machine');
    like($out, qr/^# no system named: judged by what must hold on any/m,
        'and it says so');
    ($status, $out) = judge(qw(--system any-machine --nodes n001), $good);
    is($status, 0, 'any machine, named');
    write_file('reference/deep/a.ref', $CLAUSE);
    write_file('reference/deep/b.ref',
        $CLAUSE =~ s/clause 1/clause 2/r =~ s/stream/ra/r);
    ($status, $out) = judge(qw(--system deep --nodes n001), $good);
    is($status, 0, 'a system, as far as it was run');
    like($out, qr/^# 1 clause not judged, .*: 2 \(ra\.triad\)$/m,
        'what was not is named');
    ($status, $out) = judge(qw(--system deep --whole --nodes n001), $good);
    is($status, 3, 'the whole is owed');
    like($out, qr/^not ok 2 - clause 2 ra\.triad n001 INVALID: no meas/m,
        'so what is missing shows');
    my $third = write_file('third.record', record('gups', 'n001', 1));
    ($status, $out) = judge(qw(--system deep --nodes n001), $third);
    is($status, 3, 'a system without a clause for what was run');
    like($out, qr/^not ok 1 - gups INVALID: it was run, but no clause/m,
        'says which');
    ($status, $out) = judge(qw(--system deep --nodes n001), $good, $third);
    is($status, 3, 'beside another too');
    mkdir "$folder/reference/bare";
    ($status, $out, $error) = judge(qw(--system bare), $good);
    is($status, 2, 'a system without references');
    like($error, qr/no \*\.ref in/, 'says so');
    write_file('reference/deep/c.ref', $CLAUSE);
    ($status, $out, $error) = judge(qw(--system deep), $good);
    is($status, 2, 'a clause doubled between files');
    is($out, q{}, 'and nothing is judged');
};

subtest 'records that are no files of text' => sub {
    my @args = ('--reference', $reference, '--nodes', 'n001');
    my $long = write_file('long.record', record('stream', 'n001', 120_000,
        'sample name=x values=' . '1,' x (5 << 20) . "1\n"));
    my ($status, $out) = judge(@args, $long);
    is($status, 3, 'a line of 10 MiB');
    like($out, qr/INVALID: line 4: line of more than 8 MiB/, 'is refused');

    my $endless = write_file('endless.record', 'record version=1 bench=stream '
        . 'x=', 'y' x (10 << 20));
    ($status, $out) = judge(@args, $endless);
    is($status, 3, 'a line that never ends');
    like($out, qr/INVALID: line 1: line of more than 8 MiB/, 'is refused');

    ($status, $out) = judge(@args, '/dev/zero');
    is($status, 3, 'a device');
    like($out, qr/INVALID: not a plain file/, 'is refused');

    my $split = write_file('split.record', record('stream', 'n001', 120_000,
        'x' . ' y=' . 'z' x 999_990 . "\n" . 'x y=' . 'z' x 99_990 . "\n"));
    ($status, $out) = judge(@args, $split);
    is($status, 0, 'a record larger than what is read at once');
    if ($> != 0) {
        my $closed = write_file('closed.record', 'x');
        chmod 0, $closed;
        ($status, $out) = judge(@args, $closed);
        is($status, 3, 'a file that may not be read');
    }
};

# One process or two, the verdicts are the same.
subtest 'many records' => sub {
    my @paths;
    for my $i (1 .. 60) {
        my $text = record('stream', sprintf('n%03d', $i % 20),
            100_000 + 7 * $i, "env run=$i\n");
        $text =~ s/bench=stream/bench=stream run=$i/;
        $text =~ s/check.*ok=\Kyes/no/ if $i == 33;
        $text =~ s/end.*\n//           if $i == 44;
        $text =~ s{MB/s\K host}{ threads=4 host} if $i == 55;
        push @paths, write_file(sprintf('many/%02d.record', $i), $text);
    }
    push @paths, write_file('many/copy.record', slurp($paths[1]));
    my @args = ('--reference', $reference, '--nodes', 'n[000-020]');
    my ($alone, $plain) = judge(@args, "$folder/many");
    my ($shared, $same) = run(sub {
        no warnings 'redefine';
        my $new = \&Assay::Collect::new;
        local *Assay::Collect::new = sub { $new->(@_, share_from => 0) };
        return Assay::Judge::main(@_);
    }, @args, "$folder/many");
    is($alone, 3, 'some are invalid');
    is($shared, $alone, 'the status is the same');
    is($same, $plain, 'and every line');
    like($plain, qr/^# PASS 17, FAIL 0, INVALID 4,/m, 'as many as expected');
    like($plain, qr/copy\.record is the same as .*02\.record/, 'the copy');
    my ($other, $text) = judge(@args, reverse @paths, $paths[0]);
    is($text, $plain, 'the order of the arguments does not matter');
};

done_testing();
