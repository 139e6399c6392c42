/* msgrate_rate.h - from the ranks' times to rates. Pure: no MPI. */
#ifndef SMB_MSGRATE_RATE_H
#define SMB_MSGRATE_RATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Times of one pattern. Iterations are timed one by one and added up over
 * batches, whose rates are the samples. */
struct times {
    size_t ranks, batches;
    const double *seconds;      /* [rank * batches + batch] */
    const uint64_t *iterations; /* [batch] */
    const bool *active; /* [rank] took part; others' times are nothing */
    uint64_t messages;  /* of each rank, an iteration */
};

/* Rate of a group of ranks. */
struct rate {
    size_t ranks; /* that took part: 0, and there is no rate */
    double each;  /* messages a second of one rank: count / (sum of the
                       ranks' times / ranks) */
    double sum;   /* of all of them: ranks x each */
    bool timed;   /* the clock ran in every batch; else nothing is set */
};

/* Messages a second of the n ranks listed (NULL: ranks 0 to n - 1). samples,
 * one a batch, are of one rank; multiply by rate.ranks for the sum's. */
struct rate rate_of(const struct times *t, const size_t *ranks, size_t n,
                    double *samples);

/* Mean time of an iteration, in seconds, of the ranks that took part; 0 where
 * none did. */
double iteration_time(const struct times *t);

/* Is the interval of the median, at 95 %, no wider than `fraction` of it? Fewer
 * than six samples have no such interval. */
bool rate_narrow(const double *samples, size_t n, double fraction);

/* Index of the smallest of n values, 0 of none. */
size_t slowest(const double *values, size_t n);

#endif
