/* draw.c - the random numbers of indexgather and ra. */
#include "config.h"

#include "commbw/draw.h"
#include "lib/mix.h"

struct draw draw_start(uint64_t seed, uint64_t task)
{
    struct draw d = {
        assay_mix(assay_mix(seed + ASSAY_STEP) + task * ASSAY_STEP)};

    return d;
}

/* What total leaves over of 2^64 makes some indices more frequent by one in
 * 2^64 / total. */
uint64_t draw_index(struct draw *d, uint64_t total)
{
    d->state += ASSAY_STEP;
    return assay_mix(d->state) % total;
}

uint64_t draw_value(uint64_t seed, uint64_t g)
{
    return assay_mix(assay_mix(seed ^ ASSAY_STEP) + g * ASSAY_STEP);
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
