/* overhead_plan.c - from options and job to what a run will do. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "smb/overhead.h"

enum { LINE = 256 };

uint64_t overhead_iterations(const struct options *opt, uint64_t msgsize)
{
    if (opt->iterations)
        return opt->iterations;
    return msgsize < UINT64_C(64) << 10  ? 1000
           : msgsize < UINT64_C(8) << 20 ? 100
                                         : 10;
}

static void refuse_contradictions(const struct overhead_plan *plan)
{
    const struct options *opt = plan->opt;

    if (opt->recv && opt->both)
        assay_job_refuse(plan->job, ASSAY_USAGE,
                         "--recv: --both measures receives too");
    if (opt->bthresh > 0.0 && opt->bthresh >= opt->thresh)
        assay_job_refuse(plan->job, ASSAY_USAGE,
                         "--bthresh: %g is not under --thresh, %g",
                         opt->bthresh, opt->thresh);
}

static void plan_sizes(struct overhead_plan *plan)
{
    char error[LINE], one[32];
    const char *text = plan->opt->sizes;

    snprintf(one, sizeof(one), "%llu", (unsigned long long)plan->opt->msgsize);
    if (assay_sizes_parse(text ? text : one, OVERHEAD_BYTES_MOST, &plan->sizes,
                          error, sizeof(error)) < 0)
        assay_job_refuse(plan->job, ASSAY_USAGE, "--sizes: %s", error);
}

/* Opened before anything is measured, so that a name that is no good is known
 * in time. Rank 0 opens it, all ranks end where it can't. */
static void plan_plot(struct overhead_plan *plan)
{
    struct assay_job *job = plan->job;
    int error = 0;

    if (!plan->opt->plot)
        return;
    if (job->rank == 0) {
        plan->mark = calloc(2 * plan->sizes.n, sizeof(*plan->mark));
        plan->plot = plan->mark ? fopen(plan->opt->plot, "wx") : NULL;
        error = plan->plot ? 0 : errno;
    }
    MPI_Bcast(&error, 1, MPI_INT, 0, job->comm);
    if (error != 0)
        assay_job_refuse(job, error == EEXIST ? ASSAY_USAGE : ASSAY_BROKEN,
                         "--plot: %s: %s", plan->opt->plot, strerror(error));
}

/* More ranks than CPUs take turns, which shows in every figure. */
static void warn_crowded(const struct overhead_plan *plan)
{
    const struct assay_job *job = plan->job;
    size_t here = job->map.size[job->map.node[job->rank]];

    if (here > job->cpus)
        assay_warn(job->run, "%zu ranks on %zu CPU%s of %s: ranks take turns",
                   here, job->cpus, job->cpus == 1 ? "" : "s", job->host);
}

/* Each origin finds the price of its own work: CPUs may differ. */
static void plan_price(struct overhead_plan *plan)
{
    struct assay_job *job = plan->job;
    size_t n = (size_t)job->size;
    double *price = assay_room(job->run, n, sizeof(*price), "the prices");
    double *error = assay_room(job->run, n, sizeof(*error), "the prices");
    struct {
        double error;
        int rank;
    } mine, worst;

    assay_job_progress(job, "finding the price of work");
    if (plan->pair.origin)
        overhead_price(overhead_work, &plan->price);
    mine.error = plan->price.error;
    mine.rank = job->rank;
    MPI_Allreduce(&mine, &worst, 1, MPI_DOUBLE_INT, MPI_MAXLOC, job->comm);
    if (!(worst.error <= OVERHEAD_LINEAR))
        assay_job_refuse(job, ASSAY_UNSTABLE,
                         "work on rank %d is not linear: 2 to 1000 times as "
                         "much is %.0f %% off its time, 10 %% at most is "
                         "needed: CPUs are busy, or their clock changes",
                         worst.rank, 100.0 * worst.error);
    MPI_Gather(&plan->price.unit, 1, MPI_DOUBLE, price, 1, MPI_DOUBLE, 0,
               job->comm);
    MPI_Gather(&plan->price.error, 1, MPI_DOUBLE, error, 1, MPI_DOUBLE, 0,
               job->comm);
    if (job->rank == 0)
        overhead_record_price(plan, price, error);
    free(price);
    free(error);
}

static void write_opt(const struct overhead_plan *plan)
{
    struct assay_job *job = plan->job;
    struct assay_clock clock = assay_clock_measure();
    struct assay_fields more = {0};

    assay_job_fields(job, &more);
    assay_fields_count(&more, "pairs_measured", plan->pair.pairs);
    assay_fields_real(&more, "clock_resolution", clock.resolution);
    assay_fields_real(&more, "clock_overhead", clock.overhead);
    assay_opt(job->run, &more);
    assay_fields_free(&more);
}

void overhead_plan_make(struct overhead_plan *plan, struct assay_job *job,
                        const struct options *opt)
{
    *plan = (struct overhead_plan){.job = job, .opt = opt};
    refuse_contradictions(plan);
    plan_sizes(plan);
    plan->direction[0] = opt->both || !opt->recv;
    plan->direction[1] = opt->both || opt->recv;
    plan_plot(plan);
    assay_job_watch(job, opt->watchdog);
    warn_crowded(plan);
    write_opt(plan);
    overhead_pair_form(&plan->pair, job);
    plan_price(plan);
}

void overhead_plan_free(struct overhead_plan *plan)
{
    if (plan->plot) {
        overhead_plot(plan->plot, plan->sizes.bytes, plan->sizes.n, plan->mark,
                      plan->marks,
                      plan->opt->functional ? OVERHEAD_FUNCTIONAL : NULL);
        if (ferror(plan->plot) | fclose(plan->plot))
            assay_die(plan->job->run, ASSAY_BROKEN, "--plot: %s: %s",
                      plan->opt->plot, strerror(errno));
    }
    free(plan->mark);
    free(plan->sizes.bytes);
    MPI_Comm_free(&plan->pair.comm);
}
