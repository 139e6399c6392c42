/* kernels.c - the table of kernels, and the choice among them. */
#include "config.h"

#include <errno.h>

#include "lib/kernels.h"
#include "lib/kernels_table.h"
#include "lib/units.h"

#define NONE ASSAY_NO_ARRAY

static const struct assay_work works[ASSAY_OPS] = {
    /*                         dst      x        y     r  w  a */
    [ASSAY_COPY] = {"copy", "Copy", ASSAY_C, ASSAY_A, NONE, 1, 1, 1},
    [ASSAY_SCALE] = {"scale", "Scale", ASSAY_B, ASSAY_C, NONE, 1, 1, 1},
    [ASSAY_ADD] = {"add", "Add", ASSAY_C, ASSAY_A, ASSAY_B, 2, 1, 1},
    [ASSAY_TRIAD] = {"triad", "Triad", ASSAY_A, ASSAY_B, ASSAY_C, 2, 1, 1},
    [ASSAY_READ] = {"read", "Read", NONE, ASSAY_A, NONE, 1, 0, 0},
    [ASSAY_WRITE] = {"write", "Write", ASSAY_C, NONE, NONE, 0, 1, 1},
    [ASSAY_UPDATE] = {"update", "Update", ASSAY_B, NONE, NONE, 1, 1, 0},
    [ASSAY_DAXPY] = {"daxpy", "Daxpy", ASSAY_A, ASSAY_B, NONE, 2, 1, 0},
};

const char *const assay_type_words[] = {"double", "float", NULL};
const char *const assay_stores_words[] = {"auto", "regular", "nontemporal",
                                          NULL};
const char *const assay_isa_words[] = {"auto", "avx512", "avx2",
                                       "neon", "plain",  NULL};
const char *const assay_count_words[] = {"auto", "yes", "no", NULL};

const struct assay_work *assay_work(enum assay_op op)
{
    return &works[op];
}

uint64_t assay_work_bytes(enum assay_op op, uint64_t n, size_t size,
                          bool write_allocate)
{
    const struct assay_work *w = &works[op];
    unsigned arrays = w->reads + w->writes;

    if (write_allocate)
        arrays += w->allocates;
    return assay_product(assay_product(n, size), arrays);
}

size_t assay_type_size(enum assay_type type)
{
    return type == ASSAY_FLOAT ? sizeof(float) : sizeof(double);
}

static const assay_kernels_table *table_of(enum assay_isa isa)
{
    switch (isa) {
#if defined __x86_64__
    case ASSAY_AVX512:
        return &assay_kernels_avx512;
    case ASSAY_AVX2:
        return &assay_kernels_avx2;
#endif
#if defined __aarch64__
    case ASSAY_NEON:
        return &assay_kernels_neon;
#endif
    case ASSAY_PLAIN:
        return &assay_kernels_plain;
    default:
        return NULL;
    }
}

bool assay_isa_here(enum assay_isa isa)
{
    if (!table_of(isa))
        return false;
#if defined __x86_64__
    if (isa == ASSAY_AVX512)
        return __builtin_cpu_supports("avx512f");
    if (isa == ASSAY_AVX2)
        return __builtin_cpu_supports("avx2");
#endif
    return true;
}

static enum assay_isa widest(void)
{
    static const enum assay_isa order[] = {ASSAY_AVX512, ASSAY_AVX2,
                                           ASSAY_NEON};

    for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
        if (assay_isa_here(order[i]))
            return order[i];
    return ASSAY_PLAIN;
}

int assay_kernels_choose(enum assay_isa isa, enum assay_stores stores,
                         enum assay_type type, struct assay_kernels *out)
{
    const assay_kernels_table *table;
    bool nontemporal;

    if (isa == ASSAY_ISA_AUTO)
        isa = widest();
    if (!assay_isa_here(isa)) {
        errno = ENOTSUP;
        return -1;
    }
    table = table_of(isa);
    nontemporal = (*table)[type][1][ASSAY_COPY] != NULL;
    if (stores == ASSAY_NONTEMPORAL && !nontemporal) {
        errno = ENOTSUP;
        return -1;
    }
    if (stores == ASSAY_REGULAR)
        nontemporal = false;
    out->isa = isa;
    out->stores = nontemporal ? ASSAY_NONTEMPORAL : ASSAY_REGULAR;
    out->type = type;
    for (int op = 0; op < ASSAY_OPS; op++)
        out->run[op] = (*table)[type][nontemporal][op];
    return 0;
}

const char *assay_kernels_stores(const struct assay_kernels *k,
                                 enum assay_op op)
{
    if (works[op].writes == 0)
        return "none";
    if (works[op].allocates == 0)
        return assay_stores_words[ASSAY_REGULAR];
    return assay_stores_words[k->stores];
}
