/* share.c - ranks that may use the same CPUs take cores of their own. */
#include "config.h"

#include <stdlib.h>

#include "commbw/share.h"
#include "t/unit/tap.h"

/* Eight CPUs: four cores of two threads on two sockets. */
static struct assay_cpu cpus[8] = {
    {0, 0, 0, 0, 0, false}, {4, 0, 0, 0, 0, false}, {1, 1, 0, 0, 0, false},
    {5, 1, 0, 0, 0, false}, {2, 2, 1, 1, 1, false}, {6, 2, 1, 1, 1, false},
    {3, 3, 1, 1, 1, false}, {7, 3, 1, 1, 1, false},
};
static const struct assay_topology machine = {.cpus = cpus,
                                              .ncpus = 8,
                                              .ncores = 4,
                                              .npackages = 2,
                                              .nllcs = 2,
                                              .quota = 6.0,
                                              .cache = 1000};

/* CPUs that parts have in common, or that nobody has. */
static unsigned count_faults(size_t of)
{
    unsigned seen[8] = {0}, faults = 0;

    for (size_t part = 0; part < of; part++) {
        struct assay_topology t;

        faults += share_take(&machine, part, of, &t) != 0;
        for (size_t i = 0; i < t.ncpus; i++)
            seen[t.cpus[i].cpu]++;
        free(t.cpus);
    }
    for (size_t i = 0; i < 8; i++)
        faults += seen[i] != 1;
    return faults;
}

int main(void)
{
    struct assay_topology t;

    for (size_t of = 1; of <= 4; of++)
        is_count(count_faults(of), 0, "%zu parts: each CPU is in one", of);
    share_take(&machine, 1, 2, &t);
    ok(t.ncpus == 4 && t.ncores == 2 && t.npackages == 1 && t.nllcs == 1,
       "the second half is the second socket");
    ok(t.cpus[0].cpu == 2 && t.cpus[3].cpu == 7, "... with all its threads");
    is_count(t.cache, 500, "... and half of the caches");
    is_double(t.quota, 3.0, "... and of the quota");
    free(t.cpus);
    share_take(&machine, 0, 1, &t);
    ok(t.ncpus == 8 && t.ncores == 4 && t.npackages == 2 && t.nllcs == 2,
       "one part is the whole");
    free(t.cpus);
    share_take(&machine, 6, 7, &t);
    is_count(t.ncores, 1, "of more parts than cores, each has one");
    free(t.cpus);
    return done_testing();
}
