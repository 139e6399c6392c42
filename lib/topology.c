/* topology.c - the part of the machine that this process may use. */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/fail.h"
#include "lib/topology.h"
#include "lib/topology_backend.h"

#define ASSUMED_CACHE ((uint64_t)32 << 20)

static int compare(unsigned a, unsigned b)
{
    return (a > b) - (a < b);
}

static int compare_cpus(const void *pa, const void *pb)
{
    const struct assay_cpu *a = pa, *b = pb;
    int order = compare(a->package, b->package);

    if (!order)
        order = compare(a->numa, b->numa);
    if (!order)
        order = compare(a->core, b->core);
    return order ? order : compare(a->cpu, b->cpu);
}

static int compare_numas(const void *pa, const void *pb)
{
    const struct assay_numa *a = pa, *b = pb;

    return compare(a->node, b->node);
}

/* How many different values, other than ASSAY_NONE, the member at offset has
 * among the CPUs. */
static size_t count_distinct(const struct assay_topology *t, size_t offset)
{
    struct assay_mask seen = {{0}};
    size_t n = 0;

    for (size_t i = 0; i < t->ncpus; i++) {
        unsigned value;

        memcpy(&value, (const char *)&t->cpus[i] + offset, sizeof(value));
        if (value == ASSAY_NONE || assay_mask_has(&seen, value))
            continue;
        assay_mask_add(&seen, value);
        n++;
    }
    return n;
}

void assay_topology_finish(struct assay_topology *t)
{
    if (t->ncpus)
        qsort(t->cpus, t->ncpus, sizeof(*t->cpus), compare_cpus);
    if (t->nnumas)
        qsort(t->numas, t->nnumas, sizeof(*t->numas), compare_numas);
    t->ncores = count_distinct(t, offsetof(struct assay_cpu, core));
    t->npackages = count_distinct(t, offsetof(struct assay_cpu, package));
    t->nllcs = count_distinct(t, offsetof(struct assay_cpu, llc));
    for (size_t i = 0; i < t->nnumas; i++)
        for (size_t j = 0; j < t->ncpus; j++)
            t->numas[i].cpus += t->cpus[j].numa == t->numas[i].node;
}

void assay_topology_assume(struct assay_topology *t, long libc)
{
    if (libc > 0) {
        t->cache = (uint64_t)libc * (t->npackages ? t->npackages : 1);
        t->cache_source = "sysconf";
    } else {
        t->cache = ASSUMED_CACHE;
        t->cache_source = "assumed";
    }
}

/* What the C library takes the outermost cache to be: in a guest often the
 * whole host's. Only believed where nothing else is known. */
static long libc_cache(void)
{
    long size = -1;

#ifdef _SC_LEVEL4_CACHE_SIZE
    size = sysconf(_SC_LEVEL4_CACHE_SIZE);
#endif
#ifdef _SC_LEVEL3_CACHE_SIZE
    if (size <= 0)
        size = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
    return size;
}

/* A recorded machine: the file alone decides. */
static int load_recorded(struct assay_topology *t, const char *xml, char *error,
                         size_t size)
{
    if (assay_topology_hwloc(t, xml, NULL, NULL, error, size) != 0)
        return -1;
    if (t->cache == 0)
        assay_topology_assume(t, 0);
    return 0;
}

/* hwloc saw this machine but no cache: perhaps /sys knows it. */
static void cache_from_sysfs(struct assay_topology *t,
                             const struct assay_mask *mask,
                             const struct assay_mask *nodes)
{
    struct assay_topology other;
    char ignored[128];

    if (assay_topology_sysfs(&other, "", mask, nodes, ignored,
                             sizeof(ignored)) != 0)
        return;
    if (other.cache > 0) {
        t->cache = other.cache;
        t->cache_source = other.cache_source;
    }
    assay_topology_free(&other);
}

static int load_here(struct assay_topology *t, char *error, size_t size)
{
    const struct assay_mask *mask = assay_start_mask();
    struct assay_mask policy;
    const struct assay_mask *nodes =
        assay_policy_nodes(&policy) == 0 ? &policy : NULL;

    if (assay_topology_hwloc(t, NULL, mask, nodes, error, size) != 0 &&
        assay_topology_sysfs(t, "", mask, nodes, error, size) != 0)
        return -1;
    if (!t->this_machine) {
        if (t->cache == 0)
            assay_topology_assume(t, 0);
        return 0;
    }
    t->quota = assay_cgroup_quota("");
    if (t->quota < 0) {
        assay_topology_free(t);
        return assay_fail(error, size, "control groups: %s", strerror(ENOMEM));
    }
    if (t->cache == 0)
        cache_from_sysfs(t, mask, nodes);
    if (t->cache == 0)
        assay_topology_assume(t, libc_cache());
    return 0;
}

int assay_topology_load(struct assay_topology *t, const char *xml, char *error,
                        size_t size)
{
    return xml ? load_recorded(t, xml, error, size) : load_here(t, error, size);
}

void assay_topology_free(struct assay_topology *t)
{
    free(t->cpus);
    free(t->numas);
    memset(t, 0, sizeof(*t));
}

size_t assay_default_threads(const struct assay_topology *t)
{
    size_t n = t->ncores;

    if (t->quota > 0 && ceil(t->quota) < (double)n)
        n = (size_t)ceil(t->quota);
    return n ? n : 1;
}
