/* options.h - what manmem can be asked for. */
#ifndef MANMEM_OPTIONS_H
#define MANMEM_OPTIONS_H

#include "lib/assay.h"

enum backend_choice { BACKEND_AUTO, BACKEND_HIP, BACKEND_CUDA, BACKEND_HOST };
enum order { ORDER_BOTH, ORDER_ALONE, ORDER_TOGETHER };

struct options {
    int backend, type, access, advise, order;
    uint64_t block_size, num_blocks, elements, iterations;
    uint64_t ping_pong, rounds, chunk, stand_ins;
    bool prefetch, oversubscribe;
    double watchdog;
    const char *devices, *plugins;
};

extern const struct assay_program manmem_program;
extern const char *const manmem_type_words[]; /* by enum gpu_type */
extern const char *const manmem_access_words[];
extern const char *const manmem_advice_words[];

#endif
