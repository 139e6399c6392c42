/* bandwidth_measure.c - time trials, and prove what arrived. */
#include "config.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commbw/bandwidth.h"
#include "commbw/block.h"

enum { BATCH_MOST = 1 << 20, LINE = 64 };

const char *const operation_name[OPERATIONS] = {"get", "put"};

/* What a thread found out, on lines of its own. */
struct slot {
    _Alignas(LINE) double start, end;
    uint64_t wrong, verified;
    char first[128];
};

/* One measurement on this rank. */
struct trial {
    struct bench *bench;
    enum operation operation;
    int peer;       /* whose window this rank reaches, or -1 */
    int visitor;    /* who reaches this rank's, or -1 */
    uint64_t trial; /* that is stamped now */
    uint64_t batch;
    bool whole;         /* fill and compare whole blocks, not just the ends */
    atomic_size_t done; /* threads that have finished moving */
    struct slot *slots; /* [threads] */
};

static uint64_t place_of(const struct bench *bench, size_t thread,
                         uint64_t block)
{
    return (thread * bench->places + block) * bench->stride;
}

/* A block of this measurement as `rank` wrote it. */
static struct block block_of(const struct trial *t, int rank, size_t thread,
                             uint64_t block)
{
    return (struct block){
        .key = block_key((uint64_t)rank, thread, block, t->bench->measurement),
        .trial = t->trial};
}

/* Where this rank writes blocks before a trial: what it puts, or what is got
 * from it. NULL: nothing to write. */
static unsigned char *source(const struct trial *t)
{
    if (t->operation == PUT)
        return t->peer >= 0 ? t->bench->transport.buffer : NULL;
    return t->visitor >= 0 ? t->bench->transport.window : NULL;
}

/* Where blocks arrive here, and who wrote them. NULL: nothing does. */
static const unsigned char *sink(const struct trial *t, int *writer)
{
    *writer = t->operation == PUT ? t->visitor : t->peer;
    if (*writer < 0)
        return NULL;
    return t->operation == PUT ? t->bench->transport.window
                               : t->bench->transport.buffer;
}

static void fill(void *arg, size_t thread)
{
    struct trial *t = arg;
    struct bench *bench = t->bench;
    unsigned char *p = source(t);

    for (uint64_t w = 0; p && w < bench->places; w++) {
        unsigned char *at = p + place_of(bench, thread, w);
        struct block b = block_of(t, bench->plan->job->rank, thread, w);

        if (t->whole)
            block_fill(at, bench->size, b);
        else
            block_stamp(at, bench->size, b);
    }
}

static void verify(void *arg, size_t thread)
{
    struct trial *t = arg;
    struct bench *bench = t->bench;
    struct slot *slot = &t->slots[thread];
    int writer;
    const unsigned char *p = sink(t, &writer);

    for (uint64_t w = 0; p && w < bench->places; w++) {
        const unsigned char *at = p + place_of(bench, thread, w);
        struct block b = block_of(t, writer, thread, w);

        slot->verified++;
        if (t->whole ? block_whole(at, bench->size, b)
                     : block_stamped(at, bench->size, b))
            continue;
        if (slot->wrong++ == 0)
            snprintf(slot->first, sizeof(slot->first),
                     "block %llu of task %zu of rank %d on rank %d in trial "
                     "%llu",
                     (unsigned long long)w, thread, writer,
                     bench->plan->job->rank, (unsigned long long)t->trial);
    }
}

/* The tasks' moves of all trials of a batch. */
static void move(const struct trial *t, size_t thread)
{
    const struct bench *bench = t->bench;
    struct transport *transport = &t->bench->transport;
    const struct transport_kind *kind = transport->kind;
    const struct window_row row = {
        .at = place_of(bench, thread, 0),
        .n = bench->size,
        .step = bench->places > 1 ? bench->stride : 0,
        .count = bench->window,
    };

    for (uint64_t i = 0; i < t->batch; i++) {
        if (t->operation == PUT)
            kind->put(transport, thread, t->peer, &row);
        else
            kind->get(transport, thread, t->peer, &row);
        kind->flush(transport, thread, t->peer);
    }
}

/* What is timed: from the barrier of all tasks to the last flush. Who is done
 * lets others reach him until all of this rank are: they may wait for that. */
static void run(void *arg, size_t thread)
{
    struct trial *t = arg;
    struct transport *transport = &t->bench->transport;
    struct slot *slot = &t->slots[thread];

    assay_team_barrier();
    if (thread == 0)
        transport->kind->sync(transport);
    assay_team_barrier();
    slot->start = assay_now();
    if (t->peer >= 0)
        move(t, thread);
    slot->end = assay_now();
    atomic_fetch_add(&t->done, 1);
    while (atomic_load(&t->done) < t->bench->plan->threads) {
        transport->kind->progress(transport, thread);
        sched_yield();
    }
}

static void on_team(struct trial *t, assay_team_f *work)
{
    const struct plan *plan = t->bench->plan;

    if (assay_team_run((struct assay_team *)&plan->team, work, t) < 0)
        assay_die(plan->job->run, ASSAY_BROKEN,
                  "the %zu threads are no more all there", plan->threads);
}

/* One sample: from the first start to the last end of this rank's tasks. */
static void run_sample(struct trial *t, double *start, double *end)
{
    struct transport *transport = &t->bench->transport;

    assay_job_progress(t->bench->plan->job, t->bench->what);
    on_team(t, fill);
    atomic_store(&t->done, 0);
    on_team(t, run);
    *start = t->slots[0].start;
    *end = t->slots[0].end;
    for (size_t i = 1; i < t->bench->plan->threads; i++) {
        *start = t->slots[i].start < *start ? t->slots[i].start : *start;
        *end = t->slots[i].end > *end ? t->slots[i].end : *end;
    }
    transport->kind->sync(transport);
    on_team(t, verify);
    transport->kind->sync(transport);
    t->trial++;
}

/* Longer batches until one takes the time that the clock needs; this warms up,
 * too. All ranks come to the same number. */
static void find_batch(struct trial *t)
{
    const struct plan *plan = t->bench->plan;
    double start, end, mine, longest;

    t->batch = 1;
    t->whole = true;
    run_sample(t, &start, &end);
    t->whole = false;
    for (;;) {
        uint64_t more;

        run_sample(t, &start, &end);
        mine = t->peer >= 0 ? end - start : 0.0;
        MPI_Allreduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, plan->job->comm);
        if (longest >= plan->target || t->batch >= BATCH_MOST)
            return;
        more =
            longest > plan->target / 10.0
                ? (uint64_t)(1.3 * plan->target / longest * (double)t->batch) +
                      1
                : 10 * t->batch;
        t->batch = more < BATCH_MOST ? more : BATCH_MOST;
    }
}

/* Who reaches whom, of this scene's pairs. */
static void find_peer(struct trial *t, const struct scene *scene)
{
    const struct plan *plan = t->bench->plan;
    const struct locales *l = &plan->locales;
    size_t locale = locales_of(l, plan->job->rank);
    size_t member = locales_member(l, plan->job->rank);

    t->peer = t->visitor = -1;
    for (size_t p = 0; p < scene->n; p++) {
        const struct pair *pair = &scene->pairs[p];

        if (pair->origin == locale)
            t->peer = locales_rank(l, pair->target, member);
        else if (pair->target == locale)
            t->visitor = locales_rank(l, pair->origin, member);
    }
    if (plan->opt->bidirectional && t->peer >= 0)
        t->visitor = t->peer;
    else if (plan->opt->bidirectional)
        t->peer = t->visitor;
}

static void *array(const struct plan *plan, size_t n, size_t size)
{
    return assay_room(plan->job->run, n, size, "the samples");
}

/* Times, and what was wrong, to rank 0. */
static void gather(struct trial *t, double *start, double *end,
                   struct result *result)
{
    const struct plan *plan = t->bench->plan;
    const struct assay_job *job = plan->job;
    size_t ranks = (size_t)job->size;
    int n = (int)result->trials;
    struct slot sum = {.first = ""};
    char active = t->peer >= 0, *all = array(plan, ranks, 1);
    char *firsts = array(plan, ranks, sizeof(sum.first));

    for (size_t i = 0; i < plan->threads; i++) {
        sum.wrong += t->slots[i].wrong;
        sum.verified += t->slots[i].verified;
        if (!*sum.first)
            memcpy(sum.first, t->slots[i].first, sizeof(sum.first));
    }
    MPI_Gather(start, n, MPI_DOUBLE, result->start, n, MPI_DOUBLE, 0,
               job->comm);
    MPI_Gather(end, n, MPI_DOUBLE, result->end, n, MPI_DOUBLE, 0, job->comm);
    MPI_Gather(&active, 1, MPI_CHAR, all, 1, MPI_CHAR, 0, job->comm);
    MPI_Gather(sum.first, sizeof(sum.first), MPI_CHAR, firsts,
               sizeof(sum.first), MPI_CHAR, 0, job->comm);
    MPI_Reduce(&sum.wrong, &result->wrong, 1, MPI_UINT64_T, MPI_SUM, 0,
               job->comm);
    MPI_Reduce(&sum.verified, &result->verified, 1, MPI_UINT64_T, MPI_SUM, 0,
               job->comm);
    for (size_t r = ranks; r-- > 0;) {
        result->active[r] = all[r];
        if (firsts[r * sizeof(sum.first)])
            memcpy(result->first, firsts + r * sizeof(sum.first),
                   sizeof(result->first));
    }
    free(all);
    free(firsts);
}

/* All samples, the last of which is compared whole. */
static void run_trials(struct trial *t, struct result *result)
{
    const struct plan *plan = t->bench->plan;
    double *start = array(plan, result->trials, sizeof(*start));
    double *end = array(plan, result->trials, sizeof(*end));
    struct clocks before, after;

    clocks_compare(plan->job, &before);
    for (uint64_t i = 0; i < result->trials; i++) {
        t->whole = i + 1 == result->trials;
        run_sample(t, &start[i], &end[i]);
    }
    clocks_compare(plan->job, &after);
    for (uint64_t i = 0; i < result->trials; i++) {
        start[i] = clocks_common(&before, &after, start[i]);
        end[i] = clocks_common(&before, &after, end[i]);
    }
    result->clock_error =
        before.error > after.error ? before.error : after.error;
    gather(t, start, end, result);
    free(start);
    free(end);
}

void measure(struct bench *bench, const struct scene *scene,
             struct result *result)
{
    const struct plan *plan = bench->plan;
    size_t ranks = (size_t)plan->job->size;
    struct trial t = {.bench = bench, .operation = scene->operation};

    bench->measurement++;
    snprintf(bench->what, sizeof(bench->what), "%s size=%llu pair=%zu:%zu",
             operation_name[scene->operation], (unsigned long long)bench->size,
             scene->pairs[0].origin, scene->pairs[0].target);
    *result = (struct result){.trials = plan->opt->trials};
    result->start = array(plan, ranks * result->trials, sizeof(double));
    result->end = array(plan, ranks * result->trials, sizeof(double));
    result->active = array(plan, ranks, sizeof(bool));
    t.slots = aligned_alloc(LINE, plan->threads * sizeof(*t.slots));
    if (!t.slots)
        assay_die(plan->job->run, ASSAY_BROKEN, "tasks: %s", strerror(ENOMEM));
    memset(t.slots, 0, plan->threads * sizeof(*t.slots));
    atomic_init(&t.done, 0);
    find_peer(&t, scene);
    find_batch(&t);
    result->batch = t.batch;
    run_trials(&t, result);
    free(t.slots);
}

void result_free(struct result *result)
{
    free(result->start);
    free(result->end);
    free(result->active);
}

/* Is the rank a target, is it an origin, of any pair? */
static void roles(const struct plan *plan, bool *origin, bool *target)
{
    size_t locale = locales_of(&plan->locales, plan->job->rank);

    *origin = *target = false;
    for (size_t p = 0; p < plan->npairs; p++) {
        *origin |= plan->pairs[p].origin == locale;
        *target |= plan->pairs[p].target == locale;
    }
    if (plan->opt->bidirectional)
        *origin = *target = *origin || *target;
}

/* Each task touches its own part of both first. */
static void touch(void *arg, size_t thread)
{
    struct bench *bench = arg;
    struct transport *t = &bench->transport;

    for (uint64_t w = 0; w < bench->places; w++) {
        uint64_t at = place_of(bench, thread, w);

        if (t->window_bytes)
            memset(t->window + at, 0, bench->size);
        if (t->buffer_bytes)
            memset(t->buffer + at, 0, bench->size);
    }
}

void bench_make(struct bench *bench, const struct plan *plan, uint64_t size)
{
    bool origin, target;
    uint64_t bytes;

    *bench = (struct bench){
        .plan = plan,
        .size = size,
        .window = plan_window(plan, size),
        .places = plan->opt->one_place ? 1 : plan_window(plan, size),
        .stride = (size + LINE - 1) / LINE * LINE};
    roles(plan, &origin, &target);
    bytes = bench->stride * (bench->places * plan->threads - 1) + size;
    bench->transport = (struct transport){
        .kind = plan->transport,
        .job = plan->job,
        .window_kind = (enum window_kind)plan->opt->kind,
        .threads = plan->threads,
        .window_bytes = target ? bytes : 0,
        .buffer_bytes = origin ? bytes : 0,
    };
    snprintf(bench->what, sizeof(bench->what), "windows of %llu bytes",
             (unsigned long long)bytes);
    assay_job_progress(plan->job, bench->what);
    transport_open(&bench->transport);
    if (assay_team_run((struct assay_team *)&plan->team, touch, bench) < 0)
        assay_die(plan->job->run, ASSAY_BROKEN, "not all threads are there");
    bench->transport.kind->sync(&bench->transport);
}

void bench_free(struct bench *bench)
{
    transport_close(&bench->transport);
}
