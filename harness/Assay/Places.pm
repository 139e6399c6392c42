package Assay::Places;

# What must be there: lists of nodes, pairs and devices.

use strict;
use warnings;

use Assay::Nodes qw(expand_nodes);
use Assay::Text qw(printable);
use Carp qw(croak);

my $MOST = 4_000_000;
my $HOST = qr/[A-Za-z0-9_][\w.-]*/a;

sub new {
    my ($class, %given) = @_;
    my $self = bless {node => undef, pair => undef, device => undef}, $class;

    $self->{node} = [$self->_nodes($given{nodes})] if defined $given{nodes};
    if (defined $given{pairs}) {
        $self->{pair} = $given{pairs} eq 'all'
            ? [$self->_all_pairs()] : [$self->_pairs($given{pairs})];
    }
    if (defined $given{devices}) {
        croak "--devices: not a number from 1 to 1000: '"
            . printable($given{devices}) . q{'}
            if $given{devices} !~ /\A[1-9][0-9]{0,2}\z|\A1000\z/;
        $self->{devices} = $given{devices};
        $self->{device} = [$self->_all_devices()] if $self->{node};
    }
    for my $kind (grep { $self->{$_} } qw(node pair device)) {
        $self->{known}{$kind} = {map { $_ => 1 } @{$self->{$kind}}};
    }
    return $self;
}

# What must be there, or undef where there is no list of the kind.
sub expected {
    my ($self, $kind) = @_;
    return $self->{$kind};
}

sub lists {
    my ($self, $kind, $place) = @_;
    my $known = $self->{known}{$kind};

    return $known->{$place} if $known;
    return 0 if $kind eq 'device' && $self->{devices}
        && !grep { $_ eq $place } $self->devices_of(hosts($kind, $place));
    my $nodes = $self->{known}{node} or return 1;
    return !grep { !$nodes->{$_} } hosts($kind, $place);
}

# The device names that a host must have where hosts are not listed.
sub devices_of {
    my ($self, $host) = @_;
    return if !$self->{devices} || !defined $host;
    return map {"$host/$_"} 0 .. $self->{devices} - 1;
}

# name_of(HOST): the name under which a host is on the list, if it is there by
# its name up to the first dot: a scheduler says n1, and n1 calls itself
# n1.cluster.example. Two names in full are two hosts.
sub name_of {
    my ($self, $host) = @_;
    my $name = $self->{name}{$host =~ s/[.].*//sr} || $host;

    return $host =~ /[.]/ && $name =~ /[.]/ ? $host : $name;
}

# Note a name of the list; returns the one that counts for its host. Of two in
# full neither is what a short one means.
sub _learn {
    my ($self, $host) = @_;
    my $known = \$self->{name}{$host =~ s/[.].*//sr};
    my $name = $self->name_of($host);

    ${$known} = defined ${$known} && ${$known} ne $name ? q{} : $name;
    return $name;
}

sub hosts {
    my ($kind, $place) = @_;
    return split /:/, $place if $kind eq 'pair';
    return $place =~ m{\A([^/]*)/} if $kind eq 'device';
    return $place if $kind eq 'node';
    return;
}

sub _words {
    my ($option, $text) = @_;

    if ($text =~ s/\A@//) {
        my $path = $text;
        open my $file, '<:raw', $path
            or croak "$option: can't read '" . printable($path) . "': $!";
        my $got = read $file, $text, 64 << 20;
        croak "$option: can't read '" . printable($path) . "': $!"
            if !defined $got;
        croak "$option: too large: '" . printable($path) . q{'}
            if $got == 64 << 20;
        $text =~ s/^\s*#.*$//mg;
        close $file or croak "$option: can't read '$path': $!";
    }
    # Commas inside brackets belong to the word.
    my @words = $text =~ /((?:\[[^\]]*\]|[^\s,])+)/g;
    croak "$option: the list is empty" if !@words;
    return @words;
}

sub _nodes {
    my ($self, $text) = @_;
    my (@nodes, %seen);

    for my $word (_words('--nodes', $text)) {
        my @hosts = eval { expand_nodes($word) };
        croak '--nodes: ' . printable($@ =~ s/\s+\z//r) if !@hosts;
        push @nodes, grep { !$seen{$_}++ } map { $self->_learn($_) } @hosts;
    }
    return @nodes;
}

sub _pairs {
    my ($self, $text) = @_;
    my (@pairs, %seen);

    for my $pair (_words('--pairs', $text)) {
        croak "--pairs: not HOST:HOST: '" . printable($pair) . q{'}
            if $pair !~ /\A$HOST:$HOST\z/;
        my $name = join q{:}, map { $self->_learn($_) } split /:/, $pair;
        push @pairs, $name if !$seen{$name}++;
    }
    return @pairs;
}

sub _all_pairs {
    my ($self) = @_;
    my $nodes = $self->{node} or croak '--pairs all needs --nodes';

    croak '--pairs all needs two nodes' if @$nodes < 2;
    croak '--pairs all: too many' if @$nodes * $#$nodes > $MOST;
    my @pairs;
    for my $origin (@$nodes) {
        push @pairs, map {"$origin:$_"} grep { $_ ne $origin } @$nodes;
    }
    return @pairs;
}

sub _all_devices {
    my ($self) = @_;
    return map { $self->devices_of($_) } @{$self->{node}};
}

1;

__END__

=head1 NAME

Assay::Places - what must be there: lists of nodes, pairs and devices

=head1 METHODS

=over

=item new(nodes => LIST, pairs => LIST, devices => COUNT)

Each may be left out.  A LIST is words with commas or blanks between, or
C<@FILE> with such words and with comment lines; C<nodes> may be compressed
(C<n[001-003,007]>), C<pairs> may be C<all>: every ordered pair of two
different nodes, A:B and B:A.  A word that stands twice counts once.  Croaks
for a word that is none, and for an empty list.

=item expected(KIND)

The array of the places of KIND (C<node>, C<pair>, C<device>) that must be
there, or undef where nobody said.

=item lists(KIND, PLACE)

Whether PLACE may be there: it is on the list of its kind or, where there is
none, its hosts are on the list of nodes.

=item name_of(HOST)

The name of a host as the list has it: where that has no other host of the same
name up to the first dot, C<n1> and C<n1.cluster.example> are one. A host that
is not on the list keeps its name.

=item devices_of(HOST)

The devices 0, 1 ... that HOST must have, written C<HOST/0>.

=back

=head1 FUNCTIONS

=over

=item hosts(KIND, PLACE)

The hosts of a place.

=back

=cut
