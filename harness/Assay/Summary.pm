package Assay::Summary;

# Verdicts as a table for a person, from the TAP that the judge prints.

use 5.016;
use strict;
use warnings;

use Exporter qw(import);

use Assay::Text qw(printable unquote);

our @EXPORT_OK = qw(counts points same table);

use constant WIDEST => 44;    # of a column; what is longer is cut

# points(TAP): a hash for each point: ok, text, and what its block says.
sub points {
    my ($tap) = @_;

    my @points;
    for my $line (split /\n/, $tap) {
        if ($line =~ /\A(not )?ok \d+(?: - )?(.*)/) {
            push @points, {ok => !$1, text => $2};
        }
        elsif (@points && $line =~ /\A  ([a-z][a-z ]*): (.*)/) {
            my ($key, $value) = ($1, $2);
            $points[-1]{$key} = $value =~ /\A"/ ? unquote($value) : $value;
        }
    }
    for my $point (grep { !defined $_->{clause} } @points) {
        $point->{reason} = $point->{text} =~ s/\AINVALID //r;
    }
    return @points;
}

# table(POINT...): clause, place, figure, limit, verdict; why it is no PASS
# stands below its line. Ends in how many of each verdict there are.
sub table {
    my @points = @_;

    my %same = same(@points);
    my @rows = (['clause', 'place', 'measured', 'limit', 'verdict']);
    push @rows, map { [_cells($_, \%same)] } @points;
    my @width = map { _widest($_, @rows) } 0 .. 4;
    my ($head, @lines) = map { _line(\@width, @{$_}) } @rows;
    my $text = "$head\n" . ('-' x length $head) . "\n";
    for my $i (0 .. $#lines) {
        $text .= "$lines[$i]\n";
        my $why = $points[$i]{reason};
        $text .= '    ' . printable($why) . "\n" if defined $why;
    }
    $text .= 'all with ' . join(q{ }, map {"$_=$same{$_}"} sort keys %same) . "\n"
        if %same;
    return $text . counts(@points) . "\n";
}

# same(POINT...): the keys of `each` that have one value in all points, and that
# value: said once, below.
sub same {
    my @points = @_;

    my (%seen, %same);
    for my $point (@points) {
        $seen{$_}++ for split q{ }, $point->{each} // q{};
    }
    for my $pair (grep { $seen{$_} == @points } keys %seen) {
        my ($key, $value) = split /=/, $pair, 2;
        $same{$key} = $value;
    }
    return @points > 1 ? %same : ();
}

sub _cells {
    my ($point, $same) = @_;

    my $verdict = $point->{verdict} // ($point->{ok} ? 'ok' : 'INVALID');
    return map { printable($_) }
        (q{-}, q{-}, q{-}, q{-}, $verdict)
        if !defined $point->{clause};
    my @each = grep { !exists $same->{s/=.*//r} } split q{ }, $point->{each} // q{};
    my $place = join q{ }, grep { defined && $_ ne 'system' } $point->{place}, @each;
    my $measured = defined $point->{value}
        ? "$point->{statistic} $point->{value}" : q{-};
    my $limit = ($point->{limit} // q{}) =~ s/(\A[<>]= ).*/$1/r;
    $limit = $limit =~ /\A[<>]/ && defined $point->{bound}
        ? "$limit$point->{bound}" : $point->{limit} // q{};
    return map { printable($_) }
        ($point->{clause}, $place, $measured, $limit, $verdict);
}

sub _widest {
    my ($column, @rows) = @_;

    my $widest = 0;
    for my $row (@rows) {
        my $length = length $row->[$column];
        $widest = $length if $length > $widest;
    }
    return $widest > WIDEST ? WIDEST : $widest;
}

sub _line {
    my ($width, @cells) = @_;

    my @padded = map {
        my ($room, $cell) = ($width->[$_], $cells[$_]);
        $cell = substr($cell, 0, $room - 2) . '..' if length $cell > $room;
        sprintf '%-*s', $room, $cell
    } 0 .. $#cells;
    return join('  ', @padded) =~ s/\s+\z//r;
}

# How many of each verdict, in one line.
sub counts {
    my @points = @_;

    my (%count, @order);
    for my $point (@points) {
        my $verdict = (_cells($point, {}))[-1];
        push @order, $verdict if !$count{$verdict}++;
    }
    return 'no verdict' if !@order;
    return join ', ', map {"$count{$_} $_"} @order;
}

1;

__END__

=head1 NAME

Assay::Summary - verdicts as a table, from the judge's TAP

=cut
