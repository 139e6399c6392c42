#!/usr/bin/perl
#
# mpi_overhead measures: its table is the original's, its record holds the same
# figures for every pair, and what must hold of them holds.

use 5.016;
use strict;
use warnings;

use FindBin;
use Test::More;

use lib $FindBin::Bin;
use Mpi;
use Probe;

my $program = 'smb/mpi_overhead';
plan skip_all => missing($program) if missing($program);

# As users wrote it for the original: a header, then columns split at blanks.
my $awk = <<'END';
$1 == "msgsize" { header = 1; next }
header && NF >= 7 && $1 ~ /^[0-9]+$/ { print $1, $2, $3, $4, $5, $6, $7 }
END
my $seed = <<'END';
msgsize iterations  iter_t      work_t      overhead    base_t      avail(%)
8       1000        4.935       4.451       0.484       2.176       77.8
4194304 100         1779.258    1777.520    1.738       1139.772    99.8
END

sub rows {
    my ($text) = @_;
    open my $file, '>', 'table' or die $!;
    print {$file} $text;
    close $file or die $!;
    my @lines = qx(awk '$awk' table);
    chomp @lines;
    return map { [split] } @lines;
}

# A busy machine may make a size unstable: then it says so, and no figure of it
# is in the record. Everything else must hold.
sub whole {
    my ($run, $what) = @_;
    ok $run->{status} == 0 || $run->{status} == 3, "$what: exit status 0 or 3"
        or diag $run->{err};
    if ($run->{err} =~ /work on rank \d+ is not linear/) {
        diag "$what: the CPUs are too busy for any figure";
        done_testing;
        exit 0;
    }
    my $unstable = () = $run->{err} =~ /warning: unstable: msgsize=/g;
    is $run->{status} == 3, $unstable > 0, '... 3 with what was unstable';
    return;
}

my $run = job(2, $program, '--sizes=0,8,2K,64K -i 100 --plot=plot.svg @');
whole($run, 'a sweep');
my @lines = split /\n/, $run->{out};
is $lines[0], (split /\n/, $seed)[0], 'the header is the original\'s';
is scalar(grep {/^msgsize/} @lines), 1, '... and stands once';
is scalar @lines, 5, 'then a row for each size';
my @rows = rows($run->{out});
is join(',', map { $_->[0] } @rows), '0,8,2048,65536', 'as an awk script reads them';
is_deeply [rows($seed)]->[1],
    [qw(4194304 100 1779.258 1777.520 1.738 1139.772 99.8)],
    '... which reads the original';
for my $line (@lines[1 .. 4]) {
    like $line, qr/^(?=.{8}\S)(?=.{20}\S)(?=.{32}\S)(?=.{44}\S)(?=.{56}\S)(?=.{68}\S)\d+ /,
        'columns stand where they stood';
}

my %note = map { $_->{msgsize} => $_->{note} } map { Assay::Text::split_fields(s/^\S+//r) }
    Probe::lines($run, 'point');
is scalar(keys %note), 4, 'every size has its facts in the record';
for my $row (@rows) {
    my ($size, $iterations, $iter, $work, $overhead, $base, $avail) = @{$row};
    is $iterations, 100, "$size: the iterations asked for";
    my %value = map { $_->{name} => $_ } grep { $_->{msgsize} == $size } metrics($run);
    if ($avail eq 'unstable') {
        is scalar(keys %value), 0, '... unstable: no figure in the record';
        next;
    }
    cmp_ok abs($iter - $work - $overhead), '<=', 0.0021, '... overhead = iter_t - work_t';
    cmp_ok abs(100 * (1 - $overhead / $base) - $avail), '<=', 0.06 + 0.1 / $base,
        '... avail = 100 (1 - overhead / base_t)';
    cmp_ok $iter, '>', 1.3 * $base, '... beyond the knee';
    cmp_ok $avail, '>=', -5, '... an availability that can be';
    cmp_ok $avail, '<=', 105, '... not above 100 %';
    is join(' ', map { sprintf '%.3f', $value{$_}{value} } qw(iter_t work_t overhead base_t)),
        "$iter $work $overhead $base", '... as in the record';
    is sprintf('%.1f', $value{availability}{value}), $avail, '... all of it';
    is $value{iter_t}{shared_node}, 'yes', '... of a pair that shares a node';
    like $value{iter_t}{pair}, qr/^(\S+):\1$/, '... named by its hosts';
    is "$value{iter_t}{ranks} $value{iter_t}{direction} $value{iter_t}{unit} $value{availability}{unit}",
        '0:1 send us %', '... ranks, direction and units';
    my ($row_text) = grep {/^$size /} @lines;
    like $row_text, $note{$size} eq 'none' ? qr/\d$/ : qr/ \Q$note{$size}\E$/, "... note: $note{$size}";
}
my ($opt) = Probe::lines($run, 'opt');
like $opt, qr/ thresh=1\.5 .*ranks=2 nodes=1 /, 'the opt line has options and job';
my @checks = map { Assay::Text::split_fields(s/^\S+//r) } Probe::lines($run, 'check');
is scalar(grep { $_->{name} eq 'data' && $_->{ok} eq 'yes' && $_->{messages} > 2 } @checks), 4,
    'messages were looked at';
my ($linear) = grep { $_->{name} eq 'work.linear' } @checks;
cmp_ok $linear->{error}, '<=', 0.1, 'work is linear';
cmp_ok $linear->{ns_per_unit}, '>', 0.01, '... and has a price';

my $plot = slurp('plot.svg') // q{};
like $plot, qr{\A<svg .*</svg>\n\z}s, 'the plot is SVG';
is scalar(grep {/<path [^>]* stroke-width/} split /\n/, $plot), 3,
    '... of overhead, base_t and availability' if $run->{status} == 0;
cmp_ok scalar(() = $plot =~ /<circle /g), '>=', scalar(() = $plot =~ /<path d='M\S+ \S+' fill/g),
    '... with its points: a line of one point is none';
unlike $plot, qr/\bnan\b|\binf\b|functional only/, '... all of it numbers';
is scalar(() = $plot =~ /<[^\/]/g), scalar(() = $plot =~ m{/>|</}g), '... and well-formed';

# Options of old.
$run = job(2, $program, '-r -n -v -m 1K -i 50 -t 2 -b 1.1 --effort=1 @');
whole($run, 'the original\'s options');
unlike $run->{out}, qr/^msgsize/m, '-n: no header';
my @steps = $run->{out} =~ /^(\d+) +[\d.]+ +[\d.]+$/mg;
is join(',', @steps[0 .. 5]), '1,2,4,8,16,32', '-v: a line for each amount of work';
like $run->{out}, qr/^1024 +50 /m, '-m, -i: the row';
is scalar(grep { $_->{direction} ne 'recv' } metrics($run)), 0, '-r: receives';
like((Probe::lines($run, 'opt'))[0], qr/recv=yes iterations=50 msgsize=1024 thresh=2 bthresh=1\.1 /, 'all in the record');

$run = job(2, $program, '--functional --plot=functional.svg -i 20 @');
like $run->{out}, qr/\A# functional only/, '--functional: it says what it is not';
like slurp('functional.svg') // q{}, qr/>functional only: not the required run</, '... and so does the plot';
like +(Probe::lines($run, 'point'))[0], qr/ functional=yes /, '... and the record';

# More pairs, both directions.
$run = job(4, $program, '--both --pairs --sizes=8 -i 20 --effort=0.5 @');
whole($run, 'two pairs, both directions');
like $run->{err}, qr/warning: 4 ranks on \d+ CPUs? of/, '... on too few CPUs' if `nproc` < 4;
is scalar(() = $run->{out} =~ /^# msgsize 8: \d of 2 pairs$/mg), 2, 'the spread is printed';
is join(' ', $run->{out} =~ /^# direction: (\w+)$/mg), 'send recv', '... of sends, then receives';
my %seen = map { ("$_->{direction} $_->{ranks}" => 1) } map { Assay::Text::split_fields(s/^\S+//r) }
    Probe::lines($run, 'point');
is join(', ', sort keys %seen), 'recv 0:2, recv 1:3, send 0:2, send 1:3', 'every pair is in the record';
ok unique($run, 'metric'), '... under keys of its own';

$run = job(2, $program, '--quiet -i 10 --effort=0.3 @');
is $run->{out}, q{}, '--quiet prints nothing';

done_testing;
