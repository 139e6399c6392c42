/* affinity.h - ask for a place for each thread, and report the one it had. */
#ifndef ASSAY_AFFINITY_H
#define ASSAY_AFFINITY_H

#include <stddef.h>

#include "lib/topology.h"

enum assay_pin { ASSAY_PIN_COMPACT, ASSAY_PIN_SPREAD, ASSAY_PIN_NONE };
extern const char *const assay_pin_words[]; /* for option tables */

/* Choose an OS CPU for each of n threads from the allowed ones: compact fills
 * cores in order (a second hardware thread of a core only when all cores bear
 * one), spread goes round packages, NUMA nodes and caches first; more threads
 * than CPUs wrap round. numa < 0: anywhere, else only CPUs of that NUMA node.
 * cpus[0..n-1] gets OS indices, or -1 for ASSAY_PIN_NONE. Returns 0, or -1 if
 * no CPU fits. Pure: tested on recorded machines. */
int assay_pin_plan(const struct assay_topology *t, enum assay_pin pin, size_t n,
                   int numa, int *cpus);

/* Bind the calling thread to one CPU, and read the binding back. Returns 0,
 * or -1 with errno (a binding that did not take is EXDEV). */
int assay_pin_thread(int cpu);

/* Let the calling thread run on all allowed CPUs again. */
int assay_unpin_thread(const struct assay_topology *t);

/* CPU that the calling thread is running on now, or -1. */
int assay_cpu_now(void);

/* "0-3,8" from OS indices in any order, allocated; NULL without memory. */
char *assay_cpu_list(const int *cpus, size_t n);

#endif
