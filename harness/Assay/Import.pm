package Assay::Import;

# The command `assay import`: what an original program printed, as a record.

use 5.016;
use strict;
use warnings;

use Fcntl ();

use Assay::Attempt qw(sha256_file utc);
use Assay::Command qw(options run_command);
use Assay::Ledger;
use Assay::Stats qw(median);
use Assay::Text qw(printable);
use Assay::Units qw(finite_number);

use constant MOST => 16 << 20;    # bytes of a log

my $USAGE = <<'END';
usage: assay import [OPTION...] PROGRAM LOG

Reads what the original of PROGRAM printed and writes a record of it. Rates are
recomputed where the log has bytes and times; where it contradicts itself, the
record has a line `warning'. A log that says nothing of verified data makes a
record without a check, which no clause takes for a measurement: compare it.

PROGRAM is
  manmem         "Dimensions:", "Iteration 0: ... ms"
  mpi_overhead   columns msgsize, iterations, iter_t ...
  msgrate        "single direction: ..." or the one line of -o
  stream         the table of STREAM 5.10

  --host NAME       where it ran (default: imported)
  --pair A:B        the same for mpi_overhead (default: imported-a:imported-b)
  --key KEY=VALUE   a key for every figure, such as arch=gfx90a; may be repeated
  --run N           the Nth run of a log of several (manmem)
  --output FILE     write it there, where nothing is (default: standard output)

Exit status: 0; 2 where LOG can't be read as what PROGRAM prints.
END

# Each gets the log's lines, the keys given and a record to fill.
my %reader = (
    manmem       => \&_manmem,
    mpi_overhead => \&_mpi_overhead,
    msgrate      => \&_msgrate,
    stream       => \&_stream,
);

# Of the parser, for one number and for the keys of a metric line.
my $NUMBER = qr/[0-9]+(?:[.][0-9]*)?(?:[eE][+-]?[0-9]{1,3})?/a;
my $COUNT  = qr/[0-9]{1,18}/a;
my $KEY    = qr/[A-Za-z_][A-Za-z0-9_]{0,40}/a;
my $HOST   = qr/[A-Za-z0-9_][\w.-]{0,200}/a;

sub main { return run_command('import', $USAGE, \&_import, @_) }

sub _import {
    my @arguments = @_;

    my %given = (host => 'imported', pair => 'imported-a:imported-b', key => []);
    options(\@arguments, \%given, 'host=s', 'pair=s', 'key=s@', 'run=s', 'output=s');
    die "a program and a log (assay import --help)\n" if @arguments != 2;
    my ($program, $log) = @arguments;
    my $reader = $reader{$program}
        or die "'$program': no reader for it (there are: @{[sort keys %reader]})\n";
    die "--host: '$given{host}' is no host's name\n" if $given{host} !~ /\A$HOST\z/;
    die "--pair: '$given{pair}' is not A:B\n" if $given{pair} !~ /\A$HOST:$HOST\z/;
    die "--run: '$given{run}' is no number from 1 up\n"
        if defined $given{run} && $given{run} !~ /\A[1-9][0-9]{0,5}\z/;
    my @keys = map {
        /\A($KEY)=(.{1,200})\z/ ? ($1, $2) : die "--key: '$_' is not KEY=VALUE\n"
    } @{$given{key}};
    my %record = (given => \%given, keys => \@keys, lines => [], warnings => [], log => $log);
    $reader->(\%record, _lines($log));
    die "$log: nothing in it that $program prints\n" if !@{$record{lines}};
    _write(\%record, $program);
    return 0;
}

sub _lines {
    my ($file) = @_;

    die "$file: no plain file\n" if !-f $file;
    die "$file: more than ", MOST >> 20, " MiB\n" if -s _ > MOST;
    open my $in, '<:raw', $file or die "$file: $!\n";
    my $text = do { local $/ = undef; <$in> } // q{};
    $text =~ s/\r\n/\n/g;
    return map {s/\s+\z//r} split /\n/, $text;
}

# A metric line: its figures, then where and of what.
sub _metric {
    my ($record, $name, $value, $unit, @keys) = @_;

    die "$record->{log}: $name: no finite number: '$value'\n"
        if !defined finite_number($value);
    my @where = (host => $record->{given}{host});
    @where = @{$record->{where}} if $record->{where};
    push @{$record->{lines}}, Assay::Ledger::format_line('metric',
        name => $name, value => $value, unit => $unit, @where, _once(@keys, @{$record->{keys}}));
    return;
}

# Keys of which the last of a name counts.
sub _once {
    my @pairs = @_;

    my (%value, @order);
    while (my ($key, $value) = splice @pairs, 0, 2) {
        push @order, $key if !exists $value{$key};
        $value{$key} = $value;
    }
    return map { ($_ => $value{$_}) } @order;
}

sub _warn {
    my ($record, $text) = @_;

    push @{$record->{warnings}}, $text;
    return;
}

# Whether two figures differ by more than a share, and more than so much.
sub _differ {
    my ($one, $two, $share, $least) = @_;

    my $size = abs $one > abs $two ? abs $one : abs $two;
    return abs($one - $two) > $share * $size + ($least // 0);
}

sub _write {
    my ($record, $program) = @_;

    my $output = $record->{given}{output};
    my $text = Assay::Ledger::format_line('record', version => 1, bench => $program,
        program => 'assay import', time => utc(), imported => 'yes',
        log => $record->{log}, log_sha256 => sha256_file($record->{log}));
    $text .= Assay::Ledger::format_line('warning', text => $_) for @{$record->{warnings}};
    $text .= join q{}, @{$record->{checks} // []}, @{$record->{lines}};
    $text .= Assay::Ledger::format_line('end', @{$record->{end} // [status => 'ok']});
    print {*STDERR} 'assay import: ', printable("$record->{log}: $_"), "\n"
        for @{$record->{warnings}};
    if (!defined $output) {
        print $text or die "can't write: $!\n";
        return;
    }
    sysopen my $out, $output, Fcntl::O_WRONLY() | Fcntl::O_CREAT() | Fcntl::O_EXCL()
        or die "$output: $!\n";
    my $ok = print {$out} $text;
    die "$output: $!\n" if !close $out || !$ok;
    return;
}

##
# manmem
##

sub _manmem {
    my ($record, @lines) = @_;

    my @runs;
    for my $line (@lines) {
        push @runs, {} if $line =~ /\ADimensions:/;
        my $run = $runs[-1] or next;
        _manmem_line($run, $line);
    }
    my $number = $record->{given}{run};
    die "$record->{log}: " . @runs . " runs: which? (--run N)\n"
        if @runs > 1 && !defined $number;
    my $run = $runs[($number // 1) - 1];
    die "$record->{log}: no run $number: there are " . @runs . "\n"
        if !$run && defined $number;
    return if !$run || !@{$run->{times} // []};
    die "$record->{log}: it does not say how many bytes\n" if !$run->{bytes};
    _manmem_record($record, $run);
    return;
}

sub _manmem_line {
    my ($run, $line) = @_;

    if ($line =~ /\ADimensions: ($COUNT), ($COUNT), ($COUNT)\z/) {
        $run->{dimensions} = [$1, $2, $3];
    }
    elsif ($line =~ /\AStarting source data generation to \S+ \(0x([0-9a-f]{1,16}) bytes\)/) {
        $run->{bytes} = _hex($1);
    }
    elsif ($line =~ /\ASource number generation took ($NUMBER) ms/) {
        $run->{fill} = $1;
    }
    elsif ($line =~ m{\AIteration ($COUNT): ($NUMBER) ms \(($NUMBER) G(?:i)?B/s\)}) {
        push @{$run->{times}}, [$1, $2, $3];
    }
    return;
}

# hex() warns above 32 bits.
sub _hex {
    my ($digits) = @_;

    my $number = 0;
    $number = 16 * $number + index '0123456789abcdef', $_ for split //, $digits;
    return $number;
}

sub _manmem_record {
    my ($record, $run) = @_;

    my ($bytes, $times) = @{$run}{qw(bytes times)};
    my $dimensions = $run->{dimensions} // [];
    for my $i (0 .. $#{$times}) {
        die "$record->{log}: iteration $i is not there\n" if $times->[$i][0] != $i;
    }
    my @keys = (device => 0, bytes => sprintf('%.0f', $bytes), type => _manmem_type($run),
        access => 'consecutive', advise => 'none', prefetch => 'no',
        iterations => scalar @{$times}, at_once => 1);
    push @keys, dimensions => join q{,}, @{$dimensions} if @{$dimensions};
    _manmem_doubts($record, $run);
    my $rate = sub { sprintf '%.9g', $bytes / $_[0] * 1e-6 };
    _metric($record, 'fill', $rate->($run->{fill}), 'GB/s', @keys)
        if defined $run->{fill} && $run->{fill} > 0;
    for my $time (@{$times}) {
        _metric($record, 'iteration', $time->[1], 'ms', @keys, iteration => $time->[0]);
    }
    my @ms = map { $_->[1] } @{$times};
    die "$record->{log}: an iteration took no time\n" if grep { $_ <= 0 } @ms;
    _metric($record, 'cold', $rate->($ms[0]), 'GB/s', @keys);
    return if @ms <= 3;
    my $half = int(@ms / 2);
    my $steady = median(@ms[$half .. $#ms]);
    my ($converged) = grep { $ms[$_] <= 1.1 * $steady } 0 .. $#ms;
    if ($converged > $half) {
        _warn($record, "not steady: iteration $converged of " . @ms
                . " was the first within 10 % of the last half's median");
        return;
    }
    my $lost = 0;
    $lost += $_ - $steady for @ms[0 .. $converged - 1];
    _metric($record, 'steady', $rate->($steady), 'GB/s', @keys);
    _metric($record, 'converged', $converged, 'iterations', @keys);
    _metric($record, 'migrated', $rate->($lost), 'GB/s', @keys) if $lost > 0;
    return;
}

# The log does not name it: float, unless the bytes are those of doubles.
sub _manmem_type {
    my ($run) = @_;

    my @d = @{$run->{dimensions} // []} or return 'float';
    return $run->{bytes} == $d[0] * $d[1] * $d[2] * 8 ? 'double' : 'float';
}

# What of the log can't be true together.
sub _manmem_doubts {
    my ($record, $run) = @_;

    my $bytes = $run->{bytes};
    if (my @d = @{$run->{dimensions} // []}) {
        my $product = $d[0] * $d[1] * $d[2] * 4;
        _warn($record, sprintf 'dimensions %s of float are %.0f bytes, but it prints %.0f:'
                . ' rates count what it prints', join(' x ', @d), $product, $bytes)
            if $product != $bytes && _manmem_type($run) eq 'float';
    }
    for my $time (@{$run->{times}}) {
        my ($number, $ms, $said) = @{$time};
        next if $ms <= 0;
        my $rate = $bytes / $ms * 1e-6;
        _warn($record, sprintf 'iteration %s: prints %s GB/s, but its bytes and time are %.6g',
            $number, $said, $rate)
            if _differ($said, $rate, 0.0005 / $ms + 1e-6, 0.001);
    }
    return;
}

##
# mpi_overhead
##

sub _mpi_overhead {
    my ($record, @lines) = @_;

    my @names = qw(iter_t work_t overhead base_t availability);
    my $signed = qr/-?$NUMBER/;
    $record->{where} = [pair => $record->{given}{pair}];
    for my $line (@lines) {
        my ($size, $iterations, @figures) = $line
            =~ /\A\s*($COUNT)\s+($COUNT)\s+($signed)\s+($signed)\s+($signed)\s+($signed)\s+($signed)\z/
            or next;
        my @keys = (msgsize => $size, direction => 'send', iterations => $iterations);
        for my $i (0 .. $#names) {
            _metric($record, $names[$i], $figures[$i], $i < 4 ? 'us' : q{%}, @keys);
        }
        my ($iter, $work, $overhead, $base, $avail) = @figures;
        _warn($record, "msgsize $size: overhead $overhead is not iter_t $iter - work_t $work")
            if _differ($overhead, $iter - $work, 0, 0.0021);
        _warn($record, "msgsize $size: avail $avail is not 100 x (1 - overhead / base_t)")
            if $base > 0 && _differ($avail, 100 * (1 - $overhead / $base), 0,
            0.06 + 0.1 / $base);
        _warn($record, "msgsize $size: an availability of $avail % is none")
            if $avail < -25 || $avail > 110;
    }
    return;
}

##
# msgrate
##

my %RATE = (
    'single direction' => 'single_direction',
    'pair-based'       => 'pair_based',
    'pre-post'         => 'pre_post',
    'all-start'        => 'all_start',
);
my @FACTS = ('job size', 'npeers', 'niters', 'nmsgs', 'nbytes', 'cache size', 'ppn');

sub _msgrate {
    my ($record, @lines) = @_;

    my %fact;
    my $names = join q{|}, keys %RATE;
    my $facts = join q{|}, @FACTS;
    my $columns = join '\s+', ("($COUNT)") x 7, ("($NUMBER)") x 4;
    for my $line (@lines) {
        if ($line =~ /\A\s*$columns\z/) {
            my @row = ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11);
            my @keys = _msgrate_keys($record, map { ($FACTS[$_] => $row[$_]) } 0 .. 6);
            my @rates = qw(single_direction pair_based pre_post all_start);
            _metric($record, $rates[$_], $row[7 + $_], 'msg/s', @keys) for 0 .. 3;
        }
        elsif ($line =~ /\A($facts):\s+($COUNT)\z/) {
            $fact{$1} = $2;
        }
        elsif ($line =~ /\A\s*($names):\s+($NUMBER)\z/) {
            _metric($record, $RATE{$1}, $2, 'msg/s', _msgrate_keys($record, %fact));
        }
    }
    return;
}

sub _msgrate_keys {
    my ($record, %fact) = @_;

    for my $name (@FACTS) {
        die "$record->{log}: it does not say '$name'\n" if !defined $fact{$name};
    }
    my ($ranks, $ppn) = @fact{'job size', 'ppn'};
    _warn($record, "job size $ranks is no multiple of ppn $ppn")
        if $ppn == 0 || $ranks % $ppn;
    return (msgsize => $fact{nbytes}, npeers => $fact{npeers}, nmsgs => $fact{nmsgs},
        cache => $fact{'cache size'}, ranks => $ranks, ppn => $ppn,
        $ppn && $ranks % $ppn == 0 ? (nodes => $ranks / $ppn) : (), per => 'rank');
}

##
# stream
##

sub _stream {
    my ($record, @lines) = @_;

    my (%fact, @rows);
    my $runs = grep {/\AArray size = /} @lines;
    die "$record->{log}: $runs runs: one log for each\n" if $runs > 1;
    for my $line (@lines) {
        $fact{elements} = $1 if $line =~ /\AArray size = ($COUNT) \(elements\)/;
        $fact{threads} = $1 if $line =~ /\ANumber of Threads counted = ($COUNT)\z/;
        $fact{repetitions} = $1 if $line =~ /\AEach kernel will be executed ($COUNT) times/;
        push @rows, [lc $1, $2, $3, $4, $5] if $line
            =~ /\A(Copy|Scale|Add|Triad):\s+($NUMBER)\s+($NUMBER)\s+($NUMBER)\s+($NUMBER)\z/;
        _stream_check($record, $line);
    }
    my @keys = map { defined $fact{$_} ? ($_ => $fact{$_}) : () } qw(elements threads);
    for my $row (@rows) {
        my ($kernel, $best, undef, $min, $max) = @{$row};
        my $rate = _stream_rate($record, $fact{elements}, $row);
        _metric($record, $kernel, $rate, 'MB/s', @keys, type => 'double', write_allocate => 'no');
        _warn($record, "$kernel: the longest time, $max, is shorter than the shortest, $min")
            if $max < $min;
    }
    return;
}

# The rate that it prints; where its bytes and least time are another, the lower.
sub _stream_rate {
    my ($record, $elements, $row) = @_;

    my ($kernel, $best, undef, $min) = @{$row};
    return $best if !defined $elements || $min <= 0;
    my $rate = $elements * ($kernel =~ /add|triad/ ? 24 : 16) / $min * 1e-6;
    return $best if !_differ($best, $rate, 1e-6 / $min + 1e-4, 0.1);
    _warn($record, sprintf '%s: prints %s MB/s, but its bytes and least time are %.6g',
        $kernel, $best, $rate);
    return $best < $rate ? $best : sprintf '%.6g', $rate;
}

# Its own verdict on its data.
sub _stream_check {
    my ($record, $line) = @_;

    my ($ok) = $line =~ /\ASolution Validates/ ? 'yes'
        : $line =~ /\AFailed Validation/       ? 'no' : return;
    push @{$record->{checks}}, Assay::Ledger::format_line('check',
        name => 'validation', ok => $ok, why => 'as the log says');
    $record->{end} = [status => 'wrong', reason => "the log says: $line"] if $ok eq 'no';
    return;
}

1;

__END__

=head1 NAME

Assay::Import - the command `assay import`

=head1 SYNOPSIS

    assay import --host mi210 --key backend=hip manmem hip.log >hip.record
    assay compare hip.record scale.record

=head1 DESCRIPTION

One reader for each program. A log is hostile: numbers and counts are matched
whole, names never taken for code, and what is no line of the program is passed
over.

=cut
