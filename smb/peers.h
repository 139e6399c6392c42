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

struct peers_map {
    uint64_t ranks, nodes, ppn;
    int *rank_at;     /* [position] rank */
    int *position_of; /* [rank] position */
};

/* Renumber ranks by node_of[rank], any numbers from 0 to ranks - 1; nodes are
 * taken in the order of their lowest rank. All nodes must bear the same number
 * of ranks. Returns 0, or -1 with a sentence in error, which calls nodes by
 * names[node_of] (NULL: by number). Free with peers_map_free. */
int peers_map_make(struct peers_map *map, const int *node_of, uint64_t ranks,
                   const char *const *names, char *error, size_t size);

/* Cut the positions of a map anew into nodes of ppn ranks, which there are not:
 * mock nodes, for jobs that only show that the program works. Returns 0, or -1
 * with a sentence in error where ppn does not divide the ranks. */
int peers_map_mock(struct peers_map *map, uint64_t ppn, char *error,
                   size_t size);
void peers_map_free(struct peers_map *map);

/* Node (in the map's order) of a position. */
uint64_t peers_node(const struct peers_map *map, uint64_t position);

/* The partner of a rank in the single-direction pattern: half the job away,
 * lower half to upper half; never on the same node if there are two. Returns
 * its rank, or -1 for the last of an odd number of ranks, which is idle. Sets
 * *sends for the lower half. */
int peers_partner(const struct peers_map *map, int rank, bool *sends);

/* Why npeers can't be had on this map, in error; or 0 where they can. Distinct
 * peers on other nodes need more nodes than peers; repeated ones, two nodes. */
int peers_check(const struct peers_map *map, uint64_t npeers, bool repeat,
                char *error, size_t size);

/* Fill send_to[npeers] and receive_from[npeers] for one rank. Slot j sends to
 * a rank whose slot j receives from this one. Half of the peers sit below, half
 * above; the extra one of an odd number is above for sends, below for
 * receives. peers_check must have allowed it. */
void peers_choose(const struct peers_map *map, int rank, uint64_t npeers,
                  int *send_to, int *receive_from);

#endif
