/* mix.h - numbers that look random and are known without drawing any: what data
 * is made of that tells whose it is. */
#ifndef ASSAY_MIX_H
#define ASSAY_MIX_H

#include <stdint.h>

/* Odd, its lowest byte too, and near 2^64 / golden ratio. */
#define ASSAY_STEP UINT64_C(0x9e3779b97f4a7c15)

/* A number for a number, each bit of which hangs on all of its. */
static inline uint64_t assay_mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

#endif
