#!/usr/bin/perl
#
# The kernels' stores are their own: at no level of optimisation does a
# compiler make memcpy or memset of them.

use 5.014;
use strict;
use warnings;

use File::Temp qw(tempdir);
use FindBin qw($Bin);
use Test::More;

my $source = $ENV{ASSAY_SRCDIR} || "$Bin/..";
my $dir = tempdir(CLEANUP => 1);
my $machine = `uname -m`;
my @compilers = grep { system("command -v $_ >/dev/null 2>&1") == 0 }
    qw(gcc clang);

plan skip_all => 'neither gcc nor clang here' if !@compilers;
plan skip_all => 'no nm here' if system('command -v nm >/dev/null 2>&1') != 0;
open my $config, '>', "$dir/config.h" or die;
close $config or die;

# Functions that the object wants from elsewhere.
sub wanted {
    my ($cc, $flags, $file) = @_;
    my $object = "$dir/object.o";
    my $out = `$cc -std=gnu11 $flags -I'$dir' -I'$source' -c '$file' -o '$object' 2>&1`;

    return "does not compile: $out" if $? != 0;
    my @wanted = grep { !/^_GLOBAL_OFFSET_TABLE_$|^__asan|^__ubsan/ }
        `nm -u '$object'` =~ /^\s*U\s+(\S+)/mg;
    return "@wanted";
}

# That the test can fail: a loop that both compilers take for memcpy.
open my $naive, '>', "$dir/naive.c" or die;
print {$naive} "void copy(double *restrict c, const double *restrict a, unsigned long n)\n"
    . "{\n    for (unsigned long i = 0; i < n; i++)\n        c[i] = a[i];\n}\n";
close $naive or die;
for my $cc (@compilers) {
    like(wanted($cc, '-O3', "$dir/naive.c"), qr/memcpy/,
        "$cc makes memcpy of a plain loop");
}

for my $cc (@compilers) {
    my @cases = (map { ['plain', $_] } qw(-O0 -O2 -Ofast), '-O3 -march=native');
    push @cases, map { my $isa = $_; map { [$isa, $_] } qw(-O0 -Ofast) }
        $machine =~ /x86_64/ ? qw(avx2 avx512) : 'neon';
    for my $case (@cases) {
        my ($isa, $flags) = @$case;
        is(wanted($cc, $flags, "$source/lib/kernels_$isa.c"), q{},
            "$cc $flags: $isa kernels call nothing");
    }
}

SKIP: {
    skip 'x86 alone has these', 4 if $machine !~ /x86_64/;
    skip 'no objdump here', 4
        if system('command -v objdump >/dev/null 2>&1') != 0;
    for my $case (['avx2', 'movnt\S* +%ymm'], ['avx512', 'movnt\S* +%zmm']) {
        my ($isa, $instruction) = @$case;
        wanted($compilers[0], '-O0', "$source/lib/kernels_$isa.c");
        my $code = `objdump -d '$dir/object.o'`;
        like($code, qr/$instruction/, "$isa stores past the caches");
        like($code, qr/sfence/, 'and waits for it');
    }
}

done_testing();
