/* draw.h - the random numbers of indexgather and ra: the same on any machine,
 * with any number of ranks, and known without drawing those before them. */
#ifndef COMMBW_DRAW_H
#define COMMBW_DRAW_H

#include <stdint.h>

/* Indices: those of one task. Tasks and seeds differ, 0 and 1 as well. */
struct draw {
    uint64_t state;
};
struct draw draw_start(uint64_t seed, uint64_t task);

/* The next index, 0 .. total - 1. */
uint64_t draw_index(struct draw *d, uint64_t total);

/* What word g of the gathered table holds, in the run of that seed. */
uint64_t draw_value(uint64_t seed, uint64_t g);

/* The stream of HPCC's RandomAccess: x(0) = 1, and x(n + 1) is x(n) shifted to
 * the left by one, xor 7 where a bit was shifted out. That is multiplication
 * by X among polynomials over GF(2) modulo X^64 + X^2 + X + 1, so x(n) is X^n,
 * and its period is RANDOM_PERIOD. */
#define RANDOM_PERIOD UINT64_C(1317624576693539401)

static inline uint64_t random_next(uint64_t x)
{
    return x << 1 ^ (x >> 63 ? 7 : 0);
}

/* x(n), in steps that grow as log2(n). */
uint64_t random_at(uint64_t n);

#endif
