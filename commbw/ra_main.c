/* ra_main.c - random updates of a table that is spread over all ranks: fetched,
 * changed and put back; by atomic operations; or in messages.
 */
#include "config.h"

#include <stdlib.h>

#include "commbw/ra.h"

int main(int argc, char **argv)
{
    struct options opt = {.mode = RMO,
                          .distribution = SPREAD_BLOCK,
                          .kind = WINDOW_ALLOCATE,
                          .table = 1 << 20,
                          .trials = 3,
                          .window = 1,
                          .buffer = 1024,
                          .watchdog = 120};
    const struct assay_needs needs = {
        .least = 2, .level_for = ra_level, .watchdog = 120};
    struct assay_job *job =
        assay_job_start(argc, argv, &ra_program, &opt, &needs);
    struct ra ra;

    ra_make(&ra, job, &opt);
    for (int mode = 0; mode < MODES; mode++) {
        struct outcome outcome;

        if (opt.mode != MODES && opt.mode != mode)
            continue;
        ra_measure(&ra, mode, &outcome);
        ra_report(&ra, &outcome);
        rates_free(&outcome.rates);
        free(outcome.wrong);
    }
    ra_free(&ra);
    return assay_job_finish(job);
}
