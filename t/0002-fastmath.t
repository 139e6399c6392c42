#!/usr/bin/perl
#
# At -Ofast, given to make by a user, a compiler may take every number for
# finite and flush small ones to zero.  Data are verified by code that is
# compiled and linked otherwise: this tries the very commands.

use strict;
use warnings;

use Cwd qw(getcwd);
use File::Temp qw(tempdir);
use Test::More;

my $build = $ENV{ASSAY_BUILDDIR} || getcwd();
if ( !-f "$build/Makefile" ) {
    plan skip_all => 'not in a build tree';
}
delete @ENV{qw(MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES)};
my ( $compile, $link, $plain ) =
    map { s/\n//r } qx(make -s -C "$build" show-compile CFLAGS=-Ofast);
like( $compile, qr/ -Ofast .*-fno-finite-math-only/,
    'what undoes fast math stands behind the user\'s flags' );

my $dir = tempdir( 't0002-XXXXXX', DIR => getcwd(), CLEANUP => 1 );
open my $fh, '>', "$dir/try.c" or die $!;
print {$fh} <<'END';
#include <float.h>
#include <math.h>
int main(int argc, char **argv)
{
    volatile double zero = argc > 99, small = DBL_MIN;
    double nan = zero / zero, inf = 1 / zero;
    double big = 1e100, sum;

    (void)argv;
    sum = (zero + 1 + big) - big;
    return (isnan(nan) ? 0 : 1) | (isinf(inf) ? 0 : 2) |
           (nan <= 1 ? 4 : 0) | (small / 2 != 0 ? 0 : 8) |
           (sum == 0 ? 0 : 16);
}
END
close $fh or die $!;

# Compile and link with these commands, and run: the faults seen, as bits.
sub faults {
    my ( $how, $with ) = @_;
    system("cd '$build' && $how -c -o '$dir/try.o' '$dir/try.c' && $with -o '$dir/try' '$dir/try.o' -lm") == 0
        or return 'did not compile';
    system { "$dir/try" } "$dir/try";
    return $? >> 8;
}

SKIP: {
    is( faults( $compile, $link ), 0,
        'NaN, infinity, a denormal and the order of a sum survive -Ofast' );

    # The check can fail: without our flags something is lost.
    ( my $loose = $compile ) =~ s/ -Ofast\K.*//;
    my $lost = faults( $loose, $plain );
    skip 'this compiler keeps all of it even so', 1 if $lost eq '0';
    isnt( $lost, 0, 'which without them they do not' );
    note("faults without: $lost");
}

done_testing();
