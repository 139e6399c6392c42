package Assay::Campaign;

# The command `assay campaign`: run an acceptance, keep it, show it, check it.

use 5.016;
use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(basename);
use Getopt::Long ();
use POSIX qw(strftime WNOHANG);
use Sys::Hostname qw(hostname);
use Time::HiRes qw(sleep);

use Assay::Attempt qw(begin_attempt glob_in perform_attempt sha256_file);
use Assay::Nodes;
use Assay::Progress;
use Assay::Reference;
use Assay::Results;
use Assay::Summary qw(points table);
use Assay::Text qw(plural printable);

use constant MOST_OUTPUT => 400;    # lines of a program's output in the TAP

my $USAGE = <<'END';
usage: assay campaign run [--results DIR] [--name NAME] [--system SYSTEM]
                          [--strict] RUN_SCRIPT...
       assay campaign show DIR
       assay campaign judge [--strict] DIR
       assay campaign verify DIR

run     run each RUN_SCRIPT as often as its reference owes, one at a time,
        into DIR/NAME (default: results/, and a name of time and host). With
        the NAME of one that was interrupted, go on where it stopped.
show    print its attempts and a table of its verdicts
judge   judge all its attempts anew, and print TAP
verify  check the ledger's chain and every hash; name what does not fit

Exit status: that of assay judge; 2 for a usage error.
END

my %command = (
    attempt => \&_command_attempt,
    judge   => \&_command_judge,
    nodes   => \&Assay::Nodes::main,
    run     => \&_command_run,
    show    => \&_command_show,
    verify  => \&_command_verify,
);

# Of several exit statuses, the first of these counts.
my @PRECEDENCE = (2, 1, 3, 4, 5);

# Hints for what is often seen in a program's stderr and is not its fault.
my @HINTS = (
    [   qr/^Read -1, expected \d+, errno = 1\b/m,
        'cross-memory copy is forbidden here (a container?): the MPI library'
            . ' falls back to plain copies'
    ],
);

sub main {
    my ($name, @arguments) = @_;

    if (!defined $name || $name =~ /\A(?:-h|--help)\z/) {
        print {defined $name ? *STDOUT : *STDERR} $USAGE;
        return defined $name ? 0 : 2;
    }
    my $status = eval {
        my $code = $command{$name} or die "unknown subcommand '$name'\n";
        $code->(@arguments);
    };
    return $status if defined $status;
    print {*STDERR} 'assay campaign: ', printable($@ =~ s/\s+\z//r), "\n";
    return 2;
}

# Options into a hash; dies with the bad word.
sub _options {
    my ($arguments, $options, @specification) = @_;

    my $parser = Getopt::Long::Parser->new(
        config => [qw(no_auto_abbrev no_ignore_case require_order)]);
    my $why;
    local $SIG{__WARN__} = sub { $why //= lcfirst shift };
    return if $parser->getoptionsfromarray($arguments, $options, @specification);
    die $why // "bad option\n";
}

##
# attempt: one run of a run_script
##

sub _command_attempt {
    my @arguments = @_;

    my %plan = (benchmarks => [], limit => 1800);
    _options(
        \@arguments, \%plan, 'print', 'strict', 'results=s', 'script=s',
        'benchmark=s', 'program=s', 'system=s', 'why=s', 'references=s',
        'nodes=s', 'limit=i'
    );
    $plan{command} = \@arguments;
    $plan{benchmarks} = [split /,/, delete $plan{benchmark}];
    $plan{nodes} = [split q{ }, $plan{nodes} =~ s/,/ /gr];
    $plan{host} = hostname();
    $plan{references} = [_select_references(\%plan)];
    if ($plan{print}) {
        print _describe(\%plan);
        return 0;
    }
    if (!@{$plan{references}}) {
        print Assay::Results::failure_tap(_nothing_promised(\%plan));
        return 3;
    }
    return _attempt(\%plan);
}

sub _attempt {
    my ($plan) = @_;

    my $folder = _absolute($plan->{results} // _new_folder('results'));
    my $results = Assay::Results->enter(
        $folder,
        system => $plan->{system},
        host   => $plan->{host}
    );
    my ($attempt, $run);
    my $ran = eval {
        $results->keep_references(@{$plan->{references}});
        $attempt = begin_attempt($results->{ledger}, $plan);
        $run = perform_attempt($results->{ledger}, $plan, $attempt);
        1;
    };
    my $trouble = $ran ? $run->{trouble} : $@ =~ s/\s+\z//r;
    my ($status, $tap) = defined $trouble
        ? (3, Assay::Results::failure_tap("$plan->{script}: $trouble"))
        : $results->judge(strict => $plan->{strict}, scripts => [$plan->{script}]);
    $tap = _annotate($tap, _remarks($plan, $results, $attempt));
    print $tap;
    my $kept = $attempt && _write_file("$attempt->{folder}/tap", $tap);
    return _worst($status, close STDOUT && $kept ? () : 3,
        $run && $run->{stopped} ? 3 : (),
        $run && $run->{status} == 2 ? 2 : ());
}

# The reference files of the system that have a clause for the benchmarks:
# hashes of name, path, text, sha256. Dies with one line.
sub _select_references {
    my ($plan) = @_;

    my ($folder, $system) = @{$plan}{qw(references system)};
    my @files = ("$folder/any-machine.ref");
    if ($system ne 'any-machine') {
        die "'$system': no such system in $folder (there are: "
            . join(', ', _systems($folder)) . ")\n"
            if !-d "$folder/$system";
        @files = grep {/[.]ref\z/} glob_in("$folder/$system", '*');
    }
    return grep { _promises($_, @{$plan->{benchmarks}}) }
        map { _read_reference($_) } @files;
}

sub _systems {
    my ($folder) = @_;

    return ('any-machine', map { basename($_) } grep {-d} glob_in($folder, '*'));
}

sub _read_reference {
    my ($file) = @_;

    my $name = basename($file);
    die "$file: a reference's name has letters, digits, '.', '_', '-' only\n"
        if $name !~ /\A[A-Za-z0-9][\w.-]*\z/;
    my $parsed = Assay::Reference::load($file);
    my ($fault) = @{$parsed->{faults}};
    die "$fault->{text}\n" if $fault;
    open my $in, '<:raw', $file or die "$file: $!\n";
    my $text = do { local $/ = undef; <$in> };
    return {
        name   => $name,
        path   => $file,
        text   => $text,
        sha256 => $parsed->{files}[0]{sha256},
        clauses => $parsed->{clauses},
    };
}

# The clauses of a reference that are about one of the benchmarks.
sub _promises {
    my ($reference, @benchmarks) = @_;

    my %wanted = map { $_ => 1 } @benchmarks;
    return grep { $wanted{$_->{metric} =~ s/[.].*//r} } @{$reference->{clauses}};
}

sub _nothing_promised {
    my ($plan) = @_;

    return "$plan->{script}: the reference of $plan->{system} has no clause for "
        . join ', ', @{$plan->{benchmarks}};
}

# The plan as `-n` prints it; `assay campaign run` reads the lines KEY = VALUE.
sub _describe {
    my ($plan) = @_;

    my $job = Assay::Nodes::describe($plan->{host});
    my @lines = (
        "$plan->{script}: print only, nothing is run",
        "system = $plan->{system} ($plan->{why})",
        'benchmarks = ' . join(q{ }, @{$plan->{benchmarks}}),
        (map {"reference = $_->{path}"} @{$plan->{references}}),
        'nodes = ' . join(q{ }, @{$plan->{nodes}}),
        defined $job ? "job = $job" : (),
        @{$plan->{references}} ? () : _nothing_promised($plan),
    );
    return join(q{}, map {"# $_\n"} @lines)
        . join(q{ }, map { _shell_quote($_) } @{$plan->{command}}) . "\n";
}

sub _shell_quote {
    my ($word) = @_;

    return $word if $word =~ m{\A[A-Za-z0-9_./=:,+\@%{}-]+\z};
    return q{'} . $word =~ s/'/'\\''/gr . q{'};
}

# What a reader of the TAP has to know beside the verdicts.
sub _remarks {
    my ($plan, $results, $attempt) = @_;

    my @lines = (
        "$plan->{script} on $plan->{host}, system $plan->{system} ($plan->{why})",
        "results: $results->{folder}"
    );
    my @attempts = eval { $results->attempts($plan->{script}) };
    push @lines, map { _attempt_line($_) } @attempts;
    return @lines if !$attempt;
    my $folder = $attempt->{folder};
    push @lines, _output_lines("$folder/stdout"),
        map {"stderr: $_"} _output_lines("$folder/stderr");
    return (@lines, _hints("$folder/stderr"));
}

sub _attempt_line {
    my ($attempt) = @_;

    return "attempt $attempt->{number}: $attempt->{status}"
        . ($attempt->{reason} eq q{} ? q{} : ": $attempt->{reason}")
        . ($attempt->{left} ? " (left $attempt->{left} processes behind)" : q{});
}

# A program's output: its first lines, and how many more there are.
sub _output_lines {
    my ($file) = @_;

    open my $in, '<:raw', $file or return;
    my ($more, @lines) = (0);
    while (defined(my $line = <$in>)) {
        chomp $line;
        if (@lines < MOST_OUTPUT) { push @lines, substr $line, 0, 1000 }
        else                      { $more++ }
    }
    push @lines, "... and $more more lines in $file" if $more;
    return @lines;
}

sub _hints {
    my ($file) = @_;

    my $text = join "\n", _output_lines($file);
    return map {"hint: $_->[1]"} grep { $text =~ $_->[0] } @HINTS;
}

# Put comments behind the plan, where no TAP reader minds them.
sub _annotate {
    my ($tap, @lines) = @_;

    my $comments = join q{}, map { '# ' . printable($_) . "\n" } @lines;
    return $tap if $tap =~ s/^(1[.][.]\d+[^\n]*\n)/$1$comments/m;
    return "$tap$comments";
}

sub _write_file {
    my ($file, $text) = @_;

    open my $out, '>:raw', $file or return _complain("$file: $!");
    my $ok = print {$out} $text;
    return close $out && $ok ? 1 : _complain("$file: $!");
}

sub _complain {
    my ($what) = @_;

    print {*STDERR} 'assay campaign: ', printable($what), "\n";
    return 0;
}

sub _worst {
    my @statuses = @_;

    my %got = map { $_ => 1 } @statuses;
    for my $status (@PRECEDENCE) {
        return $status if $got{$status};
    }
    return (grep { $_ != 0 } @statuses)[0] // 0;
}

# A new folder's name: time and host, and a number if that is taken.
sub _new_folder {
    my ($parent) = @_;

    my $name = strftime('%Y%m%dT%H%M%SZ-', gmtime)
        . hostname() =~ s/[^A-Za-z0-9._-]/_/gr;
    my ($folder, $number) = ("$parent/$name", 1);
    $folder = "$parent/$name-" . ++$number while -e $folder;
    return $folder;
}

# Records and locks are named by absolute paths: a program may change folder.
sub _absolute {
    my ($path) = @_;

    return abs_path($path) // $path if -e $path;
    return $path if $path =~ m{\A/};
    return Cwd::getcwd() . "/$path";
}

##
# run: a campaign
##

sub _command_run {
    my @arguments = @_;

    my %given = (results => 'results');
    _options(\@arguments, \%given, 'results=s', 'name=s', 'system=s', 'strict');
    die "which run_script? (assay campaign --help)\n" if !@arguments;
    my @plans = map { _ask_script($_, \%given) } @arguments;
    my %systems = map { ($_->{system} => 1) } @plans;
    die 'the run_scripts are for different systems: '
        . join(', ', sort keys %systems) . "\n"
        if keys %systems > 1;

    my $folder = _campaign_folder(\%given);
    my $results = Assay::Results->enter(
        $folder,
        system => $plans[0]{system},
        host   => hostname(),
        alone  => 1
    );
    $ENV{Assay::Results::HELD()} = $folder;
    _run_plans($results, \@plans, \%given);
    return _conclude($results, [map { $_->{script} } @plans], $given{strict});
}

sub _campaign_folder {
    my ($given) = @_;

    my $name = $given->{name};
    return _absolute(_new_folder($given->{results})) if !defined $name;
    die "--name: '$name' is no folder's name\n"
        if $name !~ /\A[A-Za-z0-9][\w.-]*\z/;
    return _absolute("$given->{results}/$name");
}

# What a run_script would do, in its own words, and what its reference owes.
sub _ask_script {
    my ($script, $given) = @_;

    die "$script: no such run_script\n" if !-f $script || !-x _;
    my $path = _absolute($script);
    my @options = defined $given->{system} ? ('-m', $given->{system}) : ();
    my $pid = open my $pipe, q{-|}, $path, @options, '-n';
    die "$script: $!\n" if !$pid;
    my @lines = <$pipe>;
    die "$script: can't be planned (see above)\n" if !close $pipe;

    my %plan = (path => $path, script => basename($path), runs => 1, spoiled => 0);
    my %said;
    for my $line (@lines) {
        push @{$said{$1}}, $2 if $line =~ /\A# ([a-z]+) = (.*)\n/;
    }
    die "$script: no run_script: it does not say what it runs\n"
        if !$said{benchmarks} || !$said{system};
    $plan{system} = $said{system}[0] =~ s/ .*//r;
    my @benchmarks = split q{ }, $said{benchmarks}[0];
    for my $file (@{$said{reference} // []}) {
        for my $clause (_promises(_read_reference($file), @benchmarks)) {
            for my $key (qw(runs spoiled)) {
                $plan{$key} = $clause->{$key} if $clause->{$key} > $plan{$key};
            }
        }
    }
    return \%plan;
}

sub _run_plans {
    my ($results, $plans, $given) = @_;

    my $progress = Assay::Progress->new;
    my $all = 0;
    $all += $_->{runs} for @{$plans};
    my $done = 0;
    for my $plan (@{$plans}) {
        while (defined(my $number = _owed($results, $plan))) {
            _run_script($results, $plan, $given,
                sub { $progress->show($done, $all, "$plan->{script} $number of $plan->{runs}") });
            $done++;
        }
    }
    $progress->clear;
    return;
}

# Which valid attempt comes next, or nothing: enough of them are there, or one
# has gone wrong in a way that no further attempt can mend.
sub _owed {
    my ($results, $plan) = @_;

    my %count = (valid => 0, spoiled => 0);
    $count{$_->{status}}++ for $results->attempts($plan->{script});
    return if $count{valid} >= $plan->{runs} || $count{spoiled} > $plan->{spoiled};
    return if $count{wrong} || $count{notrun};
    return $count{valid} + 1;
}

sub _run_script {
    my ($results, $plan, $given, $show) = @_;

    my @command = ($plan->{path}, '-r', $results->{folder});
    push @command, '-m', $given->{system} if defined $given->{system};
    push @command, '--strict' if $given->{strict};
    my $before = $results->attempts($plan->{script});
    my $stopped;
    local @SIG{qw(TERM INT HUP)} = (sub { $stopped //= shift }) x 3;
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        $SIG{$_} = 'DEFAULT' for qw(TERM INT HUP);
        open STDOUT, '>', '/dev/null';
        exec {$command[0]} @command or POSIX::_exit(127);
    }
    my $told = 0;
    while (waitpid($pid, WNOHANG) != $pid) {
        $show->();
        kill 'TERM', $pid if defined $stopped && !$told++;
        sleep 0.1;
    }
    my $status = $?;
    die "stopped by SIG$stopped; to go on: assay campaign run with --name "
        . basename($results->{folder}) . "\n"
        if $stopped;
    die "$plan->{script}: made no attempt (wait status $status)\n"
        if $results->attempts($plan->{script}) == $before;
    return;
}

##
# show, judge, verify
##

sub _results_argument {
    my @arguments = @_;

    die "which campaign? (assay campaign --help)\n" if @arguments != 1;
    return Assay::Results->view(_absolute($arguments[0]));
}

sub _scripts {
    my ($results) = @_;

    my %seen;
    return grep { !$seen{$_}++ } map { $_->{script} } $results->attempts;
}

sub _command_judge {
    my @arguments = @_;

    _options(\@arguments, \my %given, 'strict');
    my $results = _results_argument(@arguments);
    my ($status, $tap) = $results->judge(
        strict  => $given{strict},
        scripts => [_scripts($results)]
    );
    print _annotate($tap, "results: $results->{folder}",
        map { _attempt_line($_) } $results->attempts);
    return $status;
}

sub _command_show {
    my @arguments = @_;

    _options(\@arguments, \my %given, 'strict');
    my $results = _results_argument(@arguments);
    for my $attempt ($results->attempts) {
        print printable("$attempt->{time} $attempt->{script} $attempt->{hosts} "
                . _attempt_line($attempt)), "\n";
    }
    return _conclude($results, [_scripts($results)], $given{strict});
}

# The verdicts as a table, the folder, and the exit status.
sub _conclude {
    my ($results, $scripts, $strict) = @_;

    my ($status, $tap) = $results->judge(scripts => $scripts, strict => $strict);
    print table(points($tap));
    print "\nresults: $results->{folder}\n";
    print 'ledger:  ', plural(scalar(my @all = $results->attempts), 'attempt'),
        ", last line\n         ", eval { $results->{ledger}->head } // 'unreadable', "\n";
    return $status;
}

sub _command_verify {
    my @arguments = @_;

    my $results = _results_argument(@arguments);
    my @faults = $results->faults;
    if (!@faults) {
        push @faults, map {
            "ledger line $_->{line}: attempt $_->{number} ($_->{script}) was begun"
                . ' and has not ended'
        } $results->unfinished;
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

    assay campaign run --name acceptance --system example-genoa run_stream
    assay campaign show results/acceptance
    assay campaign judge results/acceptance
    assay campaign verify results/acceptance

=head1 DESCRIPTION

B<run> asks each run_script with C<-n> what it would run, reads in the
references how many valid attempts are owed, and runs it until they are there,
or until an attempt went wrong in a way that no further one can mend. Nothing
runs beside it: the folder is locked. A campaign that was interrupted goes on
under its C<--name>; the attempt that was cut short is entered as spoiled.

B<attempt> and B<nodes> are what run_scripts call; see F<run_scripts/assay.sh>.

The form of the folder is described in assay-campaign(5).

=head1 EXIT STATUS

That of assay judge; 3 where the campaign is no evidence (broken ledger, changed
record or reference); 2 for a usage error, and before anything has run.

=cut
