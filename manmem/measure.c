/* measure.c - fill, iterate, read back, ping-pong, and the same kernel on
 * device memory; of one device, or of several at the same time. */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "manmem/pattern.h"
#include "manmem/session.h"

/* Devices measured together. */
struct group {
    const struct plan *plan;
    struct session *sessions;
    size_t n;
};

static void *room(const struct plan *plan, uint64_t n, size_t size)
{
    return assay_room(plan->run, n, size, "the samples");
}

static size_t sums_bytes(const struct plan *plan)
{
    return plan->threads * pattern_size((enum gpu_type)plan->opt->type);
}

/*
 * The kernel, on all devices of a group.
 */
struct lane {
    const struct gpu_backend *backend;
    struct session *session;
    struct gpu_work work;
    pthread_barrier_t *barrier; /* NULL where it is alone */
    struct gpu_error error;
    int status;
};

static void *lane_run(void *argument)
{
    struct lane *lane = argument;
    struct session *s = lane->session;
    double start;

    if (lane->barrier)
        pthread_barrier_wait(lane->barrier);
    start = assay_now();
    lane->status = lane->backend->sum(s->device->gpu, &lane->work,
                                      &s->last_kernel, &lane->error);
    s->last = assay_now() - start;
    return NULL;
}

static struct lane lane_of(const struct plan *plan, struct session *s,
                           const void *source)
{
    const struct options *opt = plan->opt;

    return (struct lane){.backend = plan->backend,
                         .session = s,
                         .work = {.sums = s->sums,
                                  .source = source,
                                  .type = (enum gpu_type)opt->type,
                                  .access = (enum gpu_access)opt->access,
                                  .threads = (unsigned)opt->block_size,
                                  .blocks = (unsigned)opt->num_blocks,
                                  .elements = opt->elements}};
}

/* A thread for each device, so that none waits for another's end. */
static void run_together(const struct group *g, struct lane *lanes)
{
    pthread_t threads[DEVICES_MOST];
    pthread_barrier_t barrier;

    pthread_barrier_init(&barrier, NULL, (unsigned)g->n);
    for (size_t i = 0; i < g->n; i++) {
        int number;

        lanes[i].barrier = &barrier;
        number = pthread_create(&threads[i], NULL, lane_run, &lanes[i]);
        if (number)
            assay_die(g->plan->run, ASSAY_BROKEN, "threads: %s",
                      strerror(number));
    }
    for (size_t i = 0; i < g->n; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
}

/* Run the kernel once on each, on managed memory or on the copy of it. */
static void run_kernel(const struct group *g, bool managed)
{
    struct lane lanes[DEVICES_MOST];

    for (size_t i = 0; i < g->n; i++) {
        struct session *s = &g->sessions[i];

        lanes[i] = lane_of(g->plan, s, managed ? s->managed : s->copied);
    }
    if (g->n > 1)
        run_together(g, lanes);
    else
        lane_run(&lanes[0]);
    for (size_t i = 0; i < g->n; i++)
        manmem_check(g->plan, g->sessions[i].device->index,
                     "running the kernel", lanes[i].status, &lanes[i].error);
}

/* How many of the sums that the kernel left are not those of a round, and the
 * first of them. Outside of all times. */
static uint64_t wrong_sums(const struct plan *plan, const struct session *s,
                           const uint64_t *wanted, uint64_t *first)
{
    struct gpu_error error = {""};
    void *sums = room(plan, sums_bytes(plan), 1);
    uint64_t wrong;

    manmem_check(plan, s->device->index, "copying the sums",
                 plan->backend->copy(s->device->gpu, sums, s->sums,
                                     sums_bytes(plan), GPU_TO_HOST, &error),
                 &error);
    wrong = pattern_wrong_sums(sums, (enum gpu_type)plan->opt->type, wanted,
                               plan->threads, first);
    free(sums);
    return wrong;
}

static void write_sums(const struct plan *plan, const struct session *s,
                       uint64_t wrong, uint64_t first, const char *name,
                       const char *number_key, uint64_t number)
{
    struct assay_fields keys = {0};

    assay_fields_append(&keys, &s->keys);
    assay_fields_count(&keys, number_key, number);
    if (wrong > 0)
        assay_fields_count(&keys, "first_wrong", first);
    assay_check(plan->run, name, (double)wrong, 0.0, &keys);
    assay_fields_free(&keys);
}

static void check_sums(const struct plan *plan, const struct session *s,
                       const char *name, uint64_t iteration)
{
    uint64_t first = 0, wrong = wrong_sums(plan, s, plan->sums, &first);

    write_sums(plan, s, wrong, first, name, "iteration", iteration);
}

/* So that no sum is one of the iteration before. */
static void spoil_sums(const struct plan *plan, const struct session *s)
{
    struct gpu_error error = {""};
    void *sums = room(plan, sums_bytes(plan), 1);

    memset(sums, 0xff, sums_bytes(plan));
    manmem_check(plan, s->device->index, "clearing the sums",
                 plan->backend->copy(s->device->gpu, s->sums, sums,
                                     sums_bytes(plan), GPU_TO_DEVICE, &error),
                 &error);
    free(sums);
}

static void spoil_all(const struct group *g)
{
    for (size_t i = 0; i < g->n; i++)
        spoil_sums(g->plan, &g->sessions[i]);
}

/*
 * The phases.
 */
static void allocate(const struct plan *plan, const struct session *s,
                     enum gpu_memory kind, size_t bytes, void **p)
{
    struct gpu_error error = {""};

    manmem_watch(plan, 1, "allocating memory");
    manmem_check(
        plan, s->device->index,
        kind == GPU_MANAGED ? "allocating managed memory"
                            : "allocating device memory",
        plan->backend->allocate(s->device->gpu, kind, bytes, p, &error),
        &error);
}

static void release(const struct plan *plan, const struct session *s, void **p)
{
    struct gpu_error error = {""};

    manmem_check(plan, s->device->index, "releasing memory",
                 plan->backend->release(s->device->gpu, *p, &error), &error);
    *p = NULL;
}

/* Allocate, advise, and let the host write it all. */
static void fill(const struct group *g, struct session *s)
{
    const struct plan *plan = g->plan;
    struct gpu_error error = {""};
    double start;

    allocate(plan, s, GPU_DEVICE, sums_bytes(plan), &s->sums);
    allocate(plan, s, GPU_MANAGED, plan->bytes, &s->managed);
    manmem_check(plan, s->device->index, "advising",
                 plan->backend->advise(s->device->gpu, s->managed, plan->bytes,
                                       (enum gpu_advice)plan->opt->advise,
                                       &error),
                 &error);
    manmem_report_start(plan, s, g->n);
    manmem_watch(plan, 1, "the host fills managed memory");
    start = assay_now();
    pattern_fill(s->managed, (enum gpu_type)plan->opt->type, 0, plan->elements,
                 0);
    s->fill = assay_now() - start;
    manmem_report_fill(plan, s);
}

static void prefetch(const struct plan *plan, struct session *s)
{
    struct gpu_error error = {""};
    double start = assay_now();

    manmem_watch(plan, 1, "prefetching");
    manmem_check(plan, s->device->index, "prefetching",
                 plan->backend->prefetch(s->device->gpu, s->managed,
                                         plan->bytes, GPU_TO_DEVICE, &error),
                 &error);
    s->prefetch = assay_now() - start;
    manmem_report_prefetch(plan, s);
}

static uint64_t faults_now(const struct plan *plan, const struct session *s)
{
    uint64_t faults = 0, bytes = 0;

    if (plan->backend->moved)
        plan->backend->moved(s->device->gpu, &faults, &bytes);
    return faults;
}

static void iterate(const struct group *g)
{
    const struct plan *plan = g->plan;
    char what[64];

    for (uint64_t i = 0; i < plan->opt->iterations; i++) {
        spoil_all(g);
        for (size_t k = 0; k < g->n; k++)
            g->sessions[k].faults[i] = faults_now(plan, &g->sessions[k]);
        snprintf(what, sizeof(what), "iteration %llu", (unsigned long long)i);
        manmem_watch(plan, g->n, what);
        run_kernel(g, true);
        for (size_t k = 0; k < g->n; k++) {
            struct session *s = &g->sessions[k];

            s->seconds[i] = s->last;
            s->kernel[i] = s->last_kernel;
            s->faults[i] = faults_now(plan, s) - s->faults[i];
            manmem_report_iteration(plan, s, i);
            check_sums(plan, s, "sums", i);
        }
    }
}

/* All of it, eight bytes at a time: what a read is worth, and no more. */
static uint64_t read_all(const void *base, uint64_t bytes)
{
    const volatile uint64_t *words = base;
    const volatile unsigned char *rest = base;
    uint64_t n = bytes / sizeof(*words), sum = 0;

    for (uint64_t i = 0; i < n; i++)
        sum += words[i];
    for (uint64_t i = n * sizeof(*words); i < bytes; i++)
        sum += rest[i];
    return sum;
}

/* The host reads what the device had, and then, untimed, compares it. */
static void write_back(const struct plan *plan, struct session *s)
{
    uint64_t faults = faults_now(plan, s), wrong;
    double start;

    manmem_watch(plan, 1, "the host reads managed memory");
    start = assay_now();
    (void)read_all(s->managed, plan->bytes);
    s->write_back = assay_now() - start;
    s->faults_back = faults_now(plan, s) - faults;
    manmem_watch(plan, 1, "the host compares managed memory");
    wrong = pattern_wrong(s->managed, (enum gpu_type)plan->opt->type,
                          plan->elements, 0);
    assay_check(plan->run, "writeback.data", (double)wrong, 0.0, &s->keys);
}

/* K iterations of a round, each of which must be right. */
static void take_turns(const struct group *g, uint64_t round,
                       const uint64_t *wanted)
{
    const struct plan *plan = g->plan;
    uint64_t wrong[DEVICES_MOST] = {0}, first[DEVICES_MOST] = {0};

    for (uint64_t i = 0; i < plan->opt->ping_pong; i++) {
        spoil_all(g);
        manmem_watch(plan, g->n, "an iteration of ping-pong");
        run_kernel(g, true);
        for (size_t k = 0; k < g->n; k++) {
            struct session *s = &g->sessions[k];

            s->cycle[round] += s->last;
            if (wrong[k] == 0)
                wrong[k] = wrong_sums(plan, s, wanted, &first[k]);
        }
    }
    for (size_t k = 0; k < g->n; k++)
        write_sums(plan, &g->sessions[k], wrong[k], first[k], "pingpong.sums",
                   "round", round);
}

/* Rounds of: the host writes all of it anew; K iterations. */
static void ping_pong(const struct group *g)
{
    const struct plan *plan = g->plan;
    const struct options *opt = plan->opt;
    uint64_t *wanted = room(plan, plan->threads, sizeof(*wanted));

    for (size_t k = 0; k < g->n; k++)
        g->sessions[k].faults_turns = faults_now(plan, &g->sessions[k]);
    for (uint64_t r = 0; r < opt->rounds; r++) {
        pattern_sums(wanted, plan->threads, opt->elements,
                     (enum gpu_access)opt->access, r + 1);
        for (size_t k = 0; k < g->n; k++) {
            struct session *s = &g->sessions[k];
            double start;

            manmem_watch(plan, 1, "the host writes managed memory anew");
            start = assay_now();
            pattern_fill(s->managed, (enum gpu_type)opt->type, 0,
                         plan->elements, r + 1);
            s->touch[r] = assay_now() - start;
            s->cycle[r] = s->touch[r];
        }
        take_turns(g, r, wanted);
    }
    for (size_t k = 0; k < g->n; k++)
        g->sessions[k].faults_turns =
            faults_now(plan, &g->sessions[k]) - g->sessions[k].faults_turns;
    free(wanted);
}

/* Copy the pattern to device memory, by pieces of the host's own memory; the
 * pieces' own making is not counted. */
enum { PIECE = 1 << 26 };

static void copy_in(const struct plan *plan, struct session *s)
{
    size_t size = pattern_size((enum gpu_type)plan->opt->type);
    struct gpu_error error = {""};
    char *piece = room(plan, PIECE, 1);

    manmem_watch(plan, 1, "copying to device memory");
    for (uint64_t at = 0; at < plan->bytes; at += PIECE) {
        uint64_t n = plan->bytes - at < PIECE ? plan->bytes - at : PIECE;
        double start;

        pattern_fill(piece, (enum gpu_type)plan->opt->type, at / size, n / size,
                     0);
        start = assay_now();
        manmem_check(plan, s->device->index, "copying to device memory",
                     plan->backend->copy(s->device->gpu, (char *)s->copied + at,
                                         piece, n, GPU_TO_DEVICE, &error),
                     &error);
        s->copy += assay_now() - start;
    }
    free(piece);
}

/* The same kernel on the same bytes where nothing has to move: what steady is
 * held to. */
static void direct(const struct group *g)
{
    const struct plan *plan = g->plan;

    for (size_t k = 0; k < g->n; k++) {
        release(plan, &g->sessions[k], &g->sessions[k].managed);
        allocate(plan, &g->sessions[k], GPU_DEVICE, plan->bytes,
                 &g->sessions[k].copied);
        copy_in(plan, &g->sessions[k]);
    }
    for (uint64_t i = 0; i < plan->opt->iterations; i++) {
        spoil_all(g);
        manmem_watch(plan, g->n, "an iteration on device memory");
        run_kernel(g, false);
        for (size_t k = 0; k < g->n; k++) {
            g->sessions[k].direct[i] = g->sessions[k].last;
            check_sums(plan, &g->sessions[k], "device.sums", i);
        }
    }
}

static void session_make(const struct plan *plan, struct session *s,
                         const struct device *device)
{
    uint64_t n = plan->opt->iterations, rounds = plan->opt->rounds;

    *s = (struct session){.device = device};
    s->seconds = room(plan, n, sizeof(*s->seconds));
    s->kernel = room(plan, n, sizeof(*s->kernel));
    s->direct = room(plan, n, sizeof(*s->direct));
    s->faults = room(plan, n, sizeof(*s->faults));
    s->touch = room(plan, rounds, sizeof(*s->touch));
    s->cycle = room(plan, rounds, sizeof(*s->cycle));
}

static void session_free(const struct plan *plan, struct session *s)
{
    release(plan, s, &s->sums);
    if (s->managed)
        release(plan, s, &s->managed);
    if (s->copied)
        release(plan, s, &s->copied);
    assay_fields_free(&s->keys);
    free(s->seconds);
    free(s->kernel);
    free(s->direct);
    free(s->faults);
    free(s->touch);
    free(s->cycle);
}

void manmem_measure(const struct plan *plan, const struct device *devices,
                    size_t n)
{
    struct group g = {plan, room(plan, n, sizeof(struct session)), n};

    for (size_t k = 0; k < n; k++) {
        session_make(plan, &g.sessions[k], &devices[k]);
        fill(&g, &g.sessions[k]);
    }
    for (size_t k = 0; k < n && plan->opt->prefetch; k++)
        prefetch(plan, &g.sessions[k]);
    iterate(&g);
    for (size_t k = 0; k < n; k++)
        write_back(plan, &g.sessions[k]);
    if (plan->opt->ping_pong)
        ping_pong(&g);
    if (plan->fits)
        direct(&g);
    for (size_t k = 0; k < n; k++) {
        manmem_report_end(plan, &g.sessions[k]);
        session_free(plan, &g.sessions[k]);
    }
    free(g.sessions);
}
