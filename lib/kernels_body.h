/* kernels_body.h - the loops, for one instruction set. No include guard: a
 * file includes it once, having defined
 *
 *     TABLE    name of the table of kernels to define
 *     TARGET   attribute that turns the instruction set on, or nothing
 *     VBYTES   bytes of a vector
 *     STREAM_DOUBLE(p, v), STREAM_FLOAT(p, v)
 *              store vector v at p, aligned to VBYTES, past the caches;
 *              neither is defined where there is no such store
 *     FENCE()  wait until such stores are done
 *
 * Four vectors a turn fill a line or two with stores past the caches in one go.
 * Regular stores of four vectors in a row were measured on Zen 3 (AVX2, one and
 * two threads): copy and scale lose a seventh against one vector a turn, so
 * wide vectors go singly. Prefetching by hand was measured (128 to 4096 bytes
 * ahead): it gains nothing, and from 1024 bytes on costs read a fifth or more.
 *
 * Vectors are those of the compiler, not of <immintrin.h>: an expression
 * serves every width, and works at -O0. Each turn of a loop ends in BARRIER, an
 * empty asm that may change memory: no compiler then takes the loop for a
 * memcpy or a memset, whose stores would be libc's choice and not ours. */
#include <stdint.h>

#include "lib/kernels_table.h"

#define BARRIER() __asm__ volatile("" : : : "memory")

/* Vectors that may lie anywhere, and alias anything. */
#define VECTOR(type)                                                           \
    type __attribute__((vector_size(VBYTES), aligned(sizeof(type)), may_alias))

typedef VECTOR(double) vdouble;
typedef VECTOR(float) vfloat;
typedef VECTOR(uint32_t) vword;
typedef uint32_t __attribute__((may_alias)) word;

#define STORE(v, p, value) (*(v *)(p) = (value))
#define LOAD(v, p) (*(const v *)(p))

/* Elements to go singly before p is aligned to VBYTES. */
#define HEAD(real, p) (((size_t)0 - (uintptr_t)(p)) % VBYTES / sizeof(real))

/* What an element becomes, from those of x, y and dst: for vectors and for
 * single elements alike. */
#define EXPR_COPY(x, y, d, s) (x)
#define EXPR_SCALE(x, y, d, s) ((s) * (x))
#define EXPR_ADD(x, y, d, s) ((x) + (y))
#define EXPR_TRIAD(x, y, d, s) ((x) + (s) * (y))
#define EXPR_WRITE(x, y, d, s) (s)
#define EXPR_UPDATE(x, y, d, s) ((s) * (d))
#define EXPR_DAXPY(x, y, d, s) ((d) + (s) * (x))

#define TURN(v, expr, k)                                                       \
    expr(LOAD(v, x + i + (k)*lanes), LOAD(v, y + i + (k)*lanes),               \
         LOAD(v, d + i + (k)*lanes), sv)

#define FOUR(v, expr, store)                                                   \
    {                                                                          \
        const v v0 = TURN(v, expr, 0), v1 = TURN(v, expr, 1);                  \
        const v v2 = TURN(v, expr, 2), v3 = TURN(v, expr, 3);                  \
                                                                               \
        store(v, d + i, v0);                                                   \
        store(v, d + i + lanes, v1);                                           \
        store(v, d + i + 2 * lanes, v2);                                       \
        store(v, d + i + 3 * lanes, v3);                                       \
    }
#define VECTORS_FOUR 4

#define ONE(v, expr, store) store(v, d + i, TURN(v, expr, 0));
#define VECTORS_ONE 1

#define LOOP(name, real, v, OP, store, done, GROUP)                            \
    TARGET static uint32_t name(void *restrict dst, const void *restrict xs,   \
                                const void *restrict ys, double scalar,        \
                                size_t n)                                      \
    {                                                                          \
        const size_t lanes = VBYTES / sizeof(real);                            \
        const size_t block = VECTORS_##GROUP * lanes;                          \
        real *restrict d = dst;                                                \
        const real *restrict x = xs, *restrict y = ys;                         \
        const real s = (real)scalar;                                           \
        const v sv = s + (v){0};                                               \
        size_t i = 0, head = HEAD(real, d);                                    \
                                                                               \
        (void)x, (void)y, (void)s, (void)sv;                                   \
        for (; i < head && i < n; i++) {                                       \
            d[i] = EXPR_##OP(x[i], y[i], d[i], s);                             \
            BARRIER();                                                         \
        }                                                                      \
        for (; n - i >= block; i += block) {                                   \
            GROUP(v, EXPR_##OP, store)                                         \
            BARRIER();                                                         \
        }                                                                      \
        for (; i < n; i++) {                                                   \
            d[i] = EXPR_##OP(x[i], y[i], d[i], s);                             \
            BARRIER();                                                         \
        }                                                                      \
        done();                                                                \
        return 0;                                                              \
    }

/* Words, not numbers: their sum is exact, whatever the order. */
TARGET static uint32_t read_words(const word *x, size_t n)
{
    const size_t lanes = VBYTES / sizeof(*x), block = 4 * lanes;
    vword s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    uint32_t sum = 0;
    size_t i = 0;

    for (; n - i >= block; i += block) {
        s0 += LOAD(vword, x + i);
        s1 += LOAD(vword, x + i + lanes);
        s2 += LOAD(vword, x + i + 2 * lanes);
        s3 += LOAD(vword, x + i + 3 * lanes);
    }
    s0 += s1 + s2 + s3;
    for (size_t k = 0; k < lanes; k++)
        sum += s0[k];
    for (; i < n; i++)
        sum += x[i];
    return sum;
}

#define READ(name, real)                                                       \
    TARGET static uint32_t name(void *restrict dst, const void *restrict x,    \
                                const void *restrict y, double s, size_t n)    \
    {                                                                          \
        (void)dst, (void)y, (void)s;                                           \
        return read_words(x, n * (sizeof(real) / sizeof(uint32_t)));           \
    }

READ(read_double, double)
READ(read_float, float)

#define NOTHING()

#if VBYTES >= 32
#define REGULAR ONE
#define VECTORS_REGULAR VECTORS_ONE
#else
#define REGULAR FOUR
#define VECTORS_REGULAR VECTORS_FOUR
#endif

#define LOOPS(suffix, real, v)                                                 \
    LOOP(copy_##suffix, real, v, COPY, STORE, NOTHING, REGULAR)                \
    LOOP(scale_##suffix, real, v, SCALE, STORE, NOTHING, REGULAR)              \
    LOOP(add_##suffix, real, v, ADD, STORE, NOTHING, REGULAR)                  \
    LOOP(triad_##suffix, real, v, TRIAD, STORE, NOTHING, REGULAR)              \
    LOOP(write_##suffix, real, v, WRITE, STORE, NOTHING, REGULAR)              \
    LOOP(update_##suffix, real, v, UPDATE, STORE, NOTHING, REGULAR)            \
    LOOP(daxpy_##suffix, real, v, DAXPY, STORE, NOTHING, REGULAR)

LOOPS(double, double, vdouble)
LOOPS(float, float, vfloat)

#define TABLE_ROW(stores, suffix)                                              \
    {                                                                          \
        [ASSAY_COPY] = copy_##stores##suffix,                                  \
        [ASSAY_SCALE] = scale_##stores##suffix,                                \
        [ASSAY_ADD] = add_##stores##suffix,                                    \
        [ASSAY_TRIAD] = triad_##stores##suffix, [ASSAY_READ] = read_##suffix,  \
        [ASSAY_WRITE] = write_##stores##suffix,                                \
        [ASSAY_UPDATE] = update_##suffix, [ASSAY_DAXPY] = daxpy_##suffix,      \
    }

#ifdef STREAM_DOUBLE

#define STREAM_vdouble STREAM_DOUBLE
#define STREAM_vfloat STREAM_FLOAT
#define STREAM(v, p, value) STREAM_##v(p, value)

#define STREAM_LOOPS(suffix, real, v)                                          \
    LOOP(copy_nt_##suffix, real, v, COPY, STREAM, FENCE, FOUR)                 \
    LOOP(scale_nt_##suffix, real, v, SCALE, STREAM, FENCE, FOUR)               \
    LOOP(add_nt_##suffix, real, v, ADD, STREAM, FENCE, FOUR)                   \
    LOOP(triad_nt_##suffix, real, v, TRIAD, STREAM, FENCE, FOUR)               \
    LOOP(write_nt_##suffix, real, v, WRITE, STREAM, FENCE, FOUR)

STREAM_LOOPS(double, double, vdouble)
STREAM_LOOPS(float, float, vfloat)

const assay_kernels_table TABLE = {
    [ASSAY_DOUBLE] = {TABLE_ROW(, double), TABLE_ROW(nt_, double)},
    [ASSAY_FLOAT] = {TABLE_ROW(, float), TABLE_ROW(nt_, float)},
};

#else

const assay_kernels_table TABLE = {
    [ASSAY_DOUBLE] = {TABLE_ROW(, double)},
    [ASSAY_FLOAT] = {TABLE_ROW(, float)},
};

#endif
