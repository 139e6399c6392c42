#!/usr/bin/perl
#
# What msgrate refuses: bad words, jobs of the wrong shape, more memory than
# there is, and processes that each believe to be alone. Always in one line, with
# the right status, on all ranks.

use 5.016;
use strict;
use warnings;

use FindBin;
use Test::More;

use lib $FindBin::Bin;
use Mpi;
use Probe;

plan skip_all => missing('smb/msgrate') if missing('smb/msgrate');

# One line of msgrate's own; the launchers have more to say.
sub refused {
    my ($run, $status, $why, $what) = @_;

    is $run->{status}, $status, "$what: exit status $status" or diag $run->{err};
    my @own = grep { /^msgrate:/ && !/warning:/ } split /\n/, $run->{err};
    is scalar @own, 1, '... one line' or diag $run->{err};
    like $own[0] // q{}, $why, '... that says why';
    return;
}

subtest 'words' => sub {
    my %bad = (
        '-i 0'          => qr/-i: '0'/,
        '-i many'       => qr/-i: 'many'/,
        '-p 0'          => qr/-p: '0'/,
        '-n 0'          => qr/-n: '0'/,
        '-m 1x'         => qr/-m: '1x'/,
        '-s -1'         => qr/-s: '-1'/,
        '-s 2G'         => qr/-s: '2G'/,
        '-x'            => qr/-x/,
        'word'          => qr/word/,
    );
    for my $options (sort keys %bad) {
        refused(alone('smb/msgrate', $options), 2, $bad{$options}, "'$options'");
    }
    my $run = alone('smb/msgrate', '--help');
    is $run->{status}, 0, '--help exits 0, without a launcher';
    is scalar(grep { length > 80 } split /\n/, $run->{out}), 0, '... in 80 columns';
    like $run->{out}, qr/default: 4096.*default: 8388608/s, '... with live defaults';
    my @options = $run->{out} =~ /^  (?:-\w,|   ) --([a-z-]+)/mg;
    my $manual = slurp(source('doc/msgrate.1'));
    is join(q{ }, grep { $manual !~ /^\.It .*Fl -\Q$_\E\b/m && !/^(?:help|version)$/ } @options),
        q{}, 'each option is in the manual';
};

subtest 'jobs' => sub {
    my @bad = (
        [2, q{},              2, qr/all 2 ranks are on one node \(.*--functional/],
        [2, '--functional',   2, qr/-p 6: 6 distinct peers .* 7 nodes, and there are 2/],
        [2, '--functional -p 1 -n 3', 2, qr/-n 3: 2 ranks can't be cut/],
        [2, '--functional -n 2', 2, qr/-p 6: all 2 ranks are on one node/],
        [2, '--functional -p 1 -c 3', 2, qr/-c '3': neither llc nor/],
        [2, '--functional -p 26 -s 16M --repeat-peers', 99,
            qr/16\.0 MiB x 128 messages x 26 peers x 2 .* 104\.0 GiB a rank/],
    );
    my @runs = jobs_at_once(map { [$_->[0], 'smb/msgrate', $_->[1]] } @bad);
    for my $bad (@bad) {
        my (undef, $options, $status, $why) = @{$bad};
        refused(shift @runs, $status, $why, "'$options'");
    }
};

subtest 'singletons' => sub {
    refused(alone('smb/msgrate', q{}), 2, qr/1 found, 2 or more needed/,
        'no launcher');
    refused(
        alone('smb/msgrate', '--functional', 'PMI_SIZE=4 PMI_RANK=0 PMI_ID=0'),
        99, qr/job of 1 rank, the launcher says 4 \(PMI_SIZE\)/,
        'a launcher of another library') if library() =~ /\AOpen MPI/;
    my ($other) = library() =~ /\AOpen MPI/ ? 'mpirun.mpich' : 'mpirun.openmpi';
    SKIP: {
        skip "no $other", 3 if !grep { -x "$_/$other" } split /:/, $ENV{PATH};
        my $run = alone('smb/msgrate', '-p 1 --functional', "timeout 30 $other -n 2");
        isnt $run->{status}, 0, "$other: no job";
        unlike $run->{out}, qr/job size/, '... and no result';
        like $run->{err}, qr/1 rank, the launcher says 2|unable to|Unreachable|error/i,
            '... which is said';
    }
};

done_testing;
