/* rates.h - from the seconds of trials to rates of tasks, nodes and the job.
 * Rank 0's affair alone. */
#ifndef COMMBW_RATES_H
#define COMMBW_RATES_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/job.h"
#include "lib/record.h"

struct rates {
    const struct assay_job *job;
    const char *name, *unit; /* of the metric: "rate", "MB/s" */
    size_t trials, done;
    double *seconds; /* [trial * nodes + node] */
    double *amount;  /* [nodes] units that the node does in a trial; 0: it takes
                        no part */
    double tasks;    /* of the job that take part */
};

/* Room for so many trials. Ends the job where there is no memory. */
void rates_make(struct rates *r, const struct assay_job *job, const char *name,
                const char *unit, size_t trials);
void rates_free(struct rates *r);

/* Seconds of the next trial: write them there, then count it. */
double *rates_next(struct rates *r);

/* The longest of its nodes is the job's time of a trial. */
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
