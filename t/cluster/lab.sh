# lab.sh - what the commands of this folder share: where the cluster is kept,
# and how its namespaces are entered.  Sourced, never run.
# shellcheck shell=sh
#
# CLUSTER is the folder of one cluster: its keys, configuration, logs and
# process numbers.  As many folders, so many clusters, which see nothing of each
# other.  Default: cluster/ in the build tree (ASSAY_BUILDDIR, or build/).

lab_here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
lab_source=${lab_here%/t/cluster}
lab_build=${ASSAY_BUILDDIR:-$lab_source/build}
[ -d "$lab_build" ] || lab_build=$lab_source
CLUSTER=${CLUSTER:-$lab_build/cluster}
case $CLUSTER in
/*) ;;
*) CLUSTER=$PWD/$CLUSTER ;;
esac
SLURM_CONF=$CLUSTER/etc/slurm.conf
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
export CLUSTER SLURM_CONF PATH

# Rail R is the network 198.18.R.0, in which node I is .I and the login node
# .254: addresses set aside for benchmarks, and in no network but the cluster's.
# shellcheck disable=SC2034
lab_net=198.18

# Whoever is not root gets a user namespace that knows him alone. Slurm run by
# user 0 of one would fail: it insists on setgroups(), which is denied there.
# shellcheck disable=SC2034 # up and exec use them
if [ "$(id -u)" -eq 0 ]; then
    lab_user='' lab_enter=''
else
    lab_user='--user --map-current-user --keep-caps'
    lab_enter='-U --preserve-credentials'
fi
# shellcheck disable=SC2034
lab_spaces='--mount --net --uts --ipc --pid --mount-proc'

# lab_die WORD...: the cluster is broken.
lab_die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 99
}

# lab_refuse WORD...: a usage error.
lab_refuse() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 2
}

# Print the header of the command from `# usage:` on.
lab_usage() {
    sed -n '/^# usage:/,/^$/ s/^# \{0,1\}//p' "$0"
}

# lab_read FILE: its first line, or nothing.
lab_read() {
    lab_line=
    [ ! -r "$1" ] || read -r lab_line <"$1" || :
    printf '%s\n' "$lab_line"
}

# The process, as seen from outside, that is the first of the cluster's; fails
# where it lives no more. Its number may be another's by now.
lab_head() {
    lab_pid=$(lab_read "$CLUSTER/head")
    [ -n "$lab_pid" ] || return 1
    tr '\0' '\n' <"/proc/$lab_pid/cmdline" 2>/dev/null |
        grep -Fqx "$CLUSTER" || return 1
    printf '%s\n' "$lab_pid"
}

# Whether this is the login node already.
lab_inside() {
    [ "$(readlink /proc/self/ns/uts)" = "$(lab_read "$CLUSTER/uts")" ]
}

# lab_on_login ARG...: go on with this command on the login node.
lab_on_login() {
    lab_inside || exec "$lab_here/exec" "$0" "$@"
}

# lab_node NAME: refuse what is no node of this cluster; sets lab_number.
lab_node() {
    lab_number=${1#n}
    case $1,$lab_number in
    n[1-9],* | n[1-9][0-9],* | n[1-9][0-9][0-9],*) ;;
    *) lab_refuse "'$1' is no node (n1, n2, ...)" ;;
    esac
    [ "$lab_number" -le "$(lab_read "$CLUSTER/nodes")" ] ||
        lab_refuse "$1: the cluster has $(lab_read "$CLUSTER/nodes") nodes"
}

# lab_init NODE: the first process of a node, as the login node sees it; fails
# where the node is off.
lab_init() {
    lab_pid=$(lab_read "$CLUSTER/run/$1.init")
    [ -n "$lab_pid" ] && kill -0 "$lab_pid" 2>/dev/null || return 1
    printf '%s\n' "$lab_pid"
}

# lab_wait SECONDS COMMAND...: until it succeeds; fails when it did not.
lab_wait() {
    lab_turns=$(($1 * 20))
    shift
    while ! "$@"; do
        lab_turns=$((lab_turns - 1))
        [ "$lab_turns" -gt 0 ] || return 1
        sleep 0.05
    done
}

# lab_group NODE: the folder of its cgroup, of version 2 or 1. There is one only
# while the node is throttled.
lab_group() {
    if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
        echo "/sys/fs/cgroup/$(lab_read "$CLUSTER/name")-$1"
    else
        echo "/sys/fs/cgroup/cpu/$(lab_read "$CLUSTER/name")-$1"
    fi
}
