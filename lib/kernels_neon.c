/* kernels_neon.c - the kernels with Advanced SIMD, which every 64-bit Arm
 * processor has. Its non-temporal stores (stnp) are a hint that processors may
 * ignore, so they would leave open what was measured: regular stores only. */
#include "config.h"

#if defined __aarch64__
#define TABLE assay_kernels_neon
#define TARGET
#define VBYTES 16

#include "lib/kernels_body.h"
#else
typedef int assay_kernels_neon_not_here;
#endif
