/* curve.c - from the times of the iterations to when they were steady. */
#include "config.h"

#include <errno.h>

#include "lib/finite.h"
#include "lib/stats.h"
#include "manmem/curve.h"

/* Within 10 %. */
#define NEAR 1.1

static int median(const double *x, size_t n, double *out)
{
    struct assay_stats stats;

    if (assay_stats(x, n, &stats) < 0)
        return -1;
    *out = stats.median;
    return 0;
}

static int valid(const double *seconds, size_t n)
{
    errno = EINVAL;
    if (n < 4)
        return -1;
    for (size_t i = 0; i < n; i++) {
        errno = assay_finite(&seconds[i]) ? EINVAL : EDOM;
        if (!assay_finite(&seconds[i]) || !(seconds[i] > 0.0))
            return -1;
    }
    return 0;
}

int curve_read(const double *seconds, size_t n, struct curve *curve)
{
    struct curve c = {.half = n / 2};
    size_t quarter = n - n / 4;
    double third, fourth;

    if (valid(seconds, n) < 0 ||
        median(seconds + c.half, n - c.half, &c.steady) < 0 ||
        median(seconds + c.half, quarter - c.half, &third) < 0 ||
        median(seconds + quarter, n - quarter, &fourth) < 0)
        return -1;
    c.cold = seconds[0];
    c.drifting = third > NEAR * fourth;
    while (c.converged < n && seconds[c.converged] > NEAR * c.steady)
        c.converged++;
    c.settled = c.converged <= c.half;
    for (size_t i = 0; i < n; i++)
        c.total += seconds[i];
    for (size_t i = 0; i < c.converged; i++)
        c.cold_time += seconds[i];
    c.lost = c.cold_time - (double)c.converged * c.steady;
    *curve = c;
    return 0;
}
