/* topology.c - what is read of recorded machines, of small trees, and here. */
#include "config.h"

#include <sched.h>
#include <unistd.h>

#include "lib/topology_backend.h"
#include "t/unit/tap.h"
#include "t/unit/tree.h"

#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

/* --- masks ---------------------------------------------------------------- */

static void test_masks(void)
{
    static const char *const bad[] = {
        "x",    "-1",  "3-",    "5-3",     "1,,2",
        "1 2",  "0x3", "65536", "1-65536", "99999999999999999999",
        "1-2-3"};
    struct assay_mask m;
    const struct assay_mask empty = {{0}};

    ok(assay_mask_parse(&m, "0-3,8,64-65\n") == 0 && assay_mask_has(&m, 3) &&
           !assay_mask_has(&m, 4) && assay_mask_has(&m, 8) &&
           assay_mask_has(&m, 65),
       "a list of ranges is parsed");
    ok(assay_mask_parse(&m, "65535") == 0 && assay_mask_has(&m, 65535),
       "CPU 65535 fits");
    ok(!assay_mask_has(&m, 65536) && !assay_mask_has(&m, ~0u),
       "what doesn't fit is no member");
    ok(assay_mask_parse(&m, "") == 0 && memcmp(&m, &empty, sizeof(m)) == 0,
       "an empty list is the empty set");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ok(assay_mask_parse(&m, bad[i]) == -1, "'%s' is no list", bad[i]);
}

/* --- recorded machines ---------------------------------------------------- */

static const struct machine {
    const char *name;
    size_t cpus, cores, packages, llcs, numas, efficient;
    uint64_t cache; /* MiB */
    const char *source;
} machines[] = {
    {"two-socket", 32, 16, 2, 2, 2, 0, 44, "hwloc"},
    {"multi-ccx", 32, 32, 2, 16, 2, 0, 512, "hwloc"},
    {"nps4", 16, 16, 1, 8, 4, 0, 128, "hwloc"},
    {"hybrid", 16, 12, 1, 1, 1, 8, 30, "hwloc"},
    {"hybrid-island", 10, 8, 1, 2, 1, 6, 26, "hwloc"},
    {"big-little", 8, 8, 1, 1, 1, 4, 4, "hwloc"},
    {"cgroup", 6, 3, 1, 1, 1, 0, 16, "hwloc"},
    {"hbm-cxl", 8, 8, 1, 2, 5, 0, 112, "hwloc"},
    {"memory-cache", 4, 4, 1, 1, 1, 0, 56, "hwloc"},
    {"smt4", 16, 4, 1, 2, 1, 0, 20, "hwloc"},
    {"uneven", 4, 4, 2, 2, 2, 0, 16, "hwloc"},
    {"no-cache", 4, 4, 1, 0, 1, 0, 32, "assumed"},
    {"cache-without-size", 4, 4, 1, 1, 1, 0, 32, "assumed"},
};

static int load(struct assay_topology *t, const char *name)
{
    char path[PATH_MAX], error[PATH_MAX];

    if (assay_topology_load(t, machine_path(name, "/topo.xml", path), error,
                            sizeof(error)) == 0)
        return 0;
    diag("%s", error);
    return -1;
}

static bool is_sorted(const struct assay_topology *t)
{
    for (size_t i = 1; i < t->ncpus; i++) {
        const struct assay_cpu *a = &t->cpus[i - 1], *b = a + 1;

        if (a->package > b->package ||
            (a->package == b->package &&
             (a->numa > b->numa ||
              (a->numa == b->numa &&
               (a->core > b->core ||
                (a->core == b->core && a->cpu >= b->cpu))))))
            return false;
    }
    return true;
}

static void test_machine(const struct machine *m)
{
    struct assay_topology t;
    size_t efficient = 0;

    if (!ok(load(&t, m->name) == 0, "%s: loads", m->name))
        return;
    for (size_t i = 0; i < t.ncpus; i++)
        efficient += t.cpus[i].efficient;
    is_count(t.ncpus, m->cpus, "%s: allowed CPUs", m->name);
    is_count(t.ncores, m->cores, "%s: cores", m->name);
    is_count(t.npackages, m->packages, "%s: packages", m->name);
    is_count(t.nllcs, m->llcs, "%s: outermost caches", m->name);
    is_count(t.nnumas, m->numas, "%s: NUMA nodes", m->name);
    is_count(efficient, m->efficient, "%s: efficiency cores", m->name);
    is_count(t.cache, m->cache * MIB, "%s: outermost caches, each once",
             m->name);
    is_text(t.cache_source, m->source, "%s: source of the cache", m->name);
    is_count(assay_default_threads(&t), m->cores, "%s: a thread a core",
             m->name);
    ok(is_sorted(&t), "%s: CPUs by package, node, core, number", m->name);
    ok(!t.this_machine, "%s: is not taken for this machine", m->name);
    assay_topology_free(&t);
}

static void test_details(void)
{
    struct assay_topology t;

    if (load(&t, "cgroup") == 0) {
        ok(t.cpus[0].cpu == 4 && t.cpus[1].cpu == 12 && t.cpus[5].cpu == 14,
           "cgroup: the CPUs that the file allows, siblings together");
        ok(t.cpus[0].package == 1 && t.cpus[0].core == 4,
           "cgroup: cores and packages are numbered machine-wide");
        ok(t.numas[0].node == 1 && t.numas[0].cpus == 6 &&
               t.numas[0].bytes == 96 * GIB,
           "cgroup: the one node that it allows");
        assay_topology_free(&t);
    }
    if (load(&t, "hbm-cxl") == 0) {
        ok(t.numas[0].cpus == 4 && t.numas[1].cpus == 4,
           "hbm-cxl: CPUs are the DDR nodes'");
        ok(t.numas[2].cpus == 0 && t.numas[3].cpus == 0 &&
               t.numas[4].cpus == 0 && t.numas[4].bytes == 128 * GIB,
           "hbm-cxl: HBM and CXL are listed, without CPUs");
        assay_topology_free(&t);
    }
    if (load(&t, "memory-cache") == 0) {
        is_count(t.memory_cache, 16 * GIB,
                 "memory-cache: HBM in front of memory is noted apart");
        assay_topology_free(&t);
    }
    if (load(&t, "no-cache") == 0) {
        ok(t.cpus[0].llc == ASSAY_NONE, "no-cache: a CPU has no cache");
        assay_topology_free(&t);
    }
}

static void test_bad_files(void)
{
    struct assay_topology t;
    char root[PATH_MAX], path[PATH_MAX], error[2 * PATH_MAX] = "";

    tree_new(root);
    snprintf(path, sizeof(path), "%.4000s/none.xml", root);
    ok(assay_topology_load(&t, path, error, sizeof(error)) == -1 &&
           strstr(error, path),
       "a file that isn't there is an error that names it");
    tree_put(root, "/junk.xml", "<topology version=\"2.0\"><object type=");
    snprintf(path, sizeof(path), "%.4000s/junk.xml", root);
    freopen("/dev/null", "w", stderr); /* libxml2 speaks */
    ok(assay_topology_load(&t, path, error, sizeof(error)) == -1 &&
           strstr(error, path),
       "a file that is no topology is an error that names it");
    ok(!t.cpus && !t.numas, "after which nothing is left to free");
    tree_free(root);
}

/* --- arithmetic ----------------------------------------------------------- */

static void test_default_threads(void)
{
    static const struct {
        size_t cores;
        double quota;
        size_t threads;
    } cases[] = {{8, 0, 8},   {8, 1.5, 2}, {8, 2.0, 2}, {8, 0.25, 1},
                 {8, 100, 8}, {0, 0, 1},   {1, 7.5, 1}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct assay_topology t = {.ncores = cases[i].cores,
                                   .quota = cases[i].quota};

        is_count(assay_default_threads(&t), cases[i].threads,
                 "%zu cores, quota %g", cases[i].cores, cases[i].quota);
    }
}

static void test_assume(void)
{
    struct assay_topology t = {.npackages = 2};

    assay_topology_assume(&t, -1);
    ok(t.cache == 32 * MIB && strcmp(t.cache_source, "assumed") == 0,
       "the C library says -1: 32 MiB, assumed");
    assay_topology_assume(&t, 0);
    ok(t.cache == 32 * MIB && strcmp(t.cache_source, "assumed") == 0,
       "the C library says 0: 32 MiB, assumed");
    assay_topology_assume(&t, 268435456);
    ok(t.cache == 512 * MIB && strcmp(t.cache_source, "sysconf") == 0,
       "the C library says 256 MiB: for each of two packages");
}

/* --- quota ---------------------------------------------------------------- */

#define V2_MOUNT                                                               \
    "22 1 0:20 / /proc rw - proc proc rw\n"                                    \
    "31 23 0:28 / /sys/fs/cgroup rw,relatime shared:4 - cgroup2 cgroup2 rw\n"
#define V1_MOUNT                                                               \
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup "     \
    "rw,cpu,cpuacct\n"
#define CG "/sys/fs/cgroup"

struct file {
    const char *path, *text;
};

static const struct quota_case {
    const char *what, *groups, *mounts;
    double quota;
    struct file files[4];
} quotas[] = {
    {"v2: the own group's",
     "0::/job/step\n",
     V2_MOUNT,
     1.5,
     {{CG "/job/step/cpu.max", "150000 100000\n"}}},
    {"v2: an outer group's is tighter",
     "0::/job/step\n",
     V2_MOUNT,
     0.5,
     {{CG "/job/step/cpu.max", "150000 100000\n"},
      {CG "/job/cpu.max", "50000 100000\n"}}},
    {"v2: only the outermost group has one",
     "0::/a/b/c\n",
     V2_MOUNT,
     3,
     {{CG "/cpu.max", "300000 100000\n"}}},
    {"v2: max is none",
     "0::/job\n",
     V2_MOUNT,
     0,
     {{CG "/job/cpu.max", "max 100000\n"}}},
    {"v2: a group beside the own one doesn't count",
     "0::/job\n",
     V2_MOUNT,
     0,
     {{CG "/jobs/cpu.max", "100000 100000\n"},
      {CG "/other/cpu.max", "100000 100000\n"}}},
    {"v1: quota by period",
     "4:memory:/m\n3:cpu,cpuacct:/docker/abc\n",
     V1_MOUNT,
     2.5,
     {{CG "/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "250000\n"},
      {CG "/cpu,cpuacct/docker/abc/cpu.cfs_period_us", "100000\n"}}},
    {"v1: -1 is none",
     "3:cpu,cpuacct:/\n",
     V1_MOUNT,
     0,
     {{CG "/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"},
      {CG "/cpu,cpuacct/cpu.cfs_period_us", "100000\n"}}},
    {"v1 and v2 side by side: v1 has the controller",
     "3:cpu,cpuacct:/j\n0::/j\n",
     V1_MOUNT "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
     1,
     {{CG "/cpu,cpuacct/j/cpu.cfs_quota_us", "100000\n"},
      {CG "/cpu,cpuacct/j/cpu.cfs_period_us", "100000\n"},
      {CG "/unified/j/cgroup.procs", "1\n"}}},
    {"cpuset is not taken for cpu",
     "3:cpuset:/j\n",
     "32 31 0:29 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n",
     0,
     {{CG "/cpuset/j/cpu.cfs_quota_us", "100000\n"},
      {CG "/cpuset/j/cpu.cfs_period_us", "100000\n"}}},
    {"container: a part of the tree is mounted",
     "0::/docker/abc/inner\n",
     "31 23 0:28 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
     2,
     {{CG "/inner/cpu.max", "max 100000\n"},
      {CG "/cpu.max", "200000 100000\n"}}},
    {"container: the host's path is not visible",
     "0::/kubepods/pod1/abc\n",
     "31 23 0:28 /other /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
     2,
     {{CG "/cpu.max", "200000 100000\n"}}},
    {"cgroup namespace: the group lies above the mount",
     "0::/../outer\n",
     V2_MOUNT,
     2,
     {{CG "/cpu.max", "200000 100000\n"}}},
    {"a mount point with a blank",
     "0::/j\n",
     "31 23 0:28 / /sys/fs/my\\040groups rw - cgroup2 cgroup rw\n",
     4,
     {{"/sys/fs/my groups/j/cpu.max", "400000 100000\n"}}},
    {"words for numbers",
     "0::/j\n",
     V2_MOUNT,
     0,
     {{CG "/j/cpu.max", "lots\n"}}},
    {"a period of zero",
     "0::/j\n",
     V2_MOUNT,
     0,
     {{CG "/j/cpu.max", "100000 0\n"}}},
    {"an empty file", "0::/j\n", V2_MOUNT, 0, {{CG "/j/cpu.max", ""}}},
    {"no groups", "", V2_MOUNT, 0, {{CG "/j/cpu.max", "100000 100000\n"}}},
    {"lines that are none", "x\n:\n::\n0::\n", "a - b\n - \n\n", 0, {{0}}},
};

static void test_quotas(void)
{
    for (size_t i = 0; i < sizeof(quotas) / sizeof(quotas[0]); i++) {
        const struct quota_case *q = &quotas[i];
        char root[PATH_MAX];

        tree_new(root);
        tree_put(root, "/proc/self/cgroup", q->groups);
        tree_put(root, "/proc/self/mountinfo", q->mounts);
        for (size_t f = 0; f < 4 && q->files[f].path; f++)
            tree_put(root, q->files[f].path, q->files[f].text);
        is_double(assay_cgroup_quota(root), q->quota, "quota: %s", q->what);
        tree_free(root);
    }
}

static void test_recorded_quota(void)
{
    char root[PATH_MAX];

    is_double(assay_cgroup_quota(machine_path("cgroup", "", root)), 1.5,
              "quota: of the recorded job, from an outer group");
}

static void test_throttled(void)
{
    char root[PATH_MAX];

    tree_new(root);
    tree_put(root, "/proc/self/cgroup", "0::/j/k\n");
    tree_put(root, "/proc/self/mountinfo", V2_MOUNT);
    is_double(assay_cgroup_throttled(root), -1, "throttled: not accounted for");
    tree_put(root, CG "/j/k/cpu.stat",
             "usage_usec 9000000\nnr_throttled 0\nthrottled_usec 0\n");
    is_double(assay_cgroup_throttled(root), 0, "throttled: never");
    tree_put(root, CG "/j/cpu.stat",
             "usage_usec 9000000\nnr_throttled 7\nthrottled_usec 2500000\n");
    is_double(assay_cgroup_throttled(root), 2.5,
              "throttled: by an outer group, in seconds");
    tree_free(root);
}

/* --- sysfs ---------------------------------------------------------------- */

#define CPU0 "/sys/devices/system/cpu/cpu0"

static void test_sysfs_holes(void)
{
    struct assay_topology t;
    char root[PATH_MAX], error[2 * PATH_MAX];

    tree_new(root);
    ok(assay_topology_sysfs(&t, root, NULL, NULL, error, sizeof(error)) == -1,
       "sysfs: an empty tree is an error");
    tree_put(root, "/sys/devices/system/cpu/online", "0-1\n");
    tree_put(root, "/proc/meminfo", "MemTotal: 1024 kB\n");
    ok(assay_topology_sysfs(&t, root, NULL, NULL, error, sizeof(error)) == 0,
       "sysfs: a tree that only says which CPUs are online");
    ok(t.ncpus == 2 && t.ncores == 2 && t.npackages == 1 && t.nllcs == 0 &&
           t.cache == 0 && t.nnumas == 1 && t.numas[0].bytes == MIB,
       "sysfs: then each is a core, memory one node, the cache unknown");
    assay_topology_free(&t);
    tree_put(root, CPU0 "/cache/index3/level", "3\n");
    tree_put(root, CPU0 "/cache/index3/type", "Instruction\n");
    tree_put(root, CPU0 "/cache/index3/size", "1M\n");
    tree_put(root, "/sys/devices/system/cpu/online", "0\n");
    assay_topology_sysfs(&t, root, NULL, NULL, error, sizeof(error));
    is_count(t.cache, 0, "sysfs: an instruction cache holds no data");
    assay_topology_free(&t);
    tree_put(root, CPU0 "/cache/index3/type", "Unified\n");
    assay_topology_sysfs(&t, root, NULL, NULL, error, sizeof(error));
    is_count(t.cache, MIB, "sysfs: a size in megabytes");
    assay_topology_free(&t);
    tree_put(root, CPU0 "/cache/index3/size", "-1\n");
    assay_topology_sysfs(&t, root, NULL, NULL, error, sizeof(error));
    is_count(t.cache, 0, "sysfs: a size of -1 is unknown");
    assay_topology_free(&t);
    tree_free(root);
}

/* --- here ----------------------------------------------------------------- */

static void test_here(void)
{
    const struct assay_mask *start = assay_start_mask();
    struct assay_topology t;
    char error[512] = "";
    cpu_set_t now;

    if (!ok(assay_topology_load(&t, NULL, error, sizeof(error)) == 0,
            "this machine loads %s", error))
        return;
    ok(t.this_machine, "and is this machine");
    ok(t.ncpus >= 1 && t.ncores >= 1 && t.cache > 0, "with CPUs and a cache");
    ok(start && assay_mask_has(start, t.cpus[0].cpu), "of the start mask");
    if (sched_getaffinity(0, sizeof(now), &now) == 0)
        is_count(t.ncpus, (uint64_t)CPU_COUNT(&now),
                 "its CPUs are those of the mask");
    else
        skip(1, "more CPUs than this test knows");
    assay_topology_free(&t);
}

typedef int backend(struct assay_topology *t, const char *where,
                    const struct assay_mask *mask,
                    const struct assay_mask *nodes, char *error, size_t size);

static void test_narrowed(backend *read, const char *where, const char *name)
{
    struct assay_mask one = {{0}}, none = {{0}};
    struct assay_topology all, t;
    char error[512];

    if (read(&all, where, NULL, NULL, error, sizeof(error)) != 0) {
        skip(3, error);
        return;
    }
    assay_mask_add(&one, all.cpus[all.ncpus - 1].cpu);
    ok(read(&t, where, &one, NULL, error, sizeof(error)) == 0 && t.ncpus == 1 &&
           t.cpus[0].cpu == all.cpus[all.ncpus - 1].cpu,
       "%s: a mask of one CPU leaves that one", name);
    assay_topology_free(&t);
    ok(read(&t, where, &none, NULL, error, sizeof(error)) == -1,
       "%s: an empty mask is an error", name);
    ok(read(&t, where, NULL, &none, error, sizeof(error)) == 0 && t.nnumas == 0,
       "%s: no node allowed, none listed", name);
    assay_topology_free(&t);
    assay_topology_free(&all);
}

/* The environment can make hwloc show another machine, and swear that it is
 * this one. */
static void test_lies(void)
{
    char path[PATH_MAX], error[512] = "";
    struct assay_topology t;

    setenv("HWLOC_XMLFILE", machine_path("nps4", "/topo.xml", path), 1);
    setenv("HWLOC_THISSYSTEM", "1", 1);
    ok(assay_topology_load(&t, NULL, error, sizeof(error)) == 0 &&
           !t.this_machine,
       "HWLOC_XMLFILE is not taken for this machine %s", error);
    is_count(t.ncpus, 16, "though all its CPUs are shown");
    assay_topology_free(&t);
    unsetenv("HWLOC_THISSYSTEM");
    unsetenv("HWLOC_XMLFILE");
}

static void test_policy(void)
{
    const struct assay_mask none = {{0}};
    struct assay_mask nodes;
    char text[64];

    if (assay_policy_nodes(&nodes) == 0)
        ok(memcmp(&nodes, &none, sizeof(none)) != 0,
           "some node may be allocated on");
    else
        skip(1, "the kernel doesn't say which nodes");
    ok(*assay_policy_text(text, sizeof(text)), "the policy has a name: %s",
       text);
}

int main(void)
{
    char version[64];
    bool hwloc = strcmp(assay_topology_hwloc_version(version, sizeof(version)),
                        "none") != 0;

    test_masks();
    test_default_threads();
    test_assume();
    test_quotas();
    test_recorded_quota();
    test_throttled();
    test_sysfs_holes();
    test_policy();
    test_here();
    test_narrowed(assay_topology_sysfs, "", "sysfs");
    if (!hwloc) {
        skip(1, "built without hwloc: recorded machines are not read");
        return done_testing();
    }
    test_narrowed(assay_topology_hwloc, NULL, "hwloc");
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
        test_machine(&machines[i]);
    test_details();
    test_lies();
    test_bad_files();
    return done_testing();
}
