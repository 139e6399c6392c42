package Assay::Sweep;

# The command `assay sweep`: one run_script on every node, or on every pair of
# nodes; then who was not measured, and who is slow.

use 5.016;
use strict;
use warnings;

use File::Basename qw(basename);
use List::Util qw(max min);
use POSIX qw(WNOHANG);
use Sys::Hostname qw(hostname);
use Time::HiRes qw(sleep time);

use Assay::Attempt qw(enter_untested);
use Assay::Campaign qw(ask_script attempt_command campaign_folder split_script);
use Assay::Command qw(absolute options run_command worst);
use Assay::Culprits;
use Assay::Launch qw(heeded_signals);
use Assay::Nodes;
use Assay::Places;
use Assay::Progress;
use Assay::Results;
use Assay::RunScript qw(nothing_promised);
use Assay::Stats qw(median);
use Assay::Summary qw(counts points table);
use Assay::Text qw(plural printable);
use Assay::Tournament qw(rounds round_count);

use constant MOST_SHOWN => 20;    # points that do not pass, in the table

my $USAGE = <<'END';
usage: assay sweep nodes [OPTION...] RUN_SCRIPT [ITS-OPTION...]
       assay sweep pairs [OPTION...] RUN_SCRIPT [ITS-OPTION...]
       assay sweep show  [OPTION...] DIR

nodes  run a run_script of one node on every node
pairs  run a run_script of two nodes on every pair, in rounds of disjoint pairs
show   what a sweep found, from its folder alone

which nodes (default: those of this job)
  --nodes LIST      n[1-8], or @FILE
  --partition NAME  all of a partition; outside of a job, start one on them

how
  --at-once K       so many runs at a time (default: all; of pairs, a round's)
  --sample K        each node in K pairs only (pairs)
  --bisection K     each node of one half with K of the other (pairs)
  --seed TEXT       which sample (default: the names of the nodes)
  --dry-run         print rounds, pairs and the time they take; run nothing
  --seconds S       how long a run takes, for --dry-run

results
  --results DIR     default: results/
  --name NAME       with that of one that was interrupted, go on with it
  --system SYSTEM   hold it to reference/SYSTEM
  --strict          what could not run is a failure, as in an acceptance

who is slow (also: show)
  --tolerance P     a place is slow from P % longer on (default 25)
  --metric NAME     by this figure alone; may be repeated
  --locations FILE  lines "NODE SWITCH": tell a slow switch from slow nodes
  --picture FILE    draw it: FILE.svg, .png (by gnuplot) or .txt

Exit status: that of assay judge; 1 also where somebody is slow; 2 for a usage
error.
END

my @FINDING = ('tolerance=s', 'metric=s@', 'locations=s', 'picture=s');

my %command = (
    nodes => sub { _sweep('nodes', @_) },
    pairs => sub { _sweep('pairs', @_) },
    show  => \&_show,
);

sub main { return run_command('sweep', $USAGE, \%command, @_) }

##
# What is to be run where
##

sub _sweep {
    my ($of, @arguments) = @_;

    my @all = @arguments;
    my %given = (results => 'results', 'at-once' => undef);
    options(
        \@arguments, \%given, 'results=s', 'name=s', 'system=s', 'strict',
        'nodes=s', 'partition=s', 'at-once=s', 'dry-run', 'seconds=s', @FINDING,
        $of eq 'pairs' ? ('sample=s', 'bisection=s', 'seed=s') : ()
    );
    my ($script, @words) = @arguments;
    die "which run_script? (assay sweep --help)\n" if !defined $script;
    if (!-f $script && $script =~ /\s/) {
        ($script, my @options) = split_script($script);
        unshift @words, @options;
    }
    _check_numbers(\%given);
    my $finding = Assay::Culprits::options(\%given);
    my $earlier = _earlier($of, join(q{ }, basename($script), @words), \%given);
    my @nodes = _nodes(\%given, $earlier);
    my %sweep = (of => $of, script => $script, words => \@words, given => \%given,
        finding => $finding, nodes => \@nodes, _method(\%given, $earlier, @nodes));
    $sweep{line} = {of => $of, hosts => join(q{,}, @nodes),
        map { ($_ => $sweep{$_}) } qw(method count seed)};
    return _dry_run(\%sweep) if $given{'dry-run'};
    return _start_job(\%sweep, @all)
        if defined $given{partition} && !defined Assay::Nodes::job();
    return _run(\%sweep);
}

sub _check_numbers {
    my ($given) = @_;

    for my $key (qw(at-once sample bisection)) {
        die "--$key: '$given->{$key}' is no number from 1 up\n"
            if defined $given->{$key} && $given->{$key} !~ /\A[1-9][0-9]{0,6}\z/;
    }
    die "--seconds: '$given->{seconds}' is no number of seconds\n"
        if defined $given->{seconds}
        && $given->{seconds} !~ /\A(?=.*[1-9])[0-9]{1,7}(?:[.][0-9]{1,6})?\z/;
    die "--sample and --bisection: one or the other\n"
        if defined $given->{sample} && defined $given->{bisection};
    return;
}

# What the ledger says of this sweep, where it was begun before. With other
# options a run_script makes another sweep.
sub _earlier {
    my ($of, $name, $given) = @_;

    return if !defined $given->{name};
    my $folder = campaign_folder($given);
    return if !-e "$folder/ledger";
    my ($earlier) = grep { _name($_) eq $name && $_->{of} eq $of }
        Assay::Results->view($folder)->sweeps;
    return $earlier;
}

sub _name { return join q{ }, $_[0]{script}, split q{ }, $_[0]{words} }

# The nodes that have to be accounted for.
sub _nodes {
    my ($given, $earlier) = @_;

    my %seen;
    my @nodes = grep { !$seen{$_}++ } _named_nodes($given, $earlier);
    die "which nodes? Name them (--nodes, --partition), or start this in a job\n"
        if !@nodes;
    return @nodes if !$earlier;
    my $before = join q{,}, sort split /,/, $earlier->{hosts};
    die "this sweep was begun with other nodes ($earlier->{hosts}):"
        . " leave out --nodes, or give it another --name\n"
        if (defined $given->{nodes} || defined $given->{partition})
        && join(q{,}, sort @nodes) ne $before;
    return split /,/, $earlier->{hosts};
}

sub _named_nodes {
    my ($given, $earlier) = @_;

    return @{Assay::Places->new(nodes => $given->{nodes})->expected('node')}
        if defined $given->{nodes};
    return Assay::Nodes::partition_nodes($given->{partition})
        if defined $given->{partition};
    return split /,/, $earlier->{hosts} if $earlier;
    my ($launcher, @places) = Assay::Nodes::allocation(hostname());
    return $launcher =~ /\A(?:slurm|flux|hosts)\z/ ? map { $_->[0] } @places : ();
}

# How pairs are formed, in the words of the ledger's line.
sub _method {
    my ($given, $earlier, @nodes) = @_;

    my ($method) = grep { defined $given->{$_} } qw(sample bisection);
    my %how = (
        method => $method // 'all',
        count  => defined $method ? $given->{$method} : 0,
        seed   => $given->{seed} // "@nodes[0, -1]",
    );
    return %how if !$earlier;
    for my $key (grep { !defined $method ? 0 : $earlier->{$_} ne $how{$_} } qw(method count)) {
        die "this sweep was begun with $earlier->{method} $earlier->{count}:"
            . " leave that out, or give it another --name\n";
    }
    return map { ($_ => $earlier->{$_}) } qw(method count seed);
}

# The rounds, each an array of places: a node, or two with a colon between.
sub _rounds {
    my ($sweep) = @_;

    return [@{$sweep->{nodes}}] if $sweep->{of} eq 'nodes';
    return map { [map { join q{:}, @{$_} } @{$_}] }
        rounds($sweep->{method}, $sweep->{nodes},
        count => $sweep->{count}, seed => $sweep->{seed});
}

##
# On paper
##

sub _dry_run {
    my ($sweep) = @_;

    my $count = @{$sweep->{nodes}};
    my $pairs = $sweep->{of} eq 'pairs';
    die "pairs need two nodes or more, and here is $count\n" if $pairs && $count < 2;
    my $rounds = $pairs ? round_count($sweep->{method}, $count, $sweep->{count}) : 1;
    my $width = $pairs ? int($count / 2) : $count;
    my $once = min($sweep->{given}{'at-once'} // $width, $width);
    my $steps = $rounds * POSIX::ceil($width / $once);
    printf "%s of %s: %s, %s at once\n", basename($sweep->{script}),
        $pairs ? "pairs of $count nodes ($sweep->{method})" : plural($count, 'node'),
        plural($rounds, 'round'), plural($once, 'run');
    print _time_text($sweep, $rounds, $steps);
    return 0 if $pairs && $rounds * $width > 100_000;
    my $number = 0;
    for my $round (_rounds($sweep)) {
        print printable('round ' . ++$number . ": @{$round}"), "\n";
    }
    return 0;
}

sub _time_text {
    my ($sweep, $rounds, $steps) = @_;

    my $seconds = $sweep->{given}{seconds};
    my $from = defined $seconds ? 'as named' : 'as long as earlier runs here';
    $seconds //= _earlier_seconds($sweep);
    ($seconds, $from) = (60, 'a guess: --seconds says better') if !defined $seconds;
    return sprintf "%s one after another, %.4g s each (%s): %s\n",
        plural($steps, 'run'), $seconds, $from, _duration($steps * $seconds);
}

sub _duration {
    my ($seconds) = @_;

    return sprintf '%.0f s', $seconds if $seconds < 600;
    return sprintf '%.0f min', $seconds / 60 if $seconds < 36_000;
    return sprintf '%.1f hours', $seconds / 3600 if $seconds < 48 * 3600;
    return sprintf '%.1f days', $seconds / 86_400;
}

# How long a run took in this campaign so far.
sub _earlier_seconds {
    my ($sweep) = @_;

    return if !defined $sweep->{given}{name};
    my $results = eval { Assay::Results->view(campaign_folder($sweep->{given})) } or return;
    my @seconds = map { $_->{seconds} } grep { $_->{status} eq 'valid' }
        $results->attempts(basename($sweep->{script}));
    return @seconds ? median(@seconds) : undef;
}

##
# In a job
##

# This command anew, in a job on all nodes of the partition that take work.
sub _start_job {
    my ($sweep, @arguments) = @_;

    my %why = Assay::Nodes::node_states(@{$sweep->{nodes}});
    my @fit = grep { ($why{$_} // q{}) eq q{} } @{$sweep->{nodes}};
    die 'no node of this partition takes work: '
        . join(', ', map {"$_ $why{$_}"} sort keys %why) . "\n"
        if !@fit;
    my @command = Assay::Nodes::allocate($sweep->{given}{partition}, \@fit,
        absolute($0), 'sweep', $sweep->{of}, @arguments);
    no warnings 'exec';
    exec {$command[0]} @command;
    die "$command[0]: $!\n";
}

sub _run {
    my ($sweep) = @_;

    my @rounds = _rounds($sweep);
    my $plan = do {
        local $ENV{ASSAY_NODES} = $rounds[0][0] =~ s/:/,/r;
        ask_script($sweep->{script}, $sweep->{given}, @{$sweep->{words}});
    };
    if (!$plan->{promised}) {
        print Assay::Results::failure_tap(nothing_promised($plan));
        return 3;
    }
    $sweep->{plan} = $plan;
    my $folder = campaign_folder($sweep->{given});
    my $results = $sweep->{results} = Assay::Results->enter(
        $folder,
        system => $plan->{system},
        host   => hostname(),
        alone  => 1
    );
    $sweep->{before} = max(0, map { $_->{number} } $results->attempts);
    local $ENV{Assay::Results::HELD()} = $results->{folder};
    local $ENV{Assay::RunScript::LATER()} = 1;
    _announce($sweep);
    $sweep->{why} = _unfit($sweep);
    my $stopped = _run_rounds($sweep, @rounds);
    if (defined $stopped) {
        print {*STDERR} "assay sweep: $stopped; to go on: the same with --name ",
            basename($folder), "\n";
        return 3;
    }
    _account($sweep);
    return _conclude($results, $sweep->{line}, $sweep->{given}, $sweep->{finding});
}

# One line in the ledger, before anything runs: what is owed.
sub _announce {
    my ($sweep) = @_;

    my ($plan, $line) = @{$sweep}{qw(plan line)};
    $line->{options} = $plan->{options};
    $line->{words} = join q{ }, @{$sweep->{words}};
    $line->{script} = $plan->{script};
    $sweep->{results}{ledger}->append(
        'sweep',
        sub {
            my ($begun) = grep { $_->{kind} eq 'sweep' && $_->{of} eq $line->{of}
                && _name($_) eq _name($line) } @_;
            return if $begun;
            return (
                time       => Assay::Attempt::utc(),
                benchmarks => join(q{,}, @{$plan->{benchmarks}}),
                map { ($_ => $line->{$_}) } qw(script words options of hosts method count seed)
            );
        }
    );
    return;
}

# Why nodes take no work here: {NODE => WHY}. One that is being drained finishes
# the jobs it has.
sub _unfit {
    my ($sweep) = @_;

    my ($launcher, @places) = Assay::Nodes::allocation(hostname());
    return {} if $launcher ne 'slurm';
    my %state = Assay::Nodes::node_states(@{$sweep->{nodes}});
    my %here = map { ($_->[0] => 1) } @places;
    my %why;
    for my $node (@{$sweep->{nodes}}) {
        my $state = $state{$node} // 'the scheduler does not know this node';
        my $fit = $state eq q{} || ($state =~ /drain/ && $state !~ /down|[*]|fail/);
        next if $here{$node} && $fit;
        $why{$node} = $state eq q{} ? 'not in this job' : $state;
    }
    return \%why;
}

# Runs until nothing more is owed; a sentence on what stopped it, or nothing.
sub _run_rounds {
    my ($sweep, @rounds) = @_;

    my $progress = Assay::Progress->new;
    my $left = Assay::Nodes::seconds_left();
    $sweep->{end} = time + $left if defined $left;
    while (1) {
        my $ran = 0;
        my $count = _counts($sweep);
        for my $number (1 .. @rounds) {
            my @owed = grep { _owed($sweep, $count->{$_}, $_) } @{$rounds[$number - 1]};
            next if !@owed;
            $ran += @owed;
            my $stopped = _run_round($sweep, \@owed, sub {
                $progress->show($number - 1, scalar @rounds,
                    "$sweep->{plan}{script} on " . plural(scalar @owed, 'place'));
            });
            $progress->clear;
            return $stopped if defined $stopped;
            _look_after($sweep, \@owed, $count);
        }
        return if !$ran;
    }
}

# By place, how its attempts ended. An attempt that was cut short with an earlier
# sweep is charged by the judge, and made again.
sub _counts {
    my ($sweep) = @_;

    my %count;
    for my $attempt ($sweep->{results}->attempts(@{$sweep->{plan}}{qw(script options)})) {
        next if Assay::Attempt::is_untested($attempt);
        my $place = $attempt->{hosts} =~ s/,/:/gr;
        my $kind = $attempt->{status};
        $kind = 'cut' if $kind eq 'spoiled' && $attempt->{number} <= $sweep->{before}
            && $attempt->{reason} =~ /stopped by SIG|cut short: its run_script ended/;
        $count{$place}{$kind}++;
        $count{$place}{all}++;
    }
    return \%count;
}

# Whether a place is to be measured: not often enough yet, and not gone wrong in
# a way that no further attempt can mend.
sub _owed {
    my ($sweep, $count, $place) = @_;

    my ($plan, $why) = @{$sweep}{qw(plan why)};
    return 0 if grep { defined $why->{$_} } split /:/, $place;
    return 1 if !$count;
    return ($count->{valid} // 0) < $plan->{runs} && !$count->{wrong}
        && !$count->{notrun} && ($count->{spoiled} // 0) <= $plan->{spoiled};
}

# A round, so many at once. Returns what stopped it, or nothing.
sub _run_round {
    my ($sweep, $places, $show) = @_;

    my @waiting = @{$places};
    my $most = $sweep->{given}{'at-once'} // @waiting;
    my (%running, $stopped, $told);
    my @heeded = heeded_signals();
    local @SIG{@heeded} = (sub {
        $told++ if defined $stopped;
        $stopped //= 'stopped by SIG' . shift;
    }) x @heeded;
    local $SIG{CHLD} = sub { };
    while (@waiting || %running) {
        $stopped //= _too_late($sweep) if @waiting;
        @waiting = () if defined $stopped;
        while (@waiting && keys %running < $most) {
            my $place = shift @waiting;
            my ($pid, $said) = _start($sweep, $place);
            $running{$pid} = {place => $place, said => $said, start => time};
        }
        while ((my $pid = waitpid -1, WNOHANG) > 0) {
            my $run = delete $running{$pid} or next;
            $sweep->{longest} = max($sweep->{longest} // 0, time - $run->{start});
            $run->{wait} = $?;
            push @{$sweep->{ended}}, $run;
        }
        $show->();
        kill 'TERM', keys %running if $told;
        sleep 0.2 if %running;
    }
    return $stopped;
}

# Nothing is begun that the end of the job would cut short.
sub _too_late {
    my ($sweep) = @_;

    return if !defined $sweep->{end} || !defined $sweep->{longest};
    my $left = $sweep->{end} - time;
    return if $left > 1.2 * $sweep->{longest};
    return sprintf 'the job ends in %.0f s, and a run takes %.0f s', $left, $sweep->{longest};
}

# Start the run_script on a place, in a process group of its own: what a
# terminal sends to this command is not meant for what runs already.
sub _start {
    my ($sweep, $place) = @_;

    my ($plan, $given) = @{$sweep}{qw(plan given)};
    my @command = attempt_command($plan, $sweep->{results}, $given, @{$sweep->{words}});
    open my $said, '+>', undef or die "temporary file: $!\n";
    my $pid = fork // die "fork: $!\n";
    return ($pid, $said) if $pid;
    setpgrp;
    $SIG{$_} = 'DEFAULT' for heeded_signals(), 'CHLD';
    $ENV{ASSAY_NODES} = $place =~ s/:/,/r;
    open STDIN, '<', '/dev/null';
    open STDOUT, '>', '/dev/null';
    open STDERR, '>&', $said;
    exec {$command[0]} @command or POSIX::_exit(127);
}

# After a round: each run has made an attempt; a node that went down takes no
# further part.
sub _look_after {
    my ($sweep, $places, $before) = @_;

    my $count = _counts($sweep);
    for my $run (splice @{$sweep->{ended}}) {
        next if ($count->{$run->{place}}{all} // 0) > ($before->{$run->{place}}{all} // 0);
        seek $run->{said}, 0, 0;
        my ($last) = reverse grep {/\S/} readline $run->{said};
        die "$sweep->{plan}{script} on $run->{place}: made no attempt"
            . (defined $last ? ": $last" : "\n");
    }
    my @failed = grep { ($count->{$_}{valid} // 0) == ($before->{$_}{valid} // 0) } @{$places};
    %{$before} = %{$count};
    return if !@failed;
    my $why = _unfit($sweep);
    my %failed = map { ($_ => 1) } map { split /:/ } @failed;
    $sweep->{why}{$_} //= $why->{$_} for grep { $failed{$_} } keys %{$why};
    return;
}

# Who could not be measured, and why, as an attempt of its own.
sub _account {
    my ($sweep) = @_;

    my ($plan, $why, $results) = @{$sweep}{qw(plan why results)};
    my %known = map { ($_ => 1) } map { split /,/, $_->{hosts} }
        grep { Assay::Attempt::is_untested($_) } $results->attempts(@{$plan}{qw(script options)});
    my @nodes = grep { defined $why->{$_} && !$known{$_} } @{$sweep->{nodes}};
    return if !@nodes;
    $results->keep_references(@{$plan->{references}});
    enter_untested($results->{ledger},
        {%{$plan}, host => hostname(), nodes => \@nodes}, $why);
    return;
}

##
# What was found
##

sub _show {
    my @arguments = @_;

    options(\@arguments, \my %given, 'strict', @FINDING);
    my $finding = Assay::Culprits::options(\%given);
    die "which sweep? (assay sweep --help)\n" if @arguments != 1;
    my $results = Assay::Results->view(absolute($arguments[0]));
    my @sweeps = $results->sweeps or die "$arguments[0]: no sweep: a campaign\n";
    my @statuses = map { _conclude($results, $_, \%given, $finding) } @sweeps;
    return worst(@statuses);
}

sub _conclude {
    my ($results, $sweep, $given, $finding) = @_;

    my ($status, $tap) = $results->judge(
        scripts => [$sweep->{script}],
        strict  => $given->{strict},
        ended   => 1
    );
    my @points = points($tap);
    my @bad = grep { ($_->{verdict} // q{}) ne 'PASS' } @points;
    print table(@bad > MOST_SHOWN ? @bad[0 .. MOST_SHOWN - 1] : @bad) if @bad;
    print '... and ', @bad - MOST_SHOWN, " more that do not pass\n" if @bad > MOST_SHOWN;
    print 'of all: ', counts(@points), "\n" if @bad && @bad < @points;
    print counts(@points), "\n" if !@bad;
    print "\n";
    my $slow = $results->faults ? 0 : Assay::Culprits::report($results, $sweep, $finding);
    print "\n", $results->whereabouts;
    return worst($status, $slow ? 1 : ());
}

1;

__END__

=head1 NAME

Assay::Sweep - the command `assay sweep`

=head1 SYNOPSIS

    sbatch -N 8 --wrap 'assay sweep nodes run_scripts/run_stream'
    assay sweep pairs --partition main run_scripts/run_mpi_overhead
    assay sweep pairs --nodes @hosts --sample 4 --dry-run run_mpi_overhead
    assay sweep show --picture pairs.svg results/acceptance

=head1 DESCRIPTION

Each run is an attempt of one campaign, made by the run_script itself, to which
C<ASSAY_NODES> names where. What is owed stands in the ledger before anything
runs, as a line C<sweep>, and the judge holds the records to that: a place that
was never measured counts against the clause. A sweep that was interrupted goes
on under its C<--name>. A first signal lets the runs at work end and begins no
more; a second ends them. In a job, nothing is begun that its end would cut
short.

=cut
