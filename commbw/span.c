/* span.c - from starts and ends of ranks to the times of nodes and of the job. */
#include "config.h"

#include <stdbool.h>

#include "commbw/span.h"

/* Both, from the earliest start to the latest end. */
static void widen(struct span *all, const struct span *one)
{
    if (!one->active)
        return;
    if (!all->active || one->start < all->start)
        all->start = one->start;
    if (!all->active || one->end > all->end)
        all->end = one->end;
    all->active = true;
}

void spans_to_seconds(const struct assay_map *map, const struct span *span,
                      double *seconds)
{
    struct span job = {0};

    for (size_t n = 0; n < map->nodes; n++) {
        const size_t *rank = map->order + map->first[n];
        struct span node = {0};

        for (size_t i = 0; i < map->size[n]; i++)
            widen(&node, &span[rank[i]]);
        widen(&job, &node);
        seconds[n] = node.end - node.start;
    }
    seconds[map->nodes] = job.end - job.start;
}
