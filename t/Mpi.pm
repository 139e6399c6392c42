package Mpi;

# Run programs of this build under its MPI's own launcher, in a directory of
# their own, and read what they left.  Everything of Probe may be used on the
# result.

use strict;
use warnings;

use Cwd qw(abs_path getcwd);
use Exporter qw(import);
use File::Basename qw(basename dirname);
use FindBin;
use lib $FindBin::Bin;
use Probe;

our @EXPORT = qw(alone job job_end job_start jobs_at_once judged launcher library
    metrics missing program slurp source unique);

my $source = $ENV{ASSAY_SRCDIR} || abs_path(dirname(__FILE__) . '/..');
my $build = $ENV{ASSAY_BUILDDIR} || $source;

use constant LIMIT => 240;    # seconds that a job of a test may take

# What a launcher or a scheduler left behind, and what tests set, is not ours.
delete @ENV{grep {/^(?:SLURM|FLUX|PMI|PMIX|OMPI|MPIEXEC|HYDRA|MPIR_CVAR)_/} keys %ENV};

# Ranks that wait give way to those that work: there may be more than CPUs.
$ENV{OMPI_MCA_mpi_yield_when_idle} = 1;
$ENV{"OMPI_ALLOW_RUN_AS_ROOT$_"} = 1 for q{}, '_CONFIRM';

$ENV{OMPI_MCA_mca_base_component_path} = $_ for _spared_plugins();

# MPI libraries leak by themselves; the serial tests look for leaks of ours.
$ENV{ASAN_OPTIONS} = join q{:}, $ENV{ASAN_OPTIONS} // (), 'detect_leaks=0';

# A variable of the build's Makefile.
sub _variable {
    my ($name) = @_;
    my $makefile = slurp("$build/Makefile") // q{};

    return $makefile =~ /^\Q$name\E = (.+)$/m ? $1 : q{};
}

sub library { return _variable('MPI_LIBRARY') }

# Open MPI loads all its plug-ins to name the transport, and the libraries of
# InfiniPath and Omni-Path below some of them measure the clock whenever they are
# loaded: four times 0.1 s of sleep a start. Where there is no such adapter they
# are left out, and nothing else is chosen. Returns the folder of the others.
sub _spared_plugins {
    return if library() !~ /\AOpen MPI/ || glob '/sys/class/infiniband/*';
    my $info = dirname(_variable('MPIRUN')) . '/ompi_info';
    return if !-x $info;
    local $ENV{OMPI_MCA_mca_base_component_path} = '/nonexistent';
    my ($folder) = qx('$info' --parsable --path pkglibdir 2>/dev/null)
        =~ /^path:pkglibdir:(.+)$/m or return;
    my @plugins = glob "'$folder'/mca_*.so";
    my @spared = grep { !/mca_(?:mtl_psm2?|mtl_ofi|btl_ofi)\.so\z/ } @plugins;
    return if @spared == @plugins;
    mkdir 'plugins';
    symlink $_, 'plugins/' . basename($_) for @spared;
    return getcwd() . '/plugins';
}

# The folder and name of a program, "smb/msgrate".
sub program { return "$build/$_[0]" }

# The words that start N ranks; with more than CPUs, too.
sub launcher {
    my ($ranks) = @_;
    my @more = library() =~ /\AOpen MPI/ ? '--oversubscribe' : ();

    return (_variable('MPIRUN'), '-n', $ranks, @more);
}

# Why there is nothing to test, or nothing.
sub missing {
    my ($name) = @_;

    return 'no MPI in this build' if library() eq q{} || !-x program($name);
    return 'MPI has no launcher here' if !-x _variable('MPIRUN');
    return;
}

# Run the program under the launcher, or without: OPTIONS are the words of a
# shell, in which @ stands for a record. SETTING, words before the launcher's,
# may set variables.
sub job { return probe(_job(@_)) }

sub _job {
    my ($ranks, $name, $options, $setting) = @_;
    my $words = join q{ }, launcher($ranks);

    return _alone($name, $options, ($setting // q{}) . " timeout -k 5 @{[LIMIT]} $words");
}

sub alone { return probe(_alone(@_)) }

sub _alone {
    my ($name, $options, $before) = @_;
    my $path = program($name);

    return ($before // q{}) . " '$path' $options </dev/null";
}

# Jobs that wait more than they work, each given as job() takes it, at once.
sub jobs_at_once { return at_once(map { _job(@{$_}) } @_) }

# One that runs in a folder of its own until job_end() waits for it.
sub job_start {
    my ($folder, @job) = @_;

    return [probe_start(_job(@job), $folder), $folder];
}

sub job_end { return probe_end(@{$_[0]}) }

# Exit status of the judge, with its output, over the run's record, by a file
# under reference/.
sub judged {
    my ($run, $reference, @options) = @_;

    open my $file, '>:raw', 'run.record' or die;
    print {$file} $run->{record};
    close $file or die;
    my ($assay, $file_of) = (program('harness/assay'), source("reference/$reference"));
    my $out = qx{$^X '$assay' judge --reference '$file_of' @options run.record 2>&1};
    unlink 'run.record';
    return ($? >> 8, $out);
}

1;
