package Assay::Tap;

# TAP 13: plan first, flat, each point written whole.

use strict;
use warnings;

use Assay::Text qw(printable);
use Carp qw(croak);
use IO::Handle ();

my $PLAIN = qr{[\w./][\w./+-]*+(?:[ ,:=][\w./+-]++)*+}a;

sub new {
    my ($class, $handle) = @_;
    return bless {handle => $handle, last => 0, plan => undef}, $class;
}

sub _write {
    my ($self, $text) = @_;
    print {$self->{handle}} $text or croak "can't write: $!";
    return;
}

sub plan {
    my ($self, $count) = @_;
    $self->{plan} = $count;
    return $self->_write("TAP version 13\n1..$count\n");
}

# Go on after the first LAST of PLAN points, which somebody else prints.
sub resume {
    my ($self, $last, $plan) = @_;
    @$self{qw(last plan)} = ($last, $plan);
    return;
}

# COUNT points, printed by somebody who resumed, from a handle.
sub append {
    my ($self, $from, $count) = @_;

    while (read $from, my ($text), 1 << 20) {
        $self->_write($text);
    }
    $self->{last} += $count;
    return;
}

sub comment {
    my ($self, $text) = @_;
    return $self->_write('# ' . printable($text) . "\n");
}

sub escape {
    my ($text) = @_;
    return $text if $text !~ tr/\x20-\x22\x24-\x5b\x5d-\x7e//c;
    $text =~ s/([\\#])/\\$1/g;
    return printable($text);
}

sub point {
    my ($self, $ok, $description, $directive, $block) = @_;
    my $number = ++$self->{last};

    croak "point $number is beyond the plan" if $number > $self->{plan};
    my $text = ($ok ? 'ok' : 'not ok') . " $number - " . escape($description);
    $text .= " # $directive->[0] " . escape($directive->[1]) if $directive;
    return $self->_write("$text\n  ---\n$block  ...\n");
}

# Lines of a block.
sub lines {
    my (@pairs) = @_;
    return join q{}, map { "  $_->[0]: " . scalar_text($_->[1]) . "\n" } @pairs;
}

# Quoted unless it can be nothing but a plain scalar.
sub scalar_text {
    my ($value) = @_;

    return $value if $value =~ /\A$PLAIN\z/;
    return quoted($value);
}

sub quoted {
    my ($value) = @_;

    return qq{"$value"} if $value !~ /[^\x20\x21\x23-\x5b\x5d-\x7e]/;
    $value = printable($value);
    $value =~ s/(["\\])/\\$1/g;
    return qq{"$value"};
}

sub finish {
    my ($self) = @_;
    croak "$self->{last} points of $self->{plan}"
        if $self->{last} != $self->{plan};
    $self->{handle}->flush or croak "can't write: $!";
    return;
}

1;

__END__

=head1 NAME

Assay::Tap - TAP 13: plan first, flat, each point written whole

=head1 METHODS

=over

=item new(HANDLE), plan(COUNT), finish()

C<finish> flushes HANDLE.  It croaks where the points are not as many as
planned, as every method does where HANDLE can't be written.

=item resume(LAST, PLAN), append(FROM, COUNT)

Two may share the work: one resumes after LAST points, into a handle of its
own, the other appends what it reads from there.

=item comment(TEXT)

A line of its own.

=item point(OK, DESCRIPTION, DIRECTIVE, BLOCK)

One point: its line and its YAML block, in one write.  DIRECTIVE is nothing or
C<[SKIP =E<gt> WHY]> or C<[TODO =E<gt> WHY]>; BLOCK is from C<lines>.  C<#> and C<\> in DESCRIPTION and WHY are escaped, so
that no text from a record becomes a directive, and characters that a terminal
obeys are made visible.

=back

=head1 FUNCTIONS

=over

=item lines(PAIRS)

The lines of a block, of pairs C<[KEY =E<gt> VALUE]>.

=item escape(TEXT), scalar_text(VALUE), quoted(VALUE)

TEXT for a point's line, VALUE for a YAML block; C<quoted> always has quotes.

=back

=cut
