/* gather.h - indexgather: words from random places of a table that is spread
 * over the job: to[i] = table[index[i]]. Options, plan, modes, report. */
#ifndef COMMBW_GATHER_H
#define COMMBW_GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "commbw/exchange.h"
#include "commbw/messages.h"
#include "commbw/paths.h"
#include "commbw/rates.h"
#include "commbw/table.h"
#include "lib/assay.h"
#include "lib/job.h"

struct options {
    int mode;         /* index of modes[], or MODES for all */
    int gatherers;    /* GATHER_... */
    int distribution; /* enum spread_kind */
    int kind;         /* enum window_kind */
    uint64_t table, updates, seed, tasks, trials, window, buffer;
    bool functional;
    double watchdog;
};

enum { GATHER_ONE, GATHER_ALL };
enum { ORDERED, UNORDERED, AGGREGATED, MODES };
extern const char *const mode_words[];
extern const char *const gatherers_words[];
extern const struct assay_program indexgather_program;

/* What MPI must bear of threads: all that they do, unless there is one. */
int gather_level(const void *options);

/* One task: a thread with indices of its own. */
struct task {
    struct gather *gather;
    uint64_t *index, *to; /* [updates], or NULL: it gathers nothing */
    struct exchange *exchange;
    uint64_t local, remote; /* accesses of the last run */
};

/* Of this rank. */
struct gather {
    struct assay_job *job;
    const struct options *opt;
    struct paths moves, messages; /* what carries either */
    struct table table;
    size_t tasks;
    bool gathers;
    struct task *task; /* [tasks] */
};

/* From options to a table that is filled and tasks that know their indices.
 * What can't be done ends the job. Writes the opt line. */
void gather_make(struct gather *g, struct assay_job *job,
                 const struct options *opt);
void gather_free(struct gather *g);

/* Tasks of the job that gather. */
double gather_tasks(const struct gather *g);

/* What one mode does: work is timed, after is not. */
struct mode {
    assay_team_f *work, *after;
};
extern const struct mode modes[MODES];

/* What came of one mode; on rank 0. */
struct outcome {
    int mode;
    struct rates rates;
    uint64_t wrong, local, remote; /* of the job; accesses of one trial */
    char first[160];               /* which one is wrong; or "" */
};

/* Keys of all lines of a mode; the caller frees them. */
struct assay_fields gather_keys(const struct gather *g, int mode);

/* Warm up, then run the trials, each verified. */
void gather_measure(struct gather *g, int mode, struct outcome *outcome);

/* Print it, and into the record. */
void gather_report(const struct gather *g, const struct outcome *outcome);

#endif
