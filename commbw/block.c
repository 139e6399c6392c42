/* block.c - bytes that tell whose they are. */
#include "config.h"

#include <string.h>

#include "commbw/block.h"
#include "lib/mix.h"

enum { END = 8 }; /* bytes of a stamp */

uint64_t block_key(uint64_t rank, uint64_t task, uint64_t place,
                   uint64_t measurement)
{
    uint64_t key = assay_mix(rank + ASSAY_STEP);

    key = assay_mix((key ^ task) + ASSAY_STEP);
    key = assay_mix((key ^ place) + ASSAY_STEP);
    return assay_mix((key ^ measurement) + ASSAY_STEP);
}

/* Stamps: `which` 0 is the first, 1 the last, whose bytes count from the end.
 * Byte 0 of both steps by an odd number, so that 256 trials have 256 of them. */
static void stamp(struct block b, int which, unsigned char bytes[END])
{
    uint64_t word = assay_mix(b.key + 2 * b.trial + (uint64_t)which + 1);

    memcpy(bytes, &word, END);
    bytes[0] = (unsigned char)(b.key + b.trial * 37 + (uint64_t)which * 101);
}

static uint64_t first_length(uint64_t n)
{
    return n < END ? n : END;
}

static uint64_t last_length(uint64_t n)
{
    return n < 2 * END ? n - first_length(n) : END;
}

/* The words between the stamps; the last may be cut. Of each trial others, so
 * that what an earlier one left is none of them. */
static uint64_t word_at(struct block b, uint64_t i)
{
    return assay_mix((b.key + b.trial * ASSAY_STEP) ^ (i + 1) * ASSAY_STEP);
}

void block_stamp(unsigned char *p, uint64_t n, struct block b)
{
    unsigned char bytes[END];

    stamp(b, 0, bytes);
    memcpy(p, bytes, first_length(n));
    stamp(b, 1, bytes);
    for (uint64_t i = 0; i < last_length(n); i++)
        p[n - 1 - i] = bytes[i];
}

bool block_stamped(const unsigned char *p, uint64_t n, struct block b)
{
    unsigned char bytes[END];
    bool right;

    stamp(b, 0, bytes);
    right = memcmp(p, bytes, first_length(n)) == 0;
    stamp(b, 1, bytes);
    for (uint64_t i = 0; i < last_length(n); i++)
        right &= p[n - 1 - i] == bytes[i];
    return right;
}

void block_fill(unsigned char *p, uint64_t n, struct block b)
{
    uint64_t inner = n > 2 * END ? n - 2 * END : 0, words = inner / END;
    uint64_t word;

    for (uint64_t i = 0; i < words; i++) {
        word = word_at(b, i);
        memcpy(p + END + i * END, &word, END);
    }
    word = word_at(b, words);
    if (inner % END)
        memcpy(p + END + words * END, &word, inner % END);
    block_stamp(p, n, b);
}

bool block_whole(const unsigned char *p, uint64_t n, struct block b)
{
    uint64_t inner = n > 2 * END ? n - 2 * END : 0, words = inner / END;
    uint64_t word, other, differ = 0;

    for (uint64_t i = 0; i < words; i++) {
        word = word_at(b, i);
        memcpy(&other, p + END + i * END, END);
        differ |= word ^ other;
    }
    word = word_at(b, words);
    if (inner % END && memcmp(p + END + words * END, &word, inner % END) != 0)
        return false;
    return differ == 0 && block_stamped(p, n, b);
}
