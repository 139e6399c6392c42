/* options.h - what the user may ask of stream. */
#ifndef STREAM_OPTIONS_H
#define STREAM_OPTIONS_H

#include <stdint.h>

#include "lib/assay.h"

enum stream_mode {
    MODE_BANDWIDTH,
    MODE_BENCHMARK,
    MODE_SCALING,
    MODE_LENGTH,
    MODE_KERNELS,
    MODE_NUMA,
    MODE_CLASSIC,
    MODE_ORIGINAL,
};
extern const char *const stream_mode_words[];

struct options {
    uint64_t elements; /* of each array; 0: from the caches */
    uint64_t threads;  /* 0: OMP_NUM_THREADS, else one a core */
    uint64_t repetitions;
    uint64_t rounds;      /* of ours and the original in turn */
    int mode;             /* enum stream_mode */
    int type;             /* enum assay_type */
    int kernel;           /* enum assay_isa */
    int stores;           /* enum assay_stores */
    int write_allocate;   /* enum assay_count */
    int pin;              /* enum assay_pin */
    int hugepages;        /* enum assay_hugepages */
    const char *scaling;  /* "all", "numa", "socket" or "1,2,4"; or NULL */
    const char *plot;     /* SVG file of the scaling; or NULL */
    const char *original; /* stream.c, or its URL; or NULL */
    const char *compiler, *flags; /* for original; or NULL */
};

extern const struct assay_program stream_program;

#endif
