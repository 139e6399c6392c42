package Assay::Attempt;

# One attempt of a run_script: run it, keep all of it, enter it in the ledger.

use 5.016;
use strict;
use warnings;

use Config ();
use Digest::SHA;
use Exporter qw(import);
use POSIX qw(strftime);

use Assay::Launch qw(launch);
use Assay::Ledger;
use Assay::Nodes;
use Assay::Record;

our @EXPORT_OK = qw(abandon_attempt begin_attempt enter_untested glob_in
    open_plain perform_attempt sha256_file utc);

# How an attempt ended, by the exit status of its program.
my %status_of_exit = (
    0  => 'ok',
    1  => 'wrong',
    3  => 'unstable',
    77 => 'notrun',
);

sub utc { return strftime '%Y-%m-%dT%H:%M:%SZ', gmtime }

# The SHA-256 of a file, or a word that says why there is none.
sub sha256_file {
    my ($file) = @_;

    return 'missing' if !-f $file;
    my $digest = eval { Digest::SHA->new(256)->addfile($file, 'b')->hexdigest };
    return $digest // 'unreadable';
}

# begin_attempt(LEDGER, PLAN): make the attempt's folder, and announce it in
# the ledger, so that one that is cut short leaves a trace even if its folder
# is taken away. Returns the attempt: number, name, folder. Dies with one line.
sub begin_attempt {
    my ($ledger, $plan) = @_;

    my %attempt;
    my $job = Assay::Nodes::job_of($plan->{host});
    $ledger->append(
        'begin',
        sub {
            my $number = _next_number($ledger->{folder}, @_);
            my $name = sprintf '%04d-%s', $number, $plan->{script};
            %attempt = (
                number => $number,
                name   => $name,
                folder => "$ledger->{folder}/$name",
                job    => $job,
            );
            mkdir $attempt{folder} or die "$attempt{folder}: $!\n";
            return (
                number     => $number,
                time       => utc(),
                script     => $plan->{script},
                _options_field($plan),
                benchmarks => join(q{,}, @{$plan->{benchmarks}}),
                host       => $plan->{host},
                hosts      => join(q{,}, @{$plan->{nodes}}),
                _job_fields($job),
                _reference_fields($plan),
            );
        }
    );
    return \%attempt;
}

# The record is named after the benchmark: `assay judge FOLDER` takes *.record.
sub record_file {
    my ($folder, $plan) = @_;

    return "$folder/$plan->{benchmarks}[0].record";
}

# By which the scheduler can be asked later what became of it.
sub _job_fields {
    my ($job) = @_;

    return if !defined $job;
    return (job => $job, restarts => Assay::Nodes::restarts());
}

# The run_script's options, where they make another run of it.
sub _options_field {
    my ($plan) = @_;

    my $options = $plan->{options} // q{};
    return $options eq q{} ? () : (options => $options);
}

# What the attempt is held to: names, and hashes in the same order.
sub _reference_fields {
    my ($plan) = @_;

    my @references = @{$plan->{references}};
    return (
        reference        => join(q{ }, map { $_->{name} } @references),
        reference_sha256 => join(q{ }, map { $_->{sha256} } @references),
    );
}

sub _next_number {
    my ($folder, @entries) = @_;

    my $number = 0;
    my @used = map { $_->{number} // 0 } @entries;
    push @used, map {m{/(\d{4,})-[^/]*\z}} glob_in($folder, '*-*');
    for my $used (@used) {
        $number = $used if $used > $number;
    }
    return $number + 1;
}

# The files of a folder that fit a pattern; the folder's name may hold anything.
sub glob_in {
    my ($folder, $pattern) = @_;

    opendir my $handle, $folder or return;
    my $fits = join '.*', map {quotemeta} split /[*]/, $pattern, -1;
    return map {"$folder/$_"} sort grep { /\A$fits\z/s && !/\A[.]/ } readdir $handle;
}

# perform_attempt(LEDGER, PLAN, ATTEMPT, TICK): run it and enter how it went.
# Returns the result of the launch; the ledger's line is in its `entry`, what
# can't be kept in its `trouble`.
sub perform_attempt {
    my ($ledger, $plan, $attempt, $tick) = @_;

    my $folder = $attempt->{folder};
    my $record = record_file($folder, $plan);
    my $trouble = _keep("$folder/environment", _environment());
    my @command = map {s/\{record\}/$record/gr} @{$plan->{command}};
    my %run = launch(
        command => \@command,
        limit   => $plan->{limit},
        stdout  => "$folder/stdout",
        stderr  => "$folder/stderr",
        mark    => "$folder:$$:" . time,
        tick    => $tick,
        whole   => sub { _is_whole($record) },
    );
    $run{scheduler} = Assay::Nodes::cut_short($attempt->{job}, Assay::Nodes::restarts())
        if $run{status} || $run{signal} || $run{timeout} || defined $run{stopped};
    $trouble //= _close_record($record, $plan, \%run);
    my $entered = eval { $run{entry} = _enter($ledger, $plan, $attempt, \%run) };
    $trouble //= $@ =~ s/\n\z//r if !$entered;
    $run{trouble} = $trouble if defined $trouble;
    return \%run;
}

# abandon_attempt(LEDGER, ENTRY): enter a begun attempt of which nothing runs
# any more: the run_script was killed, or the node went down.
sub abandon_attempt {
    my ($ledger, $begun) = @_;

    my $benchmarks = $begun->{benchmarks} // $begun->{script} =~ s/^run_//r;
    die "ledger line $begun->{line}: no run_script began this\n"
        if "$begun->{number} $begun->{script} $benchmarks"
        !~ /\A[1-9][0-9]{0,8} [A-Za-z_][\w-]* [A-Za-z_][\w,-]*\z/a;
    my $name = sprintf '%04d-%s', $begun->{number}, $begun->{script};
    my $folder = "$ledger->{folder}/$name";
    my @names = split q{ }, $begun->{reference};
    my @hashes = split q{ }, $begun->{reference_sha256};
    my %plan = (
        script     => $begun->{script},
        options    => $begun->{options},
        host       => $begun->{host},
        benchmarks => [split /,/, $benchmarks],
        nodes      => [split /,/, $begun->{hosts}],
        references => [map { {name => shift @names, sha256 => $_} } @hashes],
    );
    my %run = (
        status  => 255,
        signal  => 0,
        seconds => 0,
        error   => 'cut short: its run_script ended without a word',
        scheduler => Assay::Nodes::cut_short($begun->{job}, $begun->{restarts} // 0),
    );
    mkdir $folder;
    my $trouble = _close_record(record_file($folder, \%plan), \%plan, \%run);
    die "$trouble\n" if defined $trouble;
    my %attempt = (number => $begun->{number}, name => $name, folder => $folder,
        job => $begun->{job});
    _enter($ledger, \%plan, \%attempt, \%run);
    return;
}

# enter_untested(LEDGER, PLAN, WHY): enter, as an attempt of which nothing was
# run, the hosts of the plan: why each could not be measured. Dies with one line.
sub enter_untested {
    my ($ledger, $plan, $why) = @_;

    my $attempt = begin_attempt($ledger, $plan);
    my $record = record_file($attempt->{folder}, $plan);
    my $text = _record_head($plan);
    for my $host (@{$plan->{nodes}}) {
        $text .= Assay::Ledger::format_line('notrun', host => $host, reason => $why->{$host});
    }
    $text .= Assay::Ledger::format_line('end', status => 'ok', by => $plan->{script});
    for my $file ($record, map {"$attempt->{folder}/$_"} qw(stdout stderr environment)) {
        my $trouble = _keep($file, $file eq $record ? $text : q{});
        die "$trouble\n" if defined $trouble;
    }
    _enter($ledger, $plan, $attempt, {status => 0, signal => 0, seconds => 0});
    return;
}

# Whether a line of the ledger is such an attempt.
sub is_untested {
    my ($entry) = @_;

    return $entry->{status} eq 'notrun' && $entry->{program} eq 'unknown';
}

sub _record_head {
    my ($plan) = @_;

    return Assay::Ledger::format_line(
        'record',
        version => 1,
        bench   => $plan->{benchmarks}[0],
        program => $plan->{script},
        time    => utc()
    );
}

# Returns the line, as a hash.
sub _enter {
    my ($ledger, $plan, $attempt, $run) = @_;

    my $record = record_file($attempt->{folder}, $plan);
    my ($status, $reason) = _verdict($record);
    $reason .= " ($run->{word})"
        if defined $run->{word} && index($reason, $run->{word}) < 0;
    my @files = map { ("${_}_sha256" => sha256_file("$attempt->{folder}/$_")) }
        qw(stdout stderr environment);
    my $program = $plan->{program} // 'unknown';
    my %line = $ledger->append(
        'attempt',
        sub {
            return (
                number           => $attempt->{number},
                time             => utc(),
                seconds          => sprintf('%.3f', $run->{seconds}),
                script           => $plan->{script},
                _options_field($plan),
                host             => $plan->{host},
                hosts            => join(q{,}, @{$plan->{nodes}}),
                defined $plan->{pairs} ? (pairs => $plan->{pairs}) : (),
                defined $plan->{devices} ? (devices => $plan->{devices}) : (),
                job              => $attempt->{job} // 'none',
                status           => $status,
                reason           => $reason,
                exit             => $run->{status},
                signal           => $run->{signal},
                left             => $run->{left} // 0,
                record           => $record =~ s{\A\Q$ledger->{folder}\E/}{}r,
                record_sha256    => sha256_file($record),
                @files,
                program          => $program,
                program_sha256   => sha256_file($program),
                _reference_fields($plan),
            );
        }
    );
    return \%line;
}

# The attempt's status in the ledger: what the judge will take its record for.
sub _verdict {
    my ($file) = @_;

    my $record = Assay::Record->new(path => $file, metric => sub { });
    $record->read_file;
    return ('notrun', $record->{notrun}[0]{reason})
        if $record->{class} eq q{} && !$record->{metrics} && @{$record->{notrun}};
    return ($record->{class} eq q{} ? 'valid' : $record->{class},
        $record->{why} // q{});
}

sub _record_lines {
    my ($record) = @_;

    my $in = open_plain($record) // return;
    my @lines;
    while (defined(my $text = <$in>)) {
        my $line = Assay::Ledger::parse_line($text) or next;
        push @lines, $line;
    }
    return @lines;
}

# Close the record where its program did not, or did not mean it: what only
# the launcher knows (a time limit, a signal, an exit status that gainsays the
# record) becomes its last line. One that ends within
# a line shows that by itself. Returns why that failed, or undef.
sub _close_record {
    my ($record, $plan, $run) = @_;

    my @lines = _record_lines($record);
    my @ends = grep { $_->{kind} eq 'end' } @lines;
    my ($status, $reason) = _ending($run, $ends[-1], $record);
    # A launcher ends with 1 for reasons of its own. What its program found to
    # be wrong stands in the record.
    $status = 'failed'
        if ($status // q{}) eq 'wrong' && $plan->{command}[0] ne ($plan->{program} // q{});
    $run->{word} = $reason // _interruption($run) // _hang($run);
    return if !defined $status;
    my $scheduler = $status =~ /\A(?:failed|timeout)\z/ ? $run->{scheduler} : undef;
    if (defined $scheduler) {
        $run->{word} = "$scheduler, says the scheduler";
        $reason .= " ($run->{word})";
    }
    return if -s $record && !_ends_in_newline($record);
    my $text = @lines ? q{} : _record_head($plan);
    # Whom a faulty record is about decides for whom it counts.
    my %named = map { ($_->{host} // q{} => 1) } grep { $_->{kind} eq 'env' } @lines;
    $text .= join q{}, map { Assay::Ledger::format_line('env', host => $_, by => $plan->{script}) }
        grep { !$named{$_} } @{$plan->{nodes}}
        if !@ends;
    $text .= Assay::Ledger::format_line(
        'end',
        status => $status,
        reason => $reason,
        defined $scheduler ? (scheduler => $scheduler) : (),
        by     => $plan->{script}
    );
    return _keep($record, $text);
}

# The end line that has to be added, or nothing where the record's own stands.
sub _ending {
    my ($run, $end, $record) = @_;

    my $own = $end ? ($end->{status} // q{}) : undef;
    return if defined $own && $run->{hung};
    # A program that was told to end says so; only the scheduler knows why.
    return ($own => $end->{reason} // 'no reason given')
        if defined $run->{scheduler} && defined $own && $own =~ /\A(?:failed|timeout)\z/;
    return if defined $own && $own ne 'ok';
    return (failed => $run->{error}) if defined $run->{error};
    my $interruption = _interruption($run);
    return ($run->{timeout} ? 'timeout' : 'failed', $interruption)
        if defined $interruption;
    return (failed => 'killed by ' . signal_name($run->{signal})) if $run->{signal};
    return if defined $own && $run->{status} == 0;
    return (failed => 'the program ended without an end line')
        if $run->{status} == 0;
    my $status = $status_of_exit{$run->{status}} // 'failed';
    my $last = _last_line($record =~ s{[^/]*\z}{stderr}r);
    return ($status => "exit status $run->{status}"
            . (defined $last ? ": $last" : q{}));
}

# Why the launcher ended the program, or nothing where it did not.
sub _interruption {
    my ($run) = @_;

    return "stopped by SIG$run->{stopped}" if $run->{stopped};
    return "timeout after $run->{limit} s" if $run->{timeout};
    return;
}

# What is no fault of the figures: an MPI library that does not come to an end
# after all is said.
sub _hang {
    my ($run) = @_;

    return if !$run->{hung};
    return "its record was whole, but the program did not end: ended after $run->{hung} s more";
}

# Whether a record has its last line.
sub _is_whole {
    my ($record) = @_;

    my $in = open_plain($record) // return 0;
    my $size = -s $in;
    seek $in, $size - 4096, 0 if $size > 4096;
    local $/ = undef;
    return (<$in> // q{}) =~ /^end status=[^\n]*\n\z/m;
}

sub signal_name {
    my ($number) = @_;

    my @names = split q{ }, $Config::Config{sig_name};
    return defined $names[$number] ? "SIG$names[$number]" : "signal $number";
}

sub _last_line {
    my ($file) = @_;

    my $in = open_plain($file) // return;
    my $size = -s $in;
    seek $in, $size - 2000, 0 if $size > 2000;
    my @lines = grep {/[[:alnum:]]/} <$in>;
    return if !@lines;
    my ($last) = grep { !Assay::Nodes::is_chatter($_) } reverse @lines;
    return substr +($last // $lines[-1]) =~ s/\s+\z//r, 0, 200;
}

sub _ends_in_newline {
    my ($file) = @_;

    my $in = open_plain($file) // return 1;
    seek $in, -1, 2;
    return (getc $in) eq "\n";
}

# What a program leaves in place of a file may be a pipe, or never end.
sub open_plain {
    my ($file) = @_;

    return if !-f $file;
    open my $in, '<:raw', $file or return;
    return $in;
}

# Append to a file; returns why that failed, or undef.
sub _keep {
    my ($file, $text) = @_;

    return "$file: not a plain file" if -e $file && !-f _;
    open my $out, '>>:raw', $file or return "$file: $!";
    my $ok = print {$out} $text;
    return close $out && $ok ? undef : "$file: $!";
}

# All variables, since any may change a result; the secret ones without value.
sub _environment {
    my $secret = qr/TOKEN|SECRET|PASS|CREDENTIAL|COOKIE|JWT|_KEY|APIKEY|AUTH/i;
    my $text = q{};

    for my $name (sort keys %ENV) {
        my $value = $name =~ $secret ? '(withheld)' : $ENV{$name};
        $text .= "$name=" . $value =~ s/\n/\\n/gr . "\n";
    }
    return $text;
}

1;

__END__

=head1 NAME

Assay::Attempt - one attempt of a run_script

=head1 DESCRIPTION

An attempt is a folder F<NNNN-SCRIPT> of a campaign: F<BENCHMARK.record>, F<stdout>,
F<stderr>, F<environment>, F<tap>; a line C<begin> in the ledger before it
runs, and a line C<attempt> after. Where the program did not close its record,
or its exit status gainsays the record's C<end status=ok>, a line C<end> with
C<by=SCRIPT> is added before the record's hash is taken: what only the launcher
knows belongs to the record too.

=cut
