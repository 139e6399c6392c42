/* plan.h - what a run will do: the options, and all that follows from them
 * and from the machine. */
#ifndef STREAM_PLAN_H
#define STREAM_PLAN_H

#include "lib/kernels.h"
#include "lib/team.h"
#include "stream/options.h"

struct plan {
    struct assay_run *run;
    struct options *opt;                   /* with every default filled in */
    const struct assay_topology *topology; /* the run's */
    struct assay_clock clock;
    struct assay_kernels kernels;
    bool write_allocate; /* counted */
    bool given_elements; /* by the user */
    uint64_t cut_from;   /* elements that memory did not allow, or 0 */
    struct assay_memory memory;
    size_t threads_counted; /* of those asked for */
    char host[256];
};

/* Fill in the defaults, refuse what contradicts itself, warn of what makes a
 * figure doubtful, and write the opt line. Never fails back. */
void stream_plan(struct plan *plan, struct assay_run *run, struct options *opt);

/* Elements of one array that fill `factor` outermost caches. */
uint64_t stream_elements(const struct plan *plan, unsigned factor);

/* Bytes of one array of n elements. */
uint64_t stream_bytes(const struct plan *plan, uint64_t n);

/* End the run unless three arrays of n elements fit. */
void stream_need(const struct plan *plan, uint64_t n);

#endif
