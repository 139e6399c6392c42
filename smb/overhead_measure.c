/* overhead_measure.c - one size in one direction, by all pairs at once. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "smb/overhead.h"

enum { POINT_TAG = 10, SAMPLE_TAG = 11 };

static const double longest = 0.1; /* s that the work of a loop may take */

/* What a pair found: sent as it is, since all ranks run the same program. */
struct found {
    struct overhead_point point;
    uint64_t wrong, verified;
};

static void no_memory(const struct overhead_plan *plan)
{
    assay_die(plan->job->run, ASSAY_BROKEN, "samples: %s", strerror(ENOMEM));
}

static void *room(const struct overhead_plan *plan, size_t n, size_t size)
{
    return assay_room(plan->job->run, n, size, "the samples");
}

static double now(void *context)
{
    (void)context;
    return assay_now();
}

static void find(struct overhead_plan *plan, uint64_t iterations,
                 struct found *found)
{
    const struct options *opt = plan->opt;
    struct overhead_pair *pair = &plan->pair;
    const struct overhead_sampler sampler = {
        .context = pair,
        .sample = overhead_pair_sample,
        .now = now,
        .step =
            opt->verbose && plan->job->rank == 0 && !assay_quiet(plan->job->run)
                ? overhead_print_step
                : NULL};
    const struct overhead_rules rules = {.iterations = iterations,
                                         .thresh = opt->thresh,
                                         .bthresh = opt->bthresh,
                                         .unit = plan->price.unit,
                                         .effort = opt->effort,
                                         .longest = longest};

    if (overhead_find(&rules, &sampler, &found->point) < 0)
        no_memory(plan);
    overhead_pair_release(pair);
    found->wrong = pair->wrong;
    found->verified = pair->verified;
}

static void send_found(const struct overhead_plan *plan,
                       const struct found *found)
{
    const struct overhead_point *p = &found->point;
    const double *arrays[] = {p->iter, p->worked, p->base};
    MPI_Comm comm = plan->job->comm;

    MPI_Send(found, sizeof(*found), MPI_BYTE, 0, POINT_TAG, comm);
    for (int i = 0; i < 3; i++)
        MPI_Send(arrays[i], arrays[i] ? (int)p->n : 0, MPI_DOUBLE, 0,
                 SAMPLE_TAG, comm);
}

static double *receive_samples(const struct overhead_plan *plan, int rank,
                               size_t n)
{
    double *x = room(plan, n, sizeof(*x));
    MPI_Status status;
    int count;

    MPI_Recv(x, (int)n, MPI_DOUBLE, rank, SAMPLE_TAG, plan->job->comm, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    if (count > 0 || n == 0)
        return x;
    free(x);
    return NULL;
}

static void receive_found(const struct overhead_plan *plan, int rank,
                          struct found *found)
{
    struct overhead_point *p = &found->point;

    MPI_Recv(found, sizeof(*found), MPI_BYTE, rank, POINT_TAG, plan->job->comm,
             MPI_STATUS_IGNORE);
    p->iter = receive_samples(plan, rank, p->n);
    p->worked = receive_samples(plan, rank, p->n);
    p->base = receive_samples(plan, rank, p->n);
}

static void put(struct overhead_result *result, size_t i,
                const struct found *found)
{
    result->point[i] = found->point;
    result->wrong[i] = found->wrong;
    result->verified[i] = found->verified;
}

static void gather(const struct overhead_plan *plan, struct found *found,
                   struct overhead_result *result)
{
    size_t n = plan->pair.pairs;

    result->pairs = n;
    result->point = room(plan, n, sizeof(*result->point));
    result->wrong = room(plan, n, sizeof(*result->wrong));
    result->verified = room(plan, n, sizeof(*result->verified));
    put(result, 0, found);
    for (size_t i = 1; i < n; i++) {
        struct found other;

        receive_found(plan, (int)i, &other);
        put(result, i, &other);
    }
}

/* Those who are done wait for the slowest pair, longer than that may. */
static void wait_for_all(struct overhead_plan *plan, struct found *found,
                         struct overhead_result *result)
{
    struct assay_job *job = plan->job;

    if (plan->opt->watchdog > 0.0)
        assay_job_watch(job, 4.0 * plan->opt->watchdog + plan->opt->effort);
    assay_job_progress(job, plan->pair.what);
    if (job->rank == 0)
        gather(plan, found, result);
    else if (plan->pair.origin) {
        send_found(plan, found);
        overhead_point_free(&found->point);
    }
    MPI_Barrier(job->comm);
    assay_job_watch(job, plan->opt->watchdog);
    assay_job_progress(job, plan->pair.what);
}

void overhead_measure(struct overhead_plan *plan, bool receive,
                      uint64_t msgsize, struct overhead_result *result)
{
    struct found found;

    memset(&found, 0, sizeof(found));
    *result = (struct overhead_result){
        .msgsize = msgsize,
        .iterations = overhead_iterations(plan->opt, msgsize),
        .receive = receive};
    overhead_pair_open(&plan->pair, receive, msgsize);
    if (plan->pair.origin)
        find(plan, result->iterations, &found);
    else
        overhead_pair_serve(&plan->pair);
    overhead_pair_close(&plan->pair);
    wait_for_all(plan, &found, result);
}

void overhead_result_free(struct overhead_result *result)
{
    for (size_t i = 0; i < result->pairs; i++)
        overhead_point_free(&result->point[i]);
    free(result->point);
    free(result->wrong);
    free(result->verified);
}
