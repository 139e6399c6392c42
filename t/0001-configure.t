#!/usr/bin/perl
#
# configure: what was asked for and is not there is an error that says what
# was tried; what was not asked for and does not work is left out by name; no
# file of the user's is overwritten.

use strict;
use warnings;

use Cwd qw(getcwd);
use File::Spec;
use File::Temp qw(tempdir);
use Test::More;

my $source = $ENV{ASSAY_SRCDIR} || getcwd();
if ( !-x "$source/configure" ) {
    plan skip_all => 'no configure here (./bootstrap makes it)';
}

# A configured source can't be configured for elsewhere, so this one is shown
# without what says so; and by a relative path, since configure takes no
# absolute one that has a blank in it.
my $build = tempdir( 't0001-XXXXXX', DIR => getcwd(), CLEANUP => 1 );
my $serial = 0;
mkdir "$build/source" or die $!;
opendir my $top, $source or die "$source: $!";
for ( grep { !/^(?:\.|config\.(?:h|log|status)$|Makefile$|t0001-)/ }
    readdir $top )
{
    symlink File::Spec->rel2abs( $_, $source ), "$build/source/$_" or die $!;
}
closedir $top;

# Run configure in a new folder, with `before` done there first: its status
# and all it printed.  Later runs take from a cache what the first found out
# of the compiler.
sub configure {
    my ( $before, @words ) = @_;
    my $dir = sprintf '%s/%d', $build, ++$serial;
    mkdir $dir or die "$dir: $!";
    $before->($dir) if $before;
    my $pid = open my $out, '-|';
    defined $pid or die "fork: $!";
    if ( !$pid ) {
        chdir $dir or die "$dir: $!";
        delete @ENV{qw(CC CFLAGS CPPFLAGS LDFLAGS MPICC HIPCC MAKEFLAGS)};
        open STDERR, '>&', \*STDOUT or die $!;
        exec "../source/configure", '--cache-file=../cache', @words or die "exec: $!";
    }
    my $text = do { local $/ = undef; <$out> };
    close $out;
    my $exit = $? >> 8;
    if ( open my $fh, '<', "$build/cache" ) {
        my @kept = grep { !/^ac_cv_(?:env|path)_/ } <$fh>;
        close $fh;
        write_file( "$build/cache", @kept );
    }
    return ( $exit, $text, $dir );
}

sub write_file {
    my ( $path, @text ) = @_;
    open my $fh, '>', $path or die "$path: $!";
    print {$fh} @text;
    close $fh or die "$path: $!";
    return;
}

sub script {
    my ( $path, $text ) = @_;
    write_file( $path, "#!/bin/sh\n$text\n" );
    chmod 0755, $path or die "$path: $!";
    return;
}

sub slurp {
    my ($path) = @_;
    open my $fh, '<', $path or return '';
    local $/ = undef;
    return scalar <$fh>;
}

# Not asked for: all of it is looked for, and the table says what became of it.
my @quick = qw(--without-hip --without-cuda --without-pmi2);
my ( $status, $text, $dir ) = configure( undef, @quick, '--with-nosuch' );
is( $status, 0, 'configures with nothing asked for' ) or diag($text);
like( $text, qr/WARNING: unrecognized options: --with-nosuch/,
    'an option that we have not is warned of' );
like( $text, qr/^ +HIP +no: --without-hip$/m, 'the table has the refused' );
like( $text, qr/^ +stream +/m,                'the table has what is built' );
like( $text, qr/^ +MPI +(no: .*tried|\S.* \()/m, 'the table has MPI' );
like(
    slurp("$dir/config.h"),
    qr/^#define ASSAY_CC_VERSION "\w+ \d+(\.\d+)*"$/m,
    'config.h has name and version of the compiler'
);
like( slurp("$dir/config.h"), qr/^#define HAVE_SCHED_SETAFFINITY 1$/m,
    'config.h has the affinity calls' );

# Where MPI has no part in it, nor the files that are made.
my @only = ( '--without-mpi', '--no-create' );

# A sanitizer has some functions of libm, but not all that we call.
( $status, $text, $dir ) = configure( undef, @quick, @only,
    '--cache-file=/dev/null', 'CFLAGS=-g -fsanitize=address' );
SKIP: {
    skip 'no address sanitizer here', 1 if $status != 0;
    like( slurp("$dir/config.log"), qr/^LIBM='.*-lm\b/m,
        'libm is linked under a sanitizer' );
}

# Files that the compiler probes would overwrite.
for my $file (qw(mp penmp)) {
    ( $status, $text ) =
        configure( sub { script( "$_[0]/$file", 'precious' ) },
            @quick, @only );
    isnt( $status, 0, "a file named $file stops configure" );
    like( $text, qr/error: .*\b$file\b/, '... with its name' );
    like( slurp("$build/$serial/$file"), qr/precious/, '... and is kept' );
}

# MPI.
( $status, $text ) = configure( undef, @quick, 'MPICC=/nonexistent' );
isnt( $status, 0, 'MPICC that is not there is an error' );
like( $text, qr{error: MPICC=/nonexistent: no such program},
    '... with its name' );

( $status, $text ) = configure( undef, @quick, '--with-mpi=/nonexistent' );
isnt( $status, 0, '--with-mpi and no such folder is an error' );
like( $text, qr{error: --with-mpi=/nonexistent: no such folder},
    '... with its name' );

my $empty = sub { mkdir "$_[0]/empty" or die $! };
( $status, $text ) = configure( $empty, @quick, '--with-mpi=empty' );
isnt( $status, 0, '--with-mpi and a folder without MPI is an error' );
like( $text, qr{error: --with-mpi was asked for, but no MPI .*tried empty/bin/mpicc},
    '... saying what was tried' );

# A folder that lacks what it was named for is not made up for by another copy,
# where compiler and linker look anyhow.
for my $part (
    [ 'hwloc', $empty,       'include/hwloc.h' ],
    [ 'pmi2',  \&only_header, 'libpmi2 in lib or lib64' ],
    [ 'ucx',   $empty,       'include/ucp/api/ucp.h' ],
    )
{
    my ( $name, $before, $what ) = @{$part};
    my @others = grep { $_ ne $name } qw(hip cuda hwloc pmi2 ucx libfabric);
    ( $status, $text ) = configure( $before, @only,
        map( {"--without-$_"} @others ), "--with-$name=empty" );
    isnt( $status, 0, "--with-$name and a folder without it is an error" );
    like( $text, qr{error: --with-$name=empty: no \Q$what\E there},
        '... saying what is not there' );
}

sub only_header {
    my ($top) = @_;
    for my $folder (qw(empty empty/lib empty/include empty/include/slurm)) {
        mkdir "$top/$folder" or die "$folder: $!";
    }
    write_file( "$top/empty/include/slurm/pmi2.h", q{} );
    return;
}

# A wrapper that answers as MPICH's does, with its own compiler's options,
# among which only what concerns MPI is for us.
sub mpi_tree {
    my ($top) = @_;
    my $root = "$top/mpi";
    mkdir "$root"         or die $!;
    mkdir "$root/$_"      or die $! for qw(bin include);
    script( "$root/bin/mpicc", <<"END" );
[ "\$1" = -show ] || exit 1
echo "icc -O3 -xHost -ipo -I$root/include -DFOUND -Wl,-z,relro -lm"
END
    script( "$root/bin/mpirun", ':' );
    write_file( "$root/include/mpi.h", <<'END' );
#ifndef FOUND
#error flags not used
#endif
#define MPICH_VERSION "9.8.7"
static inline int MPI_Init(void *a, void *b) { (void) a; (void) b; return 0; }
END
    return;
}
SKIP: {
    skip "the folder's name has a blank in it", 5 if $build =~ /\s/;
    my $next = sprintf '%s/%d', $build, $serial + 1;
    ( $status, $text, $dir ) =
        configure( \&mpi_tree, @quick, "--with-mpi=$next/mpi" );
    is( $status, 0, 'MPI is found through its wrapper' ) or diag($text);
    my $makefile = slurp("$dir/Makefile");
    like( $makefile, qr{^MPI_CFLAGS = -I\S+/mpi/include -DFOUND$}m,
        '... with the flags that concern it' );
    like( $makefile, qr{^MPIRUN = \S+/mpi/bin/mpirun$}m,
        '... and the launcher that belongs to it' );
    like( $text, qr{^ +MPI +MPICH 9\.8\.7 }m, '... and its version' );
    unlike( $makefile, qr/-xHost|-ipo/, '... but no options of its compiler' );
}

# A hipcc that is there but broken, silently or with noise.
for my $hipcc ( 'exit 1', 'echo noise; echo noise >&2; exit 0' ) {
    my $fake = sub { script( "$_[0]/hipcc", $hipcc ) };
    my @hip  = ( @quick[ 1, 2 ], @only, 'HIPCC=./hipcc' );
    ( $status, $text ) = configure( $fake, @hip );
    is( $status, 0, "hipcc that does '$hipcc': configure goes on" )
        or diag($text);
    like( $text, qr/^configure: .*hipcc is there but does not work/m,
        '... with a notice' );
    ( $status, $text ) = configure( $fake, @hip, '--with-hip' );
    isnt( $status, 0, '... but stops where --with-hip asked for it' );
    like( $text, qr/error: --with-hip was asked for, but .*hipcc compiles/,
        '... saying why' );
}

# What a hipcc does not know is left out, and named.
{
    my $fake = sub {
        script( "$_[0]/hipcc",
            'case "$*" in *gfx950*) exit 1 ;; esac; cc -x c -c /dev/null -o conftest.o' );
    };
    ( $status, $text ) = configure( $fake, @quick[ 1, 2 ], @only, 'HIPCC=./hipcc',
        'HIP_ARCHS=gfx908,gfx950' );
    SKIP: {
        skip 'no HIP library here', 1 if $text =~ /^ +HIP +no: .*does not link/m;
        like( $text, qr{^ +HIP +\S.* \(\./hipcc, gfx908; it knows not: gfx950\)$}m,
            'a GPU that hipcc does not know is named' );
    }
}

# The installed command looks for its modules beside its own folder.
( $status, $text ) = configure( undef, @quick, @only, '--datadir=/elsewhere' );
isnt( $status, 0, 'folders in which assay would not find itself are refused' );
like( $text, qr/error: .*bindir and datadir/, '... with their names' );


done_testing();
