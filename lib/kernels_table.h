/* kernels_table.h - what the kernels of one instruction set offer to
 * kernels.c. Private to libassay. */
#ifndef ASSAY_KERNELS_TABLE_H
#define ASSAY_KERNELS_TABLE_H

#include "lib/kernels.h"

/* [type][nontemporal][op]; an entry with no copy is a kind that the
 * instruction set lacks. */
typedef assay_kernel_f *assay_kernels_table[ASSAY_TYPES][2][ASSAY_OPS];

extern const assay_kernels_table assay_kernels_plain;
#if defined __x86_64__
extern const assay_kernels_table assay_kernels_avx2;
extern const assay_kernels_table assay_kernels_avx512;
#endif
#if defined __aarch64__
extern const assay_kernels_table assay_kernels_neon;
#endif

#endif
