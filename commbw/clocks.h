/* clocks.h - times of several nodes on one clock, that of rank 0. */
#ifndef COMMBW_CLOCKS_H
#define COMMBW_CLOCKS_H

#include "lib/job.h"

/* How this rank's clock differs from rank 0's, once. */
struct clocks {
    double at;     /* s, on this rank's clock, when it was found out */
    double offset; /* s, to be added to this rank's times */
    double error;  /* s, at most: half of the shortest round trip; the same on
                      all ranks. 0 where all share a node, and so a clock */
};

/* Ping-pong between rank 0 and one rank of each other node. Collective. */
void clocks_compare(struct assay_job *job, struct clocks *clocks);

/* A time of this rank on rank 0's clock, by what was found out before and
 * after it: clocks drift. */
double clocks_common(const struct clocks *before, const struct clocks *after,
                     double time);

#endif
