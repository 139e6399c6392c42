/* overhead_work.c - work that takes time and moves no data, and its price. */
#include "config.h"

#include <float.h>

#include "lib/clock.h"
#include "smb/overhead_work.h"

/* The compiler can't know what x is behind this, so it can neither skip a turn
 * nor fold several into one. */
#define UNKNOWN(x) __asm__ volatile("" : "+r"(x))

__attribute__((noinline)) uint64_t overhead_work(uint64_t n)
{
    uint64_t x = n | 1;

    for (uint64_t i = 0; i < n; i++) {
        x = x * 0x5851f42d4c957f2d + 0x14057b7ef767814f;
        UNKNOWN(x);
    }
    return x;
}

enum {
    RUNS = 5,    /* of which the fastest counts: the others were disturbed */
    TRIALS = 30, /* each keeps the best of those before it */
    FACTORS = 5,
};

static const double shortest = 1e-6; /* s */

static double fastest(uint64_t (*work)(uint64_t), uint64_t n, double reading)
{
    double best = DBL_MAX;

    for (int i = 0; i < RUNS; i++) {
        double start = assay_now(), seconds;
        uint64_t sink = work(n);

        UNKNOWN(sink);
        seconds = assay_now() - start - reading;
        if (seconds < best)
            best = seconds;
    }
    return best;
}

/* Units that take long enough for the clock, or 0 where none do. */
static uint64_t enough(uint64_t (*work)(uint64_t), const struct assay_clock *c)
{
    double least =
        40 * c->resolution > shortest ? 40 * c->resolution : shortest;
    uint64_t n = 64;

    while (fastest(work, n, c->overhead) < least) {
        if (n > UINT64_C(1) << 40)
            return 0;
        n *= 2;
    }
    return n;
}

/* How far times of k n units are from k times that of n. */
static double nonlinearity(const double *best, const double *factor)
{
    double error = 0.0;

    for (int k = 1; k < FACTORS; k++) {
        double ratio = best[k] / (factor[k] * best[0]);
        double off = ratio > 1.0 ? ratio - 1.0 : 1.0 - ratio;

        if (!(off <= error))
            error = off;
    }
    return error;
}

int overhead_price(uint64_t (*work)(uint64_t), struct overhead_price *price)
{
    static const double factor[FACTORS] = {1, 2, 10, 100, 1000};
    double best[FACTORS] = {DBL_MAX, DBL_MAX, DBL_MAX, DBL_MAX, DBL_MAX};
    struct assay_clock clock = assay_clock_measure();

    *price = (struct overhead_price){.error = 1.0};
    price->units = enough(work, &clock);
    if (price->units == 0)
        return -1;
    while (price->trials < TRIALS) {
        price->trials++;
        for (int k = 0; k < FACTORS; k++) {
            uint64_t n = price->units * (uint64_t)factor[k];
            double seconds = fastest(work, n, clock.overhead);

            if (seconds < best[k])
                best[k] = seconds;
        }
        price->unit =
            best[FACTORS - 1] / ((double)price->units * factor[FACTORS - 1]);
        price->error = nonlinearity(best, factor);
        if (price->unit > 0.0 && price->error <= OVERHEAD_LINEAR)
            return 0;
    }
    return -1;
}
