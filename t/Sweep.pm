package Sweep;

# What tests of assay sweep share: nodes that are stand-ins, as fast as a file
# says, and a run_script of two nodes.

use 5.016;
use strict;
use warnings;

use Exporter qw(import);
use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Temp qw(tempdir);
use lib dirname(__FILE__) . '/data/run_scripts';

use TestTree;

use lib harness_dir();
use Assay::Ledger;

our @EXPORT = qw($link $results $stream $tree slow statuses sweep);

our $tree = make_tree();
our $results = "$tree->{top}/work/results";
our $stream = "$tree->{scripts}/run_stream";
our $link = "$tree->{scripts}/run_link";
copy(source_dir() . '/reference/any-machine.ref', $tree->{reference});
delete @ENV{grep {/^(?:ASSAY_|FLUX_)/} keys %ENV};
spew("$tree->{top}/slow", q{});

sub script {
    my ($path, @text) = @_;
    spew($path, "#!/bin/sh\n", @text);
    chmod 0755, $path;
    return;
}

# A launcher: the program's node is what it is told, and as fast as a file says.
script("$tree->{top}/there", <<"END");
[ -z "\${BUSY-}" ] || sleep "\$BUSY"
hosts=\$1
shift
case " \${DEAD-} " in
*" \$hosts "*)
    echo "stream: the memory is gone" >&2
    echo "srun: error: \$hosts: task 0: Exited with exit code 1" >&2
    exit 1 ;;
esac
export STANDIN_HOST="\${hosts%,*}\${DOMAIN-}"
[ "\${hosts#*,}" = "\$hosts" ] || STANDIN_HOST="\$STANDIN_HOST,\${hosts#*,}\${DOMAIN-}"
while read -r place rate; do
    [ "\$place" != "\$hosts" ] || export RATE="\$rate"
done <'$tree->{top}/slow'
exec "\$@"
END

# A launcher's path has a blank here, which ASSAY_LAUNCH can't have.
my $short = tempdir('assay-XXXXXX', TMPDIR => 1, CLEANUP => 1);
symlink "$tree->{top}/there", "$short/there";
$ENV{ASSAY_LAUNCH} = "$short/there {hosts}";

# A run_script of two nodes, and its program.
mkdir "$tree->{programs}/link";
script("$tree->{programs}/link/link", <<'END');
record=${1#--record=}
{
    echo "record version=1 bench=link time=$(date -u +%Y-%m-%dT%H:%M:%S.%NZ)"
    echo "env host=${STANDIN_HOST%,*}"
    echo "env host=${STANDIN_HOST#*,}"
    echo 'check name=x ok=yes'
    echo "metric name=rate value=${RATE:-100} unit=MB/s n=1 pair=${STANDIN_HOST%,*}:${STANDIN_HOST#*,}"
    echo "end status=${END:-ok}"
} >"$record"
END
script($link, <<"END");
set -eu
assay_script=run_link
assay_run_scripts='$tree->{scripts}'
assay_job=yes
. "\$assay_run_scripts/assay.sh"
assay_options "\$@"
shift "\$assay_shift"
assay_place_job 2 1
assay_pairs=\${assay_nodes% *}:\${assay_nodes#* }
assay_launch_job link "\$(assay_program link)" "--record={record}" "\$@"
END
open my $more, '>>', "$tree->{reference}/any-machine.ref" or die $!;
print {$more} "[clause link]\nmetric = link.rate\nscope = every pair\nstatistic = median\n",
    "limit = report only\n";
close $more or die $!;
mkdir "$tree->{reference}/promised";

sub sweep { return run_command(ref $_[0] ? shift : (), $tree->{command}, 'sweep', @_) }

sub slow { return spew("$tree->{top}/slow", map {"$_\n"} @_) }

sub statuses {
    my ($name) = @_;

    return join q{ }, sort map {"$_->{hosts}=$_->{status}"}
        grep { $_->{kind} eq 'attempt' } Assay::Ledger->new("$results/$name")->entries;
}

1;
