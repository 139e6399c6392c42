#!/usr/bin/perl
#
# Topology: hwloc and /sys tell the same of every recorded machine and of this
# one; the CPUs are those that the process was started with, whatever OpenMP
# did to the main thread since; recorded machines are what their script says.

use strict;
use warnings;

use Cwd        qw(getcwd);
use File::Temp qw(tempdir);
use Test::More;

$ENV{OMP_WAIT_POLICY} = 'passive';    # idle threads that spin slow all down
my $source  = $ENV{ASSAY_SRCDIR}   || getcwd();
my $build   = $ENV{ASSAY_BUILDDIR} || getcwd();
my $program = "$build/t/programs/topology";
my $data    = "$source/t/data/machines";
if ( !-x $program ) {
    plan skip_all => 'not built: make t/programs/topology';
}

my @machines = sort map { m{([^/]+)/topo[.]xml$} } glob_in($data);
cmp_ok( scalar @machines, '>=', 12, 'there are recorded machines' );
my @described = output( $^X, "$data/machines.pl", 'list' );
chomp @described;
is( "@described", "@machines", 'each is described, each description kept' );

my ( $none, $why ) = run( 'xml', "$data/nps4/topo.xml" );
my $hwloc  = $why !~ /built without hwloc/;
my %reason = ( hwloc => 'built without hwloc' );

for my $name (@machines) {
    my $xml = join '', output( $^X, "$data/machines.pl", 'xml', $name );
    is( slurp("$data/$name/topo.xml"), $xml, "$name: is as described" );
  SKIP: {
        skip $reason{hwloc}, 1 if !$hwloc;
        my $root = tempdir( 'assay-sys-XXXXXX', TMPDIR => 1, CLEANUP => 1 );
        output( $^X, "$data/machines.pl", 'sysfs', $name, $root );
        is(
            compared( allowed( $name, run( 'sysfs', $root ) ) ),
            compared( run( 'xml', "$data/$name/topo.xml" ) ),
            "$name: hwloc and /sys agree"
        );
    }
}

# Here.
my ($here)  = run('here');
my ($sysfs) = run( 'sysfs', q{} );
is( compared($here), compared($sysfs), 'here: hwloc and /sys agree' );
like(
    $here,
    qr/^# source (?:hwloc|sysfs|sysconf|assumed) this_machine 1$/m,
    'here: this is this machine'
);
my ($cpus) = $here =~ /^cpus (\d+)/;

# A mask that the process is started with is kept to.
my @allowed = $here =~ /^cpu (\d+)/mg;
SKIP: {
    skip 'no taskset here', 2 if !has_taskset();
    my $one = join '',
      output( 'taskset', '-c', $allowed[-1], $program, 'here' );
    like( $one, qr/^cpus 1 cores 1 /, 'a mask of one CPU: one CPU, one core' );
    like( $one, qr/ threads 1$/m,     'and one thread by default' );
}

# OpenMP binds the main thread before main(): only who looked before it knows.
{
    local $ENV{OMP_PROC_BIND} = 'true';
    my ($bound) = run('here');
    is( first($bound), first($here),
        "OMP_PROC_BIND=true: all $cpus CPUs are seen" );
  SKIP: {
        my ($late) = $bound =~ /^# late (\d+)/m;
        skip 'this OpenMP library binds later', 1
          if $cpus > 1 && $late == $cpus;
        is( $late, 1, 'where a late look sees one' );
    }
}

# The number of threads asked for changes nothing about the machine.
{
    local $ENV{OMP_NUM_THREADS}  = 8;
    local $ENV{OMP_THREAD_LIMIT} = 8;
    my ($many) = run('here');
    is( first($many), first($here), 'OMP_NUM_THREADS=8 makes no CPUs' );
    like( $many, qr/^# team 8$/m, 'though it makes threads' );
}

# A machine that the environment makes up is shown, and not believed.
SKIP: {
    skip $reason{hwloc}, 2 if !$hwloc;
    local $ENV{HWLOC_XMLFILE}    = "$data/nps4/topo.xml";
    local $ENV{HWLOC_THISSYSTEM} = 1;
    my ($other) = run('here');
    like( $other, qr/^cpus 16 /,        'HWLOC_XMLFILE: that machine' );
    like( $other, qr/this_machine 0$/m, 'which is not this one' );
}

done_testing();

# Standard output and error of the program.
sub run {
    my @args = @_;
    my $dir  = tempdir( CLEANUP => 1 );
    my $pid  = fork;
    defined $pid or die "fork: $!";
    if ( !$pid ) {
        open STDOUT, '>', "$dir/out" or die $!;
        open STDERR, '>', "$dir/err" or die $!;
        exec $program, @args or die "exec: $!";
    }
    waitpid $pid, 0;
    return ( slurp("$dir/out"), slurp("$dir/err") );
}

sub output {
    my @command = @_;
    open my $out, '-|', @command or die "$command[0]: $!";
    my @lines = <$out>;
    close $out or diag("@command: status $?");
    return @lines;
}

sub slurp {
    my ($path) = @_;
    open my $in, '<', $path or die "$path: $!";
    local $/ = undef;
    my $text = <$in>;
    close $in or die "$path: $!";
    return $text;
}

sub glob_in {
    my ($dir) = @_;
    opendir my $in, $dir or die "$dir: $!";
    my @names = grep { !/^[.]/ } readdir $in;
    closedir $in;
    return grep { -f } map { "$dir/$_/topo.xml" } @names;
}

sub first {
    my ($text) = @_;
    return ( split /\n/, $text )[0];
}

# What must agree: all but the numbers of caches, which hwloc counts by level;
# they are numbered anew, in the order in which they come up.
sub compared {
    my ($text) = @_;
    my %number;
    $text =~ s{^(cpu .* cache )(\d+)}{
        $number{$2} = keys %number if !exists $number{$2};
        $1 . $number{$2};
    }gem;
    return join q{}, grep { !/^#/ } map { "$_\n" } split /\n/, $text;
}

# /sys shows the whole machine; of a job's, only hwloc's file knows what it may
# use, so there the comparison is with the lines of those CPUs and nodes.
sub allowed {
    my ( $name, $text ) = @_;
    return $text if $name ne 'cgroup';
    my ($xml) = run( 'xml', "$data/$name/topo.xml" );
    my %cpu = map { ( $_ => 1 ) } $xml =~ /^cpu (\d+)/mg;
    my @lines =
      grep { /^cpu (\d+)/ ? $cpu{$1} : /^node (\d+)/ ? $1 == 1 : !/^cpus / }
      split /\n/, $text;
    $lines[$_] =~ s/ cpus 8$/ cpus 6/ for 0 .. $#lines;
    return join q{}, first($xml) . "\n", map { "$_\n" } @lines;
}

sub has_taskset {
    return grep { -x "$_/taskset" } split /:/, $ENV{PATH};
}
