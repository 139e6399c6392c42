/* topology.c - print what libassay makes of a machine, for tests to compare.
 *
 * usage: topology here | xml FILE | sysfs ROOT
 */
#include "config.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/affinity.h"
#include "lib/topology_backend.h"

static void print(const struct assay_topology *t)
{
    printf("cpus %zu cores %zu packages %zu caches %zu bytes %ju threads %zu\n",
           t->ncpus, t->ncores, t->npackages, t->nllcs, (uintmax_t)t->cache,
           assay_default_threads(t));
    for (size_t i = 0; i < t->ncpus; i++) {
        const struct assay_cpu *c = &t->cpus[i];

        printf("cpu %u core %u package %u node %u cache %d%s\n", c->cpu,
               c->core, c->package, c->numa, (int)c->llc,
               c->efficient ? " efficient" : "");
    }
    for (size_t i = 0; i < t->nnumas; i++)
        printf("node %u bytes %ju cpus %u\n", t->numas[i].node,
               (uintmax_t)t->numas[i].bytes, t->numas[i].cpus);
    printf("memory cache %ju\n", (uintmax_t)t->memory_cache);
    printf("# source %s this_machine %d\n", t->cache_source, t->this_machine);
}

/* CPUs that the main thread may use by now, and those that the threads of an
 * OpenMP team do use: what a program sees that looks too late. */
static void print_late(void)
{
    cpu_set_t set;
    int threads = 0;

    if (sched_getaffinity(0, sizeof(set), &set) == 0)
        printf("# late %d\n", CPU_COUNT(&set));
#pragma omp parallel reduction(+ : threads)
    threads++;
    printf("# team %d\n", threads);
}

int main(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "";
    struct assay_topology t;
    char error[512];
    int rc;

    if (strcmp(verb, "here") == 0 && argc == 2)
        rc = assay_topology_load(&t, NULL, error, sizeof(error));
    else if (strcmp(verb, "xml") == 0 && argc == 3)
        rc = assay_topology_load(&t, argv[2], error, sizeof(error));
    else if (strcmp(verb, "sysfs") == 0 && argc == 3)
        rc = assay_topology_sysfs(&t, argv[2],
                                  *argv[2] ? NULL : assay_start_mask(), NULL,
                                  error, sizeof(error));
    else
        return 2;
    if (rc != 0) {
        fprintf(stderr, "topology: %s\n", error);
        return 99;
    }
    if (t.cache == 0) /* what assay_topology_load does on recorded machines */
        assay_topology_assume(&t, 0);
    print(&t);
    print_late();
    assay_topology_free(&t);
    return 0;
}
