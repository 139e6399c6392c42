/* ra_report.c - what came of a mode: printed, and in the record. */
#include "config.h"

#include <stdio.h>

#include "commbw/ra.h"
#include "lib/units.h"

struct assay_fields ra_keys(const struct ra *ra, int mode)
{
    const struct options *opt = ra->opt;
    bool messages = mode == AGGREGATED;
    struct assay_fields f = {0};

    assay_fields_text(&f, "mode", mode_words[mode]);
    assay_fields_text(&f, "distribution", spread_words[opt->distribution]);
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
           spread_words[ra->opt->distribution]);
    printf("table:     %llu words, %s\n", assay_ull(ra->opt->table),
           assay_size_text(ra->opt->table * sizeof(uint64_t), size));
    printf("updates:   %llu: %llu local, %llu remote (%.1f %%)\n",
           assay_ull(ra->updates), assay_ull(outcome->local),
           assay_ull(outcome->remote),
           100.0 * (double)outcome->remote / (double)ra->updates);
    printf("wrong:     %.0f entries (%.4f %%)\n", most_wrong(outcome),
           100.0 * most_wrong(outcome) / entries(ra));
}

void ra_report(const struct ra *ra, const struct outcome *outcome)
{
    struct assay_fields keys;
    bool good;

    if (ra->job->rank != 0)
        return;
    keys = ra_keys(ra, outcome->mode);
    check_data(ra, outcome, &keys);
    rates_check_accesses(&outcome->rates, mode_words[outcome->mode], "updates",
                         outcome->local, outcome->remote, ra->updates, &keys);
    write_wrong(ra, outcome, &keys);
    good = rates_write(&outcome->rates, &keys);
    assay_fields_free(&keys);
    if (assay_quiet(ra->job->run))
        return;
    if (ra->opt->functional)
        puts("# functional only: not the required run");
    print_head(ra, outcome);
    if (good)
        rates_print(&outcome->rates, 9, false);
}
