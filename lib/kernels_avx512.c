/* kernels_avx512.c - the kernels with AVX-512. */
#include "config.h"

#if defined __x86_64__
#include <immintrin.h>

#define TABLE assay_kernels_avx512
#define TARGET __attribute__((target("avx512f")))
#define VBYTES 64
#if defined __clang__
/* Its _mm512_stream_pd hands the vector on through memcpy at -O0. */
#define STREAM_DOUBLE(p, v)                                                    \
    __builtin_nontemporal_store((__m512d)(v), (__m512d *)(void *)(p))
#define STREAM_FLOAT(p, v)                                                     \
    __builtin_nontemporal_store((__m512)(v), (__m512 *)(void *)(p))
#else
#define STREAM_DOUBLE(p, v) _mm512_stream_pd(p, (__m512d)(v))
#define STREAM_FLOAT(p, v) _mm512_stream_ps(p, (__m512)(v))
#endif
#define FENCE() _mm_sfence()

#include "lib/kernels_body.h"
#else
typedef int assay_kernels_avx512_not_here;
#endif
