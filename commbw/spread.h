/* spread.h - a table of 8-byte words, spread over the ranks of a job: who has
 * which word. Pure arithmetic in 64 bits. */
#ifndef COMMBW_SPREAD_H
#define COMMBW_SPREAD_H

#include <stdbool.h>
#include <stdint.h>

enum spread_kind { SPREAD_BLOCK, SPREAD_CYCLIC };
extern const char *const spread_words[]; /* for option tables */

struct spread {
    uint64_t total; /* words, 0 .. total - 1 */
    uint64_t ranks;
    bool cyclic;    /* word g is with rank g % ranks; else in blocks */
    uint64_t chunk; /* words of a rank, or one less: */
    uint64_t more;  /* so many ranks, the first, have one more */
    int shift;      /* log2 of the divisor, where nothing is left over and it is
                       a power of 2; else -1 */
};

/* Where a word is. */
struct word_at {
    uint64_t rank, offset; /* offset in words of that rank's part */
};

/* Spread so many words. Returns 0; or -1 with errno: EINVAL for no words or no
 * ranks, EOVERFLOW where their bytes don't fit 63 bits. */
int spread_make(struct spread *s, uint64_t total, uint64_t ranks, bool cyclic);

/* The same with so many words for each rank; EOVERFLOW also where the product
 * of both does not fit. */
int spread_each(struct spread *s, uint64_t each, uint64_t ranks, bool cyclic);

/* Words that the rank has. */
uint64_t spread_size(const struct spread *s, uint64_t rank);

/* Number of the word at an offset of a rank. */
uint64_t spread_number(const struct spread *s, struct word_at at);

/* Who has word g < total, and where: part of what is timed, as it is part of
 * what a program does that has such a table. */
static inline struct word_at spread_find(const struct spread *s, uint64_t g)
{
    uint64_t front = s->more * (s->chunk + 1);

    if (s->shift >= 0 && s->cyclic)
        return (struct word_at){g & (s->ranks - 1), g >> s->shift};
    if (s->cyclic)
        return (struct word_at){g % s->ranks, g / s->ranks};
    if (s->shift >= 0)
        return (struct word_at){g >> s->shift, g & (s->chunk - 1)};
    if (g < front)
        return (struct word_at){g / (s->chunk + 1), g % (s->chunk + 1)};
    return (struct word_at){s->more + (g - front) / s->chunk,
                            (g - front) % s->chunk};
}

#endif
