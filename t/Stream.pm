package Stream;

# Run stream in a directory of its own, and read what it left.  Everything of
# Probe may be used on the result.

use strict;
use warnings;

use Cwd qw(abs_path);
use Exporter qw(import);
use File::Basename qw(dirname);
use FindBin;
use lib $FindBin::Bin;
use Probe;

our @EXPORT = qw(compiler field line lines metrics rate_of slurp source stream
    stream_path unique verdict);

my $source = $ENV{ASSAY_SRCDIR} || abs_path(dirname(__FILE__) . '/..');
my $build = $ENV{ASSAY_BUILDDIR} || $source;

delete @ENV{grep {/^(?:OMP|GOMP|KMP)_/} keys %ENV};
-x stream_path() or die stream_path() . " is not built\n";

sub stream_path { return "$build/stream/stream" }

# Run the shell command, in which STREAM stands for the program, and every @
# for a record that does not exist yet.
sub stream {
    my ($command) = @_;
    my $path = stream_path();

    $command =~ s/STREAM/'$path'/g;
    return probe($command);
}

# The rate that the output gives behind a label.
sub rate_of {
    my ($run, $label) = @_;
    return $run->{out} =~ /^.*\Q$label\E:?\s+([\d.]+)/m ? $1 : undef;
}

# A compiler that tests may use, or nothing.
sub compiler {
    for my $cc ($ENV{CC} ? (split q{ }, $ENV{CC})[0] : (), qw(cc gcc clang)) {
        return $cc if system("command -v $cc >/dev/null 2>&1") == 0;
    }
    return;
}

1;
