/* job.h - libassaympi: the job as MPI sees it, from argv to the exit status.
 *
 *     struct options opt = {...defaults...};
 *     struct assay_job *job = assay_job_start(argc, argv, &program, &opt,
 *                                             &needs);
 *     measure(job, &opt);
 *     return assay_job_finish(job);
 *
 * Every rank runs the same lines. Rank 0 alone has the record, prints and
 * warns: what the others found out is gathered to it first (on other ranks
 * assay_metric and its like write nothing). All ranks exit with one status.
 * An error of MPI ends the job as broken, so calls need no check. */
#ifndef ASSAY_JOB_H
#define ASSAY_JOB_H

#include <mpi.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/map.h"
#include "lib/run.h"

/* What a program can't do without. */
struct assay_needs {
    int least;        /* ranks, at least */
    bool even;        /* an even number of them */
    int thread_level; /* MPI_THREAD_SINGLE and up; less than it is broken */
    int (*level_for)(const void *options); /* the same where it hangs on the
                                              options; or NULL */
    double watchdog; /* s without progress that end the job; 0: none */
};

#define ASSAY_JOB_START 120.0 /* s that MPI's start may take by default */

struct assay_job {
    struct assay_run *run; /* never NULL; lines are rank 0's alone */
    MPI_Comm comm;         /* all ranks, ours alone */
    MPI_Comm node;         /* the ranks of this node, in their order */
    int rank, size;
    struct assay_map map; /* who is on which node; the same on all ranks */
    size_t kernels;       /* that run these nodes, 0 where one is not known;
                             fewer than nodes: some are containers or name
                             spaces of one machine */
    size_t cpus;          /* that the ranks of this node may use, together */
    char host[256];       /* of this rank, as records name it */
    char library[64];     /* "Open MPI 4.1.4", as it is at run time */
    char transport[256];  /* what the library tells of it, or "unknown" */
};

/* Parse, join the job, open the record (on rank 0), find out who is where.
 * --help, --version and bad options end the program before MPI starts, and
 * where a launcher numbers processes, only number 0 speaks. Adds --start-limit
 * to the program's options: MPI that has not started by then, since a rank ended
 * before it or a node is lost, ends the process. Ends the job,
 * with one message, where MPI's size is not what the launcher says (N programs
 * that each believe to be alone: 99), and where there are not the ranks that
 * the program needs (2). Every rank exits with the same status. */
struct assay_job *assay_job_start(int argc, char **argv,
                                  const struct assay_program *program,
                                  void *options,
                                  const struct assay_needs *needs);

/* End now what can't go on for a reason that every rank knows and finds at the
 * same place: all of them call this. Rank 0 speaks, all exit with status. What
 * one rank alone finds it ends with assay_die(job->run, ...), which names rank
 * and host, and ends the job on all ranks. */
_Noreturn void assay_job_refuse(struct assay_job *job, enum assay_exit status,
                                const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Refuse to take more memory than a node has: `bytes` are this rank's, and an
 * eighth of what may be had is left. `what` opens the message, of the first rank
 * whose node lacks it. Collective. */
void assay_job_need(struct assay_job *job, uint64_t bytes, const char *what);

/* Watchdog: this rank gets on. Each call gives it needs->watchdog more seconds
 * (or those of assay_job_watch) for what comes next; `what` ("msgsize=8 recv")
 * stands in the message and the end line if that does not end in time: status
 * timeout, and the record keeps what was finished. A system call, so not for
 * the inside of timed sections. */
void assay_job_progress(struct assay_job *job, const char *what);
void assay_job_watch(struct assay_job *job, double seconds); /* 0: never */

/* Keys of the job for the opt line: ranks, nodes, kernels (or "unknown"), ppn (or
 * "uneven"), placement. */
void assay_job_fields(const struct assay_job *job, struct assay_fields *f);

/* Close the record and stdout, then leave MPI, which may hang in that: after
 * some seconds the program exits without it. Frees everything. Returns the
 * exit status, that of rank 0's run on every rank. */
int assay_job_finish(struct assay_job *job);

#endif
