/* stats.h - order statistics of a sample. Values may come in any order. */
#ifndef ASSAY_STATS_H
#define ASSAY_STATS_H

#include <stddef.h>

struct assay_stats {
    size_t n;
    double min, q1, median, q3, max; /* quartiles interpolate: type 7 */
    double mean, sd;                 /* sd with n - 1; 0 for n = 1 */
    double mad;                      /* median |x - median|, not scaled */
    double cv;                       /* sd / |mean|; 0 where mean is 0 */
};

/* Summarise x[0..n-1]. Returns 0; or -1 with errno EINVAL for n = 0, EDOM
 * for a value that is not finite, ENOMEM. *out is written only on success. */
int assay_stats(const double *x, size_t n, struct assay_stats *out);

struct assay_interval {
    double low, high;
    double coverage; /* achieved, 0..1; may lie under what was asked for */
};

/* Order-statistic interval of the median at the wanted confidence (0..1): the
 * narrowest symmetric pair of order statistics that covers it, or the widest
 * pair where n is too small (n = 2 reaches 50 %; 95 % needs n = 6). Returns 0;
 * or -1 as assay_stats, and with errno ERANGE for n = 1: no interval exists. */
int assay_median_interval(const double *x, size_t n, double confidence,
                          struct assay_interval *out);

#endif
