/* stats.c - order statistics: their values, and what has none. */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "lib/stats.h"
#include "t/unit/tap.h"

/* Made of bits, so that no compiler flag can take it for a number. */
static double from_bits(uint64_t bits)
{
    double x;

    memcpy(&x, &bits, sizeof(x));
    return x;
}

static void summary(void)
{
    static const double even[] = {101, 97, 103, 99};
    static const double rates[] = {101153.8, 100908.0, 100516.0, 100549.5};
    static const double five[] = {5, 1, 4, 2, 3};
    static const double six[] = {60, 10, 50, 20, 40, 30};
    struct assay_stats s;

    ok(assay_stats(even, 4, &s) == 0, "four values");
    is_double(s.median, 100.0, "median of an even count");
    is_count(s.n, 4, "n");
    is_double(s.min, 97, "min");
    is_double(s.max, 103, "max");
    is_double(s.q1, 98.5, "q1, type 7");
    is_double(s.q3, 101.5, "q3, type 7");
    is_double(s.mean, 100, "mean");
    is_near(s.sd, sqrt(20.0 / 3), 1e-14, "sd divides by n - 1");
    is_near(s.cv, sqrt(20.0 / 3) / 100, 1e-16, "cv");
    is_double(s.mad, 2, "mad of an even count");
    assay_stats(rates, 4, &s);
    is_double(s.median, 100728.75, "median of four kernel rates");
    is_double(s.min, 100516.0, "their min");
    is_double(s.max, 101153.8, "their max");
    assay_stats(five, 5, &s);
    is_double(s.median, 3, "median of an odd count");
    is_double(s.q1, 2, "q1 on a value");
    is_double(s.q3, 4, "q3 on a value");
    is_double(s.mad, 1, "mad");
    assay_stats(six, 6, &s);
    is_double(s.q1, 22.5, "q1 between two values");
    is_double(s.q3, 47.5, "q3 between two values");
}

static void few(void)
{
    static const double two[] = {3, 1}, same[] = {0.1, 0.1, 0.1};
    double one = 7.5;
    struct assay_stats s;

    assay_stats(&one, 1, &s);
    ok(s.min == 7.5 && s.q1 == 7.5 && s.median == 7.5 && s.q3 == 7.5 &&
           s.max == 7.5 && s.mean == 7.5,
       "one value is all of its statistics");
    ok(s.sd == 0 && s.cv == 0 && s.mad == 0, "and has no spread");
    assay_stats(two, 2, &s);
    is_double(s.median, 2, "median of two is their mean");
    is_double(s.q1, 1.5, "q1 of two");
    assay_stats(same, 3, &s);
    is_double(s.mean, 0.1, "mean of equal values is the value");
    is_double(s.sd, 0, "equal values do not spread");
}

/* What a plain sum gets wrong in the last digits. */
static void long_sum(void)
{
    double x[1000];
    struct assay_stats s;

    for (size_t i = 0; i < 1000; i++)
        x[i] = 0.1;
    assay_stats(x, 1000, &s);
    is_double(s.mean, 0.1, "mean of a thousand equal values");
    is_double(s.sd, 0, "and their spread");
}

static void orders(void)
{
    static const double turns[][3] = {{1, 2, 30}, {1, 30, 2}, {2, 1, 30},
                                      {2, 30, 1}, {30, 1, 2}, {30, 2, 1}};
    struct assay_stats s;

    for (size_t i = 0; i < 6; i++) {
        assay_stats(turns[i], 3, &s);
        ok(s.median == 2 && s.q1 == 1.5 && s.q3 == 16 && s.mean == 11,
           "input order %zu does not matter", i);
    }
    is_double(turns[5][0], 30, "the input is left alone");
}

static void refused(void)
{
    static const struct {
        uint64_t bits;
        const char *name;
    } bad[] = {{0x7ff8000000000000, "NaN"},
               {0xfff8000000000001, "negative NaN with a payload"},
               {0x7ff0000000000001, "signalling NaN"},
               {0x7ff0000000000000, "infinity"},
               {0xfff0000000000000, "negative infinity"}};
    struct assay_stats s = {.n = 99};
    struct assay_interval in = {.coverage = 99};
    double x[] = {1, 2, 3};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        for (size_t at = 0; at < 3; at++) {
            x[at] = from_bits(bad[i].bits);
            errno = 0;
            ok(assay_stats(x, 3, &s) < 0 && errno == EDOM, "%s at %zu: EDOM",
               bad[i].name, at);
            x[at] = (double)at;
        }
        x[0] = from_bits(bad[i].bits);
        ok(assay_median_interval(x, 3, 0.5, &in) < 0 && errno == EDOM,
           "%s has no interval", bad[i].name);
        x[0] = 1;
        x[1] = from_bits(bad[i].bits);
        ok(assay_median_interval(x, 1, x[1], &in) < 0 && errno == EINVAL,
           "%s is no confidence", bad[i].name);
        x[1] = 1;
    }
    ok(assay_stats(x, 0, &s) < 0 && errno == EINVAL, "no values: EINVAL");
    ok(assay_stats(NULL, 0, &s) < 0 && errno == EINVAL, "nor a pointer");
    ok(assay_stats(x, SIZE_MAX / 8 + 1, &s) < 0, "too many bytes to hold");
    is_count(s.n, 99, "the result is untouched after failures");
    is_double(in.coverage, 99, "and so is the interval");
}

static void huge(void)
{
    static const double big[] = {1.7e308, 1.7e308, 1.6e308};
    static const double apart[] = {1.7e308, -1.7e308};
    struct assay_stats s;

    ok(assay_stats(apart, 2, &s) < 0 && errno == EDOM,
       "a spread that no double holds is refused, not infinite");
    ok(assay_stats(big, 1, &s) == 0, "one huge value");
    is_double(s.median, 1.7e308, "is its own median");
    is_double(s.mean, 1.7e308, "and mean");
}

/* Coverage against exact values: 1 - 2^(1-n) for the widest pair. */
static void intervals_small(void)
{
    double x[] = {6, 1, 5, 2, 4, 3, 7, 8, 9, 10};
    struct assay_interval in;

    errno = 0;
    ok(assay_median_interval(x, 1, 0.5, &in) < 0 && errno == ERANGE,
       "n = 1: none");
    ok(assay_median_interval(x, 0, 0.5, &in) < 0 && errno == EINVAL,
       "n = 0: none");
    ok(assay_median_interval(x, 2, 0.95, &in) == 0, "n = 2");
    is_double(in.coverage, 0.5, "reaches 50 %%");
    ok(in.low == 1 && in.high == 6, "from least to greatest");
    assay_median_interval(x, 5, 0.95, &in);
    is_double(in.coverage, 0.9375, "n = 5 reaches 93.75 %%");
    assay_median_interval(x, 6, 0.95, &in);
    is_double(in.coverage, 0.96875, "n = 6 reaches 96.875 %%");
    ok(in.low == 1 && in.high == 6, "with the widest pair");
    assay_median_interval(x, 6, 0.5, &in);
    is_double(in.coverage, 0.78125, "n = 6 at 50 %%: the second pair");
    ok(in.low == 2 && in.high == 5, "which is narrower");
    assay_median_interval(x, 6, 0.3125, &in);
    is_double(in.coverage, 0.3125, "n = 6 at 31.25 %%: the innermost");
    ok(in.low == 3 && in.high == 4, "the two middle values");
    assay_median_interval(x, 10, 0.95, &in);
    is_double(in.coverage, 0.978515625, "n = 10: 2nd and 9th");
    ok(in.low == 2 && in.high == 9, "and they are");
    ok(assay_median_interval(x, 6, 1, &in) == 0 && in.low == 1 &&
           in.coverage == 0.96875,
       "certainty gets the widest pair, and no claim to it");
    ok(assay_median_interval(x, 6, 1.01, &in) < 0 && errno == EINVAL,
       "more than certainty is refused");
    ok(assay_median_interval(x, 6, -0.01, &in) < 0 && errno == EINVAL,
       "less than nothing too");
}

/* For large n the binomial is near normal: rank n/2 - z sqrt(n)/2. */
static void intervals_large(void)
{
    static const size_t counts[] = {1000, 1075, 100001, 1000000, 2000000};
    double *x = malloc(2000000 * sizeof(*x));

    if (!x) {
        skip(10, "no memory");
        return;
    }
    for (size_t i = 0; i < 2000000; i++)
        x[i] = (double)(i + 1);
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        size_t n = counts[i];
        struct assay_interval in;
        double rank = (double)n / 2 - 1.959964 * sqrt((double)n) / 2;

        assay_median_interval(x, n, 0.95, &in);
        is_near(in.low, rank, 2, "n = %zu: low rank", n);
        ok(in.coverage >= 0.95 && in.coverage < 0.96 &&
               in.low + in.high == (double)n + 1,
           "n = %zu: covers what was asked, barely (%.6f)", n, in.coverage);
    }
    free(x);
}

int main(void)
{
    summary();
    few();
    long_sum();
    orders();
    refused();
    huge();
    intervals_small();
    intervals_large();
    return done_testing();
}
