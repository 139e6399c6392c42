/* peers.c - who talks to whom, from the map of ranks onto nodes. */
#include "config.h"

#include <stdio.h>

#include "smb/peers.h"

static uint64_t position_of(const struct layout *layout, size_t rank)
{
    const struct assay_map *map = layout->map;

    return map->first[map->node[rank]] + map->local[rank];
}

static int rank_at(const struct layout *layout, uint64_t position)
{
    return (int)layout->map->order[position];
}

int layout_real(struct layout *layout, const struct assay_map *map, char *error,
                size_t size)
{
    *layout = (struct layout){.map = map,
                              .ranks = map->ranks,
                              .nodes = map->nodes,
                              .ppn = map->size[0]};
    for (size_t n = 1; n < map->nodes; n++) {
        if (map->size[n] == map->size[0])
            continue;
        snprintf(error, size,
                 "%s has %zu ranks and %s has %zu: all nodes must have the "
                 "same number",
                 map->name[0], map->size[0], map->name[n], map->size[n]);
        return -1;
    }
    return 0;
}

int layout_mock(struct layout *layout, const struct assay_map *map,
                uint64_t ppn, char *error, size_t size)
{
    if (ppn == 0 || map->ranks % ppn != 0) {
        snprintf(error, size, "%zu ranks can't be cut into nodes of %llu",
                 map->ranks, (unsigned long long)ppn);
        return -1;
    }
    *layout = (struct layout){.map = map,
                              .ranks = map->ranks,
                              .nodes = map->ranks / ppn,
                              .ppn = ppn,
                              .mock = true};
    return 0;
}

int partner_of(const struct layout *layout, size_t rank, bool *sends)
{
    uint64_t half = layout->ranks / 2;
    uint64_t position = position_of(layout, rank);

    *sends = position < half;
    if (*sends)
        return rank_at(layout, position + half);
    return position < 2 * half ? rank_at(layout, position - half) : -1;
}

int peers_check(const struct layout *layout, uint64_t npeers, bool repeat,
                char *error, size_t size)
{
    if (layout->nodes < 2) {
        snprintf(error, size,
                 "all %llu ranks are on one node, and peers must be on others",
                 (unsigned long long)layout->ranks);
        return -1;
    }
    if (!repeat && npeers >= layout->nodes) {
        snprintf(error, size,
                 "%llu distinct peers on other nodes need %llu nodes, and "
                 "there are %llu",
                 (unsigned long long)npeers, (unsigned long long)npeers + 1,
                 (unsigned long long)layout->nodes);
        return -1;
    }
    return 0;
}

/* How many nodes on slot j of npeers sends, from the farthest below to the
 * farthest above; where there are too few nodes, distances begin anew at 1, so
 * that none is the node itself. */
static int64_t distance(const struct layout *layout, uint64_t npeers,
                        uint64_t j)
{
    uint64_t below = npeers / 2;
    uint64_t far = j < below ? below - j : j - below + 1;
    int64_t nodes = (int64_t)((far - 1) % (layout->nodes - 1)) + 1;

    return j < below ? -nodes : nodes;
}

/* The rank that sits so many nodes on, wrapping round. */
static int rank_beyond(const struct layout *layout, size_t rank, int64_t nodes)
{
    int64_t size = (int64_t)layout->ranks;
    int64_t position =
        (int64_t)position_of(layout, rank) + nodes * (int64_t)layout->ppn;

    return rank_at(layout, (uint64_t)((position % size + size) % size));
}

void peers_choose(const struct layout *layout, size_t rank, uint64_t npeers,
                  int *send_to, int *receive_from)
{
    for (uint64_t j = 0; j < npeers; j++) {
        int64_t nodes = distance(layout, npeers, j);

        send_to[j] = rank_beyond(layout, rank, nodes);
        receive_from[j] = rank_beyond(layout, rank, -nodes);
    }
}
