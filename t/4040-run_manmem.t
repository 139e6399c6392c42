#!/usr/bin/perl
#
# run_manmem: what it sets, what it runs, and that host emulation passes for no
# GPU.

use 5.016;
use strict;
use warnings;

use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use lib dirname(__FILE__) . '/data/run_scripts';
use Test::More;

use TestTree;

use lib harness_dir();

my $script = build_dir() . '/run_scripts/run_manmem';
my $program = build_dir() . '/manmem/manmem';
plan skip_all => 'not built' if !-x $script || !-x $program;

delete @ENV{grep {/^(?:SLURM|HSA_|SCALE_|FAKE|ASSAY_(?:SYSTEM|REFERENCES|CAMPAIGN))/} keys %ENV};
my $top = tempdir('assay test-XXXXXX', TMPDIR => 1, CLEANUP => 1);
chdir $top or die "chdir: $!";
my $fake = '--plugins=' . build_dir() . '/t/programs/fake';
my @shape = qw(--block-size=32 --num-blocks=2 --elements-per-thread=64 --iterations=6);

# The status of an attempt in folder DIR, what it printed, and its record.
sub run_manmem {
    my ($dir, @words) = @_;

    my $variables = ref $words[0] ? shift @words : {};
    my ($status, $out, $err) = run_command($variables, $script, '-r', $dir, @words);
    my ($record) = sort glob "'$dir'/*-run_manmem/manmem.record";
    return ($status, $out . $err, $record ? slurp($record) : q{});
}

my ($status, $out, $err) = run_command($script, '-n');
is $status, 0, 'print-only' or diag $err;
like $out, qr{^\S*\Q$program\E'? --record=\{record\}$}m, '... names the program of this build';
is +(run_command($script, '--functional', '--no-xnack'))[0], 2,
    'no XNACK that host emulation could do without';

subtest 'XNACK' => sub {
    my %case = (
        'unset: both are set'       => [{}, [], '1 1'],
        'what is set is kept'       => [{HSA_XNACK => 0}, [], '0 1'],
        '--no-xnack: none is set'   => [{}, ['--no-xnack'], 'unset unset'],
    );
    for my $what (sort keys %case) {
        my ($variables, $options, $wanted) = @{$case{$what}};
        my ($status, $said, $record)
            = run_manmem($what, $variables, @{$options}, '--', $fake, @shape);
        is $status, 0, $what or diag $said;
        my ($hsa, $scale) = $record =~ /^driver HSA_XNACK=(\S*) SCALE_AMD_XNACK=(\S*)/m;
        is join(q{ }, map {s/"//gr} $hsa // q{-}, $scale // q{-}), $wanted,
            '... as the record says';
    }
};

subtest 'verdicts' => sub {
    my ($status, $said) = run_manmem('good', '--', $fake, @shape);
    is $status, 0, 'a device: passes' or diag $said;
    like $said, qr/^ok \d+ - clause manmem\.steady manmem\.steady \S+\/0 .*backend=hip arch=gfx000 xnack=on /m,
        '... for the device, with its keys';
    ($status, $said) = run_manmem('two', {FAKE => 'devices=2'}, '--', $fake, @shape);
    is $status, 0, 'two devices: pass' or diag $said;
    is scalar(lines_of($said, qr/^ok .* manmem\.cold /)), 4, '... each, alone and at once';
    ($status, $said) = run_manmem('two', {FAKE => 'nodevice'}, '--devices=3', '--', $fake, @shape);
    is $status, 0, '... and a third that is not there: NOTRUN, which is no failure' or diag $said;
    (undef, my $page) = run_command(build_dir() . '/harness/assay', 'report', 'two');
    like $page, qr/<p>24 PASS, 12 NOTRUN \(exit status 0\)/, '... nor "all pass" on the page';
    like $page, qr/all with .*bytes=16384 .*dimensions=32,2,64/, '... which says once what all have';
    ($status, $said) = run_manmem('wrong', {FAKE => 'wrong=3'}, '--', $fake, @shape);
    is $status, 3, 'wrong sums: INVALID';
    ($status, $said) = run_manmem('none', {FAKE => 'nodevice'}, '--', $fake, @shape);
    is $status, 5, 'no device: nothing passed';
    like $said, qr/NOTRUN # SKIP .*hipErrorNoDevice/, '... NOTRUN, and why';
    ($status, $said) = run_manmem('strict', {FAKE => 'nodevice'}, '--strict', '--devices=1', '--', $fake, @shape);
    is $status, 5, '... which --strict takes for a failure';
    ($status, $said) = run_manmem('lax', '--strict', '--', $fake, @shape);
    is $status, 3, '--strict, and nobody said how many: INVALID';
    like $said, qr/no list of devices was given/, '... and why';
    ($status, $said) = run_manmem('all', '--strict', '--devices=1', '--', $fake, @shape);
    is $status, 0, '--strict, and all there: passes' or diag $said;
    ($status, $said) = run_manmem('few', {ASSAY_DEVICES => 3, FAKE => 'devices=2'}, '--', $fake, @shape);
    is $status, 3, 'a device that is missing: INVALID';
    like $said, qr{^not ok .* manmem\.cold \S+/2 .*INVALID: no measurement}m, '... by its number';
    for my $bad ('0', q{}, '1x') {
        ($status, $said) = run_manmem('bad', "--devices=$bad");
        is $status, 2, "--devices=$bad is refused";
        like $said, qr/run_manmem: --devices: '.*' is no number of devices/, '... by name';
    }
    is +(run_command(build_dir() . '/run_scripts/run_stream', '--devices=1'))[0], 2,
        'run_stream has no devices';
    ($status, $said, my $record)
        = run_manmem('hang', {FAKE => 'hang=2'}, '-t', '2', '--', $fake, @shape);
    is $status, 3, 'a kernel that never ends: INVALID';
    like $said, qr/timeout after 2 s/, '... by the limit';
    is scalar(() = $record =~ /^metric name=iteration /mg), 2, '... with the rows that there were';
};

subtest 'host emulation' => sub {
    my ($status, $said, $record)
        = run_manmem('host', '--functional', '--', '--num-blocks=1', '--block-size=64');
    plan skip_all => 'no userfaultfd here' if $status == 5;
    ($status, $said) = run_manmem('host2', '--functional', '--', '--num-blocks=1') if $status == 3;
    is $status, 0, '--functional: passes' or diag $said;
    like $said, qr/^# run_manmem on \S+, system functional \(by --functional: host emulation\)$/m,
        '... as what it is';
    like $said, qr/^# # backend host: host emulation/m, '... in its output too';
    for my $try (1 .. 5) {    # a busy machine may leave no curve
        ($status, $said) = run_manmem("any$try", '--', '--backend=host', '--num-blocks=1');
        last if $said !~ /ended unstable/;
    }
    is $status, 3, 'without it: INVALID';
    like $said, qr/only functional runs, which do not count/, '... since it is no GPU';
};

done_testing;
