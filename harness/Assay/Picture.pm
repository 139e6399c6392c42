package Assay::Picture;

# A sweep as a picture: how much longer each place takes than the rest.

use 5.016;
use strict;
use warnings;

use Exporter qw(import);
use File::Temp ();
use List::Util qw(max min);
use POSIX ();

use Assay::Text qw(printable);

our @EXPORT_OK = qw(draw format_of gnuplot script text);

use constant MOST_NAMES => 64;    # nodes that are named at the axes
use constant MOST_LETTERS => 24;  # of a name there
use constant MOST_SHARP => 200;   # nodes whose cells are drawn one by one
use constant MOST_CURVES => 16;
use constant LIMIT => 60;         # seconds that gnuplot may take

my %TERMINAL = (
    svg => "set terminal svg noenhanced size 860,760 background rgb 'white'\n",
    png => "set terminal png noenhanced size 860,760\n",
);

# format_of(FILE): svg, png or txt, by its suffix. Dies with one line, where
# what draws it is not here, too: it is asked before anything is measured.
sub format_of {
    my ($file) = @_;

    my ($format) = $file =~ /[.](svg|png|txt)\z/
        or die "$file: no picture: its name ends in .svg, .png or .txt\n";
    die "$file: gnuplot is not here, which draws it: a .txt needs none\n"
        if $format ne 'txt' && !grep { -x "$_/gnuplot" } split /:/, $ENV{PATH} // q{};
    return $format;
}

# draw(FILE, NODES, GROUP): GROUP has kind, label, time and blame. Dies with one
# line; where there is nothing to draw, too.
sub draw {
    my ($file, $nodes, $group) = @_;

    my $format = format_of($file);
    die "$file: nothing was measured that could be drawn\n" if !$group;
    my $picture = $format eq 'txt' ? text($nodes, $group)
        : gnuplot($format, script($nodes, $group));
    die "$file: gnuplot failed: a .txt needs none\n"
        if !defined $picture;
    open my $out, '>:raw', $file or die "$file: $!\n";
    my $ok = print {$out} $picture;
    die "$file: $!\n" if !close $out || !$ok;
    return;
}

# What gnuplot makes of a script, or nothing where there is none or it fails.
sub gnuplot {
    my ($format, $script) = @_;

    my $in = File::Temp->new;
    print {$in} $TERMINAL{$format}, $script or return;
    close $in or return;
    my $pid = open my $pipe, q{-|};
    return if !defined $pid;
    if (!$pid) {
        open STDIN,  '<', '/dev/null';
        open STDERR, '>', '/dev/null';
        alarm LIMIT;
        no warnings 'exec';
        exec 'gnuplot', '-d', "$in";
        POSIX::_exit(127);
    }
    binmode $pipe;
    my $picture = do { local $/ = undef; <$pipe> };
    return close $pipe && length $picture ? $picture : undef;
}

# A script of data that is no program: names are cut to what a host's may have.
sub script {
    my ($nodes, $group) = @_;

    my $title = quoted($group->{label});
    my $most = max(2, 1.25 * ($group->{blame}{limit} // 1), _most($group));
    my $head = <<"END";
set title $title
set key off
set border linecolor rgb '#888888'
END
    return $head . ($group->{kind} eq 'pair' ? _matrix($nodes, $group, $most)
        : _points($nodes, $group, $most));
}

sub quoted {
    my ($text) = @_;

    $text =~ s/[^\w .,:=+-]/?/ga;
    return qq{"$text"};
}

sub _most { return max(values %{$_[0]{time}}) // 1 }

# Both halves of the matrix: who reads it looks for a row.
sub _matrix {
    my ($nodes, $group, $most) = @_;

    my $names = _names($nodes);
    my $rows = join q{}, map {
        my $one = $_;
        join(q{ }, map { _cell($group, $one, $_) // 'NaN' } @{$nodes}) . "\n"
    } @{$nodes};
    my $last = $#{$nodes} + 0.5;
    my $letters = max(map { length _short($_) } @{$nodes});
    my $margins = sprintf 'set margins %d, 14, %d, 3', $letters + 3, 3 + $letters / 2;
    my $sharp = @{$nodes} <= MOST_SHARP ? ' pixels' : q{};
    my $tics = join ', ', grep { $_ <= $most } 1, 1.2, 1.5, 2, 3, 5, map { (10**$_, 3 * 10**$_) } 1 .. 9;
    return <<"END";
\$times << EOD
${rows}EOD
set xtics rotate by -60 scale 0 ($names)
set ytics scale 0 ($names)
set xrange [-0.5:$last]
set yrange [$last:-0.5]
$margins
set size ratio 1
set logscale cb
set cbrange [1:$most]
set cbtics ($tics)
set cblabel "times as long as the middle of all (white: not measured)"
set palette defined (0 "#dce9f5", 0.3 "#f7d9a8", 0.6 "#e8743b", 1 "#7a0c1e")
plot \$times matrix with image$sharp
END
}

sub _names {
    my ($nodes) = @_;

    my $step = POSIX::ceil(@{$nodes} / MOST_NAMES);
    return join ', ', map { quoted(_short($nodes->[$_])) . " $_" }
        grep { $_ % $step == 0 } 0 .. $#{$nodes};
}

# A long name would leave no room for the picture: its begin and its end.
sub _short {
    my ($name) = @_;

    return $name if length $name <= MOST_LETTERS;
    my $half = MOST_LETTERS / 2 - 1;
    return substr($name, 0, $half) . '..' . substr $name, -$half;
}

# The figure of a pair, in whichever order it was measured; if in both, the
# slower one.
sub _cell {
    my ($group, $one, $two) = @_;

    my @measured = map { $group->{time}{$_} // () } "$one:$two", "$two:$one";
    return @measured ? max(1e-3, @measured) : undef;
}

sub _points {
    my ($nodes, $group, $most) = @_;

    my $names = _names($nodes);
    my $limit = $group->{blame}{limit} // 1;
    my %time = %{$group->{time}};
    my @rows = map { exists $time{$nodes->[$_]} ? "$_ $time{$nodes->[$_]}\n" : () }
        0 .. $#{$nodes};
    my ($last, $low) = ($#{$nodes} + 0.5, 0.9 * min(1, values %time));
    return <<"END";
\$times << EOD
@{[join q{}, @rows]}EOD
set xtics rotate by -60 scale 0 ($names)
set xrange [-0.5:$last]
set yrange [$low:1.05*$most]
set ylabel "times as long as the middle of all"
set grid y
set arrow from graph 0, first $limit to graph 1, first $limit nohead dashtype 2 linecolor rgb '#b0203a'
set label "slow" at graph 0.01, first $limit offset 0,0.6 textcolor rgb '#b0203a'
plot \$times using 1:2 with impulses linecolor rgb '#9fb8d0' linewidth 2, \\
     \$times using 1:2 with points pointtype 7 pointsize 0.8 linecolor rgb '#1f4e79'
END
}

# curves(TITLE, KEY, {PLACE => {X => Y}}): a script that draws each place over a
# key, both axes in logarithms where all is above zero.
sub curves {
    my ($title, $key, $at) = @_;

    my @places = sort keys %{$at};
    splice @places, MOST_CURVES if @places > MOST_CURVES;
    my @all = map { values %{$at->{$_}} } @places;
    my @x = map { keys %{$at->{$_}} } @places;
    my $script = join q{}, map {
        my $y = $at->{$places[$_]};
        "\$p$_ << EOD\n" . join(q{}, map {"$_ $y->{$_}\n"} sort { $a <=> $b } keys %{$y}) . "EOD\n"
    } 0 .. $#places;
    $script .= 'set title ' . quoted($title) . "\nset xlabel " . quoted($key)
        . "\nset grid\nset key outside below\nset rmargin 6\nset xlabel offset 0,0.6\n";
    $script .= qq{set format x "%.0f"\n} if !grep { $_ != int } @x;
    $script .= "set logscale y\n" if !grep { $_ <= 0 } @all;
    $script .= "set logscale x 2\n" if !grep { $_ < 0 } @x;
    return $script . 'plot ' . join(', ', map {
        "\$p$_ using 1:2 with linespoints title " . quoted(_short($places[$_]))
    } 0 .. $#places) . "\n";
}

# The same in characters, for a terminal: a digit says how many times as long.
sub text {
    my ($nodes, $group) = @_;

    my $limit = max($group->{blame}{limit} // 1, $group->{blame}{link_limit} // 1);
    my $width = max(map {length} @{$nodes});
    my $text = printable($group->{label}) . ": times as long as the middle of all\n"
        . sprintf "(. up to %.3g, a digit beyond it, # from 10, blank not measured)\n", $limit;
    if ($group->{kind} ne 'pair') {
        for my $node (@{$nodes}) {
            my $time = $group->{time}{$node};
            $text .= sprintf "%-*s  %s\n", $width, $node,
                defined $time ? sprintf('%6.2f %s', $time, q{*} x min(50, 10 * $time))
                : 'not measured';
        }
        return $text;
    }
    for my $number (0 .. $#{$nodes}) {
        my $row = join q{ }, map {
            $_ == $number ? q{\\} : _symbol(_cell($group, @{$nodes}[$number, $_]), $limit)
        } 0 .. $#{$nodes};
        $text .= sprintf("%-*s  %s", $width, $nodes->[$number], $row) =~ s/\s+\z//r . "\n";
    }
    return $text;
}

sub _symbol {
    my ($time, $limit) = @_;

    return q{ } if !defined $time;
    return q{.} if $time <= $limit;
    return $time >= 10 ? q{#} : int $time;
}

1;

__END__

=head1 NAME

Assay::Picture - a sweep as a picture

=head1 DESCRIPTION

Of pairs a matrix: a slow node is a dark row and column, a slow link one dark
cell (in both halves). Of nodes a point for each, with the line above which one
is slow. SVG and PNG are drawn by gnuplot; F<.txt> needs none.

=cut
