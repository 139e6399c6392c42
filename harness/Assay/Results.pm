package Assay::Results;

# A campaign's folder: its lock, its attempts, what is wrong with it, and what
# the judge says of it.

use 5.016;
use strict;
use warnings;

use Cwd qw(abs_path);
use Errno qw(EEXIST EWOULDBLOCK);
use Fcntl qw(:flock);
use File::Path qw(make_path);

use Assay::Attempt qw(abandon_attempt glob_in sha256_file utc);
use Assay::Ledger;
use Assay::Places;
use Assay::Tap;
use Assay::Text qw(plural);
use Assay::Tournament;

# Set, to the folder, in what a campaign starts while it holds the lock.
use constant HELD => 'ASSAY_CAMPAIGN_LOCK';

# view(FOLDER): a campaign that exists, to be read. Dies with one line.
sub view {
    my ($class, $folder) = @_;

    die "$folder: no campaign: it has no ledger\n" if !-f "$folder/ledger";
    return bless {folder => $folder, ledger => Assay::Ledger->new($folder)},
        $class;
}

# enter(FOLDER, system => NAME, host => NAME, alone => BOOLEAN): a campaign to
# add attempts to, made if it isn't there, locked until the object goes. A
# campaign that runs (alone) shares its folder with nobody but what it starts.
# Dies with one line.
sub enter {
    my ($class, $folder, %given) = @_;

    _make_folder($folder);
    $folder = abs_path($folder);
    my $held = !$given{alone} && ($ENV{+HELD} // q{}) eq $folder;
    my $self = bless {folder => $folder,
        ledger => Assay::Ledger->new($folder, watched => $held)}, $class;
    if ($held) {
        $self->_check_head($self->{ledger}->first, $given{system});
        return $self;
    }
    my $sole = $self->_lock($given{alone});
    $self->_head($given{system}, $given{host});
    $self->_abandon if $sole;
    flock $self->{lock}, LOCK_SH if $sole && !$given{alone};
    return $self;
}

sub _make_folder {
    my ($folder) = @_;

    if (!-d $folder) {
        make_path($folder, {error => \my $errors});
        die "$folder: " . (values %{$errors->[0]})[0] . "\n" if @{$errors};
    }
    die "$folder: this folder can't be written to\n" if !-w $folder;
    return if -e "$folder/ledger" || !glob_in($folder, '*');
    my ($file) = grep { !m{/lock\z} } glob_in($folder, '*') or return;
    die "$folder: neither empty nor a campaign: it has no ledger\n";
}

# True if nobody else is at work here.
sub _lock {
    my ($self, $alone) = @_;

    open $self->{lock}, '+>>', "$self->{folder}/lock"
        or die "$self->{folder}/lock: $!\n";
    return 1 if flock $self->{lock}, LOCK_EX | LOCK_NB;
    die "$self->{folder}/lock: $!\n" if $! != EWOULDBLOCK;
    return 0 if !$alone && flock $self->{lock}, LOCK_SH | LOCK_NB;
    die "$self->{folder}: another campaign is at work in this folder\n";
}

# The first line of the ledger says which system the campaign is about.
sub _head {
    my ($self, $system, $host) = @_;

    $self->{ledger}->append(
        'ledger',
        sub {
            my ($head) = @_;
            if (!$head) {
                return (
                    version => 1,
                    system  => $system,
                    host    => $host,
                    time    => utc()
                );
            }
            $self->_check_head($head, $system);
            return;
        }
    );
    return;
}

sub _check_head {
    my ($self, $head, $system) = @_;

    die "$self->{folder}: its ledger has no head\n" if $head->{kind} ne 'ledger';
    die "$self->{folder}: a campaign of the system $head->{system}, not of $system\n"
        if ($head->{system} // q{}) ne $system;
    return;
}

# Attempts that were begun and of which, as the lock proves, nothing runs.
sub _abandon {
    my ($self) = @_;

    abandon_attempt($self->{ledger}, $_) for $self->unfinished;
    return;
}

sub unfinished {
    my ($self) = @_;

    my @entries = $self->{ledger}->entries;
    my %ended = map { ($_->{number} => 1) } grep { $_->{kind} eq 'attempt' } @entries;
    return grep { $_->{kind} eq 'begin' && !$ended{$_->{number}} } @entries;
}

# The attempts that have ended, in order; of SCRIPT only, if one is named, and
# with these OPTIONS only, if any are given (none: q{}).
sub attempts {
    my ($self, $script, $options) = @_;

    return grep { !defined $options || ($_->{options} // q{}) eq $options }
        grep { !defined $script || $_->{script} eq $script }
        grep { $_->{kind} eq 'attempt' } $self->{ledger}->entries;
}

# The sweeps that were begun: lines of the ledger.
sub sweeps {
    my ($self) = @_;

    return grep { $_->{kind} eq 'sweep' } $self->{ledger}->entries;
}

# The run_scripts of all attempts and sweeps, in order: a sweep owes something
# from its beginning on.
sub scripts {
    my ($self) = @_;

    my %seen;
    return grep { !$seen{$_}++ } map { $_->{script} // q{} }
        grep { $_->{kind} eq 'attempt' || $_->{kind} eq 'sweep' } $self->{ledger}->entries;
}

# The names of all nodes, by which the judge goes.
sub places {
    my ($self) = @_;

    my @lists = map { $_->{hosts} } $self->sweeps, $self->attempts;
    return Assay::Places->new(@lists ? (nodes => join q{,}, @lists) : ());
}

# The rounds of a sweep over pairs, as its line says; none of one over nodes.
sub sweep_rounds {
    my ($sweep) = @_;

    return if $sweep->{of} ne 'pairs';
    return Assay::Tournament::rounds(
        $sweep->{method}, [split /,/, $sweep->{hosts}],
        count => $sweep->{count},
        seed  => $sweep->{seed}
    );
}

sub system {
    my ($self) = @_;

    my ($head) = $self->{ledger}->entries;
    return $head->{system};
}

# Keep what the attempts are held to: reports are made from this folder alone.
# A reference that has changed since is not overwritten; the ledger's hashes
# then show it. Dies with one line.
sub keep_references {
    my ($self, @references) = @_;

    my $folder = "$self->{folder}/reference";
    mkdir $folder or $! == EEXIST or die "$folder: $!\n";
    for my $reference (@references) {
        my $file = "$folder/$reference->{name}";
        next if -e $file;
        my $new = "$file.$$";
        open my $out, '>:raw', $new or die "$new: $!\n";
        my $ok = print {$out} $reference->{text};
        die "$new: $!\n" if !close $out || !$ok;
        rename $new, $file or die "$file: $!\n";
    }
    return;
}

# What makes this campaign no evidence: a list of sentences, at best none.
# With SCRIPT, the attempts of the others are left out. As a scalar, how many.
sub faults {
    my ($self, $script) = @_;

    my $broken = $self->{ledger}->broken;
    return wantarray ? $broken : 1 if defined $broken;
    my @attempts = $self->attempts($script);
    my @faults = (
        (map { $self->_attempt_faults($_) } @attempts),
        $self->_reference_faults(@attempts),
        (map { _sweep_fault($_) } $self->sweeps),
        $self->_listing_faults,
    );
    return @faults;
}

sub _attempt_faults {
    my ($self, $attempt) = @_;

    my $where = "ledger line $attempt->{line}";
    my $name = ($attempt->{record} // q{}) =~ s{/[^/]*\z}{}r;
    return "$where: attempt without a folder" if $name !~ /\A\d{4,}-[\w.-]+\z/;
    return "$where: no list of hosts"
        if ($attempt->{hosts} // q{}) !~ /\A\w[\w.,-]*\z/a;
    return "$where: the folder of attempt $name is missing"
        if !-d "$self->{folder}/$name";
    my @faults;
    for my $file (qw(record stdout stderr environment)) {
        my $path = $file eq 'record' ? $attempt->{record} : "$name/$file";
        my $hash = sha256_file("$self->{folder}/$path");
        next if $hash eq ($attempt->{"${file}_sha256"} // q{});
        push @faults, "$where: the $file of attempt $name has changed"
            . ($hash =~ /^[0-9a-f]{64}\z/ ? q{} : " ($hash)");
    }
    return @faults;
}

sub _reference_faults {
    my ($self, @attempts) = @_;

    my (%hash, @faults);
    for my $attempt (@attempts) {
        my @names = split q{ }, $attempt->{reference} // q{};
        my @hashes = split q{ }, $attempt->{reference_sha256} // q{};
        for my $i (0 .. $#names) {
            return "ledger line $attempt->{line}: no name of a reference"
                if $names[$i] !~ /\A[A-Za-z0-9][\w.-]*\z/a;
            my $first = $hash{$names[$i]} //= $hashes[$i] // q{};
            next if $first eq ($hashes[$i] // q{});
            push @faults, "ledger line $attempt->{line}: changed reference:"
                . " $names[$i] is not what earlier attempts were held to";
        }
    }
    for my $name (sort keys %hash) {
        next if sha256_file("$self->{folder}/reference/$name") eq $hash{$name};
        push @faults, "changed reference: reference/$name is not"
            . ' what the attempts were held to';
    }
    return @faults;
}

# What no sweep would have written of itself.
sub _sweep_fault {
    my ($sweep) = @_;

    my $text = join q{ }, map { $sweep->{$_} // q{} } qw(script of method count hosts);
    return if $text =~ /\A[A-Za-z_][\w-]*\ (?:nodes|pairs)\ (?:all|sample|bisection)
        \ \d{1,7}\ \w[\w.,-]*\z/ax;
    return "ledger line $sweep->{line}: no sweep";
}

# Folders and lines that have no counterpart.
sub _listing_faults {
    my ($self) = @_;

    my (%begun, %ended, @faults);
    for my $entry ($self->{ledger}->entries) {
        my $number = $entry->{number} // next;
        my $seen = $entry->{kind} eq 'begin' ? \%begun : \%ended;
        push @faults, "ledger line $entry->{line}: attempt $number stands twice"
            if $seen->{$number}++;
        next if $entry->{kind} eq 'begin' || $begun{$number};
        push @faults,
            "ledger line $entry->{line}: attempt $number was never begun";
    }
    for my $folder (glob_in($self->{folder}, '*-*')) {
        my ($number, $name) = $folder =~ m{/((\d{4,})-[^/]*)\z} ? ($2, $1) : next;
        push @faults, "the folder $name is not in the ledger"
            if !$begun{$number + 0};
    }
    return @faults;
}

# unfinished_faults: a sentence for each attempt that was begun and has not
# ended. One at work is no fault; one that was killed must not be forgotten.
sub unfinished_faults {
    my ($self) = @_;

    return map {
        "ledger line $_->{line}: attempt $_->{number} ($_->{script}) was begun"
            . ' and has not ended'
    } $self->unfinished;
}

# judge(strict => BOOLEAN, scripts => [NAME...], ended => BOOLEAN): the judge's
# exit status and its TAP, over every attempt. Faults of the campaign are
# INVALID at once, as is an attempt that has not ended where all should have.
sub judge {
    my ($self, %given) = @_;

    my %seen;
    my @scripts = grep { !$seen{$_}++ } @{$given{scripts}};
    my @faults = map { $self->faults($_) } @scripts;
    push @faults, $self->unfinished_faults if !@faults && $given{ended};
    push @faults, map {"$_: a sweep was begun, and nothing was run"}
        grep { !$self->attempts($_) } map { $_->{script} } $self->sweeps
        if !@faults && $given{ended};
    return (3, failure_tap(map {"campaign: $_"} @faults)) if @faults;
    my @attempts = map { $self->attempts($_) } @scripts;
    return (3, failure_tap('campaign: nothing was run')) if !@attempts;
    return _call_judge($self->_judge_arguments(\@attempts, $given{strict}));
}

sub _judge_arguments {
    my ($self, $attempts, $strict) = @_;

    my (%reference, %node, @nodes, %pair);
    my $devices = 0;
    my %script = map { ($_->{script} => 1) } @{$attempts};
    for my $sweep (grep { $script{$_->{script}} } $self->sweeps) {
        push @nodes, grep { !$node{$_}++ } split /,/, $sweep->{hosts};
        $pair{$_} = 1 for Assay::Tournament::pairs_of(sweep_rounds($sweep));
    }
    for my $attempt (@{$attempts}) {
        $reference{$_} = 1 for split q{ }, $attempt->{reference};
        push @nodes, grep { !$node{$_}++ } split /,/, $attempt->{hosts};
        $pair{$_} = 1 for split /,/, $attempt->{pairs} // q{};
        $devices = $attempt->{devices} if ($attempt->{devices} // 0) > $devices;
    }
    my @arguments = ('--nodes', join q{,}, @nodes);
    push @arguments, '--pairs', join q{,}, sort keys %pair if %pair;
    push @arguments, '--devices', $devices if $devices;
    push @arguments, '--strict' if $strict;
    push @arguments, map { ('--ran', "$_->{hosts}=$self->{folder}/$_->{record}") }
        grep { $_->{status} ne 'valid' } @{$attempts};
    push @arguments, map { ('--reference', "$self->{folder}/reference/$_") }
        sort keys %reference;
    return (@arguments, q{--}, map {"$self->{folder}/$_->{record}"} @{$attempts});
}

# In a process of its own, whose standard output is caught whole.
sub _call_judge {
    my @arguments = @_;

    my $pid = open my $pipe, q{-|};
    die "fork: $!\n" if !defined $pid;
    if (!$pid) {
        my $status = eval {
            require Assay::Judge;
            Assay::Judge::main(@arguments);
        };
        print {*STDERR} "assay judge: $@" if !defined $status;
        $status //= 99;
        $status = 99 if defined fileno STDOUT && !close STDOUT;
        POSIX::_exit($status);
    }
    binmode $pipe;
    my $text = do { local $/ = undef; <$pipe> };
    close $pipe;
    my $status = $? & 127 ? 99 : $? >> 8;

    # It gets references, not a system; which system they are of is said here.
    return ($status, ($text // q{}) =~ s/^# no system named\n//mr);
}

# Where all of it lies, and the hash by which it can be held to this moment.
sub whereabouts {
    my ($self) = @_;

    my @attempts = $self->attempts;
    my $head = eval { $self->{ledger}->head } // 'unreadable';
    return "results: $self->{folder}\nledger:  " . plural(scalar @attempts, 'attempt')
        . ", last line\n         $head\n";
}

# A TAP document in which every point is an INVALID one.
sub failure_tap {
    my @reasons = @_;

    my $tap = "TAP version 13\n1.." . scalar(@reasons) . "\n";
    my $number = 0;
    for my $reason (@reasons) {
        $tap .= 'not ok ' . ++$number . ' - INVALID ' . Assay::Tap::escape($reason) . "\n";
    }
    return $tap;
}

1;

__END__

=head1 NAME

Assay::Results - the folder of a campaign

=head1 DESCRIPTION

    lock              held shared by a run_script, alone by a campaign
    ledger            see Assay::Ledger
    reference/*.ref   what the attempts are held to, as it was at the first
    NNNN-SCRIPT/      an attempt, see Assay::Attempt

Nothing here is ever overwritten. A ledger whose chain is broken, a folder or a
record that is missing or has changed, a folder that the ledger does not know,
and a reference that has changed between attempts make the verdict INVALID.

=cut
