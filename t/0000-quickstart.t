#!/usr/bin/perl
#
# The front door: quickstart's words, what it tells an ordinary user, and the
# order of things, tried with stand-ins for every tool.

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Copy qw(copy);
use File::Temp qw(tempdir);
use Test::More;

my $source = abs_path( $ENV{ASSAY_SRCDIR} || '.' );
my @tools  = qw(sh awk cat dirname env find grep mkdir mv rm sed sort tail tr);

# A tree with a copy of quickstart, and a PATH that has nothing but @tools,
# `id` saying UID, and the stand-ins: name => text of a shell script.
sub tree {
    my ( $uid, %standin ) = @_;
    my $dir = tempdir( 'assay front XXXXXX', TMPDIR => 1, CLEANUP => 1 );
    mkdir "$dir/$_" or die "$dir/$_: $!" for qw(bin m4 lib .git);
    copy( "$source/quickstart", "$dir/quickstart" ) or die "copy: $!";
    write_file( "$dir/$_", '' ) for qw(configure.ac Makefile.am lib/local.mk);
    for my $tool (@tools) {
        my ($path) = grep { -x } map { "$_/$tool" } split /:/, $ENV{PATH};
        symlink $path, "$dir/bin/$tool" or die "$tool: $!";
    }
    $standin{id} = "echo $uid";
    script( "$dir/bin/$_", $standin{$_} ) for keys %standin;
    script( "$dir/bootstrap", <<'END' );
echo bootstrap >>log
cat >configure <<'CONFIGURE'
#!/bin/sh
echo configure "$PWD" >>../log
echo >config.status
CONFIGURE
/bin/chmod +x configure
: >Makefile.in
: >config.h.in
END
    return $dir;
}

sub write_file {
    my ( $path, $text ) = @_;
    open my $fh, '>', $path or die "$path: $!";
    print {$fh} $text;
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

# Run quickstart there: exit status, stdout, stderr.
sub quickstart {
    my ( $dir, @words ) = @_;
    local $ENV{PATH} = "$dir/bin";
    my $pid = fork // die "fork: $!";
    if ( !$pid ) {
        open STDIN,  '<', '/dev/null'      or die $!;
        open STDOUT, '>', "$dir/out"       or die $!;
        open STDERR, '>', "$dir/err"       or die $!;
        exec "$dir/bin/sh", "$dir/quickstart", @words or die "exec: $!";
    }
    waitpid $pid, 0;
    return ( $? >> 8, slurp("$dir/out"), slurp("$dir/err") );
}

# What is there on a machine that lacks nothing that is needed.
my %complete = (
    autoconf     => ':',
    automake     => ':',
    cc           => 'exit 0',
    nproc        => 'echo 2',
    ps           => ':',
    perl         => 'exit 0',
    'pkg-config' => ':',
    make         => <<'END',
echo make "$@" >>log
mkdir -p build/harness
case "$*" in
*check*)
    printf '# PASS:  7\n# SKIP:  2\n# FAIL:  %s\n# ERROR: 0\n' "${BAD:-0}" \
        >build/test-suite.log
    [ "${BAD:-0}" = 0 ] || exit 2 ;;
*)
    printf '#!/bin/sh\necho assay "$@" >>log\nexit 4\n' >build/harness/assay
    /bin/chmod +x build/harness/assay ;;
esac
END
);

{
    my $dir = tree( 0, %complete );
    quickstart($dir);
    for my $lost (qw(Makefile.in config.h.in)) {
        unlink "$dir/$lost", "$dir/log";
        quickstart($dir);
        like( slurp("$dir/log"), qr/^bootstrap$/m,
            "a bootstrap interrupted before $lost is done again" );
    }
    unlink "$dir/log";
    quickstart($dir);
    unlike( slurp("$dir/log"), qr/^bootstrap$/m, '... and a whole one is not' );
}

{
    my $dir = tree( 0, %complete );
    my $other = tree( 0, %complete );
    local $ENV{CDPATH} = $other;
    mkdir "$other/sub";
    mkdir "$dir/sub";
    rename "$dir/$_", "$dir/sub/$_" for qw(quickstart bootstrap configure.ac
        Makefile.am m4 lib .git);
    chdir $dir or die "$dir: $!";
    system { "$dir/bin/sh" } 'sh', '-c',
        'PATH=$1/bin:$PATH exec sh sub/quickstart >out 2>&1', 'sh', $dir;
    chdir '/';
    ok( -e "$dir/sub/build", 'CDPATH does not lead it elsewhere' );
}

{
    my $dir = tree( 0, %complete );
    my ( $status, $out ) = quickstart( $dir, '--help' );
    is( $status, 0, '--help exits 0' );
    like( $out, qr/^usage: quickstart/, '... and prints the usage' );
    like( $out, qr/quickstart check \[--all\]/, '... with all three commands' );
    my @long = grep { length > 80 } split /\n/, $out;
    is( "@long", '', '... within 80 columns' );

    for my $words (
        ['nosuch'], ['--all'], [ 'check', 'nosuch' ],
        [ 'check', '--all', 'more' ], ['']
        )
    {
        my ( $code, undef, $err ) = quickstart( $dir, @{$words} );
        is( $code, 2, "'@{$words}' is refused with status 2" );
        my $bad = $words->[-1];
        like( $err, qr/^quickstart: \Q$bad\E: unknown word/,
            '... and the bad word named' );
    }
    ok( !-e "$dir/log", 'nothing was done so far' );
}

# An ordinary user is told the command, and nothing is installed or built.
for my $case (
    [ 'apt-get', 'apt-get install -y --no-install-recommends', 'libc6-dev' ],
    [ 'dnf',     'dnf install -y',                             'glibc-devel' ],
    )
{
    my ( $manager, $command, $package ) = @{$case};
    my $dir = tree( 1000, $manager => 'echo called >>log' );
    my ( $status, $out, $err ) = quickstart($dir);
    is( $status, 99, "ordinary user, nothing there, $manager: stops" );
    like(
        $err,
        qr/as root: \Q$command\E.* gcc .*\Q$package\E/,
        '... with the exact command'
    );
    is( $out, '', '... and nothing else' );
    ok( !-e "$dir/log" && !-e "$dir/configure", '... and nothing done' );
}
{
    my $dir = tree(1000);
    my ( $status, undef, $err ) = quickstart($dir);
    is( $status, 99, 'neither apt-get nor dnf: stops' );
    like( $err, qr/install .*autoconf .*make/, '... with what is missing' );
}

# Nothing missing: bootstrap, configure, make, accept; status passed on.
{
    my $dir = tree( 1000, %complete );
    my ( $status, $out, $err ) = quickstart($dir);
    is( $status, 4, 'the status of the campaign is that of quickstart' );
    my $real = abs_path($dir);
    is( slurp("$dir/log"), <<"END", '... after each step in order' );
bootstrap
configure $real/build
make -C build -j 2
assay campaign run --results results build/run_scripts/run_stream
END
    is( $out . $err, '', '... and quiet, with no terminal to tell' );

    unlink "$dir/log";
    quickstart($dir);
    is( slurp("$dir/log"), <<'END', 'again: only what has to be' );
make -C build -j 2
assay campaign run --results results build/run_scripts/run_stream
END
}

# At a terminal: what happens, and the table of configure, whole and once.
SKIP: {
    skip 'no script(1) here', 3
        if system('script -qec : /dev/null >/dev/null 2>&1 </dev/null') != 0;
    my $dir = tree( 1000, %complete );
    my $table = join q{}, "assay 9 is set up so:\n",
        map( {"    row $_\n"} 1 .. 60 ), "  installs to /usr/local\n";
    write_file( "$dir/table", $table );
    script( "$dir/bootstrap", <<'END' );
printf '#!/bin/sh\necho noise; cat ../table; echo >config.status\n' >configure
/bin/chmod +x configure
: >Makefile.in
: >config.h.in
END
    for my $turn ( 'first', 'again' ) {
        unlink "$dir/build/quickstart.stamp";
        my $said = qx(script -qec "PATH='$dir/bin' sh '$dir/quickstart'" /dev/null </dev/null);
        $said =~ s/\r//g;
        my @tables = $said
            =~ /^(assay 9 is set up so:\n(?:    row \d+\n)*  installs to .*\n)/mg;
        is_deeply( \@tables, [$table], "at a terminal, $turn: the whole table" );
        like( $said,
            qr/^quickstart: configuring.*\n(?s:.*)^quickstart: building$/m,
            '... between what happens' ) if $turn eq 'first';
    }
}

# check: the tests' status, and a closing line of counts.
{
    my $dir = tree( 1000, %complete );
    my ( $status, $out ) = quickstart( $dir, 'check' );
    is( $status, 0, 'check passes when the tests do' );
    like( $out, qr/^7 passed, 0 failed, 2 skipped\n\z/m, '... with the counts' );
    local $ENV{BAD} = 3;
    ( $status, $out ) = quickstart( $dir, 'check' );
    is( $status, 2, 'check fails when the tests do' );
    like( $out, qr/^7 passed, 3 failed, 2 skipped\n\z/m, '... with the counts' );
}

# root: what is missing is installed, first the needed.
{
    my %lacking = %complete;
    my $make    = delete $lacking{make};
    my $dir     = tree( 0, %lacking );
    write_file( "$dir/make.text", "#!/bin/sh\n$make" );
    script( "$dir/bin/apt-get", <<'END' );
echo apt-get "$@" >>log
case $1 in
install) cat make.text >bin/make && /bin/chmod +x bin/make ;;
esac
END
    my ( $status, $out, $err ) = quickstart($dir);
    is( $status, 4, 'root: installs, and goes on to the verdict' );
    like(
        slurp("$dir/log"),
        qr/\Aapt-get update\napt-get install -y --no-install-recommends make\n/,
        '... exactly what was missing'
    );

    unlink "$dir/bin/make";
    script( "$dir/bin/apt-get", 'echo "E: no network"; exit 100' );
    ( $status, undef, $err ) = quickstart($dir);
    is( $status, 99, 'root, and installing fails: stops' );
    like( $err, qr/E: no network/,           '... showing why' );
    like( $err, qr/installing failed.*make/, '... and what' );

    script( "$dir/bin/apt-get", 'exit 0' );
    ( $status, undef, $err ) = quickstart($dir);
    is( $status, 99, 'root, and installing helps nothing: stops' );
    like( $err, qr/still missing after installing: make/, '... and says so' );
}

# Where it can't write, it says that, and not the end of another's log.
{
    my $dir = tree( 1000, %complete );
    mkdir "$dir/build" or die $!;
    mkdir "$dir/build/quickstart.log" or die $!;
    my ( $status, undef, $err ) = quickstart($dir);
    is( $status, 99, 'a tree that can not be written: stops' );
    is( $err, "quickstart: can't write build/quickstart.log: "
            . "this tree is another user's?\n", '... and says so' );
}

# bootstrap, where there are no autotools, says what to install.
{
    my $dir = tree( 1000, %complete );
    copy( "$source/bootstrap", "$dir/bootstrap" ) or die "copy: $!";
    local $ENV{PATH} = "$dir/bin";
    my $said = qx(sh '$dir/bootstrap' 2>&1);
    is( $? >> 8, 1, 'bootstrap without autotools: stops' );
    is( $said, <<'END', '... and says what to do' );
bootstrap: autoreconf not found: install autoconf (2.69 or newer) and automake (1.16), or run ./quickstart, which does
END
    $said = qx(sh '$dir/bootstrap' nosuch 2>&1);
    is( $? >> 8, 2, '... and takes no words' );
}

# A failing step ends it, showing the end of its output.
{
    my $dir = tree( 1000, %complete, make => 'echo "no rule"; exit 2' );
    my ( $status, undef, $err ) = quickstart($dir);
    is( $status, 99, 'make fails: stops' );
    like( $err, qr/no rule.*make failed/s, '... showing why' );
}

done_testing();
