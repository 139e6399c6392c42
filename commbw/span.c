/* span.c - from starts and ends of ranks to the time of a node. */
#include "config.h"

#include <stdbool.h>

#include "commbw/span.h"

void spans_to_seconds(const struct assay_map *map, const struct span *span,
                      double *seconds)
{
    for (size_t n = 0; n < map->nodes; n++) {
        const size_t *rank = map->order + map->first[n];
        double start = 0.0, end = 0.0;
        bool any = false;

        for (size_t i = 0; i < map->size[n]; i++) {
            const struct span *s = &span[rank[i]];

            if (!s->active)
                continue;
            start = any && start < s->start ? start : s->start;
            end = any && end > s->end ? end : s->end;
            any = true;
        }
        seconds[n] = end - start;
    }
}
