/* peers.c - who talks to whom, from the map of ranks onto nodes. */
#include "config.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "smb/peers.h"

/* Tables that a map is made from, by the caller's numbers of nodes. */
struct census {
    uint64_t *order; /* which node in order of lowest ranks; UINT64_MAX: none */
    uint64_t *count; /* ranks on it */
};

/* "n017", or "node 17" where there are no names. */
static const char *node_text(const char *const *names, int node, char *buf,
                             size_t size)
{
    if (names && names[node])
        snprintf(buf, size, "%s", names[node]);
    else
        snprintf(buf, size, "node %d", node);
    return buf;
}

static int count_nodes(struct census *census, struct peers_map *map,
                       const int *node_of, char *error, size_t size)
{
    for (uint64_t i = 0; i < map->ranks; i++)
        census->order[i] = UINT64_MAX;
    for (uint64_t rank = 0; rank < map->ranks; rank++) {
        int node = node_of[rank];

        if (node < 0 || (uint64_t)node >= map->ranks) {
            snprintf(error, size, "rank %llu is on node %d, which can't be",
                     (unsigned long long)rank, node);
            return -1;
        }
        if (census->order[node] == UINT64_MAX)
            census->order[node] = map->nodes++;
        census->count[node]++;
    }
    return 0;
}

/* Every node must bear as many ranks as that of rank 0. */
static int check_even(const struct census *census, struct peers_map *map,
                      const int *node_of, const char *const *names, char *error,
                      size_t size)
{
    char first[256], other[256];

    map->ppn = census->count[node_of[0]];
    for (uint64_t rank = 0; rank < map->ranks; rank++) {
        uint64_t count = census->count[node_of[rank]];

        if (count == map->ppn)
            continue;
        snprintf(error, size,
                 "%s has %llu ranks and %s has %llu: all nodes must have the "
                 "same number",
                 node_text(names, node_of[0], first, sizeof(first)),
                 (unsigned long long)map->ppn,
                 node_text(names, node_of[rank], other, sizeof(other)),
                 (unsigned long long)count);
        return -1;
    }
    return 0;
}

/* Positions in the order of nodes, and of ranks on each. */
static void number_ranks(struct census *census, struct peers_map *map,
                         const int *node_of)
{
    memset(census->count, 0, map->ranks * sizeof(*census->count));
    for (uint64_t rank = 0; rank < map->ranks; rank++) {
        int node = node_of[rank];
        uint64_t position =
            census->order[node] * map->ppn + census->count[node]++;

        map->position_of[rank] = (int)position;
        map->rank_at[position] = (int)rank;
    }
}

static int make(struct census *census, struct peers_map *map,
                const int *node_of, const char *const *names, char *error,
                size_t size)
{
    if (!census->order || !census->count || !map->rank_at ||
        !map->position_of) {
        snprintf(error, size, "no memory for a map of %llu ranks",
                 (unsigned long long)map->ranks);
        return -1;
    }
    if (count_nodes(census, map, node_of, error, size) < 0 ||
        check_even(census, map, node_of, names, error, size) < 0)
        return -1;
    number_ranks(census, map, node_of);
    return 0;
}

int peers_map_make(struct peers_map *map, const int *node_of, uint64_t ranks,
                   const char *const *names, char *error, size_t size)
{
    struct census census;
    int result;

    memset(map, 0, sizeof(*map));
    if (ranks == 0 || ranks > INT_MAX) {
        snprintf(error, size, "%llu ranks can't be mapped",
                 (unsigned long long)ranks);
        return -1;
    }
    map->ranks = ranks;
    map->rank_at = calloc(ranks, sizeof(*map->rank_at));
    map->position_of = calloc(ranks, sizeof(*map->position_of));
    census.order = calloc(ranks, sizeof(*census.order));
    census.count = calloc(ranks, sizeof(*census.count));
    result = make(&census, map, node_of, names, error, size);
    free(census.order);
    free(census.count);
    if (result < 0)
        peers_map_free(map);
    return result;
}

int peers_map_mock(struct peers_map *map, uint64_t ppn, char *error,
                   size_t size)
{
    if (ppn == 0 || map->ranks % ppn != 0) {
        snprintf(error, size, "%llu ranks can't be cut into nodes of %llu",
                 (unsigned long long)map->ranks, (unsigned long long)ppn);
        return -1;
    }
    map->ppn = ppn;
    map->nodes = map->ranks / ppn;
    return 0;
}

void peers_map_free(struct peers_map *map)
{
    free(map->rank_at);
    free(map->position_of);
    memset(map, 0, sizeof(*map));
}

uint64_t peers_node(const struct peers_map *map, uint64_t position)
{
    return position / map->ppn;
}

int peers_partner(const struct peers_map *map, int rank, bool *sends)
{
    uint64_t half = map->ranks / 2;
    uint64_t position = (uint64_t)map->position_of[rank];

    *sends = position < half;
    if (*sends)
        return map->rank_at[position + half];
    return position < 2 * half ? map->rank_at[position - half] : -1;
}

int peers_check(const struct peers_map *map, uint64_t npeers, bool repeat,
                char *error, size_t size)
{
    if (map->nodes < 2) {
        snprintf(error, size,
                 "all %llu ranks are on one node: peers must be on others",
                 (unsigned long long)map->ranks);
        return -1;
    }
    if (!repeat && npeers >= map->nodes) {
        snprintf(error, size,
                 "%llu distinct peers on other nodes need %llu nodes, and "
                 "there are %llu",
                 (unsigned long long)npeers, (unsigned long long)npeers + 1,
                 (unsigned long long)map->nodes);
        return -1;
    }
    return 0;
}

/* How many nodes on slot j of npeers sends, from the farthest below to the
 * farthest above; where there are too few nodes, distances begin anew at 1, so
 * that none is the node itself. */
static int64_t distance(const struct peers_map *map, uint64_t npeers,
                        uint64_t j)
{
    uint64_t below = npeers / 2;
    uint64_t far = j < below ? below - j : j - below + 1;
    int64_t nodes = (int64_t)((far - 1) % (map->nodes - 1)) + 1;

    return j < below ? -nodes : nodes;
}

/* The rank that sits so many nodes on, wrapping round. */
static int rank_beyond(const struct peers_map *map, int rank, int64_t nodes)
{
    int64_t size = (int64_t)map->ranks;
    int64_t position = map->position_of[rank] + nodes * (int64_t)map->ppn;

    return map->rank_at[(position % size + size) % size];
}

void peers_choose(const struct peers_map *map, int rank, uint64_t npeers,
                  int *send_to, int *receive_from)
{
    for (uint64_t j = 0; j < npeers; j++) {
        int64_t nodes = distance(map, npeers, j);

        send_to[j] = rank_beyond(map, rank, nodes);
        receive_from[j] = rank_beyond(map, rank, -nodes);
    }
}
