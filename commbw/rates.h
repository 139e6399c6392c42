/* rates.h - from the times of trials to rates of tasks, nodes and the job.
 *
 *     rates_make(&rates, job, "rate", "MB/s", trials);
 *     ... amount, tasks, and for each trial rates_next ...
 *     rates_gather(&rates);
 *
 * Those three are every rank's, the rest is rank 0's alone. */
#ifndef COMMBW_RATES_H
#define COMMBW_RATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "commbw/clocks.h"
#include "commbw/span.h"
#include "lib/job.h"
#include "lib/record.h"

struct rates {
    struct assay_job *job;
    const char *name, *unit; /* of the metric: "rate", "MB/s" */
    size_t trials, done;
    struct span *mine;    /* [trials] of this rank */
    struct clocks before; /* how nodes' clocks differed before all trials */
    double clock_error;   /* s, on one clock; 0 on one node */
    double *seconds;      /* [trial * (nodes + 1) + node], the job's behind */
    double *amount; /* [nodes] units that the node does in a trial; 0: it takes
                        no part */
    double tasks;   /* of the job that take part */
};

/* Room for so many trials. Ends the job where there is no memory. Collective. */
void rates_make(struct rates *r, struct assay_job *job, const char *name,
                const char *unit, size_t trials);
void rates_free(struct rates *r);

/* Where the times of this rank's next trial go, which is counted. */
struct span *rates_next(struct rates *r);

/* Behind the last trial: the seconds of each, to rank 0. Collective. */
void rates_gather(struct rates *r);

/* Check that each of the accesses of a trial (WHAT: "updates"), so many in all,
 * was counted once, as one to this rank's own words or to another's:
 * MODE.accesses. */
void rates_check_accesses(const struct rates *r, const char *mode,
                          const char *what, uint64_t local, uint64_t remote,
                          uint64_t all, const struct assay_fields *keys);

/* Metric and sample lines, per task (of the job's rate), node and job, each
 * with the keys; the figure is the best. Returns false, having said that there
 * is no honest figure, where a time is too short for the clock. */
bool rates_write(const struct rates *r, const struct assay_fields *keys);

/* Print seconds and rates, with so many digits, of the job and of the slowest
 * node, and of a task where that is asked for; only after rates_write said
 * true. */
void rates_print(const struct rates *r, int digits, bool of_task);

#endif
