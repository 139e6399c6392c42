package Assay::Ledger;

# The ledger of a campaign: append-only, each line bound to the one before.

use 5.016;
use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use Fcntl qw(:flock);
use IO::Handle;

use Assay::Text qw(split_fields);

use constant FIRST => '0' x 64;    # what the first line names as before it
use constant TAIL => 1 << 16;      # bytes at the end that are read where the rest is known

# new(FOLDER, watched => BOOLEAN): the ledger of that campaign, which need not
# exist yet. One that is watched was found whole by whoever started this, and is
# looked at again when that ends: only its end is read before a line is added.
sub new {
    my ($class, $folder, %given) = @_;

    return bless {folder => $folder, file => "$folder/ledger", watched => $given{watched}},
        $class;
}

sub exists { return -e $_[0]{file} }

# entries: a list of hashes, one a line, in order: kind, line (its number),
# and the line's own keys. Dies if the ledger can't be read.
sub entries {
    my ($self) = @_;

    open my $in, '<:raw', $self->{file} or die "$self->{file}: $!\n";
    my @entries = _entries($in, 0, FIRST);
    return @entries;
}

# The first of them alone, of a ledger that has some.
sub first {
    my ($self) = @_;

    open my $in, '<:raw', $self->{file} or die "$self->{file}: $!\n";
    return parse_line(scalar(<$in>) // q{}) // {kind => q{}};
}

# The last entries of a file that is long, all of one that is not.
sub _last_entries {
    my ($in) = @_;

    my $size = -s $in;
    my @entries;
    if ($size > TAIL) {
        seek $in, $size - TAIL, 0;
        readline $in;    # the rest of a line
        @entries = _entries($in, 1);
    }
    return @entries if @entries;
    seek $in, 0, 0;
    return _entries($in, 1, FIRST);
}

# What who appends has to know of the lines that are many: a sweep over thousands
# of nodes appends thousands of times.
my $BRIEF = qr/\A(begin|attempt)\ number=([0-9]{1,9})\ .*\ previous=([0-9a-f]{64})\n\z/x;

sub _entries {
    my ($in, $brief, $before) = @_;

    my ($line, @entries) = (0);
    while (defined(my $text = <$in>)) {
        my $entry = $brief && $text =~ $BRIEF
            ? {kind => $1, number => $2, previous => $3}
            : parse_line($text) // {kind => q{}};
        $entry->{line}   = ++$line;
        $entry->{torn}   = $text !~ /\n\z/;
        $entry->{broken} = $entry->{kind} eq q{}
            || ($entry->{previous} // q{}) ne ($before // $entry->{previous} // FIRST);
        $before = sha256_hex($text);
        $entry->{sha256} = $before;
        push @entries, $entry;
    }
    return @entries;
}

# append(KIND, CODE): add one line. CODE gets the entries so far (of those that
# stand for attempts the number alone; of a ledger that is watched the last ones),
# under the ledger's lock, and returns the line's keys and values in order, or none
# for no line; what it dies with passes through, and nothing is written. Returns
# those keys and values.
sub append {
    my ($self, $kind, $code) = @_;

    open my $file, '+>>:raw', $self->{file} or die "$self->{file}: $!\n";
    flock $file, LOCK_EX or die "$self->{file}: can't lock: $!\n";
    seek $file, 0, 0;
    my @entries = $self->{watched} ? _last_entries($file) : _entries($file, 1, FIRST);
    for my $entry (@entries) {
        my $line = $self->{watched} ? 'one of its last lines' : "line $entry->{line}";
        die "$self->{file}: $line is broken: nothing can be added to this campaign\n"
            if $entry->{broken} || $entry->{torn};
    }
    my @fields = $code->(@entries);
    return if !@fields;
    my $before = @entries ? $entries[-1]{sha256} : FIRST;
    _write($file, format_line($kind, @fields, previous => $before), $self);
    close $file or die "$self->{file}: $!\n";
    return @fields;
}

# Whole or not at all: a line that did not fit is taken back, under the lock.
sub _write {
    my ($file, $text, $self) = @_;

    my ($size, $done) = (-s $file, 0);
    while ($done < length $text) {
        my $wrote = syswrite $file, $text, length($text) - $done, $done;
        last if !defined $wrote;
        $done += $wrote;
    }
    return if $done == length $text && $file->sync;
    my $why = $!;
    truncate $file, $size;
    die "$self->{file}: $why\n";
}

# The hash of the last line, which binds all before it.
sub head {
    my ($self) = @_;

    my @entries = $self->entries;
    return @entries ? $entries[-1]{sha256} : FIRST;
}

# broken: what is wrong with the chain, one sentence, or nothing.
sub broken {
    my ($self) = @_;

    my @entries = $self->entries;
    return "$self->{file} is empty" if !@entries;
    for my $entry (@entries) {
        my $where = "ledger line $entry->{line}";
        return "$where: torn: the file ends within it" if $entry->{torn};
        return "$where: not readable" if $entry->{kind} eq q{};
        return "$where: the hash of the line before does not fit"
            if $entry->{broken};
    }
    return if $entries[0]{kind} eq 'ledger';
    return 'ledger line 1: not the head of a ledger';
}

# One line, from a kind and keys with values; the form of a record's lines.
sub format_line {
    my ($kind, @fields) = @_;

    my $line = $kind;
    while (my ($key, $value) = splice @fields, 0, 2) {
        $line .= " $key=" . quote($value);
    }
    return "$line\n";
}

my %escape = ("\n" => '\n', "\r" => '\r', "\t" => '\t', q{"} => '\"', q{\\} => '\\\\');

sub quote {
    my ($value) = @_;

    return $value if $value =~ /^[^\s"=\\[:cntrl:]]+$/;
    $value =~ s/([\n\r\t"\\])/$escape{$1}/g;
    $value =~ s/[[:cntrl:]]/?/g;
    return qq{"$value"};
}

# The reverse: a hash with kind and keys; undef for what is no such line.
sub parse_line {
    my ($text) = @_;

    $text =~ s{\n\z}{};
    $text =~ s{\A([a-z][a-z0-9_]*)(?=[ ]|\z)}{} or return;
    my $kind = $1;
    my ($fields) = split_fields($text);
    return $fields ? {%{$fields}, kind => $kind} : undef;
}

1;

__END__

=head1 NAME

Assay::Ledger - the append-only ledger of a campaign

=head1 DESCRIPTION

A ledger is a text file of lines in the form of a record: a kind, then
C<key=value>. Each line ends in C<previous=>, the SHA-256 of the line before it
with its newline (64 zeros in the first), so no line can be changed, dropped or
moved without breaking all that follow:

    sed -n 4p ledger | sha256sum        # is previous= of line 5

A line is appended with one write under C<flock>, and synced; one that does not
fit on the disk is taken back. Lines are never changed.

=cut
