/* affinity.c - a place for each thread, asked for and read back. */
#include "config.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/affinity.h"

const char *const assay_pin_words[] = {"compact", "spread", "none", NULL};

/* A CPU that may be chosen, and how many threads were already placed on each
 * thing that it is part of. */
struct candidate {
    const struct assay_cpu *cpu;
    size_t on_core, on_package, on_numa, on_llc;
    bool taken;
};

static int compare(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

/* Whether a is a better next place than b, which stands before it. */
static bool better(const struct candidate *a, const struct candidate *b,
                   enum assay_pin pin)
{
    int order = compare(a->on_core, b->on_core);

    if (!order)
        order = compare(a->cpu->efficient, b->cpu->efficient);
    if (pin == ASSAY_PIN_COMPACT)
        return order < 0;
    if (!order)
        order = compare(a->on_package, b->on_package);
    if (!order)
        order = compare(a->on_numa, b->on_numa);
    if (!order)
        order = compare(a->on_llc, b->on_llc);
    return order < 0;
}

static struct candidate *best(struct candidate *c, size_t n, enum assay_pin pin)
{
    struct candidate *found = NULL;

    for (size_t i = 0; i < n; i++)
        if (!c[i].taken && (!found || better(&c[i], found, pin)))
            found = &c[i];
    return found;
}

static void take(struct candidate *c, size_t n, struct candidate *chosen)
{
    chosen->taken = true;
    for (size_t i = 0; i < n; i++) {
        c[i].on_core += c[i].cpu->core == chosen->cpu->core;
        c[i].on_package += c[i].cpu->package == chosen->cpu->package;
        c[i].on_numa += c[i].cpu->numa == chosen->cpu->numa;
        c[i].on_llc += c[i].cpu->llc == chosen->cpu->llc;
    }
}

static size_t gather(const struct assay_topology *t, int numa,
                     struct candidate *c)
{
    size_t n = 0;

    for (size_t i = 0; i < t->ncpus; i++)
        if (numa < 0 || t->cpus[i].numa == (unsigned)numa)
            c[n++] = (struct candidate){.cpu = &t->cpus[i]};
    return n;
}

int assay_pin_plan(const struct assay_topology *t, enum assay_pin pin, size_t n,
                   int numa, int *cpus)
{
    struct candidate *c = calloc(t->ncpus ? t->ncpus : 1, sizeof(*c));
    size_t usable = c ? gather(t, numa, c) : 0;

    for (size_t i = 0; usable && i < n; i++) {
        struct candidate *chosen = NULL;

        if (pin != ASSAY_PIN_NONE && i < usable) {
            chosen = best(c, usable, pin);
            take(c, usable, chosen);
        }
        cpus[i] = pin == ASSAY_PIN_NONE ? -1
                  : chosen              ? (int)chosen->cpu->cpu
                                        : cpus[i - usable];
    }
    free(c);
    return usable ? 0 : -1;
}

/* Room for more CPUs than any kernel has, which refuses to fill a smaller set.
 * On the stack: what a thread allocates takes an arena, 64 MiB of address
 * space that a limit may not leave. */
enum { PARTS = 8192 / CPU_SETSIZE };

struct room {
    cpu_set_t part[PARTS];
};

/* Whether the calling thread may run on exactly this CPU. */
static int read_back(struct room *r, int cpu)
{
    memset(r, 0, sizeof(*r));
    if (sched_getaffinity(0, sizeof(*r), r->part) != 0)
        return -1;
    if (CPU_ISSET_S(cpu, sizeof(*r), r->part) &&
        CPU_COUNT_S(sizeof(*r), r->part) == 1)
        return 0;
    errno = EXDEV;
    return -1;
}

int assay_pin_thread(int cpu)
{
    struct room r = {0};

    if (cpu < 0) {
        errno = EINVAL;
        return -1;
    }
    CPU_SET_S(cpu, sizeof(r), r.part); /* none, where there is no such CPU */
    if (sched_setaffinity(0, sizeof(r), r.part) != 0)
        return -1;
    return read_back(&r, cpu);
}

int assay_unpin_thread(const struct assay_topology *t)
{
    struct room r = {0};

    for (size_t i = 0; i < t->ncpus; i++)
        CPU_SET_S(t->cpus[i].cpu, sizeof(r), r.part);
    return sched_setaffinity(0, sizeof(r), r.part);
}

int assay_cpu_now(void)
{
    return sched_getcpu();
}

static int compare_ints(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;

    return (x > y) - (x < y);
}

/* Append "3", or "3-7", behind a comma if text has something already. */
static size_t append_range(char *text, size_t length, int first, int last)
{
    length += (size_t)sprintf(text + length, "%s%d", length ? "," : "", first);
    if (last > first)
        length += (size_t)sprintf(text + length, "-%d", last);
    return length;
}

char *assay_cpu_list(const int *cpus, size_t n)
{
    enum { LONGEST = 13 }; /* ",-2147483648" and a NUL */
    int *sorted = malloc((n ? n : 1) * sizeof(*sorted));
    char *text = malloc(n * LONGEST + 1);
    size_t length = 0, first = 0;

    if (sorted && text) {
        memcpy(sorted, cpus, n * sizeof(*sorted));
        qsort(sorted, n, sizeof(*sorted), compare_ints);
        text[0] = '\0';
    } else {
        free(text);
        text = NULL;
        n = 0;
    }
    for (size_t i = 0; i < n; i++) {
        bool ends = i + 1 == n || sorted[i + 1] > sorted[i] + 1;

        if (ends) {
            length = append_range(text, length, sorted[first], sorted[i]);
            first = i + 1;
        }
    }
    free(sorted);
    return text;
}
