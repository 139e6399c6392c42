#!/usr/bin/perl
#
# indexgather and ra: that each kind of access that goes wrong shows in what is
# verified; what seeds and sizes do; and that messages are worth their trouble.

use 5.016;
use strict;
use warnings;

use FindBin;
use List::Util qw(max);
use Test::More;

use lib $FindBin::Bin;
use Mpi;
use Probe;

my ($gather, $ra) = map {"t/programs/${_}_faulty"} qw(indexgather ra);
plan skip_all => missing($gather) if missing($gather);

subtest 'indexgather: one word of thousands' => sub {
    my @options = (2, $gather, '--table=100 --updates=2000 --trials=2 --tasks=1 --buffer=64 @');
    my @faults = (['get:1:2000', 'ordered'], ['get:0:900', 'unordered'], ['send:1:20', 'aggregated']);
    for my $fault (@faults) {
        my ($what, $mode) = @{$fault};
        my $run = job(@options[0, 1], "--mode=$mode $options[2]", "MPI_WORD=$what");
        is $run->{status}, 1, "$what, $mode: wrong data" or diag $run->{out};
        like $run->{err}, qr/$mode\.data: wrong data: 1 entries, the first is entry/, '... one';
    }
    my $run = job(@options[0, 1], "--mode=all $options[2]", 'MPI_WORD=none:0:1');
    is "$run->{status} " . verdict($run), '0 good', 'without it all is well' or diag $run->{err};
};

subtest 'ra: one update of thousands' => sub {
    my @faults = (
        ['put:1:0',          '--mode=rmo --table=4K'],
        ['accumulate:0:900', '--mode=amo --table=64'],
        ['fetch:1:900',      '--mode=amo --table=64 --atomic=fetch'],
        ['send:0:2',         '--mode=aggregated --table=64 --buffer=64'],
    );
    for my $fault (@faults) {
        my ($what, $options) = @{$fault};
        my $run = job(2, $ra, "$options --updates=3000 --trials=1 --tasks=1 \@", "MPI_WORD=$what");
        is $run->{status}, 1, "$what, $options: wrong data" or diag $run->{out};
        my ($wrong) = metrics($run, 'wrong');
        cmp_ok $wrong->{value}, '>=', 1, '... and counted';
    }
    my $run = job(2, $ra, '--mode=all --table=4K --trials=1 --tasks=1 @', 'MPI_WORD=none:0:1');
    is "$run->{status} " . verdict($run), '0 good', 'without it all is well' or diag $run->{err};
};

# Four words, of which every update races with another.
subtest 'ra: races' => sub {
    my $options = '--table=4 --updates=100000 --tasks=1 --trials=2 @';
    my $run = job(2, 'commbw/ra', "--mode=amo --window=64 $options");
    is $run->{status}, 0, 'atomic updates lose nothing' or diag $run->{err};
    is +(metrics($run, 'wrong'))[0]{max}, 0, '... it says';
    $run = job(2, 'commbw/ra', "--mode=rmo $options");
    my ($wrong) = metrics($run, 'wrong');
    is $run->{status}, $wrong->{max} > 0 ? 1 : 0, "without, $wrong->{max} of 4 are wrong: exit 1";
};

subtest 'sizes and seeds' => sub {
    my $run = job(2, 'commbw/indexgather', '--table=1000T');
    is $run->{status}, 2, 'more words than can be counted: exit 2';
    $run = job(2, 'commbw/ra', '--table=64 --seed=18446744073709551615');
    is $run->{status}, 2, 'a seed behind the end of the stream: exit 2';
    my @local = map {
        my $one = job(3, 'commbw/indexgather',
            "--mode=unordered --table=100 --updates=5000 --trials=1 --tasks=1 --seed=$_");
        $one->{out} =~ /(\d+) local/ ? $1 : -1
    } 0, 1, 0;
    isnt $local[0], $local[1], 'another seed draws other words';
    is $local[2], $local[0], '... the same one the same';
};

# In turn, so that what else the machine does is both's: messages beat a GET
# each by an order of magnitude between processes of one node. The margin is
# wide, since the machine may be busy.
subtest 'aggregated beats ordered' => sub {
    my %rate;
    for (1 .. 3) {
        my $run = job(2, 'commbw/indexgather', '--mode=all --updates=50K --trials=3 --tasks=1 @');
        push @{$rate{$_->{mode}}}, $_->{best} for grep { $_->{per} eq 'node' } metrics($run);
    }
    my ($ordered, $aggregated) = map { max @{$rate{$_}} } qw(ordered aggregated);
    cmp_ok $aggregated, '>', 4 * $ordered,
        sprintf 'by %.1f times: %.1f to %.1f MB/s', $aggregated / $ordered, $aggregated, $ordered;
};

done_testing;
