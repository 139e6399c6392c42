/* topology_backend.h - the inside of topology, memory and provenance.
 *
 * Every path is taken under `root`, which is "" on this machine and the
 * folder of a recorded one in tests. */
#ifndef ASSAY_TOPOLOGY_BACKEND_H
#define ASSAY_TOPOLOGY_BACKEND_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/topology.h"

/* --- sets of CPUs or NUMA nodes, laid out as the kernel does ------------- */

#define ASSAY_MASK_BITS 65536u
#define ASSAY_WORD_BITS (CHAR_BIT * (unsigned)sizeof(unsigned long))

struct assay_mask {
    unsigned long word[ASSAY_MASK_BITS / ASSAY_WORD_BITS];
};

bool assay_mask_has(const struct assay_mask *m, unsigned i);
void assay_mask_add(struct assay_mask *m, unsigned i);

/* Fill m from "0-3,8,10". Returns 0, or -1 where the text is no list. An
 * empty text is the empty set. */
int assay_mask_parse(struct assay_mask *m, const char *text);

/* CPUs that this process was started with, or NULL where the kernel wouldn't
 * say. */
const struct assay_mask *assay_start_mask(void);

/* NUMA nodes that the kernel would let the calling thread allocate on: its
 * cpuset's, and those of a binding memory policy (numactl --membind; policies
 * that only prefer or interleave forbid nothing). Returns 0, or -1 where the
 * kernel wouldn't say. */
int assay_policy_nodes(struct assay_mask *nodes);

/* The thread's memory policy in words: "default", "bind:0-1", or "unknown
 * (why)". Returns buf. */
char *assay_policy_text(char *buf, size_t size);

/* --- small files ---------------------------------------------------------- */

/* Read root + path, the path printed from format, up to size - 1 bytes, and
 * end it with a NUL. Returns the length, or -1 with errno. */
long assay_file_read(char *buf, size_t size, const char *root,
                     const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same, cut at the first line's end and at trailing blanks. */
long assay_file_line(char *buf, size_t size, const char *root,
                     const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The number that such a file begins with. Returns 0, or -1 where there is
 * none that fits. */
int assay_file_count(uint64_t *out, const char *root, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The whole file (cut at 16 MiB), allocated; or NULL with errno. */
char *assay_file_text(const char *root, const char *path);

/* What stands behind the first newline, or NULL where there is none. */
const char *assay_next_line(const char *text);

/* The number behind `key` in text made of lines "key: 12 kB" or "key 12": in
 * bytes where it is in kB. Returns 0, or -1 where there is none. The key is
 * matched from the start of a line and whole. */
int assay_text_count(const char *text, const char *key, uint64_t *out);

/* --- control groups ------------------------------------------------------- */

/* Call visit for the folder of every control group that rules this process
 * for the given v1 controller, or v2, from its own to the outermost that is
 * visible. dir has no root in front of it. Returns 0, or -1 where there was no
 * memory to look for them all. */
typedef void assay_cgroup_visit(const char *root, const char *dir,
                                unsigned version, void *arg);
int assay_cgroup_walk(const char *root, const char *controller,
                      assay_cgroup_visit *visit, void *arg);

/* CPUs that the tightest quota grants (1.5), 0 where there is none, or -1
 * where there was no memory to look. */
double assay_cgroup_quota(const char *root);

/* Seconds in which such a quota kept CPUs of the group from running (the most
 * of the process's groups) since the group was made; -1 where no quota is
 * accounted for, or no memory to look. */
double assay_cgroup_throttled(const char *root);

/* --- backends ------------------------------------------------------------- */

/* Fill cpus, numas, cache, cache_source and memory_cache from one source;
 * finish sorts and counts. mask and nodes, unless NULL, narrow what is
 * allowed. Return 0, or -1 with a message in error; t is then empty. */
int assay_topology_hwloc(struct assay_topology *t, const char *xml,
                         const struct assay_mask *mask,
                         const struct assay_mask *nodes, char *error,
                         size_t size);
int assay_topology_sysfs(struct assay_topology *t, const char *root,
                         const struct assay_mask *mask,
                         const struct assay_mask *nodes, char *error,
                         size_t size);

/* Version of hwloc that this was built with, and of the interface of the one
 * that runs: "2.9.0 (API 2.8.0)"; or "none". buf gets it; returns buf. */
char *assay_topology_hwloc_version(char *buf, size_t size);

/* Sort cpus and numas, count what is distinct among them. */
void assay_topology_finish(struct assay_topology *t);

/* Where no source knew the cache: what the C library says for the outermost
 * cache (-1, 0: it doesn't know) for each package, or 32 MiB. */
void assay_topology_assume(struct assay_topology *t, long libc);

#endif
