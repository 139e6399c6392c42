/* ra.h - random updates of a table that is spread over the job, after HPCC's
 * RandomAccess: T[r & mask] ^= r. Options, plan, modes, report. */
#ifndef COMMBW_RA_H
#define COMMBW_RA_H

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
    int distribution; /* enum spread_kind */
    int kind;         /* enum window_kind */
    int atomic;       /* ATOMIC_... */
    uint64_t table;   /* words of the job */
    uint64_t updates; /* of the job; 0: 4 x table */
    uint64_t seed, tasks, trials, window, buffer;
    bool functional;
    double watchdog;
};

enum { ATOMIC_ACCUMULATE, ATOMIC_FETCH };
enum { RMO, AMO, AGGREGATED, MODES };
extern const char *const mode_words[];
extern const char *const atomic_words[];
extern const struct assay_program ra_program;

/* What MPI must bear of threads: all that they do, unless there is one. */
int ra_level(const void *options);

/* Updates first .. first + n - 1 of the job's: x(offset + first + 1) and on of
 * the stream. */
struct stretch {
    uint64_t first, n;
};

/* Part `number` of so many, which share the updates evenly. */
struct stretch stretch_of(uint64_t updates, uint64_t number, uint64_t of);

/* One task. */
struct task {
    struct ra *ra;
    uint64_t start;  /* the word of the stream before the first one */
    uint64_t n;      /* updates */
    uint64_t *word;  /* [window] random words whose updates are in flight, */
    uint64_t *value; /* [window] and what they fetched */
    struct word_at *at;
    struct exchange *exchange;
    uint64_t local, remote; /* updates of the last run */
};

/* Of this rank. */
struct ra {
    struct assay_job *job;
    const struct options *opt;
    struct paths moves, messages; /* what carries either */
    struct table table;
    uint64_t updates, mask;
    uint64_t offset; /* in the stream, by the seed */
    size_t tasks;
    struct task *task; /* [tasks] */
};

void ra_make(struct ra *ra, struct assay_job *job, const struct options *opt);
void ra_free(struct ra *ra);

/* Apply an update to this rank's own part, which other threads may update at
 * the same time. */
void ra_apply(struct ra *ra, uint64_t offset, uint64_t word);

/* What one mode does: work is timed, after is not. */
struct mode {
    assay_team_f *work, *after;
    /* Share that may be wrong of the table's entries, or of as many as there
     * are updates where those are fewer. */
    double tolerance;
};
extern const struct mode modes[MODES];

/* Words of each entry number i, before the updates. */
void ra_reset(struct ra *ra);

/* Undo all updates, by another way than they were made: every rank draws its
 * stretch anew, and the words go to their owners in collective messages. Then
 * count this rank's entries that are not what they were; *first is the number
 * of the first of them. Collective. */
uint64_t ra_undo(struct ra *ra, uint64_t *first);

/* What came of one mode; on rank 0. */
struct outcome {
    int mode;
    struct rates rates;
    double *wrong;          /* [trials] entries of the job */
    uint64_t first;         /* the first wrong entry of the first such trial */
    uint64_t local, remote; /* updates of one trial, of the job */
};

/* Keys of all lines of a mode; the caller frees them. */
struct assay_fields ra_keys(const struct ra *ra, int mode);

/* Warm up, then run the trials, each verified. */
void ra_measure(struct ra *ra, int mode, struct outcome *outcome);

/* Print it, and into the record. */
void ra_report(const struct ra *ra, const struct outcome *outcome);

#endif
