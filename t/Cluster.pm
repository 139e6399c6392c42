package Cluster;

# A real Slurm cluster of t/cluster for one test: brought up, used, and taken
# down with the test, however that ends.

use strict;
use warnings;

use Cwd qw(abs_path);
use Exporter qw(import);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use Test::More;
use Time::HiRes qw(sleep time);

our @EXPORT = qw(cluster_dir cluster_down cluster_up ended fault job_of lab node
    on_login output reason_is started submit);

my $source = $ENV{ASSAY_SRCDIR} || abs_path(dirname(__FILE__) . '/..');
my $here = $$;
my @folders;

# So that the end of a test is told, too.
$SIG{$_} = sub { exit 99 } for qw(HUP INT TERM);

# A folder that all nodes share, and whose name is short enough for sockets.
sub cluster_dir {
    my $folder = tempdir('cluster-XXXXXX', TMPDIR => 1);
    push @folders, $folder;
    return $folder;
}

# The path of a command of t/cluster.
sub lab { return "$source/t/cluster/$_[0]" }

# output(COMMAND...): exit status and what it prints, stderr included.
sub output {
    my @command = @_;
    my $pid = open(my $pipe, q{-|}) // die "fork: $!";

    if (!$pid) {
        open STDIN, '<', '/dev/null' or die;
        open STDERR, '>&', \*STDOUT or die;
        { no warnings 'exec'; exec { $command[0] } @command }
        exit 127;
    }
    my $text = do { local $/ = undef; <$pipe> };
    close $pipe;
    return ($? & 127 ? 128 + ($? & 127) : $? >> 8, $text // q{});
}

# cluster_up(ARGUMENT...): bring one up in CLUSTER, a folder of its own where
# none is set, or skip the whole test with the reason.
sub cluster_up {
    my @arguments = @_;

    $ENV{CLUSTER} //= cluster_dir();
    # Nodes have no folder of this test's own, where Mpi.pm put plug-ins.
    delete $ENV{OMPI_MCA_mca_base_component_path};
    my ($status, $text) = output(lab('up'), '--while', $$, @arguments);
    chomp $text;
    plan skip_all => $text if $status == 77;
    BAIL_OUT("no cluster: $text") if $status != 0;
    return;
}

sub cluster_down { return output(lab('down')) }

# on_login(COMMAND...), node(NAME, COMMAND...): run it on the login node, or on
# a node. fault(WORD...): t/cluster/fault. Each returns status and output; a fault
# whose status nobody looks at has to take.
sub on_login { return output(lab('exec'), @_) }
sub node { my ($name, @command) = @_; return output(lab('node'), 'exec', $name, @command) }

sub fault {
    my @words = @_;
    my ($status, $text) = output(lab('fault'), @words);
    die "fault @words: exit $status: $text" if $status != 0 && !defined wantarray;
    return ($status, $text);
}

# submit(ARGUMENT...): sbatch; returns the number of the job, or dies with what
# sbatch says.
sub submit {
    my (@arguments) = @_;
    my ($status, $text) = on_login(qw(sbatch --parsable), @arguments);
    die "sbatch @arguments: $text" if $status != 0;
    return $text =~ s{\n}{}r;
}

# job_of(JOB): what Slurm knows of it, as a hash.
sub job_of {
    my ($job) = @_;
    my ($status, $text) = on_login(qw(scontrol --oneliner show job), $job);
    return {$text =~ m{([A-Za-z]+)=(\S*)}g};
}

# Wait until what Slurm says of a job in a field is like that.
sub _until {
    my ($job, $seconds, $field, $wanted) = @_;
    my $end = time + $seconds;
    my $said = q{};
    while (time < $end) {
        $said = job_of($job)->{$field} // q{};
        return 1 if $said =~ $wanted;
        sleep 0.2;
    }
    diag "job $job: $field is still $said";
    return 0;
}

# started(JOB), ended(JOB, SECONDS): wait for it. The latter returns what Slurm
# knows of it: sbatch --wait looks every half a minute only.
sub started { return _until($_[0], 60, 'JobState', qr{RUNNING}) }

sub ended {
    my ($job, $seconds) = @_;
    _until($job, $seconds // 120, 'JobState',
        qr{^(?!PENDING|RUNNING|COMPLETING|CONFIGURING|REQUEUED|SUSPENDED|RESIZING|$)});
    return job_of($job);
}

# reason_is(JOB, PATTERN): wait until Slurm gives such a reason for what it does not
# start; its scheduler looks at a job some time after the event.
sub reason_is { return _until($_[0], 120, 'Reason', $_[1]) }

END {
    if ($$ == $here) {
        my $status = $?;
        for my $folder (@folders) {
            local $ENV{CLUSTER} = $folder;
            cluster_down();
            rmdir $folder;
        }
        $? = $status;
    }
}

1;
