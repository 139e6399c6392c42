/* job.c - one program of many processes: they start, speak, fail and end as
 * one. */
#include "config.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "lib/job.h"
#include "lib/job_facts.h"
#include "lib/job_lost.h"
#include "lib/launcher.h"
#include "lib/memory.h"
#include "lib/provenance.h"
#include "lib/units.h"

enum {
    LATE = 10,  /* s that MPI has for its end */
    OTHERS = 5, /* s more than rank 0 that the others wait: it has the record */
    MESSAGE = 400,
    PAUSE = 250000, /* us: a launcher that is told to abort may forget what it
                       has not read yet, and that is the reason */
};

enum phase {
    ALONE,    /* MPI does not run */
    REFUSING, /* all ranks end for the same reason */
    STARTING, /* the others wait for rank 0 */
    RUNNING,  /* nobody knows where the others are */
};

/* What job.h shows, and what is nobody else's. */
struct whole {
    struct assay_job job; /* first */
    struct assay_member member;
    const struct assay_program *program;
    const struct assay_needs *needs;
    const void *options;
    struct assay_launcher launcher;
    enum phase phase;
    double watchdog, start_limit;
    char place[300];
};

/* A mutable global: MPI hands the error handler nothing of ours. */
static struct whole *the_job;

static struct whole *whole_of(struct assay_job *job)
{
    return (struct whole *)job;
}

/*
 * The end, which MPI may hang in. What the handler needs is global, too.
 */
static volatile sig_atomic_t late_status;
static char late_note[MESSAGE];

static void on_late(int number)
{
    (void)number;
    if (write(STDERR_FILENO, late_note, strlen(late_note)) < 0)
        _exit(late_status);
    _exit(late_status);
}

/* From here on the process ends within LATE seconds, with this status. */
static void end_in_time(struct whole *w, int status)
{
    struct sigaction action = {.sa_handler = on_late};
    struct itimerval timer = {{0, 0}, {LATE, 0}};
    struct itimerval off = {{0, 0}, {0, 0}};

    setitimer(ITIMER_REAL, &off, NULL);
    late_status = status;
    if (w->job.rank == 0)
        snprintf(late_note, sizeof(late_note),
                 "%s: MPI did not end within %d s: the record is closed, left "
                 "without it\n",
                 w->program->name, LATE);
    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* Leave MPI and the process: all ranks do so. */
_Noreturn static void quit(struct whole *w, int status)
{
    end_in_time(w, status);
    fflush(stdout);
    MPI_Finalize();
    exit(status);
}

/* What assay_die does at last: end the job on all ranks. */
static void leave(struct assay_member *member, int status)
{
    struct whole *w = the_job;

    (void)member;
    switch (w->phase) {
    case ALONE:
        exit(status);
    case STARTING:
        if (w->job.rank == 0) {
            end_in_time(w, status);
            MPI_Bcast(&status, 1, MPI_INT, 0, w->job.comm);
            quit(w, status);
        }
        break;
    case REFUSING:
        quit(w, status);
    case RUNNING:
        break;
    }
    end_in_time(w, status);
    usleep(PAUSE);
    MPI_Abort(MPI_COMM_WORLD, status);
    _exit(status);
}

_Noreturn static void on_error(MPI_Comm *comm, int *code, ...)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    struct whole *w = the_job;
    int length;

    (void)comm;
    MPI_Error_string(*code, text, &length);
    w->phase = RUNNING;
    assay_die(w->job.run, ASSAY_BROKEN, "MPI: %s", text);
}

static void refuse(struct whole *w, enum assay_exit status, const char *text)
{
    w->phase = REFUSING;
    if (!w->member.speaks)
        quit(w, status);
    w->member.place = NULL;
    assay_die(w->job.run, status, "%s", text);
}

void assay_job_refuse(struct assay_job *job, enum assay_exit status,
                      const char *format, ...)
{
    char text[MESSAGE];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    refuse(whole_of(job), status, text);
    abort();
}

/* What the ranks of a node lack together, where they lack something. */
struct lack {
    uint64_t need, available;
    char limit[96], host[256];
};

void assay_job_need(struct assay_job *job, uint64_t bytes, const char *what)
{
    struct assay_memory memory =
        assay_memory_available(assay_machine(job->run));
    struct lack lack = {.available = memory.available - memory.available / 8};
    uint64_t most = UINT64_MAX / job->map.ranks; /* so that no sum overflows */
    char need[16], available[16];
    int mine, first;

    bytes = bytes < most ? bytes : most;
    MPI_Allreduce(&bytes, &lack.need, 1, MPI_UINT64_T, MPI_SUM, job->node);
    memcpy(lack.limit, memory.limit, sizeof(lack.limit));
    memcpy(lack.host, job->host, sizeof(lack.host));
    mine =
        memory.available && lack.need > lack.available ? job->rank : job->size;
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, job->comm);
    if (first == job->size)
        return;
    MPI_Bcast(&lack, (int)sizeof(lack), MPI_BYTE, first, job->comm);
    assay_job_refuse(job, ASSAY_BROKEN,
                     "%s: %s on %s, where %s may be had (%s)", what,
                     assay_size_text(lack.need, need), lack.host,
                     assay_size_text(lack.available, available), lack.limit);
}

/*
 * The start.
 */

/* What makes a job of the processes, by library. */
static const char *cure(const char *library)
{
    if (strncmp(library, "Open MPI", 8) == 0)
        return "start it with Open MPI's own mpirun, or srun --mpi=pmix";
    if (strncmp(library, "MPICH", 5) == 0 ||
        strncmp(library, "MVAPICH", 7) == 0)
        return "start it with that library's own mpirun, or srun --mpi=pmi2";
    return "start it with the launcher of that library";
}

/* Where a launcher has numbered the processes, one of them speaks. */
static bool numbered_first(const struct whole *w)
{
    return w->launcher.rank <= 0 || !w->launcher.linked;
}

/* N processes that each believe to be alone, or a part of the job that does. */
static void check_size(struct whole *w)
{
    const struct assay_claim *claim =
        assay_launcher_denies(&w->launcher, w->job.size);
    char text[MESSAGE];

    if (!claim)
        return;
    w->member.speaks = numbered_first(w);
    /* The launcher may end all when the first of them ends. */
    if (!w->member.speaks)
        sleep(ASSAY_SPEECH);
    snprintf(text, sizeof(text),
             "MPI finds a job of %d rank%s, the launcher says %ld (%s): "
             "launcher and library do not match; this program uses %s: %s",
             w->job.size, w->job.size == 1 ? "" : "s", claim->size,
             claim->variable, w->job.library, cure(w->job.library));
    refuse(w, ASSAY_BROKEN, text);
}

/* The launcher's word on the number of ranks, for a message. */
static void launcher_text(const struct assay_launcher *l, char *buf,
                          size_t size)
{
    if (l->claims)
        snprintf(buf, size, "the launcher says %ld, %s", l->claim[0].size,
                 l->claim[0].variable);
    else if (l->allocated > 1)
        snprintf(buf, size,
                 "no launcher, but an allocation of %ld tasks: start it with "
                 "srun or mpirun",
                 l->allocated);
    else
        snprintf(buf, size, "no launcher: start it with mpirun -n or srun -n");
}

static void check_ranks(struct whole *w)
{
    const struct assay_needs *needs = w->needs;
    char text[MESSAGE], launcher[128];
    int size = w->job.size;

    if (size >= needs->least && (!needs->even || size % 2 == 0))
        return;
    launcher_text(&w->launcher, launcher, sizeof(launcher));
    snprintf(text, sizeof(text), "ranks: %d found, %s%d or more needed (%s)",
             size, needs->even ? "an even number, " : "", needs->least,
             launcher);
    refuse(w, ASSAY_USAGE, text);
}

#define OPT(field) offsetof(struct whole, field)
static const struct assay_option job_table[] = {
    {.name = "start-limit",
     .type = ASSAY_REAL,
     .offset = OPT(start_limit),
     .max = 1e6,
     .arg = "SECONDS",
     .help = "end a job whose MPI has not started by then; 0: never"},
    ASSAY_OPTION_END,
};

/* A rank that ends before MPI has started, and the launcher does not mind,
 * leaves the others waiting for it. Until there is progress to watch, this is
 * what ends them; number 0 first, which the launcher may then take for the
 * reason. */
static void watch_start(struct whole *w)
{
    double seconds = w->start_limit;

    if (w->launcher.rank > 0) {
        snprintf(w->place, sizeof(w->place), "number %ld, on %s",
                 w->launcher.rank, w->job.host);
        w->member.place = w->place;
        seconds += seconds > 0.0 ? OTHERS : 0.0;
    }
    assay_watch(w->job.run, seconds,
                "the start of MPI: a process of the job may have ended before "
                "it, or a node be lost (--start-limit gives it more time)");
    w->member.place = NULL;
}

static void join(struct assay_member *member, struct assay_run *run)
{
    struct whole *w = the_job;
    struct assay_job *job = &w->job;
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Errhandler handler;
    int wanted = w->needs->level_for ? w->needs->level_for(w->options)
                                     : w->needs->thread_level;
    int level, length;

    job->run = run;
    watch_start(w);
    MPI_Init_thread(NULL, NULL, wanted, &level);
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_rank(MPI_COMM_WORLD, &job->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job->size);
    w->phase = STARTING;
    member->speaks = job->rank == 0;
    snprintf(w->place, sizeof(w->place), "rank %d on %s", job->rank, job->host);
    if (job->rank != 0)
        member->place = w->place;
    MPI_Get_library_version(version, &length);
    assay_job_library(version, job->library, sizeof(job->library));
    check_size(w);
    check_ranks(w);
    MPI_Comm_dup(MPI_COMM_WORLD, &job->comm);
    MPI_Comm_set_errhandler(job->comm, handler);
    MPI_Errhandler_free(&handler);
    if (level < wanted)
        refuse(w, ASSAY_BROKEN,
               "MPI: this library, as it is built, has not "
               "the thread support that is needed");
}

/* Messages between them cross no wire, whatever their names are. */
static void warn_kernels(struct assay_job *job)
{
    if (job->kernels == 0)
        assay_warn(job->run, "no boot id in /proc: nodes may be containers of "
                             "one machine");
    else if (job->kernels < job->map.nodes)
        assay_warn(job->run,
                   "%zu nodes run on %zu kernel%s: containers or name spaces "
                   "of one machine, and no network between them",
                   job->map.nodes, job->kernels, job->kernels == 1 ? "" : "s");
}

struct assay_job *assay_job_start(int argc, char **argv,
                                  const struct assay_program *program,
                                  void *options,
                                  const struct assay_needs *needs)
{
    struct whole *w = calloc(1, sizeof(*w));
    int status = 0;

    if (!w)
        assay_die(NULL, ASSAY_BROKEN, "no memory");
    the_job = w;
    w->program = program;
    w->needs = needs;
    w->options = options;
    w->launcher = assay_launcher(getenv);
    w->member.speaks = numbered_first(w);
    w->member.join = join;
    w->member.leave = leave;
    w->member.last_line = assay_job_lost;
    w->member.table = job_table;
    w->member.options = w;
    w->start_limit = ASSAY_JOB_START;
    w->watchdog = needs->watchdog;
    assay_hostname(w->job.host, sizeof(w->job.host));
    w->job.run = assay_start_member(argc, argv, program, options, &w->member);
    MPI_Bcast(&status, 1, MPI_INT, 0, w->job.comm);
    if (status != 0)
        quit(w, status);
    w->phase = RUNNING;
    assay_job_progress(&w->job, "finding out who is where");
    assay_job_facts(&w->job);
    assay_job_lost_watch(&w->job);
    if (w->job.rank == 0)
        assay_job_env(&w->job);
    warn_kernels(&w->job);
    return &w->job;
}

/*
 * While it runs.
 */
void assay_job_progress(struct assay_job *job, const char *what)
{
    double seconds = whole_of(job)->watchdog;

    if (seconds > 0.0 && job->rank != 0)
        seconds += OTHERS;
    assay_watch(job->run, seconds, what);
}

void assay_job_watch(struct assay_job *job, double seconds)
{
    whole_of(job)->watchdog = seconds;
}

void assay_job_fields(const struct assay_job *job, struct assay_fields *f)
{
    const struct assay_map *map = &job->map;

    assay_fields_count(f, "ranks", map->ranks);
    assay_fields_count(f, "nodes", map->nodes);
    if (job->kernels)
        assay_fields_count(f, "kernels", job->kernels);
    else
        assay_fields_text(f, "kernels", "unknown");
    if (map->ppn)
        assay_fields_count(f, "ppn", map->ppn);
    else
        assay_fields_text(f, "ppn", "uneven");
    assay_fields_text(f, "placement", map->placement);
}

/* Wrong data and instability that another rank found are the job's. */
static void gather_status(struct assay_job *job)
{
    struct {
        int severity, rank;
    } mine = {0, job->rank}, worst;
    enum assay_exit status = assay_status(job->run);
    char reason[64];

    mine.severity = status == ASSAY_WRONG ? 2 : status == ASSAY_UNSTABLE;
    MPI_Allreduce(&mine, &worst, 1, MPI_2INT, MPI_MAXLOC, job->comm);
    if (job->rank != 0 || worst.rank == 0 || worst.severity <= mine.severity)
        return;
    snprintf(reason, sizeof(reason), "found by rank %d", worst.rank);
    if (worst.severity == 2)
        assay_check_fact(job->run, "ranks.data", false, reason, NULL);
    else
        assay_unstable(job->run, reason);
}

int assay_job_finish(struct assay_job *job)
{
    struct whole *w = whole_of(job);
    MPI_Comm comm = job->comm;
    int status;

    assay_job_progress(job, "the end of all ranks");
    gather_status(job);
    assay_watch(job->run, 0, "");
    status = assay_finish(job->run);
    end_in_time(w, job->rank == 0 ? status : ASSAY_BROKEN);
    MPI_Bcast(&status, 1, MPI_INT, 0, comm);
    late_status = status;
    MPI_Comm_free(&job->node);
    MPI_Comm_free(&job->comm);
    MPI_Finalize();
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
    assay_map_free(&job->map);
    assay_job_lost_free();
    the_job = NULL;
    free(w);
    return status;
}
