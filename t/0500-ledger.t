#!/usr/bin/perl
#
# The ledger: a chain in which no line can be changed, dropped, moved or
# added without its being seen.

use 5.016;
use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use POSIX ();
use lib dirname(__FILE__) . '/data/run_scripts';
use Test::More;

use TestTree;

use lib harness_dir();
use Assay::Ledger;

my $folder = tempdir(CLEANUP => 1);
my $file = "$folder/ledger";

sub fresh {
    unlink $file;
    return Assay::Ledger->new($folder);
}

sub three_lines {
    my $ledger = fresh();
    $ledger->append('ledger', sub { (version => 1, system => 'x') });
    $ledger->append('begin', sub { (number => 1) });
    $ledger->append('attempt', sub { (number => 1, reason => q{a "b" \ =}) });
    return $ledger;
}

subtest 'lines' => sub {
    my $ledger = three_lines();
    my @lines = split /^/, slurp($file);
    is scalar @lines, 3, 'a line for each append';
    like $lines[0], qr/\Aledger version=1 system=x previous=0{64}\n\z/,
        'the first names 64 zeros';
    like $lines[$_], qr/ previous=${\sha256_hex($lines[$_ - 1])}\n\z/,
        "line @{[$_ + 1]} names the hash of the line before, newline included"
        for 1, 2;
    my @entries = $ledger->entries;
    is $entries[2]{reason}, q{a "b" \ =}, 'what was quoted comes back';
    is $ledger->head, sha256_hex($lines[2]), 'the head is the last line\'s hash';
    is $ledger->broken, undef, 'the chain holds';

    for my $value (q{}, 'a b', 'tab	x', "two\nlines", q{"}, q{\\}, 'a=b', "caf\xc3\xa9", 'n\t') {
        my $line = Assay::Ledger::format_line('x', key => $value);
        is scalar(() = $line =~ /\n/g), 1, 'one line';
        is Assay::Ledger::parse_line($line)->{key}, $value, 'quoted and read again';
    }
    is Assay::Ledger::parse_line('x a=1 a=2'), undef, 'a doubled key is no line';
    is Assay::Ledger::parse_line('x a'), undef, 'nor is a bare word';
    is Assay::Ledger::parse_line('X a=1'), undef, 'nor a kind in capitals';

    my $before = slurp($file);
    eval { $ledger->append('attempt', sub { die "no\n" }) };
    is $@, "no\n", 'what the callback dies with passes through';
    is slurp($file), $before, '... and nothing is written';
    $ledger->append('attempt', sub { return });
    is slurp($file), $before, 'no fields, no line';
};

subtest 'tampering' => sub {
    my %tamper = (
        'a changed value' => [sub { s/number=1/number=2/ for $_[1]; @_ },
            'ledger line 3: the hash'],
        'a changed first line' => [sub { $_[0] =~ s/=x/=y/; @_ }, 'ledger line 2: the hash'],
        'a dropped line'    => [sub { @_[0, 2] }, 'ledger line 2: the hash'],
        'a dropped first line' => [sub { @_[1, 2] }, 'ledger line 1: the hash'],
        'a doubled line'    => [sub { @_[0, 1, 1, 2] }, 'ledger line 3: the hash'],
        'lines in another order' => [sub { @_[0, 2, 1] }, 'ledger line 2: the hash'],
        'a torn last line'  => [sub { chomp $_[2]; @_ }, 'ledger line 3: torn'],
        'half a last line'  => [sub { (@_[0, 1], substr $_[2], 0, 20) }, 'ledger line 3: torn'],
        'an added line'     => [sub { (@_, "attempt number=2\n") }, 'ledger line 4: the hash'],
        'an empty line'     => [sub { (@_, "\n") }, 'ledger line 4: not readable'],
        'no line at all'    => [sub { return }, "$file is empty"],
        'binary rubbish'    => [sub { (@_[0, 1], "\0\xff\n") }, 'ledger line 3: not readable'],
    );
    for my $what (sort keys %tamper) {
        three_lines();
        my ($how, $says) = @{$tamper{$what}};
        spew($file, $how->(split /^/, slurp($file)));
        my $ledger = Assay::Ledger->new($folder);
        like $ledger->broken // 'nothing', qr/\A\Q$says\E/, "$what is found";
        next if $what =~ /no line|last line is/;
        my $before = slurp($file);
        next if $before eq q{};
        eval { $ledger->append('attempt', sub { (number => 3) }) };
        like $@, qr/line \d is broken/, '... and nothing can be added';
        is slurp($file), $before, '... nor is';
    }
};

subtest 'many at once' => sub {
    my $ledger = fresh();
    my @children = map {
        my $pid = fork // die "fork: $!";
        if (!$pid) {
            for (1 .. 25) {
                $ledger->append('begin', sub { (number => scalar @_) });
            }
            POSIX::_exit(0);
        }
        $pid;
    } 1 .. 4;
    waitpid $_, 0 for @children;
    is $ledger->broken, 'ledger line 1: not the head of a ledger', 'the chain holds';
    is_deeply [map { $_->{number} } $ledger->entries], [0 .. 99],
        'each saw all before it';
};

# Who was started by one that holds the ledger adds to its end, and reads no more.
subtest 'watched' => sub {
    my $ledger = three_lines();
    $ledger->append('attempt', sub { (number => $_, reason => 'x' x 5000) }) for 2 .. 40;
    my $watched = Assay::Ledger->new($folder, watched => 1);
    my $seen;
    $watched->append('begin', sub { $seen = @_; (number => 41) });
    cmp_ok $seen, '<', 20, 'the last lines alone are read';
    cmp_ok $seen, '>', 5, '... several of them';
    is $ledger->broken, undef, '... and the chain holds';
    my $whole = slurp($file);
    spew($file, $whole =~ s/system=x/system=y/r);
    $watched->append('begin', sub { (number => 42) });
    is $ledger->broken, 'ledger line 2: the hash of the line before does not fit',
        'what was changed before them shows later';
    for my $bad ($whole =~ s/number=39/number=38/r, $whole =~ s/\n\z//r, "${whole}x\n") {
        spew($file, $bad);
        eval { $watched->append('begin', sub { (number => 43) }) };
        like $@, qr/one of its last lines is broken: nothing can be added/, '... among them at once';
        is slurp($file), $bad, '... and nothing is written';
    }
    three_lines();
    $watched->append('begin', sub { $seen = @_; (number => 2) });
    is $seen, 3, 'a short one is read as a whole';
    is $ledger->broken, undef, '... and the chain holds';
};

subtest 'full disk' => sub {
    my $ledger = three_lines();
    my $before = slurp($file);
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        # A file of at most one block of 1024 bytes: the next line won't fit.
        exec 'sh', '-c', 'ulimit -f 1; exec "$@"', 'sh', $^X, '-I' . harness_dir(),
            '-MAssay::Ledger', '-e', '$SIG{XFSZ} = "IGNORE"; my $l = Assay::Ledger->new(shift);'
            . 'eval { $l->append("attempt", sub { (reason => "x" x 9000) }) };'
            . 'exit($@ =~ /File too large|No space/ ? 7 : 8)', $folder;
    }
    waitpid $pid, 0;
    is $? >> 8, 7, 'a line that does not fit is refused, with the reason';
    is slurp($file), $before, '... and leaves no half line';
    is $ledger->broken, undef, '... so that the chain holds';
};

done_testing;
