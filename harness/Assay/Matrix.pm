package Assay::Matrix;

# The command `assay matrix`: what run_commbw measured in the ten configurations
# of the dual-rail study, as one table.

use 5.016;
use strict;
use warnings;

use Assay::Command qw(absolute options run_command);
use Assay::Results;
use Assay::RunScript qw(annotate);
use Assay::Stats qw(median);
use Assay::Text qw(printable split_fields);
use Assay::Units qw(dimension finite_number scale);

my $USAGE = <<'END';
usage: assay matrix [--tap [--strict]] DIR

DIR is a campaign in which run_commbw ran. Print its table: one column for each
configuration, one row for each benchmark; figures are medians over the valid
attempts of what the programs found to be that configuration. What is none says
why, below.

--tap     print the verdicts of the judge, with the table as comments
--strict  what could not run is a failure

Exit status: 0, with --tap that of assay judge; 2 for a usage error.
END

# The study's columns; `any`: it does not say.
my @COLUMNS = map {
    my ($colocales, $confined, $nics, $share, $pshm) = split q{ };
    +{  colocales => $colocales,
        confined  => $confined,
        nics      => $nics,
        nic_share => $share,
        pshm      => $pshm
    }
} (
    '1 no 1 own no',
    '1 no 2 own no',
    '1 yes 1 own no',
    '1 yes 2 own no',
    '2 any 1 shared no',
    '2 any 2 own no',
    '2 any 2 shared no',
    '2 any 1 shared yes',
    '2 any 2 own yes',
    '2 any 2 shared yes'
);

# The rows: of which lines the figure is, in which unit, and which keys must be
# the column's: no byte of stream's goes from rank to rank.
my @PLACE = qw(colocales confined);
my @ALL = (@PLACE, qw(nics nic_share pshm));
my @ROWS = (
    {   label     => 'stream triad, a node',
        benchmark => 'stream',
        metric    => 'triad',
        unit      => 'GB/s',
        keys      => \@PLACE
    },
    {   label     => 'PUT',
        benchmark => 'simpleBandwidth',
        metric    => 'put',
        unit      => 'GB/s',
        keys      => \@ALL
    },
    {   label     => 'GET',
        benchmark => 'simpleBandwidth',
        metric    => 'get',
        unit      => 'GB/s',
        keys      => \@ALL
    },
    {   label     => 'indexgather, rank 0\'s node',
        benchmark => 'indexgather',
        metric    => 'rate',
        where     => {per => 'node'},
        unit      => 'GB/s',
        keys      => \@ALL
    },
    {   label     => 'ra-rmo, the job',
        benchmark => 'ra',
        metric    => 'gups',
        where     => {per => 'job', mode => 'rmo'},
        unit      => 'GUPS',
        keys      => \@ALL
    },
);

sub main { return run_command('matrix', $USAGE, \&_command, @_) }

sub _command {
    my @arguments = @_;

    options(\@arguments, \my %given, 'tap', 'strict');
    die "which campaign? (assay matrix --help)\n" if @arguments != 1;
    die "--strict: only with --tap\n" if $given{strict} && !$given{tap};
    return _show(Assay::Results->view(absolute($arguments[0])), \%given);
}

sub _show {
    my ($results, $given) = @_;

    my @attempts = $results->attempts('run_commbw');
    die "$results->{folder}: run_commbw made no attempt here\n" if !@attempts;
    my @lines = map { printable($_) } matrix(map { _read($results->{folder}, $_) } @attempts);
    if (!$given->{tap}) {
        print map {"$_\n"} @lines;
        return 0;
    }
    my ($status, $tap) = $results->judge(
        strict  => $given->{strict},
        scripts => ['run_commbw']
    );
    print annotate($tap, "results: $results->{folder}", @lines);
    return $status;
}

##
# The attempts
##

# What one attempt has to say: its column and benchmark, how it ended, and its
# lines.
sub _read {
    my ($folder, $attempt) = @_;

    my $options = $attempt->{options} // q{};
    my ($column) = $options =~ /(?:\A| )--column=(\d+)(?: |\z)/a;
    my ($benchmark) = $options =~ /(?:\A| )--benchmark=(\w+)(?: |\z)/a;
    my %read = (
        column    => $column // 0,
        benchmark => $benchmark // q{},
        status    => $attempt->{status},
        reason    => $attempt->{reason} // q{},
        metrics   => [],
        traffic   => [],
    );
    return \%read if $read{status} ne 'valid';
    open my $in, '<:raw', "$folder/$attempt->{record}"
        or die "$attempt->{record}: $!\n";
    while (defined(my $line = <$in>)) {
        my ($kind, $rest) = $line =~ /\A(metric|traffic)( .*)\n/ or next;
        my ($fields) = split_fields($rest);
        push @{$read{$kind eq 'metric' ? 'metrics' : $kind}}, $fields if $fields;
    }
    close $in or die "$attempt->{record}: $!\n";
    return \%read;
}

##
# The table
##

# matrix(ATTEMPT...): its lines, and behind them why cells have no figure.
sub matrix {
    my @attempts = @_;

    my (@notes, %number);
    my @body;
    for my $row (@ROWS) {
        my @cells;
        for my $column (1 .. @COLUMNS) {
            my @mine = grep {
                $_->{column} == $column && $_->{benchmark} eq $row->{benchmark}
            } @attempts;
            my ($text, $why) = _cell($row, $COLUMNS[$column - 1], @mine);
            if (defined $why) {
                push @notes, $why if !$number{$why};
                $number{$why} ||= @notes;
                $text .= "[$number{$why}]";
            }
            push @cells, $text;
        }
        push @body, ["$row->{label}, $row->{unit}", @cells];
    }
    my @lines = _layout(_head(), @body);
    push @lines, '1s: confined to one socket; 2s: both interfaces for all ranks; -: not run'
        . (grep({/\df\b/} map { @{$_} } @body) ? '; f: a functional run' : q{});
    push @lines, map { sprintf '[%d] %s', $_ + 1, $notes[$_] } 0 .. $#notes;
    return @lines;
}

# The study's own heading.
sub _head {
    my %confined = (yes => 's', no => q{}, any => q{});

    return (
        ['Column',     1 .. @COLUMNS],
        ['Co-locales', map { $_->{colocales} . $confined{$_->{confined}} } @COLUMNS],
        [   'NICs', map {
                $_->{nics} . ($_->{nics} > 1 && $_->{nic_share} eq 'shared' ? 's' : q{})
            } @COLUMNS
        ],
        ['PSHM', map { $_->{pshm} } @COLUMNS]
    );
}

# The text of a cell, and why it is no figure.
sub _cell {
    my ($row, $column, @attempts) = @_;

    return q{-} if !@attempts;
    my %of;
    push @{$of{$_->{status}}}, $_ for @attempts;
    return ('INVALID', $of{wrong}[0]{reason}) if $of{wrong};
    my (@values, $why, $functional);
    for my $attempt (@{$of{valid} // []}) {
        my ($value, $reason, $marked) = _figure($row, $column, $attempt);
        push @values, $value if defined $value;
        $why //= $reason;
        $functional ||= $marked;
    }
    return ('NOTRUN', $why) if defined $why;
    if (@values) {
        return (sprintf('%.3g', median(@values)) . ($functional ? 'f' : q{}));
    }
    return ('NOTRUN', $of{notrun}[0]{reason}) if $of{notrun};
    return ('INVALID', $attempts[0]{reason});
}

# The figure of an attempt, in the row's unit; or undef and why it is not one of
# this configuration; and whether it is functional only.
sub _figure {
    my ($row, $column, $attempt) = @_;
    my $where = $row->{where} // {};

    my @lines = grep {
        my $line = $_;
        ($line->{name} // q{}) eq $row->{metric}
            && !grep { ($line->{$_} // q{}) ne $where->{$_} } keys %{$where}
    } @{$attempt->{metrics}};
    return (undef, "no line of $row->{metric} in the record") if !@lines;
    my ($job) = grep { ($_->{per} // q{}) eq 'job' } @lines;
    @lines = ($job) if $job;
    return (undef, "a line of $row->{metric} without a number in $row->{unit} or its like")
        if grep { !_is_number($_, dimension($row->{unit})) } @lines;
    my ($line) = sort { $a->{value} <=> $b->{value} } @lines;
    my $value = $line->{value} * scale($line->{unit}) / scale($row->{unit});
    my @other = grep { $column->{$_} ne 'any' && ($line->{$_} // 'none') ne $column->{$_} }
        @{$row->{keys}};
    my $less = _lesser($row, $column, $attempt);
    return (undef, sprintf 'asked for nics=%s; while it was measured, %s carried its bytes: %.3g %s',
        $column->{nics}, $less, $value, $row->{unit}) if !@other && $less;
    return ($value, undef, defined $line->{functional}) if !@other;
    my ($asked, $found) = map {
        my $from = $_;
        join q{ }, map { "$_=" . ($from->{$_} // 'none') } @other
    } $column, $line;
    return (undef, sprintf 'asked for %s; %s is what the counters say (%s), and %.3g %s is of that',
        $asked, $found, _carriers($attempt), $value, $row->{unit});
}

sub _is_number {
    my ($line, $dimension) = @_;

    return defined finite_number($line->{value} // q{})
        && (dimension($line->{unit} // q{}) // q{}) eq $dimension;
}

# What large blocks can do, small ones need not: where a node's bytes went over
# fewer interfaces than the column has, those that carried them.
sub _lesser {
    my ($row, $column, $attempt) = @_;

    return if !grep { $_ eq 'nics' } @{$row->{keys}};
    my %of = _carried($attempt);
    my $few = grep { @{$_} < $column->{nics} } values %of;
    # Where each rank has its own, that of a rank beside the one that gathers may
    # be idle: there is none on the other node.
    my $idle = $row->{benchmark} eq 'indexgather' && $column->{colocales} > 1
        && $column->{nic_share} eq 'own';
    return if %of && $few < ($idle ? keys %of : 1);
    return _carriers($attempt);
}

# The interfaces that carried most of what a node sent and received, by node.
sub _carried {
    my ($attempt) = @_;

    my %bytes;
    my @keys = qw(host interface sent received);
    my @lines = grep {
        my $line = $_;
        !grep({ !defined $line->{$_} } @keys) && "$line->{sent} $line->{received}" =~ /\A\d+ \d+\z/a
    } @{$attempt->{traffic}};
    for my $line (grep { $_->{interface} ne 'lo' } @lines) {
        $bytes{$line->{host}}{$line->{interface}} += $line->{sent} + $line->{received};
    }
    my %of;
    for my $host (keys %bytes) {
        my ($most) = sort { $b <=> $a } values %{$bytes{$host}};
        $of{$host} = [grep { $bytes{$host}{$_} > $most / 10 } sort keys %{$bytes{$host}}];
    }
    return %of;
}

# The same as words: "n1:rail1 n2:rail1".
sub _carriers {
    my ($attempt) = @_;

    my %of = _carried($attempt);
    my @texts = map { my $host = $_; map {"$host:$_"} @{$of{$host}} } sort keys %of;
    return @texts ? join q{ }, @texts : 'no interface';
}

# Columns as wide as their widest cell.
sub _layout {
    my @rows = @_;

    my @width;
    for my $row (@rows) {
        for my $i (0 .. $#{$row}) {
            my $length = length $row->[$i];
            $width[$i] = $length if $length > ($width[$i] // 0);
        }
    }
    return map {
        my $row = $_;
        join(q{ | }, map { sprintf '%-*s', $width[$_], $row->[$_] } 0 .. $#{$row}) =~ s/\s+\z//r
    } @rows;
}

1;

__END__

=head1 NAME

Assay::Matrix - the ten columns of the dual-rail study

=head1 SYNOPSIS

    assay matrix results/acceptance

=head1 DESCRIPTION

Of each configuration and benchmark the table has the median over all valid
attempts of the value that the original program would report. A program finds
out by itself how it was placed and which interfaces carried its bytes; a figure
whose keys are not those of the column is none of that column, and the note says
what was asked for and what was found. C<f> behind a figure is one of a
functional run.

=cut
