/* locales.h - who moves blocks with whom: ranks make locales, and locales make
 * pairs. Needs no MPI.
 *
 * A locale is what Chapel calls so: one process with several tasks. Where tasks
 * are threads it is one rank; where they are ranks, it is some neighbours on
 * one node. Locales are numbered by node. */
#ifndef COMMBW_LOCALES_H
#define COMMBW_LOCALES_H

#include <stddef.h>

#include "lib/map.h"

struct locales {
    const struct assay_map *map;
    size_t each; /* ranks of a locale */
    size_t n;    /* locales */
};

/* Form locales of so many ranks. Returns 0, or -1 with a sentence in error
 * where a node has not a multiple of that. */
int locales_form(struct locales *locales, const struct assay_map *map,
                 size_t each, char *error, size_t size);

int locales_rank(const struct locales *locales, size_t locale, size_t member);
size_t locales_of(const struct locales *locales, int rank);
size_t locales_member(const struct locales *locales, int rank);
const char *locales_host(const struct locales *locales, size_t locale);

/* Which pairs there are. */
enum pairs { PAIRS_ALL, PAIRS_ONE, PAIRS_EACH };
extern const char *const pairs_words[];

struct pair {
    size_t origin, target; /* locales */
};

/* The pairs: `all` joins each of the lower half with the one half the job on
 * (of an odd number, the last is idle), `one` is the first of these, `each` is
 * every two. Allocated; NULL without memory. There must be two locales. */
struct pair *pairs_make(const struct locales *locales, enum pairs which,
                        size_t *n);

#endif
