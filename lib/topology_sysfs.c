/* topology_sysfs.c - the machine as /sys shows it, for builds without hwloc
 * and as a second opinion in tests.
 *
 * Objects are known here by their smallest CPU; logical indices are given in
 * the order of those, packages first, as hwloc does. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/fail.h"
#include "lib/topology_backend.h"

#define CPU_DIR "/sys/devices/system/cpu"
#define NODE_DIR "/sys/devices/system/node"

enum { MAX_NODES = 4096, MAX_INDEX = 16 };

struct found {
    struct assay_cpu cpu;
    unsigned package_low, core_low; /* smallest CPU of each */
    unsigned cache_level, cache_low;
    uint64_t cache_bytes;
    bool allowed;
};

struct machine {
    struct found *cpus;
    size_t n;
    struct assay_mask performance, efficient; /* Intel's core types */
    bool typed;                               /* whether those are told */
    uint64_t capacity;                        /* best cpu_capacity, or 0 */
};

/* Set from a list file. Returns 0, or -1 where it can't be read. */
static int read_list(struct assay_mask *m, const char *root, const char *path)
{
    char *text = assay_file_text(root, path);
    int rc = text ? assay_mask_parse(m, text) : -1;

    free(text);
    return rc;
}

/* Smallest CPU in a list file ("4-7" gives 4), or -1. */
static long first_of(const char *root, unsigned cpu, const char *file)
{
    uint64_t first;

    if (assay_file_count(&first, root, CPU_DIR "/cpu%u/%s", cpu, file) != 0 ||
        first >= ASSAY_MASK_BITS)
        return -1;
    return (long)first;
}

/* Level of a cache that holds data, or 0 for another or none. */
static unsigned data_cache_level(const char *root, unsigned cpu, unsigned i)
{
    char type[32];
    uint64_t level;

    if (assay_file_line(type, sizeof(type), root,
                        CPU_DIR "/cpu%u/cache/index%u/type", cpu, i) < 0 ||
        (strcmp(type, "Unified") != 0 && strcmp(type, "Data") != 0) ||
        assay_file_count(&level, root, CPU_DIR "/cpu%u/cache/index%u/level",
                         cpu, i) != 0 ||
        level > MAX_INDEX)
        return 0;
    return (unsigned)level;
}

/* "32768K" in bytes, or 0. */
static uint64_t cache_size(const char *root, unsigned cpu, unsigned i)
{
    char text[32], *end;
    unsigned long long n;

    if (assay_file_line(text, sizeof(text), root,
                        CPU_DIR "/cpu%u/cache/index%u/size", cpu, i) < 0 ||
        text[0] < '0' || text[0] > '9')
        return 0;
    n = strtoull(text, &end, 10);
    if (n > UINT64_MAX >> 20)
        return 0;
    return n << (*end == 'K' ? 10 : *end == 'M' ? 20 : 0);
}

static void find_cache(struct found *f, const char *root)
{
    unsigned cpu = f->cpu.cpu;

    f->cache_low = ASSAY_NONE;
    for (unsigned i = 0; i < MAX_INDEX; i++) {
        unsigned level = data_cache_level(root, cpu, i);
        char file[64];
        long low;

        if (level <= f->cache_level)
            continue;
        snprintf(file, sizeof(file), "cache/index%u/shared_cpu_list", i);
        low = first_of(root, cpu, file);
        f->cache_level = level;
        f->cache_low = low < 0 ? cpu : (unsigned)low;
        f->cache_bytes = cache_size(root, cpu, i);
    }
}

static void find_cpu(struct found *f, const char *root, unsigned cpu)
{
    long core = first_of(root, cpu, "topology/core_cpus_list");
    long package = first_of(root, cpu, "topology/package_cpus_list");

    if (core < 0) /* names before Linux 5.3 */
        core = first_of(root, cpu, "topology/thread_siblings_list");
    if (package < 0)
        package = first_of(root, cpu, "topology/core_siblings_list");
    f->cpu.cpu = cpu;
    f->core_low = core < 0 ? cpu : (unsigned)core;
    f->package_low = package < 0 ? 0 : (unsigned)package;
    find_cache(f, root);
}

/* Is it slower by design? Told by core type, else by capacity. */
static void find_kind(struct machine *m, struct found *f, const char *root)
{
    uint64_t capacity;

    if (m->typed)
        f->cpu.efficient = assay_mask_has(&m->efficient, f->cpu.cpu);
    else if (assay_file_count(&capacity, root, CPU_DIR "/cpu%u/cpu_capacity",
                              f->cpu.cpu) == 0)
        f->cpu.efficient = capacity < m->capacity;
}

static void find_kinds(struct machine *m, const char *root)
{
    m->typed =
        read_list(&m->performance, root, "/sys/devices/cpu_core/cpus") == 0 &&
        read_list(&m->efficient, root, "/sys/devices/cpu_atom/cpus") == 0;
    for (size_t i = 0; i < m->n; i++) {
        uint64_t capacity;

        if (assay_file_count(&capacity, root, CPU_DIR "/cpu%u/cpu_capacity",
                             m->cpus[i].cpu.cpu) == 0 &&
            capacity > m->capacity)
            m->capacity = capacity;
    }
    for (size_t i = 0; i < m->n; i++)
        find_kind(m, &m->cpus[i], root);
}

/* Nearest node of each CPU: the one whose list has it. */
static void find_nodes(struct machine *m, const char *root)
{
    struct assay_mask online, cpus;
    char path[64];

    if (read_list(&online, root, NODE_DIR "/online") != 0)
        return;
    for (unsigned node = 0; node < MAX_NODES; node++) {
        snprintf(path, sizeof(path), NODE_DIR "/node%u/cpulist", node);
        if (!assay_mask_has(&online, node) || read_list(&cpus, root, path) != 0)
            continue;
        for (size_t i = 0; i < m->n; i++)
            if (assay_mask_has(&cpus, m->cpus[i].cpu.cpu))
                m->cpus[i].cpu.numa = node;
    }
}

static int by_place(const void *pa, const void *pb)
{
    const struct found *a = pa, *b = pb;
    const unsigned ka[] = {a->package_low, a->cpu.numa, a->cache_low,
                           a->core_low, a->cpu.cpu};
    const unsigned kb[] = {b->package_low, b->cpu.numa, b->cache_low,
                           b->core_low, b->cpu.cpu};

    for (size_t i = 0; i < sizeof(ka) / sizeof(ka[0]); i++)
        if (ka[i] != kb[i])
            return ka[i] > kb[i] ? 1 : -1;
    return 0;
}

/* The index of the object with this smallest CPU; new ones count up. */
static unsigned number(unsigned *index, unsigned *count, unsigned low)
{
    if (low >= ASSAY_MASK_BITS)
        return ASSAY_NONE;
    if (index[low] == 0)
        index[low] = ++*count;
    return index[low] - 1;
}

/* Give logical indices machine-wide, whatever is allowed. */
static int number_all(struct machine *m)
{
    unsigned *index = calloc(3 * (size_t)ASSAY_MASK_BITS, sizeof(*index));
    unsigned packages = 0, cores = 0, caches = 0;

    if (!index)
        return -1;
    qsort(m->cpus, m->n, sizeof(*m->cpus), by_place);
    for (size_t i = 0; i < m->n; i++) {
        struct found *f = &m->cpus[i];

        f->cpu.package = number(index, &packages, f->package_low);
        f->cpu.core = number(index + ASSAY_MASK_BITS, &cores, f->core_low);
        f->cpu.llc = number(index + 2 * ASSAY_MASK_BITS, &caches, f->cache_low);
    }
    free(index);
    return 0;
}

static int read_machine(struct machine *m, const char *root)
{
    struct assay_mask online;

    if (read_list(&online, root, CPU_DIR "/online") != 0)
        return -1;
    for (unsigned cpu = 0; cpu < ASSAY_MASK_BITS; cpu++)
        m->n += assay_mask_has(&online, cpu);
    m->cpus = calloc(m->n ? m->n : 1, sizeof(*m->cpus));
    if (!m->cpus)
        return -1;
    m->n = 0;
    for (unsigned cpu = 0; cpu < ASSAY_MASK_BITS; cpu++)
        if (assay_mask_has(&online, cpu))
            find_cpu(&m->cpus[m->n++], root, cpu);
    find_kinds(m, root);
    find_nodes(m, root);
    return number_all(m);
}

static int add_cpus(struct assay_topology *t, const struct machine *m,
                    const struct assay_mask *mask)
{
    struct assay_mask *seen = calloc(1, sizeof(*seen));
    bool known = true;

    t->cpus = calloc(m->n ? m->n : 1, sizeof(*t->cpus));
    for (size_t i = 0; t->cpus && seen && i < m->n; i++) {
        const struct found *f = &m->cpus[i];

        if (mask && !assay_mask_has(mask, f->cpu.cpu))
            continue;
        t->cpus[t->ncpus++] = f->cpu;
        if (f->cache_bytes == 0)
            known = false;
        else if (!assay_mask_has(seen, f->cpu.llc))
            t->cache += f->cache_bytes;
        assay_mask_add(seen, f->cpu.llc);
    }
    if (!known)
        t->cache = 0;
    t->cache_source = "sysfs";
    free(seen);
    return t->cpus && seen ? 0 : -1;
}

/* Bytes of a node, from its own meminfo: "Node 0 MemTotal:   4548824 kB". */
static uint64_t node_bytes(const char *root, unsigned node)
{
    char text[4096], key[32];
    const char *line;
    uint64_t bytes = 0;

    snprintf(key, sizeof(key), "Node %u MemTotal", node);
    if (assay_file_read(text, sizeof(text), root, NODE_DIR "/node%u/meminfo",
                        node) < 0)
        return 0;
    line = strstr(text, key);
    if (line)
        assay_text_count(line, key, &bytes);
    return bytes;
}

static uint64_t node_caches(const char *root, unsigned node)
{
    uint64_t total = 0, bytes;

    for (unsigned i = 1; i < MAX_INDEX; i++)
        if (assay_file_count(&bytes, root,
                             NODE_DIR "/node%u/memory_side_cache/index%u/size",
                             node, i) == 0)
            total += bytes;
    return total;
}

/* A kernel without NUMA shows no nodes: all memory is then node 0's. */
static int add_only_node(struct assay_topology *t, const char *root)
{
    char *text = assay_file_text(root, "/proc/meminfo");
    uint64_t bytes = 0;

    assay_text_count(text, "MemTotal", &bytes);
    free(text);
    t->numas = calloc(1, sizeof(*t->numas));
    if (!t->numas)
        return -1;
    t->numas[0].bytes = bytes;
    t->nnumas = bytes > 0;
    return 0;
}

static int add_numas(struct assay_topology *t, const char *root,
                     const struct assay_mask *nodes)
{
    struct assay_mask online;

    if (read_list(&online, root, NODE_DIR "/online") != 0)
        return add_only_node(t, root);
    t->numas = calloc(MAX_NODES, sizeof(*t->numas));
    for (unsigned node = 0; t->numas && node < MAX_NODES; node++) {
        uint64_t bytes;

        if (!assay_mask_has(&online, node) ||
            (nodes && !assay_mask_has(nodes, node)))
            continue;
        bytes = node_bytes(root, node);
        if (bytes == 0)
            continue;
        t->numas[t->nnumas++] =
            (struct assay_numa){.node = node, .bytes = bytes};
        t->memory_cache += node_caches(root, node);
    }
    return t->numas ? 0 : -1;
}

int assay_topology_sysfs(struct assay_topology *t, const char *root,
                         const struct assay_mask *mask,
                         const struct assay_mask *nodes, char *error,
                         size_t size)
{
    struct machine m = {0};
    int rc;

    memset(t, 0, sizeof(*t));
    if (read_machine(&m, root) != 0) {
        free(m.cpus);
        return assay_fail(error, size, "%s%s: can't be read", root, CPU_DIR);
    }
    rc = add_cpus(t, &m, mask) || add_numas(t, root, nodes);
    free(m.cpus);
    t->this_machine = root[0] == '\0';
    if (rc == 0 && t->ncpus > 0) {
        assay_topology_finish(t);
        return 0;
    }
    assay_topology_free(t);
    return assay_fail(error, size, "%s%s: %s", root, CPU_DIR,
                      rc ? "out of memory" : "no CPU is allowed");
}
