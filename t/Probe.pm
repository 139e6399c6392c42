package Probe;

# Run t/programs/probe in a directory of its own, and read what it left.

use strict;
use warnings;

use Cwd qw(abs_path);
use Exporter qw(import);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use Time::HiRes qw(time);

our @EXPORT = qw(at_once field line lines metrics probe probe_end probe_path
    probe_start slurp source unique verdict);

my $source = $ENV{ASSAY_SRCDIR} || abs_path(dirname(__FILE__) . '/..');
my $build = $ENV{ASSAY_BUILDDIR} || $source;
my %begun;    # by process
my $dir = tempdir('probe-XXXXXX', TMPDIR => 1, CLEANUP => 1);

unshift @INC, "$source/harness";
require Assay::Record;
require Assay::Text;

delete @ENV{grep {/^HWLOC_/} keys %ENV};
chdir $dir or die "$dir: $!";
-x probe_path() or die probe_path() . " is not built\n";

sub source { return "$source/$_[0]" }
sub probe_path { return "$build/t/programs/probe" }

sub slurp {
    my ($path) = @_;
    open my $file, '<:raw', $path or return;
    local $/ = undef;
    return scalar <$file>;
}

# Run the shell command, in which PROBE stands for the probe, and every @ for
# a record that does not exist yet.  Returns a hash of exit status (128 + n
# for signal n), stdout, stderr, record (undef if there is none), and seconds.
sub probe {
    my ($command) = @_;
    return probe_end(probe_start($command));
}

# The two halves of it: the first returns the process. With a folder, which is
# made, it runs there: so several can be started before the first has ended.
sub probe_start {
    my ($command, $folder) = @_;
    my $path = probe_path();

    mkdir $folder if defined $folder;
    unlink map { _in($folder, $_) } qw(record out err);
    $command =~ s/PROBE/'$path'/g;
    $command =~ s/\@/--record=record/g;
    my $pid = fork;
    defined $pid or die "fork: $!";
    $begun{$pid} = time;
    return $pid if $pid;
    chdir $folder or die if defined $folder;
    open STDOUT, '>', 'out' or die;
    open STDERR, '>', 'err' or die;
    exec '/bin/sh', '-c', $command or die;
}

sub probe_end {
    my ($pid, $folder) = @_;

    waitpid $pid, 0;
    return {
        status  => $? & 127 ? 128 + ($? & 127) : $? >> 8,
        seconds => time - delete $begun{$pid},
        map { ($_ => scalar slurp(_in($folder, $_))) } qw(out err record),
    };
}

sub _in { return defined $_[0] ? "$_[0]/$_[1]" : $_[1] }

# Run several commands, which spend their time waiting, at once: what each left.
sub at_once {
    my @commands = @_;
    my @pids = map { probe_start($commands[$_], "at_once$_") } 0 .. $#commands;

    return map { probe_end($pids[$_], "at_once$_") } 0 .. $#commands;
}

# The lines of a kind in a record.
sub lines {
    my ($run, $kind) = @_;
    return grep {/^\Q$kind\E /} split /\n/, defined $run->{record}
        ? $run->{record} : q{};
}

# The fields of the last line of a kind; nothing if there is none.
sub line {
    my ($run, $kind) = @_;
    my $line = (lines($run, $kind))[-1];

    return if !defined $line;
    my ($fields, $why) = Assay::Text::split_fields($line =~ s/^\S+//r);
    die "$why: $line\n" if !$fields;
    return $fields;
}

# A field of that line.
sub field {
    my ($run, $kind, $name) = @_;
    my $fields = line($run, $kind);
    return $fields ? $fields->{$name} : undef;
}

# All metrics, or those of one name, each as a hash of its fields.
sub metrics {
    my ($run, $name) = @_;
    my @fields = map { Assay::Text::split_fields(s/^\S+//r) } lines($run, 'metric');

    return grep { !defined $name || $_->{name} eq $name } @fields;
}

# Whether no two lines of a kind have the same name and the same keys.
sub unique {
    my ($run, $kind) = @_;
    my %seen;

    for my $line (lines($run, $kind)) {
        my $fields = Assay::Text::split_fields($line =~ s/^\S+//r);
        delete @{$fields}{qw(value n best min q1 median q3 max values error
            tolerance ok reason cpus faults)};
        return 0 if $seen{join q{ }, map {"$_=$fields->{$_}"} sort keys %$fields}++;
    }
    return 1;
}

# What the judge's reader makes of a record: its class and why.
sub verdict {
    my ($run) = @_;

    open my $file, '>:raw', 'judged' or die;
    print {$file} $run->{record};
    close $file or die;
    my $record = Assay::Record->new(path => 'judged', metric => sub { });
    $record->read_file;
    unlink 'judged';
    return $record->{class} eq q{} ? 'good' : "$record->{class}: $record->{why}";
}

END { chdir q{/} }

1;
