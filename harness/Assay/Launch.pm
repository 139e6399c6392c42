package Assay::Launch;

# Run one command under a time limit, and leave no process of it behind.

use 5.016;
use strict;
use warnings;

use Exporter qw(import);
use POSIX qw(:sys_wait_h setsid _exit);
use Time::HiRes qw(CLOCK_MONOTONIC clock_gettime sleep);

our @EXPORT_OK = qw(heeded_signals launch);

use constant GRACE => 3;    # seconds from SIGTERM to SIGKILL
use constant LINGER => 20;    # seconds from the last word to the end, at most

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

    my ($pid, $error) = _start(\%how);
    if (defined $error) {
        return (%run, status => 127, error => $error, seconds => 0);
    }
    my $tick = $how{tick} // sub { };
    my $wait = _wait($pid, $run{start} + $how{limit}, \$stopped, $tick, $how{whole});
    $tick->(0);
    if (!defined $wait) {
        $run{hung} = LINGER if !defined $stopped && $how{whole} && $how{whole}->();
        $run{timeout} = !defined $stopped && !$run{hung};
        $wait = _end($pid, $how{mark});
    }
    $run{seconds} = _now() - $run{start};
    @run{qw(status signal)} = ($wait >> 8, $wait & 127);
    $run{left} = _sweep($pid, $how{mark});
    $run{stopped} = $stopped if defined $stopped;
    return %run;
}

# Seconds on a clock that nobody sets.
sub _now { return clock_gettime(CLOCK_MONOTONIC) }

# The signals that end a run: not those that whoever started this ignores, as
# nohup does.
sub heeded_signals {
    return grep { ($SIG{$_} // q{}) ne 'IGNORE' } qw(TERM INT HUP);
}

# Returns the process, or (undef, why it could not be started).
sub _start {
    my ($how) = @_;

    pipe my $read, my $write or return (undef, "pipe: $!");
    my $pid = fork;
    return (undef, "fork: $!") if !defined $pid;
    if (!$pid) {
        close $read;
        my $what = _become($how);
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

# In the child: turn into the command. Returns only on failure, with what
# failed; $! says why.
sub _become {
    my ($how) = @_;

    my @command = @{$how->{command}};
    setsid();
    $SIG{$_} = 'DEFAULT' for qw(CHLD TERM INT HUP PIPE QUIT);
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
    my ($pid, $mark) = @_;

    my $ended;
    for my $signal (qw(TERM KILL)) {
        kill $signal, $pid, _members($pid, $mark);
        my $end = _now() + GRACE;
        while (_now() < $end) {
            $ended = $? if waitpid($pid, WNOHANG) == $pid;
            return $ended if defined $ended && !_members($pid, $mark);
            sleep 0.05;
        }
    }
    return $ended // 9;
}

# Kill what is left of the command's session; returns how many these were.
sub _sweep {
    my ($pid, $mark) = @_;

    my %seen;
    for (1 .. 100) {
        my @left = _members($pid, $mark) or last;
        @seen{@left} = ();
        kill 'KILL', @left;
        sleep 0.02;
    }
    return scalar keys %seen;
}

# The living processes of a session, and those that left it but still bear the
# mark in their environment.
sub _members {
    my ($session, $mark) = @_;

    return grep { _belongs($_, $session, $mark) }
        map {m{^/proc/(\d+)$}} glob '/proc/[0-9]*';
}

sub _belongs {
    my ($pid, $session, $mark) = @_;

    return 0 if $pid == $$;
    my $stat = _slurp("/proc/$pid/stat") // return 0;
    my ($state, $its) = $stat =~ /^.*\) (\S) -?\d+ -?\d+ (-?\d+) /s or return 0;
    return 0 if $state =~ /[ZXx]/;
    return 1 if $its == $session;
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
groups of their own, but not in sessions. What starts a new session is found by
the variable C<ASSAY_ATTEMPT> in its environment. The same sweep follows a
command that ends by itself.

=cut
