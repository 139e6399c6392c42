/* rates.c - from the seconds of trials to rates of tasks, nodes and the job. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commbw/rates.h"
#include "lib/assay.h"

enum { TICKS = 20 }; /* of the clock; fewer, and it decides the figure */

static double *room(const struct assay_job *job, size_t n)
{
    double *p = calloc(n, sizeof(*p));

    if (!p)
        assay_die(job->run, ASSAY_BROKEN, "no memory for the samples");
    return p;
}

void rates_make(struct rates *r, const struct assay_job *job, const char *name,
                const char *unit, size_t trials)
{
    memset(r, 0, sizeof(*r));
    r->job = job;
    r->name = name;
    r->unit = unit;
    r->trials = trials;
    r->seconds = room(job, trials * job->map.nodes);
    r->amount = room(job, job->map.nodes);
}

void rates_free(struct rates *r)
{
    free(r->seconds);
    free(r->amount);
}

double *rates_next(struct rates *r)
{
    return r->seconds + r->done++ * r->job->map.nodes;
}

double rates_seconds(const struct rates *r, size_t trial)
{
    const double *seconds = r->seconds + trial * r->job->map.nodes;
    double longest = 0.0;

    for (size_t n = 0; n < r->job->map.nodes; n++)
        if (seconds[n] > longest)
            longest = seconds[n];
    return longest;
}

static double whole(const struct rates *r)
{
    double sum = 0.0;

    for (size_t n = 0; n < r->job->map.nodes; n++)
        sum += r->amount[n];
    return sum;
}

bool rates_of(const struct rates *r, const size_t *node, double *rate)
{
    double amount = node ? r->amount[*node] : whole(r);

    for (size_t i = 0; i < r->done; i++) {
        double seconds = node ? r->seconds[i * r->job->map.nodes + *node]
                              : rates_seconds(r, i);

        if (!(seconds > 0.0))
            return false;
        rate[i] = amount / seconds;
    }
    return true;
}

/* A time that the clock can't tell from its own tick is no measurement. */
static bool timed(const struct rates *r)
{
    double tick = assay_clock_measure().resolution;
    char text[200];

    for (size_t i = 0; i < r->done; i++) {
        double seconds = rates_seconds(r, i);

        if (seconds >= TICKS * tick)
            continue;
        snprintf(text, sizeof(text),
                 "%s: a trial takes %.3g s, and the clock ticks every %.3g s: "
                 "more updates (--updates)",
                 r->name, seconds, tick);
        assay_unstable(r->job->run, text);
        return false;
    }
    return true;
}

static void write_one(const struct rates *r, const struct assay_fields *keys,
                      const char *per, const char *host, const double *samples)
{
    struct assay_fields f = {0};
    struct assay_metric metric = {
        .name = r->name, .unit = r->unit, .samples = samples, .n = r->done};

    if (host)
        assay_fields_text(&f, "host", host);
    assay_fields_append(&f, keys);
    assay_fields_text(&f, "per", per);
    assay_metric(r->job->run, &metric, &f);
    assay_fields_free(&f);
}

static void write_nodes(const struct rates *r, const struct assay_fields *keys,
                        double *samples)
{
    for (size_t n = 0; n < r->job->map.nodes; n++)
        if (r->amount[n] > 0.0 && rates_of(r, &n, samples))
            write_one(r, keys, "node", r->job->map.name[n], samples);
}

bool rates_write(const struct rates *r, const struct assay_fields *keys)
{
    double *samples = room(r->job, r->trials);
    bool good = timed(r) && rates_of(r, NULL, samples);

    if (good) {
        write_one(r, keys, "job", NULL, samples);
        for (size_t i = 0; i < r->done; i++)
            samples[i] /= r->tasks;
        write_one(r, keys, "task", NULL, samples);
        write_nodes(r, keys, samples);
    }
    free(samples);
    return good;
}

size_t rates_slowest(const struct rates *r, double *median)
{
    double *samples = room(r->job, r->trials);
    size_t slowest = 0;
    bool any = false;

    for (size_t n = 0; n < r->job->map.nodes; n++) {
        struct assay_stats stats;

        if (!(r->amount[n] > 0.0) || !rates_of(r, &n, samples) ||
            assay_stats(samples, r->done, &stats) < 0 ||
            (any && stats.median >= *median))
            continue;
        *median = stats.median;
        slowest = n;
        any = true;
    }
    free(samples);
    return slowest;
}
