/* kernels_avx2.c - the kernels with AVX2. */
#include "config.h"

#if defined __x86_64__
#include <immintrin.h>

#define TABLE assay_kernels_avx2
#define TARGET __attribute__((target("avx2")))
#define VBYTES 32
#define STREAM_DOUBLE(p, v) _mm256_stream_pd(p, (__m256d)(v))
#define STREAM_FLOAT(p, v) _mm256_stream_ps(p, (__m256)(v))
#define FENCE() _mm_sfence()

#include "lib/kernels_body.h"
#else
typedef int assay_kernels_avx2_not_here;
#endif
