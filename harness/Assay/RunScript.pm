package Assay::RunScript;

# What a run_script hands over: one attempt, with all that is printed of it.

use 5.016;
use strict;
use warnings;

use Cwd qw(getcwd);
use Exporter qw(import);
use File::Basename qw(basename);
use POSIX qw(strftime);
use Sys::Hostname qw(hostname);

use Assay::Attempt qw(begin_attempt glob_in open_plain perform_attempt);
use Assay::Command qw(absolute options worst);
use Assay::Lint;
use Assay::Nodes;
use Assay::Progress;
use Assay::Reference;
use Assay::Results;
use Assay::Text qw(plural printable);

our @EXPORT_OK = qw(annotate attempt_line new_folder nothing_promised promises
    read_reference);

use constant MOST_OUTPUT => 400;    # lines of a program's output in the TAP

# Set in what a sweep starts: its attempts are judged together, at its end.
use constant LATER => 'ASSAY_JUDGE_LATER';

# Hints for what is often seen in a program's stderr and is not its fault.
my @HINTS = (
    [   qr/^Read -1, expected \d+, errno = 1\b/m,
        'cross-memory copy is forbidden here (a container?): the MPI library'
            . ' falls back to plain copies'
    ],
);

sub main {
    my @arguments = @_;

    my %plan = (benchmarks => [], limit => 1800);
    options(
        \@arguments, \%plan, 'print', 'strict', 'results=s', 'script=s',
        'benchmark=s', 'program=s', 'system=s', 'why=s', 'references=s',
        'nodes=s', 'limit=i', 'pairs=s', 'devices=i', 'invalid=s', 'options=s'
    );
    for my $key (qw(script benchmark program system why references nodes)) {
        die "--$key is missing: this is for run_scripts to call\n"
            if !defined $plan{$key};
    }
    $plan{command} = \@arguments;
    $plan{options} = join q{ }, map { _shell_quote($_) } split /\n/, $plan{options} // q{};
    $plan{benchmarks} = [split /,/, delete $plan{benchmark}];
    $plan{nodes} = [split q{ }, $plan{nodes} =~ s/,/ /gr];
    $plan{host} = hostname();
    $plan{references} = [_select_references(\%plan)];
    if ($plan{print}) {
        print _describe(\%plan);
        return 0 if !defined $plan{invalid};
        print {*STDERR} printable("$plan{script}: $plan{invalid}"), "\n";
        return 3;
    }
    if (defined $plan{invalid}) {
        print annotate(
            Assay::Results::failure_tap("$plan{script}: $plan{invalid}"),
            "$plan{script} on $plan{host}: nothing was run");
        return 3;
    }
    if (!@{$plan{references}}) {
        print Assay::Results::failure_tap(nothing_promised(\%plan));
        return 3;
    }
    return _attempt(\%plan);
}

sub _attempt {
    my ($plan) = @_;

    my $folder = absolute($plan->{results} // _interrupted('results') // new_folder('results'));
    my $misplaced = $folder =~ m{\A/tmp/} ? Assay::Nodes::misplaced(getcwd()) : undef;
    die "$misplaced\n" if defined $misplaced && ($plan->{results} // q{}) !~ m{\A/};
    my $results = Assay::Results->enter(
        $folder,
        system => $plan->{system},
        host   => $plan->{host}
    );
    my ($attempt, $run);
    my $ran = eval {
        $results->keep_references(@{$plan->{references}});
        $attempt = begin_attempt($results->{ledger}, $plan);
        $run = perform_attempt($results->{ledger}, $plan, $attempt, _ticker($plan));
        1;
    };
    my $trouble = $ran ? $run->{trouble} : $@ =~ s/\s+\z//r;
    my ($status, $tap) = defined $trouble
        ? (3, Assay::Results::failure_tap("$plan->{script}: $trouble"))
        : $ENV{+LATER} ? (5, "TAP version 13\n1..0 # SKIP judged with its sweep\n")
        : $results->judge(strict => $plan->{strict}, scripts => [$plan->{script}]);
    my @attempts = $ENV{+LATER} ? $run && $run->{entry} // ()
        : eval { $results->attempts($plan->{script}) };
    $tap = annotate($tap, _remarks($plan, $results, $attempt, @attempts));
    print $tap;
    my $kept = $attempt && _write_file("$attempt->{folder}/tap", $tap);
    my $said = close STDOUT || _complain("can't write: $!");
    return worst($status, $said && $kept ? () : 3,
        $run && $run->{stopped} ? 3 : (),
        $run && $run->{status} == 2 ? 2 : ());
}

# On a terminal, the time that an attempt takes; a campaign shows its own.
sub _ticker {
    my ($plan) = @_;

    my $progress = Assay::Progress->new(
        terminal => defined $ENV{Assay::Results::HELD()} ? 0 : undef);
    return sub {
        my ($goes_on) = @_;
        return $progress->clear if !$goes_on;
        return $progress->show(0, 1, "$plan->{script} on $plan->{host}");
    };
}

##
# The plan
##

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
    return grep { promises($_, @{$plan->{benchmarks}}) }
        map { read_reference($_) } @files;
}

sub _systems {
    my ($folder) = @_;

    return ('any-machine', map { basename($_) } grep {-d} glob_in($folder, '*'));
}

sub read_reference {
    my ($file) = @_;

    my $name = basename($file);
    die "$file: a reference's name has letters, digits, '.', '_', '-' only\n"
        if $name !~ /\A[A-Za-z0-9][\w.-]*\z/;
    my $parsed = Assay::Reference::load($file);
    my ($faults) = Assay::Lint::check($parsed, strftime('%Y-%m-%d', gmtime));
    die "$faults->[0]{text}\n" if @{$faults};
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
sub promises {
    my ($reference, @benchmarks) = @_;

    my %wanted = map { $_ => 1 } @benchmarks;
    return grep { $wanted{$_->{metric} =~ s/[.].*//r} } @{$reference->{clauses}};
}

sub nothing_promised {
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
        $plan->{options} ne q{} ? "options = $plan->{options}" : (),
        defined $plan->{devices} ? "devices = $plan->{devices} on each node" : (),
        defined $job ? "job = $job" : (),
        defined $plan->{invalid} ? "shape = INVALID: $plan->{invalid}" : (),
        @{$plan->{references}} ? () : nothing_promised($plan),
    );
    return join(q{}, map { '# ' . printable($_) . "\n" } @lines)
        . join(q{ }, map { _shell_quote($_) } @{$plan->{command}}) . "\n";
}

sub _shell_quote {
    my ($word) = @_;

    return $word if $word =~ m{\A[A-Za-z0-9_./=:,+\@%{}-]+\z};
    return q{'} . $word =~ s/'/'\\''/gr . q{'};
}

##
# What is printed and kept
##

# What a reader of the TAP has to know beside the verdicts.
sub _remarks {
    my ($plan, $results, $attempt, @attempts) = @_;

    my @lines = (
        "$plan->{script} on $plan->{host}, system $plan->{system} ($plan->{why})",
        "results: $results->{folder}"
    );
    push @lines, map { attempt_line($_) } @attempts;
    return @lines if !$attempt;
    my $folder = $attempt->{folder};
    push @lines, _output_lines("$folder/stdout"),
        map {"stderr: $_"} _output_lines("$folder/stderr");
    return (@lines, _hints("$folder/stderr"));
}

sub attempt_line {
    my ($attempt) = @_;

    my $line = "attempt $attempt->{number}: $attempt->{status}";
    $line .= " (of $attempt->{options})" if defined $attempt->{options};
    $line .= ": $attempt->{reason}" if $attempt->{reason} ne q{};
    return $line if !$attempt->{left};
    my $left = plural($attempt->{left}, 'process', 'processes');
    return "$line (left $left behind)";
}

# A program's output: its first lines, and how many more there are.
sub _output_lines {
    my ($file) = @_;

    my $in = open_plain($file) // return;
    my ($count, $whole, @lines) = (0, 1);
    local $/ = \65536;    # a line may be as long as the disk
    while (defined(my $block = <$in>)) {
        for my $part (split /^/, $block) {
            $count++ if $whole;
            $whole = $part =~ /\n\z/;
            next if $count > MOST_OUTPUT;
            my $line = \$lines[$count - 1];
            ${$line} .= substr $part, 0, 1000 - length(${$line} // q{});
        }
    }
    my $more = $count - @lines;
    s/\n\z// for @lines;
    push @lines, "... and $more more lines in $file" if $more;
    return @lines;
}

sub _hints {
    my ($file) = @_;

    my $text = join "\n", _output_lines($file);
    return map {"hint: $_->[1]"}
        grep { $text =~ $_->[0] } @HINTS;
}

# Put comments behind the plan, where no TAP reader minds them.
sub annotate {
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

##
# Folders
##

# A new folder's name: time and host, and a number if that is taken.
sub new_folder {
    my ($parent) = @_;

    my $name = strftime('%Y%m%dT%H%M%SZ-', gmtime)
        . hostname() =~ s/[^A-Za-z0-9._-]/_/gr;
    my $job = Assay::Nodes::job();
    $name .= "-job$job" if defined $job && $job =~ /\A[0-9]+\z/a;
    my ($folder, $number) = ("$parent/$name", 1);
    $folder = "$parent/$name-" . ++$number while -e $folder;
    return $folder;
}

# The folder in which this job was at work when the scheduler started it anew.
sub _interrupted {
    my ($parent) = @_;

    return if !Assay::Nodes::restarts();
    my $job = Assay::Nodes::job() // return;
    my ($folder) = reverse sort grep {-f "$_/ledger"}
        map { glob_in($parent, "*-job$job$_") } q{}, "-*";
    return $folder;
}

1;

__END__

=head1 NAME

Assay::RunScript - one attempt, as a run_script hands it over

=head1 SYNOPSIS

    assay campaign attempt --script run_stream --benchmark stream
        --references DIR --system NAME --why TEXT --nodes LIST
        [--results DIR] [--limit SECONDS] [--strict] [--print]
        [--pairs LIST] [--devices N] [--options WORDS] [--invalid TEXT]
        --program PATH -- COMMAND...

=head1 DESCRIPTION

Finds the system's reference files that have a clause for the benchmark, runs
COMMAND as an attempt of the campaign in DIR, judges all attempts of the script
in that campaign, and prints the verdicts as TAP, with the program's output as
comments behind the plan. In COMMAND, C<{record}> stands for the record's path.
WORDS, one a line, are the run_script's own options, as far as they tell what is
run from other runs of that script: they stand in the ledger.
With B<--print> it prints what it would do, in lines C<# KEY = VALUE>.

=cut
