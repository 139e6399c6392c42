#!/usr/bin/perl
#
# msgrate as its users know it: the layout, the one line, the columns that their
# scripts read; and the record behind it, held to its references.

use 5.016;
use strict;
use warnings;

use FindBin;
use Test::More;

use lib $FindBin::Bin;
use Mpi;
use Probe;

plan skip_all => missing('smb/msgrate') if missing('smb/msgrate');

my @PATTERNS = qw(single_direction pair_based pre_post all_start);
my $FEW = '-i 16 -c 4096 --functional';

# Exit status of the judge, with its output.
sub judged {
    my ($run, $reference) = @_;

    open my $file, '>:raw', 'msgrate.record' or die;
    print {$file} $run->{record};
    close $file or die;
    my ($assay, $file_of) = (program('harness/assay'), source("reference/$reference"));
    my $out = qx{$^X '$assay' judge --reference '$file_of' msgrate.record 2>&1};
    unlink 'msgrate.record';
    return ($? >> 8, $out);
}

subtest 'the layout' => sub {
    my $run = job(2, 'smb/msgrate', "-p 1 $FEW \@");
    is $run->{status}, 0, 'a functional job is valid' or diag $run->{err};
    my @lines = grep { !/^#/ } split /\n/, $run->{out};
    my $number = qr/\d+\.\d\d/;
    my @layout = (
        qr/\Ajob size:   2\z/,       qr/\Anpeers:     1\z/,
        qr/\Aniters:     16\z/,      qr/\Anmsgs:      128\z/,
        qr/\Anbytes:     8\z/,       qr/\Acache size: 4096\z/,
        qr/\Appn:        1\z/,       qr/\Asingle direction: $number\z/,
        qr/\Apair-based: $number\z/, qr/\A  pre-post: $number\z/,
        qr/\A all-start: $number\z/,
    );
    is scalar @lines, scalar @layout, 'the lines of the original, and no other';
    like $lines[$_], $layout[$_], "line $_" for 0 .. $#layout;

    # A script that was written for the original's output.
    open my $out, '>', 'layout' or die;
    print {$out} $run->{out};
    close $out or die;
    my @read = split q{ }, qx{awk -F: '/single direction|pair-based|pre-post|all-start/ { printf "%s ", \$2 }' layout};
    is scalar @read, 4, 'an awk script for the original finds four rates';
    my %value = map { ($_->{name} => $_->{value}) }
        grep { $_->{per} eq 'rank' } metrics($run);
    is_deeply \@read, [map { sprintf '%.2f', $value{$_} } @PATTERNS],
        '... which are those of the record';

    like $run->{out}, qr/\A# functional only/, 'it says what it is not';
    like $run->{err}, qr/warning: peers share a node/, '... and why';
    like $run->{err}, qr/warning: -c: 4\.0 KiB are invalidated, and a rank's share/,
        'a cache that stays warm is a warning';
    check_record($run);
};

sub check_record {
    my ($run) = @_;

    is verdict($run), 'good', 'the record is whole';
    my @metrics = metrics($run);
    is scalar @metrics, 12, 'four rates: of a rank, the node, the job';
    ok unique($run, 'metric'), '... no two with the same keys';
    is scalar(grep { $_->{functional} ne 'yes' } @metrics), 0,
        '... each marked functional';
    is scalar(grep { $_->{unit} ne 'msg/s' || $_->{n} != 16 } @metrics), 0,
        '... with 16 samples in msg/s';
    for my $name (@PATTERNS) {
        my %per = map { ($_->{per} => $_) } metrics($run, $name);
        cmp_ok abs($per{job}{value} / $per{rank}{value} - 2), '<', 1e-9,
            "$name: the job has two ranks";
        is $per{node}{value}, $per{job}{value}, '... both on this node';
        ok $per{rank}{min} <= $per{rank}{value}
            && $per{rank}{value} <= $per{rank}{max},
            '... the mean lies within its samples';
    }
    my ($sample) = grep {/name=pair_based .*per=rank/} Probe::lines($run, 'sample');
    my ($values) = $sample =~ /values=(\S+)/;
    my $time = 0;
    $time += 1 / $_ for split /,/, $values;
    my ($rate) = grep { $_->{per} eq 'rank' } metrics($run, 'pair_based');
    cmp_ok abs(16 / $time / $rate->{value} - 1), '<', 1e-9,
        'count / mean time is what the samples give';

    my ($status, $out) = judged($run, 'functional/msgrate.ref');
    is $status, 0, 'reference/functional takes it' or diag $out;
    ($status, $out) = judged($run, 'any-machine.ref');
    isnt $status, 0, 'any-machine.ref does not';
    ($status, $out) = judged($run, 'sandia-smb/msgrate.ref');
    isnt $status, 0, '... nor does a system that was promised';
    return;
}

subtest 'one line, odd jobs' => sub {
    my $run = job(3, 'smb/msgrate', "-p 1 -o -s 1K $FEW \@");
    is $run->{status}, 0, 'three ranks' or diag $run->{err};
    like $run->{out},
        qr/\A3 1 16 128 1024 4096 1(?: \d+\.\d\d){4} functional\n\z/,
        'size npeers niters nmsgs nbytes cache ppn, and four rates';
    my ($single) = grep { $_->{per} eq 'job' } metrics($run, 'single_direction');
    my ($each) = grep { $_->{per} eq 'rank' } metrics($run, 'single_direction');
    cmp_ok abs($single->{value} / $each->{value} - 2), '<', 1e-9,
        'the third has no partner, and does not count';
    my ($pairs) = grep { $_->{per} eq 'job' } metrics($run, 'pair_based');
    ($each) = grep { $_->{per} eq 'rank' } metrics($run, 'pair_based');
    cmp_ok abs($pairs->{value} / $each->{value} - 3), '<', 1e-9,
        '... but has peers like the others';

    $run = job(2, 'smb/msgrate', '-p 26 --repeat-peers -n 1 --functional'
        . ' --sizes=0,1,1000 -m 16 -i 2 -c llc @');
    is $run->{status}, 0, '26 peers on two nodes, 0 to 1000 bytes'
        or diag $run->{err};
    is scalar(my @found = $run->{out} =~ /^Message size is (?:0|1|1000)$/mg),
        3, '... each size with its heading';
    is scalar(grep { $_->{npeers} == 26 } metrics($run)), 36, '... and its rates';
    unlike $run->{err}, qr/stays warm/, '-c llc takes the whole share';
    my ($opt) = Probe::line($run, 'opt');
    is $opt->{cache_bytes}, $opt->{cache_share}, '... as the record says';
    $run = job(2, 'smb/msgrate', '-p 1 -s 16M -m 1 -i 1 -c 4 -o --functional');
    is $run->{status}, 0, '16 MiB' or diag $run->{err};
};

subtest 'until' => sub {
    my $run = job(2, 'smb/msgrate',
        '-p 1 -i 5000 -c 4096 --functional --until=100% --quiet @');
    is $run->{status}, 0, 'an interval of 100 % is soon there' or diag $run->{err};
    is $run->{out}, q{}, '--quiet prints nothing';
    my @checks = map { /iterations=(\d+)/ } Probe::lines($run, 'check');
    is scalar @checks, 4, 'four patterns are checked';
    my ($fewest) = sort { $a <=> $b } @checks;
    cmp_ok $fewest, '<', 2500, '... not all ran to the end';
    cmp_ok $fewest, '>', 6 * 20, '... none with fewer than six samples';
    is Probe::line($run, 'opt')->{adaptive}, 'yes', '... and the record says why';
    $run = job(2, 'smb/msgrate', '-p 1 -i 3 -c 4096 --functional --until=0.001%');
    like $run->{err}, qr/after 3 iterations the interval .* wider than 0\.001%/,
        'where it is not reached, that is said';
};

done_testing;
