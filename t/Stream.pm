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

our @EXPORT = qw(compiler field line lines metric rate_of slurp source stream
    stream_path unique verdict);

my $source = $ENV{ASSAY_SRCDIR} || abs_path(dirname(__FILE__) . '/..');
my $build = $ENV{ASSAY_BUILDDIR} || $source;

delete @ENV{grep {/^(?:OMP|GOMP|KMP)_/} keys %ENV};
-x stream_path() or die stream_path() . " is not built\n";

sub stream_path { return "$build/stream/stream" }
sub source { return "$source/$_[0]" }

# Run the shell command, in which STREAM stands for the program, and every @
# for a record that does not exist yet.
sub stream {
    my ($command) = @_;
    my $path = stream_path();

    $command =~ s/STREAM/'$path'/g;
    return probe($command);
}

# A field of the last line of a kind.
sub field {
    my ($run, $kind, $name) = @_;
    my $fields = line($run, $kind);
    return $fields ? $fields->{$name} : undef;
}

# All lines of one metric, each as a hash of its fields.
sub metric {
    my ($run, $name) = @_;
    return map { Assay::Text::split_fields(s/^\S+//r) }
        grep {/ name=\Q$name\E /} lines($run, 'metric');
}

# The rate that the output gives behind a label.
sub rate_of {
    my ($run, $label) = @_;
    return $run->{out} =~ /^.*\Q$label\E:?\s+([\d.]+)/m ? $1 : undef;
}

# Whether no two lines of a kind have the same name and the same keys.
sub unique {
    my ($run, $kind) = @_;
    my %seen;

    for my $line (lines($run, $kind)) {
        my $fields = Assay::Text::split_fields($line =~ s/^\S+//r);
        delete @{$fields}{qw(value n best min q1 median q3 max values error
            reason cpus faults)};
        return 0 if $seen{join q{ }, map {"$_=$fields->{$_}"}
            sort keys %$fields}++;
    }
    return 1;
}

# A compiler that tests may use, or nothing.
sub compiler {
    for my $cc ($ENV{CC} ? (split q{ }, $ENV{CC})[0] : (), qw(cc gcc clang)) {
        return $cc if system("command -v $cc >/dev/null 2>&1") == 0;
    }
    return;
}

1;
