/* mode_numa.c - threads on one NUMA node, memory on another: every pair. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "stream/layout.h"
#include "stream/modes.h"

/* Physical cores of a node that this process may use. */
static size_t cores_of(const struct assay_topology *t, unsigned node)
{
    size_t cores = 0;

    for (size_t i = 0; i < t->ncpus; i++)
        cores += t->cpus[i].numa == node &&
                 (i + 1 == t->ncpus || t->cpus[i + 1].numa != node ||
                  t->cpus[i + 1].core != t->cpus[i].core);
    return cores;
}

/* Can memory be had on the node? A kernel without NUMA, or a container that
 * forbids binding, still has its one node; of several, all must be had, or
 * the run ends. */
static bool bindable(const struct plan *plan, int node)
{
    void *page = assay_map(4096, ASSAY_HUGE_NEVER, node);

    if (page)
        assay_unmap(page, 4096, ASSAY_HUGE_NEVER);
    else if (plan->topology->nnumas > 1)
        assay_die(plan->run, ASSAY_NOTRUN, "memory on NUMA node %d: %s", node,
                  strerror(errno));
    return page != NULL;
}

static double measure_pair(const struct plan *plan, unsigned cpu_node,
                           unsigned mem_node, bool first)
{
    struct setup setup = stream_setup(plan);
    size_t cores = cores_of(plan->topology, cpu_node);
    struct result result;

    setup.threads = setup.threads < cores ? setup.threads : cores;
    setup.cpu_node = (int)cpu_node;
    setup.mem_node = (int)mem_node;
    setup.unbound = !bindable(plan, setup.mem_node);
    result = stream_measure(plan, &setup);
    if (first && !assay_quiet(plan->run)) {
        stream_print_facts(stdout, plan, &setup, &result);
        printf("# max. memory bandwidth in MB/s: threads on the node of the "
               "row, memory\n"
               "# on that of the column\n"
               "node");
        for (size_t j = 0; j < plan->topology->nnumas; j++)
            printf(" %11u", plan->topology->numas[j].node);
    }
    return result.maximum;
}

void stream_mode_numa(const struct plan *plan)
{
    const struct assay_topology *t = plan->topology;
    bool first = true, quiet = assay_quiet(plan->run);

    if (t->nnumas == 0)
        assay_die(plan->run, ASSAY_NOTRUN, "no NUMA node can be told");
    for (size_t j = 0; j < t->nnumas; j++)
        bindable(plan, (int)t->numas[j].node);
    for (size_t i = 0; i < t->nnumas; i++) {
        if (t->numas[i].cpus == 0)
            continue;
        for (size_t j = 0; j < t->nnumas; j++) {
            double rate =
                measure_pair(plan, t->numas[i].node, t->numas[j].node, first);

            first = false;
            if (!quiet && j == 0)
                printf("\n%4u", t->numas[i].node);
            if (!quiet)
                printf(" %11.1f", rate);
            fflush(stdout);
        }
    }
    if (!quiet)
        printf("\n");
}
