package Assay::Command;

# What the subcommands of assay have in common: help, options, and one line
# where something is wrong.

use 5.016;
use strict;
use warnings;

use Cwd qw(abs_path getcwd);
use Exporter qw(import);
use Getopt::Long ();

use Assay::Text qw(printable);

our @EXPORT_OK = qw(absolute options run_command worst);

# Of several exit statuses, the first of these counts.
my @PRECEDENCE = (2, 1, 3, 4, 5);

# run_command(NAME, USAGE, WHAT, ARGUMENT...): WHAT is code, or a hash of such by
# the subcommand's own subcommands; it returns the exit status, or dies with one
# line, which is 2.
sub run_command {
    my ($name, $usage, $what, @arguments) = @_;

    if (!@arguments || grep {/\A(?:-h|--help)\z/} $arguments[0], $arguments[1] // ()) {
        print {@arguments ? *STDOUT : *STDERR} $usage;
        return @arguments ? 0 : 2;
    }
    my $status = eval {
        my $code = $what;
        if (ref $what eq 'HASH') {
            my $word = shift @arguments;
            $code = $what->{$word} or die "unknown subcommand '$word'\n";
        }
        $code->(@arguments);
    };
    return $status if defined $status;
    print {*STDERR} "assay $name: ", printable($@ =~ s/\s+\z//r), "\n";
    return 2;
}

# Options into a hash; dies with the bad word.
sub options {
    my ($arguments, $options, @specification) = @_;

    my $parser = Getopt::Long::Parser->new(
        config => [qw(no_auto_abbrev no_ignore_case require_order)]);
    my $why;
    local $SIG{__WARN__} = sub { $why //= lcfirst shift };
    return if $parser->getoptionsfromarray($arguments, $options, @specification);
    die $why // "bad option\n";
}

# Of several exit statuses the one that counts.
sub worst {
    my @statuses = @_;

    my %got = map { $_ => 1 } @statuses;
    for my $status (@PRECEDENCE) {
        return $status if $got{$status};
    }
    return (grep { $_ != 0 } @statuses)[0] // 0;
}

# Records and locks are named by absolute paths: a program may change folder.
sub absolute {
    my ($path) = @_;

    return abs_path($path) // $path if -e $path;
    return $path if $path =~ m{\A/};
    return getcwd() . "/$path";
}

1;

__END__

=head1 NAME

Assay::Command - what the subcommands of assay have in common

=head1 SYNOPSIS

    sub main { return run_command('compare', $USAGE, \&_compare, @_) }
    sub main { return run_command('sweep', $USAGE, \%command, @_) }

=head1 DESCRIPTION

C<-h> and C<--help>, as the first word or the second, print USAGE; so do no words
at all, on standard error, and that is exit status 2.

=cut
