package Assay::Report;

# The command `assay report`: a campaign as one page of HTML, from its folder
# alone, in which every number leads back to clause, run and raw sample.

use 5.016;
use strict;
use warnings;

use File::Basename qw(basename);

use Assay::Attempt qw(glob_in open_plain);
use Assay::Command qw(absolute options run_command);
use Assay::Culprits;
use Assay::Figures qw(series);
use Assay::Picture;
use Assay::Results;
use Assay::Summary qw(counts points same);
use Assay::Text qw(plural printable split_fields);
use Assay::Units qw(finite_number);

use constant MOST_TEXT  => 24 << 20;    # bytes of records on the page
use constant MOST_PLOTS => 24;
use constant LEAST_ROWS => 3;           # of a sweep over sizes, to draw it

my $USAGE = <<'END';
usage: assay report [--strict] [--output FILE] DIR

Write a campaign as one page of HTML, which needs nothing else: the verdicts,
each with links to its clause, its attempts and the lines of their records that
hold the figure and its samples; the attempts; plots, where gnuplot is here.

  --output FILE  write it there, where nothing is (default: standard output)
  --strict       what could not run is a failure, as in an acceptance

Exit status: that of assay judge; 2 for a usage error, 99 where the page can't
be written.
END

# Light, dark by the reader's choice, and always light on paper.
my $STYLE = <<'END';
:root { --ink: #222; --paper: #fff; --rule: #ddd; --faint: #555; --box: #f6f6f6;
  --mark: #ffef9e; --good: #14602a; --bad: #a1131f; --open: #7a5200; --link: #0b4f9e }
@media screen and (prefers-color-scheme: dark) {
  :root { color-scheme: dark; --ink: #ddd; --paper: #17191c; --rule: #3c4046;
    --faint: #aaa; --box: #212428; --mark: #5a4a00; --good: #7bd492; --bad: #ff9191;
    --open: #e6b75c; --link: #8ab8f0 }
}
body { font: 15px/1.45 sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em;
  color: var(--ink); background: var(--paper) }
h1, h2, h3, p { overflow-wrap: anywhere }
a { color: var(--link) }
.wide { overflow-x: auto }
table { border-collapse: collapse; width: 100%; margin: 1em 0 }
th, td { text-align: left; padding: .25em .6em; border-bottom: 1px solid var(--rule);
  vertical-align: top }
th { white-space: nowrap }
.long { overflow-wrap: anywhere; min-width: 9em }
.whole { white-space: nowrap }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
.PASS, .FAIL, .INVALID, .NOTRUN, .WAIVED, .INCONCLUSIVE { white-space: nowrap }
.PASS { color: var(--good) }
.FAIL, .INVALID { color: var(--bad); font-weight: bold }
.NOTRUN, .WAIVED, .INCONCLUSIVE { color: var(--open) }
.why { color: var(--faint); font-size: 90% }
pre { font-size: 12px; overflow-x: auto; background: var(--box); padding: .6em }
pre span:target, tr:target { background: var(--mark) }
img { max-width: 100%; background: #fff }
@media (max-width: 50em) { body { margin: 1em auto } .wide table { min-width: 48em } }
@media print {
  body { margin: 0; max-width: none; font-size: 10pt }
  pre { font-size: 7pt; white-space: pre-wrap; overflow-wrap: anywhere }
  tr, img { break-inside: avoid }
  h2, h3 { break-after: avoid }
}
END

sub main { return run_command('report', $USAGE, \&_report, @_) }

sub _report {
    my @arguments = @_;

    options(\@arguments, \my %given, 'strict', 'output=s');
    die "which campaign? (assay report --help)\n" if @arguments != 1;
    my $results = Assay::Results->view(absolute($arguments[0]));
    my @attempts = $results->{ledger}->broken ? ()
        : sort { $a->{number} <=> $b->{number} } $results->attempts;
    my ($status, $tap) = $results->judge(
        scripts => [$results->scripts],
        strict  => $given{strict},
        ended   => 1
    );
    my %page = (results => $results, attempts => \@attempts, points => [points($tap)],
        status => $status, text => 0);
    $page{number} = {map { ($_->{record} => html($_->{number})) } @attempts};
    my $html = _page(\%page);
    return $status if _write($html, $given{output});
    return 99;
}

sub _write {
    my ($html, $file) = @_;

    return print $html if !defined $file;
    die "$file: it is there already\n" if -e $file;
    open my $out, '>:raw', $file or die "$file: $!\n";
    my $ok = print {$out} $html;
    return close $out && $ok;
}

# Text that others wrote, as text.
sub html {
    my ($text) = @_;

    $text = printable($text // q{});
    my %entity = (q{&} => 'amp', q{<} => 'lt', q{>} => 'gt', q{"} => 'quot', q{'} => '#39');
    return $text =~ s/([&<>"'])/&$entity{$1};/gr;
}

sub _page {
    my ($page) = @_;

    my $name = html(basename($page->{results}{folder}));
    my $records = _records($page);    # first: verdicts lead to their lines
    return <<"END";
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>$name</title><style>
$STYLE</style></head><body>
<h1>$name</h1>
@{[_summary($page), _verdicts($page), _sweeps($page), _plots($page), _attempts($page)]}
$records
@{[_references($page)]}</body></html>
END
}

sub _summary {
    my ($page) = @_;

    my $results = $page->{results};
    my $broken = $results->{ledger}->broken;
    my $head = defined $broken ? 'broken: ' . html($broken)
        : 'last line <code>' . html($results->{ledger}->head) . '</code>';
    my $system = defined $broken ? q{} : ', system <b>' . html($results->system) . '</b>';
    my $open = grep { ($_->{verdict} // q{}) ne 'PASS' } @{$page->{points}};
    my $exit = $page->{status} == 0 && !$open ? 'all pass' : "exit status $page->{status}";
    return '<p>' . html(counts(@{$page->{points}})) . " ($exit)$system; "
        . plural(scalar @{$page->{attempts}}, 'attempt') . "; ledger: $head.</p>\n";
}

##
# Verdicts
##

sub _verdicts {
    my ($page) = @_;

    my %same = same(@{$page->{points}});
    my $rows = join q{}, map { _verdict($page, $_, \%same) } @{$page->{points}};
    my $all = join q{ }, map {"$_=$same{$_}"} sort keys %same;
    return "<h2>Verdicts</h2>\n<div class=\"wide\"><table><tr><th>verdict<th>clause<th>place<th>measured"
        . "<th>limit<th>samples</tr>\n$rows</table></div>\n"
        . ($all ne q{} ? '<p class="why">all with ' . html($all) . "</p>\n" : q{});
}

sub _verdict {
    my ($page, $point, $same) = @_;

    my @each = grep { !exists $same->{s/=.*//sr} } split q{ }, $point->{each} // q{};
    my $verdict = $point->{verdict} // ($point->{ok} ? 'ok' : 'INVALID');
    my $place = html(join q{ }, $point->{place} // (), @each);
    my $measured = defined $point->{value}
        ? html("$point->{statistic} $point->{value}") =~ s/ /&nbsp;/gr . ' (n=' . html($point->{n}) . ')'
        : q{-};
    my $limit = html($point->{limit} // q{-}) =~ s/\A(&[gl]t;=) (\S+) /$1&nbsp;$2&nbsp;/r;
    my $why = defined $point->{reason}
        ? '<div class="why">' . html($point->{reason}) . '</div>' : q{};
    return '<tr><td class="' . html($verdict) . '">' . html($verdict)
        . '<td class="long">' . _clause_link($point) . "$why<td class=\"long\">$place"
        . "<td>$measured<td>$limit<td>"
        . _sample_links($page, $point) . "</tr>\n";
}

# The clause: its line on this page.
sub _clause_link {
    my ($point) = @_;

    return '-' if !defined $point->{clause};
    my $name = $point->{clause} eq ($point->{metric} // q{}) ? html($point->{clause})
        : html("$point->{clause} $point->{metric}");
    my ($file, $line) = ($point->{reference} // q{}) =~ m{([^/]+):(\d+)\z} or return $name;
    return '<a href="#' . _anchor("ref-$file-$line") . qq{">$name</a>};
}

sub _anchor { return $_[0] =~ s/([^A-Za-z0-9-])/sprintf '_%02x', ord $1/ger }

# The attempts of which a point speaks, and in each the lines of its figure.
sub _sample_links {
    my ($page, $point) = @_;

    my @links;
    for my $record (($point->{records} // q{}) =~ m{(\d{4,}-[\w.-]+/[\w.-]+[.]record)}g) {
        my $number = $page->{number}{$record} // next;
        my @lines = _lines_of($page, $record, $point);
        my $text = qq{<a href="#attempt-$number">$number</a>};
        $text .= q{: } . join q{, }, map {
            $page->{shown}{$record} ? qq{<a href="#r$number-$_">line&nbsp;$_</a>} : "line&nbsp;$_"
        } @lines if @lines;
        push @links, $text;
    }
    return @links ? join '<br>', @links : '-';
}

# The numbers of the lines of a record that hold a point's metric and samples.
sub _lines_of {
    my ($page, $record, $point) = @_;

    my ($metric) = ($point->{metric} // q{}) =~ /[.](.+)\z/s or return;
    my %wanted = map { split /=/, $_, 2 } grep {/=/}
        map { split q{ }, $_ // q{} } @{$point}{qw(each where)};
    my ($host, $device) = split m{/}, $point->{place} // q{};
    my $in = $page->{lines}{$record}{$metric} // [];
    my $places = $page->{places} //= $page->{results}->places;
    return map { $_->[0] } grep {
        my $fields = $_->[1];
        my $place = join q{:}, map { $places->name_of($_) }
            split /:/, $fields->{pair} // $fields->{host} // q{};
        ($point->{place} // 'system') eq 'system' || ($place eq ($host // q{})
            && (!defined $device || ($fields->{device} // q{}) eq $device))
            and !grep { ($fields->{$_} // $wanted{$_}) ne $wanted{$_} } keys %wanted;
    } @{$in};
}

##
# Attempts and their records
##

sub _attempts {
    my ($page) = @_;

    my $rows = join q{}, map { _attempt($_) } @{$page->{attempts}};
    return "<h2>Attempts</h2>\n<div class=\"wide\"><table><tr><th class=\"n\">number<th>time<th>what"
        . '<th>where<th class="n">seconds<th>status<th>record, and its SHA-256</tr>'
        . "\n$rows</table></div>\n";
}

sub _attempt {
    my ($attempt) = @_;

    my $number = html($attempt->{number});
    my $what = html(join q{ }, grep {defined} @{$attempt}{qw(script options)});
    my $status = html($attempt->{status})
        . ($attempt->{reason} ne q{} ? '<div class="why">' . html($attempt->{reason}) . '</div>' : q{});
    return qq{<tr id="attempt-$number"><td class="n">$number<td class="whole">}
        . html($attempt->{time}) . "<td>$what<td class=\"long\">" . html($attempt->{hosts} =~ s/,/, /gr)
        . '<td class="n">' . html($attempt->{seconds}) . "<td class=\"long\">$status<td class=\"long\">"
        . qq{<a href="#record-$number">} . html($attempt->{record}) . '</a><br><code class="why">'
        . html($attempt->{record_sha256}) . "</code></tr>\n";
}

# Every record as text, each line with an anchor, as far as the page is not too
# long for a reader's program.
sub _records {
    my ($page) = @_;

    my $text = "<h2>Records</h2>\n";
    for my $attempt (@{$page->{attempts}}) {
        my ($number, $record) = @{$attempt}{qw(number record)};
        my $file = "$page->{results}{folder}/$record";
        my $in = open_plain($file) // next;
        my $show = $page->{text} + (-s $in) <= MOST_TEXT;
        $page->{text} += -s $in if $show;
        $page->{shown}{$record} = $show;
        my $lines = _record_lines($page, $record, $in);
        $text .= qq{<h3 id="record-@{[html($number)]}">} . html($record) . '</h3>'
            . ($show ? "<details open><summary>" . plural(scalar @{$lines}, 'line')
                . '</summary><pre>' . join(q{}, map {
                    qq{<span id="r@{[html($number)]}-@{[$_ + 1]}">$lines->[$_]</span>\n}
                } 0 .. $#{$lines}) . "</pre></details>\n"
            : "<p>too long for this page: see the file</p>\n");
    }
    return $text;
}

# Reads a record; notes where its metrics and samples stand. Returns its lines.
sub _record_lines {
    my ($page, $record, $in) = @_;

    my @lines;
    while (defined(my $line = <$in>)) {
        chomp $line;
        push @lines, html(length $line > 20_000 ? substr($line, 0, 20_000) . ' ...' : $line);
        next if $line !~ /\A(?:metric|sample)\b(.*)/s;
        my ($fields) = split_fields($1);
        push @{$page->{lines}{$record}{$fields->{name}}}, [scalar @lines, $fields]
            if $fields && defined $fields->{name};
    }
    return \@lines;
}

sub _references {
    my ($page) = @_;

    my $text = "<h2>What was promised</h2>\n";
    for my $file (grep {/[.]ref\z/} glob_in("$page->{results}{folder}/reference", '*')) {
        my $in = open_plain($file) // next;
        my $name = basename($file);
        my $number = 0;
        $text .= '<h3>' . html($name) . "</h3>\n<pre>" . join(q{}, map {
            my $anchor = _anchor("ref-$name-" . ++$number);
            qq{<span id="$anchor">} . html(s/\n\z//r) . "</span>\n"
        } <$in>) . "</pre>\n";
    }
    return $text;
}

##
# Pictures
##

sub _image {
    my ($script, $words) = @_;

    my $svg = Assay::Picture::gnuplot('svg', $script) // return q{};
    $svg =~ s/([^A-Za-z0-9._~-])/sprintf '%%%02X', ord $1/ge;
    return '<p><img alt="' . html($words) . qq{" src="data:image/svg+xml,$svg"></p>\n};
}

# Of each sweep: who was not measured, who is slow, and the picture.
sub _sweeps {
    my ($page) = @_;

    return q{} if $page->{results}->faults;
    my $text = q{};
    for my $sweep ($page->{results}->sweeps) {
        my $found = Assay::Culprits::found($page->{results}, $sweep, {});
        $text .= '<h2>Sweep of ' . html("$sweep->{of}: $sweep->{script} $sweep->{words}") . "</h2>\n"
            . '<pre>' . join("\n", map { html($_) } split /\n/, $found->{text}) . "</pre>\n";
        $text .= _image(Assay::Picture::script($found->{nodes}, $found->{shown}),
            "how long each takes, $found->{shown}{label}") if $found->{shown};
    }
    return $text;
}

# A curve for each metric that was measured over three sizes or more.
sub _plots {
    my ($page) = @_;

    return q{} if $page->{results}->faults;
    my @paths = map {"$page->{results}{folder}/$_->{record}"}
        grep { $_->{status} eq 'valid' } @{$page->{attempts}};
    my (%family, @order, $text);
    for my $one (series({}, @paths)) {
        my $id = "$one->{metric}, $one->{unit}";
        push @order, $id if !$family{$id};
        push @{$family{$id}}, $one;
    }
    for my $id (@order) {
        last if ($text // q{}) =~ tr/\n// >= MOST_PLOTS;
        my $curve = _curve(@{$family{$id}}) or next;
        $text .= _image(Assay::Picture::curves($id, @{$curve}), $id);
    }
    return defined $text && $text ne q{} ? "<h2>Plots</h2>\n$text" : q{};
}

# The key that rows differ in, and of each place its points; or nothing.
sub _curve {
    my @series = @_;

    my ($row) = Assay::Figures::row_key(@series);
    return if !defined $row;
    my (%at, %rows);
    for my $one (@series) {
        my $x = finite_number($one->{keys}{$row} // q{}) // next;
        $rows{$x} = 1;
        $at{$_}{$x} //= $one->{values}{$_}[0] for keys %{$one->{values}};
    }
    return if keys %rows < LEAST_ROWS;
    return [$row, \%at];
}

1;

__END__

=head1 NAME

Assay::Report - the command `assay report`

=head1 DESCRIPTION

All that others wrote (names of hosts, reasons, records, references) is escaped,
with control characters made visible. The page has no script, and asks the
browser to run none and to fetch nothing.

=cut
