/* map.c - which rank is on which node. */
#include "config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/map.h"

enum { NO_HOST_MOST = 32 };

/* A rank and what it is sorted by. */
struct seat {
    size_t rank, group;
    const char *key;
};

static int by_group(const void *a, const void *b)
{
    const struct seat *x = a, *y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static int by_key(const void *a, const void *b)
{
    const struct seat *x = a, *y = b;
    int order = strcmp(x->key, y->key);

    if (order != 0)
        return order;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static struct seat *seats_new(size_t n, const size_t *group,
                              const char *const *key)
{
    struct seat *seat = calloc(n, sizeof(*seat));

    for (size_t r = 0; seat && r < n; r++) {
        seat[r].rank = r;
        seat[r].group = group[r];
        seat[r].key = key ? key[r] : NULL;
    }
    return seat;
}

/* Rewrite group[] to the lowest rank that bears the same number. */
static int groups_lowest(size_t n, size_t *group)
{
    struct seat *seat = seats_new(n, group, NULL);

    if (!seat)
        return -1;
    qsort(seat, n, sizeof(*seat), by_group);
    for (size_t i = 0, lowest = 0; i < n; i++) {
        if (i == 0 || seat[i].group != seat[i - 1].group)
            lowest = seat[i].rank;
        group[seat[i].rank] = lowest;
    }
    free(seat);
    return 0;
}

/* The lowest rank connected with r; on the way to it every step is halved. */
static size_t root(size_t *group, size_t r)
{
    while (group[r] != r) {
        group[r] = group[group[r]];
        r = group[r];
    }
    return r;
}

static void join(size_t *group, size_t r, size_t s)
{
    r = root(group, r);
    s = root(group, s);
    if (r < s)
        group[s] = r;
    else
        group[r] = s;
}

int assay_map_merge(size_t n, size_t *group, const char *const *key)
{
    struct seat *seat;

    if (n == 0)
        return 0;
    if (groups_lowest(n, group) < 0)
        return -1;
    seat = seats_new(n, group, key);
    if (!seat)
        return -1;
    qsort(seat, n, sizeof(*seat), by_key);
    for (size_t i = 1; i < n; i++)
        if (strcmp(seat[i].key, seat[i - 1].key) == 0)
            join(group, seat[i - 1].rank, seat[i].rank);
    for (size_t r = 0; r < n; r++)
        group[r] = root(group, r);
    free(seat);
    return 0;
}

static int map_alloc(struct assay_map *map, size_t n)
{
    map->ranks = n;
    map->node = calloc(n, sizeof(*map->node));
    map->local = calloc(n, sizeof(*map->local));
    map->size = calloc(n, sizeof(*map->size));
    map->first = calloc(n, sizeof(*map->first));
    map->order = calloc(n, sizeof(*map->order));
    map->name = calloc(n, sizeof(*map->name));
    if (map->node && map->local && map->size && map->first && map->order &&
        map->name)
        return 0;
    return -1;
}

static char *name_new(const char *host, size_t node)
{
    char *name;

    if (host)
        return strdup(host);
    name = malloc(NO_HOST_MOST);
    if (name)
        snprintf(name, NO_HOST_MOST, "node%zu", node);
    return name;
}

/* Nodes by their lowest rank, which is what a group is called here. */
static int number_nodes(struct assay_map *map, const size_t *lowest,
                        const char *const *host)
{
    for (size_t r = 0; r < map->ranks; r++) {
        size_t node = lowest[r] == r ? map->nodes++ : map->node[lowest[r]];

        map->node[r] = node;
        map->local[r] = map->size[node]++;
        if (lowest[r] != r)
            continue;
        map->name[node] = name_new(host ? host[r] : NULL, node);
        if (!map->name[node])
            return -1;
    }
    return 0;
}

static void put_in_order(struct assay_map *map)
{
    for (size_t node = 1; node < map->nodes; node++)
        map->first[node] = map->first[node - 1] + map->size[node - 1];
    for (size_t r = 0; r < map->ranks; r++)
        map->order[map->first[map->node[r]] + map->local[r]] = r;
    map->ppn = map->size[0];
    for (size_t node = 1; node < map->nodes; node++)
        if (map->size[node] != map->size[0])
            map->ppn = 0;
}

static const char *placement(const struct assay_map *map)
{
    bool block = true, cyclic = true;

    for (size_t r = 0; r < map->ranks; r++) {
        block &= map->order[r] == r;
        cyclic &= map->node[r] == r % map->nodes;
    }
    return block ? "block" : cyclic ? "cyclic" : "arbitrary";
}

int assay_map_build(struct assay_map *map, size_t n, const size_t *group,
                    const char *const *host)
{
    size_t *lowest;
    int result = -1;

    *map = (struct assay_map){0};
    if (n == 0) {
        errno = EINVAL;
        return -1;
    }
    lowest = calloc(n, sizeof(*lowest));
    if (lowest) {
        memcpy(lowest, group, n * sizeof(*lowest));
        if (groups_lowest(n, lowest) == 0 && map_alloc(map, n) == 0 &&
            number_nodes(map, lowest, host) == 0)
            result = 0;
    }
    free(lowest);
    if (result < 0) {
        assay_map_free(map);
        errno = ENOMEM;
        return -1;
    }
    put_in_order(map);
    map->placement = placement(map);
    return 0;
}

void assay_map_free(struct assay_map *map)
{
    for (size_t node = 0; map->name && node < map->nodes; node++)
        free(map->name[node]);
    free(map->name);
    free(map->node);
    free(map->local);
    free(map->size);
    free(map->first);
    free(map->order);
    *map = (struct assay_map){0};
}
