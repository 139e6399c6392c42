/* spread.c - a table of 8-byte words, spread over the ranks of a job. */
#include "config.h"

#include <errno.h>
#include <stddef.h>

#include "commbw/spread.h"
#include "lib/units.h"

const char *const spread_words[] = {"block", "cyclic", NULL};

/* log2 of a power of 2, or -1. */
static int log2_of(uint64_t n)
{
    int shift = 0;

    if (n == 0 || (n & (n - 1)) != 0)
        return -1;
    while (n >> shift != 1)
        shift++;
    return shift;
}

int spread_make(struct spread *s, uint64_t total, uint64_t ranks, bool cyclic)
{
    if (total == 0 || ranks == 0) {
        errno = EINVAL;
        return -1;
    }
    if (total > INT64_MAX / sizeof(uint64_t)) {
        errno = EOVERFLOW;
        return -1;
    }
    s->total = total;
    s->ranks = ranks;
    s->cyclic = cyclic;
    s->chunk = total / ranks;
    s->more = total % ranks;
    s->shift = -1;
    if (cyclic)
        s->shift = log2_of(ranks);
    else if (s->more == 0)
        s->shift = log2_of(s->chunk);
    return 0;
}

int spread_each(struct spread *s, uint64_t each, uint64_t ranks, bool cyclic)
{
    uint64_t total = assay_product(each, ranks);

    return spread_make(s, total, ranks, cyclic);
}

uint64_t spread_size(const struct spread *s, uint64_t rank)
{
    return s->chunk + (rank < s->more);
}

uint64_t spread_number(const struct spread *s, struct word_at at)
{
    uint64_t front = at.rank < s->more ? at.rank : s->more;

    if (s->cyclic)
        return at.offset * s->ranks + at.rank;
    return at.rank * s->chunk + front + at.offset;
}
