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

/* The job's time of a trial: from the earliest start to the latest end of all,
 * on one clock. */
double rates_seconds(const struct rates *r, size_t trial);

/* Rates of all trials: of a node, or of the job (node NULL); returns false
 * where a clock stood still, which is no rate. */
bool rates_of(const struct rates *r, const size_t *node, double *rate);

/* Metric and sample lines, per task (of the job's rate), node and job, each
 * with the keys; the figure is the best. Returns false, having said that there
 * is no honest figure, where a time is too short for the clock. */
bool rates_write(const struct rates *r, const struct assay_fields *keys);

/* The node with the lowest median rate; only after rates_write said true. */
size_t rates_slowest(const struct rates *r, double *median);

#endif
