/* span.h - from starts and ends of ranks to the times of nodes and of the job.
 * Pure. */
#ifndef COMMBW_SPAN_H
#define COMMBW_SPAN_H

#include "lib/map.h"

/* The earliest start and the latest end of one rank's tasks. */
struct span {
    double start, end;
    int active; /* else it took no part */
};

/* seconds[node]: latest end less earliest start of its active ranks; 0 where
 * there is none. Behind the nodes, seconds[nodes]: the same of all ranks, which
 * asks for times on one clock. span[] is by rank. */
void spans_to_seconds(const struct assay_map *map, const struct span *span,
                      double *seconds);

#endif
