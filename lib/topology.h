/* topology.h - the part of the machine that this process may use.
 *
 * Read through hwloc, or from /sys where built without it. "Allowed" CPUs are
 * those of the affinity mask that the process was started with (cpuset,
 * cgroup, taskset, srun --cpus-per-task), taken before the OpenMP library may
 * have narrowed it (OMP_PROC_BIND binds the main thread before main). */
#ifndef ASSAY_TOPOLOGY_H
#define ASSAY_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ASSAY_NONE (~0u)

struct assay_cpu {
    unsigned cpu;     /* OS index */
    unsigned core;    /* logical index of the physical core, machine-wide */
    unsigned package; /* logical index of the socket */
    unsigned numa;    /* OS index of the nearest NUMA node */
    unsigned llc;     /* logical index of its outermost cache: the L4, else
                         the L3, else ...; ASSAY_NONE where it isn't known */
    bool efficient;   /* an efficiency core of a hybrid processor */
};

struct assay_numa {
    unsigned node;  /* OS index */
    uint64_t bytes; /* local memory */
    unsigned cpus;  /* allowed CPUs nearest to it; 0: memory only (HBM, CXL),
                       or none of its CPUs is allowed */
};

struct assay_topology {
    struct assay_cpu *cpus; /* allowed, sorted by (package, numa, core, cpu) */
    size_t ncpus;
    size_t ncores, npackages, nllcs; /* distinct ones among cpus */
    double quota;                    /* CPUs that the cgroup grants, or 0 */
    struct assay_numa *numas;        /* that this process may allocate on */
    size_t nnumas;
    uint64_t cache;           /* bytes: distinct outermost caches added up */
    const char *cache_source; /* "hwloc", "sysfs", "sysconf", "assumed" */
    bool this_machine;        /* false: from a recorded one, be it by xml or
                                 by HWLOC_XMLFILE and its like */
    uint64_t memory_cache;    /* bytes of memory-side caches in front of numas
                                 (HBM or MCDRAM in cache mode), or 0: part of
                                 the memory as far as `cache` is concerned */
};

/* Describe this machine (xml NULL) or the hwloc XML file of a recorded one,
 * of which all CPUs and nodes that the file allows are taken. Where no cache
 * is known, cache is 32 MiB and cache_source "assumed". Returns 0, or -1 with
 * a message in error. Free with assay_topology_free. */
int assay_topology_load(struct assay_topology *t, const char *xml, char *error,
                        size_t size);
void assay_topology_free(struct assay_topology *t);

/* Threads to run by default: one a physical core, no more than the cgroup's
 * quota rounded up; at least 1. */
size_t assay_default_threads(const struct assay_topology *t);

#endif
