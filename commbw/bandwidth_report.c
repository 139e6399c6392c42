/* bandwidth_report.c - the original's lines, and the record. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "commbw/bandwidth.h"
#include "lib/units.h"

/* One measurement as it is reported. */
struct view {
    const struct bench *bench;
    const struct plan *plan;
    const struct scene *scene;
    const struct result *result;
    double *seconds; /* [trials] of one trial, of the pairs looked at */
    double *rates;   /* [trials] MB/s */
};

static bool prints(const struct plan *plan)
{
    return !assay_quiet(plan->job->run);
}

void report_head(const struct plan *plan)
{
    if (!prints(plan))
        return;
    if (plan->opt->functional)
        puts("# functional only: not the required run");
    printf("# %zu locales of %zu tasks (%s), %zu pairs%s%s, by %s%s%s\n",
           plan->locales.n, plan->ranks * plan->threads,
           plan->ranks > 1 ? "ranks" : "threads", plan->npairs,
           plan->in_turn ? " in turn" : "",
           plan->opt->bidirectional ? ", both ways" : "",
           transport_words[plan->opt->transport],
           plan->opt->transport == TRANSPORT_MPI ? ", window of kind " : "",
           plan->opt->transport == TRANSPORT_MPI
               ? window_kind_words[plan->opt->kind]
               : "");
}

void report_keys(const struct bench *bench, struct assay_fields *f)
{
    const struct plan *plan = bench->plan;
    const struct options *opt = plan->opt;

    assay_fields_count(f, "size", bench->size);
    assay_fields_count(f, "tasks", plan->ranks * plan->threads);
    assay_fields_text(f, "tasks_as",
                      opt->tasks_as == AS_RANKS ? "ranks" : "threads");
    assay_fields_count(f, "window", bench->window);
    assay_fields_count(f, "places", bench->places);
    assay_fields_text(
        f, "kind",
        opt->transport == TRANSPORT_MPI ? window_kind_words[opt->kind] : "own");
    assay_fields_text(f, "direction", opt->bidirectional ? "both" : "one");
    assay_fields_text(f, "at_once", pairs_words[opt->pairs]);
    assay_fields_text(f, "transport", transport_words[opt->transport]);
    paths_fields(&plan->paths, f);
    if (opt->functional)
        assay_fields_text(f, "functional", "yes");
}

/* "0:2", or for locales of several ranks "0-1:2-3". */
static void ranks_text(const struct plan *plan, const struct pair *pair,
                       char *buf, size_t size)
{
    const struct locales *l = &plan->locales;
    size_t last = l->each - 1;
    int a = locales_rank(l, pair->origin, 0),
        b = locales_rank(l, pair->target, 0);

    if (last == 0)
        snprintf(buf, size, "%d:%d", a, b);
    else
        snprintf(buf, size, "%d-%d:%d-%d", a,
                 locales_rank(l, pair->origin, last), b,
                 locales_rank(l, pair->target, last));
}

/* Keys of one pair, or of all pairs together. */
static struct assay_fields keys_of(const struct view *view,
                                   const struct pair *pair)
{
    const struct locales *l = &view->plan->locales;
    struct assay_fields f = {0};
    char ranks[64], pair_text[520];

    if (pair) {
        ranks_text(view->plan, pair, ranks, sizeof(ranks));
        snprintf(pair_text, sizeof(pair_text), "%s:%s",
                 locales_host(l, pair->origin), locales_host(l, pair->target));
        assay_fields_text(&f, "pair", pair_text);
        assay_fields_text(&f, "ranks", ranks);
        assay_fields_text(&f, "per", "pair");
    } else {
        assay_fields_count(&f, "pairs", view->scene->n);
        assay_fields_text(&f, "per", "job");
    }
    report_keys(view->bench, &f);
    return f;
}

/* The earliest start and the latest end of a trial, of one locale's ranks. */
static void widen(const struct view *view, size_t locale, uint64_t trial,
                  double *start, double *end)
{
    const struct result *r = view->result;
    const struct locales *l = &view->plan->locales;

    for (size_t m = 0; m < l->each; m++) {
        size_t rank = (size_t)locales_rank(l, locale, m);
        size_t i = rank * r->trials + trial;

        if (!r->active[rank])
            continue;
        *start = r->start[i] < *start ? r->start[i] : *start;
        *end = r->end[i] > *end ? r->end[i] : *end;
    }
}

/* Seconds and rates of n pairs together. False where the clock could not tell
 * a trial from nothing. */
static bool time_pairs(const struct view *view, const struct pair *pairs,
                       size_t n)
{
    const struct result *r = view->result;
    const struct bench *b = view->bench;
    double bytes = (double)b->size * (double)b->window *
                   (double)(view->plan->ranks * view->plan->threads) *
                   (double)n * (view->plan->opt->bidirectional ? 2.0 : 1.0);
    double tick = assay_clock_measure().resolution;
    bool timed = true;

    for (uint64_t i = 0; i < r->trials; i++) {
        double start = 1e300, end = -1e300;

        for (size_t p = 0; p < n; p++) {
            widen(view, pairs[p].origin, i, &start, &end);
            widen(view, pairs[p].target, i, &start, &end);
        }
        timed &= end - start >= ASSAY_TICKS * tick;
        view->seconds[i] = (end - start) / (double)r->batch;
        view->rates[i] = timed ? bytes / view->seconds[i] / 1e6 : 0.0;
    }
    return timed;
}

static void unstable(const struct view *view)
{
    char text[160];

    snprintf(text, sizeof(text),
             "%s of %llu bytes: %llu trials take less than %d ticks of the "
             "clock",
             operation_name[view->scene->operation],
             assay_ull(view->bench->size), assay_ull(view->result->batch),
             ASSAY_TICKS);
    assay_unstable(view->plan->job->run, text);
}

static void write_metric(const struct view *view, const struct pair *pair)
{
    struct assay_fields keys = keys_of(view, pair);
    struct assay_metric metric = {
        .name = operation_name[view->scene->operation],
        .unit = "MB/s",
        .samples = view->rates,
        .n = view->result->trials,
    };

    assay_metric(view->plan->job->run, &metric, &keys);
    assay_fields_free(&keys);
}

static void check_data(const struct view *view)
{
    const struct result *r = view->result;
    struct assay_fields keys =
        keys_of(view, view->scene->n == 1 ? view->scene->pairs : NULL);
    char name[32], why[256] = "";

    snprintf(name, sizeof(name), "%s.data",
             operation_name[view->scene->operation]);
    assay_fields_count(&keys, "verified", r->verified);
    assay_fields_count(&keys, "wrong", r->wrong);
    assay_fields_count(&keys, "batch", r->batch);
    assay_fields_real(&keys, "clock_error", r->clock_error);
    if (r->verified == 0 && view->bench->size > 0)
        snprintf(why, sizeof(why), "no block was looked at");
    else if (r->wrong > 0)
        snprintf(why, sizeof(why),
                 "%llu blocks of %llu bytes hold what was not sent, the first "
                 "is %s",
                 assay_ull(r->wrong), assay_ull(view->bench->size), r->first);
    assay_check_fact(view->plan->job->run, name, *why == '\0', why, &keys);
    assay_fields_free(&keys);
}

/* The original's line: the best trial; behind it what it does not tell. */
static void print_line(const struct view *view, size_t pairs)
{
    const struct plan *plan = view->plan;
    const char *name = view->scene->operation == GET ? "GET" : "PUT";
    double moves = (double)view->bench->window *
                   (double)(plan->ranks * plan->threads * pairs) *
                   (plan->opt->bidirectional ? 2.0 : 1.0);
    const double mib = 1e6 / 1048576.0; /* MiB/s for MB/s */
    struct assay_stats seconds, rates;

    if (!prints(plan) ||
        assay_stats(view->seconds, view->result->trials, &seconds) < 0 ||
        assay_stats(view->rates, view->result->trials, &rates) < 0)
        return;
    printf("%6s %.2fs (%.2f MiB/s)  # median %.2f MiB/s, %.4g us, %.4g "
           "moves/s; %llu trials\n",
           name, seconds.min, rates.max * mib, rates.median * mib,
           seconds.median * 1e6, moves / seconds.median,
           assay_ull(view->result->trials));
    fflush(stdout);
}

/* What the lines below are about, where there is more than one thing. */
static void print_subject(const struct view *view)
{
    const struct plan *plan = view->plan;
    const struct locales *l = &plan->locales;
    const struct pair *pair = view->scene->pairs;
    char ranks[64];

    if (!prints(plan) || (plan->sizes.n == 1 && !plan->in_turn) ||
        (view->scene->operation == PUT && plan->opt->operation == BOTH))
        return;
    printf("# size %llu, window %llu", assay_ull(view->bench->size),
           assay_ull(view->bench->window));
    ranks_text(plan, pair, ranks, sizeof(ranks));
    if (plan->in_turn)
        printf(", %s:%s ranks %s", locales_host(l, pair->origin),
               locales_host(l, pair->target), ranks);
    putchar('\n');
}

static void report_view(const struct view *view)
{
    const struct scene *scene = view->scene;

    check_data(view);
    print_subject(view);
    for (size_t p = 0; p < scene->n; p++) {
        if (time_pairs(view, &scene->pairs[p], 1))
            write_metric(view, &scene->pairs[p]);
        else
            unstable(view);
    }
    if (!time_pairs(view, scene->pairs, scene->n)) {
        unstable(view);
        return;
    }
    if (!view->plan->in_turn)
        write_metric(view, NULL);
    print_line(view, scene->n);
}

void report(const struct bench *bench, const struct scene *scene,
            const struct result *result)
{
    struct view view = {
        .bench = bench, .plan = bench->plan, .scene = scene, .result = result};

    view.seconds = assay_room(bench->plan->job->run, result->trials,
                              sizeof(*view.seconds), "the report");
    view.rates = assay_room(bench->plan->job->run, result->trials,
                            sizeof(*view.rates), "the report");
    report_view(&view);
    free(view.seconds);
    free(view.rates);
}
