/* overhead_work.h - work that takes time and moves no data, and its price. */
#ifndef SMB_OVERHEAD_WORK_H
#define SMB_OVERHEAD_WORK_H

#include <stdint.h>

/* n units of work, each waiting for the one before. The result depends on all
 * of them, and no compiler may leave one out. */
uint64_t overhead_work(uint64_t n);

struct overhead_price {
    double unit;     /* s of one unit */
    double error;    /* largest |t(k n) / (k t(n)) - 1| for k from 2 to 1000 */
    uint64_t units;  /* n, at which the clock reads 1 us or more */
    unsigned trials; /* until it was linear, or the last */
};

#define OVERHEAD_LINEAR 0.1 /* what error may be */

/* Measure the price of `work`. Returns 0; or -1 where it is not linear, which
 * work that an optimiser removed is not. *price is filled in either way. */
int overhead_price(uint64_t (*work)(uint64_t), struct overhead_price *price);

#endif
