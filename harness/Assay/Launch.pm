package Assay::Launch;

# Run one command under a time limit, and leave no process of it behind.

use 5.016;
use strict;
use warnings;

use Config ();
use Exporter qw(import);
use POSIX qw(:sys_wait_h setsid _exit);
use Time::HiRes qw(CLOCK_MONOTONIC clock_gettime sleep);

our @EXPORT_OK = qw(heeded_signals launch);

use constant GRACE => 3;    # seconds from SIGTERM to SIGKILL
use constant LINGER => 20;    # seconds from the last word to the end, at most

# Of prctl(2): a signal for me when my parent ends; orphans become mine.
use constant PDEATHSIG => 1;
use constant SUBREAPER => 36;

# Its number, which core Perl doesn't know, where pointers have 8 bytes.
my %prctl_of = (x86_64 => 157, aarch64 => 167, riscv64 => 167, loongarch64 => 167,
    ppc64le => 171, ppc64 => 171, s390x => 172);

# launch(command => [...], stdout => FILE, stderr => FILE, limit => SECONDS,
# mark => TEXT, tick => CODE, whole => CODE): run it in a session of its own,
# with no standard input. tick is called with 1 once a second or so, and with 0
# at the end. Once whole returns true, the command has said all it has to say,
# and little time is left to it.
# Returns a hash: status (exit status), signal (that ended it, or 0), seconds,
# timeout (true when the limit was reached), hung (seconds that a command lived
# on which had said all, and was ended), stopped (the name of the signal
# that this process got meanwhile), error (why it could not be started), left
# (how many processes it left behind, which are ended too).
sub launch {
    my %how = @_;

    my %run = (status => 0, signal => 0, timeout => 0, left => 0, start => _now(),
        limit => $how{limit});
    my $stopped;
    local $SIG{CHLD} = sub { };
    my @heeded = heeded_signals();
    local @SIG{@heeded} = (sub { $stopped //= shift }) x @heeded;

    my %kin = (mark => $how{mark}, others => {map { $_ => 1 } _descendants(_processes())});
    _prctl(SUBREAPER, 1);
    my ($pid, $error) = _start(\%how);
    if (defined $error) {
        return (%run, status => 127, error => $error, seconds => 0);
    }
    $kin{session} = $pid;
    my $tick = $how{tick} // sub { };
    my $wait = _wait($pid, $run{start} + $how{limit}, \$stopped, $tick, $how{whole});
    $tick->(0);
    if (!defined $wait) {
        $run{hung} = LINGER if !defined $stopped && $how{whole} && $how{whole}->();
        $run{timeout} = !defined $stopped && !$run{hung};
        $wait = _end($pid, \%kin);
    }
    $run{seconds} = _now() - $run{start};
    @run{qw(status signal)} = ($wait >> 8, $wait & 127);
    $run{left} = _sweep(\%kin);
    _prctl(SUBREAPER, 0);
    $run{stopped} = $stopped if defined $stopped;
    return %run;
}

# Seconds on a clock that nobody sets.
sub _now { return clock_gettime(CLOCK_MONOTONIC) }

# False where this machine has no such call, or we don't know its number.
sub _prctl {
    my ($option, $value) = @_;

    my $number = $prctl_of{(POSIX::uname())[4]};
    return 0 if $^O ne 'linux' || !defined $number || $Config::Config{ptrsize} != 8;
    return syscall($number, $option, $value, 0, 0, 0) == 0;
}

# The signals that end a run: not those that whoever started this ignores, as
# nohup does.
sub heeded_signals {
    return grep { ($SIG{$_} // q{}) ne 'IGNORE' } qw(TERM INT HUP);
}

# Returns the process, or (undef, why it could not be started).
sub _start {
    my ($how) = @_;

    pipe my $read, my $write or return (undef, "pipe: $!");
    my $parent = $$;
    my $pid = fork;
    return (undef, "fork: $!") if !defined $pid;
    if (!$pid) {
        close $read;
        my $what = _become($how, $parent);
        syswrite $write, "$what: $!";
        _exit(127);
    }
    close $write;
    my $error = do { local $/ = undef; <$read> };
    close $read;
    return $pid if !defined $error || $error eq q{};
    waitpid $pid, 0;
    return (undef, $error);
}

# In the child: turn into the command, which is told to end where its launcher
# ends without a word. Returns only on failure, with what failed; $! says why.
sub _become {
    my ($how, $parent) = @_;

    my @command = @{$how->{command}};
    setsid();
    $SIG{$_} = 'DEFAULT' for qw(CHLD TERM INT HUP PIPE QUIT);
    _prctl(PDEATHSIG, 15);
    _exit(127) if getppid != $parent;
    $ENV{ASSAY_ATTEMPT} = $how->{mark};
    open STDIN,  '<',  '/dev/null'    or return '/dev/null';
    open STDOUT, '>>', $how->{stdout} or return $how->{stdout};
    open STDERR, '>>', $how->{stderr} or return $how->{stderr};
    no warnings 'exec';
    exec {$command[0]} @command;
    return $command[0];
}

# The wait status; undef when the limit was reached, a signal came, or the
# command does not end. A signal that slips in just before the sleep is seen a
# second later.
sub _wait {
    my ($pid, $end, $stopped, $tick, $whole) = @_;

    while (1) {
        return $? if waitpid($pid, WNOHANG) == $pid;
        my $left = $end - _now();
        return if $left <= 0 || defined ${$stopped};
        $tick->(1);
        if ($whole && $whole->()) {
            $end = _now() + LINGER if $end > _now() + LINGER;
            undef $whole;
        }
        sleep($left < 1 ? $left : 1);
    }
}

# End the command and all its processes: ask, then insist.
sub _end {
    my ($pid, $kin) = @_;

    my $ended;
    for my $signal (qw(TERM KILL)) {
        kill $signal, $pid, _members($kin);
        my $end = _now() + GRACE;
        while (_now() < $end) {
            $ended = $? if waitpid($pid, WNOHANG) == $pid;
            return $ended if defined $ended && !_members($kin);
            sleep 0.05;
        }
    }
    return $ended // 9;
}

# Kill what is left of the command; returns how many processes these were.
sub _sweep {
    my ($kin) = @_;

    my %seen;
    for (1 .. 100) {
        my @left = _members($kin) or last;
        @seen{@left} = ();
        kill 'KILL', @left;
        sleep 0.02;
    }
    return scalar keys %seen;
}

# The living processes of the command: those of its session, those that bear
# its mark in their environment, and those that descend from us, as all whose
# parent ended do where we are a subreaper; but for what was there before.
sub _members {
    my ($kin) = @_;

    my $processes = _processes();
    my %mine = map { $_ => 1 } _descendants($processes);
    return grep {
               !$kin->{others}{$_}
            && $_ != $$
            && $processes->{$_}{state} !~ /[ZXx]/
            && ($mine{$_} || $processes->{$_}{session} == $kin->{session}
                || _bears($_, $kin->{mark}))
    } sort keys %{$processes};
}

# All processes that there are: state, parent and session of each.
sub _processes {
    my %processes;

    for my $folder (glob '/proc/[0-9]*') {
        my ($pid) = $folder =~ m{(\d+)\z} or next;
        my $stat = _slurp("$folder/stat") // next;
        my ($state, $parent, $session) = $stat =~ /^.*\) (\S) (-?\d+) -?\d+ (-?\d+) /s
            or next;
        $processes{$pid} = {state => $state, parent => $parent, session => $session};
    }
    return \%processes;
}

# Our children, and theirs.
sub _descendants {
    my ($processes) = @_;

    my %children;
    push @{$children{$processes->{$_}{parent}}}, $_ for keys %{$processes};
    my @found = @{$children{$$} // []};
    for (my $i = 0; $i < @found; $i++) {
        push @found, @{$children{$found[$i]} // []};
    }
    return @found;
}

sub _bears {
    my ($pid, $mark) = @_;

    my $environment = _slurp("/proc/$pid/environ") // return 0;
    return "\0$environment" =~ /\0ASSAY_ATTEMPT=\Q$mark\E\0/;
}

sub _slurp {
    my ($file) = @_;

    open my $in, '<:raw', $file or return;
    local $/ = undef;
    return scalar <$in>;
}

1;

__END__

=head1 NAME

Assay::Launch - run a command under a time limit, leaving nothing behind

=head1 DESCRIPTION

The command gets a session of its own. When the limit is reached, or this
process is told to stop (SIGTERM, SIGINT, SIGHUP), every process of that session
gets SIGTERM, and three seconds later SIGKILL: a launcher's ranks sit in process
groups of their own, but not in sessions. What starts a new session is found as a
descendant: on Linux this process takes in what its parents leave behind. Where
it can't, the variable C<ASSAY_ATTEMPT> in the environment tells. The same sweep
follows a command that ends by itself. A command whose launcher is killed
outright gets SIGTERM.

=cut
