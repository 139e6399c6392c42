#!/usr/bin/env perl
#
# The recorded machines: what stands in NAME/topo.xml, and the same as a /sys.
#
# usage: machines.pl list | xml NAME | sysfs NAME ROOT
#
# Real captures run to megabytes and bear their owner's name, so each machine
# is written down here as its tree, after processors of its kind: numbering of
# CPUs, sizes and sharing of caches as Linux shows them there.

use strict;
use warnings;

use File::Path qw(make_path);

my $KIB = 1024;
my $MIB = 1024 * $KIB;
my $GIB = 1024 * $MIB;

## The tree: [TYPE, {attributes}, children...]. Types are hwloc's.

sub pu { my ($os) = @_; return [ 'PU', { os => $os } ] }

sub core {
    my ( $os, @pus ) = @_;
    return [ 'Core', { os => $os }, map { pu($_) } @pus ];
}

sub cache {
    my ( $level, $size, @in ) = @_;
    return [ "L${level}Cache", { size => $size }, @in ];
}

sub node {
    my ( $os, $bytes ) = @_;
    return [ 'NUMANode', { os => $os, bytes => $bytes } ];
}
sub package_ { my ( $os, @in ) = @_; return [ 'Package', { os => $os }, @in ] }

# A core with its own L2. An L1 is written down on some machines only: it
# decides nothing, and triples the files of a /sys.
sub full {
    my ( $os, $l2, @pus ) = @_;
    return cache( 2, $l2, core( $os, @pus ) );
}

## The machines.

my %machines = (

    # Two sockets, 8 cores each, two threads a core: siblings are i and i+16.
    'two-socket' => {
        tree => [
            map {
                my $p = $_;
                package_(
                    $p,
                    node( $p, 96 * $GIB ),
                    cache(
                        3,
                        22 * $MIB,
                        map { full( $_, $MIB, 8 * $p + $_, 16 + 8 * $p + $_ ) }
                          0 .. 7
                    )
                )
            } 0,
            1
        ],
    },

    # Two sockets of 8 core complexes, 2 cores and 32 MiB each, one thread.
    'multi-ccx' => {
        tree => [
            map {
                my $p = $_;
                package_(
                    $p,
                    node( $p, 256 * $GIB ),
                    map {
                        my $x = $_;
                        cache(
                            3,
                            32 * $MIB,
                            map {
                                full( 2 * $x + $_,
                                    512 * $KIB, 16 * $p + 2 * $x + $_ )
                            } 0,
                            1
                        )
                    } 0 .. 7
                )
            } 0,
            1
        ],
    },

   # One socket in four NUMA nodes (NPS4), each with two complexes of two cores.
    'nps4' => {
        tree => [
            package_(
                0,
                map {
                    my $n = $_;
                    [
                        'Group',
                        {},
                        node( $n, 64 * $GIB ),
                        map {
                            my $x = 2 * $n + $_;
                            cache(
                                3,
                                16 * $MIB,
                                map {
                                    full( 2 * $x + $_, 512 * $KIB, 2 * $x + $_ )
                                } 0,
                                1
                            )
                        } 0,
                        1
                    ]
                } 0 .. 3
            )
        ],
    },

    # Four performance cores with two threads, eight efficiency cores of which
    # four share an L2.
    'hybrid' => {
        tree => [
            package_(
                0,
                node( 0, 32 * $GIB ),
                cache(
                    3,
                    30 * $MIB,
                    ( map { full( $_, 2 * $MIB, 2 * $_, 2 * $_ + 1 ) } 0 .. 3 ),
                    map {
                        my $m = $_;
                        cache(
                            2,
                            4 * $MIB,
                            map {
                                cache( 1, 32 * $KIB,
                                    core( 4 + 4 * $m + $_, 8 + 4 * $m + $_ ) )
                            } 0 .. 3
                        )
                    } 0,
                    1
                )
            )
        ],
        atom => [ 8 .. 15 ],
    },

    # The same idea with two cores more on an island of their own: no L3 there.
    'hybrid-island' => {
        tree => [
            package_(
                0,
                node( 0, 32 * $GIB ),
                cache(
                    3,
                    24 * $MIB,
                    ( map { full( $_, 2 * $MIB, 2 * $_, 2 * $_ + 1 ) } 0, 1 ),
                    cache(
                        2,
                        2 * $MIB,
                        map { cache( 1, 32 * $KIB, core( 2 + $_, 4 + $_ ) ) }
                          0 .. 3
                    )
                ),
                cache(
                    2, 2 * $MIB,
                    map { cache( 1, 32 * $KIB, core( 6 + $_, 8 + $_ ) ) } 0, 1
                )
            )
        ],
        atom => [ 4 .. 9 ],
    },

    # Cores of two sizes on an Arm processor: the kernel tells by capacity.
    'big-little' => {
        tree => [
            package_(
                0,
                node( 0, 8 * $GIB ),
                cache(
                    3,
                    4 * $MIB,
                    map { full( $_, ( $_ < 4 ? 128 : 512 ) * $KIB, $_ ) }
                      0 .. 7
                )
            )
        ],
        capacity => [ (446) x 4, (1024) x 4 ],
    },

    # two-socket as a job sees it that was granted four cores of the second
    # socket; quota and memory limit stand in its control groups.
    'cgroup' => {
        tree => [
            map {
                my $p = $_;
                package_(
                    $p,
                    node( $p, 96 * $GIB ),
                    cache(
                        3,
                        16 * $MIB,
                        map { full( $_, $MIB, 4 * $p + $_, 8 + 4 * $p + $_ ) }
                          0 .. 3
                    )
                )
            } 0,
            1
        ],
        cpus  => [ 4 .. 6, 12 .. 14 ],
        nodes => [1],
    },

    # Memory near the cores and memory-only nodes: HBM beside each half of the
    # socket, and a CXL expander that belongs to the whole machine.
    'hbm-cxl' => {
        tree => [
            node( 4, 128 * $GIB ),
            package_(
                0,
                map {
                    my $n = $_;
                    [
                        'Group',
                        {},
                        node( $n,     64 * $GIB ),
                        node( 2 + $n, 16 * $GIB ),
                        cache(
                            3,
                            56 * $MIB,
                            map { full( 4 * $n + $_, 2 * $MIB, 4 * $n + $_ ) }
                              0 .. 3
                        )
                    ]
                } 0,
                1
            )
        ],
    },

    # HBM as a memory-side cache: 16 GiB in front of 64 GiB.
    'memory-cache' => {
        tree => [
            package_(
                0,
                [ 'MemCache', { size => 16 * $GIB }, node( 0, 64 * $GIB ) ],
                cache( 3, 56 * $MIB, map { full( $_, 2 * $MIB, $_ ) } 0 .. 3 )
            )
        ],
    },

    # Four threads a core, numbered one after the other; caches of core pairs.
    'smt4' => {
        tree => [
            package_(
                0,
                node( 0, 128 * $GIB ),
                map {
                    my $x = $_;
                    cache(
                        3,
                        10 * $MIB,
                        cache(
                            2,
                            512 * $KIB,
                            map {
                                my $c = 2 * $x + $_;
                                cache( 1, 32 * $KIB,
                                    core( $c, map { 4 * $c + $_ } 0 .. 3 ) )
                            } 0,
                            1
                        )
                    )
                } 0,
                1
            )
        ],
    },

    # Three cores left on one socket and one on the other: CPUs taken offline.
    'uneven' => {
        tree => [
            package_(
                0,
                node( 0, 16 * $GIB ),
                cache( 3, 8 * $MIB, map { full( $_, $MIB, $_ ) } 0, 1, 3 )
            ),
            package_(
                1,
                node( 1, 16 * $GIB ),
                cache( 3, 8 * $MIB, full( 2, $MIB, 6 ) )
            )
        ],
    },

    # A guest whose host tells nothing about caches.
    'no-cache' => {
        tree =>
          [ package_( 0, node( 0, 4 * $GIB ), map { core( $_, $_ ) } 0 .. 3 ) ],
    },

    # A processor of which the kernel knows the cache but not its size.
    'cache-without-size' => {
        tree => [
            package_(
                0,
                node( 0, 4 * $GIB ),
                cache( 3, 0, map { core( $_, $_ ) } 0 .. 3 )
            )
        ],
    },
);

## Sets.

sub is_memory { my ($o) = @_; return $o->[0] =~ /^(NUMANode|MemCache)$/ }

sub children { my ($o) = @_; my ( $type, $attr, @in ) = @$o; return @in }

sub pus {
    my ($o) = @_;
    return $o->[0] eq 'PU' ? $o->[1]{os} : map { is_memory($_) ? () : pus($_) }
      children($o);
}

sub nodes {
    my ($o) = @_;
    return $o->[0] eq 'NUMANode' ? $o->[1]{os} : map { nodes($_) } children($o);
}

# hwloc's form: 32-bit words, the highest first.
sub set {
    my @words = (0);
    for my $i (@_) {
        $words[ $i / 32 ] |= 1 << $i % 32;
    }
    return join ',', map { sprintf '0x%08x', $_ || 0 } reverse @words;
}

# Linux's form: "0-3,8".
sub list {
    my @out;
    for my $i ( sort { $a <=> $b } @_ ) {
        if ( @out && $out[-1][1] == $i - 1 ) { $out[-1][1] = $i }
        else                                 { push @out, [ $i, $i ] }
    }
    return join ',',
      map { $_->[0] == $_->[1] ? $_->[0] : "$_->[0]-$_->[1]" } @out;
}

sub machine {
    my ($name) = @_;
    my $m = $machines{$name} or die "machines.pl: $name: no such machine\n";
    return ( $m, [ 'Machine', { os => 0 }, @{ $m->{tree} } ] );
}

## XML as hwloc 2 reads it.

my $gp;

sub attributes {
    my ( $o, $cpus, $nodes ) = @_;
    my ( $type, $attr ) = @$o;
    my @out = qq(type="$type");
    push @out, qq(os_index="$attr->{os}") if defined $attr->{os};
    for (qw(cpuset complete_cpuset)) {
        push @out, qq($_=") . set(@$cpus) . '"';
    }
    for (qw(nodeset complete_nodeset)) {
        push @out, qq($_=") . set(@$nodes) . '"';
    }
    push @out, 'gp_index="' . ++$gp . '"';
    push @out, qq(local_memory="$attr->{bytes}") if $type eq 'NUMANode';
    push @out,
qq(cache_size="$attr->{size}" depth="$1" cache_linesize="64" cache_associativity="0" cache_type=")
      . ( $1 == 1 ? 1 : 0 ) . '"'
      if $type =~ /^L(\d)Cache$/;
    push @out,
qq(cache_size="$attr->{size}" depth="1" cache_linesize="64" cache_associativity="1" cache_type="0")
      if $type eq 'MemCache';
    push @out, 'kind="0" subkind="0"' if $type eq 'Group';
    return @out;
}

# above: nodes attached to objects over this one.
sub xml_object {
    my ( $o, $depth, $above, $cpus, @extra ) = @_;
    my @in    = children($o);
    my @near  = map { nodes($_) } grep { is_memory($_) } @in;
    my @nodes = is_memory($o) ? nodes($o) : ( @$above, nodes($o) );
    my $text  = ' ' x ( 2 * $depth ) . '<object ' . join ' ',
      attributes( $o, $cpus, \@nodes ), @extra;
    return "$text/>\n" if !@in;
    $text .= ">\n";
    for ( sort { is_memory($b) <=> is_memory($a) } @in ) {
        $text .= xml_object(
            $_, $depth + 1,
            [ @$above, @near ],
            is_memory($_) ? $cpus : [ pus($_) ]
        );
    }
    return $text . ' ' x ( 2 * $depth ) . "</object>\n";
}

sub xml_kind {
    my ( $cpus, $efficiency, $name, $value ) = @_;
    return
        '  <cpukind cpuset="'
      . set(@$cpus)
      . qq(" forced_efficiency="$efficiency">\n)
      . qq(    <info name="$name" value="$value"/>\n  </cpukind>\n);
}

sub xml {
    my ($name) = @_;
    my ( $m, $tree ) = machine($name);
    my @cpus = pus($tree);
    my $text =
qq(<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n<topology version="2.0">\n);

    $gp = 0;
    $text .= xml_object(
        $tree,
        1,
        [],
        \@cpus,
        'allowed_cpuset="' . set( @{ $m->{cpus}   || \@cpus } ) . '"',
        'allowed_nodeset="' . set( @{ $m->{nodes} || [ nodes($tree) ] } ) . '"'
    );
    $text .= qq(  <support name="discovery.$_"/>\n) for qw(pu numa numa_memory);
    if ( $m->{atom} ) {
        my %atom = map { $_ => 1 } @{ $m->{atom} };
        $text .= xml_kind( $m->{atom}, 0, 'CoreType', 'IntelAtom' );
        $text .=
          xml_kind( [ grep { !$atom{$_} } @cpus ], 1, 'CoreType', 'IntelCore' );
    }
    if ( $m->{capacity} ) {
        my %of;
        push @{ $of{ $m->{capacity}[$_] } }, $_ for @cpus;
        my $rank = 0;
        $text .= xml_kind( $of{$_}, $rank++, 'LinuxCapacity', $_ )
          for sort { $a <=> $b } keys %of;
    }
    return "$text</topology>\n";
}

## The same as files of /sys.

sub put {
    my ( $path, $text ) = @_;
    my ($dir) = $path =~ m{^(.*)/};
    if ( !-d $dir ) {
        make_path($dir);
    }
    open my $fh, '>', $path or die "machines.pl: $path: $!\n";
    print {$fh} "$text\n";
    close $fh or die "machines.pl: $path: $!\n";
    return;
}

sub sysfs_pu {
    my ( $root, $cpu, @over ) = @_;
    my $dir = "$root/sys/devices/system/cpu/cpu$cpu";
    my $i   = 0;
    for my $o ( reverse @over ) {
        my $list = list( pus($o) );
        put( "$dir/topology/core_cpus_list",    $list ) if $o->[0] eq 'Core';
        put( "$dir/topology/package_cpus_list", $list ) if $o->[0] eq 'Package';
        next if $o->[0] !~ /^L(\d)Cache$/;
        put( "$dir/cache/index$i/level", $1 );
        put( "$dir/cache/index$i/type",  $1 == 1 ? 'Data' : 'Unified' );
        put( "$dir/cache/index$i/shared_cpu_list", $list );
        put( "$dir/cache/index$i/size",            $o->[1]{size} / $KIB . 'K' )
          if $o->[1]{size};
        $i++;
    }
    return;
}

# Linux calls those CPUs a node's that have no smaller node nearer to them.
sub sysfs_node {
    my ( $root, $node, $cpus, @over ) = @_;
    my $dir = "$root/sys/devices/system/node/node$node->{os}";
    put( "$dir/cpulist", list(@$cpus) );
    put(
        "$dir/meminfo",
        sprintf "Node %d MemTotal:       %d kB\nNode %d MemFree:        %d kB",
        ( $node->{os}, $node->{bytes} / $KIB ) x 2
    );
    my $i = 0;
    for ( grep { $_->[0] eq 'MemCache' } reverse @over ) {
        put( "$dir/memory_side_cache/index" . ++$i . '/size', $_->[1]{size} );
    }
    return;
}

sub sysfs_walk {
    my ( $root, $o, $taken, @over ) = @_;
    if ( $o->[0] eq 'PU' ) {
        sysfs_pu( $root, $o->[1]{os}, @over );
    }
    for ( grep { !is_memory($_) } children($o) ) {
        sysfs_walk( $root, $_, $taken, @over, $o );
    }
    if ( $o->[0] eq 'NUMANode' ) {
        my ($at) = grep { !is_memory($_) } reverse @over;
        my @cpus = grep { !$taken->{$_}++ } pus($at);
        sysfs_node( $root, $o->[1], \@cpus, @over );
    }
    for ( grep { is_memory($_) } children($o) ) {
        sysfs_walk( $root, $_, $taken, @over, $o );
    }
    return;
}

sub sysfs {
    my ( $name, $root ) = @_;
    my ( $m, $tree )    = machine($name);
    my @cpus = pus($tree);
    my %atom = map { $_ => 1 } @{ $m->{atom} || [] };

    put( "$root/sys/devices/system/cpu/online",      list(@cpus) );
    put( "$root/sys/devices/system/node/online",     list( nodes($tree) ) );
    put( "$root/sys/devices/system/node/has_memory", list( nodes($tree) ) );
    if ( $m->{atom} ) {
        put( "$root/sys/devices/cpu_atom/cpus", list( @{ $m->{atom} } ) );
        put(
            "$root/sys/devices/cpu_core/cpus",
            list( grep { !$atom{$_} } @cpus )
        );
    }
    if ( $m->{capacity} ) {
        put( "$root/sys/devices/system/cpu/cpu$_/cpu_capacity",
            $m->{capacity}[$_] )
          for @cpus;
    }
    sysfs_walk( $root, $tree, {} );
    return;
}

my ( $verb, $name, $root ) = @ARGV;
$verb //= '';
if ( $verb eq 'list' && @ARGV == 1 ) {
    print "$_\n" for sort keys %machines;
}
elsif ( $verb eq 'xml' && @ARGV == 2 ) {
    print xml($name);
}
elsif ( $verb eq 'sysfs' && @ARGV == 3 ) {
    sysfs( $name, $root );
}
else {
    print {*STDERR} "usage: machines.pl list | xml NAME | sysfs NAME ROOT\n";
    exit 2;
}
