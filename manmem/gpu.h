/* gpu.h - what manmem asks of a GPU: one table of functions for each back end.
 *
 * A back end is a plugin, manmem-hip.so or manmem-cuda.so, which exports
 * gpu_backend(); or gpu_host.c, which is part of the program. Valid C and C++.
 *
 * Every function returns GPU_OK; GPU_NONE where there is no device or driver;
 * GPU_UNABLE where this one can't do what was asked for; or GPU_FAILED for
 * anything else. Of the last three *error says which call it was and why. The
 * functions may be called by any thread, but for one gpu by one at a time. */
#ifndef MANMEM_GPU_H
#define MANMEM_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GPU_VERSION = 1 }; /* of this interface */

enum gpu_status { GPU_OK, GPU_NONE, GPU_UNABLE, GPU_FAILED };

struct gpu_error {
    char text[256]; /* "hipMallocManaged: hipErrorOutOfMemory (2)" */
};

/* Whether the device can retry a faulting access, which is what moves pages. */
enum gpu_xnack {
    GPU_XNACK_NONE, /* no such notion: not AMD's */
    GPU_XNACK_UNSUPPORTED,
    GPU_XNACK_OFF,
    GPU_XNACK_ON,
    GPU_XNACK_UNKNOWN, /* AMD's, by an interface that does not tell: SCALE's */
};

struct gpu_facts {
    char name[128];       /* "AMD Instinct MI210" */
    char arch[128];       /* "gfx90a:sramecc+:xnack-", "sm_90", "userfaultfd" */
    char bus[32];         /* "0000:C1:00.0", or "none" */
    char runtime[64];     /* versions of run time and driver */
    enum gpu_xnack xnack; /* as the device says, not a variable */
    uint64_t memory, free;   /* bytes of the device */
    uint64_t threads;        /* most in a block */
    int managed, concurrent; /* attributes: 1, 0, or -1 unknown */
    int pageable,
        host_tables; /* malloc()ed memory; by the host's page tables */
    int integrated;  /* shares its memory with the host */
};

/* What a back end takes from the command line. */
struct gpu_setup {
    uint64_t chunk;   /* bytes that a fault moves: host alone */
    unsigned devices; /* stand-ins: host alone */
};

enum gpu_memory { GPU_MANAGED, GPU_DEVICE };
enum gpu_place { GPU_TO_HOST, GPU_TO_DEVICE };
enum gpu_type { GPU_FLOAT, GPU_DOUBLE };
enum gpu_access { GPU_CONSECUTIVE, GPU_COALESCED };
enum gpu_advice {
    GPU_ADVISE_NONE,
    GPU_ADVISE_PREFERRED, /* the device is where it should be */
    GPU_ADVISE_ACCESSED,  /* by the device: map it, move nothing */
    GPU_ADVISE_READ,      /* mostly read: copies may be kept */
    GPU_ADVISE_COARSE,    /* coarse-grained coherence: AMD alone */
};

/* Thread t of blocks x threads sums `elements` elements of source: those from
 * t x elements on, or t, t + blocks x threads ...; and stores it at sums[t].
 * Counts: elements read are blocks x threads x elements. */
struct gpu_work {
    void *sums;
    const void *source;
    enum gpu_type type;
    enum gpu_access access;
    unsigned threads, blocks;
    uint64_t elements;
};

struct gpu;

struct gpu_backend {
    int version;       /* GPU_VERSION */
    const char *name;  /* "hip" */
    const char *what;  /* one line that opens every output */
    const char *archs; /* that it holds code for, or "" */
    int (*count)(int *n, const struct gpu_setup *setup,
                 struct gpu_error *error);
    /* Take device number `index`, and run an empty kernel on it. */
    int (*open)(struct gpu **gpu, int index, const struct gpu_setup *setup,
                struct gpu_error *error);
    void (*close)(struct gpu *gpu);
    int (*facts)(struct gpu *gpu, struct gpu_facts *facts,
                 struct gpu_error *error);
    int (*allocate)(struct gpu *gpu, enum gpu_memory kind, size_t bytes,
                    void **p, struct gpu_error *error);
    int (*release)(struct gpu *gpu, void *p, struct gpu_error *error);
    int (*advise)(struct gpu *gpu, void *p, size_t bytes, enum gpu_advice how,
                  struct gpu_error *error);
    /* Returns when the pages are there. */
    int (*prefetch)(struct gpu *gpu, void *p, size_t bytes,
                    enum gpu_place where, struct gpu_error *error);
    /* Between the host's own and device memory; returns when it is done. */
    int (*copy)(struct gpu *gpu, void *to, const void *from, size_t bytes,
                enum gpu_place where, struct gpu_error *error);
    /* Run the kernel and wait for its end. *seconds: by the device's own
     * clock, or negative. */
    int (*sum)(struct gpu *gpu, const struct gpu_work *work, double *seconds,
               struct gpu_error *error);
    /* Faults so far, and bytes that they moved, both ways; NULL where the back
     * end can't tell. */
    void (*moved)(struct gpu *gpu, uint64_t *faults, uint64_t *bytes);
};

/* What a plugin exports, by this name. */
typedef const struct gpu_backend *gpu_backend_f(void);
const struct gpu_backend *gpu_backend(void);

/* The stand-in. */
const struct gpu_backend *gpu_host_backend(void);

#ifdef __cplusplus
}
#endif

#endif
