/* team.c - a pinned team of OpenMP threads, and its stop-watch. */
#include "config.h"

#include <errno.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "lib/clock.h"
#include "lib/team.h"
#include "lib/units.h"

enum { LINE = 64, STRIDE = 1000003 };

/* See where the thread is now; a change since the last look is a move. */
static void look(struct assay_seat *seat)
{
    int cpu = assay_cpu_now();

    if (seat->cpu >= 0 && cpu != seat->cpu)
        seat->moves++;
    seat->cpu = cpu;
}

static void take_seat(const struct assay_team *team, struct assay_seat *seat)
{
    if (seat->planned >= 0)
        seat->bound = assay_pin_thread(seat->planned) == 0 && seat->bound;
    else
        assay_unpin_thread(team->topology);
    look(seat);
}

int assay_team_run(struct assay_team *team, assay_team_f *work, void *arg)
{
    bool complete = true;

#ifdef _OPENMP
#pragma omp parallel num_threads((int)team->threads)
    {
        size_t thread = (size_t)omp_get_thread_num();

        if ((size_t)omp_get_num_threads() == team->threads) {
            take_seat(team, &team->seats[thread]);
            work(arg, thread);
            look(&team->seats[thread]);
        } else if (thread == 0) {
            complete = false;
        }
    }
#else
    take_seat(team, &team->seats[0]);
    work(arg, 0);
    look(&team->seats[0]);
#endif
    if (!complete)
        errno = EAGAIN;
    return complete ? 0 : -1;
}

void assay_team_barrier(void){
#ifdef _OPENMP
#pragma omp barrier
#endif
}

size_t assay_team_count(size_t requested)
{
    size_t counted = 1;

#ifdef _OPENMP
    omp_set_dynamic(0);
#pragma omp parallel num_threads((int)requested)
    {
#pragma omp master
        counted = (size_t)omp_get_num_threads();
    }
#endif
    (void)requested;
    return counted;
}

static void nothing(void *arg, size_t thread)
{
    (void)arg, (void)thread;
}

int assay_team_form(struct assay_team *team, const struct assay_topology *t,
                    enum assay_pin pin, size_t threads, int numa)
{
    size_t counted = assay_team_count(threads);
    int *cpus = calloc(counted, sizeof(*cpus));

    *team = (struct assay_team){.topology = t,
                                .requested = threads,
                                .threads = counted,
                                .pin = pin,
                                .seats = calloc(counted, sizeof(*team->seats))};
    if (!cpus || !team->seats) {
        errno = ENOMEM;
    } else if (assay_pin_plan(t, pin, counted, numa, cpus) < 0) {
        errno = ENODEV;
    } else {
        for (size_t i = 0; i < counted; i++)
            team->seats[i] = (struct assay_seat){
                .planned = cpus[i], .cpu = -1, .bound = true};
        free(cpus);
        if (assay_team_run(team, nothing, NULL) == 0) {
            for (size_t i = 0; i < counted; i++)
                team->seats[i].moves = 0;
            return 0;
        }
        cpus = NULL;
    }
    free(cpus);
    free(team->seats);
    team->seats = NULL;
    return -1;
}

void assay_team_dissolve(struct assay_team *team)
{
    assay_unpin_thread(team->topology);
    free(team->seats);
    team->seats = NULL;
}

void assay_team_slice(const struct assay_team *team, size_t thread,
                      uint64_t total, size_t size, uint64_t *begin, uint64_t *n)
{
    uint64_t a_line = LINE / size, lines = total / a_line + !!(total % a_line);
    uint64_t each = lines / team->threads, rest = lines % team->threads;
    uint64_t first = each * thread + (thread < rest ? thread : rest);
    uint64_t last = first + each + (thread < rest);

    *begin = first * a_line < total ? first * a_line : total;
    *n = (last * a_line < total ? last * a_line : total) - *begin;
}

/* Physical core of a CPU, or a number that no core has. */
static unsigned core_of(const struct assay_topology *t, int cpu)
{
    for (size_t i = 0; i < t->ncpus; i++)
        if ((int)t->cpus[i].cpu == cpu)
            return t->cpus[i].core;
    return (unsigned)-1;
}

size_t assay_team_crowded(const struct assay_team *team)
{
    size_t crowded = 0;

    for (size_t i = 0; i < team->threads; i++) {
        unsigned core = core_of(team->topology, team->seats[i].cpu);
        bool shared = false;

        for (size_t j = 0; j < team->threads && !shared; j++)
            shared =
                i != j && core == core_of(team->topology, team->seats[j].cpu);
        crowded += shared;
    }
    return crowded;
}

size_t assay_team_moved(const struct assay_team *team)
{
    size_t moved = 0;

    for (size_t i = 0; i < team->threads; i++)
        moved += team->seats[i].moves > 0;
    return moved;
}

size_t assay_team_unbound(const struct assay_team *team)
{
    size_t unbound = 0;

    for (size_t i = 0; i < team->threads; i++)
        unbound += team->seats[i].planned >= 0 &&
                   (!team->seats[i].bound ||
                    team->seats[i].cpu != team->seats[i].planned);
    return unbound;
}

char *assay_team_cpus(const struct assay_team *team)
{
    int *cpus = calloc(team->threads, sizeof(*cpus));
    char *list;

    if (!cpus)
        return NULL;
    for (size_t i = 0; i < team->threads; i++)
        cpus[i] = team->seats[i].cpu;
    list = assay_cpu_list(cpus, team->threads);
    free(cpus);
    return list;
}

/* Bytes to map for one array. */
static uint64_t map_bytes(enum assay_type type, uint64_t n)
{
    return assay_product(n, assay_type_size(type));
}

uint64_t assay_arrays_bytes(enum assay_type type, uint64_t n)
{
    return assay_product(map_bytes(type, n), ASSAY_ARRAYS);
}

int assay_arrays_map(struct assay_arrays *arrays, enum assay_type type,
                     uint64_t n, enum assay_hugepages huge, int node)
{
    *arrays = (struct assay_arrays){
        .type = type, .n = n, .bytes = map_bytes(type, n), .huge = huge};
    if (arrays->bytes > SIZE_MAX / 8) {
        errno = EOVERFLOW;
        return -1;
    }
    for (int i = 0; i < ASSAY_ARRAYS; i++) {
        arrays->map[i] = assay_map(arrays->bytes, huge, node);
        arrays->base[i] = arrays->map[i];
        if (!arrays->map[i]) {
            int error = errno;

            assay_arrays_unmap(arrays);
            errno = error;
            return -1;
        }
    }
    return 0;
}

void assay_arrays_unmap(struct assay_arrays *arrays)
{
    for (int i = 0; i < ASSAY_ARRAYS; i++)
        if (arrays->map[i])
            assay_unmap(arrays->map[i], arrays->bytes, arrays->huge);
    memset(arrays->map, 0, sizeof(arrays->map));
    memset(arrays->base, 0, sizeof(arrays->base));
}

static uint64_t faults_now(void)
{
    struct rusage usage;

#ifdef RUSAGE_THREAD
    if (getrusage(RUSAGE_THREAD, &usage) == 0)
        return (uint64_t)usage.ru_minflt;
#else
    (void)usage;
#endif
    return 0;
}

struct touch {
    struct assay_team *team;
    struct assay_arrays *arrays;
};

static void touch_slices(void *arg, size_t thread)
{
    struct touch *touch = arg;
    struct assay_arrays *arrays = touch->arrays;
    struct assay_expected start = assay_expect_start();
    uint64_t begin, n, before = faults_now();

    assay_team_slice(touch->team, thread, arrays->n,
                     assay_type_size(arrays->type), &begin, &n);
    for (int i = 0; i < ASSAY_ARRAYS; i++)
        assay_fill(arrays->base[i], arrays->type, start.factor[i],
                   start.flat[i], begin, n);
    touch->team->seats[thread].faults = faults_now() - before;
    touch->team->seats[thread].now = start;
    memset(touch->team->seats[thread].spots, 0,
           sizeof(touch->team->seats[thread].spots));
}

int assay_team_touch(struct assay_team *team, struct assay_arrays *arrays)
{
    struct touch touch = {.team = team, .arrays = arrays};

    return assay_team_run(team, touch_slices, &touch);
}

/* What a thread reports after each kernel, on lines of its own. */
struct slot {
    double start, end;
    uint32_t words;
    bool busy; /* it had elements to work on */
} __attribute__((aligned(2 * LINE)));

struct timing {
    struct assay_team *team;
    const struct assay_arrays *arrays;
    const struct assay_kernels *kernels;
    enum assay_cycle cycle;
    struct assay_times *times;
    struct slot *slots;
};

/* Thread 0, while the others wait: the slots become one time. */
static void collect(const struct timing *timing, size_t op, uint64_t r)
{
    struct assay_times *times = timing->times;
    double start = DBL_MAX, end = 0.0, longest = 0.0;
    uint32_t words = 0;

    for (size_t i = 0; i < timing->team->threads; i++) {
        const struct slot *slot = &timing->slots[i];

        if (!slot->busy)
            continue;
        start = slot->start < start ? slot->start : start;
        end = slot->end > end ? slot->end : end;
        if (slot->end - slot->start > longest)
            longest = slot->end - slot->start;
        words += slot->words;
    }
    times->seconds[op * times->repetitions + r] = end - start;
    if (r > 0 && longest < times->shortest[op])
        times->shortest[op] = longest;
    if (op == ASSAY_READ)
        times->words[r] = words;
}

static void *at(const struct assay_arrays *arrays, unsigned array,
                uint64_t begin)
{
    if (array >= ASSAY_ARRAYS)
        return NULL;
    return (char *)arrays->base[array] + begin * assay_type_size(arrays->type);
}

void assay_team_spot(struct assay_team *team, size_t thread,
                     const struct assay_arrays *arrays, enum assay_cycle cycle,
                     enum assay_op op, uint64_t r)
{
    struct assay_seat *seat = &team->seats[thread];
    unsigned dst = assay_work(op)->dst;
    uint64_t begin, n;

    assay_expect(&seat->now, op, assay_scalar(cycle, op, r));
    assay_team_slice(team, thread, arrays->n, assay_type_size(arrays->type),
                     &begin, &n);
    if (n == 0 || dst >= ASSAY_ARRAYS)
        return;
    seat->spots[dst] = assay_error_join(
        seat->spots[dst],
        assay_verify(arrays->base[dst], arrays->type, seat->now.factor[dst],
                     seat->now.flat[dst], begin + r * STRIDE % n, 1));
}

static void time_slices(void *arg, size_t thread)
{
    const struct timing *timing = arg;
    const struct assay_arrays *arrays = timing->arrays;
    struct slot *slot = &timing->slots[thread];
    uint64_t begin, n;

    assay_team_slice(timing->team, thread, arrays->n,
                     assay_type_size(arrays->type), &begin, &n);
    slot->busy = n > 0;
    for (uint64_t r = 0; r < timing->times->repetitions; r++) {
        for (size_t op = 0; op < timing->times->ops; op++) {
            const struct assay_work *w = assay_work((enum assay_op)op);
            double s = assay_scalar(timing->cycle, (enum assay_op)op, r);
            void *dst = at(arrays, w->dst, begin);
            const void *x = at(arrays, w->x, begin);
            const void *y = at(arrays, w->y, begin);

            assay_team_barrier();
            slot->start = assay_now();
            slot->words = timing->kernels->run[op](dst, x, y, s, n);
            slot->end = assay_now();
            assay_team_barrier();
            look(&timing->team->seats[thread]);
            assay_team_spot(timing->team, thread, arrays, timing->cycle,
                            (enum assay_op)op, r);
            if (thread == 0)
                collect(timing, op, r);
        }
    }
}

static int times_alloc(struct assay_times *times, size_t ops,
                       uint64_t repetitions)
{
    *times = (struct assay_times){
        .ops = ops,
        .repetitions = repetitions,
        .seconds = calloc(repetitions, ops * sizeof(*times->seconds)),
        .shortest = calloc(ops, sizeof(*times->shortest)),
        .words = calloc(repetitions, sizeof(*times->words))};
    if (!times->seconds || !times->shortest || !times->words) {
        assay_times_free(times);
        errno = ENOMEM;
        return -1;
    }
    for (size_t op = 0; op < ops; op++)
        times->shortest[op] = DBL_MAX;
    return 0;
}

int assay_team_time(struct assay_team *team, const struct assay_arrays *arrays,
                    const struct assay_kernels *kernels, enum assay_cycle cycle,
                    uint64_t repetitions, struct assay_times *times)
{
    struct timing timing = {.team = team,
                            .arrays = arrays,
                            .kernels = kernels,
                            .cycle = cycle,
                            .times = times};
    int result;

    if (times_alloc(times, assay_cycle_ops(cycle), repetitions) < 0)
        return -1;
    timing.slots = aligned_alloc(_Alignof(struct slot),
                                 team->threads * sizeof(*timing.slots));
    if (!timing.slots) {
        assay_times_free(times);
        errno = ENOMEM;
        return -1;
    }
    memset(timing.slots, 0, team->threads * sizeof(*timing.slots));
    result = assay_team_run(team, time_slices, &timing);
    free(timing.slots);
    if (result < 0) {
        assay_times_free(times);
        errno = EAGAIN;
    }
    return result;
}

void assay_times_free(struct assay_times *times)
{
    free(times->seconds);
    free(times->shortest);
    free(times->words);
    *times = (struct assay_times){0};
}

struct verdict {
    struct assay_error errors[ASSAY_ARRAYS];
    uint32_t words; /* what read returns where a's factor is 1 */
};

struct verifying {
    const struct assay_team *team;
    const struct assay_arrays *arrays;
    struct assay_expected end;
    bool want_words;
    struct verdict *verdicts;
};

static void verify_slices(void *arg, size_t thread)
{
    const struct verifying *v = arg;
    const struct assay_arrays *arrays = v->arrays;
    struct verdict *verdict = &v->verdicts[thread];
    uint64_t begin, n;

    assay_team_slice(v->team, thread, arrays->n, assay_type_size(arrays->type),
                     &begin, &n);
    for (int i = 0; i < ASSAY_ARRAYS; i++)
        verdict->errors[i] =
            assay_verify(arrays->base[i], arrays->type, v->end.factor[i],
                         v->end.flat[i], begin, n);
    if (v->want_words)
        verdict->words = assay_expect_words(arrays->type, 1.0, begin, n);
}

/* Repetitions in which read did not return the sum of a as it then was. */
static uint64_t count_wrong_sums(const struct assay_times *times,
                                 enum assay_cycle cycle,
                                 const struct assay_arrays *arrays,
                                 uint32_t words)
{
    struct assay_expected e = assay_expect_start();
    uint64_t wrong = 0;

    for (uint64_t r = 0; r < times->repetitions; r++)
        for (size_t op = 0; op < times->ops; op++) {
            if (op == ASSAY_READ)
                wrong += times->words[r] !=
                         assay_scale_words(arrays->type, words, arrays->n,
                                           e.factor[ASSAY_A]);
            assay_expect(&e, (enum assay_op)op,
                         assay_scalar(cycle, (enum assay_op)op, r));
        }
    return wrong;
}

int assay_team_verify(struct assay_team *team,
                      const struct assay_arrays *arrays, enum assay_cycle cycle,
                      const struct assay_times *times,
                      struct assay_error errors[ASSAY_ARRAYS],
                      uint64_t *wrong_sums)
{
    struct verifying v = {.team = team,
                          .arrays = arrays,
                          .end = assay_expect_end(cycle, times->repetitions),
                          .want_words = times->ops > ASSAY_READ};
    uint32_t words = 0;
    int result;

    v.verdicts = calloc(team->threads, sizeof(*v.verdicts));
    if (!v.verdicts) {
        errno = ENOMEM;
        return -1;
    }
    result = assay_team_run(team, verify_slices, &v);
    memset(errors, 0, ASSAY_ARRAYS * sizeof(*errors));
    for (size_t t = 0; t < team->threads; t++) {
        for (int i = 0; i < ASSAY_ARRAYS; i++) {
            errors[i] = assay_error_join(errors[i], v.verdicts[t].errors[i]);
            errors[i] = assay_error_join(errors[i], team->seats[t].spots[i]);
        }
        words += v.verdicts[t].words;
    }
    *wrong_sums = count_wrong_sums(times, cycle, arrays, words);
    free(v.verdicts);
    return result;
}
