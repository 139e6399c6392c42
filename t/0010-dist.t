#!/usr/bin/perl
#
# Every file that git tracks is in the tarball, or stands here with the reason
# why not; and nothing else that make would distribute is missing.

use strict;
use warnings;

use Cwd qw(getcwd);
use Test::More;

my %not_distributed = (
    '.ci/run'    => 'continuous integration starts from a clone',
    '.gitignore' => 'a tarball is no clone',
);

my $source = $ENV{ASSAY_SRCDIR}   || getcwd();
my $build  = $ENV{ASSAY_BUILDDIR} || getcwd();
if ( !-e "$source/.git" ) {
    plan skip_all => 'not a clone: git can not be asked';
}
if ( !-f "$build/Makefile" ) {
    plan skip_all => 'not a build tree: make can not be asked';
}
my @tracked = lines( 'git', '-c', "safe.directory=$source", '-C', $source,
    'ls-files' );
if ( !@tracked ) {
    plan skip_all => 'no git here';
}

delete @ENV{qw(MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES)};
my %distributed = map { ( clean($_) => 1 ) }
    lines( 'make', '-s', '-C', $build, 'list-dist' );
cmp_ok( scalar keys %distributed, '>', 30, 'make lists what it distributes' );

my @missing = grep { !distributed($_) && !$not_distributed{$_} } @tracked;
is( "@missing", '', 'every tracked file is distributed, or excused' );

my %is_tracked = map { ( $_ => 1 ) } @tracked;
my @idle = grep { !$is_tracked{$_} || distributed($_) }
    sort keys %not_distributed;
is( "@idle", '', 'every excuse is needed' );

# What is distributed is there.
my @absent = grep { !-e "$source/$_" && !-e "$build/$_" }
    sort keys %distributed;
is( "@absent", '', 'every distributed file exists' );

# A command may be executed.
my @mute = grep { !-x "$source/$_" }
    qw(bootstrap quickstart .ci/run harness/assay build-aux/check-matrix);
is( "@mute", '', 'commands are executable' );

# What stands twice in a list can't be installed.
my @twice = map { my $file = $_; map {"$file: $_"} twice( slurp($file) ) }
    grep {m{(?:^|/)(?:local\.mk|Makefile\.am)\z}} @tracked;
is( "@twice", '', 'no list of make names anything twice' );
is( join( ' ', twice("a += \\\n\tx \\\n\ty \\\n\tx \\\n\t# end\nb += \\\n\ty \\\n") ),
    'x', '... and one that does would be found' );

done_testing();

# The words that stand twice in one list of make.
sub twice {
    my ($text) = @_;
    my @found;
    while ( $text =~ /^\S+ \+?= \\\n((?:\t.*\\\n)+)/mg ) {
        my %seen;
        push @found, grep { $seen{$_}++ == 1 } $1 =~ /^\t(\S+)/mg;
    }
    return @found;
}

sub slurp {
    my ($path) = @_;
    open my $in, '<', "$source/$path" or die "$path: $!";
    local $/ = undef;
    return scalar <$in>;
}

# Whether a file, or a folder that it is in, is distributed.
sub distributed {
    my ($path) = @_;
    do {
        return 1 if $distributed{$path};
    } while $path =~ s{/[^/]*\z}{};
    return 0;
}

# Lines that a command prints; none where it fails.
sub lines {
    my @command = @_;
    open my $out, '-|', @command or return;
    my @lines = <$out>;
    chomp @lines;
    return close($out) ? @lines : ();
}

# Path from the top of the source: without what VPATH puts before it.
sub clean {
    my ($path) = @_;
    $path =~ s{^(?:\Q$source\E|\$\(top_srcdir\)|\.\.?(?:/\.\.)*)/}{};
    return $path;
}
