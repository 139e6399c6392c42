package Assay::Series;

# What a clause asks of the records: which lines, and which figure of them.

use strict;
use warnings;

my %PLACE = map { $_ => 1 } qw(host pair device);

sub of_clauses {
    my (@clauses) = @_;
    my @series;

    for my $clause (@clauses) {
        my $bound = !$clause->{relative} && $clause->{statistic}{name} ne 'cv';
        my ($unit) = grep { defined }
            map { $_->{dimension} } @{$clause->{limits}};
        $clause->{series} = _series($clause, $clause->{metric},
            $clause->{where}, $clause->{each}, scalar @series);
        push @series, $clause->{series};
        $clause->{series}{dimension} = $unit if $bound;
        @{$clause->{series}}{qw(ceiling floor)} = @$clause{qw(ceiling floor)};
        my $base = $clause->{relative};
        next if !$base || $base->{fleet};
        my @each = grep { !defined $base->{where}{$_} } @{$clause->{each}};
        $clause->{base} = _series($clause, $base->{metric}, $base->{where},
            \@each, scalar @series);
        push @series, $clause->{base};
    }
    return @series;
}

sub _series {
    my ($clause, $metric, $where, $each, $index) = @_;
    my %where = %$where;
    my $functional = delete $where{functional};
    my %at = map { $_ => delete $where{$_} } grep { $PLACE{$_} } keys %where;

    return {
        index      => $index,
        metric     => $metric,
        where      => \%where,
        at         => %at ? \%at : undef,
        functional => defined $functional && $functional eq 'yes' ? 1 : 0,
        each       => $each,
        optional   => $clause->{optional},
        rules      => $clause->{rules},
        facts => [map { @{$_->{keys}} } @{$clause->{rules}}],
        map { $_ => $clause->{$_} } qw(scope across take),
    };
}

1;

__END__

=head1 NAME

Assay::Series - which lines of the records a clause asks for

=head1 FUNCTIONS

=over

=item of_clauses(CLAUSES)

One series for each clause, and one more for what it is relative to; sets
C<series> and C<base> of the clause.  A series bears C<index>, C<metric>,
C<where> (keys of the line), C<at> (C<host>, C<pair>, C<device>),
C<functional>, C<each>, C<scope>, C<across>, C<take>, C<rules>, C<facts> (the
keys that rules look up), C<dimension> (of the limit, where figures are held
to it themselves), C<ceiling> and C<floor>.

=back

=cut
