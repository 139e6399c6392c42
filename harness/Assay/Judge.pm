package Assay::Judge;

# assay judge: hold records to what was promised.

use strict;
use warnings;

use Assay::Collect;
use Assay::Config;
use Assay::Lint;
use Assay::Places;
use Assay::Point;
use Assay::Reference;
use Assay::Series;
use Assay::Tap;
use Assay::Text qw(plural printable);
use Assay::Verdict;
use Carp qw(croak);
use File::Find ();
use Getopt::Long ();
use POSIX qw(strftime);

my @VERDICTS = qw(PASS FAIL INVALID INCONCLUSIVE NOTRUN WAIVED);

# From this many points on a second process judges half of them.
my $SHARE_FROM = 20_000;

# How many names a comment lists.
my $NAMED_MOST = 30;

sub main {
    my (@argv) = @_;
    my %opt = (reference => [], 'as-of' => strftime('%Y-%m-%d', gmtime));

    my $status = _options(\%opt, \@argv);
    return $status if defined $status;
    my $places = eval {
        Assay::Places->new(map { $_ => $opt{$_} } qw(nodes pairs devices));
    };
    return _refuse(_reason($@)) if !$places;
    my @references = eval { _references(\%opt) };
    return _refuse(_reason($@)) if !@references;
    my $reference = Assay::Reference::load(@references);
    my ($faults) = Assay::Lint::check($reference, $opt{'as-of'});
    if (@$faults) {
        print {*STDERR} "$_->{text}\n" for @$faults;
        return 2;
    }
    my ($records, $troubles) = _records(@argv);
    my @series = Assay::Series::of_clauses(@{$reference->{clauses}});
    my $data = Assay::Collect->new(series => \@series, places => $places,
        ran => {map { reverse split /=/, $_, 2 } @{$opt{ran} || []}})
        ->read_all(@$records);
    push @$troubles, $data->ambiguous();
    my $run = {
        opt       => \%opt,
        reference => $reference,
        data      => $data,
        places    => $places,
        troubles  => $troubles,
    };
    return _judge($run);
}

sub _reason {
    my ($why) = @_;
    $why =~ s/ at \S+ line [0-9]+[.]?\s*\z//;
    return $why;
}

sub _refuse {
    my (@why) = @_;
    print {*STDERR} map { 'assay judge: ' . printable($_) . "\n" } @why;
    return 2;
}

sub _options {
    my ($opt, $argv) = @_;
    my @said;
    local $SIG{__WARN__} = sub { push @said, lcfirst $_[0] };
    my $parser = Getopt::Long::Parser->new(
        config => [qw(no_auto_abbrev no_ignore_case)]);

    my $ok = $parser->getoptionsfromarray($argv, $opt, 'reference=s@',
        'system=s', 'nodes=s', 'pairs=s', 'devices=s', 'strict', 'whole',
        'as-of=s', 'output=s', 'ran=s@', 'help|h');
    if ($ok && $opt->{help}) {
        print usage();
        return close STDOUT ? 0 : 99;
    }
    push @said, "--as-of: not a date: '$opt->{'as-of'}'"
        if !Assay::Reference::is_date($opt->{'as-of'});
    push @said, map {"--ran: not HOSTS=RECORD: '$_'"}
        grep { !/\A\w[\w.,-]*=./as } @{$opt->{ran} || []};
    push @said, 'no record named' if $ok && !@$argv;
    return if $ok && !@said;
    chomp @said;
    _refuse(@said);
    print {*STDERR} usage();
    return 2;
}

sub usage {
    my $references = Assay::Config::reference_dir();
    return <<"END";
usage: assay judge [OPTION...] RECORD|DIR...

Hold records to the clauses of a reference and print the verdicts as TAP.
Of a DIR, all files *.record under it are judged.

      --reference FILE  a reference; may be repeated; all its clauses are owed
                        (any-machine.ref: those of what was run)
      --system NAME     the references of this system, as far as something
                        was run that they speak of
      --whole           all clauses are owed, run or not
      --nodes LIST      nodes that must be there: n1,n2, n[01-16] or \@FILE
      --pairs LIST      pairs that must be there: n1:n2,n2:n1, \@FILE or all
      --devices N       every node must have devices 0 to N-1
      --ran LIST=RECORD the nodes of a run, where its record is faulty and does
                        not name them all; may be repeated
      --strict          coverage must be known; what was not run fails
      --as-of DATE      judge waivers by this day (today, UTC)
      --output FILE     write the verdicts to FILE
  -h, --help            print this

Without --reference and --system any-machine.ref is used.  References are in
$references

Exit status: 0 all pass, 1 FAIL, 3 INVALID, 4 INCONCLUSIVE, 5 NOTRUN under
--strict or nothing passed, 2 bad usage or reference, 99 can't write.
END
}

sub _references {
    my ($opt) = @_;
    my @files = @{$opt->{reference}};
    my $top = Assay::Config::reference_dir();

    if (defined $opt->{system}) {
        my $system = $opt->{system};
        croak "--system: not a name: '$system'"
            if $system !~ /\A[A-Za-z0-9][\w.-]*\z/a;
        return (@files, _any_machine($top)) if $system eq 'any-machine';
        my $folder = "$top/$system";
        opendir my $dir, $folder
            or croak "--system: no references of '$system': $folder: $!";
        my @found = sort grep {/\A[^.].*[.]ref\z/} readdir $dir;
        closedir $dir;
        croak "--system: no *.ref in $folder" if !@found;
        push @files, map {"$folder/$_"} @found;
    }
    return @files ? @files : _any_machine($top);
}

sub _any_machine {
    my ($top) = @_;
    return "$top/any-machine.ref";
}

# The record files, and words for what yields none.
sub _records {
    my (@named) = @_;
    my (@records, @troubles, %seen);
    local $SIG{__WARN__} = sub { push @troubles, $_[0] =~ s/\s+\z//r };

    for my $name (@named) {
        my @found = ($name);
        if (-d $name) {
            @found = ();
            File::Find::find({
                no_chdir => 1,
                wanted => sub {
                    my $path = $File::Find::name =~ s{\A\Q$name\E/[.]/}{$name/}r;
                    if (!-d $path) { push @found, $path if /[.]record\z/ }
                    elsif (-l $path) {
                        push @troubles, "link to a folder, not followed: $path";
                    }
                },
            }, -l $name =~ s{/+\z}{}r ? "$name/." : $name);
            push @troubles, "no record under $name" if !@found;
        }
        push @records, @found;
    }
    return ([grep { !$seen{$_}++ } sort @records], \@troubles);
}

# Which clauses are owed: of a system, those of which something was run.
sub _owed {
    my ($run) = @_;
    my $opt = $run->{opt};
    my @clauses = @{$run->{reference}{clauses}};
    my %named = map { $_ => 1 } @{$opt->{reference}};
    my %ran = map { $_->{bench} => 1 } grep { defined $_->{bench} }
        @{$run->{data}{records}};

    # What must hold anywhere is owed by what was run; it promises nothing.
    my $heading = $run->{reference}{heading};
    my %anywhere = map { $_ => 1 }
        grep { ($heading->{$_}{system} // q{}) =~ /\Aany-machine\b/ } keys %$heading;

    my (@owed, @rest);
    for my $clause (@clauses) {
        my ($bench) = $clause->{metric} =~ /\A([^.]+)/;
        my $is = $opt->{whole} || $ran{$bench}
            || $named{$clause->{file}} && !(%ran && $anywhere{$clause->{file}});
        push @{$is ? \@owed : \@rest}, $clause;
    }
    return (\@owed, \@rest);
}

sub _judge {
    my ($run) = @_;
    my $verdicts = $run->{verdicts} = Assay::Verdict->new(
        data   => $run->{data},
        places => $run->{places},
        strict => $run->{opt}{strict},
        today  => $run->{opt}{'as-of'},
    );
    @$run{qw(owed rest)} = _owed($run);
    my @points = map { $verdicts->points($_) } @{$run->{owed}};

    my $out = _output($run->{opt}{output});
    return 99 if !$out;
    my $status = eval { _print($run, Assay::Tap->new($out), \@points) };
    my $why = $@;
    $why = "--output: can't write: $!"
        if defined $status && defined $run->{opt}{output} && !close $out;
    return $status if !$why;
    print {*STDERR} 'assay judge: ' . printable(_reason($why)) . "\n";
    no warnings 'io';
    close $out;
    return 99;
}

sub _output {
    my ($path) = @_;

    if (!defined $path) {
        binmode STDOUT;
        return \*STDOUT;
    }
    my $opened = open my $file, '>:raw', $path;
    return $file if $opened;
    print {*STDERR} 'assay judge: --output: '
        . printable("can't write '$path': $!") . "\n";
    return;
}

sub _print {
    my ($run, $tap, $points) = @_;
    my %count = map { $_ => 0 } @VERDICTS;
    my $verdicts = $run->{verdicts};

    # Which records bear on no point shows once every point was looked at.
    if ($run->{data}{bad} || $run->{data}{notrun_at}) {
        $verdicts->touch(@$_) for @$points;
    }
    my @extra = _extra($run, scalar @$points);
    $tap->plan(@$points + @extra);
    $tap->comment($_) for _heading($run);
    _print_points($run, $tap, $points, \%count);
    for my $point (@extra) {
        $count{$point->{verdict}}++;
        $tap->point(@$point{qw(ok description directive block)});
    }
    $tap->comment($_) for _summary($run, \%count);
    $tap->finish();
    return _status(\%count, $run->{opt}{strict});
}

sub _print_points {
    my ($run, $tap, $points, $count) = @_;

    return _print_range(@_, 0, $#$points) if @$points < $SHARE_FROM;
    my $half = int @$points / 2;
    my ($child, $from) = _judge_apart($run, $points, $half);
    _print_range(@_, 0, $half - 1);
    my @other = split q{ }, <$from> || q{};
    $count->{$VERDICTS[$_]} += $other[$_] || 0 for 0 .. $#VERDICTS;
    $tap->append($from, @$points - $half);
    waitpid $child, 0;
    croak 'the second judge failed' if $? || @other != @VERDICTS;
    return;
}

sub _print_range {
    my ($run, $tap, $points, $count, $first, $last) = @_;
    my $verdicts = $run->{verdicts};

    for my $item (@$points[$first .. $last]) {
        my $point = Assay::Point::judge($verdicts, @$item);
        $count->{$point->{verdict}}++;
        $tap->point(@$point{qw(ok description directive block)});
    }
    return;
}

# A second process judges the points from HALF on and hands over their text.
sub _judge_apart {
    my ($run, $points, $half) = @_;

    pipe my $from, my $to or croak "can't make a pipe: $!";
    my $child = fork;
    croak "can't fork: $!" if !defined $child;
    if ($child) {
        close $to;
        return ($child, $from);
    }
    close $from;
    my $done = eval {
        my %count = map { $_ => 0 } @VERDICTS;
        open my $file, '>', \my $text or croak "can't write: $!";
        my $tap = Assay::Tap->new($file);
        $tap->resume($half, scalar @$points);
        _print_range($run, $tap, $points, \%count, $half, $#$points);
        close $file or croak "can't write: $!";
        print({$to} "@count{@VERDICTS}\n", $text) && close $to;
    };
    print {*STDERR} "assay judge: $@" if !$done;
    POSIX::_exit($done ? 0 : 1);
}

# Points for what belongs to no clause and must not be passed over.
sub _extra {
    my ($run, $points) = @_;
    my $data = $run->{data};
    my @extra = map { _faulty('INVALID', $_, [reason => $_]) }
        @{$run->{troubles}};

    for my $attempt (0 .. $#{$data->{records}}) {
        my $record = $data->{records}[$attempt];
        next if defined $record->{copy_of};
        next if $run->{verdicts}{used}{$attempt};
        my ($class, $why) = @$record{qw(class why)};
        ($class, $why) = ('notrun', $record->{notrun})
            if !$class && defined $record->{notrun};
        next if !$class;
        if ($class eq 'notrun' && !$run->{opt}{strict}) {
            push @extra, _faulty('NOTRUN', "record $record->{path} NOTRUN",
                [reason => $why], [SKIP => $why]);
            next;
        }
        my $verdict = $class eq 'notrun' ? 'NOTRUN' : 'INVALID';
        push @extra, _faulty($verdict,
            "record $record->{path} $verdict: $why", [reason => $why]);
    }
    push @extra, map {
        _faulty('INVALID', "$_ INVALID: it was run, but no clause is for it",
            [reason => "the reference has no clause for $_"])
    } _unpromised($run);
    return @extra if @extra || $points;
    return _faulty('INVALID', 'nothing to judge',
        [reason => 'neither a clause nor a record']);
}

# Programs that were run on a system whose references don't speak of them.
# References named one by one may be about a part of what was run.
sub _unpromised {
    my ($run) = @_;
    my %promised = map { /\A([^.]+)/ => 1 }
        map { $_->{metric} } @{$run->{reference}{clauses}};
    my %ran = map { $_->{bench} => 1 } grep { defined $_->{bench} }
        @{$run->{data}{records}};

    return if @{$run->{opt}{reference}};
    return grep { !$promised{$_} } sort keys %ran;
}

sub _faulty {
    my ($verdict, $description, $reason, $directive) = @_;
    return {
        verdict     => $verdict,
        ok          => $directive ? 1 : 0,
        description => $description,
        directive   => $directive,
        block       => Assay::Tap::lines([verdict => $verdict], $reason),
    };
}

sub _heading {
    my ($run) = @_;
    my ($opt, $reference) = @$run{qw(opt reference)};
    my @said = "assay $Assay::Config::VERSION, judged as of $opt->{'as-of'}"
        . ' UTC' . ($opt->{strict} ? ', strict' : q{});

    push @said, defined $opt->{system} && $opt->{system} ne 'any-machine'
        ? "system $opt->{system}"
        : @{$opt->{reference}} ? 'no system named'
        : 'no system named: judged by what must hold on any machine';
    push @said, map {"reference $_->{path} sha256 $_->{sha256}"}
        @{$reference->{files}};
    for my $record (@{$run->{data}{records}}) {
        next if !defined $record->{copy_of};
        my $first = $run->{data}{records}[$record->{copy_of}];
        push @said, "record $record->{path} is the same as "
            . "$first->{path}: counted once";
    }
    return @said;
}

sub _summary {
    my ($run, $count) = @_;
    my ($data, $verdicts) = @$run{qw(data verdicts)};
    my $owed = @{$run->{owed}};
    my %asked = map { $_->{metric} => 1 }
        map { ($_->{series}, $_->{base} || ()) }
        @{$run->{reference}{clauses}};
    my @free = grep { !$asked{$_} } sort keys %{$data->{metrics}};
    my $judged = 'judged ' . plural($owed, 'clause');
    my @said;

    $judged .= '; ' . plural(scalar @free, 'metric has', 'metrics have')
        . ' no clause: ' . _list(@free) if @free;
    push @said, $judged;
    push @said, plural(scalar @{$run->{rest}}, 'clause')
        . ' not judged, nothing of the kind was run: '
        . _list(map {"$_->{id} ($_->{metric})"} @{$run->{rest}})
        if @{$run->{rest}};
    for my $metric (sort keys %{$data->{unfit}}) {
        push @said, plural($data->{unfit}{$metric}, 'line')
            . " of $metric: no clause asks for that place or those keys";
    }
    for my $clause (@{$run->{owed}}) {
        my $why = $verdicts->unlisted($clause);
        push @said, "clause $clause->{id}: $why" if $why;
        my @rows = $verdicts->unlimited($clause);
        push @said, "clause $clause->{id}: " . plural(scalar @rows, 'row has',
            'rows have') . ' no limit: ' . _list(@rows) if @rows;
    }
    return (@said, join ', ', map {"$_ $count->{$_}"} @VERDICTS);
}

sub _list {
    my (@names) = @_;
    my $more = @names - $NAMED_MOST;

    return join ', ', @names if $more <= 0;
    return join(', ', @names[0 .. $NAMED_MOST - 1]) . " and $more more";
}

sub _status {
    my ($count, $strict) = @_;
    return 1 if $count->{FAIL};
    return 3 if $count->{INVALID};
    return 4 if $count->{INCONCLUSIVE};
    return 5 if $strict && $count->{NOTRUN} || !$count->{PASS};
    return 0;
}

1;

__END__

=head1 NAME

Assay::Judge - assay judge: hold records to what was promised

=head1 SYNOPSIS

  assay judge --reference commbw.ref --nodes n[001-064] --pairs all results
  assay judge --system example --nodes @nodes --strict results

=head1 FUNCTIONS

=over

=item main(ARGUMENTS)

Judges, prints TAP 13 to the standard output or to C<--output>, and returns
the exit status.  It leaves the standard output open.

=back

=head1 WHICH CLAUSES ARE OWED

All clauses of a file named by C<--reference>.  Of the references of a system
(C<--system NAME>: every F<*.ref> in the folder NAME of the references, or
F<any-machine.ref> for C<any-machine> and where nothing is named) those of
programs that were run; C<--whole> makes all of them owed.  The output names
the clauses that were not.  A program that was run, and that no clause of the
system is for, is INVALID; with C<--reference> it is only named, because such
files may be about a part.  Metrics without a clause are counted and named, and
so are lines that no clause's C<where> or scope fits, and rows without a limit.

=head1 WHAT IS AN ATTEMPT

One record is one attempt.  A DIR stands for the files F<*.record> beneath it;
all records are taken in the order of their names, each path once.  Records
with the same content are one attempt, said in a comment.  A record whose head
and measurements are those of another, but which is otherwise different, was
altered: it is INVALID.  So is one whose head is its own and whose figures are
those of another to the last digit, where there are enough of them.  A folder that can't be read or holds no record is
INVALID, and so is a link to a folder within it, which is not followed.

A faulty record bears on the places whose hosts it names, on all places where
it names none (or names only one and the scope is C<every pair>), and on the
system; it bears on a clause unless its program is another or its C<opt> line
gainsays the clause's C<where>.  A faulty record that bears on no point gets a
point of its own, so that it can't be passed over.

=over

=item wrong

C<end status=wrong>, a failed check, a record that is malformed or contradicts
itself: INVALID, never excused.

=item spoiled

No C<end> line, a last line without its line feed, an empty file, C<end> with
the status C<unstable>, C<timeout> or C<failed>: charged against the clause's
C<spoiled>, place by place.  Only C<end status=failed scheduler=NODE_FAIL> (or
C<REQUEUE>, C<REQUEUED>) is listed and not charged.

=item not run

C<end status=notrun>, or a line C<notrun>: NOTRUN where the place has no
attempt, good or spoiled.  A place measured and not run in one record is
INVALID.

=back

=head1 VERDICTS AND EXIT STATUS

FAIL 1, INVALID 3, INCONCLUSIVE 4, NOTRUN under C<--strict> or no PASS at all
5, in this order; 0 otherwise, 2 for bad usage or a faulty reference, before
anything is judged, 99 where the output can't be written.  NOTRUN is C<ok #
SKIP> without C<--strict>; WAIVED is C<not ok # TODO> and does not fail; a
waiver is judged by C<--as-of>, today in UTC by default, and printed.

=head1 LARGE MACHINES

From 16 MiB of records on a second process reads half of them, and from 20000
points on a second process judges half of those; the output is the same.

=cut
