package Assay::Progress;

# One line on a terminal that says how far a campaign is; nothing elsewhere.

use 5.016;
use strict;
use warnings;

sub new {
    my ($class, %given) = @_;

    my $out = $given{out} // \*STDERR;
    return bless {
        out   => $out,
        shown => $given{terminal} // (-t $out),
        start => time,
        width => $given{width} // $ENV{COLUMNS} // 80,
    }, $class;
}

# show(DONE, ALL, WHAT): what runs is number DONE + 1 of ALL.
sub show {
    my ($self, $done, $all, $what) = @_;

    return if !$self->{shown};
    my $line = sprintf '[%d of %d] %s  %s', $done + 1, $all, $what,
        elapsed(time - $self->{start});
    my $room = $self->{width} =~ /^[1-9]\d*$/ ? $self->{width} - 1 : 79;
    $line = substr $line, 0, $room;
    print {$self->{out}} "\r", $line, q{ } x ($room - length $line), "\r";
    $self->{out}->flush;
    return;
}

sub clear {
    my ($self) = @_;

    return if !$self->{shown};
    print {$self->{out}} "\r\e[K";
    $self->{out}->flush;
    return;
}

sub elapsed {
    my ($seconds) = @_;

    return sprintf '%d:%02d', $seconds / 60, $seconds % 60 if $seconds < 3600;
    return sprintf '%d:%02d:%02d', $seconds / 3600, $seconds / 60 % 60,
        $seconds % 60;
}

1;

__END__

=head1 NAME

Assay::Progress - how far a campaign is, on a terminal

=head1 DESCRIPTION

C<show> rewrites one line on standard error where that is a terminal: n of N,
what runs, and the time elapsed. Elsewhere (a pipe, a file, a batch job) it
prints nothing.

=cut
