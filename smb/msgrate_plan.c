/* msgrate_plan.c - from options and job to a plan. */
#include "config.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "smb/msgrate.h"

enum {
    SAMPLES = 64,        /* of each pattern, at most */
    SAMPLES_UNTIL = 256, /* the same with --until, which looks after each */
    LLCS = 4096,         /* of a node, at most */
    CACHE = 8388608,     /* bytes that the original invalidates by default */
};

/* All ranks come to the same end, and say so once. */
#define REFUSE(plan, ...)                                                      \
    assay_job_refuse((plan)->job, ASSAY_USAGE, __VA_ARGS__)

static void plan_texts(struct plan *plan)
{
    plan->sizes =
        assay_room(plan->job->run, SIZES, sizeof(*plan->sizes), "the sizes");
    plan->sizes[0] = plan->opt->size;
    plan->nsizes = 1;
    if (plan->opt->sizes &&
        parse_sizes(plan->opt->sizes, plan->sizes, &plan->nsizes) < 0)
        REFUSE(plan,
               "--sizes '%s': not up to %d different sizes, such as "
               "8,1K",
               plan->opt->sizes, SIZES);
    if (parse_cache(plan->opt->cache, &plan->cache) < 0)
        REFUSE(plan, "-c '%s': neither llc nor bytes, 4 or more",
               plan->opt->cache);
    if (plan->opt->until && parse_until(plan->opt->until, &plan->until) < 0)
        REFUSE(plan, "--until '%s': not a part of 100 %% such as 1%%",
               plan->opt->until);
}

/* Nodes that are not there, so that a job of one node shows something. */
static void plan_mock(struct plan *plan)
{
    const struct assay_map *map = &plan->job->map;
    uint64_t ppn = plan->opt->ppn ? plan->opt->ppn : 1;
    char error[600];

    if (layout_mock(&plan->layout, map, ppn, error, sizeof(error)) < 0)
        REFUSE(plan, "-n %llu: %s", (unsigned long long)ppn, error);
    assay_warn(plan->job->run,
               "peers share a node: the %llu nodes of this run are made up "
               "(there: %zu); this is no rate between nodes",
               (unsigned long long)plan->layout.nodes, map->nodes);
}

static void plan_layout(struct plan *plan)
{
    const struct assay_map *map = &plan->job->map;
    const struct options *opt = plan->opt;
    bool told = opt->ppn != 0 && opt->ppn != map->ppn;
    char error[600];

    if (map->nodes < 2 && !opt->functional)
        REFUSE(plan,
               "all %zu ranks are on one node (%s): peers must be on others; "
               "take two nodes or more, or see that it works with --functional",
               map->ranks, map->name[0]);
    if (opt->functional && (map->nodes < 2 || told)) {
        plan_mock(plan);
        return;
    }
    if (layout_real(&plan->layout, map, error, sizeof(error)) < 0)
        REFUSE(plan, "%s", error);
    if (told)
        REFUSE(plan, "-n %llu: there are %zu ranks on each node",
               (unsigned long long)opt->ppn, map->ppn);
}

static void plan_peers(struct plan *plan)
{
    const struct options *opt = plan->opt;
    size_t rank = (size_t)plan->job->rank;
    char error[600];

    if (peers_check(&plan->layout, opt->peers, opt->repeat, error,
                    sizeof(error)) < 0)
        REFUSE(plan, "-p %llu: %s (fewer peers, more nodes%s)",
               (unsigned long long)opt->peers, error,
               plan->layout.nodes > 1 ? ", or --repeat-peers" : "");
    plan->send_to =
        assay_room(plan->job->run, opt->peers, sizeof(int), "the peers");
    plan->receive_from =
        assay_room(plan->job->run, opt->peers, sizeof(int), "the peers");
    peers_choose(&plan->layout, rank, opt->peers, plan->send_to,
                 plan->receive_from);
    plan->partner = partner_of(&plan->layout, rank, &plan->sends);
}

/* How many ranks of this node reach each last-level cache, and whether this
 * one does: reach[0 .. LLCS - 1], then the counts. */
static int *llc_readers(const struct plan *plan,
                        const struct assay_topology *machine)
{
    int *reach =
        assay_room(plan->job->run, 2 * LLCS, sizeof(*reach), "the caches");

    for (size_t i = 0; i < machine->ncpus; i++)
        if (machine->cpus[i].llc < LLCS)
            reach[machine->cpus[i].llc] = 1;
    MPI_Allreduce(reach, reach + LLCS, LLCS, MPI_INT, MPI_SUM, plan->job->node);
    return reach;
}

/* How much of the last-level caches is this rank's: of each that it can reach,
 * as much as all that reach it get. */
static uint64_t llc_share(const struct plan *plan)
{
    const struct assay_topology *machine = assay_machine(plan->job->run);
    int *reach = llc_readers(plan, machine), *readers = reach + LLCS, local;
    double share = 0.0;

    MPI_Comm_size(plan->job->node, &local);
    if (machine->nllcs == 0)
        share = (double)machine->cache / local;
    for (size_t i = 0; i < LLCS && machine->nllcs > 0; i++)
        if (reach[i])
            share +=
                (double)machine->cache / (double)machine->nllcs / readers[i];
    free(reach);
    return (uint64_t)share;
}

static void plan_cache(struct plan *plan)
{
    uint64_t mine = llc_share(plan);
    char cache[16], share[16];

    MPI_Allreduce(&mine, &plan->share, 1, MPI_UINT64_T, MPI_MAX,
                  plan->job->comm);
    if (plan->cache == 0)
        plan->cache = plan->share;
    if (plan->cache < plan->share)
        assay_warn(plan->job->run,
                   "-c: %s are invalidated, and a rank's share of the "
                   "last-level cache is %s: the cache stays warm in part; -c "
                   "llc takes the share",
                   assay_size_text(plan->cache, cache),
                   assay_size_text(plan->share, share));
}

static uint64_t largest(const struct plan *plan)
{
    uint64_t most = 0;

    for (size_t i = 0; i < plan->nsizes; i++)
        if (plan->sizes[i] > most)
            most = plan->sizes[i];
    return most;
}

/* Bytes of buffers, requests and cache; UINT64_MAX: too many to count. */
static uint64_t need_of(const struct plan *plan)
{
    const struct options *opt = plan->opt;
    uint64_t messages = assay_product(2 * opt->peers, opt->messages);
    uint64_t each = largest(plan) + sizeof(MPI_Request);
    uint64_t need = assay_product(messages, each);

    return need > UINT64_MAX - plan->cache ? UINT64_MAX : need + plan->cache;
}

static void plan_memory(struct plan *plan)
{
    const struct options *opt = plan->opt;
    char what[200], size[16], need[16];

    if (assay_product(2 * opt->peers, opt->messages) > INT_MAX)
        REFUSE(plan, "-p %llu -m %llu: more messages than MPI can wait for",
               (unsigned long long)opt->peers,
               (unsigned long long)opt->messages);
    plan->need = need_of(plan);
    snprintf(what, sizeof(what),
             "%s x %llu messages x %llu peers x 2 (sent, received), and %llu "
             "bytes of cache, take %s a rank",
             assay_size_text(largest(plan), size),
             (unsigned long long)opt->messages, (unsigned long long)opt->peers,
             (unsigned long long)plan->cache,
             assay_size_text(plan->need, need));
    assay_job_need(plan->job, plan->need, what);
}

/* Filling, moving and comparing the messages of one iteration takes time too:
 * a rank that gets 50 MB/s done is alive. */
static void plan_watch(const struct plan *plan)
{
    const struct assay_map *map = &plan->job->map;
    double bytes = (double)plan->need * (double)map->ranks;

    if (plan->opt->watchdog > 0.0)
        assay_job_watch(plan->job, plan->opt->watchdog +
                                       bytes / (double)map->nodes / 50e6);
}

/* Less than this leaves the cache warmer than the original does: what it
 * invalidates, or the rank's share where that is less. */
static uint64_t cache_least(const struct plan *plan)
{
    return plan->share > 0 && plan->share < CACHE ? plan->share : CACHE;
}

static void write_opt(const struct plan *plan)
{
    struct assay_fields more = {0};

    assay_job_fields(plan->job, &more);
    assay_fields_count(&more, "cache_bytes", plan->cache);
    assay_fields_count(&more, "cache_share", plan->share);
    assay_fields_count(&more, "cache_least", cache_least(plan));
    assay_fields_count(&more, "mock_nodes",
                       plan->layout.mock ? plan->layout.nodes : 0);
    assay_fields_count(&more, "batch", plan->batch);
    assay_fields_text(&more, "adaptive", plan->until > 0.0 ? "yes" : "no");
    assay_fields_count(&more, "memory_needed", plan->need);
    assay_opt(plan->job->run, &more);
    assay_fields_free(&more);
}

void plan_make(struct plan *plan, struct assay_job *job,
               const struct options *opt)
{
    uint64_t samples = opt->until ? SAMPLES_UNTIL : SAMPLES;

    memset(plan, 0, sizeof(*plan));
    plan->job = job;
    plan->opt = opt;
    assay_job_watch(job, opt->watchdog);
    assay_job_progress(job, "the plan");
    plan_texts(plan);
    plan_layout(plan);
    plan_peers(plan);
    plan_cache(plan);
    plan_memory(plan);
    plan_watch(plan);
    plan->batch = (opt->iterations + samples - 1) / samples;
    plan->batches = (opt->iterations + plan->batch - 1) / plan->batch;
    write_opt(plan);
}

void plan_free(struct plan *plan)
{
    free(plan->send_to);
    free(plan->receive_from);
    free(plan->sizes);
}
