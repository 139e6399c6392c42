#!/usr/bin/perl
#
# simpleBandwidth as its users know it: the original's lines, both spellings of
# its options; and the record behind them, held to any-machine.ref.

use 5.016;
use strict;
use warnings;

use FindBin;
use Test::More;

use lib $FindBin::Bin;
use Mpi;
use Probe;

# There may be more tasks than CPUs.
local $ENV{OMP_WAIT_POLICY} = 'passive';

my $program = 'commbw/simpleBandwidth';
plan skip_all => missing($program) if missing($program);

my $number = qr/\d+\.\d\d/;

subtest 'the layout' => sub {
    my $run = job(2, $program, '--numTasks=1 -snumTrials=6 -ssizePerTask=64K @');
    is $run->{status}, 0, 'two ranks, spelt in two ways' or diag $run->{err};
    my @lines = grep { !/^#/ } split /\n/, $run->{out};
    is scalar @lines, 2, 'two lines';
    like $lines[0], qr{^   GET ${number}s \($number MiB/s\)  # median $number MiB/s}, 'GET';
    like $lines[1], qr{^   PUT ${number}s \($number MiB/s\)  # median $number MiB/s}, 'PUT';
    my ($printed) = $lines[1] =~ m{\((\S+) MiB/s\)};
    is verdict($run), 'good', 'the record is whole';
    my @put = metrics($run, 'put');
    is "@{[sort map { $_->{per} } @put]}", 'job pair', 'of the pair and of the job';
    for my $put (@put) {
        is "$put->{unit} $put->{n} $put->{size} $put->{tasks} $put->{window}",
            'MB/s 6 65536 1 1', "per=$put->{per}: unit, trials, size, tasks, window";
        cmp_ok abs($put->{value} * 1e6 / 2**20 - $printed), '<', 0.006,
            '... the line is the best of it, in MiB/s';
        cmp_ok $put->{median}, '<=', $put->{value}, '... and its median is not more';
    }
    my ($pair) = grep { $_->{per} eq 'pair' } @put;
    like $pair->{pair}, qr/\A(\S+):\1\z/, 'a pair of one host';
    is $pair->{ranks}, '0:1', '... and of two ranks';
    is join(q{ }, map {"$_=$pair->{$_}"} qw(nics nic_share pshm colocales transport kind direction)),
        'nics=0 nic_share=none pshm=yes colocales=2 transport=mpi kind=allocate direction=one',
        '... and what carried the bytes';
};

# Keys tell all lines apart; every block is looked at.
subtest 'sweeps' => sub {
    my $run = job(3, $program,
        '--tasks=2 --trials=2 --sizes=0,1,7,16..32,4097 --window=3 --pairs=each --kind=create @');
    is $run->{status}, 0, 'three ranks, each two in turn, two tasks, seven sizes'
        or diag $run->{err};
    my @metrics = metrics($run);
    is scalar @metrics, 3 * 6 * 2, 'a line of each pair, size and operation';
    ok unique($run, 'metric'), '... no two alike';
    is scalar(grep { $_->{value} > 0 || $_->{size} == 0 } @metrics), scalar @metrics,
        '... all finite, and above 0 but for 0 bytes';
    my @checks = map { Assay::Text::split_fields(s/^\S+//r) } Probe::lines($run, 'check');
    is scalar(grep { $_->{ok} ne 'yes' } @checks), 0, 'all data are right';
    is scalar(grep { $_->{size} > 0 && $_->{verified} < 2 * 3 * 4 } @checks), 0,
        '... of two tasks, three blocks, at least four trials';
    unlike $run->{out}, qr/nan|inf/i, 'no line without a finite number';

    unlike $run->{err}, qr/moves nothing/, 'each of three has its turns';
    $run = job(3, $program, '--tasks=1 --trials=1 --size=8 --pairs=all @');
    like $run->{record}, qr/^warning text="3 locales are no pairs: the last one, rank 2 on \S+, moves nothing/m,
        'all at once, one of three is left out, and told of';

    $run = job(4, $program,
        '--tasks-as=ranks --tasks=2 --trials=2 --bidirectional --size=100001 @');
    is $run->{status}, 0, 'two locales of two ranks, both ways' or diag $run->{err};
    my ($pair) = grep { $_->{per} eq 'pair' } metrics($run, 'get');
    is "$pair->{ranks} $pair->{tasks} $pair->{colocales} $pair->{direction}",
        '0-1:2-3 2 2 both', '... whose keys say so';
};

done_testing;
