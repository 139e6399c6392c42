/* memory.h - how much memory this process may take, and arrays in it. */
#ifndef ASSAY_MEMORY_H
#define ASSAY_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "lib/topology.h"

struct assay_memory {
    uint64_t available; /* bytes that may be allocated and touched now */
    char limit[96];     /* what sets it: "cgroup memory.max", "RLIMIT_AS",
                           "free memory of NUMA nodes 0,1", ... */
};

/* The smallest of: free memory of the machine, of the allowed NUMA nodes,
 * what is left under every cgroup (v1, v2) limit from here to the root,
 * RLIMIT_AS and RLIMIT_DATA; huge pages of the hugetlb pool count apart. */
struct assay_memory assay_memory_available(const struct assay_topology *t);

enum assay_hugepages { ASSAY_HUGE_NEVER, ASSAY_HUGE_THP, ASSAY_HUGE_HUGETLB };
extern const char *const assay_hugepages_words[];

/* Map bytes of untouched memory, aligned to 2 MiB, with the page size asked
 * for; node >= 0 binds it to that NUMA node. NULL with errno on failure
 * (ENOSYS: built without NUMA support and a node was asked for). */
void *assay_map(size_t bytes, enum assay_hugepages huge, int node);
void assay_unmap(void *p, size_t bytes, enum assay_hugepages huge);

/* NUMA node that holds the page at p (which must have been touched), or -1. */
int assay_page_node(const void *p);

/* Bytes of [p, p + bytes) that lie in huge pages, from /proc/self/smaps. */
uint64_t assay_huge_bytes(const void *p, size_t bytes);

#endif
