/* team.c - threads in their places, slices, first touch, time, verdict. */
#include "config.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "lib/team.h"
#include "t/unit/tap.h"

/* Slices cover everything once, begin at lines, and are even. */
static void test_slices(void)
{
    static const uint64_t totals[] = {1,
                                      7,
                                      8,
                                      9,
                                      64,
                                      100,
                                      1000,
                                      12345,
                                      16777216,
                                      89478486,
                                      UINT64_C(2147484648),
                                      UINT64_C(1) << 40};
    unsigned gaps = 0, off_line = 0, uneven = 0;

    for (size_t threads = 1; threads <= 130; threads += threads < 10 ? 1 : 40)
        for (size_t k = 0; k < sizeof(totals) / sizeof(*totals); k++)
            for (size_t size = 4; size <= 8; size += 4) {
                struct assay_team team = {.threads = threads};
                uint64_t next = 0, least = UINT64_MAX, most = 0;

                for (size_t t = 0; t < threads; t++) {
                    uint64_t begin, n;

                    assay_team_slice(&team, t, totals[k], size, &begin, &n);
                    gaps += begin != next;
                    off_line += n > 0 && begin * size % 64 != 0;
                    next = begin + n;
                    least = n < least ? n : least;
                    most = n > most ? n : most;
                }
                gaps += next != totals[k];
                uneven += most - least > 2 * 64 / size;
            }
    is_count(gaps, 0, "slices cover all elements, each once");
    is_count(off_line, 0, "slices begin at lines");
    is_count(uneven, 0, "slices are even");
}

static void test_form(const struct assay_topology *t)
{
    struct assay_team team;
    size_t threads = t->ncpus < 2 ? 1 : 2;
    char *cpus;

    ok(assay_team_form(&team, t, ASSAY_PIN_COMPACT, threads, -1) == 0,
       "a team of %zu", threads);
    is_count(team.requested, threads, "as many as asked for");
    is_count(team.threads, threads, "as many as there are");
    is_count(assay_team_unbound(&team), 0, "all where they were put");
    is_count(assay_team_moved(&team), 0, "none moved");
    is_count(assay_team_crowded(&team), t->ncores < threads ? threads : 0,
             "none shares a core, if there are cores enough");
    cpus = assay_team_cpus(&team);
    ok(cpus && *cpus, "on CPUs %s", cpus ? cpus : "?");
    free(cpus);
    assay_team_dissolve(&team);
    errno = 0;
    ok(assay_team_form(&team, t, ASSAY_PIN_COMPACT, 1, 4711) < 0 &&
           errno == ENODEV,
       "no team on a NUMA node that is none");
}

/* Two threads of a machine that has one CPU. */
static void test_crowded(const struct assay_topology *t)
{
    struct assay_topology one = *t;
    struct assay_team team;

    one.ncpus = 1;
    if (assay_team_form(&team, &one, ASSAY_PIN_COMPACT, 2, -1) < 0) {
        ok(false, "a team of two on one CPU");
        return;
    }
    if (team.threads == 2) {
        is_count(assay_team_crowded(&team), 2, "two threads share a core");
        is_count(assay_team_unbound(&team), 0, "as asked");
    } else {
        skip(2, "OpenMP gives one thread");
    }
    assay_team_dissolve(&team);
}

/* A thread that leaves its seat. */
static void wander(void *arg, size_t thread)
{
    const struct assay_topology *t = arg;

    if (thread == 0)
        assay_pin_thread((int)t->cpus[1].cpu);
}

static void test_moved(const struct assay_topology *t)
{
    struct assay_topology first = *t;
    struct assay_team team;

    if (t->ncpus < 2) {
        skip(3, "one CPU");
        return;
    }
    first.ncpus = 1;
    assay_team_form(&team, &first, ASSAY_PIN_COMPACT, 1, -1);
    is_count(assay_team_moved(&team), 0, "it sits");
    assay_team_run(&team, wander, (void *)(uintptr_t)t);
    is_count(assay_team_moved(&team), 1, "a thread that moves is seen");
    is_count(assay_team_unbound(&team), 1, "and is not where it was put");
    team.topology = t;
    assay_team_dissolve(&team);
}

static void test_first_touch(const struct assay_topology *t)
{
    struct assay_team team;
    struct assay_arrays arrays;
    uint64_t all = 0, pages = 3 * (1 << 20) * 8 / 4096;

    assay_team_form(&team, t, ASSAY_PIN_NONE, 2, -1);
    if (team.threads < 2) {
        skip(4, "OpenMP gives one thread");
        assay_team_dissolve(&team);
        return;
    }
    ok(assay_arrays_map(&arrays, ASSAY_DOUBLE, 1 << 20, ASSAY_HUGE_NEVER, -1) ==
           0,
       "three arrays");
    assay_team_touch(&team, &arrays);
    all = team.seats[0].faults + team.seats[1].faults;
    ok(all >= pages && all < pages + pages / 2, "%ju faults for %ju pages",
       (uintmax_t)all, (uintmax_t)pages);
    for (size_t i = 0; i < 2; i++)
        ok(team.seats[i].faults * 10 >= all * 4 &&
               team.seats[i].faults * 10 <= all * 6,
           "thread %zu has 40 to 60 %% of the faults: %ju", i,
           (uintmax_t)team.seats[i].faults);
    assay_arrays_unmap(&arrays);
    assay_team_dissolve(&team);
}

static uint32_t do_nothing(void *restrict dst, const void *restrict x,
                           const void *restrict y, double s, size_t n)
{
    (void)dst, (void)x, (void)y, (void)s, (void)n;
    return 0;
}

/* Errors of the three arrays together, and of the sums of read. */
static unsigned faults(struct assay_team *team, struct assay_arrays *arrays,
                       const struct assay_kernels *kernels,
                       enum assay_cycle cycle, uint64_t repetitions)
{
    struct assay_error errors[ASSAY_ARRAYS];
    struct assay_times times;
    uint64_t wrong_sums;
    unsigned wrong = 0;

    assay_team_touch(team, arrays);
    assay_team_time(team, arrays, kernels, cycle, repetitions, &times);
    assay_team_verify(team, arrays, cycle, &times, errors, &wrong_sums);
    for (int i = 0; i < ASSAY_ARRAYS; i++)
        wrong += errors[i].wrong > 0;
    assay_times_free(&times);
    return wrong + (unsigned)wrong_sums;
}

static void test_verdict(struct assay_team *team, enum assay_type type,
                         uint64_t n)
{
    struct assay_arrays arrays;
    struct assay_kernels kernels, broken;

    assay_arrays_map(&arrays, type, n, ASSAY_HUGE_NEVER, -1);
    assay_kernels_choose(ASSAY_ISA_AUTO, ASSAY_STORES_AUTO, type, &kernels);
    for (int cycle = 0; cycle < 2; cycle++) {
        is_count(faults(team, &arrays, &kernels, (enum assay_cycle)cycle, 10),
                 0, "%zu threads, %ju %ss, cycle %d: right", team->threads,
                 (uintmax_t)n, assay_type_words[type], cycle);
        for (int op = 0; op < (int)assay_cycle_ops((enum assay_cycle)cycle);
             op++) {
            broken = kernels;
            broken.run[op] = do_nothing;
            ok(faults(team, &arrays, &broken, (enum assay_cycle)cycle, 10) > 0,
               "%s that does nothing is seen",
               assay_work((enum assay_op)op)->name);
        }
    }
    if (team->threads == 1)
        is_count(faults(team, &arrays, &kernels, ASSAY_CYCLE_STREAM, 10000), 0,
                 "10000 repetitions");
    assay_arrays_unmap(&arrays);
}

/* A kernel that takes a rest as long as the scalars' period. */
static struct {
    assay_kernel_f *run;
    unsigned calls;
} lazy;

static uint32_t run_lazily(void *restrict dst, const void *restrict x,
                           const void *restrict y, double s, size_t n)
{
    unsigned call = lazy.calls++;

    return call >= 5 && call < 135 ? 0 : lazy.run(dst, x, y, s, n);
}

/* Left out in so many repetitions, a kernel leaves no trace at the end. */
static void test_period(struct assay_team *team)
{
    struct assay_arrays arrays;
    struct assay_kernels kernels, broken;

    assay_arrays_map(&arrays, ASSAY_DOUBLE, 1001, ASSAY_HUGE_NEVER, -1);
    assay_kernels_choose(ASSAY_ISA_AUTO, ASSAY_STORES_AUTO, ASSAY_DOUBLE,
                         &kernels);
    for (int cycle = 0; cycle < 2; cycle++)
        for (int op = 0; op < (int)assay_cycle_ops((enum assay_cycle)cycle);
             op++) {
            broken = kernels;
            broken.run[op] = run_lazily;
            lazy.run = kernels.run[op];
            lazy.calls = 0;
            ok(faults(team, &arrays, &broken, (enum assay_cycle)cycle, 140) > 0,
               "cycle %d: %s left out of 130 repetitions is seen", cycle,
               assay_work((enum assay_op)op)->name);
        }
    assay_arrays_unmap(&arrays);
}

static void test_times(struct assay_team *team)
{
    struct assay_arrays arrays;
    struct assay_kernels kernels;
    struct assay_times times;
    unsigned bad = 0, short_ones = 0;

    assay_arrays_map(&arrays, ASSAY_DOUBLE, 1 << 18, ASSAY_HUGE_NEVER, -1);
    assay_kernels_choose(ASSAY_ISA_AUTO, ASSAY_STORES_AUTO, ASSAY_DOUBLE,
                         &kernels);
    assay_team_touch(team, &arrays);
    ok(assay_team_time(team, &arrays, &kernels, ASSAY_CYCLE_ALL, 5, &times) ==
           0,
       "times of a run");
    is_count(times.ops, ASSAY_OPS, "of all kernels");
    is_count(times.repetitions, 5, "in all repetitions");
    for (size_t i = 0; i < times.ops * 5; i++)
        bad += !(times.seconds[i] > 0.0 && times.seconds[i] < 60.0);
    for (size_t op = 0; op < times.ops; op++)
        for (size_t r = 1; r < 5; r++)
            short_ones += !(times.shortest[op] <= times.seconds[op * 5 + r]);
    is_count(bad, 0, "every time is one");
    is_count(short_ones, 0, "no thread took longer than all");
    assay_times_free(&times);
    assay_arrays_unmap(&arrays);
}

static void test_arrays(void)
{
    struct assay_arrays arrays;

    is_count(assay_arrays_bytes(ASSAY_DOUBLE, 16777216), 402653184,
             "bytes of three arrays");
    is_count(assay_arrays_bytes(ASSAY_FLOAT, UINT64_C(2147484648)),
             UINT64_C(25769815776), "of more than 2^31 elements");
    is_count(assay_arrays_bytes(ASSAY_DOUBLE, UINT64_MAX / 4), UINT64_MAX,
             "too many to count");
    errno = 0;
    ok(assay_arrays_map(&arrays, ASSAY_DOUBLE, UINT64_MAX / 4, ASSAY_HUGE_NEVER,
                        -1) < 0 &&
           errno == EOVERFLOW,
       "are not mapped");
    ok(!arrays.map[0] && !arrays.map[1] && !arrays.map[2], "not even one");
}

int main(void)
{
    struct assay_topology topology;
    struct assay_team team;
    char error[256];

    if (assay_topology_load(&topology, NULL, error, sizeof(error)) < 0) {
        diag("%s", error);
        return 1;
    }
    test_slices();
    test_arrays();
    test_form(&topology);
    test_crowded(&topology);
    test_moved(&topology);
    test_first_touch(&topology);
    for (size_t threads = 1; threads <= 3; threads++) {
        assay_team_form(&team, &topology, ASSAY_PIN_COMPACT, threads, -1);
        test_verdict(&team, ASSAY_DOUBLE, 3);
        test_verdict(&team, threads == 2 ? ASSAY_DOUBLE : ASSAY_FLOAT, 1001);
        if (team.threads == 1)
            test_period(&team);
        test_times(&team);
        assay_team_dissolve(&team);
    }
    assay_topology_free(&topology);
    return done_testing();
}
