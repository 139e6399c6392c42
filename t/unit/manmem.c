/* manmem.c - manmem's pattern, and what its curves tell; those of two GPUs as
 * they were published are among them. */
#include "config.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "manmem/curve.h"
#include "manmem/pattern.h"
#include "tap.h"

enum { N = 1000, THREADS = 40, EACH = 25 };

/* The sums, worked out the long way. */
static uint64_t sum_of(const float *x, uint64_t t, enum gpu_access access)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < EACH; i++)
        sum += (uint64_t)
            x[access == GPU_COALESCED ? i * THREADS + t : t * EACH + i];
    return sum;
}

static void test_sums(const float *x, enum gpu_access access, const char *name)
{
    uint64_t sums[THREADS], first = 99, good = 0;
    float as_float[THREADS];
    double as_double[THREADS];

    pattern_sums(sums, THREADS, EACH, access, 1);
    for (uint64_t t = 0; t < THREADS; t++) {
        good += sums[t] == sum_of(x, t, access);
        as_float[t] = (float)sums[t];
        as_double[t] = (double)sums[t];
    }
    is_count(good, THREADS, "%s: sums of all threads", name);
    is_count(pattern_wrong_sums(as_float, GPU_FLOAT, sums, THREADS, &first), 0,
             "%s: as floats all are right", name);
    is_count(pattern_wrong_sums(as_double, GPU_DOUBLE, sums, THREADS, &first),
             0, "%s: as doubles too", name);
    as_float[7] += 1.0f;
    as_float[9] = NAN;
    is_count(pattern_wrong_sums(as_float, GPU_FLOAT, sums, THREADS, &first), 2,
             "%s: one that is off and a NaN are wrong", name);
    is_count(first, 7, "%s: the first of them is told", name);
    as_double[0] = nextafter(as_double[0], DBL_MAX);
    is_count(pattern_wrong_sums(as_double, GPU_DOUBLE, sums, THREADS, &first),
             1, "%s: so is one of another last bit", name);
}

static void test_pattern(void)
{
    float x[N];
    double y[N];
    uint64_t same = 0, large = 0, other = 0, moved = 0;

    pattern_fill(x, GPU_FLOAT, 0, N, 1);
    pattern_fill(y, GPU_DOUBLE, 0, N, 1);
    for (uint64_t i = 0; i < N; i++) {
        same += (float)pattern_at(i, 1) == x[i] && (double)x[i] == y[i];
        large += x[i] > PATTERN_MOST;
        other += pattern_at(i, 1) != pattern_at(i, 2);
        moved += pattern_at(i, 1) != pattern_at(i + 64, 1);
    }
    is_count(same, N, "float, double and one by one: the same");
    is_count(large, 0, "no element is larger than it may be");
    ok(other > N / 3, "another round is another pattern");
    ok(moved > N / 3, "another place is another pattern");
    pattern_fill(x + 640, GPU_FLOAT, 640, N - 640, 1);
    is_count(pattern_wrong(x, GPU_FLOAT, N, 1), 0, "a piece of it fits in");
    test_sums(x, GPU_CONSECUTIVE, "consecutive");
    test_sums(x, GPU_COALESCED, "coalesced");
    ok(pattern_wrong(x, GPU_FLOAT, N, 2) > N / 3, "stale data is found");
    x[3] = NAN;
    y[N - 1] = 0.5;
    is_count(pattern_wrong(x, GPU_FLOAT, N, 1), 1, "a NaN is found");
    is_count(pattern_wrong(y, GPU_DOUBLE, N, 1), 1, "so is the last element");
    is_count(pattern_elements_most(GPU_FLOAT), 266305,
             "floats sum 266305 elements of 63 exactly");
    ok(pattern_elements_most(GPU_DOUBLE) > (uint64_t)1 << 46,
       "doubles many more");
}

/* How many came before the steady ones, and what they cost. */
static void is_curve(const double *ms, size_t n, size_t converged, double lost,
                     const char *name)
{
    double *s = calloc(n, sizeof(*s));
    struct curve c;

    for (size_t i = 0; i < n; i++)
        s[i] = ms[i] * 1e-3;
    if (!ok(curve_read(s, n, &c) == 0, "%s: a curve", name)) {
        free(s);
        return;
    }
    is_count(c.converged, converged, "%s: converged after %zu", name,
             converged);
    is_near(c.lost * 1e3, lost, 0.01, "%s: %g ms lost", name, lost);
    is_near(c.cold * 1e3, ms[0], 1e-6, "%s: the cold one", name);
    ok(c.settled, "%s: settled", name);
    free(s);
}

static void test_curve(void)
{
    static const double mi355_hip[] = {648113.565, 1.953, 1.875,
                                       1.942,      1.865, 1.907};
    static const double mi355_scale[] = {6215.198, 1.953, 1.875,
                                         1.942,    1.865, 1.907};
    static const double mi210_hip[] = {19632.823, 6459.566, 375.071,
                                       5.745,     5.756,    5.731};
    static const double mi210_scale[] = {3246.548, 93.030, 5.856,
                                         5.717,    5.700,  5.722};
    static const double flat[] = {1.0, 1.0, 1.0, 1.0};
    static const double falling[] = {9, 8, 7, 6, 5, 4, 3, 2};
    static const double late[] = {5, 5, 5, 5, 5, 5, 1, 1, 1, 1};
    double bad[] = {1.0, 1.0, NAN, 1.0};
    struct curve c;

    is_curve(mi355_hip, 6, 1, 648111.658, "MI355, HIP");
    is_curve(mi355_scale, 6, 1, 6213.291, "MI355, SCALE");
    is_curve(mi210_hip, 6, 3, 26450.225, "MI210, HIP");
    is_curve(mi210_scale, 6, 2, 3328.144, "MI210, SCALE");
    is_curve(flat, 4, 0, 0.0, "flat");
    ok(curve_read(late, 10, &c) == 0 && !c.settled,
       "the last half must not hold what is cold");
    ok(curve_read(falling, 8, &c) == 0 && c.drifting,
       "what goes on falling is told");
    ok(curve_read(mi210_hip, 6, &c) == 0 && !c.drifting,
       "what does not is not");
    errno = 0;
    ok(curve_read(bad, 4, &c) == -1 && errno == EDOM, "NaN is no time");
    bad[2] = 0.0;
    ok(curve_read(bad, 4, &c) == -1 && errno == EINVAL, "nor is 0");
    bad[2] = 1.0;
    ok(curve_read(bad, 3, &c) == -1, "three are no curve");
    ok(curve_read(bad, 4, &c) == 0, "four are");
}

int main(void)
{
    test_pattern();
    test_curve();
    return done_testing();
}
