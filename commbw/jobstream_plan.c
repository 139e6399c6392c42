/* jobstream_plan.c - from options and job to threads and arrays. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "commbw/jobstream.h"
#include "commbw/share.h"

enum { MASK = 4096 }; /* bytes of a mask of CPUs */

static void mask_of(const struct assay_topology *t, unsigned char *mask)
{
    memset(mask, 0, MASK);
    for (size_t i = 0; i < t->ncpus; i++)
        if (t->cpus[i].cpu < MASK * 8u)
            mask[t->cpus[i].cpu / 8] |=
                (unsigned char)(1u << t->cpus[i].cpu % 8);
}

/* Of the node's ranks, those that may use the same CPUs share them evenly; by
 * whom some are shared and some not, a warning tells. */
static void plan_cpus(struct jobstream *j)
{
    const struct assay_topology *machine = assay_machine(j->job->run);
    MPI_Comm node = j->job->node;
    unsigned char mine[MASK], *all;
    size_t number = 0, of = 0;
    int rank, size;
    bool odd = false;

    MPI_Comm_rank(node, &rank);
    MPI_Comm_size(node, &size);
    all = assay_room(j->job->run, (size_t)size, MASK, "masks of CPUs");
    mask_of(machine, mine);
    MPI_Allgather(mine, MASK, MPI_BYTE, all, MASK, MPI_BYTE, node);
    for (int r = 0; r < size; r++) {
        const unsigned char *other = all + (size_t)r * MASK;
        bool same = memcmp(mine, other, MASK) == 0, meets = false;

        for (size_t i = 0; i < MASK; i++)
            meets |= (mine[i] & other[i]) != 0;
        number += same && r < rank;
        of += same;
        odd |= meets && !same;
    }
    free(all);
    if (odd)
        assay_warn(j->job->run, "ranks of this node may use some CPUs in "
                                "common and others not: threads may meet");
    if (share_take(machine, number, of, &j->cpus) < 0)
        assay_die(j->job->run, ASSAY_BROKEN, "no memory for a share of CPUs");
}

static void plan_kernels(struct jobstream *j)
{
    const struct options *opt = j->opt;
    enum assay_stores wanted = (enum assay_stores)opt->stores;
    int lacks =
        assay_kernels_choose((enum assay_isa)opt->kernel, wanted,
                             (enum assay_type)opt->type, &j->kernels) < 0;
    int any;
    bool regular;

    MPI_Allreduce(&lacks, &any, 1, MPI_INT, MPI_MAX, j->job->comm);
    if (any)
        assay_job_refuse(j->job, ASSAY_NOTRUN,
                         "this build or a machine has no %s kernels with %s "
                         "stores",
                         assay_isa_words[opt->kernel],
                         assay_stores_words[wanted]);
    regular = j->kernels.stores == ASSAY_REGULAR;
    if (opt->write_allocate == ASSAY_COUNT_YES && !regular)
        assay_job_refuse(j->job, ASSAY_USAGE,
                         "--write-allocate=yes: nontemporal stores fetch no "
                         "line that could be counted; say --stores=regular");
    j->write_allocate = regular && opt->write_allocate != ASSAY_COUNT_NO;
}

/* Elements of the arrays of each rank, as many on all: what the caches of the
 * largest ask for, and no more than the smallest has room for. */
static void plan_elements(struct jobstream *j)
{
    struct assay_job *job = j->job;
    struct assay_memory memory =
        assay_memory_available(assay_machine(job->run));
    uint64_t size = assay_type_size((enum assay_type)j->opt->type);
    uint64_t local = job->map.size[job->map.node[job->rank]];
    uint64_t want = assay_product(4, j->cpus.cache) / size, room = UINT64_MAX;
    char cut[16], full[16];

    if (memory.available)
        room = (memory.available - memory.available / 8) / local /
               ASSAY_ARRAYS / size;
    MPI_Allreduce(&want, &j->elements, 1, MPI_UINT64_T, MPI_MAX, job->comm);
    MPI_Allreduce(MPI_IN_PLACE, &room, 1, MPI_UINT64_T, MPI_MIN, job->comm);
    if (j->opt->elements > 0) {
        j->elements = j->opt->elements;
        if (j->elements > room)
            assay_job_refuse(job, ASSAY_BROKEN,
                             "--elements=%llu: the smallest node has room for "
                             "%llu in each array of each rank",
                             (unsigned long long)j->elements,
                             (unsigned long long)room);
    }
    if (j->elements <= room)
        return;
    assay_warn(job->run,
               "arrays cut from %s to %s each, for want of memory: %s",
               assay_size_text(assay_product(j->elements, size), full),
               assay_size_text(assay_product(room, size), cut), memory.limit);
    j->elements = room > 64 ? room / 64 * 64 : 64;
}

/* Threads, each in its place, and arrays that they have touched. */
static void plan_team(struct jobstream *j)
{
    const struct options *opt = j->opt;
    size_t threads =
        opt->threads ? (size_t)opt->threads : assay_default_threads(&j->cpus);
    char text[16];

    if (assay_team_form(&j->team, &j->cpus, (enum assay_pin)opt->pin, threads,
                        -1) < 0)
        assay_die(j->job->run, ASSAY_BROKEN, "%zu threads: %s", threads,
                  strerror(errno));
    if (assay_arrays_map(&j->arrays, (enum assay_type)opt->type, j->elements,
                         (enum assay_hugepages)opt->hugepages, -1) < 0)
        assay_die(
            j->job->run, ASSAY_BROKEN, "3 arrays of %s: %s",
            assay_size_text(
                assay_product(j->elements,
                              assay_type_size((enum assay_type)opt->type)),
                text),
            strerror(errno));
    if (assay_team_touch(&j->team, &j->arrays) < 0)
        assay_die(j->job->run, ASSAY_BROKEN, "%zu threads: %s", threads,
                  strerror(errno));
    j->each = assay_room(j->job->run, j->team.threads * opt->repetitions * OPS,
                         sizeof(*j->each), "the times");
    j->mine = assay_room(j->job->run, opt->repetitions * OPS, sizeof(*j->mine),
                         "the times");
}

static void write_opt(struct jobstream *j)
{
    uint64_t size = assay_type_size((enum assay_type)j->opt->type);
    uint64_t local = j->job->map.size[j->job->map.node[j->job->rank]];
    struct assay_fields more = {0};

    assay_job_fields(j->job, &more);
    assay_fields_count(&more, "rank_elements", j->elements);
    assay_fields_count(&more, "array_bytes",
                       assay_product(j->elements * local, size));
    assay_fields_count(&more, "cache_bytes", j->node_cache);
    assay_opt(j->job->run, &more);
    assay_fields_free(&more);
}

void jobstream_make(struct jobstream *j, struct assay_job *job,
                    const struct options *opt)
{
    uint64_t mine[2], all[2];

    memset(j, 0, sizeof(*j));
    j->job = job;
    j->opt = opt;
    if (opt->watchdog > 0.0)
        assay_job_watch(job, opt->watchdog);
    assay_job_progress(job, "making arrays");
    plan_cpus(j);
    plan_kernels(j);
    plan_elements(j);
    plan_team(j);
    mine[0] = j->team.threads;
    mine[1] = j->cpus.cache;
    MPI_Allreduce(mine, all, 2, MPI_UINT64_T, MPI_SUM, job->node);
    j->node_threads = all[0];
    j->node_cache = all[1];
    j->confined = paths_confined(job);
    write_opt(j);
}

void jobstream_free(struct jobstream *j)
{
    assay_arrays_unmap(&j->arrays);
    assay_team_dissolve(&j->team);
    free(j->cpus.cpus);
    free(j->each);
    free(j->mine);
}
