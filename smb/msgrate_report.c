/* msgrate_report.c - the original's layout, and the record. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/units.h"
#include "smb/msgrate.h"

/* One pattern as it is reported: rates of one rank's batches, and of nodes. */
struct view {
    const struct plan *plan;
    const struct pattern *pattern;
    const struct times *times;
    double *samples;   /* [batches], of one rank; then scaled */
    size_t nodes;      /* that have a rate: */
    double *node_rate; /* [nodes] */
    size_t *node;      /* [nodes] which one that is */
    struct rate job;
};

void report_head(struct report *report, const struct plan *plan)
{
    const struct options *opt = plan->opt;

    memset(report, 0, sizeof(*report));
    report->plan = plan;
    report->speaks = plan->job->rank == 0;
    report->prints = report->speaks && !assay_quiet(plan->job->run);
    if (!report->prints || opt->machine)
        return;
    if (opt->functional)
        puts("# functional only: not the required run");
    if (opt->sizes)
        printf("Message size is %llu\n", assay_ull(plan->size));
    printf("job size:   %zu\n", plan->job->map.ranks);
    printf("npeers:     %llu\n", assay_ull(opt->peers));
    printf("niters:     %llu\n", assay_ull(opt->iterations));
    printf("nmsgs:      %llu\n", assay_ull(opt->messages));
    printf("nbytes:     %llu\n", assay_ull(plan->size));
    printf("cache size: %llu\n", assay_ull(plan->cache));
    printf("ppn:        %llu\n", assay_ull(plan->layout.ppn));
}

/* Keys of a line; the caller frees them. host: NULL where it is no node's. */
static struct assay_fields keys_of(const struct plan *plan, const char *per,
                                   const char *host)
{
    struct assay_fields f = {0};

    if (host)
        assay_fields_text(&f, "host", host);
    assay_fields_count(&f, "msgsize", plan->size);
    assay_fields_count(&f, "npeers", plan->opt->peers);
    assay_fields_count(&f, "nmsgs", plan->opt->messages);
    assay_fields_count(&f, "cache", plan->cache);
    assay_fields_count(&f, "ranks", plan->layout.ranks);
    assay_fields_count(&f, "nodes", plan->layout.nodes);
    assay_fields_count(&f, "ppn", plan->layout.ppn);
    if (per)
        assay_fields_text(&f, "per", per);
    if (plan->opt->functional)
        assay_fields_text(&f, "functional", "yes");
    return f;
}

/* samples hold the rates of one rank; `ranks` of them make the figure. */
static void write_metric(const struct view *view, const char *per,
                         const char *host, double value, double ranks)
{
    struct assay_fields keys = keys_of(view->plan, per, host);
    struct assay_metric metric = {
        .name = view->pattern->name,
        .unit = "msg/s",
        .value = &value,
        .samples = view->samples,
        .n = view->times->batches,
    };

    for (size_t b = 0; b < metric.n; b++)
        view->samples[b] *= ranks;
    assay_metric(view->plan->job->run, &metric, &keys);
    assay_fields_free(&keys);
}

static void write_node(struct view *view, size_t n)
{
    const struct assay_map *map = &view->plan->job->map;
    struct rate rate = rate_of(view->times, map->order + map->first[n],
                               map->size[n], view->samples);

    if (rate.ranks == 0) {
        struct assay_fields keys = keys_of(view->plan, NULL, map->name[n]);

        assay_notrun(view->plan->job->run,
                     "of an odd number of ranks, the last has no partner",
                     &keys);
        assay_fields_free(&keys);
        return;
    }
    if (!rate.timed)
        return;
    view->node_rate[view->nodes] = rate.sum;
    view->node[view->nodes++] = n;
    write_metric(view, "node", map->name[n], rate.sum, (double)rate.ranks);
}

static void write_metrics(struct view *view)
{
    const struct times *times = view->times;

    write_metric(view, "rank", NULL, view->job.each, 1.0);
    for (size_t n = 0; n < view->plan->job->map.nodes; n++)
        write_node(view, n);
    rate_of(times, NULL, times->ranks, view->samples);
    write_metric(view, "job", NULL, view->job.sum, (double)view->job.ranks);
}

static void check_data(const struct view *view, const struct result *result)
{
    struct assay_fields keys = keys_of(view->plan, NULL, NULL);
    uint64_t iterations = 1; /* the warm-up */
    char name[64], why[256] = "";

    for (size_t b = 0; b < view->times->batches; b++)
        iterations += view->times->iterations[b];
    assay_fields_count(&keys, "iterations", iterations);
    assay_fields_count(&keys, "wrong", result->wrong);
    snprintf(name, sizeof(name), "%s.data", view->pattern->name);
    if (result->wrong)
        snprintf(why, sizeof(why),
                 "%llu messages hold what was not sent, the "
                 "first is %s",
                 assay_ull(result->wrong), result->first);
    assay_check_fact(view->plan->job->run, name, result->wrong == 0, why,
                     &keys);
    assay_fields_free(&keys);
}

/* A time that the clock can't tell from its own tick is no measurement. */
static void check_clock(const struct view *view)
{
    double time = iteration_time(view->times);
    double tick = assay_clock_measure().resolution;
    char text[200];

    if (view->job.timed && time >= ASSAY_TICKS * tick)
        return;
    snprintf(text, sizeof(text),
             "%s: an iteration takes %.3g s, and the clock ticks every %.3g s: "
             "more messages (-m)",
             view->pattern->name, time, tick);
    assay_unstable(view->plan->job->run, text);
}

static void check_settled(const struct view *view, const struct result *result)
{
    const struct options *opt = view->plan->opt;

    if (opt->until && !result->settled)
        assay_warn(view->plan->job->run,
                   "%s: after %llu iterations the interval of the rate is "
                   "wider than %s",
                   view->pattern->name, assay_ull(opt->iterations), opt->until);
}

/* What the original does not tell, as a comment to its layout, in which none
 * of its labels stands: who looks for one finds one line. */
static void print_nodes(const struct view *view)
{
    const struct assay_map *map = &view->plan->job->map;
    size_t n = slowest(view->node_rate, view->nodes);
    struct assay_stats stats;

    printf("# %s %.2f msg/s in all", view->pattern->name, view->job.sum);
    if (view->nodes > 1 &&
        assay_stats(view->node_rate, view->nodes, &stats) == 0)
        printf("; a node: median %.2f, slowest %s with %.2f", stats.median,
               map->name[view->node[n]], view->node_rate[n]);
    putchar('\n');
}

static void report_view(struct report *report, struct view *view,
                        const struct result *result, double *each)
{
    view->job = rate_of(view->times, NULL, view->times->ranks, view->samples);
    check_data(view, result);
    check_clock(view);
    check_settled(view, result);
    if (!view->job.timed)
        return;
    *each = view->job.each;
    write_metrics(view);
    if (!report->prints || view->plan->opt->machine)
        return;
    printf("%s: %.2f\n", view->pattern->label, *each);
    print_nodes(view);
}

void report_pattern(struct report *report, size_t pattern,
                    const struct result *result)
{
    const struct assay_job *job = report->plan->job;
    struct view view = {
        .plan = report->plan,
        .pattern = &patterns[pattern],
        .times = &result->times,
    };

    if (!report->speaks)
        return;
    view.samples = assay_room(job->run, result->times.batches,
                              sizeof(*view.samples), "the report");
    view.node_rate = assay_room(job->run, job->map.nodes,
                                sizeof(*view.node_rate), "the report");
    view.node =
        assay_room(job->run, job->map.nodes, sizeof(*view.node), "the report");
    report_view(report, &view, result, &report->each[pattern]);
    free(view.samples);
    free(view.node_rate);
    free(view.node);
}

void report_end(const struct report *report)
{
    const struct plan *plan = report->plan;
    const struct options *opt = plan->opt;

    if (!report->prints || !opt->machine)
        return;
    printf("%zu %llu %llu %llu %llu %llu %llu", plan->job->map.ranks,
           assay_ull(opt->peers), assay_ull(opt->iterations),
           assay_ull(opt->messages), assay_ull(plan->size),
           assay_ull(plan->cache), assay_ull(plan->layout.ppn));
    for (size_t i = 0; i < PATTERNS; i++)
        printf(" %.2f", report->each[i]);
    puts(opt->functional ? " functional" : "");
}
