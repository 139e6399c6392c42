/* bandwidth_plan.c - from options and job to a plan. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "commbw/bandwidth.h"
#include "lib/units.h"

static const uint64_t window_bytes = 64 << 20; /* of a task's window, at most */
static const double sample = 1e-3,             /* s that one takes at least */
    alive = 50e6; /* bytes a second of a rank that gets on */

#define REFUSE(plan, ...)                                                      \
    assay_job_refuse((plan)->job, ASSAY_USAGE, __VA_ARGS__)

static void plan_transport(struct plan *plan)
{
    const struct options *opt = plan->opt;
    const char *why;

    plan->transport = transport_find((enum transport_word)opt->transport, &why);
    if (!plan->transport)
        assay_job_refuse(plan->job, ASSAY_NOTRUN, "--transport=%s: %s",
                         transport_words[opt->transport], why);
    if (opt->kind == WINDOW_SHARED && plan->job->map.nodes > 1)
        REFUSE(plan,
               "--kind=shared: the ranks are on %zu nodes, and memory is "
               "shared on one",
               plan->job->map.nodes);
    if (opt->kind != WINDOW_ALLOCATE && opt->transport != TRANSPORT_MPI)
        REFUSE(plan, "--kind=%s: only MPI has windows, not --transport=%s",
               window_kind_words[opt->kind], transport_words[opt->transport]);
}

/* Threads of each rank, by default: the CPUs that it may use, of those of the
 * node its part where ranks are not bound. The same on all ranks: the fewest. */
static uint64_t default_threads(const struct plan *plan)
{
    const struct assay_job *job = plan->job;
    uint64_t cpus = assay_machine(job->run)->ncpus;
    uint64_t part = job->cpus / job->map.size[job->map.node[job->rank]];
    uint64_t mine = part < cpus ? part : cpus, least;

    mine = mine > 0 ? mine : 1;
    MPI_Allreduce(&mine, &least, 1, MPI_UINT64_T, MPI_MIN, job->comm);
    return least;
}

/* Ranks of a locale, by default: those of a node, or half of them on one. */
static uint64_t default_ranks(const struct plan *plan)
{
    const struct assay_map *map = &plan->job->map;

    if (map->nodes == 1)
        return map->ranks / 2;
    return map->ppn ? map->ppn : 1;
}

static void plan_locales(struct plan *plan)
{
    const struct options *opt = plan->opt;
    char error[400];

    plan->ranks = plan->threads = 1;
    if (opt->tasks_as == AS_RANKS)
        plan->ranks = opt->tasks ? opt->tasks : default_ranks(plan);
    else
        plan->threads = opt->tasks ? opt->tasks : default_threads(plan);
    if (locales_form(&plan->locales, &plan->job->map, plan->ranks, error,
                     sizeof(error)) < 0)
        REFUSE(plan, "--tasks-as=ranks: %s", error);
    if (plan->locales.n < 2)
        REFUSE(plan, "%zu ranks in locales of %zu are one locale: two needed",
               plan->job->map.ranks, plan->ranks);
    plan->pairs =
        pairs_make(&plan->locales, (enum pairs)opt->pairs, &plan->npairs);
    if (!plan->pairs)
        assay_die(plan->job->run, ASSAY_BROKEN, "pairs: %s", strerror(ENOMEM));
    plan->in_turn = opt->pairs == PAIRS_EACH;
}

static void plan_team(struct plan *plan)
{
    struct assay_job *job = plan->job;
    int failed = assay_team_form(&plan->team, assay_machine(job->run),
                                 ASSAY_PIN_NONE, plan->threads, -1) < 0;

    if (failed)
        assay_die(job->run, ASSAY_BROKEN, "%zu threads: %s", plan->threads,
                  strerror(errno));
    if (plan->team.threads != plan->threads)
        assay_die(job->run, ASSAY_USAGE,
                  "--tasks: %zu threads asked for, and OpenMP starts %zu: "
                  "fewer tasks, or --tasks-as=ranks",
                  plan->threads, plan->team.threads);
}

static void plan_sizes(struct plan *plan)
{
    char error[160], one[32];
    const char *text = plan->opt->sizes;

    snprintf(one, sizeof(one), "%llu", assay_ull(plan->opt->size));
    if (assay_sizes_parse(text ? text : one, SIZE_MOST, &plan->sizes, error,
                          sizeof(error)) < 0)
        REFUSE(plan, "--sizes: %s", error);
    if (plan->sizes.bytes[0] == 0 && plan->opt->transport != TRANSPORT_MPI)
        REFUSE(plan, "--size: only MPI moves blocks of 0 bytes, not %s",
               transport_words[plan->opt->transport]);
}

uint64_t plan_window(const struct plan *plan, uint64_t size)
{
    uint64_t fit = size > 0 && !plan->opt->one_place ? window_bytes / size
                                                     : plan->opt->window;

    fit = fit > 0 ? fit : 1;
    return plan->opt->window < fit ? plan->opt->window : fit;
}

/* Bytes that a locale's part takes, at one end: UINT64_MAX, too many. */
static uint64_t need_of(const struct plan *plan)
{
    uint64_t most = 0;

    for (size_t i = 0; i < plan->sizes.n; i++) {
        uint64_t size = plan->sizes.bytes[i];
        uint64_t bytes =
            assay_product(assay_product(size + 64, plan->threads),
                          plan->opt->one_place ? 1 : plan_window(plan, size));

        most = bytes > most ? bytes : most;
    }
    return most;
}

/* Window, buffer or both: is this rank ever a target, ever an origin? */
static uint64_t ends_of(const struct plan *plan)
{
    size_t locale = locales_of(&plan->locales, plan->job->rank);
    bool origin = false, target = false;

    for (size_t p = 0; p < plan->npairs; p++) {
        origin |= plan->pairs[p].origin == locale;
        target |= plan->pairs[p].target == locale;
    }
    if (plan->opt->bidirectional)
        origin = target = origin || target;
    return (uint64_t)origin + (uint64_t)target;
}

static void plan_memory(const struct plan *plan)
{
    char what[160];

    snprintf(what, sizeof(what),
             "windows and buffers of %zu tasks a rank (take smaller sizes, "
             "fewer tasks, or a smaller window)",
             plan->threads);
    assay_job_need(plan->job, assay_product(need_of(plan), ends_of(plan)),
                   what);
}

static void plan_watch(const struct plan *plan)
{
    const struct assay_job *job = plan->job;
    double bytes = (double)need_of(plan) * 2.0 * (double)job->map.ranks;

    if (plan->opt->watchdog > 0.0)
        assay_job_watch(plan->job, plan->opt->watchdog +
                                       bytes / (double)job->map.nodes / alive);
    else
        assay_job_watch(plan->job, 0.0);
}

/* For paths_find: the same transport, one task, some MiB of each rank. */
static void move(void *arg, int peer, uint64_t bytes)
{
    struct transport *t = arg;

    const struct window_row row = {.n = bytes, .count = 1};

    if (peer >= 0) {
        t->kind->put(t, 0, peer, &row);
        t->kind->flush(t, 0, peer);
    }
    t->kind->sync(t);
}

static void plan_paths(struct plan *plan)
{
    struct assay_job *job = plan->job;
    struct transport t = {.kind = plan->transport,
                          .job = job,
                          .window_kind = (enum window_kind)plan->opt->kind,
                          .threads = 1,
                          .window_bytes = PATHS_BYTES,
                          .buffer_bytes = PATHS_BYTES};
    struct assay_fields env = {0};

    assay_job_progress(job, "finding out what carries the bytes");
    transport_open(&t);
    memset(t.window, 1, PATHS_BYTES);
    memset(t.buffer, 2, PATHS_BYTES);
    paths_find(&plan->paths, job, move, &t);
    if (job->map.ppn)
        snprintf(plan->paths.colocales, sizeof(plan->paths.colocales), "%zu",
                 job->map.ppn / plan->ranks);
    assay_fields_text(&env, "transport_used",
                      transport_words[plan->opt->transport]);
    assay_fields_text(&env, "transport_details",
                      *t.details ? t.details : "none");
    assay_fields_text(&env, "interfaces", plan->paths.interfaces);
    transport_close(&t);
    if (job->rank == 0)
        assay_line(job->run, "env", &env);
    else
        assay_fields_free(&env);
}

/* Times of two nodes' clocks are off by some microseconds. */
static void plan_clock(struct plan *plan)
{
    struct clocks clocks;

    clocks_compare(plan->job, &clocks);
    plan->target = 40.0 * clocks.error > sample ? 40.0 * clocks.error : sample;
}

static void write_opt(const struct plan *plan)
{
    struct assay_fields more = {0};
    struct assay_clock clock = assay_clock_measure();

    assay_job_fields(plan->job, &more);
    assay_fields_count(&more, "locales", plan->locales.n);
    assay_fields_count(&more, "ranks_per_locale", plan->ranks);
    assay_fields_count(&more, "threads_per_rank", plan->threads);
    assay_fields_count(&more, "pairs_measured", plan->npairs);
    assay_fields_count(&more, "memory_needed", need_of(plan));
    assay_fields_real(&more, "clock_resolution", clock.resolution);
    assay_opt(plan->job->run, &more);
    assay_fields_free(&more);
}

/* All pairs are all of an even number. */
static void warn_odd(const struct plan *plan)
{
    const struct locales *l = &plan->locales;

    if (plan->opt->pairs == PAIRS_ALL && l->n % 2)
        assay_warn(plan->job->run,
                   "%zu locales are no pairs: the last one, rank %d on %s, "
                   "moves nothing; --pairs=each has all",
                   l->n, locales_rank(l, l->n - 1, 0),
                   locales_host(l, l->n - 1));
}

static void warn_crowded(const struct plan *plan)
{
    const struct assay_job *job = plan->job;
    size_t tasks = job->map.size[job->map.node[job->rank]] * plan->threads;

    if (tasks > job->cpus)
        assay_warn(job->run,
                   "%zu tasks on %zu CPU%s of %s: they take turns, which "
                   "OMP_WAIT_POLICY=passive makes shorter",
                   tasks, job->cpus, job->cpus == 1 ? "" : "s", job->host);
}

void plan_make(struct plan *plan, struct assay_job *job,
               const struct options *opt)
{
    *plan = (struct plan){.job = job, .opt = opt};
    plan_transport(plan);
    plan_locales(plan);
    plan_sizes(plan);
    plan_memory(plan);
    plan_watch(plan);
    plan_team(plan);
    write_opt(plan);
    warn_odd(plan);
    warn_crowded(plan);
    plan_paths(plan);
    plan_clock(plan);
}

void plan_free(struct plan *plan)
{
    assay_team_dissolve(&plan->team);
    free(plan->pairs);
    free(plan->sizes.bytes);
}
