/* verify.c - right arrays pass, and every way to be wrong is seen. */
#include "config.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "lib/finite.h"
#include "lib/kernels.h"
#include "lib/verify.h"
#include "t/unit/tap.h"

enum { N = 333 };

static const char *const cycles[] = {"stream", "all"};

/* What happens to one kernel: in repetitions `first` to `last`, `op` (or each
 * of them, if it is ASSAY_OPS) is replaced by `by`, or left out if that is
 * ASSAY_OPS. */
struct fault {
    int first, last;
    int op, by;
};

enum { ALWAYS = 1 << 20 };

struct arrays {
    double d[ASSAY_ARRAYS][N];
    float f[ASSAY_ARRAYS][N];
};

static void *array(struct arrays *a, enum assay_type type, unsigned k)
{
    if (k >= ASSAY_ARRAYS)
        return NULL;
    return type == ASSAY_FLOAT ? (void *)a->f[k] : (void *)a->d[k];
}

static void start(struct arrays *a, enum assay_type type)
{
    struct assay_expected e = assay_expect_start();

    for (unsigned k = 0; k < ASSAY_ARRAYS; k++)
        assay_fill(array(a, type, k), type, e.factor[k], e.flat[k], 0, N);
}

/* Run so many cycles, with a fault or NULL; returns the largest error. */
static double run(struct arrays *a, enum assay_type type,
                  enum assay_cycle cycle, uint64_t repetitions,
                  const struct fault *fault)
{
    struct assay_expected e = assay_expect_end(cycle, repetitions);
    struct assay_kernels k;
    double worst = 0.0;

    assay_kernels_choose(ASSAY_PLAIN, ASSAY_REGULAR, type, &k);
    start(a, type);
    for (uint64_t r = 0; r < repetitions; r++)
        for (int op = 0; op < (int)assay_cycle_ops(cycle); op++) {
            const struct assay_work *w = assay_work((enum assay_op)op);
            int by = op;

            if (fault && (fault->op == op || fault->op == ASSAY_OPS) &&
                r >= (uint64_t)fault->first && r <= (uint64_t)fault->last)
                by = fault->by;
            if (by < ASSAY_OPS)
                k.run[by](array(a, type, w->dst),
                          array(a, type, w->x < 3 ? w->x : w->dst),
                          array(a, type, w->y < 3 ? w->y : 0),
                          assay_scalar(cycle, (enum assay_op)op, r), N);
        }
    for (unsigned i = 0; i < ASSAY_ARRAYS; i++) {
        struct assay_error error =
            assay_verify(array(a, type, i), type, e.factor[i], e.flat[i], 0, N);

        worst = error.max > worst ? error.max : worst;
    }
    return worst;
}

static void test_right(struct arrays *a)
{
    static const uint64_t counts[] = {1, 2, 3, 4, 5, 10, 999, 10000};

    for (int type = 0; type < ASSAY_TYPES; type++)
        for (int cycle = 0; cycle < 2; cycle++)
            for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
                is_double(run(a, (enum assay_type)type, (enum assay_cycle)cycle,
                              counts[i], NULL),
                          0.0, "%s, %s, %u repetitions: exact", cycles[cycle],
                          assay_type_words[type], (unsigned)counts[i]);
}

/* Whether a kernel that was left out up to a repetition can show at all: write
 * is overwritten by the next copy. */
static bool leaves_a_trace(int op, uint64_t last, uint64_t repetitions)
{
    return op != ASSAY_WRITE || last + 1 == repetitions;
}

/* In how many ways may op be left out of n repetitions, from any one to any
 * other, without a trace? */
static unsigned unseen(struct arrays *a, enum assay_cycle cycle, int op,
                       uint64_t n)
{
    struct fault fault = {.op = op, .by = ASSAY_OPS};
    unsigned count = 0;

    for (fault.first = 0; fault.first < (int)n; fault.first++)
        for (fault.last = fault.first; fault.last < (int)n; fault.last++)
            count += leaves_a_trace(op, (uint64_t)fault.last, n) &&
                     run(a, ASSAY_DOUBLE, cycle, n, &fault) <= 1e-13;
    return count;
}

static void test_skipped(struct arrays *a)
{
    for (int cycle = 0; cycle < 2; cycle++)
        for (int op = 0; op <= (int)assay_cycle_ops((enum assay_cycle)cycle);
             op++) {
            bool whole = op == (int)assay_cycle_ops((enum assay_cycle)cycle);
            unsigned count = 0;

            if (op == ASSAY_READ && !whole)
                continue;
            for (uint64_t n = 1; n <= 12; n++)
                count += unseen(a, (enum assay_cycle)cycle,
                                whole ? ASSAY_OPS : op, n);
            is_count(count, 0, "%s: %s left out, once or longer, is seen",
                     cycles[cycle],
                     whole ? "all" : assay_work((enum assay_op)op)->name);
        }
}

/* In how many ways may op be left out of some 10 to 129 repetitions in a row,
 * wherever they begin, unseen? Write has nothing to hide behind. */
static unsigned unseen_long(struct arrays *a, enum assay_cycle cycle, int op)
{
    unsigned count = 0;

    for (int first = 0; first <= 130; first += 5)
        for (int length = 10; length < 130; length += length < 40 ? 6 : 17) {
            struct fault fault = {first, first + length - 1, op, ASSAY_OPS};
            int n = first + length + (op == ASSAY_WRITE ? 0 : 1);

            count += run(a, ASSAY_DOUBLE, cycle, (uint64_t)n, &fault) <= 1e-13;
        }
    return count;
}

static void test_skipped_turns(struct arrays *a)
{
    for (int cycle = 0; cycle < 2; cycle++)
        for (int op = 0; op <= (int)assay_cycle_ops((enum assay_cycle)cycle);
             op++) {
            bool whole = op == (int)assay_cycle_ops((enum assay_cycle)cycle);

            if (op == ASSAY_READ && !whole)
                continue;
            is_count(
                unseen_long(a, (enum assay_cycle)cycle, whole ? ASSAY_OPS : op),
                0, "%s: %s left out around a turn is seen", cycles[cycle],
                whole ? "all" : assay_work((enum assay_op)op)->name);
        }
}

/* Longer than the factors grow: all but the first and the last repetition. */
static void test_skipped_long(struct arrays *a)
{
    for (int cycle = 0; cycle < 2; cycle++)
        for (uint64_t n = 13; n <= 103; n += 15) {
            struct fault fault = {1, (int)n - 2, ASSAY_TRIAD, ASSAY_OPS};

            ok(!(run(a, ASSAY_FLOAT, (enum assay_cycle)cycle, n, &fault) <=
                 1e-6),
               "%s: %s left out of %u repetitions but two is seen",
               cycles[cycle], assay_work(ASSAY_TRIAD)->name, (unsigned)n);
        }
}

static void test_replaced(struct arrays *a)
{
    for (int cycle = 0; cycle < 2; cycle++)
        for (int op = 0; op < (int)assay_cycle_ops((enum assay_cycle)cycle);
             op++)
            for (int by = 0; by < ASSAY_OPS; by++) {
                unsigned unseen = 0;

                if (op == by || op == ASSAY_READ || by == ASSAY_READ)
                    continue;
                if (op == ASSAY_UPDATE && by == ASSAY_SCALE)
                    continue; /* on one array they are the same */
                for (uint64_t n = 1; n <= 6; n++)
                    unseen += run(a, ASSAY_FLOAT, (enum assay_cycle)cycle, n,
                                  &(struct fault){0, ALWAYS, op, by}) <= 1e-6;
                ok(unseen == 0, "%s: %s in place of %s is seen", cycles[cycle],
                   assay_work((enum assay_op)by)->name,
                   assay_work((enum assay_op)op)->name);
            }
}

static void test_bounded(void)
{
    for (int cycle = 0; cycle < 2; cycle++) {
        struct assay_expected e = assay_expect_start();
        unsigned different = 0;
        double most = 0.0;

        for (uint64_t n = 1; n <= 300; n++) {
            struct assay_expected end;

            for (size_t op = 0; op < assay_cycle_ops((enum assay_cycle)cycle);
                 op++)
                assay_expect(&e, (enum assay_op)op,
                             assay_scalar((enum assay_cycle)cycle,
                                          (enum assay_op)op, n - 1));
            end = assay_expect_end((enum assay_cycle)cycle, n);
            for (int k = 0; k < ASSAY_ARRAYS; k++) {
                different +=
                    e.factor[k] != end.factor[k] || e.flat[k] != end.flat[k];
                most = fmax(most, e.flat[k] ? 0.0 : fabs(e.factor[k]));
            }
        }
        is_count(different, 0, "%s: the end is known without the way there",
                 cycles[cycle]);
        ok(most <= 0x1p110, "%s: factors stay bounded", cycles[cycle]);
    }
    is_double(
        assay_expect_end(ASSAY_CYCLE_STREAM, UINT64_C(1) << 60).factor[ASSAY_A],
        -1.0, "after 2^60 repetitions");
}

/* Put `bad` into element i of right arrays; one wrong element, and which. */
static void test_element(struct arrays *a, const char *what, double bad,
                         uint64_t i)
{
    struct assay_error error;

    start(a, ASSAY_DOUBLE);
    a->d[0][i] = bad;
    error = assay_verify(a->d[0], ASSAY_DOUBLE, 1.0, false, 0, N);
    ok(!(error.max <= 1e-13), "double: %s at %u is seen", what, (unsigned)i);
    is_count(error.wrong, 1, "one is wrong");
    is_count(error.first, i, "that one");
    ok(assay_finite(&error.max) && assay_finite(&error.sum),
       "the error is a number");
    start(a, ASSAY_FLOAT);
    a->f[0][i] = (float)bad;
    error = assay_verify(a->f[0], ASSAY_FLOAT, 1.0, false, 0, N);
    ok(!(error.max <= 1e-6), "float: %s at %u is seen", what, (unsigned)i);
    ok(assay_finite(&error.max) && assay_finite(&error.sum),
       "the error is a number");
}

static void test_elements(struct arrays *a)
{
    static const uint64_t places[] = {0, N / 2, N - 1};
    volatile double zero = 0.0;
    const struct {
        const char *what;
        double bad;
    } faults[] = {{"another number", 65.0},
                  {"NaN", zero / zero},
                  {"infinity", 1.0 / zero},
                  {"minus infinity", -1.0 / zero},
                  {"zero", 0.0},
                  {"the largest number", FLT_MAX}};

    for (size_t f = 0; f < sizeof(faults) / sizeof(*faults); f++)
        for (size_t p = 0; p < 3; p++)
            test_element(a, faults[f].what, faults[f].bad, places[p]);
    for (int i = 0; i < N; i++)
        a->d[0][i] = 1.0 / zero;
    ok(assay_verify(a->d[0], ASSAY_DOUBLE, 1.0, false, 0, N).sum <= DBL_MAX,
       "the sum of many infinite errors is a number");
    start(a, ASSAY_DOUBLE);
    ok(assay_verify(a->d[0], ASSAY_DOUBLE, 1.0, false, 1, N - 1).wrong == 0,
       "a range is known by its place");
    ok(assay_verify(&a->d[0][1], ASSAY_DOUBLE, 1.0, false, 0, N - 1).wrong >
           N / 2,
       "and elements that are one off are seen");
}

static void test_join(void)
{
    struct assay_error none = {0}, one = {0.5, 0.5, 1, 7}, two = {2, 3, 2, 90};

    is_count(assay_error_join(none, one).first, 7, "the first wrong element");
    is_count(assay_error_join(one, two).first, 7, "is that of the first range");
    is_count(assay_error_join(one, two).wrong, 3, "wrong elements add up");
    is_double(assay_error_join(one, two).max, 2.0, "the largest error");
    is_double(assay_error_join(one, two).sum, 3.5, "the sum of errors");
}

static void test_words(struct arrays *a)
{
    struct assay_kernels k;

    start(a, ASSAY_DOUBLE);
    start(a, ASSAY_FLOAT);
    assay_kernels_choose(ASSAY_PLAIN, ASSAY_REGULAR, ASSAY_DOUBLE, &k);
    is_count(k.run[ASSAY_READ](NULL, a->d[0] + 3, NULL, 0, N - 3),
             assay_expect_words(ASSAY_DOUBLE, 1.0, 3, N - 3),
             "words of doubles");
    assay_kernels_choose(ASSAY_PLAIN, ASSAY_REGULAR, ASSAY_FLOAT, &k);
    is_count(k.run[ASSAY_READ](NULL, a->f[0] + 3, NULL, 0, N - 3),
             assay_expect_words(ASSAY_FLOAT, 1.0, 3, N - 3), "words of floats");
    is_count(assay_scale_words(ASSAY_FLOAT,
                               assay_expect_words(ASSAY_FLOAT, 1.0, 3, N), N,
                               0x1p-5),
             assay_expect_words(ASSAY_FLOAT, 0x1p-5, 3, N),
             "words of smaller floats");
    is_count(assay_scale_words(ASSAY_DOUBLE,
                               assay_expect_words(ASSAY_DOUBLE, 1.0, 3, N), N,
                               0x1p61),
             assay_expect_words(ASSAY_DOUBLE, 0x1p61, 3, N),
             "words of larger doubles");
    for (int type = 0; type < ASSAY_TYPES; type++)
        is_count(assay_scale_words(
                     (enum assay_type)type,
                     assay_expect_words((enum assay_type)type, 1.0, 3, N), N,
                     -4.0),
                 assay_expect_words((enum assay_type)type, -4.0, 3, N),
                 "words of negative numbers");
    ok(k.run[ASSAY_READ](NULL, a->f[0] + 3, NULL, 0, N - 4) !=
           assay_expect_words(ASSAY_FLOAT, 1.0, 3, N - 3),
       "one float fewer is another sum");
}

/* Elements behind 2^31 and 2^32: an index cut to 32 bits names another. */
static void test_long(void)
{
    const uint64_t places[] = {UINT64_C(1) << 31, UINT64_C(1) << 32,
                               (UINT64_C(1) << 32) + 12345};
    const size_t bytes = ((size_t)5 << 32);
    float *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (base == MAP_FAILED) {
        skip(2 * 3, "no address space for more than 2^32 floats");
        return;
    }
    for (size_t i = 0; i < 3; i++) {
        uint64_t at = places[i], cut = at & 0x7fffffff;

        assay_fill(base, ASSAY_FLOAT, 1.0, false, at, N);
        ok(assay_verify(base, ASSAY_FLOAT, 1.0, false, at, N).wrong == 0,
           "elements from %ju are right", (uintmax_t)at);
        assay_fill(base + (at - cut), ASSAY_FLOAT, 1.0, false, cut, N);
        ok(assay_verify(base, ASSAY_FLOAT, 1.0, false, at, N).wrong > N / 2,
           "and are not those of the index cut short");
    }
    munmap(base, bytes);
}

int main(void)
{
    static struct arrays a;

    test_right(&a);
    test_skipped(&a);
    test_skipped_turns(&a);
    test_skipped_long(&a);
    test_replaced(&a);
    test_bounded();
    test_elements(&a);
    test_join();
    test_words(&a);
    test_long();
    return done_testing();
}
