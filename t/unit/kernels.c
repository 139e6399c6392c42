/* kernels.c - every kernel of every instruction set, type and kind of stores
 * does what its row says, at every length and alignment, and nothing else. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/kernels.h"
#include "t/unit/tap.h"

enum { MOST = 200, GUARD = 16, ROOM = MOST + 3 * GUARD };

/* The three arrays, with room before and behind. */
struct field {
    double d[3][ROOM];
    float f[3][ROOM];
};

static struct field *new_field(void)
{
    struct field *field = aligned_alloc(64, (sizeof(*field) + 63) / 64 * 64);

    for (int k = 0; k < 3; k++)
        for (int i = 0; i < ROOM; i++) {
            field->d[k][i] = 1 + (i * 7 + k * 3) % 11;
            field->f[k][i] = (float)field->d[k][i];
        }
    return field;
}

static double element(const struct field *field, enum assay_type type, int k,
                      int i)
{
    return type == ASSAY_FLOAT ? (double)field->f[k][i] : field->d[k][i];
}

/* What the header says that op does to one element. */
static double model(enum assay_op op, double x, double y, double d, double s)
{
    switch (op) {
    case ASSAY_COPY:
        return x;
    case ASSAY_SCALE:
        return s * x;
    case ASSAY_ADD:
        return x + y;
    case ASSAY_TRIAD:
        return x + s * y;
    case ASSAY_WRITE:
        return s;
    case ASSAY_UPDATE:
        return s * d;
    default:
        return d + s * x;
    }
}

static void *place(struct field *field, enum assay_type type, unsigned k,
                   int at)
{
    if (k >= ASSAY_ARRAYS)
        return NULL;
    return type == ASSAY_FLOAT ? (void *)(field->f[k] + at)
                               : (void *)(field->d[k] + at);
}

/* Run op over n elements from `at` of dst and from GUARD of x and y; count
 * the elements of all arrays that are not as they should be. */
static unsigned wrong_elements(const struct assay_kernels *k, enum assay_op op,
                               int n, int at)
{
    const struct assay_work *w = assay_work(op);
    struct field *before = new_field(), *after = new_field();
    unsigned wrong = 0;

    k->run[op](place(after, k->type, w->dst, at),
               place(after, k->type, w->x, GUARD),
               place(after, k->type, w->y, GUARD), 3.0, (size_t)n);
    for (int a = 0; a < ASSAY_ARRAYS; a++)
        for (int i = 0; i < ROOM; i++) {
            double want = element(before, k->type, a, i);

            if (a == w->dst && i >= at && i < at + n)
                want =
                    model(op,
                          w->x < ASSAY_ARRAYS
                              ? element(before, k->type, w->x, i - at + GUARD)
                              : 0.0,
                          w->y < ASSAY_ARRAYS
                              ? element(before, k->type, w->y, i - at + GUARD)
                              : 0.0,
                          want, 3.0);
            wrong += element(after, k->type, a, i) != want;
        }
    free(before);
    free(after);
    return wrong;
}

static unsigned wrong_sums(const struct assay_kernels *k, int n, int at)
{
    struct field *field = new_field();
    const uint32_t *words = place(field, k->type, ASSAY_A, at);
    size_t count = (size_t)n * assay_type_size(k->type) / sizeof(*words);
    uint32_t sum = 0, got;

    for (size_t i = 0; i < count; i++) {
        uint32_t word;

        memcpy(&word, (const char *)words + 4 * i, sizeof(word));
        sum += word;
    }
    got = k->run[ASSAY_READ](NULL, words, NULL, 0.0, (size_t)n);
    free(field);
    return got != sum;
}

static void test_table(const struct assay_kernels *k)
{
    for (int op = 0; op < ASSAY_OPS; op++) {
        unsigned wrong = 0;

        for (int n = 0; n <= MOST; n += n < 80 ? 1 : 17)
            for (int at = GUARD; at < 2 * GUARD; at += n < 40 ? 1 : 5)
                wrong += op == ASSAY_READ
                             ? wrong_sums(k, n, at)
                             : wrong_elements(k, (enum assay_op)op, n, at);
        ok(wrong == 0, "%s %s %s %s: %u wrong elements",
           assay_isa_words[k->isa], assay_stores_words[k->stores],
           assay_type_words[k->type], assay_work((enum assay_op)op)->name,
           wrong);
    }
}

static void test_all_tables(void)
{
    for (int isa = ASSAY_AVX512; assay_isa_words[isa]; isa++)
        for (int type = 0; type < ASSAY_TYPES; type++)
            for (int stores = ASSAY_REGULAR; assay_stores_words[stores];
                 stores++) {
                struct assay_kernels k;

                errno = 0;
                if (assay_kernels_choose((enum assay_isa)isa,
                                         (enum assay_stores)stores,
                                         (enum assay_type)type, &k) == 0) {
                    ok(k.isa == (enum assay_isa)isa &&
                           k.stores == (enum assay_stores)stores,
                       "%s %s: what was asked for", assay_isa_words[isa],
                       assay_stores_words[stores]);
                    test_table(&k);
                } else {
                    ok(errno == ENOTSUP, "%s %s: refused, not replaced",
                       assay_isa_words[isa], assay_stores_words[stores]);
                }
            }
}

static void test_choice(void)
{
    struct assay_kernels k;

    ok(assay_isa_here(ASSAY_PLAIN), "plain kernels run anywhere");
    ok(assay_kernels_choose(ASSAY_ISA_AUTO, ASSAY_STORES_AUTO, ASSAY_DOUBLE,
                            &k) == 0,
       "auto always finds kernels");
    ok(k.isa != ASSAY_ISA_AUTO && k.stores != ASSAY_STORES_AUTO,
       "and says which");
#if defined __x86_64__
    ok(!assay_isa_here(ASSAY_NEON), "no NEON on x86");
    if (assay_isa_here(ASSAY_AVX2))
        ok(k.stores == ASSAY_NONTEMPORAL, "AVX2 has non-temporal stores");
    else
        skip(1, "no AVX2");
#endif
    assay_kernels_choose(ASSAY_ISA_AUTO, ASSAY_STORES_AUTO, ASSAY_DOUBLE, &k);
    is_text(assay_kernels_stores(&k, ASSAY_READ), "none",
            "read stores nothing");
    is_text(assay_kernels_stores(&k, ASSAY_DAXPY), "regular",
            "daxpy reads what it writes");
    is_text(assay_kernels_stores(&k, ASSAY_TRIAD), assay_stores_words[k.stores],
            "triad stores as the kernels do");
}

static void test_work(void)
{
    static const unsigned words[ASSAY_OPS][2] = {
        {2, 3}, {2, 3}, {3, 4}, {3, 4}, {1, 1}, {1, 2}, {2, 2}, {3, 3}};

    for (int op = 0; op < ASSAY_OPS; op++)
        for (int allocate = 0; allocate < 2; allocate++)
            is_count(assay_work_bytes((enum assay_op)op, 1, 8, allocate),
                     8 * words[op][allocate], "%s: bytes of an element, %s",
                     assay_work((enum assay_op)op)->name,
                     allocate ? "write-allocate counted"
                              : "as the source says");
    is_count(assay_work_bytes(ASSAY_ADD, 89478485, 8, false), 2147483640,
             "bytes just under 2^31");
    is_count(assay_work_bytes(ASSAY_ADD, 89478486, 8, false), 2147483664,
             "bytes just over 2^31");
    is_count(assay_work_bytes(ASSAY_TRIAD, (UINT64_C(1) << 31) + 1000, 4, true),
             34359754368, "more than 2^31 elements");
    is_count(assay_work_bytes(ASSAY_TRIAD, UINT64_MAX / 8, 8, true), UINT64_MAX,
             "more bytes than can be counted are not a few");
    is_count(assay_type_size(ASSAY_DOUBLE), 8, "a double has 8 bytes");
    is_count(assay_type_size(ASSAY_FLOAT), 4, "a float has 4 bytes");
}

/* A mapping of `bytes` that is the same `period` bytes over and over, but for
 * the last period, which is memory of its own; and a guard page. */
static char *map_repeated(size_t bytes, size_t period)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int fd = memfd_create("repeated", MFD_CLOEXEC);
    char *base = mmap(NULL, bytes + page, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    bool good =
        fd >= 0 && base != MAP_FAILED && ftruncate(fd, (off_t)period) == 0;

    for (size_t at = 0; good && at < bytes; at += period) {
        bool last = at + period >= bytes;
        int flags =
            last ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED | MAP_POPULATE;

        good = mmap(base + at, period, PROT_READ | PROT_WRITE,
                    MAP_FIXED | flags, last ? -1 : fd, 0) != MAP_FAILED;
    }
    if (fd >= 0)
        close(fd);
    return good ? base : NULL;
}

/* One call over more than 2^31 floats, in 32 MiB of memory: the loops' own
 * indices pass 2^31. A write past the end meets the guard page. */
static void test_long(void)
{
    const size_t period = (size_t)16 << 20, n = ((size_t)1 << 31) + (4 << 20);
    const size_t bytes = n * sizeof(float), tail = n - period / sizeof(float);
    float *x = (float *)map_repeated(bytes, period);
    struct assay_kernels k;
    size_t wrong = 0;

    if (!x) {
        skip(2, "no address space for more than 2^31 floats");
        return;
    }
    assay_kernels_choose(ASSAY_ISA_AUTO, ASSAY_STORES_AUTO, ASSAY_FLOAT, &k);
    k.run[ASSAY_WRITE](x, NULL, NULL, 3.0, n);
    for (size_t i = tail; i < n; i++)
        wrong += x[i] != 3.0f;
    is_count(wrong, 0, "write: %zu floats behind 2^31 are written", n - tail);
    memset(x, 0, period);
    memset(x + tail, 0, period);
    x[n - 1] = 1.0f;
    is_count(k.run[ASSAY_READ](NULL, x, NULL, 0.0, n), 0x3f800000,
             "read: the last float behind 2^31 is read");
    munmap(x, bytes);
}

int main(void)
{
    test_work();
    test_choice();
    test_all_tables();
    test_long();
    return done_testing();
}
