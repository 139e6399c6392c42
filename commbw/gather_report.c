/* gather_report.c - what came of a mode: printed, and in the record. */
#include "config.h"

#include <stdio.h>

#include "commbw/gather.h"
#include "lib/units.h"

struct assay_fields gather_keys(const struct gather *g, int mode)
{
    const struct options *opt = g->opt;
    const uint64_t in_flight[MODES] = {1, opt->window, 0};
    struct assay_fields f = {0};

    assay_fields_text(&f, "mode", mode_words[mode]);
    assay_fields_text(&f, "gatherers", gatherers_words[opt->gatherers]);
    assay_fields_text(&f, "distribution", spread_words[opt->distribution]);
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
                 assay_ull(outcome->wrong), outcome->first);
    assay_check_fact(g->job->run, name, outcome->wrong == 0, why, &f);
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
           spread_words[opt->distribution]);
    printf("table:     %llu words a rank, %s in all\n", assay_ull(opt->table),
           assay_size_text(g->table.spread.total * sizeof(uint64_t), size));
    printf("gathered:  %llu words a task\n", assay_ull(opt->updates));
    printf("accesses:  %llu local, %llu remote (%.1f %%)\n",
           assay_ull(outcome->local), assay_ull(outcome->remote),
           100.0 * (double)outcome->remote / all);
}

void gather_report(const struct gather *g, const struct outcome *outcome)
{
    struct assay_fields keys;
    bool good;

    if (g->job->rank != 0)
        return;
    keys = gather_keys(g, outcome->mode);
    check_data(g, outcome, &keys);
    rates_check_accesses(
        &outcome->rates, mode_words[outcome->mode], "accesses", outcome->local,
        outcome->remote,
        assay_product((uint64_t)gather_tasks(g), g->opt->updates), &keys);
    good = rates_write(&outcome->rates, &keys);
    assay_fields_free(&keys);
    if (assay_quiet(g->job->run))
        return;
    if (g->opt->functional)
        puts("# functional only: not the required run");
    print_head(g, outcome);
    if (good)
        rates_print(&outcome->rates, 2, true);
}
