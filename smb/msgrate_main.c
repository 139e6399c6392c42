/* msgrate_main.c - sustained message rate, sending and receiving at once.
 *
 * Each rank exchanges small messages with several peers on other nodes, the
 * cache being cold, in four patterns; the method is that of Sandia's msgrate.
 */
#include "config.h"

#include "smb/msgrate.h"

/* A pattern is in the record before the next one begins. */
static void run_patterns(const struct plan *plan)
{
    struct report report;
    struct bench bench;

    report_head(&report, plan);
    bench_make(&bench, plan);
    for (size_t i = 0; i < PATTERNS; i++) {
        struct result result;

        measure(&bench, &patterns[i], &result);
        report_pattern(&report, i, &result);
        result_free(&result);
    }
    bench_free(&bench);
    report_end(&report);
}

int main(int argc, char **argv)
{
    struct options opt = {.peers = 6,
                          .iterations = 4096,
                          .messages = 128,
                          .size = 8,
                          .cache = "8388608",
                          .watchdog = 120};
    const struct assay_needs needs = {
        .least = 2, .thread_level = MPI_THREAD_SINGLE, .watchdog = 120};
    struct assay_job *job =
        assay_job_start(argc, argv, &msgrate_program, &opt, &needs);
    struct plan plan;

    plan_make(&plan, job, &opt);
    for (size_t i = 0; i < plan.nsizes; i++) {
        plan.size = plan.sizes[i];
        run_patterns(&plan);
    }
    plan_free(&plan);
    return assay_job_finish(job);
}
