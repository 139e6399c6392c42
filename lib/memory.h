/* memory.h - how much memory this process may take, and arrays in it. */
#ifndef ASSAY_MEMORY_H
#define ASSAY_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "lib/topology.h"

struct assay_memory {
    uint64_t available; /* bytes that may be allocated and touched now */
    char limit[96];     /* what sets it: "cgroup memory.max", "RLIMIT_AS",
                           "free memory of NUMA nodes 0,1", ...; "unknown"
                           where nothing could be read (available is 0) */
    uint64_t hugetlb;   /* bytes free in the pool of hugetlb pages, apart */
};

/* The smallest of: available memory of the machine, free memory of the NUMA
 * nodes of t where those are not all, what is left under every cgroup (v1,
 * v2) limit from here to the root, under the commit limit where the kernel
 * forbids overcommitting, RLIMIT_AS and RLIMIT_DATA. Stacks of threads yet to
 * start come out of it too. */
struct assay_memory assay_memory_available(const struct assay_topology *t);

/* The same of a recorded machine, under whose root the files lie: without
 * limits of this process. */
struct assay_memory assay_memory_under(const char *root,
                                       const struct assay_topology *t);

enum assay_hugepages { ASSAY_HUGE_NEVER, ASSAY_HUGE_THP, ASSAY_HUGE_HUGETLB };
extern const char *const assay_hugepages_words[];

/* Map bytes of untouched memory, aligned to 2 MiB, with the page size asked
 * for; node >= 0 binds it to that NUMA node. A guard page follows. NULL with
 * errno on failure: ENOMEM (for hugetlb: the pool, or that node's, is short;
 * never a SIGBUS later), EINVAL (no such node, none that this process may use,
 * or 0 bytes), ENOSYS (a kernel without NUMA and a node was asked for), EPERM
 * (a container forbids binding). THP is a wish: what came of it, only
 * assay_huge_bytes can tell once the memory is touched. */
void *assay_map(size_t bytes, enum assay_hugepages huge, int node);
void assay_unmap(void *p, size_t bytes, enum assay_hugepages huge);

/* NUMA node that holds the page at p (which must have been touched), or -1. */
int assay_page_node(const void *p);

/* Bytes of [p, p + bytes) that lie in huge pages, from /proc/self/smaps. */
uint64_t assay_huge_bytes(const void *p, size_t bytes);

#endif
