/* verify.c - the pattern, the scalars that keep it bounded, and the check. */
#include "config.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "lib/finite.h"
#include "lib/verify.h"

/* p(i), 1 to 64: a multiplicative hash; the upper half of i takes part, so
 * that an index cut to 32 bits shows. */
static inline uint32_t pattern(uint64_t i)
{
    uint32_t word = (uint32_t)i + 77777u * (uint32_t)(i >> 31);

    return 1 + (word * 2654435769u >> 26);
}

static inline uint64_t double_bits(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static inline uint32_t float_bits(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

size_t assay_cycle_ops(enum assay_cycle cycle)
{
    return cycle == ASSAY_CYCLE_ALL ? ASSAY_OPS : ASSAY_STREAM_OPS;
}

/* Repetitions in which a grows without a turn, and later shrinks; and those
 * after which all is as it was. */
enum { CLIMB = 64, PERIOD = 2 * (CLIMB + 1) };

/* Where a repetition stands on the way. */
enum phase { GROWS, PEAK, SHRINKS, BOTTOM };

static enum phase phase_of(uint64_t r)
{
    uint64_t place = (r + CLIMB / 2) % PERIOD;

    return place < CLIMB           ? GROWS
           : place == CLIMB        ? PEAK
           : place < 2 * CLIMB + 1 ? SHRINKS
                                   : BOTTOM;
}

/* With c = a, b = 3 a, c = a + b = 4 a, and then a = b + t c = (3 + 4 t) a, one
 * cycle of four takes a to
 *
 *     2 a, at the peak to -2 a, to a / 2, at the bottom to -a / 2
 *
 * In the long cycle b = 4 b = 12 a0 and a = a + d b join in, and triad takes a0
 * to 2 a0 up to the peak and to a0 / 2 behind it, daxpy
 *
 *     2 a0 to 8 a0, at the peak to -a0, a0 / 2 to a0 / 8, at the bottom to -a0
 *
 * A sign changes at each turn, so that no state comes twice in a period, and
 * repetitions left out on both sides of a turn do not make up for each other.
 */
double assay_scalar(enum assay_cycle cycle, enum assay_op op, uint64_t r)
{
    static const double triad[][4] = {
        [ASSAY_CYCLE_STREAM] = {-0.25, -1.25, -0.625, -0.875},
        [ASSAY_CYCLE_ALL] = {-0.25, -0.25, -0.625, -0.625},
    };
    static const double daxpy[] = {0.5, -0.25, -0.03125, -0.125};

    switch (op) {
    case ASSAY_SCALE:
        return 3.0;
    case ASSAY_TRIAD:
        return triad[cycle][phase_of(r)];
    case ASSAY_WRITE:
        return 1.0 + (double)(r % 1000);
    case ASSAY_UPDATE:
        return 4.0;
    case ASSAY_DAXPY:
        return daxpy[phase_of(r)];
    default:
        return 5.0; /* of no effect, unless the kernel is a wrong one */
    }
}

unsigned assay_proof(enum assay_cycle cycle, enum assay_op op)
{
    switch (op) {
    case ASSAY_COPY:
    case ASSAY_SCALE:
    case ASSAY_UPDATE:
        return ASSAY_B;
    case ASSAY_ADD:
        return cycle == ASSAY_CYCLE_ALL ? ASSAY_A : ASSAY_C;
    case ASSAY_WRITE:
        return ASSAY_C;
    case ASSAY_TRIAD:
    case ASSAY_DAXPY:
        return ASSAY_A;
    default:
        return ASSAY_NO_ARRAY;
    }
}

/* b and c start as numbers that no kernel ever makes. */
struct assay_expected assay_expect_start(void)
{
    return (struct assay_expected){.factor = {1.0, -7.0, -5.0}};
}

void assay_expect(struct assay_expected *e, enum assay_op op, double scalar)
{
    const struct assay_work *w = assay_work(op);
    double x = w->x < ASSAY_ARRAYS ? e->factor[w->x] : 0.0;
    double y = w->y < ASSAY_ARRAYS ? e->factor[w->y] : 0.0;

    if (w->dst >= ASSAY_ARRAYS)
        return;
    switch (op) {
    case ASSAY_COPY:
        e->factor[w->dst] = x;
        break;
    case ASSAY_SCALE:
        e->factor[w->dst] = scalar * x;
        break;
    case ASSAY_ADD:
        e->factor[w->dst] = x + y;
        break;
    case ASSAY_TRIAD:
        e->factor[w->dst] = x + scalar * y;
        break;
    case ASSAY_WRITE:
        e->factor[w->dst] = scalar;
        break;
    case ASSAY_UPDATE:
        e->factor[w->dst] *= scalar;
        break;
    case ASSAY_DAXPY:
        e->factor[w->dst] += scalar * x;
        break;
    default:
        break;
    }
    e->flat[w->dst] = op == ASSAY_WRITE;
}

/* A period leads back to where it began, except for what write leaves. */
struct assay_expected assay_expect_end(enum assay_cycle cycle,
                                       uint64_t repetitions)
{
    struct assay_expected e = assay_expect_start();
    uint64_t skip = repetitions ? (repetitions - 1) / PERIOD * PERIOD : 0;

    for (uint64_t r = skip; r < repetitions; r++)
        for (size_t op = 0; op < assay_cycle_ops(cycle); op++)
            assay_expect(&e, (enum assay_op)op,
                         assay_scalar(cycle, (enum assay_op)op, r));
    return e;
}

void assay_fill(void *base, enum assay_type type, double factor, bool flat,
                uint64_t begin, uint64_t n)
{
    double *d = base;
    float *f = base;

    if (type == ASSAY_FLOAT)
        for (uint64_t i = begin; i < begin + n; i++)
            f[i] = (float)factor * (flat ? 1.0f : (float)pattern(i));
    else
        for (uint64_t i = begin; i < begin + n; i++)
            d[i] = factor * (flat ? 1.0 : (double)pattern(i));
}

/* Count element i, which is *x and should be y, y not being 0. */
static void count_wrong(struct assay_error *error, uint64_t i, const double *x,
                        double y)
{
    double relative = DBL_MAX;

    if (assay_finite(x)) {
        relative = fabs(*x - y) / fabs(y);
        if (!assay_finite(&relative))
            relative = DBL_MAX;
    }
    if (error->wrong++ == 0)
        error->first = i;
    if (relative > error->max)
        error->max = relative;
    error->sum =
        relative < DBL_MAX - error->sum ? error->sum + relative : DBL_MAX;
}

static struct assay_error verify_double(const double *x, double factor,
                                        bool flat, uint64_t begin, uint64_t n)
{
    struct assay_error error = {0};

    for (uint64_t i = begin; i < begin + n; i++) {
        double y = factor * (flat ? 1.0 : (double)pattern(i));

        if (double_bits(x[i]) != double_bits(y))
            count_wrong(&error, i, &x[i], y);
    }
    return error;
}

static struct assay_error verify_float(const float *x, float factor, bool flat,
                                       uint64_t begin, uint64_t n)
{
    struct assay_error error = {0};

    for (uint64_t i = begin; i < begin + n; i++) {
        float y = factor * (flat ? 1.0f : (float)pattern(i));

        if (float_bits(x[i]) != float_bits(y)) {
            double wide = (double)x[i];

            count_wrong(&error, i, &wide, (double)y);
        }
    }
    return error;
}

struct assay_error assay_verify(const void *base, enum assay_type type,
                                double factor, bool flat, uint64_t begin,
                                uint64_t n)
{
    if (type == ASSAY_FLOAT)
        return verify_float(base, (float)factor, flat, begin, n);
    return verify_double(base, factor, flat, begin, n);
}

struct assay_error assay_error_join(struct assay_error a, struct assay_error b)
{
    if (a.wrong == 0)
        a.first = b.first;
    a.wrong += b.wrong;
    if (b.max > a.max)
        a.max = b.max;
    a.sum = b.sum < DBL_MAX - a.sum ? a.sum + b.sum : DBL_MAX;
    return a;
}

uint32_t assay_expect_words(enum assay_type type, double factor, uint64_t begin,
                            uint64_t n)
{
    uint32_t sum = 0;

    for (uint64_t i = begin; i < begin + n; i++) {
        if (type == ASSAY_FLOAT) {
            sum += float_bits((float)factor * (float)pattern(i));
        } else {
            uint64_t bits = double_bits(factor * (double)pattern(i));

            sum += (uint32_t)bits + (uint32_t)(bits >> 32);
        }
    }
    return sum;
}

uint32_t assay_scale_words(enum assay_type type, uint32_t words, uint64_t n,
                           double factor)
{
    unsigned fraction = type == ASSAY_FLOAT ? 23 : 20; /* bits below it */

    return words + ((uint32_t)n * (uint32_t)ilogb(factor) << fraction) +
           (factor < 0.0 ? (uint32_t)n << 31 : 0);
}

double assay_tolerance(enum assay_type type)
{
    return type == ASSAY_FLOAT ? 1e-6 : 1e-13;
}
