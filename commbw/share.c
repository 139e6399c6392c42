/* share.c - a rank's part of CPUs that several ranks may use. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "commbw/share.h"

/* Is this CPU the first of its core? They are sorted by core. */
static bool begins_core(const struct assay_topology *t, size_t i)
{
    return i == 0 || t->cpus[i].core != t->cpus[i - 1].core;
}

/* How many different sockets or caches the CPUs have, in order. */
static void count(struct assay_topology *t)
{
    t->ncores = t->npackages = t->nllcs = 0;
    for (size_t i = 0; i < t->ncpus; i++) {
        const struct assay_cpu *cpu = &t->cpus[i], *last = cpu - (i > 0);

        t->ncores += begins_core(t, i);
        t->npackages += i == 0 || cpu->package != last->package;
        t->nllcs += cpu->llc != ASSAY_NONE && (i == 0 || cpu->llc != last->llc);
    }
}

int share_take(const struct assay_topology *machine, size_t number, size_t of,
               struct assay_topology *out)
{
    size_t cores = machine->ncores, first, end, core = 0;

    *out = *machine;
    out->ncpus = 0;
    out->cpus = calloc(machine->ncpus, sizeof(*out->cpus));
    if (!out->cpus) {
        errno = ENOMEM;
        return -1;
    }
    first = cores * number / of;
    end = cores * (number + 1) / of;
    if (end <= first) { /* more parts than cores */
        first = number % cores;
        end = first + 1;
    }
    for (size_t i = 0; i < machine->ncpus; i++) {
        core += begins_core(machine, i);
        if (core > first && core <= end)
            out->cpus[out->ncpus++] = machine->cpus[i];
    }
    count(out);
    out->cache = machine->cache / of;
    out->quota = machine->quota / (double)of;
    return 0;
}
