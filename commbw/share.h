/* share.h - a rank's part of CPUs that several ranks may use: where nobody has
 * bound ranks, each takes cores of its own, or their threads would meet. */
#ifndef COMMBW_SHARE_H
#define COMMBW_SHARE_H

#include <stddef.h>

#include "lib/topology.h"

/* Part `number` of `of` even parts, by cores in order, each of one core at
 * least; of 1: all of it. Caches are divided likewise. Returns 0, or -1 with
 * errno ENOMEM. Free out->cpus alone: the rest is the machine's. */
int share_take(const struct assay_topology *machine, size_t number, size_t of,
               struct assay_topology *out);

#endif
