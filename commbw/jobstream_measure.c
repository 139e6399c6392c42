/* jobstream_measure.c - the kernels, on all threads of all ranks at once. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "commbw/jobstream.h"

static void *at(const struct assay_arrays *arrays, unsigned array,
                uint64_t begin)
{
    if (array == ASSAY_NO_ARRAY)
        return NULL;
    return (unsigned char *)arrays->base[array] +
           begin * assay_type_size(arrays->type);
}

/* One kernel of one repetition on one thread, behind a barrier of the job. */
static void run_kernel(struct jobstream *j, size_t thread, uint64_t repetition,
                       enum assay_op op)
{
    const struct assay_work *w = assay_work(op);
    double s = assay_scalar(ASSAY_CYCLE_STREAM, op, repetition);
    struct interval *time =
        &j->each[(thread * j->opt->repetitions + repetition) * OPS + op];
    uint64_t begin, n;

    assay_team_slice(&j->team, thread, j->arrays.n,
                     assay_type_size(j->arrays.type), &begin, &n);
    if (thread == 0)
        MPI_Barrier(j->job->comm);
    assay_team_barrier();
    time->start = assay_now();
    j->kernels.run[op](at(&j->arrays, w->dst, begin),
                       at(&j->arrays, w->x, begin), at(&j->arrays, w->y, begin),
                       s, n);
    time->end = assay_now();
    assay_team_barrier();
    assay_team_spot(&j->team, thread, &j->arrays, ASSAY_CYCLE_STREAM, op,
                    repetition);
}

static void run_all(void *arg, size_t thread)
{
    struct jobstream *j = arg;

    for (uint64_t r = 0; r < j->opt->repetitions; r++) {
        if (thread == 0)
            assay_job_progress(j->job, "the kernels");
        for (int op = 0; op < OPS; op++)
            run_kernel(j, thread, r, (enum assay_op)op);
    }
}

/* Threads to the rank: the earliest start, the latest end. */
static void join_threads(struct jobstream *j)
{
    uint64_t n = j->opt->repetitions * OPS;

    for (uint64_t i = 0; i < n; i++) {
        struct interval *all = &j->mine[i];

        *all = j->each[i];
        for (size_t t = 1; t < j->team.threads; t++) {
            const struct interval *one = &j->each[t * n + i];

            all->start = one->start < all->start ? one->start : all->start;
            all->end = one->end > all->end ? one->end : all->end;
        }
    }
}

/* The arrays of this rank must hold what so many repetitions leave. */
static void prove(struct jobstream *j)
{
    const struct assay_times times = {.ops = OPS,
                                      .repetitions = j->opt->repetitions};
    uint64_t sums;

    if (assay_team_verify(&j->team, &j->arrays, ASSAY_CYCLE_STREAM, &times,
                          j->worst, &sums) < 0)
        assay_die(j->job->run, ASSAY_BROKEN, "verify: %s", strerror(errno));
}

void jobstream_measure(struct jobstream *j)
{
    if (assay_team_run(&j->team, run_all, j) < 0)
        assay_die(j->job->run, ASSAY_BROKEN, "measure: %s", strerror(errno));
    join_threads(j);
    assay_job_progress(j->job, "verifying");
    prove(j);
}
