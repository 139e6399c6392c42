#!/usr/bin/perl
#
# Every folder of t/data/judge is a case: records and a reference, one screen
# each, most with one thing wrong, and what the judge must say of them.
#
#   args        the judge's arguments; by default x.ref (or the reference all
#               share), node n001 and the folder itself
#   expected    `exit N`, then `like REGEX`, `unlike REGEX` (standard output)
#               and `error REGEX` (standard error)

use strict;
use warnings;

use Cwd qw(abs_path getcwd);
use File::Basename qw(dirname);
use File::Glob qw(bsd_glob);
use File::Temp ();
use Test::More;

my $here = dirname(abs_path(__FILE__));
my $harness = abs_path($ENV{ASSAY_HARNESS} || "$here/../harness");

unshift @INC, $harness;
require Assay::Judge;

for my $case (sort { $a cmp $b } bsd_glob("$here/data/judge/*/expected")) {
    subtest((split m{/}, $case)[-2] => sub { try(dirname($case)) });
}
done_testing();

sub try {
    my ($folder) = @_;
    my @wanted = lines("$folder/expected");
    my $reference = -e "$folder/x.ref" ? 'x.ref' : '../stream.ref';
    my @args = -e "$folder/args"
        ? split q{ }, join q{ }, lines("$folder/args")
        : ('--reference', $reference, qw(--nodes n001 .));
    my ($status, $out, $error) = judge($folder, @args);

    for my $line (@wanted) {
        my ($what, $value) = split / /, $line, 2;
        is($status, $value, "exit $value") if $what eq 'exit';
        like($out, qr/$value/m, "says $value") if $what eq 'like';
        unlike($out, qr/$value/m, "never says $value") if $what eq 'unlike';
        like($error, qr/$value/m, "complains $value") if $what eq 'error';
    }
    is($error, q{}, 'no complaint') if !grep {/^error /} @wanted;
    tap_is_whole($out) if $status =~ /^[01345]$/;
    return;
}

# The plan comes first and holds; nothing but points, blocks and comments.
sub tap_is_whole {
    my ($out) = @_;
    my ($plan) = $out =~ /\ATAP version 13\n1[.][.]([1-9][0-9]*)\n/;
    my @points = $out =~ /^(?:not )?ok ([0-9]+) - /mg;

    is_deeply(\@points, [1 .. $plan || 0], 'as many points as planned');
    my @odd = grep { !/^(?:(?:not )?ok \d+ - |# |  )/ }
        split /\n/, $out =~ s/\A.*\n.*\n//r;
    is_deeply(\@odd, [], 'no stray line');
    unlike($out, qr/[^\n\x20-\x7e\x80-\xff]/, 'no control character');
    return;
}

sub lines {
    my ($path) = @_;
    open my $file, '<', $path or die "$path: $!\n";
    chomp(my @lines = <$file>);
    return @lines;
}

# Run the judge in a process of its own, without loading it anew.
sub judge {
    my ($folder, @args) = @_;
    my ($out, $error) = map { File::Temp->new } 1 .. 2;
    my $child = fork;

    die "fork: $!\n" if !defined $child;
    if (!$child) {
        chdir $folder or die "$folder: $!\n";
        open STDOUT, '>&', $out   or die "dup: $!\n";
        open STDERR, '>&', $error or die "dup: $!\n";
        my $status = eval { Assay::Judge::main(@args) };
        print {*STDERR} $@ if !defined $status;
        close STDOUT;
        require POSIX;
        POSIX::_exit(defined $status ? $status : 99);
    }
    waitpid $child, 0;
    my $status = $? & 127 ? "signal $?" : $? >> 8;
    return ($status, map { slurp($_->filename) } $out, $error);
}

sub slurp {
    my ($path) = @_;
    open my $file, '<:raw', $path or die "$path: $!\n";
    local $/ = undef;
    my $text = <$file>;
    return defined $text ? $text : q{};
}
