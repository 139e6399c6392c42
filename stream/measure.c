/* measure.c - touch, time, verify, record. */
#include "config.h"

#include <errno.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream/measure.h"

struct setup stream_setup(const struct plan *plan)
{
    return (struct setup){.threads = plan->opt->threads,
                          .elements = plan->opt->elements,
                          .cycle = ASSAY_CYCLE_STREAM,
                          .cpu_node = -1,
                          .mem_node = -1};
}

/* Keys of a measurement, but for stores and write_allocate. */
static struct assay_fields
keys_common(const struct plan *plan, const struct setup *setup, size_t threads)
{
    const struct options *opt = plan->opt;
    struct assay_fields f = {0};

    assay_fields_text(&f, "host", plan->host);
    assay_fields_text(&f, "mode", stream_mode_words[opt->mode]);
    if (setup->source)
        assay_fields_text(&f, "source", setup->source);
    if (setup->round)
        assay_fields_count(&f, "round", setup->round);
    assay_fields_count(&f, "threads", threads);
    if (threads > plan->topology->ncores)
        assay_fields_text(&f, "oversubscribed", "yes");
    assay_fields_count(&f, "elements", setup->elements);
    if (setup->array_bytes)
        assay_fields_count(&f, "array_bytes",
                           stream_bytes(plan, setup->elements));
    assay_fields_text(&f, "type", assay_type_words[opt->type]);
    assay_fields_text(&f, "kernel", assay_isa_words[plan->kernels.isa]);
    assay_fields_text(&f, "pin", assay_pin_words[opt->pin]);
    if (setup->cpu_node >= 0)
        assay_fields_count(&f, "cpu_node", (uint64_t)setup->cpu_node);
    if (setup->mem_node >= 0)
        assay_fields_count(&f, "mem_node", (uint64_t)setup->mem_node);
    return f;
}

struct assay_fields stream_keys(const struct plan *plan,
                                const struct setup *setup, size_t threads)
{
    struct assay_fields f = keys_common(plan, setup, threads);

    assay_fields_text(&f, "stores", assay_stores_words[plan->kernels.stores]);
    assay_fields_text(&f, "write_allocate",
                      plan->write_allocate ? "yes" : "no");
    return f;
}

/* The same for one kernel, which may store otherwise, or not at all. */
static struct assay_fields keys_of_op(const struct plan *plan,
                                      const struct setup *setup, size_t threads,
                                      enum assay_op op)
{
    struct assay_fields f = keys_common(plan, setup, threads);
    bool counted = plan->write_allocate && assay_work(op)->allocates > 0;

    assay_fields_text(&f, "stores", assay_kernels_stores(&plan->kernels, op));
    assay_fields_text(&f, "write_allocate", counted ? "yes" : "no");
    return f;
}

/* Say, before the measurement, what will make its threads share cores. */
static void warn_threads(const struct plan *plan, const struct assay_team *team)
{
    if (team->threads < team->requested)
        assay_warn(plan->run,
                   "threads requested %zu, counted %zu: something limits them "
                   "(OMP_THREAD_LIMIT?)",
                   team->requested, team->threads);
    if (team->threads > plan->topology->ncpus)
        assay_warn(plan->run, "%zu threads on %zu CPUs: more threads than CPUs",
                   team->threads, plan->topology->ncpus);
}

static void form(const struct plan *plan, const struct setup *setup,
                 struct assay_team *team)
{
    if (assay_team_form(team, plan->topology, (enum assay_pin)plan->opt->pin,
                        setup->threads, setup->cpu_node) < 0)
        assay_die(plan->run, ASSAY_BROKEN, "%zu threads: %s", setup->threads,
                  strerror(errno));
    warn_threads(plan, team);
}

static void map(const struct plan *plan, const struct setup *setup,
                struct assay_arrays *arrays)
{
    char text[16];

    if (assay_arrays_map(arrays, (enum assay_type)plan->opt->type,
                         setup->elements,
                         (enum assay_hugepages)plan->opt->hugepages,
                         setup->unbound ? -1 : setup->mem_node) < 0)
        assay_die(plan->run, ASSAY_BROKEN, "3 arrays of %s: %s",
                  assay_size_text(stream_bytes(plan, setup->elements), text),
                  strerror(errno));
}

/* What the threads asked for, and what they had. */
static void check_places(const struct plan *plan, struct assay_team *team,
                         const struct assay_fields *keys)
{
    size_t moved = assay_team_moved(team), crowded = assay_team_crowded(team);
    bool asked = team->pin != ASSAY_PIN_NONE;
    bool ok = !asked || (assay_team_unbound(team) == 0 && moved == 0);
    struct assay_fields f = {0};
    char *cpus = assay_team_cpus(team);
    double *faults = calloc(team->threads, sizeof(*faults));

    for (size_t i = 0; faults && i < team->threads; i++)
        faults[i] = (double)team->seats[i].faults;
    assay_fields_append(&f, keys);
    assay_fields_count(&f, "threads_requested", team->requested);
    assay_fields_count(&f, "threads_counted", team->threads);
    assay_fields_text(&f, "cpus", cpus ? cpus : "unknown (no memory)");
    assay_fields_count(&f, "moved", moved);
    assay_fields_count(&f, "crowded", crowded);
    if (faults)
        assay_fields_reals(&f, "faults", faults, team->threads);
    assay_check_fact(plan->run, "pinning", ok,
                     !asked ? "not asked for"
                     : ok   ? "every thread stayed on its CPU"
                            : "a thread was not on the CPU asked for",
                     &f);
    if (crowded)
        assay_warn(plan->run,
                   "%zu threads shared a core with another (CPUs %s)", crowded,
                   cpus ? cpus : "unknown");
    if (moved)
        assay_warn(plan->run, "%zu threads moved to another CPU%s", moved,
                   asked ? " although pinned" : "");
    assay_fields_free(&f);
    free(faults);
    free(cpus);
}

/* NUMA node nearest to a CPU, or -1. */
static int node_of(const struct assay_topology *t, int cpu)
{
    for (size_t i = 0; i < t->ncpus; i++)
        if ((int)t->cpus[i].cpu == cpu)
            return (int)t->cpus[i].numa;
    return -1;
}

enum { SLICE_LEAST = 8 << 20 }; /* bytes: four huge pages */

struct pages {
    size_t sampled, right, unknown; /* of them: on the node meant, not told */
};

/* Ask at the quarters of every slice. Its ends may share a huge page with a
 * neighbour, who may have touched it first; so no slice is asked that is but a
 * few huge pages long, unless all of them were bound to one node. */
static struct pages sample_pages(const struct setup *setup,
                                 const struct assay_team *team,
                                 const struct assay_arrays *arrays)
{
    size_t size = assay_type_size(arrays->type);
    struct pages pages = {0};

    for (size_t t = 0; t < team->threads; t++) {
        int meant = setup->mem_node >= 0
                        ? setup->mem_node
                        : node_of(team->topology, team->seats[t].cpu);
        uint64_t begin, n;

        assay_team_slice(team, t, arrays->n, size, &begin, &n);
        if (n == 0 || (setup->mem_node < 0 && n * size < SLICE_LEAST))
            continue;
        for (uint64_t k = 0; k < 3 * ASSAY_ARRAYS; k++) {
            const char *base = arrays->base[k % ASSAY_ARRAYS];
            uint64_t i = begin + n / 4 * (1 + k / ASSAY_ARRAYS);
            int node = assay_page_node(base + i * size);

            pages.sampled++;
            pages.right += node >= 0 && node == meant;
            pages.unknown += node < 0;
        }
    }
    return pages;
}

/* Where the pages lie: on the node asked for, or on the one of the thread
 * that computes with them. On a machine of one node there is no other. */
static void check_pages(const struct plan *plan, const struct setup *setup,
                        const struct assay_team *team,
                        const struct assay_arrays *arrays,
                        const struct assay_fields *keys, struct result *result)
{
    struct pages pages = sample_pages(setup, team, arrays);
    bool one_node = plan->topology->nnumas <= 1;
    bool all = one_node || pages.right == pages.sampled;
    bool asked = setup->mem_node >= 0;
    struct assay_fields f = {0};

    for (int i = 0; i < ASSAY_ARRAYS; i++)
        result->huge_bytes += assay_huge_bytes(arrays->map[i], arrays->bytes);
    assay_fields_append(&f, keys);
    assay_fields_text(&f, "hugepages",
                      assay_hugepages_words[plan->opt->hugepages]);
    assay_fields_count(&f, "huge_bytes", result->huge_bytes);
    assay_fields_count(&f, "pages_sampled", pages.sampled);
    assay_fields_count(&f, "pages_placed", pages.right);
    assay_fields_count(&f, "pages_unknown", pages.unknown);
    if (!all && !asked)
        assay_warn(plan->run,
                   "%zu of %zu pages sampled are not known to lie "
                   "on the node of the thread that uses them",
                   pages.sampled - pages.right, pages.sampled);
    assay_check_fact(plan->run, "placement", all || !asked,
                     one_node ? "one node"
                     : all    ? "every page sampled is where it was meant to be"
                     : asked  ? "a page is not on the node asked for"
                              : "no node was asked for",
                     &f);
    assay_fields_free(&f);
}

/* The data, array by array, under the names of the kernels that it proves. */
static void check_data(const struct plan *plan, struct assay_team *team,
                       const struct assay_arrays *arrays,
                       const struct setup *setup,
                       const struct assay_times *times,
                       const struct assay_fields *keys, struct result *result)
{
    struct assay_error errors[ASSAY_ARRAYS];
    double tolerance = assay_tolerance(arrays->type);
    uint64_t wrong_sums;
    char name[32];

    if (assay_team_verify(team, arrays, setup->cycle, times, errors,
                          &wrong_sums) < 0)
        assay_die(plan->run, ASSAY_BROKEN, "verify: %s", strerror(errno));
    result->valid = true;
    for (size_t i = 0; i < times->ops; i++) {
        enum assay_op op = (enum assay_op)i;
        unsigned proof = assay_proof(setup->cycle, op);

        snprintf(name, sizeof(name), "%s.data", assay_work(op)->name);
        result->valid &= assay_check(
            plan->run, name,
            proof < ASSAY_ARRAYS ? errors[proof].max : (double)wrong_sums,
            proof < ASSAY_ARRAYS ? tolerance : 0.0, keys);
    }
    for (int i = 0; i < ASSAY_ARRAYS; i++)
        result->average_error[i] = errors[i].sum / (double)arrays->n;
}

/* From times to rates, MB/s: the first repetition warms up, and a time that
 * is no time counts for nothing. Returns how many rates there are. */
static size_t rates(const struct assay_times *times, size_t op, uint64_t bytes,
                    double *rate, struct result *result)
{
    const double *seconds = &times->seconds[op * times->repetitions];
    double sum = 0.0;
    size_t n = 0;

    result->minimum_time[op] = DBL_MAX;
    for (uint64_t r = 1; r < times->repetitions; r++) {
        double s = seconds[r];

        if (!(s > 0.0))
            continue;
        rate[n++] = (double)bytes / s * 1e-6;
        sum += s;
        if (s < result->minimum_time[op])
            result->minimum_time[op] = s;
        if (s > result->maximum_time[op])
            result->maximum_time[op] = s;
        if (rate[n - 1] > result->best[op])
            result->best[op] = rate[n - 1];
    }
    if (n == 0)
        result->minimum_time[op] = 0.0;
    result->average_time[op] = n ? sum / (double)n : 0.0;
    return n;
}

static void record_op(const struct plan *plan, const struct setup *setup,
                      const struct assay_times *times, size_t i,
                      struct result *result)
{
    enum assay_op op = (enum assay_op)i;
    uint64_t bytes = assay_work_bytes(op, setup->elements,
                                      assay_type_size(plan->kernels.type),
                                      plan->write_allocate);
    struct assay_fields keys = keys_of_op(plan, setup, result->threads, op);
    double *rate =
        assay_room(plan->run, times->repetitions, sizeof(*rate), "the samples");
    size_t n;

    n = rates(times, i, bytes, rate, result);
    if (n < times->repetitions - 1)
        assay_warn(plan->run, "%s: %zu times of 0 or less were discarded",
                   assay_work(op)->name, (size_t)times->repetitions - 1 - n);
    if (n > 0 && !setup->round)
        assay_metric(plan->run,
                     &(struct assay_metric){.name = assay_work(op)->name,
                                            .unit = "MB/s",
                                            .samples = rate,
                                            .n = n},
                     &keys);
    assay_fields_free(&keys);
    free(rate);
}

/* Below 20 ticks it is the clock that is measured. */
static void judge_clock(const struct plan *plan,
                        const struct assay_times *times, struct result *result)
{
    double tick = plan->clock.resolution > plan->clock.overhead
                      ? plan->clock.resolution
                      : plan->clock.overhead;
    double fewest = DBL_MAX;

    for (size_t op = 0; op < times->ops; op++) {
        double shortest = times->shortest[op];

        result->ticks[op] =
            shortest < DBL_MAX && tick > 0.0 ? shortest / tick : 0.0;
        if (result->best[op] <= 0.0)
            result->ticks[op] = 0.0;
        if (result->ticks[op] < fewest)
            fewest = result->ticks[op];
    }
    result->clocked = fewest >= ASSAY_TICKS;
    if (result->clocked)
        return;
    assay_warn(plan->run,
               "a kernel took %.1f ticks of the clock: at least %d are needed, "
               "so take longer arrays",
               fewest, ASSAY_TICKS);
    assay_unstable(plan->run, "arrays too short for the clock");
}

static void record_summary(const struct plan *plan, const struct setup *setup,
                           struct result *result)
{
    struct assay_fields keys = stream_keys(plan, setup, result->threads);
    struct assay_stats stats;
    const struct {
        const char *name;
        const double *value;
    } rows[] = {{"median", &result->median},
                {"minimum", &result->minimum},
                {"maximum", &result->maximum}};

    if (assay_stats(result->best, ASSAY_STREAM_OPS, &stats) < 0)
        assay_die(plan->run, ASSAY_BROKEN, "statistics: %s", strerror(errno));
    result->median = stats.median;
    result->minimum = stats.min;
    result->maximum = stats.max;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (result->minimum > 0.0 && !setup->round)
            assay_metric(plan->run,
                         &(struct assay_metric){.name = rows[i].name,
                                                .unit = "MB/s",
                                                .samples = rows[i].value,
                                                .n = 1},
                         &keys);
    assay_fields_free(&keys);
}

struct result stream_measure(const struct plan *plan, const struct setup *setup)
{
    struct result result = {0};
    struct assay_team team;
    struct assay_arrays arrays;
    struct assay_times times;
    struct assay_fields keys;
    char *cpus;

    form(plan, setup, &team);
    map(plan, setup, &arrays);
    if (assay_team_touch(&team, &arrays) < 0 ||
        assay_team_time(&team, &arrays, &plan->kernels, setup->cycle,
                        plan->opt->repetitions, &times) < 0)
        assay_die(plan->run, ASSAY_BROKEN, "measure: %s", strerror(errno));
    result.ops = times.ops;
    result.threads = team.threads;
    keys = stream_keys(plan, setup, team.threads);
    check_places(plan, &team, &keys);
    check_pages(plan, setup, &team, &arrays, &keys, &result);
    check_data(plan, &team, &arrays, setup, &times, &keys, &result);
    for (size_t op = 0; op < times.ops; op++)
        record_op(plan, setup, &times, op, &result);
    judge_clock(plan, &times, &result);
    record_summary(plan, setup, &result);
    cpus = assay_team_cpus(&team);
    snprintf(result.cpus, sizeof(result.cpus), "%s", cpus ? cpus : "unknown");
    free(cpus);
    assay_fields_free(&keys);
    assay_times_free(&times);
    assay_arrays_unmap(&arrays);
    assay_team_dissolve(&team);
    return result;
}
