/* kernels.h - the timed loops, as data: what each moves, and who runs it.
 *
 * A kernel works on three arrays a, b and c of one type:
 *
 *     copy    c = a          read    sum of a's words
 *     scale   b = s * c      write   c = s
 *     add     c = a + b      update  b = s * b
 *     triad   a = b + s * c  daxpy   a = a + s * b
 *
 * Each exists for every instruction set that the compiler knows, with regular
 * and, where the machine has them, non-temporal stores. None of them calls
 * memcpy or memset, at any level of optimisation: the stores are the ones that
 * the name says. */
#ifndef ASSAY_KERNELS_H
#define ASSAY_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum assay_op {
    ASSAY_COPY,
    ASSAY_SCALE,
    ASSAY_ADD,
    ASSAY_TRIAD,
    ASSAY_READ,
    ASSAY_WRITE,
    ASSAY_UPDATE,
    ASSAY_DAXPY,
    ASSAY_OPS,           /* how many there are */
    ASSAY_STREAM_OPS = 4 /* the first four are STREAM's */
};

enum { ASSAY_A, ASSAY_B, ASSAY_C, ASSAY_ARRAYS, ASSAY_NO_ARRAY };

/* The work model of one kernel, in arrays moved per element. */
struct assay_work {
    const char *name;        /* "copy", as in metric names */
    const char *label;       /* "Copy", as in tables */
    unsigned char dst, x, y; /* the arrays it works on, or ASSAY_NO_ARRAY */
    unsigned char reads;     /* arrays that the source reads */
    unsigned char writes;    /* arrays that the source writes */
    unsigned char allocates; /* of these, arrays that a cache must fetch first:
                                written, but not read */
};

/* Row of `op`; valid for op < ASSAY_OPS. */
const struct assay_work *assay_work(enum assay_op op);

/* Bytes that `op` moves over n elements of `size` bytes, counting the fetch
 * of written lines or not; UINT64_MAX where that does not fit. */
uint64_t assay_work_bytes(enum assay_op op, uint64_t n, size_t size,
                          bool write_allocate);

enum assay_type { ASSAY_DOUBLE, ASSAY_FLOAT, ASSAY_TYPES };
extern const char *const assay_type_words[]; /* for option tables */

size_t assay_type_size(enum assay_type type); /* bytes of one element */

enum assay_stores { ASSAY_STORES_AUTO, ASSAY_REGULAR, ASSAY_NONTEMPORAL };
extern const char *const assay_stores_words[];

enum assay_isa {
    ASSAY_ISA_AUTO,
    ASSAY_AVX512,
    ASSAY_AVX2,
    ASSAY_NEON,
    ASSAY_PLAIN /* C, in vectors of 16 bytes */
};
extern const char *const assay_isa_words[];

/* Is the fetch of written lines counted? auto: with regular stores. */
enum assay_count { ASSAY_COUNT_AUTO, ASSAY_COUNT_YES, ASSAY_COUNT_NO };
extern const char *const assay_count_words[];

/* Run over n elements from dst, x and y (those that the kernel does not use
 * may be anything), which must not overlap. The pointers need the alignment
 * of the type alone. Non-temporal stores are complete on return. Returns the
 * sum of all 32-bit words read, modulo 2^32, from read; else 0. */
typedef uint32_t assay_kernel_f(void *restrict dst, const void *restrict x,
                                const void *restrict y, double s, size_t n);

/* All kernels of one type, instruction set and kind of stores. */
struct assay_kernels {
    enum assay_isa isa;       /* never ASSAY_ISA_AUTO */
    enum assay_stores stores; /* never ASSAY_STORES_AUTO */
    enum assay_type type;
    assay_kernel_f *run[ASSAY_OPS];
};

/* Whether this build and this machine have the instruction set. */
bool assay_isa_here(enum assay_isa isa);

/* Choose kernels: auto takes the widest instruction set of this machine, and
 * non-temporal stores where that has them. Returns 0; or -1 with errno ENOTSUP
 * where the machine lacks what was asked for by name. */
int assay_kernels_choose(enum assay_isa isa, enum assay_stores stores,
                         enum assay_type type, struct assay_kernels *out);

/* The kind of stores that `op` has in these kernels, for records: "regular",
 * "nontemporal", or "none". update and daxpy read what they write, so their
 * stores are always regular. */
const char *assay_kernels_stores(const struct assay_kernels *k,
                                 enum assay_op op);

#endif
