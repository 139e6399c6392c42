package Assay::Nodes;

# The nodes of a job, as the scheduler names them.

use 5.016;
use strict;
use warnings;

use Exporter qw(import);
use Getopt::Long qw(GetOptionsFromArray);
use Sys::Hostname qw(hostname);

our @EXPORT_OK = qw(expand_nodes);

use constant MOST_HOSTS => 1_000_000;

# expand_nodes(TEXT): the hosts of a compressed list such as n[009-011],x, in
# order.  Dies with one line on anything that is no such list.
sub expand_nodes {
    my ($text) = @_;

    my @hosts;
    for my $element (_split_list($text)) {
        push @hosts, _expand_element($element, $text);
        die "node list '$text' has too many hosts\n" if @hosts > MOST_HOSTS;
    }
    return @hosts;
}

# Split at the commas that stand outside of brackets.
sub _split_list {
    my ($text) = @_;

    my ($depth, @elements) = (0, q{});
    for my $character (split //, $text) {
        $depth++ if $character eq '[';
        $depth-- if $character eq ']';
        die "node list '$text' has unbalanced brackets\n"
            if $depth < 0 || $depth > 1;
        if ($character eq q{,} && !$depth) {
            push @elements, q{};
        } else {
            $elements[-1] .= $character;
        }
    }
    die "node list '$text' has unbalanced brackets\n" if $depth;
    return @elements;
}

sub _expand_element {
    my ($element, $text) = @_;

    die "node list '$text' has an empty name\n" if $element eq q{};
    my @names = (q{});
    for my $part ($element =~ /(\[[^]]*\]|[^[]+)/g) {
        my @pieces = $part =~ /^\[(.*)\]$/ ? _expand_range($1, $text) : $part;
        die "node list '$text' has too many hosts\n"
            if @names * @pieces > MOST_HOSTS;
        @names = map {
            my $name = $_;
            map {"$name$_"} @pieces
        } @names;
    }
    for my $name (@names) {
        die "node list '$text': '$name' is no host's name\n"
            if $name !~ /\A[A-Za-z0-9][A-Za-z0-9._-]*\z/;
    }
    return @names;
}

# 001,003-004: numbers keep the width that the first of a range has.
sub _expand_range {
    my ($range, $text) = @_;

    die "node list '$text' has an empty range\n" if $range eq q{};
    my @numbers;
    for my $piece (split /,/, $range, -1) {
        my ($low, $high) = $piece =~ /\A([0-9]{1,9})(?:-([0-9]{1,9}))?\z/
            or die "node list '$text': '$piece' is no range\n";
        $high = $low if !defined $high;
        die "node list '$text': range '$piece' runs backwards\n"
            if $high < $low;
        die "node list '$text' has too many hosts\n"
            if $high - $low >= MOST_HOSTS;
        push @numbers, map { sprintf '%0*d', length $low, $_ } $low .. $high;
    }
    return @numbers;
}

# expand_tasks(TEXT): the tasks of each node from a text such as 2(x3),1.
sub expand_tasks {
    my ($text) = @_;

    my @tasks;
    for my $group (split /,/, $text, -1) {
        my ($tasks, $times) = $group =~ /\A([1-9][0-9]{0,6})(?:\(x([1-9][0-9]{0,6})\))?\z/
            or die "tasks per node '$text': '$group' is no number of tasks\n";
        push @tasks, ($tasks) x ($times // 1);
        die "tasks per node '$text': too many nodes\n" if @tasks > MOST_HOSTS;
    }
    die "tasks per node: empty\n" if !@tasks;
    return @tasks;
}

# Components of a heterogeneous job, or undef.
sub _components {
    my $components = $ENV{SLURM_HET_SIZE} // $ENV{SLURM_PACK_SIZE};
    die "SLURM_HET_SIZE '$components' is no number of components\n"
        if defined $components && $components !~ /\A[1-9][0-9]{0,3}\z/;
    return $components;
}

# The compressed lists of the job in %ENV, one for each of its components.
sub _job_lists {
    my $components = _components();
    if (!defined $components) {
        return grep { defined && $_ ne q{} }
            $ENV{SLURM_JOB_NODELIST} // $ENV{SLURM_NODELIST};
    }
    return map { _component($_) } 0 .. $components - 1;
}

sub _component {
    my ($i) = @_;

    for my $kind (qw(HET PACK)) {
        my $list = $ENV{"SLURM_JOB_NODELIST_${kind}_GROUP_$i"};
        return $list if defined $list && $list ne q{};
    }
    die "component $i of the job has no node list: not supported\n";
}

# The hosts of one compressed list: scontrol's word where it gives one that
# can be true, else our own reading, which also refuses what is no list.
sub _ask_scheduler {
    my ($list) = @_;

    my @ours = expand_nodes($list);
    my @theirs = _output(qw(scontrol show hostnames), $list);
    return @theirs == @ours
        && !grep({ !/\A[A-Za-z0-9][A-Za-z0-9._-]*\z/ } @theirs)
        ? @theirs
        : @ours;
}

# The lines that a command prints; none if it fails or is not there.
sub _output {
    my @command = @_;

    my $pid = open my $pipe, q{-|};
    return if !defined $pid;
    if (!$pid) {
        open STDIN,  '<', '/dev/null';
        open STDERR, '>', '/dev/null';
        alarm 20;
        no warnings 'exec';
        exec {$command[0]} @command;
        require POSIX;
        POSIX::_exit(127);
    }
    chomp(my @lines = <$pipe>);
    return close $pipe ? @lines : ();
}

sub _job_hosts {
    my %seen;
    return grep { !$seen{$_}++ } map { _ask_scheduler($_) } _job_lists();
}

# The number of the job that this process is in, as far as variables tell.
sub job { return $ENV{SLURM_JOB_ID} // $ENV{SLURM_JOBID} }

# The job that HOST runs this in, or nothing: variables outlive their job. Where
# no scheduler answers, they are believed if they name HOST.
sub job_of {
    my ($host) = @_;

    my $job = job() // return;
    return $job if _alive($job);
    return if grep {/\bis UP\b/} _output(qw(scontrol ping));
    return (grep { _same_host($_, $host) } _job_hosts()) ? $job : undef;
}

# How often the scheduler has started this job anew.
sub restarts {
    my $restarts = $ENV{SLURM_RESTART_COUNT} // 0;
    return $restarts =~ /\A[0-9]{1,6}\z/a ? $restarts : 0;
}

# cut_short(JOB, RESTARTS): the scheduler's own word for why it ends a run of
# the job, or ended one that began after so many restarts; nothing where it
# does not, or doesn't know. To requeue a job is to end it.
sub cut_short {
    my ($job, $restarts) = @_;

    return if !defined $job || $job !~ /\A[1-9][0-9]*\z/a;
    my ($said) = _output(qw(scontrol --oneliner show job), $job);
    return _accounted($job, $restarts) if !defined $said;
    my ($again) = $said =~ /\bRestarts=([0-9]+)/;
    return 'REQUEUE' if defined $again && $again > $restarts;
    my ($reason) = $said =~ /\bReason=(TimeLimit|NodeDown)\b/;
    return $reason eq 'NodeDown' ? 'NODE_FAIL' : 'TIMEOUT' if defined $reason;
    return _cutting($said =~ /\bJobState=(\w+)/);
}

# A state in which the scheduler ends a job before its time.
sub _cutting {
    my ($state) = @_;

    return if !defined $state;
    return $state =~ /\A(?:NODE_FAIL|TIMEOUT|DEADLINE|CANCELLED|PREEMPTED|OUT_OF_MEMORY)\z/
        ? $state : undef;
}

# The same of a job that only the accounts still know: a line for each of its
# starts.
sub _accounted {
    my ($job, $restarts) = @_;

    my @states = _output(qw(sacct --noheader --parsable2 --allocations --duplicates
            --format=State --jobs), $job);
    my ($state) = ($states[$restarts] // q{}) =~ /\A(\w+)/ or return;
    return $state =~ /\AREQUEUED?\z/ ? 'REQUEUE' : _cutting($state);
}

# misplaced(FOLDER): why this is the wrong folder to leave results in, or
# nothing. Where a batch job's folder isn't on its node, Slurm takes /tmp.
sub misplaced {
    my ($folder) = @_;

    my $job = job();
    return if !defined $job || $folder ne '/tmp';
    return if ($ENV{SLURM_SUBMIT_DIR} // '/tmp') eq '/tmp';
    my ($said) = _output(qw(scontrol --oneliner show job), $job);
    my ($wanted) = ($said // q{}) =~ /\bWorkDir=(\S+)/ or return;
    return if $wanted eq '/tmp';
    return "the job's folder $wanted is not on this node, and Slurm took /tmp"
        . ' instead: make it, or name another (sbatch --chdir=DIR, or -r DIR)';
}

# coverage(HOST): the hosts that a run on HOST has to account for.  In a job
# these are all of the job's; where the scheduler's name for this one has nothing
# of HOST, as its records name it, HOST stands for it. Variables that a job left
# behind name no job.
sub coverage {
    my ($host) = @_;

    my $job = job();
    return $host if !defined $job;
    my @hosts = _job_hosts();
    return $host if !@hosts;
    my @here = grep { _same_host($_, $host) } @hosts;
    return map { _name($_, $host) } @hosts if @here;
    die "job $job runs on other nodes than $host:"
        . " start this with sbatch, or srun --nodes=1 --ntasks=1\n"
        if _alive($job);
    return $host;
}

# Does the scheduler know this job? Its variables outlive it.
sub _alive {
    my ($job) = @_;
    return scalar _output(qw(scontrol --oneliner show job), $job);
}

# allocation(HOST): what a parallel program may be launched on. Returns who
# launches (slurm, flux; hosts, where no scheduler that answers does; het, which
# nothing here can launch on; none: this host alone), then the hosts, each with
# its tasks, or '-' where nobody says how many: ['n1', 24], ... by the names that
# a launcher knows. HOST need not be one of them, since it reaches them all.
sub allocation {
    my ($host) = @_;

    my $job = job();
    my @hosts = defined $job ? _job_hosts() : ();
    return _flux_allocation($host) if !@hosts;
    my $alive = _alive($job);
    return ('none', [$host, q{-}])
        if !$alive && !grep { _same_host($_, $host) } @hosts;
    my @tasks = _job_tasks(scalar @hosts);
    my @places = map { [_name($hosts[$_], $host), $tasks[$_] // q{-}] } 0 .. $#hosts;
    return (defined _components() ? 'het' : $alive ? 'slurm' : 'hosts', @places);
}

# The tasks of each of so many nodes; none where the variables don't tell.
sub _job_tasks {
    my ($nodes) = @_;

    my $text = $ENV{SLURM_TASKS_PER_NODE};
    return if !defined $text || defined _components();
    my @tasks = expand_tasks($text);
    die "tasks per node '$text' are those of " . @tasks
        . " nodes, and the job has $nodes\n"
        if @tasks != $nodes;
    return @tasks;
}

sub _flux_allocation {
    my ($host) = @_;

    my ($list) = defined $ENV{FLUX_URI} ? _output(qw(flux getattr hostlist)) : ();
    return ('none', [$host, q{-}]) if !defined $list;
    return ('flux', map { [_name($_, $host), q{-}] } expand_nodes($list));
}

sub _same_host {
    my ($node, $host) = @_;

    return 1 if $node eq $host || $node eq ($ENV{SLURMD_NODENAME} // q{});
    return _short($node) eq _short($host);
}

sub _short { return $_[0] =~ s/[.].*//sr }

# What a node is called here: as the scheduler calls it, since that is what a
# launcher takes, and the judge finds n1 in the records of n1.cluster.example;
# HOST where the two have nothing in common.
sub _name {
    my ($node, $host) = @_;

    return _same_host($node, $host) && _short($node) ne _short($host) ? $host : $node;
}

# part(HOST, NODES): the same for some of a job's nodes, in its order; whoever
# names nodes that are not the job's launches on them without the scheduler.
sub part {
    my ($host, @nodes) = @_;

    my ($launcher, @places) = allocation($host);
    my %wanted = map { ($_ => 1) } @nodes;
    my @part = grep { $wanted{$_->[0]} } @places;
    return ($launcher, @part) if $launcher eq 'slurm' && @part == keys %wanted;
    return ('hosts', map { [$_, q{-}] } @nodes);
}

# partition_nodes(NAME): the nodes of a partition, whatever their state. Dies
# with one line.
sub partition_nodes {
    my ($name) = @_;

    my %seen;
    my @nodes = grep { !$seen{$_}++ }
        _output(qw(sinfo --noheader --Node --format=%N), "--partition=$name");
    die "'$name': no such partition, or no scheduler that answers\n" if !@nodes;
    return map { expand_nodes($_) } @nodes;
}

# States in which a node takes no work, whatever stands before or behind.
my $UNFIT = join q{|}, qw(DOWN DRAIN FAIL FUTURE INVAL MAINT NOT_RESPONDING
    POWERED_DOWN POWERING_DOWN REBOOT UNKNOWN), '[*]';

# node_states(NODE...): of each of these nodes that the scheduler knows, why it
# takes no work, in the scheduler's words, or the empty text where it does.
sub node_states {
    my @nodes = @_;

    my %wanted = map { ($_ => 1) } @nodes;
    my %why;
    for my $line (_output(qw(scontrol --oneliner show node))) {
        my ($name) = $line =~ /\ANodeName=(\S+)/ or next;
        next if !$wanted{$name};
        my ($state) = $line =~ /\sState=(\S+)/;
        my ($reason) = $line =~ /\sReason=(.*?)(?:\s+Comment=.*)?\s*\z/;
        $why{$name} = ($state // 'UNKNOWN') !~ /(?:$UNFIT)/ ? q{}
            : lc($state // 'unknown') . (defined $reason ? ": $reason" : q{});
    }
    return %why;
}

# How long this job may still run, or nothing where nobody says.
sub seconds_left {
    my $job = job();
    my ($left) = defined $job
        ? _output('squeue', '--noheader', "--jobs=$job", '--format=%L') : ();
    my ($days, $hours, $minutes, $seconds)
        = ($left // q{}) =~ /\A\s*(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)\s*\z/ or return;
    return ((($days // 0) * 24 + ($hours // 0)) * 60 + $minutes) * 60 + $seconds;
}

# allocate(PARTITION, NODES, COMMAND): the words that run COMMAND in a job of
# its own on all of these nodes, which goes on where one of them is lost.
sub allocate {
    my ($partition, $nodes, @command) = @_;

    return ('salloc', '--partition=' . $partition, '--nodes=' . @{$nodes},
        '--nodelist=' . join(q{,}, @{$nodes}), '--exclusive', '--no-kill',
        '--job-name=assay_sweep', '--quiet', @command);
}

# Whether a line is a launcher's account of how a program ended, which says less
# than what the program said before.
sub is_chatter { return $_[0] =~ /\A(?:srun|slurmstepd(?:-\S+)?): / }

# A sentence on what the scheduler's variables say, or nothing.
sub describe {
    my ($host) = @_;

    my @hosts = _job_hosts() or return;
    my $text = scalar(@hosts) . " nodes (@hosts)";
    if (defined $ENV{SLURM_TASKS_PER_NODE} && !defined $ENV{SLURM_HET_SIZE}) {
        my $tasks = 0;
        my @tasks = expand_tasks($ENV{SLURM_TASKS_PER_NODE});
        $tasks += $_ for @tasks;
        $text .= sprintf ', %d tasks on %d nodes', $tasks, scalar @tasks;
    }
    $text .= ": $host is none of them, so these variables are left over"
        if !grep { _same_host($_, $host) } @hosts;
    return $text;
}

sub main {
    my @arguments = @_;
    shift @arguments if @arguments && $arguments[0] eq __PACKAGE__;

    my ($job, $allocation, $host, $only) = (0, 0, hostname(), undef);
    my $ok = GetOptionsFromArray(
        \@arguments,
        'job'        => \$job,
        'allocation' => \$allocation,
        'host=s'     => \$host,
        'only=s'     => \$only
    );
    if (!$ok || $job + $allocation + (@arguments > 0) != 1) {
        print {*STDERR} 'usage: assay campaign nodes'
            . " LIST...|--job|--allocation [--host NAME] [--only LIST]\n";
        return 2;
    }
    my @hosts = eval {
              $job        ? coverage($host)
            : $allocation ? _allocation_lines($host, $only)
            :               map { expand_nodes($_) } @arguments;
    };
    if (my $error = $@) {
        print {*STDERR} "assay campaign nodes: $error";
        return 2;
    }
    say for @hosts;
    return 0;
}

sub _allocation_lines {
    my ($host, $only) = @_;

    my ($launcher, @places)
        = defined $only ? part($host, expand_nodes($only)) : allocation($host);
    return ($launcher, map {"$_->[0] $_->[1]"} @places);
}

1;

__END__

=head1 NAME

Assay::Nodes - the nodes of a job, as the scheduler names them

=head1 SYNOPSIS

    assay campaign nodes 'n[009-011],x[1-2]n[01-02]'
    assay campaign nodes --job
    assay campaign nodes --allocation

=head1 DESCRIPTION

Prints the hosts of compressed node lists, one a line; with B<--job> the hosts
that a run on this host has to account for: in a Slurm job all of its nodes
(of every component of a heterogeneous one), outside of one this host alone.

Numbers keep their leading zeros. A list that can't be read is an error (exit
2), never a host. C<scontrol> is asked first, and believed where it succeeds
and names as many hosts as the list has; it isn't needed.

With B<--allocation> the first line says who can launch a parallel program here
(C<slurm>, C<flux>, C<hosts>, C<het>, C<none>); each further line is a host and
the tasks that the scheduler has given it, C<-> where it doesn't say. With
B<--only> these are the nodes of a list: launched on by the job's launcher where
all of them are the job's, by C<hosts> where they are not.

Where the variables of a job are set but this host is none of its nodes, either
they are left over, which is ignored, or the job lives and this is the wrong
host, which is an error.

This is the only module that knows a scheduler.

=cut
