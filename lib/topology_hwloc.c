/* topology_hwloc.c - the machine as hwloc sees it. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/fail.h"
#include "lib/topology_backend.h"

#ifdef HAVE_HWLOC
#include <hwloc.h>
#endif

#if defined(HAVE_HWLOC) && HWLOC_API_VERSION >= 0x00020400

/* The environment variables by which hwloc shows another machine than this
 * one. It can be made to call that one "this system" too, so it isn't asked
 * alone. */
static bool environment_lies(void)
{
    static const char *const names[] = {"HWLOC_XMLFILE", "HWLOC_SYNTHETIC",
                                        "HWLOC_FSROOT", NULL};

    for (size_t i = 0; names[i]; i++) {
        const char *value = getenv(names[i]);

        if (value && *value)
            return true;
    }
    return false;
}

static int open_topology(hwloc_topology_t *h, const char *xml)
{
    unsigned long flags = HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED;

#if HWLOC_API_VERSION >= 0x00020500
    flags |= HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING;
#endif
    if (hwloc_topology_init(h) != 0)
        return -1;
    if ((!xml || hwloc_topology_set_xml(*h, xml) == 0) &&
        hwloc_topology_set_flags(*h, flags) == 0 &&
        hwloc_topology_set_type_filter(*h, HWLOC_OBJ_MEMCACHE,
                                       HWLOC_TYPE_FILTER_KEEP_ALL) == 0 &&
        hwloc_topology_load(*h) == 0)
        return 0;
    hwloc_topology_destroy(*h);
    return -1;
}

/* The outermost cache over an object that holds data, or NULL. */
static hwloc_obj_t outermost_cache(hwloc_obj_t obj)
{
    hwloc_obj_t found = NULL;

    for (; obj; obj = obj->parent)
        if (hwloc_obj_type_is_dcache(obj->type))
            found = obj;
    return found;
}

/* An efficiency core: where the processor names core types, of the Atom kind;
 * else where the kernel gives cores a capacity, of a kind below the best.
 * Frequencies alone make no second kind: they differ on plain servers too. */
static bool is_efficient(hwloc_topology_t h, hwloc_obj_t pu)
{
    int kind = hwloc_cpukinds_get_by_cpuset(h, pu->cpuset, 0);
    int efficiency, kinds = hwloc_cpukinds_get_nr(h, 0);
    struct hwloc_info_s *infos;
    unsigned n;

    if (kind < 0 || kinds < 2 ||
        hwloc_cpukinds_get_info(h, (unsigned)kind, NULL, &efficiency, &n,
                                &infos, 0) != 0)
        return false;
    for (unsigned i = 0; i < n; i++)
        if (strcmp(infos[i].name, "CoreType") == 0)
            return strcmp(infos[i].value, "IntelAtom") == 0;
    for (unsigned i = 0; i < n; i++)
        if (strcmp(infos[i].name, "LinuxCapacity") == 0)
            return efficiency >= 0 && efficiency < kinds - 1;
    return false;
}

/* Logical index of the object of a type over a PU, or what to take instead. */
static unsigned index_over(hwloc_topology_t h, hwloc_obj_t pu,
                           hwloc_obj_type_t type, unsigned instead)
{
    hwloc_obj_t obj = hwloc_get_ancestor_obj_by_type(h, type, pu);

    return obj ? obj->logical_index : instead;
}

/* Caches of one level are numbered by hwloc; those of several, one after the
 * other (cores without an L3 beside cores with one). */
static unsigned cache_index(hwloc_topology_t h, hwloc_obj_t cache)
{
    unsigned before = 0;

    if (!cache)
        return ASSAY_NONE;
    for (int depth = 0; depth < cache->depth; depth++)
        if (hwloc_obj_type_is_dcache(hwloc_get_depth_type(h, depth)))
            before += hwloc_get_nbobjs_by_depth(h, depth);
    return before + cache->logical_index;
}

static struct assay_cpu describe(hwloc_topology_t h, hwloc_obj_t pu)
{
    int cores = hwloc_get_nbobjs_by_type(h, HWLOC_OBJ_CORE);
    int numa = pu->nodeset ? hwloc_bitmap_first(pu->nodeset) : -1;

    return (struct assay_cpu){
        .cpu = pu->os_index,
        .core =
            index_over(h, pu, HWLOC_OBJ_CORE,
                       (cores > 0 ? (unsigned)cores : 0) + pu->logical_index),
        .package = index_over(h, pu, HWLOC_OBJ_PACKAGE, 0),
        .numa = numa < 0 ? 0 : (unsigned)numa,
        .llc = cache_index(h, outermost_cache(pu)),
        .efficient = is_efficient(h, pu),
    };
}

static bool is_allowed(hwloc_topology_t h, hwloc_obj_t pu,
                       const struct assay_mask *mask)
{
    return hwloc_bitmap_isset(hwloc_topology_get_allowed_cpuset(h),
                              pu->os_index) &&
           (!mask || assay_mask_has(mask, pu->os_index));
}

/* Adds the CPUs, and their outermost caches, each once. A cache of unknown
 * size makes the sum unknown, which is 0. */
static int add_cpus(struct assay_topology *t, hwloc_topology_t h,
                    const struct assay_mask *mask)
{
    int n = hwloc_get_nbobjs_by_type(h, HWLOC_OBJ_PU);
    struct assay_mask *seen = calloc(1, sizeof(*seen));
    bool known = true;

    t->cpus = calloc(n > 0 ? (size_t)n : 1, sizeof(*t->cpus));
    for (int i = 0; t->cpus && seen && i < n; i++) {
        hwloc_obj_t pu = hwloc_get_obj_by_type(h, HWLOC_OBJ_PU, (unsigned)i);
        hwloc_obj_t cache = outermost_cache(pu);
        struct assay_cpu *cpu = &t->cpus[t->ncpus];

        if (!is_allowed(h, pu, mask))
            continue;
        *cpu = describe(h, pu);
        t->ncpus++;
        if (!cache || cache->attr->cache.size == 0)
            known = false;
        else if (!assay_mask_has(seen, cpu->llc))
            t->cache += cache->attr->cache.size;
        assay_mask_add(seen, cpu->llc);
    }
    if (!known)
        t->cache = 0;
    t->cache_source = "hwloc";
    free(seen);
    return t->cpus && seen ? 0 : -1;
}

/* Memory-side caches between a node and its CPUs. */
static uint64_t caches_before(hwloc_obj_t node)
{
    uint64_t bytes = 0;

    for (hwloc_obj_t o = node->parent; o && o->type == HWLOC_OBJ_MEMCACHE;
         o = o->parent)
        bytes += o->attr->cache.size;
    return bytes;
}

static int add_numas(struct assay_topology *t, hwloc_topology_t h,
                     const struct assay_mask *nodes)
{
    int n = hwloc_get_nbobjs_by_type(h, HWLOC_OBJ_NUMANODE);

    t->numas = calloc(n > 0 ? (size_t)n : 1, sizeof(*t->numas));
    for (int i = 0; t->numas && i < n; i++) {
        hwloc_obj_t o =
            hwloc_get_obj_by_type(h, HWLOC_OBJ_NUMANODE, (unsigned)i);
        uint64_t bytes = o->attr->numanode.local_memory;

        if (bytes == 0 || (nodes && !assay_mask_has(nodes, o->os_index)) ||
            !hwloc_bitmap_isset(hwloc_topology_get_allowed_nodeset(h),
                                o->os_index))
            continue;
        t->numas[t->nnumas++] =
            (struct assay_numa){.node = o->os_index, .bytes = bytes};
        t->memory_cache += caches_before(o);
    }
    return t->numas ? 0 : -1;
}

int assay_topology_hwloc(struct assay_topology *t, const char *xml,
                         const struct assay_mask *mask,
                         const struct assay_mask *nodes, char *error,
                         size_t size)
{
    hwloc_topology_t h;
    int rc;

    memset(t, 0, sizeof(*t));
    errno = 0;
    if (open_topology(&h, xml) != 0)
        return assay_fail(error, size, "%s: %s", xml ? xml : "hwloc",
                          errno ? strerror(errno)
                                : "not a topology that hwloc can read");
    t->this_machine =
        !xml && !environment_lies() && hwloc_topology_is_thissystem(h);
    if (!t->this_machine)
        mask = nodes = NULL; /* they speak of this machine */
    rc = add_cpus(t, h, mask) || add_numas(t, h, nodes);
    hwloc_topology_destroy(h);
    if (rc == 0 && t->ncpus > 0) {
        assay_topology_finish(t);
        return 0;
    }
    assay_topology_free(t);
    return assay_fail(error, size, "%s: %s", xml ? xml : "hwloc",
                      rc ? "out of memory" : "no CPU is allowed");
}

char *assay_topology_hwloc_version(char *buf, size_t size)
{
    unsigned version = hwloc_get_api_version();

    snprintf(buf, size, "%s (API %u.%u.%u)", HWLOC_VERSION, version >> 16,
             version >> 8 & 255, version & 255);
    return buf;
}

#else

int assay_topology_hwloc(struct assay_topology *t, const char *xml,
                         const struct assay_mask *mask,
                         const struct assay_mask *nodes, char *error,
                         size_t size)
{
    (void)mask;
    (void)nodes;
    memset(t, 0, sizeof(*t));
    return assay_fail(error, size, "%s: built without hwloc",
                      xml ? xml : "topology");
}

char *assay_topology_hwloc_version(char *buf, size_t size)
{
    snprintf(buf, size, "none");
    return buf;
}

#endif
