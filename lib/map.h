/* map.h - which rank is on which node: plain arrays, so that any job can be
 * made up in a test. Needs no MPI. */
#ifndef ASSAY_MAP_H
#define ASSAY_MAP_H

#include <stddef.h>

struct assay_map {
    size_t ranks, nodes;
    size_t *node;  /* [ranks] node of the rank: nodes are numbered by their
                          lowest rank */
    size_t *local; /* [ranks] which of its node's ranks it is, from 0, in
                          the order of ranks */
    size_t *size;  /* [nodes] ranks on the node */
    size_t *first; /* [nodes] index in order of its local rank 0 */
    size_t *order; /* [ranks] ranks by node, then by local rank:
                          order[first[n] + l] is local rank l of node n */
    char **name;   /* [nodes] host name */
    size_t ppn;    /* ranks on every node, or 0 where they differ */
    const char *placement; /* "block", "cyclic" or "arbitrary" */
};

/* Build the map of n ranks: those with equal group[rank] share a node; host[]
 * names each rank's host, or is NULL ("node0", ...). Returns 0; or -1 with
 * errno EINVAL (n = 0), ENOMEM. Free with assay_map_free. */
int assay_map_build(struct assay_map *map, size_t n, const size_t *group,
                    const char *const *host);

/* Join groups whose ranks bear equal keys: group[] is rewritten so that equal
 * numbers stand for what is connected by either. Returns 0, or -1 (ENOMEM). */
int assay_map_merge(size_t n, size_t *group, const char *const *key);

void assay_map_free(struct assay_map *map);

#endif
