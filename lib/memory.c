/* memory.c - how much memory there is to take, and taking it. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "lib/affinity.h"
#include "lib/memory.h"
#include "lib/topology_backend.h"

#define NODE_DIR "/sys/devices/system/node"
#define ALIGNMENT ((size_t)2 << 20)

const char *const assay_hugepages_words[] = {"never", "thp", "hugetlb", NULL};

/* --- how much ------------------------------------------------------------- */

/* Note a limit that leaves this much, if it is the tightest so far. */
static void leave(struct assay_memory *m, uint64_t bytes, const char *what)
{
    if (bytes >= m->available)
        return;
    m->available = bytes;
    snprintf(m->limit, sizeof(m->limit), "%s", what);
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static uint64_t count_or(const char *text, const char *key, uint64_t instead)
{
    uint64_t value;

    return assay_text_count(text, key, &value) == 0 ? value : instead;
}

/* Bytes of hugetlb pages that are left, and how control groups spell their
 * size ("2MB"). */
struct pool {
    uint64_t left;
    char name[16];
};

static void visit_pool(const char *root, const char *dir, unsigned version,
                       void *arg)
{
    struct pool *pool = arg;
    const char *name = pool->name;
    uint64_t limit, used = 0;

    if (assay_file_count(&limit, root, "%s/hugetlb.%s.%s", dir, name,
                         version == 2 ? "max" : "limit_in_bytes") != 0)
        return;
    assay_file_count(&used, root, "%s/hugetlb.%s.%s", dir, name,
                     version == 2 ? "current" : "usage_in_bytes");
    if (less(limit, used) < pool->left)
        pool->left = less(limit, used);
}

/* Pages of the default size that nobody has reserved, and that the control
 * groups allow: the kernel reserves more than those do, and kills who touches
 * it. */
static uint64_t pool_left(const char *root, const char *meminfo)
{
    uint64_t size = count_or(meminfo, "Hugepagesize", 0);
    uint64_t pages = less(count_or(meminfo, "HugePages_Free", 0),
                          count_or(meminfo, "HugePages_Rsvd", 0));
    struct pool pool = {
        .left = size && pages > UINT64_MAX / size ? UINT64_MAX : pages * size};

    if (size >= (uint64_t)1 << 30)
        snprintf(pool.name, sizeof(pool.name), "%" PRIu64 "GB", size >> 30);
    else if (size >= (uint64_t)1 << 20)
        snprintf(pool.name, sizeof(pool.name), "%" PRIu64 "MB", size >> 20);
    else
        snprintf(pool.name, sizeof(pool.name), "%" PRIu64 "KB", size >> 10);
    if (assay_cgroup_walk(root, "hugetlb", visit_pool, &pool) != 0)
        return 0;
    return pool.left;
}

/* Without /proc the kernel can still be asked, if it is this one. */
static void from_sysinfo(struct assay_memory *m, const char *root)
{
    struct sysinfo info;

    if (root[0] == '\0' && sysinfo(&info) == 0)
        leave(m, (uint64_t)info.freeram * info.mem_unit,
              "free memory of the machine");
}

static void from_machine(struct assay_memory *m, const char *root)
{
    char text[8192]; /* not allocated: there may be nothing left to allocate */
    uint64_t value, strict;

    if (assay_file_read(text, sizeof(text), root, "/proc/meminfo") < 0) {
        from_sysinfo(m, root);
        return;
    }
    if (assay_text_count(text, "MemAvailable", &value) == 0)
        leave(m, value, "available memory of the machine");
    else if (assay_text_count(text, "MemFree", &value) == 0)
        leave(m, value, "free memory of the machine");
    if (assay_file_count(&strict, root, "/proc/sys/vm/overcommit_memory") ==
            0 &&
        strict == 2 && assay_text_count(text, "CommitLimit", &value) == 0)
        leave(m, less(value, count_or(text, "Committed_AS", 0)),
              "commit limit (vm.overcommit_memory=2)");
    m->hugetlb = pool_left(root, text);
}

/* Free memory of a node, and half its file pages: what the kernel itself
 * takes to be available before it swaps. Lines begin with "Node 3 ". */
static int node_available(const char *root, unsigned node, uint64_t *bytes)
{
    static const char *const keys[] = {"MemFree", "Active(file)",
                                       "Inactive(file)"};
    char text[4096], key[64];

    if (assay_file_read(text, sizeof(text), root, NODE_DIR "/node%u/meminfo",
                        node) < 0)
        return -1;
    *bytes = 0;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        uint64_t value = 0;

        snprintf(key, sizeof(key), "Node %u %s", node, keys[i]);
        if (assay_text_count(text, key, &value) != 0 && i == 0)
            return -1;
        *bytes += i ? value / 2 : value;
    }
    return 0;
}

/* Whether t lacks a node that has memory. */
static bool nodes_are_fewer(const char *root, const struct assay_topology *t)
{
    struct assay_mask have, all;
    char *text = assay_file_text(root, NODE_DIR "/has_memory");
    int rc = text ? assay_mask_parse(&all, text) : -1;

    free(text);
    if (rc != 0)
        return false;
    memset(&have, 0, sizeof(have));
    for (size_t i = 0; i < t->nnumas; i++)
        assay_mask_add(&have, t->numas[i].node);
    for (size_t w = 0; w < sizeof(all.word) / sizeof(all.word[0]); w++)
        if (all.word[w] & ~have.word[w])
            return true;
    return false;
}

static char *node_list(const struct assay_topology *t)
{
    int *nodes = malloc((t->nnumas ? t->nnumas : 1) * sizeof(*nodes));
    char *text = NULL;

    for (size_t i = 0; nodes && i < t->nnumas; i++)
        nodes[i] = (int)t->numas[i].node;
    if (nodes)
        text = assay_cpu_list(nodes, t->nnumas);
    free(nodes);
    return text;
}

/* Only where some nodes are forbidden: otherwise the machine's own count has
 * it all, and knows of memory that was added to no node. */
static void from_nodes(struct assay_memory *m, const char *root,
                       const struct assay_topology *t)
{
    uint64_t total = 0, bytes;
    char what[96], *list;

    if (t->nnumas == 0 || !nodes_are_fewer(root, t))
        return;
    for (size_t i = 0; i < t->nnumas; i++) {
        if (node_available(root, t->numas[i].node, &bytes) != 0)
            return;
        total += bytes;
    }
    list = node_list(t);
    snprintf(what, sizeof(what), "free memory of NUMA node%s %s",
             t->nnumas > 1 ? "s" : "", list ? list : "allowed");
    free(list);
    leave(m, total, what);
}

/* One limit of a control group. used is what it holds, less file pages that
 * the kernel drops when it needs them. "max" is no number and no limit. */
static void group_limit(struct assay_memory *m, const char *root,
                        const char *dir, const char *file, uint64_t used)
{
    uint64_t limit;
    char what[96];

    if (assay_file_count(&limit, root, "%s/%s", dir, file) != 0)
        return;
    snprintf(what, sizeof(what), "cgroup %s", file);
    leave(m, less(limit, used), what);
}

static void visit_memory(const char *root, const char *dir, unsigned version,
                         void *arg)
{
    struct assay_memory *m = arg;
    char stat[8192];
    uint64_t used = 0, reclaimable;

    assay_file_count(&used, root, "%s/%s", dir,
                     version == 2 ? "memory.current" : "memory.usage_in_bytes");
    assay_file_read(stat, sizeof(stat), root, "%s/memory.stat", dir);
    reclaimable = count_or(
        stat, version == 2 ? "inactive_file" : "total_inactive_file", 0);
    used = less(used, reclaimable);
    if (version == 2) {
        group_limit(m, root, dir, "memory.max", used);
        group_limit(m, root, dir, "memory.high", used);
    } else {
        group_limit(m, root, dir, "memory.limit_in_bytes", used);
    }
}

/* Limits of this process: address space and private writable memory, of which
 * it has some already. */
static void from_limits(struct assay_memory *m)
{
    static const struct {
        int resource;
        const char *key, *what;
    } limits[] = {
        {RLIMIT_AS, "VmSize", "RLIMIT_AS (ulimit -v)"},
        {RLIMIT_DATA, "VmData", "RLIMIT_DATA (ulimit -d)"},
    };
    char text[8192];

    assay_file_read(text, sizeof(text), "", "/proc/self/status");
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        struct rlimit r;

        if (getrlimit(limits[i].resource, &r) == 0 &&
            r.rlim_cur != RLIM_INFINITY)
            leave(m, less(r.rlim_cur, count_or(text, limits[i].key, 0)),
                  limits[i].what);
    }
}

struct assay_memory assay_memory_under(const char *root,
                                       const struct assay_topology *t)
{
    struct assay_memory m = {.available = UINT64_MAX};

    from_machine(&m, root);
    from_nodes(&m, root, t);
    if (assay_cgroup_walk(root, "memory", visit_memory, &m) != 0)
        leave(&m, 1, "no memory to read the limits of control groups");
    if (root[0] == '\0')
        from_limits(&m);
    if (m.available == UINT64_MAX) {
        m.available = 0;
        snprintf(m.limit, sizeof(m.limit), "unknown");
    }
    return m;
}

struct assay_memory assay_memory_available(const struct assay_topology *t)
{
    return assay_memory_under("", t);
}

/* --- taking it ------------------------------------------------------------ */

/* From linux/mempolicy.h, which not every system has. */
enum { POLICY_BIND = 2 };

static size_t page_size(void)
{
    long size = sysconf(_SC_PAGESIZE);

    return size > 0 ? (size_t)size : 4096;
}

/* Size of the pages that MAP_HUGETLB gives by default, or 0; *left is what the
 * pool has of them. */
static size_t hugetlb_size(uint64_t *left)
{
    char text[8192];
    uint64_t size;

    assay_file_read(text, sizeof(text), "", "/proc/meminfo");
    size = count_or(text, "Hugepagesize", 0);
    if (left)
        *left = pool_left("", text);
    return (size_t)size;
}

/* bytes rounded up to a multiple of unit, or 0 where it doesn't fit. */
static size_t round_up(size_t bytes, size_t unit)
{
    size_t rest = bytes % unit;

    if (rest == 0)
        return bytes;
    return bytes > SIZE_MAX - (unit - rest) ? 0 : bytes + (unit - rest);
}

/* Address space of an aligned length and its guard page, cut out of a larger
 * mapping. */
static void *map_aligned(size_t length)
{
    size_t page = page_size(), whole = length + ALIGNMENT + page;
    char *p, *aligned, *end;

    if (whole < length) {
        errno = ENOMEM;
        return NULL;
    }
    p = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
             -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    aligned = p + round_up((uintptr_t)p, ALIGNMENT) - (uintptr_t)p;
    end = aligned + length + page;
    if (aligned > p)
        munmap(p, (size_t)(aligned - p));
    if (p + whole > end)
        munmap(end, (size_t)(p + whole - end));
    mprotect(end - page, page, PROT_NONE);
    return aligned;
}

static void *map_pages(size_t length, enum assay_hugepages huge)
{
    void *p = map_aligned(length);

    if (p)
        madvise(p, length,
                huge == ASSAY_HUGE_THP ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    return p;
}

/* Bytes free in one node's pool. The kernel reserves from all nodes together,
 * and kills who finds his node empty when he touches it. */
static uint64_t pool_of_node(int node, size_t size)
{
    uint64_t pages = 0;

    assay_file_count(&pages, "",
                     NODE_DIR "/node%d/hugepages/hugepages-%zukB/"
                              "free_hugepages",
                     node, size / 1024);
    return pages * size;
}

static void *map_hugetlb(size_t length, int node)
{
    uint64_t left;
    size_t size = hugetlb_size(&left);
    void *p;

    if (length > left || (node >= 0 && pool_of_node(node, size) < length)) {
        errno = ENOMEM;
        return NULL;
    }
    p = mmap(NULL, length, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static int bind_to(void *p, size_t bytes, int node)
{
    struct assay_mask nodes = {{0}};

    if (node >= 1024) { /* more than any kernel's MAX_NUMNODES */
        errno = EINVAL;
        return -1;
    }
    assay_mask_add(&nodes, (unsigned)node);
    return (int)syscall(SYS_mbind, p, bytes, POLICY_BIND, nodes.word, 1025ul,
                        0u);
}

static size_t mapped_length(size_t bytes, enum assay_hugepages huge)
{
    size_t unit = huge == ASSAY_HUGE_HUGETLB ? hugetlb_size(NULL) : ALIGNMENT;

    return unit ? round_up(bytes, unit) : 0;
}

void *assay_map(size_t bytes, enum assay_hugepages huge, int node)
{
    size_t length = mapped_length(bytes, huge);
    void *p;

    if (bytes == 0 || length == 0) {
        errno = bytes ? ENOMEM : EINVAL;
        return NULL;
    }
    p = huge == ASSAY_HUGE_HUGETLB ? map_hugetlb(length, node)
                                   : map_pages(length, huge);
    if (p && node >= 0 && bind_to(p, length, node) != 0) {
        int saved = errno;

        assay_unmap(p, bytes, huge);
        errno = saved;
        return NULL;
    }
    return p;
}

void assay_unmap(void *p, size_t bytes, enum assay_hugepages huge)
{
    size_t length = mapped_length(bytes, huge);

    if (p)
        munmap(p, length + (huge == ASSAY_HUGE_HUGETLB ? 0 : page_size()));
}

int assay_page_node(const void *p)
{
    void *page = (void *)((uintptr_t)p & ~(uintptr_t)(page_size() - 1));
    int status = -1;

    if (syscall(SYS_move_pages, 0, 1ul, &page, NULL, &status, 0) != 0)
        return -1;
    return status >= 0 ? status : -1;
}

/* --- huge pages in use ---------------------------------------------------- */

/* What of a mapping that smaps describes lies in [start, end). */
static uint64_t overlap(const char *line, uintptr_t start, uintptr_t end)
{
    uintptr_t low, high;

    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &low, &high) != 2)
        return 0;
    low = low > start ? low : start;
    high = high < end ? high : end;
    return high > low ? high - low : 0;
}

static uint64_t huge_in_line(const char *line)
{
    static const char *const keys[] = {"AnonHugePages", "Private_Hugetlb",
                                       "Shared_Hugetlb"};
    uint64_t bytes;

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (strncmp(line, keys[i], strlen(keys[i])) == 0 &&
            assay_text_count(line, keys[i], &bytes) == 0)
            return bytes;
    return 0;
}

uint64_t assay_huge_bytes(const void *p, size_t bytes)
{
    FILE *f = fopen("/proc/self/smaps", "re");
    uintptr_t start = (uintptr_t)p, end = start + bytes;
    uint64_t total = 0, inside = 0;
    char line[512];

    while (f && fgets(line, sizeof(line), f)) {
        uint64_t huge;

        if (line[0] >= 'A' && line[0] <= 'Z') { /* "Rss: ...", not a mapping */
            huge = huge_in_line(line);
            total += huge < inside ? huge : inside;
        } else {
            inside = overlap(line, start, end);
        }
    }
    if (f)
        fclose(f);
    return total;
}
