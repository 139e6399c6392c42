/* rates.c - from the times of trials to rates of tasks, nodes and the job. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commbw/rates.h"
#include "lib/assay.h"

static void *room(const struct assay_job *job, size_t n, size_t size)
{
    void *p = calloc(n, size);

    if (!p)
        assay_die(job->run, ASSAY_BROKEN, "no memory for the samples");
    return p;
}

void rates_make(struct rates *r, struct assay_job *job, const char *name,
                const char *unit, size_t trials)
{
    memset(r, 0, sizeof(*r));
    r->job = job;
    r->name = name;
    r->unit = unit;
    r->trials = trials;
    r->mine = room(job, trials, sizeof(*r->mine));
    r->seconds = room(job, trials * (job->map.nodes + 1), sizeof(double));
    r->amount = room(job, job->map.nodes, sizeof(double));
    clocks_compare(r->job, &r->before);
}

void rates_free(struct rates *r)
{
    free(r->mine);
    free(r->seconds);
    free(r->amount);
}

struct span *rates_next(struct rates *r)
{
    return &r->mine[r->done++];
}

/* Of one trial: a node's, or the job's for the number behind the last node. */
static double *seconds_of(const struct rates *r, size_t trial)
{
    return r->seconds + trial * (r->job->map.nodes + 1);
}

void rates_gather(struct rates *r)
{
    const struct assay_job *job = r->job;
    struct span *all = NULL;
    struct clocks after;

    clocks_compare(r->job, &after);
    r->clock_error =
        after.error > r->before.error ? after.error : r->before.error;
    if (job->rank == 0)
        all = room(job, (size_t)job->size, sizeof(*all));
    for (size_t i = 0; i < r->done; i++) {
        struct span s = r->mine[i];

        s.start = clocks_common(&r->before, &after, s.start);
        s.end = clocks_common(&r->before, &after, s.end);
        MPI_Gather(&s, (int)sizeof(s), MPI_BYTE, all, (int)sizeof(s), MPI_BYTE,
                   0, job->comm);
        if (all)
            spans_to_seconds(&job->map, all, seconds_of(r, i));
    }
    free(all);
}

double rates_seconds(const struct rates *r, size_t trial)
{
    return seconds_of(r, trial)[r->job->map.nodes];
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
        double seconds = seconds_of(r, i)[node ? *node : r->job->map.nodes];

        if (!(seconds > 0.0))
            return false;
        rate[i] = amount / seconds;
    }
    return true;
}

/* Is no time shorter than ASSAY_TICKS ticks, of the job (node NULL) or of a node?
 * what: that is a tick. */
static bool timed(const struct rates *r, const size_t *node, double tick,
                  const char *what)
{
    const struct assay_map *map = &r->job->map;
    char text[480];

    for (size_t i = 0; i < r->done; i++) {
        double seconds = seconds_of(r, i)[node ? *node : map->nodes];

        if (seconds >= ASSAY_TICKS * tick)
            continue;
        snprintf(text, sizeof(text),
                 "%s: a trial takes %.3g s%s%.256s, and %s %.3g s: more "
                 "updates (--updates)",
                 r->name, seconds, node ? " on " : "",
                 node ? map->name[*node] : "", what, tick);
        assay_unstable(r->job->run, text);
        return false;
    }
    return true;
}

/* A time that a clock can't tell from its own tick, or from what the clocks of
 * several nodes differ, is no measurement: of the job, or of a node. */
static bool all_timed(const struct rates *r)
{
    const char *ticks = "the clock ticks every";
    double tick = assay_clock_measure().resolution;
    double apart = 2.0 * r->clock_error;
    size_t active = 0;

    for (size_t n = 0; n < r->job->map.nodes; n++) {
        active += r->amount[n] > 0.0;
        if (r->amount[n] > 0.0 && !timed(r, &n, tick, ticks))
            return false;
    }
    if (active > 1 && apart > tick)
        return timed(r, NULL, apart, "clocks of nodes are apart by up to");
    return timed(r, NULL, tick, ticks);
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
    double *samples = room(r->job, r->trials, sizeof(*samples));
    bool good = all_timed(r) && rates_of(r, NULL, samples);

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
    double *samples = room(r->job, r->trials, sizeof(*samples));
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
