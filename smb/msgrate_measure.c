/* msgrate_measure.c - run one pattern, time it, and prove what arrived. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "smb/msgrate.h"
#include "smb/msgrate_cache.h"
#include "smb/msgrate_message.h"

/* An array that no optimiser or lazy kernel leaves without memory. */
static void *map(const struct plan *plan, uint64_t bytes)
{
    void *p = assay_map(bytes + 1, ASSAY_HUGE_NEVER, -1);

    if (!p)
        assay_die(plan->job->run, ASSAY_BROKEN, "no memory for %llu bytes: %s",
                  (unsigned long long)bytes, strerror(errno));
    memset(p, 0, bytes + 1);
    return p;
}

static uint64_t buffer_bytes(const struct plan *plan)
{
    return plan->opt->peers * plan->opt->messages * plan->size;
}

void bench_make(struct bench *bench, const struct plan *plan)
{
    uint64_t requests = 2 * plan->opt->peers * plan->opt->messages;

    memset(bench, 0, sizeof(*bench));
    bench->plan = plan;
    bench->statuses = MPI_STATUSES_IGNORE;
    bench->send = map(plan, buffer_bytes(plan));
    bench->receive = map(plan, buffer_bytes(plan));
    bench->requests = map(plan, requests * sizeof(*bench->requests));
    bench->walk_words = plan->cache / sizeof(*bench->walk);
    bench->walk = map(plan, plan->cache);
}

void bench_free(struct bench *bench)
{
    const struct plan *plan = bench->plan;
    uint64_t requests = 2 * plan->opt->peers * plan->opt->messages;

    assay_unmap(bench->send, buffer_bytes(plan) + 1, ASSAY_HUGE_NEVER);
    assay_unmap(bench->receive, buffer_bytes(plan) + 1, ASSAY_HUGE_NEVER);
    assay_unmap(bench->requests, requests * sizeof(*bench->requests) + 1,
                ASSAY_HUGE_NEVER);
    assay_unmap(bench->walk, plan->cache + 1, ASSAY_HUGE_NEVER);
}

/* The other end of each slot, in one direction; none where there is nothing to
 * send or receive. */
static uint64_t ends_of(const struct plan *plan, const struct pattern *pattern,
                        bool sends, const int **ends)
{
    if (!pattern->pairs) {
        *ends = sends ? plan->send_to : plan->receive_from;
        return plan->opt->peers;
    }
    *ends = &plan->partner;
    return plan->partner >= 0 && plan->sends == sends;
}

/* Write the messages of this iteration, which also brings them into the cache,
 * as a program does that has just computed them. */
static void fill(const struct bench *bench, const struct pattern *pattern)
{
    const struct plan *plan = bench->plan;
    struct message m = {.from = plan->job->rank, .iteration = bench->iteration};
    unsigned char *at = bench->send;
    const int *ends;
    uint64_t slots = ends_of(plan, pattern, true, &ends);

    for (m.slot = 0; m.slot < slots; m.slot++) {
        m.to = ends[m.slot];
        for (m.index = 0; m.index < plan->opt->messages; m.index++) {
            message_fill(at, plan->size, message_word(&m));
            at += plan->size;
        }
    }
}

/* Every message of the iteration must be there, whole. */
static void verify(const struct bench *bench, const struct pattern *pattern,
                   struct result *result)
{
    const struct plan *plan = bench->plan;
    struct message m = {.to = plan->job->rank, .iteration = bench->iteration};
    const unsigned char *at = bench->receive;
    const int *ends;
    uint64_t slots = ends_of(plan, pattern, false, &ends);

    for (m.slot = 0; m.slot < slots; m.slot++) {
        m.from = ends[m.slot];
        for (m.index = 0; m.index < plan->opt->messages; m.index++) {
            if (!message_right(at, plan->size, message_word(&m)) &&
                result->wrong++ == 0)
                snprintf(result->first, sizeof(result->first),
                         "message %llu of rank %d to rank %d in iteration %llu",
                         (unsigned long long)m.index, m.from, m.to,
                         (unsigned long long)m.iteration);
            at += plan->size;
        }
    }
}

static void invalidate(const struct bench *bench)
{
    const struct plan *plan = bench->plan;
    uint32_t seed = (uint32_t)bench->iteration;

    cache_walk(bench->walk, bench->walk_words, seed);
    if (bench->iteration == 1 &&
        !cache_walked(bench->walk, bench->walk_words, seed))
        assay_die(plan->job->run, ASSAY_BROKEN,
                  "the walk through the cache left something out");
}

/* One iteration; returns the seconds that count. */
static double iterate(struct bench *bench, const struct pattern *pattern,
                      bool last, struct result *result)
{
    double start, seconds;

    bench->iteration++;
    assay_job_progress(bench->plan->job, bench->what);
    invalidate(bench);
    fill(bench, pattern);
    MPI_Barrier(bench->plan->job->comm);
    start = assay_now();
    pattern->exchange(bench);
    seconds = assay_now() - start;
    verify(bench, pattern, result);
    if (pattern->preposts && !last) {
        start = assay_now();
        post_ahead(bench);
        seconds += assay_now() - start;
    }
    return seconds;
}

/* The first receives of a pattern that posts them ahead are timed too. */
static double begin(struct bench *bench, const struct pattern *pattern)
{
    double start = assay_now();

    if (!pattern->preposts)
        return 0.0;
    post_ahead(bench);
    return assay_now() - start;
}

/* Rank 0 decides, after each batch, whether the rate is known well enough:
 * rates[] are those of the batches so far. */
static bool narrow(const struct plan *plan, double *rates, size_t batch,
                   double seconds)
{
    double sum = 0.0;
    int enough = 0;

    if (!(plan->until > 0.0))
        return false;
    MPI_Reduce(&seconds, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, plan->job->comm);
    if (plan->job->rank == 0) {
        rates[batch] = sum > 0.0 ? (double)plan->batch / sum : 0.0;
        enough = rate_narrow(rates, batch + 1, plan->until);
    }
    MPI_Bcast(&enough, 1, MPI_INT, 0, plan->job->comm);
    return enough;
}

/* Time batches into seconds[]; returns how many there were. Which is the last
 * one is settled before it begins: nothing may be posted ahead in it. */
static size_t run_batches(struct bench *bench, const struct pattern *pattern,
                          double *seconds, double *rates, struct result *result)
{
    const struct plan *plan = bench->plan;
    uint64_t left = plan->opt->iterations;
    double ahead = begin(bench, pattern);
    size_t batch = 0;

    for (bool last = false; !last; batch++) {
        uint64_t n = left < plan->batch ? left : plan->batch;

        left -= n;
        result->iterations[batch] = n;
        last = result->settled || left == 0;
        seconds[batch] = ahead;
        ahead = 0.0;
        while (n-- > 0)
            seconds[batch] += iterate(bench, pattern, last && n == 0, result);
        if (!last)
            result->settled = narrow(plan, rates, batch, seconds[batch]);
    }
    return batch;
}

/* An iteration that is not timed: connections are made, pages touched. */
static void warm_up(struct bench *bench, const struct pattern *pattern,
                    struct result *result)
{
    begin(bench, pattern);
    iterate(bench, pattern, true, result);
}

/* Rank 0 learns what was wrong, and where first. */
static void gather_wrong(const struct plan *plan, struct result *result)
{
    const struct assay_job *job = plan->job;
    int mine = result->wrong ? job->rank : job->size, first;
    uint64_t wrong = result->wrong;

    MPI_Allreduce(&wrong, &result->wrong, 1, MPI_UINT64_T, MPI_SUM, job->comm);
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, job->comm);
    if (first < job->size)
        MPI_Bcast(result->first, (int)sizeof(result->first), MPI_BYTE, first,
                  job->comm);
}

static void gather(const struct bench *bench, const struct pattern *pattern,
                   const double *seconds, size_t batches, struct result *result)
{
    const struct plan *plan = bench->plan;
    const struct assay_job *job = plan->job;
    bool active = !pattern->pairs || plan->partner >= 0;

    if (job->rank == 0) {
        result->seconds = assay_room(job->run, (size_t)job->size * batches,
                                     sizeof(*result->seconds), "the times");
        result->active = assay_room(job->run, (size_t)job->size,
                                    sizeof(*result->active), "the times");
    }
    MPI_Gather(seconds, (int)batches, MPI_DOUBLE, result->seconds, (int)batches,
               MPI_DOUBLE, 0, job->comm);
    MPI_Gather(&active, 1, MPI_C_BOOL, result->active, 1, MPI_C_BOOL, 0,
               job->comm);
    gather_wrong(plan, result);
    result->times = (struct times){
        .ranks = (size_t)job->size,
        .batches = batches,
        .seconds = result->seconds,
        .iterations = result->iterations,
        .active = result->active,
        .messages = pattern_messages(pattern, plan->opt),
    };
}

void measure(struct bench *bench, const struct pattern *pattern,
             struct result *result)
{
    const struct plan *plan = bench->plan;
    struct assay_run *run = plan->job->run;
    double *seconds =
        assay_room(run, plan->batches, sizeof(*seconds), "the samples");
    double *rates =
        assay_room(run, plan->batches, sizeof(*rates), "the samples");
    size_t batches;

    memset(result, 0, sizeof(*result));
    snprintf(bench->what, sizeof(bench->what), "%s msgsize=%llu", pattern->name,
             (unsigned long long)plan->size);
    result->iterations = assay_room(run, plan->batches,
                                    sizeof(*result->iterations), "the samples");
    warm_up(bench, pattern, result);
    batches = run_batches(bench, pattern, seconds, rates, result);
    gather(bench, pattern, seconds, batches, result);
    free(seconds);
    free(rates);
}

void result_free(struct result *result)
{
    free(result->seconds);
    free(result->iterations);
    free(result->active);
}
