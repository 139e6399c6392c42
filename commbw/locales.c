/* locales.c - ranks make locales, and locales make pairs. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "commbw/locales.h"

const char *const pairs_words[] = {"all", "one", "each", NULL};

int locales_form(struct locales *locales, const struct assay_map *map,
                 size_t each, char *error, size_t size)
{
    for (size_t n = 0; n < map->nodes; n++) {
        if (map->size[n] % each == 0)
            continue;
        snprintf(error, size,
                 "%s has %zu ranks, which are not locales of %zu each",
                 map->name[n], map->size[n], each);
        return -1;
    }
    *locales =
        (struct locales){.map = map, .each = each, .n = map->ranks / each};
    return 0;
}

static size_t position_of(const struct locales *locales, int rank)
{
    const struct assay_map *map = locales->map;

    return map->first[map->node[rank]] + map->local[rank];
}

int locales_rank(const struct locales *locales, size_t locale, size_t member)
{
    return (int)locales->map->order[locale * locales->each + member];
}

size_t locales_of(const struct locales *locales, int rank)
{
    return position_of(locales, rank) / locales->each;
}

size_t locales_member(const struct locales *locales, int rank)
{
    return position_of(locales, rank) % locales->each;
}

const char *locales_host(const struct locales *locales, size_t locale)
{
    const struct assay_map *map = locales->map;

    return map->name[map->node[locales_rank(locales, locale, 0)]];
}

static size_t pairs_count(size_t locales, enum pairs which)
{
    switch (which) {
    case PAIRS_ONE:
        return 1;
    case PAIRS_ALL:
        return locales / 2;
    case PAIRS_EACH:
        break;
    }
    return locales * (locales - 1) / 2;
}

struct pair *pairs_make(const struct locales *locales, enum pairs which,
                        size_t *n)
{
    size_t count = pairs_count(locales->n, which), i = 0;
    struct pair *pairs = calloc(count, sizeof(*pairs));

    *n = count;
    if (!pairs)
        return NULL;
    for (size_t a = 0; which == PAIRS_EACH && a < locales->n; a++)
        for (size_t b = a + 1; b < locales->n; b++)
            pairs[i++] = (struct pair){a, b};
    for (; i < count; i++)
        pairs[i] = (struct pair){i, i + locales->n / 2};
    return pairs;
}
