/* msgrate_rate.c - from the ranks' times to rates. */
#include "config.h"

#include "lib/stats.h"
#include "smb/msgrate_rate.h"

#define CONFIDENCE 0.95

/* Time of a batch, added up over the ranks that took part. */
static double batch_time(const struct times *t, const size_t *ranks, size_t n,
                         size_t batch)
{
    double sum = 0.0;

    for (size_t i = 0; i < n; i++) {
        size_t rank = ranks ? ranks[i] : i;

        if (t->active[rank])
            sum += t->seconds[rank * t->batches + batch];
    }
    return sum;
}

static size_t count_active(const struct times *t, const size_t *ranks, size_t n)
{
    size_t active = 0;

    for (size_t i = 0; i < n; i++)
        active += t->active[ranks ? ranks[i] : i];
    return active;
}

/* Messages of one rank in so many iterations: exact below 2^53, in a double
 * since the product may not fit 64 bits. */
static double count(const struct times *t, uint64_t iterations)
{
    return (double)iterations * (double)t->messages;
}

struct rate rate_of(const struct times *t, const size_t *ranks, size_t n,
                    double *samples)
{
    struct rate rate = {.ranks = count_active(t, ranks, n), .timed = true};
    double active = (double)rate.ranks, time = 0.0, messages = 0.0;

    for (size_t b = 0; b < t->batches && rate.ranks > 0; b++) {
        double sum = batch_time(t, ranks, n, b);

        if (!(sum > 0.0)) {
            rate.timed = false;
            return rate;
        }
        samples[b] = count(t, t->iterations[b]) / (sum / active);
        messages += count(t, t->iterations[b]);
        time += sum;
    }
    if (rate.ranks > 0) {
        rate.each = messages / (time / active);
        rate.sum = rate.each * active;
    }
    return rate;
}

double iteration_time(const struct times *t)
{
    size_t active = count_active(t, NULL, t->ranks);
    double time = 0.0, iterations = 0.0;

    for (size_t b = 0; b < t->batches; b++) {
        time += batch_time(t, NULL, t->ranks, b);
        iterations += (double)t->iterations[b];
    }
    return active && iterations > 0.0 ? time / (double)active / iterations
                                      : 0.0;
}

bool rate_narrow(const double *samples, size_t n, double fraction)
{
    struct assay_interval interval;
    struct assay_stats stats;

    if (assay_stats(samples, n, &stats) < 0 ||
        assay_median_interval(samples, n, CONFIDENCE, &interval) < 0)
        return false;
    return interval.coverage >= CONFIDENCE &&
           interval.high - interval.low <= fraction * stats.median;
}

size_t slowest(const double *values, size_t n)
{
    size_t found = 0;

    for (size_t i = 1; i < n; i++)
        if (values[i] < values[found])
            found = i;
    return found;
}
