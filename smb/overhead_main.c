/* overhead_main.c - host overhead of non-blocking MPI, by post-work-wait.
 *
 * While a message is under way its sender (or receiver) works. What the message
 * costs beyond the work, once that is long enough to hide it, is the overhead;
 * the method is that of Sandia's mpi_overhead. */
#include "config.h"

#include <stdio.h>

#include "smb/overhead.h"

/* For the plot: the pair of the table. */
static void mark(struct overhead_plan *plan, size_t column,
                 const struct overhead_result *result)
{
    const struct overhead_point *p = &result->point[0];

    if (!plan->plot || p->note == OVERHEAD_UNSTABLE)
        return;
    plan->mark[plan->marks++] =
        (struct overhead_mark){.column = column,
                               .receive = result->receive,
                               .overhead = p->overhead * 1e6,
                               .base_t = p->base_t * 1e6,
                               .availability = p->availability};
}

static void report(struct overhead_plan *plan, size_t column,
                   const struct overhead_result *result)
{
    if (plan->job->rank != 0)
        return;
    overhead_record(plan, result);
    mark(plan, column, result);
    if (!assay_quiet(plan->job->run))
        overhead_print(plan, result);
}

static void sweep(struct overhead_plan *plan, bool receive)
{
    if (plan->job->rank == 0 && !assay_quiet(plan->job->run))
        overhead_print_header(plan, receive);
    for (size_t i = 0; i < plan->sizes.n; i++) {
        struct overhead_result result;

        overhead_measure(plan, receive, plan->sizes.bytes[i], &result);
        report(plan, i, &result);
        overhead_result_free(&result);
    }
}

int main(int argc, char **argv)
{
    static const struct assay_needs needs = {.least = 2,
                                             .even = true,
                                             .thread_level = MPI_THREAD_SINGLE,
                                             .watchdog = 60};
    struct options opt = {
        .msgsize = 8, .thresh = 1.5, .effort = 2, .watchdog = 60};
    struct assay_job *job =
        assay_job_start(argc, argv, &overhead_program, &opt, &needs);
    struct overhead_plan plan;

    overhead_plan_make(&plan, job, &opt);
    if (opt.functional && job->rank == 0 && !assay_quiet(job->run))
        puts("# " OVERHEAD_FUNCTIONAL);
    for (int receive = 0; receive < 2; receive++)
        if (plan.direction[receive])
            sweep(&plan, receive);
    overhead_plan_free(&plan);
    return assay_job_finish(job);
}
