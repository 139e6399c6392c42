#!/usr/bin/perl
#
# assay report: one page from a campaign's folder alone, in which every link has
# its target, and nothing that others wrote is more than text.

use 5.016;
use strict;
use warnings;

use File::Basename qw(dirname);
use lib dirname(__FILE__);
use lib dirname(__FILE__) . '/data/run_scripts';
use Test::More;

use Sweep;
use TestTree;

use lib harness_dir();
use Assay::Picture;

sub report { return run_command($tree->{command}, 'report', @_) }

# What a page must not have, and links that lead nowhere.
sub faults {
    my ($page) = @_;

    my %target = map { ($_ => 1) } $page =~ /\bid="([^"]*)"/g;
    return join q{; },
        (map {"no target $_"} grep { !$target{$_} } $page =~ /href="#([^"]*)"/g),
        (map {"a link out: $_"} $page =~ /(?:href|src)="((?!#|data:image)[^"]*)"/g),
        $page =~ /(<\/?(?:script|iframe|object|link|base|form|b>x)\b[^>]*>)/i,
        $page =~ /(<[^>]*\son\w+=)/i;
}

# A clause whose comment and system are no markup, and a limit that one misses.
my $evil = q{<script>alert("x")</script>&amp;'};
mkdir "$tree->{reference}/promised";
spew("$tree->{reference}/promised/a.ref", "# $evil\nsource = $evil\n\n[clause 3.1]\n",
    "metric = stream.triad\nscope = every node\nstatistic = median\nlimit = >= 90 MB/s\n");
slow('n2 40');
my ($status) = sweep({DEAD => 'n3'}, 'nodes', '--nodes', 'n[1-4]', '--system', 'promised',
    '--name', 'page', $stream);
is $status, 1, 'a sweep with a slow node and a dead one';
my $folder = "$results/page";

subtest 'the page' => sub {
    my ($status, $page, $err) = report($folder);
    is "$status $err", '1 ', 'exit status of the verdicts';
    is faults($page), q{}, 'every link has a target, and nothing runs';
    like $page, qr{<td class="FAIL">FAIL<td class="long"><a href="#ref-a_2eref-4">3\.1 stream\.triad</a>},
        'a verdict leads to its clause';
    my ($number) = $page =~ m{class="FAIL">.*?<a href="#attempt-(\d+)">};
    my ($line) = $page =~ m{class="FAIL">.*?<a href="#r$number-(\d+)">};
    like $page, qr{<span id="r$number-$line">metric name=triad value=40 .* host=n2 },
        '... and to the line of the record that has its figure';
    like $page, qr/&lt;script&gt;alert\(&quot;x&quot;\)&lt;\/script&gt;&amp;amp;&#39;/,
        'the reference is there, as text';
    like $page, qr/3: spoiled|n3: spoiled/, 'who was not measured';
    like $page, qr/slow: node n2, 2\.5 times/, 'who is slow';
    SKIP: {
        skip 'no gnuplot', 1 if !grep { -x "$_/gnuplot" } split /:/, $ENV{PATH};
        like $page, qr/<img alt="[^"]*" src="data:image\/svg\+xml,%3C/, 'the picture';
    }
    like $page, qr{<p>.*1 FAIL.* \(exit status 1\)}, 'the verdicts in short';
    my @rows = $page =~ /<td class="(\w+)">/g;
    is join(q{ }, grep {/^[A-Z]/} @rows), 'PASS FAIL INVALID PASS', 'all verdicts';
};

subtest 'from the folder alone' => sub {
    rename $folder, "$tree->{top}/moved <b>x<b>";
    my ($status, $page) = report('--output', "$tree->{top}/out.html", "$tree->{top}/moved <b>x<b>");
    is "$status $page", '1 ', 'moved, to a hostile name';
    is faults(slurp("$tree->{top}/out.html")), q{}, '... which is text';
    is +(report('--output', "$tree->{top}/out.html", "$tree->{top}/moved <b>x<b>"))[0], 2,
        'what is there is not overwritten';
    rename "$tree->{top}/moved <b>x<b>", $folder;
};

# Whoever writes the ledger and the records may write anything.
subtest 'hostile' => sub {
    my ($record) = glob "'$folder'/0001*/stream.record";
    my $text = slurp($record);
    spew($record, $text =~ s/^env /env note="$evil" x="\\" onload=" /mr =~ s/host=n/host="<b>x"n/r);
    my ($status, $page) = report($folder);
    is $status, 3, 'a changed record: exit 3';
    is faults($page), q{}, '... and it is text';
    unlike $page, qr/<img |<h2>Sweep/, '... of which nothing is drawn, and nobody blamed';
    my ($odd, undef, $why) = run_command($tree->{command}, 'compare', $folder, $folder);
    is $odd, 2, '... nor compared';
    like $why, qr/no evidence: .*has changed/, '... which says why';
    like $page, qr/record of attempt 0001-run_stream has changed/, '... and the page says so';
    spew($record, $text);
    my $ledger = slurp("$folder/ledger");
    spew("$folder/ledger", $ledger =~ s/script=run_stream/script="<b>x<script>"/gr);
    ($status, $page) = report($folder);
    is $status, 3, 'a forged ledger: exit 3';
    is faults($page), q{}, '... and it is text';
    spew("$folder/ledger", $ledger);
};

subtest 'usage' => sub {
    my ($status, $out, $err) = report('--help');
    is $status, 0, '--help exits 0';
    is scalar(lines_of($out, qr/.{81}/)), 0, '... within 80 columns';
    is +(report())[0], 2, 'no folder: exit 2';
    is +(report($tree->{top}))[0], 2, 'no campaign: exit 2';
    is +(report('--frob', $folder))[0], 2, 'an unknown option: exit 2';
};

# A title is data for gnuplot, too.
my $script = Assay::Picture::curves(qq{a"; system "touch owned"; "`touch owned`\$x}, 'k',
    {'n1"; system "x' => {1 => 2, 2 => 3}});
unlike $script, qr/[`\$]x|system "|"; /, 'names are no commands of gnuplot';

# A cell of the matrix is one of sharp edges, and a name leaves room for it.
my $name = 'rack-12-' . 'x' x 80 . '-n0123.example.org';
$script = Assay::Picture::script(['n1', $name], {label => 'x', kind => 'pair', blame => {},
    time => {"n1:$name" => 3}});
like $script, qr/ with image pixels$/m, 'few nodes: cells, not a picture to be smoothed';
like $script, qr/"rack-12-xxx\.\.example\.org" 1\)/, 'a long name is cut';

done_testing;
