/* verify.h - what the arrays must hold, known without running a kernel.
 *
 * Element i of an array holds factor x p(i), p being a scrambled pattern of
 * whole numbers from 1 to 64: an element that is stale, shifted, or from
 * another place is another number. Each kernel's effect on the factors is
 * worked out alongside. The scalars let the factors grow for 64 repetitions,
 * shrink for 64, and change sign at each turn, so that they stay bounded for
 * ever, and every product and sum is exact in double and in float, fused or
 * not, in any order: a right array is equal bit for bit, and a kernel that was
 * left out shows, be it once, always, or in any number of repetitions in a row
 * but a multiple of 130, which a look at the arrays on the way tells
 * (assay_team_spot). */
#ifndef ASSAY_VERIFY_H
#define ASSAY_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/kernels.h"

/* Which kernels make one repetition. */
enum assay_cycle {
    ASSAY_CYCLE_STREAM, /* copy scale add triad */
    ASSAY_CYCLE_ALL,    /* these, then read write update daxpy */
};

size_t assay_cycle_ops(enum assay_cycle cycle); /* 4 or 8 */

/* The scalar of op in repetition r (0 is the first). */
double assay_scalar(enum assay_cycle cycle, enum assay_op op, uint64_t r);

/* The array in whose final state op's result survives: where a wrong op
 * shows. ASSAY_NO_ARRAY for read, which the sums of its words prove. */
unsigned assay_proof(enum assay_cycle cycle, enum assay_op op);

/* State of the three arrays. */
struct assay_expected {
    double factor[ASSAY_ARRAYS];
    bool flat[ASSAY_ARRAYS]; /* every element is the factor itself */
};

/* State before the first repetition: what assay_fill writes. */
struct assay_expected assay_expect_start(void);

/* Advance the state by one kernel. */
void assay_expect(struct assay_expected *e, enum assay_op op, double scalar);

/* State after `repetitions` whole cycles; any number takes no time. */
struct assay_expected assay_expect_end(enum assay_cycle cycle,
                                       uint64_t repetitions);

/* Write elements [begin, begin + n) of an array whose element 0 is at base.
 * Touches each page for the first time, if nothing has. */
void assay_fill(void *base, enum assay_type type, double factor, bool flat,
                uint64_t begin, uint64_t n);

struct assay_error {
    double max;     /* largest relative error; DBL_MAX for NaN or infinity */
    double sum;     /* of the relative errors, at most DBL_MAX */
    uint64_t wrong; /* elements that differ at all */
    uint64_t first; /* index of the first of them */
};

/* Compare [begin, begin + n) with factor x p(i), or with factor if flat. Every
 * field of the result is finite. Right at any level of optimisation: numbers
 * are told by their bits. */
struct assay_error assay_verify(const void *base, enum assay_type type,
                                double factor, bool flat, uint64_t begin,
                                uint64_t n);

/* Errors of one range and of the range behind it, taken together. */
struct assay_error assay_error_join(struct assay_error a, struct assay_error b);

/* What the read kernel must return for [begin, begin + n). */
uint32_t assay_expect_words(enum assay_type type, double factor, uint64_t begin,
                            uint64_t n);

/* That of n elements for a factor that is a power of 2 or minus one, from
 * `words`, which is that for factor 1: exponents and signs alone differ. */
uint32_t assay_scale_words(enum assay_type type, uint32_t words, uint64_t n,
                           double factor);

/* Largest relative error that is taken for right: STREAM's own bounds. */
double assay_tolerance(enum assay_type type); /* 1e-13, float 1e-6 */

#endif
