/* gather_report.c - what came of a mode: printed, and in the record. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commbw/gather.h"

static unsigned long long ull(uint64_t n)
{
    return n;
}

struct assay_fields gather_keys(const struct gather *g, int mode)
{
    const struct options *opt = g->opt;
    const uint64_t in_flight[MODES] = {1, opt->window, 0};
    struct assay_fields f = {0};

    assay_fields_text(&f, "mode", mode_words[mode]);
    assay_fields_text(&f, "gatherers", gatherers_words[opt->gatherers]);
    assay_fields_text(&f, "distribution",
                      distribution_words[opt->distribution]);
    assay_fields_count(&f, "table", opt->table);
    assay_fields_count(&f, "updates", opt->updates);
    assay_fields_count(&f, "tasks", g->tasks);
    assay_fields_count(&f, "ranks", g->job->map.ranks);
    assay_fields_count(&f, "nodes", g->job->map.nodes);
    assay_fields_count(&f, "window", in_flight[mode]);
    assay_fields_count(&f, "buffer", mode == AGGREGATED ? opt->buffer : 0);
    assay_fields_text(
        &f, "kind", mode == AGGREGATED ? "none" : window_kind_words[opt->kind]);
    paths_fields(mode == AGGREGATED ? &g->messages : &g->moves, &f);
    if (opt->functional)
        assay_fields_text(&f, "functional", "yes");
    return f;
}

static void check_data(const struct gather *g, const struct outcome *outcome,
                       const struct assay_fields *keys)
{
    struct assay_fields f = {0};
    char name[64], why[256] = "";

    assay_fields_append(&f, keys);
    assay_fields_count(&f, "wrong", outcome->wrong);
    assay_fields_real(&f, "clock_error", outcome->rates.clock_error);
    snprintf(name, sizeof(name), "%s.data", mode_words[outcome->mode]);
    if (outcome->wrong)
        snprintf(why, sizeof(why), "%llu entries, the first is %s",
                 ull(outcome->wrong), outcome->first);
    assay_check_fact(g->job->run, name, outcome->wrong == 0, why, &f);
    assay_fields_free(&f);
}

/* Each word was gathered once, and it is known from where. */
static void check_counts(const struct gather *g, const struct outcome *outcome,
                         const struct assay_fields *keys)
{
    double all = gather_tasks(g) * (double)g->opt->updates;
    double counted = (double)outcome->local + (double)outcome->remote;
    struct assay_fields f = {0};
    char name[64], why[160] = "";

    assay_fields_append(&f, keys);
    assay_fields_count(&f, "local", outcome->local);
    assay_fields_count(&f, "remote", outcome->remote);
    snprintf(name, sizeof(name), "%s.accesses", mode_words[outcome->mode]);
    if (counted != all)
        snprintf(why, sizeof(why),
                 "%.0f accesses were counted, and there are %.0f", counted,
                 all);
    assay_check_fact(g->job->run, name, counted == all, why, &f);
    assay_fields_free(&f);
}

static void print_head(const struct gather *g, const struct outcome *outcome)
{
    const struct options *opt = g->opt;
    double all = (double)outcome->local + (double)outcome->remote;
    char size[16];

    printf("indexgather %s: %zu ranks on %zu node%s, %zu task%s each, "
           "gatherers %s, %s\n",
           mode_words[outcome->mode], g->job->map.ranks, g->job->map.nodes,
           g->job->map.nodes == 1 ? "" : "s", g->tasks,
           g->tasks == 1 ? "" : "s", gatherers_words[opt->gatherers],
           distribution_words[opt->distribution]);
    printf("table:     %llu words a rank, %s in all\n", ull(opt->table),
           assay_size_text(g->table.spread.total * sizeof(uint64_t), size));
    printf("gathered:  %llu words a task\n", ull(opt->updates));
    printf("accesses:  %llu local, %llu remote (%.1f %%)\n",
           ull(outcome->local), ull(outcome->remote),
           100.0 * (double)outcome->remote / all);
}

static void print_rates(const struct gather *g, const struct outcome *outcome,
                        double *samples)
{
    const struct rates *rates = &outcome->rates;
    const struct assay_map *map = &g->job->map;
    struct assay_stats stats;
    double slowest = 0.0;
    size_t node;

    for (size_t i = 0; i < rates->done; i++)
        samples[i] = rates_seconds(rates, i);
    if (assay_stats(samples, rates->done, &stats) == 0)
        printf("seconds:   %.6f best, %.6f median of %zu\n", stats.min,
               stats.median, rates->done);
    rates_of(rates, NULL, samples);
    if (assay_stats(samples, rates->done, &stats) != 0)
        return;
    printf("MB/s:      %.2f best, %.2f median, of the job\n", stats.max,
           stats.median);
    printf("MB/s task: %.2f best, %.2f median\n", stats.max / rates->tasks,
           stats.median / rates->tasks);
    node = rates_slowest(rates, &slowest);
    printf("MB/s node: %.2f median of the slowest, %s\n", slowest,
           map->name[node]);
}

void gather_report(const struct gather *g, const struct outcome *outcome)
{
    struct assay_fields keys;
    double *samples;
    bool good;

    if (g->job->rank != 0)
        return;
    keys = gather_keys(g, outcome->mode);
    check_data(g, outcome, &keys);
    check_counts(g, outcome, &keys);
    good = rates_write(&outcome->rates, &keys);
    assay_fields_free(&keys);
    if (assay_quiet(g->job->run))
        return;
    if (g->opt->functional)
        puts("# functional only: not the required run");
    print_head(g, outcome);
    samples = calloc(g->opt->trials, sizeof(*samples));
    if (!samples)
        assay_die(g->job->run, ASSAY_BROKEN, "no memory for the report");
    if (good)
        print_rates(g, outcome, samples);
    free(samples);
}
