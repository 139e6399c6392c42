/* stats.c - order statistics of a sample. */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/finite.h"
#include "lib/stats.h"

static int compare(const void *a, const void *b)
{
    double x, y;

    memcpy(&x, a, sizeof(x));
    memcpy(&y, b, sizeof(y));
    return (x > y) - (x < y);
}

/* A sorted copy of x, allocated; NULL with errno. */
static double *sorted(const double *x, size_t n)
{
    double *copy;

    errno = EINVAL;
    if (n == 0 || n > SIZE_MAX / sizeof(*x))
        return NULL;
    errno = EDOM;
    for (size_t i = 0; i < n; i++)
        if (!assay_finite(&x[i]))
            return NULL;
    copy = malloc(n * sizeof(*x));
    if (!copy)
        return NULL;
    memcpy(copy, x, n * sizeof(*x));
    qsort(copy, n, sizeof(*x), compare);
    return copy;
}

/* Quantile numerator/4 of sorted x, at place (n - 1) p: type 7. */
static double quartile(const double *x, size_t n, unsigned numerator)
{
    size_t place = (n - 1) / 4 * numerator + (n - 1) % 4 * numerator / 4;
    double part = (double)((n - 1) % 4 * numerator % 4) / 4;

    if (part == 0)
        return x[place];
    /* Halving first keeps two huge values of one sign finite. */
    if (part == 0.5)
        return x[place] / 2 + x[place + 1] / 2;
    return x[place] * (1 - part) + x[place + 1] * part;
}

/* Mean, corrected once for what the sum lost. */
static double mean_of(const double *x, size_t n)
{
    double sum = 0, lost = 0, mean;

    for (size_t i = 0; i < n; i++)
        sum += x[i] / (double)n;
    mean = sum;
    for (size_t i = 0; i < n; i++)
        lost += (x[i] - mean) / (double)n;
    return mean + lost;
}

static double sd_of(const double *x, size_t n, double mean)
{
    double sum = 0;

    if (n < 2)
        return 0;
    for (size_t i = 0; i < n; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    return sqrt(sum / (double)(n - 1));
}

/* x, which is sorted, becomes the sorted deviations. */
static double mad_of(double *x, size_t n, double median)
{
    for (size_t i = 0; i < n; i++)
        x[i] = x[i] > median ? x[i] - median : median - x[i];
    qsort(x, n, sizeof(*x), compare);
    return quartile(x, n, 2);
}

static bool all_finite(const struct assay_stats *s)
{
    return assay_finite(&s->q1) && assay_finite(&s->median) &&
           assay_finite(&s->q3) && assay_finite(&s->mean) &&
           assay_finite(&s->sd) && assay_finite(&s->mad) &&
           assay_finite(&s->cv);
}

int assay_stats(const double *x, size_t n, struct assay_stats *out)
{
    struct assay_stats s = {.n = n};
    double *copy = sorted(x, n);

    if (!copy)
        return -1;
    s.min = copy[0];
    s.max = copy[n - 1];
    s.q1 = quartile(copy, n, 1);
    s.median = quartile(copy, n, 2);
    s.q3 = quartile(copy, n, 3);
    s.mean = mean_of(copy, n);
    s.sd = sd_of(copy, n, s.mean);
    s.cv = s.mean == 0 ? 0 : s.sd / fabs(s.mean);
    s.mad = mad_of(copy, n, s.median);
    free(copy);
    if (!all_finite(&s)) {
        errno = EDOM; /* a spread beyond what a double holds */
        return -1;
    }
    *out = s;
    return 0;
}

/* The k for which the k-th smallest and k-th largest of n values cover the
 * median at least as often as wanted, the greatest such or else 1, and how
 * often that is: 1 - 2 P(Bin(n, 1/2) < k). Terms are kept as m 2^e, as 2^-n
 * is no double for large n; what is too small to be one adds nothing. */
static size_t interval_rank(size_t n, double confidence, double *coverage)
{
    const double big = 0x1p512;
    double m = 1, tail = 0;
    long long e = -(long long)n;
    size_t best = 1;

    for (size_t k = 1; k <= n / 2; k++) {
        double covered;

        if (e > -1600)
            tail += ldexp(m, (int)e);
        covered = 1 - 2 * tail;
        if (k > 1 && !(covered >= confidence))
            break;
        best = k;
        *coverage = covered;
        m *= (double)(n - k + 1) / (double)k;
        for (; m > big; m /= big)
            e += 512;
    }
    return best;
}

int assay_median_interval(const double *x, size_t n, double confidence,
                          struct assay_interval *out)
{
    double *copy, coverage = 0;
    size_t k;

    if (!assay_finite(&confidence) || !(confidence >= 0 && confidence <= 1)) {
        errno = EINVAL;
        return -1;
    }
    copy = sorted(x, n);
    if (!copy)
        return -1;
    if (n == 1) {
        free(copy);
        errno = ERANGE;
        return -1;
    }
    k = interval_rank(n, confidence, &coverage);
    out->low = copy[k - 1];
    out->high = copy[n - k];
    out->coverage = coverage;
    free(copy);
    return 0;
}
