/* gather_main.c - indexgather: random words of a table that is spread over all
 * ranks, fetched one by one, many at a time, or in messages.
 */
#include "config.h"

#include "commbw/gather.h"

int main(int argc, char **argv)
{
    struct options opt = {.mode = AGGREGATED,
                          .gatherers = GATHER_ALL,
                          .distribution = SPREAD_BLOCK,
                          .kind = WINDOW_ALLOCATE,
                          .table = 1 << 20,
                          .updates = 1 << 20,
                          .trials = 3,
                          .window = 1024,
                          .buffer = 4096,
                          .watchdog = 120};
    const struct assay_needs needs = {
        .least = 2, .level_for = gather_level, .watchdog = 120};
    struct assay_job *job =
        assay_job_start(argc, argv, &indexgather_program, &opt, &needs);
    struct gather gather;

    gather_make(&gather, job, &opt);
    for (int mode = 0; mode < MODES; mode++) {
        struct outcome outcome;

        if (opt.mode != MODES && opt.mode != mode)
            continue;
        gather_measure(&gather, mode, &outcome);
        gather_report(&gather, &outcome);
        rates_free(&outcome.rates);
    }
    gather_free(&gather);
    return assay_job_finish(job);
}
