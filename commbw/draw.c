/* draw.c - the random numbers of indexgather and ra. */
#include "config.h"

#include "commbw/draw.h"

#define STEP UINT64_C(0x9e3779b97f4a7c15) /* odd, near 2^64 / golden ratio */

uint64_t draw_mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

struct draw draw_start(uint64_t seed, uint64_t task)
{
    struct draw d = {draw_mix(draw_mix(seed + STEP) + task * STEP)};

    return d;
}

/* What total leaves over of 2^64 makes some indices more frequent by one in
 * 2^64 / total. */
uint64_t draw_index(struct draw *d, uint64_t total)
{
    d->state += STEP;
    return draw_mix(d->state) % total;
}

uint64_t draw_value(uint64_t seed, uint64_t g)
{
    return draw_mix(draw_mix(seed ^ STEP) + g * STEP);
}

/* a times b: each bit of a, from the highest, doubles what there is. */
static uint64_t multiply(uint64_t a, uint64_t b)
{
    uint64_t product = 0;

    for (int bit = 63; bit >= 0; bit--) {
        product = random_next(product);
        if (a >> bit & 1)
            product ^= b;
    }
    return product;
}

uint64_t random_at(uint64_t n)
{
    uint64_t power = 2, x = 1; /* X^(2^i), and what of X^n is known */

    for (; n > 0; n >>= 1, power = multiply(power, power))
        if (n & 1)
            x = multiply(x, power);
    return x;
}
