package Assay::Campaign;

# The command `assay campaign`: run an acceptance, keep it, show it, check it.

use 5.016;
use strict;
use warnings;

use Exporter qw(import);
use File::Basename qw(basename);
use POSIX qw(WNOHANG);
use Sys::Hostname qw(hostname);
use Text::ParseWords qw(shellwords);
use Time::HiRes qw(sleep);

use Assay::Command qw(absolute options run_command);
use Assay::Launch qw(heeded_signals);
use Assay::Nodes;
use Assay::Progress;
use Assay::Results;
use Assay::RunScript qw(annotate attempt_line new_folder nothing_promised promises
    read_reference);
use Assay::Summary qw(points table);
use Assay::Text qw(plural printable);

our @EXPORT_OK = qw(ask_script attempt_command campaign_folder split_script);

my $USAGE = <<'END';
usage: assay campaign run [--results DIR] [--name NAME] [--system SYSTEM]
                          [--strict] RUN_SCRIPT...
       assay campaign show DIR
       assay campaign judge [--strict] DIR
       assay campaign verify DIR

run     run each RUN_SCRIPT as often as its reference owes, one at a time,
        into DIR/NAME (default: results/, and a name of time and host). With
        the NAME of one that was interrupted, go on where it stopped. A
        RUN_SCRIPT with options is one argument: 'run_mpi_overhead --recv'.
show    print its attempts and a table of its verdicts
judge   judge all its attempts anew, and print TAP
verify  check the ledger's chain and every hash; name what does not fit

Exit status: that of assay judge; 2 for a usage error.
END

my %command = (
    attempt => \&Assay::RunScript::main,
    folder  => \&_command_folder,
    judge   => \&_command_judge,
    nodes   => \&Assay::Nodes::main,
    run     => \&_command_run,
    show    => \&_command_show,
    verify  => \&_command_verify,
);

sub main { return run_command('campaign', $USAGE, \%command, @_) }

##
# run: a campaign
##

sub _command_run {
    my @arguments = @_;

    my %given = (results => 'results');
    options(\@arguments, \%given, 'results=s', 'name=s', 'system=s', 'strict');
    die "which run_script? (assay campaign --help)\n" if !@arguments;
    my @plans = map { ask_script($_, \%given) } @arguments;
    my %systems = map { ($_->{system} => 1) } @plans;
    die 'the run_scripts are for different systems: '
        . join(', ', sort keys %systems) . "\n"
        if keys %systems > 1;

    if (my ($idle) = grep { !$_->{promised} } @plans) {
        print Assay::Results::failure_tap(nothing_promised($idle));
        return 3;
    }
    my $folder = campaign_folder(\%given);
    my $results = Assay::Results->enter(
        $folder,
        system => $plans[0]{system},
        host   => hostname(),
        alone  => 1
    );
    $ENV{Assay::Results::HELD()} = $folder;
    my $stopped = _run_plans($results, \@plans, \%given);
    if (defined $stopped) {
        print {*STDERR} "assay campaign: stopped by SIG$stopped; to go on:"
            . ' assay campaign run with --name ' . basename($folder) . "\n";
        my @begun = grep { $results->attempts($_) } map { $_->{script} } @plans;
        return @begun && _conclude($results, \@begun, $given{strict}) == 1 ? 1 : 3;
    }
    my $status = _conclude($results, [map { $_->{script} } @plans], $given{strict});
    my @odd = grep { _ending($_->{wait} // 0) !~ /\Aexit status [01345]\z/ } @plans;
    print {*STDERR} "assay campaign: $_->{name} ended with ", _ending($_->{wait}), "\n"
        for @odd;
    return @odd && $status != 1 ? 3 : $status;
}

sub campaign_folder {
    my ($given) = @_;

    my $name = $given->{name};
    return absolute(new_folder($given->{results})) if !defined $name;
    die "--name: '$name' is no folder's name\n"
        if $name !~ /\A[A-Za-z0-9][\w.-]*\z/;
    return absolute("$given->{results}/$name");
}

# A run_script and its options, from one argument: the name of a file is that
# file, blanks and all; any other is split at blanks, as a shell splits it, with
# quotes and backslashes, of which nothing else has a meaning here.
sub split_script {
    my ($argument) = @_;

    return $argument if -f $argument;
    my ($script, @options) = shellwords($argument);
    die "$argument: no such run_script\n" if !defined $script || !-f $script;
    for my $option (@options) {
        last if $option eq q{--};
        die "$script: $option: a campaign says that itself\n"
            if $option =~ /\A(?:-[hnr]|--help\z|--strict\z)/;
    }
    return ($script, @options);
}

# What a run_script would do, in its own words, and what its reference owes. The
# options given name a system, or none; WORDS are options of the script's own.
sub ask_script {
    my ($argument, $given, @words) = @_;

    my ($script, @options) = split_script($argument);
    die "$script: no such run_script\n" if !-x $script;
    my $path = absolute($script);
    my @system = defined $given->{system} ? ('-m', $given->{system}) : ();
    my $pid = open my $pipe, q{-|}, $path, @system, '-n', @options, @words;
    die "$script: $!\n" if !$pid;
    my @lines = <$pipe>;
    die "$script: can't be planned (see above)\n" if !close $pipe;

    my %plan = (path => $path, words => \@options, script => basename($path),
        runs => 1, spoiled => 0);
    my %said;
    for my $line (@lines) {
        push @{$said{$1}}, $2 if $line =~ /\A# ([a-z]+) = (.*)\n/;
    }
    die "$script: $said{several}[0]\n" if $said{several};
    die "$script: no run_script: it does not say what it runs\n"
        if !$said{benchmarks} || !$said{system};
    $plan{system} = $said{system}[0] =~ s/ .*//r;
    $plan{options} = $said{options} ? $said{options}[0] : q{};
    $plan{name} = join q{ }, $plan{script}, $plan{options} eq q{} ? () : $plan{options};
    $plan{promised} = defined $said{reference};
    $plan{benchmarks} = [split q{ }, $said{benchmarks}[0]];
    $plan{references} = [map { read_reference($_) } @{$said{reference} // []}];
    for my $reference (@{$plan{references}}) {
        for my $clause (promises($reference, @{$plan{benchmarks}})) {
            for my $key (qw(runs spoiled)) {
                $plan{$key} = $clause->{$key} if $clause->{$key} > $plan{$key};
            }
        }
    }
    return \%plan;
}

# Returns the signal that stopped it, or nothing.
sub _run_plans {
    my ($results, $plans, $given) = @_;

    my $progress = Assay::Progress->new;
    my $all = 0;
    $all += $_->{runs} for @{$plans};
    my $before = 0;
    for my $plan (@{$plans}) {
        while (defined(my $number = _owed($results, $plan))) {
            my $show = sub {
                $progress->show($before + $number - 1, $all,
                    "$plan->{name} $number of $plan->{runs}");
            };
            my $stopped = _run_script($results, $plan, $given, $show);
            return $stopped if defined $stopped;
        }
        $before += $plan->{runs};
    }
    $progress->clear;
    return;
}

# Which valid attempt comes next, or nothing: enough of them are there, or one
# has gone wrong in a way that no further attempt can mend.
sub _owed {
    my ($results, $plan) = @_;

    my %count = (valid => 0, spoiled => 0);
    $count{$_->{status}}++ for $results->attempts($plan->{script}, $plan->{options});
    return if $count{valid} >= $plan->{runs} || $count{spoiled} > $plan->{spoiled};
    return if $count{wrong} || $count{notrun};
    return $count{valid} + 1;
}

# The words by which a run_script makes an attempt of these results.
sub attempt_command {
    my ($plan, $results, $given, @words) = @_;

    return ($plan->{path}, '-r', $results->{folder},
        defined $given->{system} ? ('-m', $given->{system}) : (),
        $given->{strict} ? '--strict' : (), @words);
}

sub _run_script {
    my ($results, $plan, $given, $show) = @_;

    my @command = attempt_command($plan, $results, $given, @{$plan->{words}});
    my @of = @{$plan}{qw(script options)};
    my $before = $results->attempts(@of);
    open my $said, '+>', undef or die "temporary file: $!\n";
    my $stopped;
    my @heeded = heeded_signals();
    local @SIG{@heeded} = (sub { $stopped //= shift }) x @heeded;
    local $SIG{CHLD} = sub { };    # so that its end ends a sleep
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        $SIG{$_} = 'DEFAULT' for @heeded, 'CHLD';
        open STDOUT, '>&', $said;
        exec {$command[0]} @command or POSIX::_exit(127);
    }
    my $told = 0;
    while (waitpid($pid, WNOHANG) != $pid) {
        $show->();
        kill 'TERM', $pid if defined $stopped && !$told++;
        sleep 1;
    }
    $plan->{wait} = $?;
    return $stopped if defined $stopped;
    return if $results->attempts(@of) > $before;
    seek $said, 0, 0;
    my ($last) = reverse grep {/\S/} <$said>;
    die "$plan->{name}: made no attempt (" . _ending($plan->{wait}) . ')'
        . (defined $last ? ": $last" : "\n");
}

sub _ending {
    my ($wait) = @_;

    return $wait & 127 ? 'signal ' . ($wait & 127) : 'exit status ' . ($wait >> 8);
}

##
# show, judge, verify
##

# The name of a new campaign's folder, for run_scripts that make several attempts.
sub _command_folder {
    print absolute(new_folder('results')), "\n";
    return 0;
}

sub _results_argument {
    my @arguments = @_;

    die "which campaign? (assay campaign --help)\n" if @arguments != 1;
    return Assay::Results->view(absolute($arguments[0]));
}

sub _command_judge {
    my @arguments = @_;

    options(\@arguments, \my %given, 'strict');
    my $results = _results_argument(@arguments);
    my ($status, $tap) = $results->judge(
        strict  => $given{strict},
        scripts => [$results->scripts],
        ended   => 1
    );
    my @attempts = $results->{ledger}->broken ? () : $results->attempts;
    print annotate($tap, "results: $results->{folder}",
        map { attempt_line($_) } @attempts);
    return $status;
}

sub _command_show {
    my @arguments = @_;

    options(\@arguments, \my %given, 'strict');
    my $results = _results_argument(@arguments);
    for my $attempt ($results->{ledger}->broken ? () : $results->attempts) {
        print printable("$attempt->{time} $attempt->{script} $attempt->{host} "
                . attempt_line($attempt)), "\n";
    }
    return _conclude($results, [$results->scripts], $given{strict});
}

# The verdicts as a table, the folder, and the exit status.
sub _conclude {
    my ($results, $scripts, $strict) = @_;

    my ($status, $tap) = $results->judge(
        scripts => $scripts,
        strict  => $strict,
        ended   => 1
    );
    print table(points($tap));
    print "\n", $results->whereabouts;
    return $status;
}

sub _command_verify {
    my @arguments = @_;

    my $results = _results_argument(@arguments);
    my @faults = $results->faults;
    if (!@faults) {
        push @faults, $results->unfinished_faults;
    }
    if (@faults) {
        print printable($_), "\n" for @faults;
        return 3;
    }
    my @attempts = $results->attempts;
    print 'ledger holds: ', plural(scalar @attempts, 'attempt'),
        ', last line ', $results->{ledger}->head, "\n";
    return 0;
}

1;

__END__

=head1 NAME

Assay::Campaign - the command `assay campaign`

=head1 SYNOPSIS

    assay campaign run --name acceptance --system example-genoa run_stream \
        run_mpi_overhead 'run_mpi_overhead --recv'
    assay campaign show results/acceptance
    assay campaign judge results/acceptance
    assay campaign verify results/acceptance

=head1 DESCRIPTION

B<run> asks each run_script with C<-n> what it would run, reads in the
references how many valid attempts are owed, and runs it until they are there,
or until an attempt went wrong in a way that no further one can mend. Runs of one
run_script with other options are owed each for itself, and judged together. Nothing
runs beside it: the folder is locked. A campaign that was interrupted goes on
under its C<--name>; the attempt that was cut short is entered as spoiled.

B<attempt>, B<folder> and B<nodes> are what run_scripts call; see F<run_scripts/assay.sh>.

The form of the folder is described in assay-campaign(5).

=head1 EXIT STATUS

That of assay judge; 3 where the campaign is no evidence (broken ledger, changed
record or reference); 2 for a usage error, and before anything has run.

=cut
