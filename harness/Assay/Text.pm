package Assay::Text;

# Text that others wrote: taking it apart, and printing it safely.

use strict;
use warnings;

use Exporter qw(import);

our @EXPORT_OK = qw(encoding_fault plural printable split_fields unquote);

my $KEY   = qr/[A-Za-z_][\w.-]*+/a;
my $VALUE = qr/"(?:[^"\\]++|\\.)*+"|[^\s"]*+/;

my %ESCAPE = (n => "\n", t => "\t", r => "\r", q{"} => q{"}, q{\\} => q{\\});

# What a terminal obeys, or what reorders or hides the text around it.
my $UNSAFE = join q{|}, '[\x{0}-\x{1f}\x{7f}-\x{9f}\x{ad}\x{61c}]',
    '[\x{200b}-\x{200f}\x{2028}-\x{202e}\x{2060}-\x{206f}]',
    '[\x{feff}\x{fff9}-\x{fffb}]';

sub split_fields {
    my ($line) = @_;
    my @pairs = $line =~ /\G[ \t]++($KEY)=($VALUE)/gc;
    my $end = pos($line) || 0;
    return (undef, 'malformed: ' . excerpt(substr $line, $end))
        if $end != length $line && substr($line, $end) =~ /[^ \t]/;

    my %fields = @pairs;
    return (undef, 'a key stands twice on the line')
        if 2 * keys %fields != @pairs;
    return \%fields if index($line, q{"}) < 0;
    for my $value (values %fields) {
        next if $value !~ /\A"/;
        $value = unquote($value);
        return (undef, 'unknown backslash escape') if !defined $value;
    }
    return \%fields;
}

sub unquote {
    my ($text) = @_;
    my $bad = 0;

    return substr $text, 1, -1
        if $text =~ tr/"// == 2 && index($text, q{\\}) < 0;
    $text =~ s/\A"(.*)"\z/$1/s;
    $text =~ s{\\(?:x(?!00)([0-9a-fA-F]{2})|(.))}{
        defined $1 ? chr hex $1
        : defined $ESCAPE{$2} ? $ESCAPE{$2}
        : do { $bad = 1; q{} }
    }gsex;
    return $bad ? undef : $text;
}

sub encoding_fault {
    my ($bytes) = @_;

    return if $bytes !~ tr/\t\n\x20-\x7e//c;
    return 'byte order mark' if $bytes =~ /\A\xef\xbb\xbf/;
    return 'NUL byte' if index($bytes, "\0") >= 0;
    return 'carriage return: lines end in a line feed alone'
        if index($bytes, "\r") >= 0;
    return 'control character' if $bytes =~ /[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]/;
    return 'not UTF-8' if !utf8::decode($bytes);
    return;
}

sub printable {
    my ($bytes) = @_;

    return 'undefined' if !defined $bytes;
    return $bytes if $bytes !~ tr/\x20-\x7e//c;
    my $text = $bytes;
    utf8::decode($text);
    $text =~ s/($UNSAFE)/sprintf '\\x{%x}', ord $1/ge;
    utf8::encode($text) if utf8::is_utf8($text);
    return $text if utf8::decode(my $copy = $text);
    $text =~ s/([\x80-\xff])/sprintf '\\x{%x}', ord $1/ge;
    return $text;
}

sub excerpt {
    my ($text) = @_;
    $text =~ s/\A\s+//;
    my $short = substr $text, 0, 40;
    utf8::decode($short);
    $short =~ s/[^\x20-\x7e]/?/g;
    return length $text > 40 ? "'$short...'" : "'$short'";
}

sub plural {
    my ($count, $one, $many) = @_;
    $many = "${one}s" if !defined $many;
    return $count == 1 ? "$count $one" : "$count $many";
}

1;

__END__

=head1 NAME

Assay::Text - text that others wrote: taking it apart, printing it safely

=head1 FUNCTIONS

All take and return bytes.

=over

=item split_fields(TEXT)

A hash of the C<key=value> pairs of TEXT, each after one or more blanks; or (undef, WHY).  A key is a letter or C<_>, then letters,
digits, C<_>, C<.> and C<->.  A value is bare (no blank, no double quote; it
may be empty and may hold C<=> and C<\>) or double-quoted with the escapes
C<\"> C<\\> C<\n> C<\t> C<\r> and C<\xHH>; any other escape, C<\x00> too, is
a fault, and so is a key that stands twice.

=item unquote(TEXT)

The text that a double-quoted value stands for; undef for an unknown escape.

=item encoding_fault(BYTES)

Why BYTES, whole lines, are no text of ours, or nothing: byte order mark, NUL,
carriage return, other control character (except tab and line feed), not
UTF-8.

=item printable(BYTES)

BYTES with control, bidirectional, invisible and line-breaking characters
written as C<\x{...}>, so that a terminal, a TAP reader and an eye see what is
there.

=item excerpt(BYTES)

The beginning, quoted and in ASCII, for an error message.

=item plural(COUNT, ONE [, MANY])

C<1 clause>, C<2 clauses>.

=back

=cut
