/* ra_report.c - what came of a mode: printed, and in the record. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commbw/ra.h"

static unsigned long long ull(uint64_t n)
{
    return n;
}

struct assay_fields ra_keys(const struct ra *ra, int mode)
{
    const struct options *opt = ra->opt;
    bool messages = mode == AGGREGATED;
    struct assay_fields f = {0};

    assay_fields_text(&f, "mode", mode_words[mode]);
    assay_fields_text(&f, "distribution",
                      distribution_words[opt->distribution]);
    assay_fields_count(&f, "table", opt->table);
    assay_fields_count(&f, "updates", ra->updates);
    assay_fields_count(&f, "tasks", ra->tasks);
    assay_fields_count(&f, "ranks", ra->job->map.ranks);
    assay_fields_count(&f, "nodes", ra->job->map.nodes);
    assay_fields_count(&f, "window", messages ? 0 : opt->window);
    assay_fields_count(&f, "buffer", messages ? opt->buffer : 0);
    assay_fields_text(&f, "kind",
                      messages ? "none" : window_kind_words[opt->kind]);
    assay_fields_text(&f, "atomic",
                      mode == AMO ? atomic_words[opt->atomic] : "none");
    paths_fields(messages ? &ra->messages : &ra->moves, &f);
    if (opt->functional)
        assay_fields_text(&f, "functional", "yes");
    return f;
}

static double most_wrong(const struct outcome *outcome)
{
    double most = 0.0;

    for (size_t i = 0; i < outcome->rates.done; i++)
        if (outcome->wrong[i] > most)
            most = outcome->wrong[i];
    return most;
}

/* Entries that can be wrong: no more than there are updates. */
static double entries(const struct ra *ra)
{
    return (double)(ra->updates < ra->opt->table ? ra->updates
                                                 : ra->opt->table);
}

/* The trial with most wrong entries decides. */
static void check_data(const struct ra *ra, const struct outcome *outcome,
                       const struct assay_fields *keys)
{
    double wrong = most_wrong(outcome), share = wrong / entries(ra);
    struct assay_fields f = {0};
    char name[64];

    assay_fields_append(&f, keys);
    assay_fields_real(&f, "wrong", wrong);
    assay_fields_real(&f, "clock_error", outcome->rates.clock_error);
    if (wrong > 0.0)
        assay_fields_count(&f, "first", outcome->first);
    snprintf(name, sizeof(name), "%s.data", mode_words[outcome->mode]);
    assay_check(ra->job->run, name, share, modes[outcome->mode].tolerance, &f);
    assay_fields_free(&f);
}

static void check_counts(const struct ra *ra, const struct outcome *outcome,
                         const struct assay_fields *keys)
{
    uint64_t counted = outcome->local + outcome->remote;
    struct assay_fields f = {0};
    char name[64], why[160] = "";

    assay_fields_append(&f, keys);
    assay_fields_count(&f, "local", outcome->local);
    assay_fields_count(&f, "remote", outcome->remote);
    snprintf(name, sizeof(name), "%s.accesses", mode_words[outcome->mode]);
    if (counted != ra->updates)
        snprintf(why, sizeof(why),
                 "%llu updates were counted, and there are %llu", ull(counted),
                 ull(ra->updates));
    assay_check_fact(ra->job->run, name, counted == ra->updates, why, &f);
    assay_fields_free(&f);
}

static void write_wrong(const struct ra *ra, const struct outcome *outcome,
                        const struct assay_fields *keys)
{
    double most = most_wrong(outcome);
    struct assay_metric metric = {.name = "wrong",
                                  .unit = "entries",
                                  .lower_is_better = true,
                                  .value = &most,
                                  .samples = outcome->wrong,
                                  .n = outcome->rates.done};
    struct assay_fields f = {0};

    assay_fields_append(&f, keys);
    assay_fields_text(&f, "per", "job");
    assay_metric(ra->job->run, &metric, &f);
    assay_fields_free(&f);
}

static void print_head(const struct ra *ra, const struct outcome *outcome)
{
    const struct assay_map *map = &ra->job->map;
    char size[16];

    printf("ra %s: %zu ranks on %zu node%s, %zu task%s each, %s\n",
           mode_words[outcome->mode], map->ranks, map->nodes,
           map->nodes == 1 ? "" : "s", ra->tasks, ra->tasks == 1 ? "" : "s",
           distribution_words[ra->opt->distribution]);
    printf("table:     %llu words, %s\n", ull(ra->opt->table),
           assay_size_text(ra->opt->table * sizeof(uint64_t), size));
    printf("updates:   %llu: %llu local, %llu remote (%.1f %%)\n",
           ull(ra->updates), ull(outcome->local), ull(outcome->remote),
           100.0 * (double)outcome->remote / (double)ra->updates);
    printf("wrong:     %.0f entries (%.4f %%)\n", most_wrong(outcome),
           100.0 * most_wrong(outcome) / entries(ra));
}

static void print_rates(const struct ra *ra, const struct outcome *outcome,
                        double *samples)
{
    const struct rates *rates = &outcome->rates;
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
    printf("GUPS:      %.9f best, %.9f median, of the job\n", stats.max,
           stats.median);
    node = rates_slowest(rates, &slowest);
    printf("GUPS node: %.9f median of the slowest, %s\n", slowest,
           ra->job->map.name[node]);
}

void ra_report(const struct ra *ra, const struct outcome *outcome)
{
    struct assay_fields keys;
    double *samples;
    bool good;

    if (ra->job->rank != 0)
        return;
    keys = ra_keys(ra, outcome->mode);
    check_data(ra, outcome, &keys);
    check_counts(ra, outcome, &keys);
    write_wrong(ra, outcome, &keys);
    good = rates_write(&outcome->rates, &keys);
    assay_fields_free(&keys);
    if (assay_quiet(ra->job->run))
        return;
    if (ra->opt->functional)
        puts("# functional only: not the required run");
    print_head(ra, outcome);
    samples = calloc(ra->opt->trials, sizeof(*samples));
    if (!samples)
        assay_die(ra->job->run, ASSAY_BROKEN, "no memory for the report");
    if (good)
        print_rates(ra, outcome, samples);
    free(samples);
}
