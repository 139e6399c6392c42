/* rates.c - from the times of trials to rates of tasks, nodes and the job. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commbw/rates.h"
#include "lib/assay.h"

static void *room(const struct assay_job *job, size_t n, size_t size)
{
    return assay_room(job->run, n, size, "the samples");
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

static double whole(const struct rates *r)
{
    double sum = 0.0;

    for (size_t n = 0; n < r->job->map.nodes; n++)
        sum += r->amount[n];
    return sum;
}

/* Rates of all trials: of a node, or of the job (node NULL); false where a clock
 * stood still, which is no rate. */
static bool rates_of(const struct rates *r, const size_t *node, double *rate)
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

void rates_check_accesses(const struct rates *r, const char *mode,
                          const char *what, uint64_t local, uint64_t remote,
                          uint64_t all, const struct assay_fields *keys)
{
    uint64_t counted = local + remote;
    struct assay_fields f = {0};
    char name[64], why[160] = "";

    assay_fields_append(&f, keys);
    assay_fields_count(&f, "local", local);
    assay_fields_count(&f, "remote", remote);
    snprintf(name, sizeof(name), "%s.accesses", mode);
    if (counted != all)
        snprintf(why, sizeof(why), "%llu %s were counted, and there are %llu",
                 (unsigned long long)counted, what, (unsigned long long)all);
    assay_check_fact(r->job->run, name, counted == all, why, &f);
    assay_fields_free(&f);
}

/* The node with the lowest median rate. */
static size_t slowest(const struct rates *r, double *samples, double *median)
{
    size_t found = 0;
    bool any = false;

    for (size_t n = 0; n < r->job->map.nodes; n++) {
        struct assay_stats stats;

        if (!(r->amount[n] > 0.0) || !rates_of(r, &n, samples) ||
            assay_stats(samples, r->done, &stats) < 0 ||
            (any && stats.median >= *median))
            continue;
        *median = stats.median;
        found = n;
        any = true;
    }
    return found;
}

void rates_print(const struct rates *r, int digits, bool of_task)
{
    double *samples = room(r->job, r->trials, sizeof(*samples)), median = 0.0;
    struct assay_stats stats;
    size_t node;

    for (size_t i = 0; i < r->done; i++)
        samples[i] = seconds_of(r, i)[r->job->map.nodes];
    if (assay_stats(samples, r->done, &stats) == 0)
        printf("seconds:   %.6f best, %.6f median of %zu\n", stats.min,
               stats.median, r->done);
    if (rates_of(r, NULL, samples) &&
        assay_stats(samples, r->done, &stats) == 0) {
        printf("%s:      %.*f best, %.*f median, of the job\n", r->unit, digits,
               stats.max, digits, stats.median);
        if (of_task)
            printf("%s task: %.*f best, %.*f median\n", r->unit, digits,
                   stats.max / r->tasks, digits, stats.median / r->tasks);
        node = slowest(r, samples, &median);
        printf("%s node: %.*f median of the slowest, %s\n", r->unit, digits,
               median, r->job->map.name[node]);
    }
    free(samples);
}
