/* peers.h - who talks to whom, from the map of ranks onto nodes. Pure: no MPI.
 *
 * Ranks are renumbered by node and by their order on it, so that a placement
 * in blocks, a cyclic one and any other lead to the same pattern: position
 * p sits on node p / ppn, and p + k * ppn, modulo the size, sits k nodes on. */
#ifndef SMB_PEERS_H
#define SMB_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/map.h"

struct layout {
    const struct assay_map *map;
    uint64_t ranks, nodes, ppn; /* ranks = nodes * ppn */
    bool mock;                  /* the nodes are made up */
};

/* The map's own nodes, which must all bear the same number of ranks. Returns
 * 0, or -1 with a sentence in error that names two that do not. */
int layout_real(struct layout *layout, const struct assay_map *map, char *error,
                size_t size);

/* Nodes of ppn ranks, which there are not: for jobs that only show that the
 * program works. Returns 0, or -1 with a sentence in error where ppn does not
 * divide the ranks. */
int layout_mock(struct layout *layout, const struct assay_map *map,
                uint64_t ppn, char *error, size_t size);

/* The partner of a rank in the single-direction pattern: half the job away,
 * lower half to upper half; never on the same node if there are two. Returns
 * its rank, or -1 for the last of an odd number of ranks, which is idle. Sets
 * *sends for the lower half. */
int partner_of(const struct layout *layout, size_t rank, bool *sends);

/* Can every rank have so many peers? Distinct ones on other nodes need more
 * nodes than peers; repeated ones, two nodes. Returns 0, or -1 with a sentence
 * in error. */
int peers_check(const struct layout *layout, uint64_t npeers, bool repeat,
                char *error, size_t size);

/* Fill send_to[npeers] and receive_from[npeers] for one rank. Slot j sends to
 * a rank whose slot j receives from this one. Half of the peers sit below, half
 * above; the extra one of an odd number is above for sends, below for
 * receives. peers_check must have allowed it. */
void peers_choose(const struct layout *layout, size_t rank, uint64_t npeers,
                  int *send_to, int *receive_from);

#endif
