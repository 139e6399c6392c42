/* affinity.c - where threads are asked to run on recorded machines, and do
 * run here. */
#include "config.h"

#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/affinity.h"
#include "lib/topology_backend.h"
#include "t/unit/tap.h"
#include "t/unit/tree.h"

enum { MAX = 128 };

/* Takes the place of the C library's: may pretend. */
static bool pretend;

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
    return pretend ? 0 : (int)syscall(SYS_sched_setaffinity, pid, size, set);
}

static int load(struct assay_topology *t, const char *name)
{
    char path[PATH_MAX], error[2 * PATH_MAX];

    if (assay_topology_load(t, machine_path(name, "/topo.xml", path), error,
                            sizeof(error)) == 0)
        return 0;
    ok(false, "%s", error);
    return -1;
}

static const struct assay_cpu *find(const struct assay_topology *t, int cpu)
{
    for (size_t i = 0; i < t->ncpus; i++)
        if ((int)t->cpus[i].cpu == cpu)
            return &t->cpus[i];
    return NULL;
}

/* --- exact plans ---------------------------------------------------------- */

static const struct plan {
    const char *name;
    enum assay_pin pin;
    size_t n;
    int numa;
    const char *cpus; /* in order; "" where no CPU fits */
} plans[] = {
    {"two-socket", ASSAY_PIN_COMPACT, 4, -1, "0 1 2 3"},
    {"two-socket", ASSAY_PIN_COMPACT, 17, -1,
     "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16"},
    {"two-socket", ASSAY_PIN_SPREAD, 4, -1, "0 8 1 9"},
    {"two-socket", ASSAY_PIN_COMPACT, 2, 1, "8 9"},
    {"two-socket", ASSAY_PIN_SPREAD, 10, 1, "8 9 10 11 12 13 14 15 24 25"},
    {"two-socket", ASSAY_PIN_NONE, 2, -1, "-1 -1"},
    {"two-socket", ASSAY_PIN_COMPACT, 2, 2, ""},
    {"two-socket", ASSAY_PIN_NONE, 2, 2, ""},
    {"multi-ccx", ASSAY_PIN_COMPACT, 3, -1, "0 1 2"},
    {"multi-ccx", ASSAY_PIN_SPREAD, 6, -1, "0 16 2 18 4 20"},
    {"multi-ccx", ASSAY_PIN_SPREAD, 18, -1,
     "0 16 2 18 4 20 6 22 8 24 10 26 12 28 14 30 1 17"},
    {"nps4", ASSAY_PIN_SPREAD, 9, -1, "0 4 8 12 2 6 10 14 1"},
    {"nps4", ASSAY_PIN_COMPACT, 5, 2, "8 9 10 11 8"},
    {"hybrid", ASSAY_PIN_COMPACT, 6, -1, "0 2 4 6 8 9"},
    {"hybrid", ASSAY_PIN_COMPACT, 13, -1, "0 2 4 6 8 9 10 11 12 13 14 15 1"},
    {"hybrid", ASSAY_PIN_SPREAD, 5, -1, "0 2 4 6 8"},
    {"hybrid-island", ASSAY_PIN_COMPACT, 9, -1, "0 2 4 5 6 7 8 9 1"},
    {"hybrid-island", ASSAY_PIN_SPREAD, 3, -1, "0 2 8"},
    {"big-little", ASSAY_PIN_COMPACT, 5, -1, "4 5 6 7 0"},
    {"cgroup", ASSAY_PIN_COMPACT, 4, -1, "4 5 6 12"},
    {"cgroup", ASSAY_PIN_SPREAD, 8, -1, "4 5 6 12 13 14 4 5"},
    {"cgroup", ASSAY_PIN_COMPACT, 1, 0, ""},
    {"hbm-cxl", ASSAY_PIN_SPREAD, 4, -1, "0 4 1 5"},
    {"hbm-cxl", ASSAY_PIN_COMPACT, 1, 2, ""},
    {"smt4", ASSAY_PIN_COMPACT, 6, -1, "0 4 8 12 1 5"},
    {"smt4", ASSAY_PIN_SPREAD, 6, -1, "0 8 4 12 1 9"},
    {"uneven", ASSAY_PIN_SPREAD, 4, -1, "0 6 1 3"},
    {"uneven", ASSAY_PIN_COMPACT, 6, -1, "0 1 3 6 0 1"},
    {"no-cache", ASSAY_PIN_SPREAD, 3, -1, "0 1 2"},
    {"no-cache", ASSAY_PIN_COMPACT, 0, -1, ""},
};

static char *in_words(const int *cpus, size_t n, char *buf, size_t size)
{
    size_t length = 0;

    buf[0] = '\0';
    for (size_t i = 0; i < n; i++)
        length += (size_t)snprintf(buf + length, size - length, "%s%d",
                                   i ? " " : "", cpus[i]);
    return buf;
}

static void test_plan(const struct plan *p)
{
    struct assay_topology t;
    char text[1024] = "";
    int cpus[MAX], rc;

    if (load(&t, p->name) != 0)
        return;
    rc = assay_pin_plan(&t, p->pin, p->n, p->numa, cpus);
    if (rc == 0)
        in_words(cpus, p->n, text, sizeof(text));
    is_text(text, p->cpus, "%s: %zu threads, %s, node %d", p->name, p->n,
            assay_pin_words[p->pin], p->numa);
    ok(rc == (*p->cpus || p->n == 0 ? 0 : -1), "and says so");
    assay_topology_free(&t);
}

/* --- what holds everywhere ------------------------------------------------ */

/* Most threads of cpus[0..n-1] that any one thing bears, things being told
 * apart by the member of their CPUs at offset. */
static unsigned heaviest(const struct assay_topology *t, const int *cpus,
                         size_t n, size_t offset)
{
    unsigned loads[MAX] = {0}, most = 0;

    for (size_t i = 0; i < n; i++) {
        const struct assay_cpu *c = find(t, cpus[i]);
        unsigned value = MAX;

        if (c)
            memcpy(&value, (const char *)c + offset, sizeof(value));
        if (value < MAX && ++loads[value] > most)
            most = loads[value];
    }
    return most;
}

/* Whether each CPU of the plan is another one, and allowed. */
static bool are_distinct(const struct assay_topology *t, const int *cpus,
                         size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!find(t, cpus[i]))
            return false;
        for (size_t j = 0; j < i; j++)
            if (cpus[i] == cpus[j])
                return false;
    }
    return true;
}

static bool performance_first(const struct assay_topology *t, const int *cpus,
                              size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (find(t, cpus[i - 1])->efficient && !find(t, cpus[i])->efficient)
            return false;
    return true;
}

static void test_everywhere(const char *name)
{
    struct assay_topology t;
    int cpus[2 * MAX];

    if (load(&t, name) != 0)
        return;
    for (int pin = ASSAY_PIN_COMPACT; pin <= ASSAY_PIN_SPREAD; pin++) {
        const char *word = assay_pin_words[pin];
        bool wraps = true;

        assay_pin_plan(&t, pin, t.ncores, -1, cpus);
        is_count(heaviest(&t, cpus, t.ncores, offsetof(struct assay_cpu, core)),
                 1, "%s, %s: as many threads as cores, one on each", name,
                 word);
        ok(performance_first(&t, cpus, t.ncores),
           "%s, %s: efficiency cores come last", name, word);
        assay_pin_plan(&t, pin, 2 * t.ncpus, -1, cpus);
        ok(are_distinct(&t, cpus, t.ncpus),
           "%s, %s: as many threads as CPUs, one on each", name, word);
        for (size_t i = 0; i < t.ncpus; i++)
            wraps = wraps && cpus[i] == cpus[i + t.ncpus];
        ok(wraps, "%s, %s: more wrap round", name, word);
    }
    assay_pin_plan(&t, ASSAY_PIN_SPREAD, t.npackages, -1, cpus);
    is_count(
        heaviest(&t, cpus, t.npackages, offsetof(struct assay_cpu, package)), 1,
        "%s: spread uses every package first", name);
    assay_topology_free(&t);
}

/* --- here ----------------------------------------------------------------- */

static void test_pin(void)
{
    struct assay_topology t;
    char error[512] = "";
    cpu_set_t set;
    int cpu, rc;

    if (!ok(assay_topology_load(&t, NULL, error, sizeof(error)) == 0,
            "this machine loads %s", error))
        return;
    cpu = (int)t.cpus[t.ncpus - 1].cpu;
    ok(assay_pin_thread(cpu) == 0, "a thread is bound to CPU %d", cpu);
    is_count((uint64_t)assay_cpu_now(), (uint64_t)cpu, "and runs there");
    ok(sched_getaffinity(0, sizeof(set), &set) != 0 || CPU_COUNT(&set) == 1,
       "and may run nowhere else");
    errno = 0;
    rc = assay_pin_thread(-1);
    ok(rc == -1 && errno == EINVAL, "CPU -1 is refused");
    errno = 0;
    rc = assay_pin_thread(60000);
    ok(rc == -1 && errno == EINVAL, "so is one that no machine has");
    ok(assay_unpin_thread(&t) == 0, "a bound thread is let go");
    if (sched_getaffinity(0, sizeof(set), &set) == 0)
        is_count((uint64_t)CPU_COUNT(&set), t.ncpus, "to all allowed CPUs");
    if (t.ncpus > 1) {
        pretend = true;
        errno = 0;
        rc = assay_pin_thread(cpu);
        pretend = false;
        ok(rc == -1 && errno == EXDEV, "a binding that did not take: EXDEV");
    } else {
        skip(1, "with one CPU a thread is always bound to it");
    }
    assay_topology_free(&t);
}

static void test_lists(void)
{
    static const struct {
        int cpus[8];
        size_t n;
        const char *text;
    } cases[] = {
        {{0}, 0, ""},
        {{5}, 1, "5"},
        {{3, 1, 0, 2}, 4, "0-3"},
        {{8, 0, 1, 2, 3}, 5, "0-3,8"},
        {{4, 2, 0}, 3, "0,2,4"},
        {{1, 1, 2, 2}, 4, "1-2"},
        {{2147483647, 2147483646}, 2, "2147483646-2147483647"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *text = assay_cpu_list(cases[i].cpus, cases[i].n);

        is_text(text, cases[i].text, "list of %zu", cases[i].n);
        free(text);
    }
}

int main(void)
{
    static const char *const names[] = {
        "two-socket",    "multi-ccx",  "nps4",     "hybrid",
        "hybrid-island", "big-little", "cgroup",   "hbm-cxl",
        "smt4",          "uneven",     "no-cache", "memory-cache"};
    char version[64];

    test_lists();
    test_pin();
    if (strcmp(assay_topology_hwloc_version(version, sizeof(version)),
               "none") == 0) {
        skip(1, "built without hwloc: recorded machines are not read");
        return done_testing();
    }
    for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++)
        test_plan(&plans[i]);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        test_everywhere(names[i]);
    return done_testing();
}
