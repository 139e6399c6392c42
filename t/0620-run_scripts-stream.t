#!/usr/bin/perl
#
# run_stream of the build tree, with the program itself.

use 5.016;
use strict;
use warnings;

use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use lib dirname(__FILE__) . '/data/run_scripts';
use Test::More;

use TestTree;

use lib harness_dir();

my $script = build_dir() . '/run_scripts/run_stream';
my $program = build_dir() . '/stream/stream';
plan skip_all => 'not built' if !-x $script || !-x $program;
require Assay::Ledger;

delete @ENV{grep {/^(?:SLURM|ASSAY_(?:SYSTEM|REFERENCES|CAMPAIGN))/} keys %ENV};
my $top = tempdir('assay test-XXXXXX', TMPDIR => 1, CLEANUP => 1);
chdir $top or die "chdir: $!";
my $clauses = () = slurp(source_dir() . '/reference/any-machine.ref') =~ /^\[clause stream[.]/mg;

sub run_stream { return run_command($script, '-r', @_) }

sub last_attempt {
    my ($folder) = @_;

    return (grep { $_->{kind} eq 'attempt' } Assay::Ledger->new($folder)->entries)[-1];
}

my ($status, $out, $err) = run_command($script, '-n');
is $status, 0, 'print-only' or diag $err;
like $out, qr{\Q$program\E}, '... names the program of this build';

subtest 'this machine' => sub {
    ($status, $out, $err) = run_stream('good', '--', '--repetitions=3');
    plan skip_all => 'memory here does not allow arrays of 4 caches'
        if $status == 3 && $out =~ /array_bytes >= 4 x cache_bytes/;
    is $status, 0, 'any machine passes' or diag $out, $err;
    is scalar(lines_of($out, qr/^ok \d+ .* MB\/s \(report only/)), $clauses,
        '... each clause with value and unit';
    like $out, qr/^# ╟─ TRIAD: +\d+\.\d MB\/s$/m, '... and the box stands in comments';
    my $entry = last_attempt('good');
    is $entry->{status}, 'valid', '... the ledger says valid';
    like slurp("good/$entry->{record}"), qr/ sha256=$entry->{program_sha256} /,
        '... of the program that the record names';
};

subtest 'what must not pass' => sub {
    ($status, $out) = run_stream('small', '--', '--elements=100K');
    is $status, 3, 'arrays in cache: exit 3';
    ($status, $out) = run_stream('option', '--', '--frobnicate');
    is $status, 2, 'an option that the program does not know: exit 2';
    like $out, qr/frobnicate/, '... quoted';
    ($status, $out) = run_stream('late', '-t', '1', '--', '--repetitions=100000');
    is $status, 3, 'longer than its limit: exit 3';
    like $out, qr/timeout after 1 s/, '... by the limit';
    is last_attempt('late')->{status}, 'spoiled', '... the ledger says spoiled';
    my @left = grep { (eval { slurp($_) } // q{}) =~ /\A\Q$program\E\0/ }
        glob '/proc/[0-9]*/cmdline';
    is scalar @left, 0, '... and no process is left';
    ($status, $out) = run_stream('promised', '-m', 'streambenchmark-10core', '--', '--threads=1',
        '--repetitions=2', '--elements=100K');
    is $status, 3, 'another shape than was promised: exit 3';
};

subtest 'under prove' => sub {
    symlink $script, 'run_stream';    # prove takes no blanks in a path
    ($status, $out, $err) = run_command('prove', '-Q', './run_stream');
    plan skip_all => 'memory here does not allow arrays of 4 caches'
        if $status != 0 && -e 'good' && last_attempt('good')->{status} ne 'valid';
    is $status, 0, 'it passes' or diag $out, $err;
    is scalar(my @made = glob 'results/*/ledger'), 1, '... and leaves a campaign';
};

done_testing;
