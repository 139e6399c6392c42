/* overhead_record.c - what all pairs found, as lines of the record. */
#include "config.h"

#include <stdlib.h>

#include "smb/overhead.h"

enum { TEXT = 640 };

/* pair=A:B ranks=r:s shared_node=: where. */
static struct assay_fields keys_of_pair(const struct overhead_plan *plan,
                                        size_t pair)
{
    const struct assay_map *map = &plan->job->map;
    size_t a = map->node[pair], b = map->node[pair + plan->pair.pairs];
    struct assay_fields f = {0};
    char text[TEXT];

    snprintf(text, sizeof(text), "%s:%s", map->name[a], map->name[b]);
    assay_fields_text(&f, "pair", text);
    snprintf(text, sizeof(text), "%zu:%zu", pair, pair + plan->pair.pairs);
    assay_fields_text(&f, "ranks", text);
    assay_fields_text(&f, "shared_node", a == b ? "yes" : "no");
    if (plan->opt->functional)
        assay_fields_text(&f, "functional", "yes");
    return f;
}

static struct assay_fields keys_of(const struct overhead_plan *plan,
                                   const struct overhead_result *result,
                                   size_t pair)
{
    struct assay_fields f = keys_of_pair(plan, pair);

    assay_fields_count(&f, "msgsize", result->msgsize);
    assay_fields_text(&f, "direction", result->receive ? "recv" : "send");
    return f;
}

void overhead_record_price(const struct overhead_plan *plan,
                           const double *price, const double *error)
{
    for (size_t i = 0; i < plan->pair.pairs; i++) {
        struct assay_fields f = keys_of_pair(plan, i);

        assay_fields_real(&f, "ns_per_unit", price[i] * 1e9);
        assay_check(plan->job->run, "work.linear", error[i], OVERHEAD_LINEAR,
                    &f);
        assay_fields_free(&f);
    }
}

/* The samples behind a figure, in us. */
static void metric(struct assay_run *run, const char *name, const double *x,
                   size_t n, const struct assay_fields *keys)
{
    double *us = assay_room(run, n, sizeof(*us), "the samples");

    for (size_t i = 0; i < n; i++)
        us[i] = x[i] * 1e6;
    assay_metric(run,
                 &(struct assay_metric){.name = name,
                                        .unit = "us",
                                        .lower_is_better = true,
                                        .value_is_median = true,
                                        .samples = us,
                                        .n = n},
                 keys);
    free(us);
}

static void record_metrics(struct assay_run *run,
                           const struct overhead_point *p,
                           const struct assay_fields *keys)
{
    metric(run, "iter_t", p->iter, p->n, keys);
    metric(run, "work_t", p->worked, p->n, keys);
    metric(run, "overhead", &p->overhead, 1, keys);
    if (p->base)
        metric(run, "base_t", p->base, p->n, keys);
    else
        metric(run, "base_t", &p->base_t, 1, keys);
    assay_metric(run,
                 &(struct assay_metric){.name = "availability",
                                        .unit = "%",
                                        .samples = &p->availability,
                                        .n = 1},
                 keys);
}

/* How the figures came to be: a line of its own, since these are facts of this
 * run and not keys of the measurement. */
static void record_point(struct assay_run *run,
                         const struct overhead_result *result, size_t i,
                         const struct assay_fields *keys)
{
    const struct overhead_point *p = &result->point[i];
    struct assay_fields f = {0};

    assay_fields_append(&f, keys);
    assay_fields_text(&f, "note",
                      p->note == OVERHEAD_PLAIN ? "none"
                                                : overhead_notes[p->note]);
    if (*p->reason)
        assay_fields_text(&f, "reason", p->reason);
    assay_fields_count(&f, "iterations", result->iterations);
    assay_fields_count(&f, "disturbed", p->disturbed);
    assay_fields_real(&f, "seconds", p->seconds);
    assay_fields_real(&f, "base_t", p->base_t * 1e6);
    if (p->has_knee) {
        assay_fields_count(&f, "work", p->work);
        assay_fields_count(&f, "loops", p->loops);
        assay_fields_count(&f, "samples", p->n);
        assay_fields_real(&f, "overhead", p->overhead * 1e6);
        assay_fields_real(&f, "low", p->low * 1e6);
        assay_fields_real(&f, "high", p->high * 1e6);
        assay_fields_real(&f, "coverage", p->coverage);
    }
    assay_line(run, "point", &f);
}

/* "msgsize=8 direction=send pair=n001:n002: why". */
static void record_unstable(const struct overhead_plan *plan,
                            const struct overhead_result *result, size_t i)
{
    const struct assay_map *map = &plan->job->map;
    size_t other = i + plan->pair.pairs;
    char text[TEXT];

    snprintf(text, sizeof(text),
             "msgsize=%llu direction=%s ranks=%zu:%zu (%.80s:%.80s): %s",
             (unsigned long long)result->msgsize,
             result->receive ? "recv" : "send", i, other,
             map->name[map->node[i]], map->name[map->node[other]],
             result->point[i].reason);
    assay_unstable(plan->job->run, text);
}

void overhead_record(const struct overhead_plan *plan,
                     const struct overhead_result *result)
{
    struct assay_run *run = plan->job->run;

    for (size_t i = 0; i < result->pairs; i++) {
        const struct overhead_point *p = &result->point[i];
        struct assay_fields keys = keys_of(plan, result, i), data = {0};

        assay_fields_append(&data, &keys);
        assay_fields_count(&data, "messages", result->verified[i]);
        assay_check(run, "data", (double)result->wrong[i], 0.0, &data);
        record_point(run, result, i, &keys);
        if (p->note == OVERHEAD_UNSTABLE)
            record_unstable(plan, result, i);
        else
            record_metrics(run, p, &keys);
        assay_fields_free(&data);
        assay_fields_free(&keys);
    }
}
