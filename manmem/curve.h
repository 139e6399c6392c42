/* curve.h - what the times of the iterations tell: when the pages had come,
 * and what that cost. */
#ifndef MANMEM_CURVE_H
#define MANMEM_CURVE_H

#include <stdbool.h>
#include <stddef.h>

struct curve {
    double cold;      /* s, iteration 0 */
    double steady;    /* s, median of the last half */
    size_t half;      /* iterations that are not of it */
    size_t converged; /* the first iteration within 10 % of steady, and so how
                         many came before */
    double cold_time; /* s, of those before */
    double lost;      /* s, of those before, beyond what steady ones take */
    double total;     /* s, of all */
    bool settled;     /* converged before the last half began */
    bool drifting;    /* the last quarter is faster by 10 % than the one before
                         it: not the end of the curve yet */
};

/* Read a curve of n seconds. Returns 0; or -1 with errno EINVAL for fewer than
 * 4 or a time of 0 or less, EDOM for one that is not finite, ENOMEM. */
int curve_read(const double *seconds, size_t n, struct curve *curve);

#endif
