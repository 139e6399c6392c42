/* memory.c - which limit leaves how much, and what a mapping really is. */
#include "config.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/memory.h"
#include "lib/topology_backend.h"
#include "t/unit/tap.h"
#include "t/unit/tree.h"

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* --- limits --------------------------------------------------------------- */

#define V2_MOUNT "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
#define V1_MOUNT                                                               \
    "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
#define CG "/sys/fs/cgroup"
#define MEMINFO "MemTotal: 16 kB\nMemFree: 900 kB\nMemAvailable: 1000 kB\n"

static const struct limit_case {
    const char *what, *groups, *mounts, *meminfo;
    uint64_t kib;
    const char *limit;
    const char *files[8]; /* path, text, path, text, ... */
} limits[] = {
    {"free memory alone",
     "",
     "",
     MEMINFO,
     1000,
     "available memory of the machine",
     {0}},
    {"no MemAvailable (before Linux 3.14)",
     "",
     "",
     "MemTotal: 16 kB\nMemFree: 900 kB\n",
     900,
     "free memory of the machine",
     {0}},
    {"nothing readable", "", "", "", 0, "unknown", {0}},
    {"v2: limit less use",
     "0::/j\n",
     V2_MOUNT,
     MEMINFO,
     600,
     "cgroup memory.max",
     {CG "/j/memory.max", "716800\n", CG "/j/memory.current", "102400\n"}},
    {"v2: file pages that can go are not in use",
     "0::/j\n",
     V2_MOUNT,
     MEMINFO,
     680,
     "cgroup memory.max",
     {CG "/j/memory.max", "716800\n", CG "/j/memory.current", "102400\n",
      CG "/j/memory.stat", "anon 1\ninactive_file 81920\nfile 9\n"}},
    {"v2: memory.high throttles",
     "0::/j\n",
     V2_MOUNT,
     MEMINFO,
     200,
     "cgroup memory.high",
     {CG "/j/memory.max", "716800\n", CG "/j/memory.high", "204800\n"}},
    {"v2: an outer group's limit",
     "0::/j/s\n",
     V2_MOUNT,
     MEMINFO,
     100,
     "cgroup memory.max",
     {CG "/j/s/memory.max", "max\n", CG "/j/memory.max", "102400\n"}},
    {"v2: a full group leaves nothing",
     "0::/j\n",
     V2_MOUNT,
     MEMINFO,
     0,
     "cgroup memory.max",
     {CG "/j/memory.max", "102400\n", CG "/j/memory.current", "204800\n"}},
    {"v2: a limit over what is free doesn't count",
     "0::/j\n",
     V2_MOUNT,
     MEMINFO,
     1000,
     "available memory of the machine",
     {CG "/j/memory.max", "10240000\n"}},
    {"v1: limit less use",
     "4:memory:/j\n",
     V1_MOUNT,
     MEMINFO,
     680,
     "cgroup memory.limit_in_bytes",
     {CG "/memory/j/memory.limit_in_bytes", "716800\n",
      CG "/memory/j/memory.usage_in_bytes", "102400\n",
      CG "/memory/j/memory.stat",
      "inactive_file 1\ntotal_inactive_file 81920\n"}},
    {"v1: no limit is a huge one",
     "4:memory:/j\n",
     V1_MOUNT,
     MEMINFO,
     1000,
     "available memory of the machine",
     {CG "/memory/j/memory.limit_in_bytes", "9223372036854771712\n"}},
    {"no overcommitting",
     "",
     "",
     MEMINFO "CommitLimit: 500 kB\nCommitted_AS: 100 kB\n",
     400,
     "commit limit (vm.overcommit_memory=2)",
     {"/proc/sys/vm/overcommit_memory", "2\n"}},
    {"overcommitting as usual",
     "",
     "",
     MEMINFO "CommitLimit: 500 kB\nCommitted_AS: 600 kB\n",
     1000,
     "available memory of the machine",
     {"/proc/sys/vm/overcommit_memory", "0\n"}},
};

static void test_limit(const struct limit_case *c)
{
    struct assay_topology none = {0};
    struct assay_memory m;
    char root[PATH_MAX];

    tree_new(root);
    tree_put(root, "/proc/self/cgroup", c->groups);
    tree_put(root, "/proc/self/mountinfo", c->mounts);
    tree_put(root, "/proc/meminfo", c->meminfo);
    for (size_t i = 0; i < 8 && c->files[i]; i += 2)
        tree_put(root, c->files[i], c->files[i + 1]);
    m = assay_memory_under(root, &none);
    is_count(m.available, c->kib * KIB, "%s", c->what);
    is_text(m.limit, c->limit, "and what sets it");
    tree_free(root);
}

/* The recorded job: 8 GiB, of which 1.5 GiB are used, 0.5 GiB of those by
 * file pages; without that limit, the free memory of its node. */
static void test_recorded(void)
{
    struct assay_numa one = {.node = 1}, both[] = {{.node = 0}, {.node = 1}};
    struct assay_topology t = {.numas = &one, .nnumas = 1};
    char root[PATH_MAX], meminfo[4096];
    struct assay_memory m;

    m = assay_memory_under(machine_path("cgroup", "", root), &t);
    is_count(m.available, 7 * GIB, "the recorded job: its cgroup's limit");
    is_text(m.limit, "cgroup memory.max", "and what sets it");
    is_count(m.hugetlb, 500 * 2 * MIB, "free huge pages less reserved ones");

    assay_file_read(meminfo, sizeof(meminfo), root, "/proc/meminfo");
    tree_new(root);
    tree_put(root, "/proc/meminfo", meminfo);
    tree_put(root, "/sys/devices/system/node/has_memory", "0-1\n");
    tree_put(root, "/sys/devices/system/node/node1/meminfo",
             "Node 1 MemTotal: 9 kB\nNode 1 MemFree: 100 kB\n"
             "Node 1 Active(file): 20 kB\nNode 1 Inactive(file): 40 kB\n");
    m = assay_memory_under(root, &t);
    is_count(m.available, 130 * KIB,
             "one node of two: its free memory and half its file pages");
    is_text(m.limit, "free memory of NUMA node 1", "and what sets it");
    t = (struct assay_topology){.numas = both, .nnumas = 2};
    tree_put(root, "/sys/devices/system/node/node0/meminfo",
             "Node 0 MemTotal: 9 kB\nNode 0 MemFree: 100 kB\n");
    m = assay_memory_under(root, &t);
    is_text(m.limit, "available memory of the machine",
            "both nodes of two: the machine's");
    tree_free(root);
}

#define POOL                                                                   \
    MEMINFO "HugePages_Free: 8\nHugePages_Rsvd: 1\nHugepagesize: 2048 kB\n"

/* A control group that allows fewer huge pages than the pool has. */
static void test_pool(void)
{
    struct assay_topology none = {0};
    char root[PATH_MAX];

    tree_new(root);
    tree_put(root, "/proc/meminfo", POOL);
    is_count(assay_memory_under(root, &none).hugetlb, 14 * MIB,
             "hugetlb: what is free and not reserved");
    tree_put(root, "/proc/self/cgroup", "0::/j\n");
    tree_put(root, "/proc/self/mountinfo", V2_MOUNT);
    tree_put(root, CG "/j/hugetlb.2MB.max", "max\n");
    is_count(assay_memory_under(root, &none).hugetlb, 14 * MIB,
             "hugetlb: a group without a limit");
    tree_put(root, CG "/j/hugetlb.2MB.max", "8388608\n");
    tree_put(root, CG "/j/hugetlb.2MB.current", "2097152\n");
    is_count(assay_memory_under(root, &none).hugetlb, 6 * MIB,
             "hugetlb: a group's limit less its use");
    tree_free(root);
}

/* In a child, since a limit can't be raised again. */
static void test_rlimit(int resource, const char *name, uint64_t limit)
{
    int status = -1;
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        struct rlimit r = {.rlim_cur = limit, .rlim_max = limit};
        struct assay_topology none = {0};
        struct assay_memory m;

        setrlimit(resource, &r);
        m = assay_memory_available(&none);
        _exit(strncmp(m.limit, name, strlen(name)) == 0 &&
                      m.available < limit && m.available > limit / 2
                  ? 0
                  : 1);
    }
    waitpid(pid, &status, 0);
    ok(status == 0, "%s less what is used already", name);
}

static void test_here(void)
{
    struct assay_topology t = {0};
    struct assay_memory m = assay_memory_available(&t);

    ok(m.available > 0 && *m.limit, "memory of this machine: %ju MiB, by %s",
       (uintmax_t)(m.available / MIB), m.limit);
    if (SANITIZED) {
        skip(2, "the sanitizer holds more address space than any limit");
        return;
    }
    test_rlimit(RLIMIT_AS, "RLIMIT_AS", GIB);
    test_rlimit(RLIMIT_DATA, "RLIMIT_DATA", 512 * MIB);
}

/* --- mappings ------------------------------------------------------------- */

static bool is_mapped(void *p)
{
    unsigned char in_core;

    return mincore(p, 1, &in_core) == 0;
}

static void test_map(enum assay_hugepages huge)
{
    const char *word = assay_hugepages_words[huge];
    size_t bytes = 6 * MIB + 12345;
    char *p = assay_map(bytes, huge, -1), *q = assay_map(bytes, huge, -1);
    uint64_t huge_bytes;

    if (!ok(p && q, "%s: maps", word))
        return;
    ok((uintptr_t)p % (2 * MIB) == 0 && (uintptr_t)q % (2 * MIB) == 0,
       "%s: aligned to 2 MiB", word);
    is_count((uint64_t)(assay_page_node(p) + 1), 0,
             "%s: an untouched page is on no node", word);
    memset(p, 1, bytes);
    ok(assay_page_node(p + bytes - 1) >= 0 || assay_page_node(p) == -1,
       "%s: a touched one is on node %d", word, assay_page_node(p));
    huge_bytes = assay_huge_bytes(p, bytes);
    ok(huge == ASSAY_HUGE_NEVER ? huge_bytes == 0 : huge_bytes <= bytes,
       "%s: %ju bytes in huge pages", word, (uintmax_t)huge_bytes);
    is_count(assay_huge_bytes(q, bytes), 0,
             "%s: none in another, untouched, mapping", word);
    assay_unmap(q, bytes, huge);
    ok(is_mapped(p) && !is_mapped(q), "%s: unmapping takes that one", word);
    assay_unmap(p, bytes, huge);
    ok(!is_mapped(p) && !is_mapped(p + 6 * MIB), "%s: and all of it", word);
}

/* Writing past the end must not reach another array. */
static void test_guard(void)
{
    size_t bytes = 2 * MIB;
    volatile char *p = assay_map(bytes, ASSAY_HUGE_NEVER, -1);
    int status = 0;
    pid_t pid;

    if (!p) {
        ok(false, "maps");
        return;
    }
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        freopen("/dev/null", "w", stderr); /* a sanitizer would explain */
        p[bytes - 1] = 1;
        p[bytes] = 1;
        _exit(0);
    }
    waitpid(pid, &status, 0);
    ok(status != 0, "a byte behind the end can't be written");
    assay_unmap((void *)p, bytes, ASSAY_HUGE_NEVER);
}

static void test_refusals(void)
{
    struct assay_topology none = {0};
    uint64_t pool = assay_memory_available(&none).hugetlb;
    void *p;

    errno = 0;
    p = assay_map(0, ASSAY_HUGE_NEVER, -1);
    ok(!p && errno == EINVAL, "no bytes: EINVAL");
    errno = 0;
    p = assay_map(SIZE_MAX, ASSAY_HUGE_NEVER, -1);
    ok(!p && errno == ENOMEM, "all bytes there are: ENOMEM");
    errno = 0;
    p = assay_map(SIZE_MAX - 4 * MIB, ASSAY_HUGE_THP, -1);
    ok(!p && errno, "nearly all: %s", strerror(errno));
    errno = 0;
    p = assay_map(pool + 1, ASSAY_HUGE_HUGETLB, -1);
    ok(!p && errno, "one byte more than the hugetlb pool has: %s",
       strerror(errno));
    errno = 0;
    p = assay_map(2 * MIB, ASSAY_HUGE_NEVER, 1000);
    ok(!p && (errno == EINVAL || errno == ENOSYS || errno == EPERM),
       "a node that isn't there: %s", strerror(errno));
    errno = 0;
    p = assay_map(2 * MIB, ASSAY_HUGE_NEVER, 1 << 20);
    ok(!p && errno == EINVAL, "a node that can't be: EINVAL");
    assay_unmap(NULL, 2 * MIB, ASSAY_HUGE_NEVER);
    is_count((uint64_t)(assay_page_node(NULL) + 1), 0, "no page is on no node");
    is_count(assay_huge_bytes(NULL, 1), 0, "and not huge");
}

static void test_node(void)
{
    struct assay_mask nodes = {{0}};
    int node = 0;
    char *p = NULL;

    if (assay_policy_nodes(&nodes) == 0) {
        while (node < 1023 && !assay_mask_has(&nodes, (unsigned)node))
            node++;
        p = assay_map(MIB, ASSAY_HUGE_NEVER, node);
    }
    if (!p) {
        skip(1, "memory can't be bound here");
        return;
    }
    *p = 1;
    ok(assay_page_node(p) == node || assay_page_node(p) == -1,
       "memory bound to node %d is there", node);
    assay_unmap(p, MIB, ASSAY_HUGE_NEVER);
}

int main(void)
{
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        test_limit(&limits[i]);
    test_recorded();
    test_pool();
    test_here();
    test_map(ASSAY_HUGE_NEVER);
    test_map(ASSAY_HUGE_THP);
    test_guard();
    test_refusals();
    test_node();
    return done_testing();
}
