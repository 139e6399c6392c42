/* finite.h - is a number finite, by its bits.
 *
 * isfinite and x == x are constants to a compiler that was told -Ofast; bits
 * are not. The number is passed by address, since such a compiler may also
 * assume that no argument is ever NaN. */
#ifndef ASSAY_FINITE_H
#define ASSAY_FINITE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline bool assay_finite(const double *x)
{
    uint64_t bits;

    memcpy(&bits, x, sizeof(bits));
    return (bits >> 52 & 0x7ff) != 0x7ff;
}

#endif
