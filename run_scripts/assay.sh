# assay.sh - what the run_scripts share: options, system, place, launch.
# shellcheck shell=sh
#
# Sourced, never run.  Beforehand a run_script sets `assay_script`, its own
# name, and `assay_run_scripts`, the folder of these files, which make wrote
# into it: a scheduler runs a copy from a spool folder, so $0 tells nothing.
# Then it calls, in this order:
#
#   assay_options ARG...      read the options all run_scripts have; usage
#                             errors end here.  Sets assay_shift: how many
#                             arguments were eaten, `--` included.
#   assay_place               find system and nodes: sets assay_system and
#                             assay_nodes.  Ends where either can't be told.
#   assay_program NAME        print the path of a benchmark's program.
#   assay_launch BENCHMARK PROGRAM ARG...
#                             hand one attempt to `assay campaign attempt`,
#                             which runs it, keeps it, enters it in the
#                             ledger and judges it; never returns.  In ARG
#                             `{record}` stands for the record's path.
#
# Exit status of every run_script: that of `assay judge` (0 pass, 1 FAIL,
# 3 INVALID, 4 INCONCLUSIVE, 5 nothing passed), or 2 for a usage error.
# No arithmetic on results is done here, and no result is read.

: "${assay_script:?}" "${assay_run_scripts:?}"

# shellcheck source=run_scripts/paths.sh.in
. "$assay_run_scripts/paths.sh"

assay_system=
assay_system_why=
assay_nodes=
assay_results=
assay_print=no
assay_strict=no
assay_limit=1800
assay_shift=0

# assay_refuse WORD...: a usage error, in one line.
assay_refuse() {
    printf '%s: %s\n' "$assay_script" "$*" >&2
    exit 2
}

# Print the script's own header from `# usage:` on.
assay_usage() {
    sed -n -e "/^#SBATCH/d" -e "/^# usage:/,/^\$/ s/^# \{0,1\}//p" \
        "$assay_run_scripts/$assay_script"
}

# assay_option NAME VALUE: store one option, checked.
assay_option() {
    case $1 in
    m) assay_system=$2 assay_system_why="named by -m" ;;
    n) assay_print=yes ;;
    r) [ -n "$2" ] || assay_refuse "-r: the folder's name is empty"
       assay_results=$2 ;;
    strict) assay_strict=yes ;;
    t) case $2 in
       '' | *[!0-9]* | 0* | ????????*)
           assay_refuse "-t: '$2' is no number of seconds" ;;
       esac
       assay_limit=$2 ;;
    esac
}

assay_options() {
    assay_shift=$#
    OPTIND=1
    while getopts :hm:nr:t:-: option; do
        case $option in
        h) assay_usage
           exit 0 ;;
        [mrt]) assay_option "$option" "$OPTARG" ;;
        n) assay_option n '' ;;
        -) case $OPTARG in
           help) assay_usage
                 exit 0 ;;
           strict) assay_option strict '' ;;
           *) assay_refuse "--$OPTARG: no such option (-h lists them)" ;;
           esac ;;
        :) assay_refuse "-$OPTARG: a value is missing" ;;
        *) assay_refuse "-$OPTARG: no such option (-h lists them)" ;;
        esac
    done
    assay_shift=$((OPTIND - 1))
    assay_rest "$@"
}

# What is left is the program's only when `--` stands before it.
assay_rest() {
    [ "$#" -gt "$assay_shift" ] || return 0
    [ "$assay_shift" -eq 0 ] || shift $((assay_shift - 1))
    [ "$1" = -- ] && return 0
    [ "$assay_shift" -eq 0 ] || shift
    assay_refuse "$1: unknown word (the program's options follow --)"
}

# This host's name, as the programs write it into their records.
assay_host() {
    hostname 2>/dev/null || uname -n
}

# assay_match HOST: print the systems whose pattern in reference/hosts fits
# HOST, or HOST up to its first dot, as a whole: node17 is not node170.
assay_match() (
    set -f
    while read -r system patterns; do
        case $system in '' | '#'*) continue ;; esac
        for pattern in $patterns; do
            # shellcheck disable=SC2254 # a pattern is what it is
            case $1 in $pattern) echo "$system" && continue 2 ;; esac
            # shellcheck disable=SC2254
            case ${1%%.*} in $pattern) echo "$system" && continue 2 ;; esac
        done
    done
)

# The system: -m, else ASSAY_SYSTEM, else the host's name, else any machine.
assay_find_system() {
    [ -z "$assay_system_why" ] || return 0
    if [ -n "${ASSAY_SYSTEM:-}" ]; then
        assay_system=$ASSAY_SYSTEM
        assay_system_why="named by ASSAY_SYSTEM"
        return 0
    fi
    assay_system=any-machine
    assay_system_why="no system named, and none known for $1"
    [ -r "$assay_reference/hosts" ] || return 0
    matches=$(assay_match "$1" <"$assay_reference/hosts" | sort -u)
    case $matches in
    '') ;;
    *[[:space:]]*) assay_refuse "$1 fits more than one system:" \
                       "name one with -m:" "$matches" ;;
    *) assay_system=$matches
       assay_system_why="by the name of host $1" ;;
    esac
}

assay_place() {
    [ -x "$assay_command" ] ||
        assay_refuse "$assay_command: can't run it: build or install again"
    host=$(assay_host)
    assay_find_system "$host"
    case $assay_system in
    '' | [!A-Za-z0-9]* | *[!A-Za-z0-9._-]*)
        assay_refuse "'$assay_system' is no name of a system" ;;
    esac
    # Outside of a job there is nothing to ask.
    assay_nodes=$host
    [ -n "${SLURM_JOB_ID:-${SLURM_JOBID:-}}" ] || return 0
    assay_nodes=$("$assay_command" campaign nodes --job --host "$host") || exit 2
}

assay_program() {
    case $assay_layout in
    build) printf '%s\n' "$assay_programs/$1/$1" ;;
    *) printf '%s\n' "$assay_programs/$1" ;;
    esac
}

# One process on this node, so no launcher: plain exec inside a job as outside.
# Left-over variables of a scheduler then can't change how it starts.
assay_launch() {
    benchmark=$1
    program=$2
    shift
    set -- --program "$program" --limit "$assay_limit" -- "$@"
    set -- --nodes "$assay_nodes" "$@"
    set -- --system "$assay_system" --why "$assay_system_why" "$@"
    set -- --script "$assay_script" --benchmark "$benchmark" "$@"
    set -- --references "$assay_reference" "$@"
    [ -z "$assay_results" ] || set -- --results "$assay_results" "$@"
    [ "$assay_strict" = no ] || set -- --strict "$@"
    [ "$assay_print" = no ] || set -- --print "$@"
    exec "$assay_command" campaign attempt "$@"
}
