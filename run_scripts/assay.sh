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
#   assay_place_job NODES PPN
#                             the same for a program of several ranks, whose
#                             required run has so many nodes, with so many
#                             ranks on each (`any': equally many).  Sets also
#                             assay_count, assay_ppn and, where this is not
#                             that shape, assay_wrong.
#   assay_program NAME        print the path of a benchmark's program.
#   assay_launch BENCHMARK PROGRAM ARG...
#                             hand one attempt to `assay campaign attempt`,
#                             which runs it, keeps it, enters it in the
#                             ledger and judges it; never returns.  In ARG
#                             `{record}` stands for the record's path.
#   assay_launch_job BENCHMARK PROGRAM ARG...
#                             the same under MPI's launcher.
#
# A run_script that calls assay_place_job sets assay_job=yes before it calls
# assay_options, which then takes --functional, --as-root and -p too, and
# assay_modes to further options without a value, which end up in assay_mode,
# and assay_values to those with one, each given to its function assay_value,
# which says what of them tells its runs apart (assay_say).
# assay_wrapper and the blank-separated assay_wrapper_words are what each rank
# runs before its program; with assay_unbound=yes no launcher binds ranks.
# One whose places are devices sets assay_gpus=yes, and takes --devices=N.
#
# Exit status of every run_script: that of `assay judge` (0 pass, 1 FAIL,
# 3 INVALID, 4 INCONCLUSIVE, 5 nothing passed), or 2 for a usage error.
# No arithmetic on results is done here, and no result is read.

: "${assay_script:?}" "${assay_run_scripts:?}"

# shellcheck source=run_scripts/paths.sh.in
. "$assay_run_scripts/paths.sh"

# sbatch --export=NONE leaves no PATH, and would leave nothing at all to ranks.
PATH=${PATH:-/usr/local/bin:/usr/bin:/bin}
export PATH
unset SLURM_EXPORT_ENV

# A site may keep references of its own elsewhere.
assay_reference=${ASSAY_REFERENCES:-$assay_reference}

assay_system=
assay_system_why=
assay_nodes=
assay_results=
assay_print=no
assay_strict=no
assay_limit=1800
assay_shift=0
assay_functional=no
assay_root=no
assay_ranks=
assay_mode=
assay_pairs=
assay_wrong=
assay_said=
: "${assay_job:=no}" "${assay_modes:=}" "${assay_values:=}" "${assay_gpus:=no}"
assay_wrapper=
assay_wrapper_words=
assay_unbound=no
assay_devices=
[ "$assay_gpus" = no ] || assay_devices=${ASSAY_DEVICES:-}
assay_there=no

# assay_refuse WORD...: a usage error, in one line.
assay_refuse() {
    printf '%s: %s\n' "$assay_script" "$*" >&2
    exit 2
}

# Print the script's own header from `# usage:` on.
assay_usage() {
    sed -n -e "/^#SBATCH/d" -e "/^# usage:/,/^\$/ s/^# \{0,1\}//p" \
        "$assay_run_scripts/$assay_script" || exit 99
}

# assay_say WORD...: what of the options tells this run from others, a word a
# line, for the ledger.
assay_say() {
    for said in "$@"; do
        assay_said="$assay_said${assay_said:+
}$said"
    done
}

# assay_option NAME VALUE: store one option, checked.
assay_option() {
    case $1 in
    m) assay_system=$2 assay_system_why="named by -m" ;;
    n) assay_print=yes ;;
    r) [ -n "$2" ] || assay_refuse "-r: the folder's name is empty"
       assay_results=$2 ;;
    strict) assay_strict=yes ;;
    functional) [ "$assay_functional" = yes ] || assay_say --functional
                assay_functional=yes ;;
    as-root) assay_root=yes ;;
    p) case $2 in
       '' | *[!0-9]* | 0* | ??????*)
           assay_refuse "-p: '$2' is no number of ranks" ;;
       esac
       assay_ranks=$2
       assay_say -p "$2" ;;
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
    letters=:hm:nr:t:-:
    [ "$assay_job" = no ] || letters=:hm:np:r:t:-:
    while getopts "$letters" option; do
        case $option in
        h) assay_usage
           exit 0 ;;
        [mprt]) assay_option "$option" "$OPTARG" ;;
        n) assay_option n '' ;;
        -) case $OPTARG in
           help) assay_usage
                 exit 0 ;;
           strict) assay_option strict '' ;;
           *) assay_long "$OPTARG" ;;
           esac ;;
        :) assay_refuse "-$OPTARG: a value is missing" ;;
        *) assay_refuse "-$OPTARG: no such option (-h lists them)" ;;
        esac
    done
    assay_shift=$((OPTIND - 1))
    assay_rest "$@"
}

# Long options that not every run_script has.
assay_long() {
    case $assay_job,$1 in
    yes,functional | yes,as-root)
        assay_option "$1" ''
        return ;;
    esac
    case $assay_gpus,$1 in
    yes,devices=*)
        assay_devices=${1#devices=}
        [ -n "$assay_devices" ] || assay_devices=-
        return ;;
    esac
    for name in $assay_values; do
        case $1 in
        "$name="*)
            assay_value "$name" "${1#*=}"
            return ;;
        esac
    done
    for mode in $assay_modes; do
        [ "$mode" = "$1" ] || continue
        case $assay_mode in
        '') assay_mode=$1
            assay_say "--$1" ;;
        "$1") ;;
        *) assay_refuse "--$assay_mode and --$1: one or the other" ;;
        esac
        return
    done
    assay_refuse "--$1: no such option (-h lists them)"
}

# What is left is the program's only when `--` stands before it.
assay_rest() {
    [ "$#" -gt "$assay_shift" ] || return 0
    [ "$assay_shift" -eq 0 ] || shift $((assay_shift - 1))
    if [ "$1" = -- ]; then
        [ $# -eq 1 ] || assay_say "$@"
        return 0
    fi
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
                       "name one with -m:" "$(echo "$matches" | tr '\n' ' ')" ;;
    *) assay_system=$matches
       assay_system_why="by the name of host $1" ;;
    esac
}

assay_place() {
    case $assay_devices in
    *[!0-9]* | 0* | ????*)
        assay_refuse "--devices: '$assay_devices' is no number of devices" ;;
    esac
    assay_place_system
    if [ -n "${ASSAY_NODES:-}" ]; then
        assay_place_there
        return
    fi
    # Outside of a job there is nothing to ask.
    assay_nodes=$host
    [ -n "${SLURM_JOB_ID:-${SLURM_JOBID:-}}" ] || return 0
    assay_nodes=$("$assay_command" campaign nodes --job --host "$host") || exit 2
}

# On the one node that is named, which need not be this one.
assay_place_there() {
    assay_read_allocation
    assay_ppn=1
    [ "$assay_count" -eq 1 ] ||
        assay_refuse "this measures one node, and ASSAY_NODES names" \
            "$assay_count: 'assay sweep nodes $assay_script' measures each"
    # A scheduler may know this host by its name up to the first dot.
    case $host in "$assay_nodes" | "$assay_nodes".*) ;; *) assay_there=yes ;; esac
}

# Sets host and assay_system.
assay_place_system() {
    [ -x "$assay_command" ] ||
        assay_refuse "$assay_command: can't run it: build or install again"
    host=$(assay_host)
    assay_find_system "$host"
    case $assay_system in
    '' | [!A-Za-z0-9]* | *[!A-Za-z0-9._-]*)
        assay_refuse "'$assay_system' is no name of a system" ;;
    esac
}

##
# The shape of a job
##

# Who launches (assay_launcher), assay_nodes, how many these are, and in
# assay_tasks the ranks that the scheduler has for each, if it says so.
assay_read_allocation() {
    set -- --allocation --host "$host"
    [ -z "${ASSAY_NODES:-}" ] || set -- "$@" --only "$ASSAY_NODES"
    lines=$("$assay_command" campaign nodes "$@") || exit 2
    assay_launcher=${lines%%
*}
    lines=${lines#*
}
    assay_count=0 assay_tasks=
    while read -r node tasks; do
        # Named twice, or by two brokers of one node, it is one node.
        case " $assay_nodes " in *" $node "*) continue ;; esac
        assay_nodes="$assay_nodes${assay_nodes:+ }$node"
        assay_count=$((assay_count + 1))
        assay_tasks="$assay_tasks${assay_tasks:+ }${tasks:--}"
    done <<END
$lines
END
}

# Ranks on each node: those of -p, those that the required run has, or those
# that the scheduler has for each; none where it has not equally many.
assay_find_ppn() {
    assay_ppn=$assay_ranks
    [ -z "$assay_ppn" ] || return 0
    if [ "$1" != any ]; then
        assay_ppn=$1
        return
    fi
    for tasks in $assay_tasks; do
        [ -n "$assay_ppn" ] || assay_ppn=$tasks
        [ "$assay_ppn" = "$tasks" ] || assay_ppn=-
    done
    [ "$assay_ppn" != - ] || assay_ppn=
}

# assay_check_shape NODES PPN: set assay_wrong where this is not the shape.
assay_check_shape() {
    cure="or see only that it works, with --functional"
    if [ "$1" != any ] && [ "$assay_count" -ne "$1" ]; then
        assay_wrong="the required run has $1 nodes, and here is"
        assay_wrong="$assay_wrong $assay_count ($assay_nodes): start this in a"
        assay_wrong="$assay_wrong job of $1 (sbatch --nodes=$1), name them"
        assay_wrong="$assay_wrong (ASSAY_NODES), $cure"
    elif [ "$2" != any ] && [ "$assay_ppn" -ne "$2" ]; then
        assay_wrong="the required run has $2 rank on each node, not"
        assay_wrong="$assay_wrong $assay_ppn: leave out -p, $cure"
    elif [ -z "$assay_ppn" ]; then
        assay_wrong="how many ranks on each node? The scheduler says"
        assay_wrong="$assay_wrong '$assay_tasks': give each node equally many"
        assay_wrong="$assay_wrong (sbatch --ntasks-per-node=N, or -p N), $cure"
    fi
}

assay_place_job() {
    [ "$assay_functional" = no ] || [ -n "$assay_system_why" ] || {
        assay_system=functional
        assay_system_why="by --functional: no required run"
    }
    assay_place_system
    assay_read_allocation
    assay_find_ppn "$2"
    if [ "$assay_functional" = no ]; then
        assay_check_shape "$@"
    elif [ "$assay_count" -eq 1 ] && [ -z "$assay_ranks" ]; then
        assay_ppn=2
    fi
    : "${assay_ppn:=1}"
    [ "$assay_launcher" != het ] ||
        assay_wrong="a job of several components (heterogeneous): not supported"
}

# assay_own_sizes ARG...: has a functional run sizes of its own?
assay_own_sizes() {
    [ "$assay_functional" = yes ] || return 1
    for word in "$@"; do
        case $word in --sizes | --sizes=*) return 0 ;; esac
    done
    return 1
}

assay_program() {
    case $assay_layout in
    build)
        case $1 in
        mpi_overhead | msgrate) printf '%s\n' "$assay_programs/smb/$1" ;;
        pmi2 | pmi2_rank | mpi_init) printf '%s\n' "$assay_programs/launch/$1" ;;
        simpleBandwidth | indexgather | ra | jobstream)
            printf '%s\n' "$assay_programs/commbw/$1" ;;
        *) printf '%s\n' "$assay_programs/$1/$1" ;;
        esac ;;
    *) printf '%s\n' "$assay_programs/$1" ;;
    esac
}

# One process on this node, so no launcher: plain exec inside a job as outside.
# Left-over variables of a scheduler then can't change how it starts. On
# another node it is a job of one rank, which may use the whole node.
assay_launch() {
    if [ "$assay_there" = yes ]; then
        assay_launch_job "$@"
        return
    fi
    benchmark=$1
    program=$2
    shift
    assay_attempt "$@"
}

# assay_attempt WORD...: hand over the command made of these words, for
# $benchmark and $program.
assay_attempt() {
    set -- --program "$program" --limit "$assay_limit" -- "$@"
    [ -z "$assay_wrong" ] || set -- --invalid "$assay_wrong" "$@"
    [ -z "$assay_pairs" ] || set -- --pairs "$assay_pairs" "$@"
    [ -z "$assay_said" ] || set -- "--options=$assay_said" "$@"
    [ -z "$assay_devices" ] || set -- --devices "$assay_devices" "$@"
    set -- --nodes "$assay_nodes" "$@"
    set -- --system "$assay_system" --why "$assay_system_why" "$@"
    set -- --script "$assay_script" --benchmark "$benchmark" "$@"
    set -- --references "$assay_reference" "$@"
    [ -z "$assay_results" ] || set -- --results "$assay_results" "$@"
    [ "$assay_strict" = no ] || set -- --strict "$@"
    [ "$assay_print" = no ] || set -- --print "$@"
    exec "$assay_command" campaign attempt "$@"
}

##
# Launch under MPI
##

# Each of the functions below puts the launcher's words before those of the
# program, and hands all of them over.  What outlives this script, on another
# node, is ended by the launcher's own limit.
assay_launch_job() {
    benchmark=$1
    program=$2
    shift
    [ -x "$program" ] ||
        assay_refuse "$program: not there: this build found no MPI," \
            "or it is not complete"
    if [ -n "$assay_wrapper" ]; then
        # shellcheck disable=SC2086 # split on purpose
        set -- "$assay_wrapper" $assay_wrapper_words "$@"
    fi
    ranks=$((assay_count * assay_ppn))
    later=$((assay_limit + 15))
    assay_choose_launcher
    case $assay_how in
    site) assay_launch_site "$@" ;;
    flux) assay_attempt flux run "--nodes=$assay_count" \
        "--tasks-per-node=$assay_ppn" "--time-limit=${later}s" "$@" ;;
    srun) assay_launch_srun "$@" ;;
    openmpi) assay_launch_openmpi "$@" ;;
    hydra) assay_launch_hydra "$@" ;;
    esac
}

# Sets assay_how: the site's own words, what the scheduler has, or the mpirun
# of the library that the program was built with, and of no other: that would
# start as many programs that each believe to be alone.
assay_choose_launcher() {
    assay_how=site
    [ -z "${ASSAY_LAUNCH:-}" ] || return 0
    assay_how=$assay_launcher
    case $assay_launcher in
    flux) return ;;
    slurm) ! assay_find_srun || return 0 ;;
    esac
    mpirun=${ASSAY_MPIRUN:-$assay_mpirun}
    command -v "${mpirun:-/}" >/dev/null ||
        assay_refuse "no launcher for $assay_mpi: name its mpirun" \
            "(ASSAY_MPIRUN), or all the words of another (ASSAY_LAUNCH)"
    case $assay_mpi in
    'Open MPI'*) assay_how=openmpi ;;
    *MPICH* | MVAPICH* | Intel*) assay_how=hydra ;;
    *) assay_refuse "$assay_mpi: its mpirun is not known: say" \
           "ASSAY_LAUNCH='... -n {ranks}'" ;;
    esac
}

# Has srun what this library needs to find its other ranks?
assay_find_srun() {
    command -v srun >/dev/null || return 1
    assay_how=srun
    case $assay_mpi in
    'Open MPI'*) pmi=pmix ;;
    Cray*) pmi= ;;
    *) pmi=pmi2 ;;
    esac
    pmi=${ASSAY_SRUN_MPI:-$pmi}
    [ "$assay_there" = no ] || pmi=none
    [ -n "$pmi" ] || return 0
    ! assay_step_hangs || return 1
    for word in $(srun --mpi=list 2>&1 </dev/null); do
        case $word in "$pmi" | "${pmi}_"*) return 0 ;; esac
    done
    return 1
}

# Up to Slurm 22.05 a step on some of a job's nodes may hang in the fence of pmix:
# then the library's own mpirun, unless a plugin or a fence was named.
assay_step_hangs() {
    case $pmi,${ASSAY_NODES:+some},${ASSAY_SRUN_MPI:-}${SLURM_PMIX_FENCE:-} in
    pmix,some,) ;;
    *) return 1 ;;
    esac
    [ "$(id -u)" -ne 0 ] || [ "$assay_root" = yes ] ||
        [ -n "${OMPI_ALLOW_RUN_AS_ROOT:-}" ] || return 1
    mpirun=${ASSAY_MPIRUN:-$assay_mpirun}
    command -v "${mpirun:-/}" >/dev/null || return 1
    case $(srun --version 2>/dev/null </dev/null) in
    'slurm'*' 22.'* | 'slurm'*' 2'[01].* | 'slurm'*' 1'[0-9].*) return 0 ;;
    esac
    return 1
}

assay_launch_srun() {
    set -- "--time=$((later / 60 + 1))" --kill-on-bad-exit=1 "$@"
    # What may use its whole node is no task of so many CPUs.
    [ "$assay_there" = no ] || unset SLURM_CPUS_PER_TASK SRUN_CPUS_PER_TASK
    # srun does not know what sbatch was told; ranks are bound to fewer CPUs.
    [ -z "${SLURM_CPUS_PER_TASK:-}" ] ||
        set -- "--cpus-per-task=$SLURM_CPUS_PER_TASK" "$@"
    set -- "--ntasks=$ranks" "--ntasks-per-node=$assay_ppn" "$@"
    [ -z "$pmi" ] || set -- "--mpi=$pmi" "$@"
    [ "$assay_there,$assay_unbound" = no,no ] || set -- --cpu-bind=none "$@"
    if [ -n "${ASSAY_NODES:-}" ]; then
        assay_host_list ''
        set -- "--nodelist=$list" "$@"
    fi
    assay_attempt srun "--nodes=$assay_count" "$@"
}

# The nodes as mpirun's list, each with WORD behind it.
assay_host_list() {
    list=
    for node in $assay_nodes; do
        list="$list${list:+,}$node$1"
    done
}

# As root it runs by an explicit switch only, its own or ours.
assay_launch_openmpi() {
    set -- --map-by "ppr:$assay_ppn:node" --timeout "$later" "$@"
    [ "$assay_there,$assay_unbound" = no,no ] || set -- --bind-to none "$@"
    [ "$assay_functional" = no ] || set -- --oversubscribe "$@"
    case $assay_launcher,${ASSAY_NODES:+some} in
    hosts,* | slurm,some)
        # Of a job all nodes are taken where none are named.
        assay_host_list ":$assay_ppn"
        set -- --host "$list" "$@" ;;
    none,*)
        # Variables of a job that is gone.
        [ -z "${SLURM_JOB_ID:-${SLURM_JOBID:-}}" ] ||
            set -- --mca ras '^slurm' --mca plm '^slurm' "$@" ;;
    esac
    if [ "$(id -u)" -eq 0 ]; then
        if [ "$assay_root" = yes ]; then
            set -- --allow-run-as-root "$@"
        elif [ -z "${OMPI_ALLOW_RUN_AS_ROOT:-}" ] &&
            [ "$assay_print" = no ]; then
            assay_refuse "Open MPI's mpirun starts nothing as root: be a" \
                "user, or say --as-root"
        fi
    fi
    assay_attempt "$mpirun" -n "$ranks" "$@"
}

assay_launch_hydra() {
    assay_host_list ''
    case $assay_launcher,${ASSAY_NODES:+some} in
    none,*) set -- -launcher fork -hosts "$list" "$@" ;;
    hosts,* | slurm,some)
        set -- -hosts "$list" "$@"
        [ "$list" != "$host" ] || set -- -launcher fork "$@" ;;
    esac
    MPIEXEC_TIMEOUT=$later
    export MPIEXEC_TIMEOUT
    assay_attempt "$mpirun" -n "$ranks" -ppn "$assay_ppn" "$@"
}

# The words of ASSAY_LAUNCH, split at blanks, before those of the program; in
# them {nodes}, {ranks}, {ppn} and {hosts} stand for what this job has.
assay_launch_site() {
    mine=$#
    assay_host_list ''
    set -f
    # shellcheck disable=SC2086 # split on purpose
    for word in $ASSAY_LAUNCH; do
        assay_expand "$word"
        set -- "$@" "$assay_word"
    done
    set +f
    while [ "$mine" -gt 0 ]; do
        set -- "$@" "$1"
        shift
        mine=$((mine - 1))
    done
    assay_attempt "$@"
}

assay_expand() {
    assay_word=$1
    for pair in "{nodes}=$assay_count" "{ranks}=$ranks" "{ppn}=$assay_ppn" \
        "{hosts}=$list"; do
        name=${pair%%=*}
        while :; do
            case $assay_word in
            *"$name"*) ;;
            *) break ;;
            esac
            assay_word=${assay_word%%"$name"*}${pair#*=}${assay_word#*"$name"}
        done
    done
}
