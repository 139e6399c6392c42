/* run.h - one run of a program: from argv to the exit status.
 *
 *     struct options opt = {...defaults...};
 *     struct assay_run *run = assay_start(argc, argv, &program, &opt);
 *     measure(run, &opt);
 *     return assay_finish(run);
 *
 * Setting up never fails back to the caller: what can't go on ends the
 * program with one line on stderr, `program: what: why`, an end line in the
 * record that bears the same reason, and one of the statuses below. So timed
 * regions hold no error paths. */
#ifndef ASSAY_RUN_H
#define ASSAY_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/option.h"
#include "lib/record.h"
#include "lib/topology.h"

enum assay_exit {
    ASSAY_OK = 0,       /* a valid measurement */
    ASSAY_WRONG = 1,    /* the data is wrong */
    ASSAY_USAGE = 2,    /* bad option */
    ASSAY_UNSTABLE = 3, /* no honest figure */
    ASSAY_NOTRUN = 77,  /* can't run here */
    ASSAY_BROKEN = 99,  /* no memory, disk full, mismatch */
};

struct assay_program {
    const char *name;    /* as in metric names: "stream" */
    const char *bench;   /* that name, where the program has another; or NULL */
    const char *summary; /* one sentence of --help */
    const struct assay_option *table;
    const char *notes; /* closing lines of --help, or NULL */
};

struct assay_run;

/* Parse argv, create the record where --record=FILE asks for one, write its
 * record and env lines. --help and --version print and exit 0; a usage error
 * exits 2, and so does a record that exists. Adds --record, --quiet, --help
 * (-h) and --version (-V) to the table, whose own letters win; a row of type
 * ASSAY_HELP gives --help another letter.
 *
 * From here on a signal that ends the program writes the end line first:
 * SIGTERM, SIGXCPU and SIGALRM as timeout, SIGINT, SIGHUP, SIGQUIT and SIGPIPE
 * as failed; the program then dies of the signal. */
struct assay_run *assay_start(int argc, char **argv,
                              const struct assay_program *program,
                              void *options);

/* Seconds that a silent process which can't go on gives the one that speaks, to
 * say why before the launcher ends it. */
enum { ASSAY_SPEECH = 1 };

/* A process of a job of several. This library knows no MPI: lib/job.h does, and
 * gives these to assay_start_member, which else does what assay_start does. */
struct assay_member {
    bool speaks; /* has the record, prints and warns; others speak only where
                    they end the job, or find wrong data. join may change it */
    const char *place; /* "rank 3 on n007", which opens messages; or NULL */
    /* Join the job: the command line is valid, nothing is created yet. May end
     * the program. Or NULL. */
    void (*join)(struct assay_member *member, struct assay_run *run);
    /* End the job on all its processes: the last thing that assay_die does, the
     * record being closed. Where it returns the process exits. Or NULL. */
    void (*leave)(struct assay_member *member, int status);
    /* Called in a signal handler: the end line, "end status=failed ...\n", of a
     * record that this signal ends, or NULL for the usual one. Or NULL. */
    const char *(*last_line)(int number);
    const struct assay_option
        *table;    /* options of all such programs; or NULL */
    void *options; /* that it describes */
};

struct assay_run *assay_start_member(int argc, char **argv,
                                     const struct assay_program *program,
                                     void *options,
                                     struct assay_member *member);

/* Append a line of another kind, or an env line of further facts; readers ignore
 * kinds and keys that they don't know. Frees the fields. */
void assay_line(struct assay_run *run, const char *kind,
                struct assay_fields *fields);

/* Give what comes next so many seconds: if assay_watch is not called again
 * before, the program says `no progress within 60 s: what`, on stderr and as
 * `end status=timeout`, and dies of SIGALRM. 0 ends the watch. */
void assay_watch(struct assay_run *run, double seconds, const char *what);

/* Write the opt line: the table's values as they stand now, then `more` (may
 * be NULL), which holds what was derived from them. Once, before measuring. */
void assay_opt(struct assay_run *run, const struct assay_fields *more);

bool assay_quiet(const struct assay_run *run); /* print nothing on stdout */

/* The machine that assay_start found, owned by the run. Where it is a recorded
 * one (HWLOC_XMLFILE, HWLOC_SYNTHETIC), every metric bears functional=yes, and
 * so satisfies no clause. */
const struct assay_topology *assay_machine(const struct assay_run *run);

/* Say something a reader must know: a line `program: warning: ...` on stderr
 * and `warning text="..."` in the record. */
void assay_warn(struct assay_run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Data check: ok only if error <= tolerance, which NaN is not. A failed one
 * makes the run wrong: the program goes on, and finishes with ASSAY_WRONG.
 * keys tell which measurement was checked (may be NULL). Returns ok. */
bool assay_check(struct assay_run *run, const char *name, double error,
                 double tolerance, const struct assay_fields *keys);

/* A check that is a fact rather than a number; why is kept in the record. */
bool assay_check_fact(struct assay_run *run, const char *name, bool ok,
                      const char *why, const struct assay_fields *keys);

struct assay_metric {
    const char *name, *unit;
    bool lower_is_better; /* best is the minimum: times */
    bool value_is_median; /* value is the best unless this is set */
    const double *value;  /* value itself, where the original's is neither of
                             these (a mean); or NULL */
    const double *samples;
    size_t n;
};

/* Write the metric line and the sample line of one measurement. keys tell
 * where and how (host=, threads=, ...). Samples that are none (n = 0) or not
 * finite end the run as broken: a non-finite number is never written. */
void assay_metric(struct assay_run *run, const struct assay_metric *metric,
                  const struct assay_fields *keys);

/* What could not be measured, in a run that goes on: notrun host= reason=.
 * host is this one unless keys have it. */
void assay_notrun(struct assay_run *run, const char *reason,
                  const struct assay_fields *keys);

/* The run has no honest figure; it goes on, and finishes with
 * ASSAY_UNSTABLE unless data is wrong too. */
void assay_unstable(struct assay_run *run, const char *reason);

/* End now: message, end line, status. Never returns. */
_Noreturn void assay_die(struct assay_run *run, enum assay_exit status,
                         const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Zeroed memory for n things of `size` bytes, which free frees: never NULL, since
 * without it the run ends as broken, "no memory for WHAT". */
void *assay_room(struct assay_run *run, size_t n, size_t size,
                 const char *what);

/* What assay_finish would return now: ASSAY_OK, _WRONG or _UNSTABLE. */
enum assay_exit assay_status(const struct assay_run *run);

/* Write the end line, close record and stdout (a full disk is noticed here),
 * free everything; returns the exit status. */
int assay_finish(struct assay_run *run);

#endif
