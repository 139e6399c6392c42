/* jobstream_report.c - the sums of each node: printed, and in the record. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commbw/jobstream.h"
#include "commbw/span.h"
#include "lib/units.h"

/* On rank 0: what all ranks did. */
struct sums {
    struct jobstream *j;
    struct interval *all; /* [rank][repetition][op] */
    uint64_t *threads;    /* [ranks] of the rank's node */
    double *rate;         /* [repetitions] of one node and kernel */
    double best[OPS];     /* of one node */
};

/* Keys of a node's lines; the caller frees them. stores: of this kernel. */
static struct assay_fields keys_of(const struct sums *s, size_t node,
                                   const char *stores, bool counted)
{
    const struct jobstream *j = s->j;
    const struct assay_map *map = &j->job->map;
    uint64_t elements = j->elements * map->size[node];
    struct assay_fields f = {0};

    assay_fields_text(&f, "host", map->name[node]);
    assay_fields_text(&f, "mode", "job");
    assay_fields_count(&f, "threads", s->threads[map->order[map->first[node]]]);
    assay_fields_count(&f, "elements", elements);
    assay_fields_text(&f, "type", assay_type_words[j->opt->type]);
    assay_fields_text(&f, "kernel", assay_isa_words[j->kernels.isa]);
    assay_fields_text(&f, "pin", assay_pin_words[j->opt->pin]);
    assay_fields_text(&f, "stores", stores);
    assay_fields_text(&f, "write_allocate", counted ? "yes" : "no");
    assay_fields_count(&f, "ranks", map->ranks);
    assay_fields_count(&f, "nodes", map->nodes);
    assay_fields_count(&f, "colocales", map->size[node]);
    assay_fields_text(&f, "confined", j->confined);
    if (j->opt->functional)
        assay_fields_text(&f, "functional", "yes");
    return f;
}

/* Rates of a kernel on a node, of all repetitions but the first; returns how
 * many, or 0 where a time is too short for the clock. */
static size_t rates_of(struct sums *s, size_t node, enum assay_op op,
                       double tick)
{
    const struct jobstream *j = s->j;
    const struct assay_map *map = &j->job->map;
    uint64_t reps = j->opt->repetitions;
    double bytes = (double)assay_work_bytes(
        op, j->elements * map->size[node],
        assay_type_size((enum assay_type)j->opt->type), j->write_allocate);

    for (uint64_t r = 1; r < reps; r++) {
        struct interval all = {0, 0};

        for (size_t i = 0; i < map->size[node]; i++) {
            size_t rank = map->order[map->first[node] + i];
            const struct interval *one = &s->all[(rank * reps + r) * OPS + op];

            if (i == 0 || one->start < all.start)
                all.start = one->start;
            if (i == 0 || one->end > all.end)
                all.end = one->end;
        }
        if (!(all.end - all.start >= ASSAY_TICKS * tick))
            return 0;
        s->rate[r - 1] = 1e-6 * bytes / (all.end - all.start);
    }
    return reps - 1;
}

static void write_metric(const struct sums *s, const char *name,
                         const double *samples, size_t n,
                         struct assay_fields *keys)
{
    const struct assay_metric metric = {
        .name = name, .unit = "MB/s", .samples = samples, .n = n};

    assay_metric(s->j->job->run, &metric, keys);
    assay_fields_free(keys);
}

/* Median, least and most of the four kernels, of each the best. */
static void write_summary(struct sums *s, size_t node)
{
    static const char *const names[] = {"median", "minimum", "maximum"};
    const struct jobstream *j = s->j;
    struct assay_stats stats;

    if (assay_stats(s->best, OPS, &stats) < 0)
        return;
    for (int i = 0; i < 3; i++) {
        const double values[] = {stats.median, stats.min, stats.max};
        struct assay_fields keys = keys_of(
            s, node, assay_stores_words[j->kernels.stores], j->write_allocate);

        write_metric(s, names[i], &values[i], 1, &keys);
    }
}

static void report_node(struct sums *s, size_t node, double tick)
{
    const struct jobstream *j = s->j;
    struct assay_run *run = j->job->run;

    for (int i = 0; i < OPS; i++) {
        enum assay_op op = (enum assay_op)i;
        size_t n = rates_of(s, node, op, tick);
        struct assay_fields keys;

        if (n == 0) {
            assay_unstable(run, "arrays too short for the clock");
            return;
        }
        keys = keys_of(s, node, assay_kernels_stores(&j->kernels, op),
                       j->write_allocate);
        s->best[op] = 0.0;
        for (size_t r = 0; r < n; r++)
            s->best[op] = s->rate[r] > s->best[op] ? s->rate[r] : s->best[op];
        write_metric(s, assay_work(op)->name, s->rate, n, &keys);
    }
    write_summary(s, node);
    if (assay_quiet(run))
        return;
    printf("%-16s %6zu %8llu %10.1f %10.1f %10.1f %10.1f\n",
           j->job->map.name[node], j->job->map.size[node],
           assay_ull(s->threads[j->job->map.order[j->job->map.first[node]]]),
           s->best[0], s->best[1], s->best[2], s->best[3]);
}

/* The worst of all ranks' arrays, under the names of what they prove. */
static void check_data(const struct jobstream *j)
{
    double mine[ASSAY_ARRAYS], all[ASSAY_ARRAYS];
    double tolerance = assay_tolerance((enum assay_type)j->opt->type);
    char name[32];

    for (int i = 0; i < ASSAY_ARRAYS; i++)
        mine[i] = j->worst[i].max;
    MPI_Reduce(mine, all, ASSAY_ARRAYS, MPI_DOUBLE, MPI_MAX, 0, j->job->comm);
    for (int i = 0; i < OPS && j->job->rank == 0; i++) {
        unsigned proof = assay_proof(ASSAY_CYCLE_STREAM, (enum assay_op)i);

        snprintf(name, sizeof(name), "%s.data",
                 assay_work((enum assay_op)i)->name);
        assay_check(j->job->run, name, all[proof], tolerance, NULL);
    }
}

/* Threads where they were asked to be, on all ranks. */
static void check_places(const struct jobstream *j)
{
    struct assay_team *team = (struct assay_team *)&j->team;
    bool asked = team->pin != ASSAY_PIN_NONE;
    uint64_t mine[3] = {assay_team_moved(team) + assay_team_unbound(team),
                        assay_team_crowded(team),
                        team->requested - team->threads},
             all[3];
    struct assay_fields f = {0};

    MPI_Reduce(mine, all, 3, MPI_UINT64_T, MPI_SUM, 0, j->job->comm);
    if (j->job->rank != 0)
        return;
    assay_fields_count(&f, "moved", all[0]);
    assay_fields_count(&f, "crowded", all[1]);
    assay_fields_count(&f, "lacking", all[2]);
    assay_check_fact(j->job->run, "pinning", !asked || all[0] == 0,
                     asked ? "" : "not asked for", &f);
    assay_fields_free(&f);
    if (all[1] > 0)
        assay_warn(j->job->run, "%llu threads shared a core with another",
                   assay_ull(all[1]));
    if (all[2] > 0)
        assay_warn(j->job->run, "%llu threads that were asked for did not run",
                   assay_ull(all[2]));
}

static void print_head(const struct jobstream *j)
{
    if (assay_quiet(j->job->run))
        return;
    if (j->opt->functional)
        puts("# functional only: not the required run");
    printf("# a variant of STREAM, on %zu ranks at once; MB/s of each node, "
           "best of %llu\n",
           j->job->map.ranks, assay_ull(j->opt->repetitions - 1));
    printf("# %llu elements (%s) in each array of each rank; %s stores, "
           "write-allocate %scounted\n",
           assay_ull(j->elements), assay_type_words[j->opt->type],
           assay_stores_words[j->kernels.stores],
           j->write_allocate ? "" : "not ");
    printf("%-16s %6s %8s %10s %10s %10s %10s\n", "node", "ranks", "threads",
           "COPY", "SCALE", "ADD", "TRIAD");
}

void jobstream_report(struct jobstream *j)
{
    const struct assay_job *job = j->job;
    uint64_t n = j->opt->repetitions * OPS;
    struct sums s = {.j = j};
    double tick;

    check_data(j);
    check_places(j);
    if (job->rank == 0) {
        s.all = assay_room(job->run, (size_t)job->size * n, sizeof(*s.all),
                           "the report");
        s.threads = assay_room(job->run, (size_t)job->size, sizeof(*s.threads),
                               "the report");
        s.rate = assay_room(job->run, j->opt->repetitions, sizeof(*s.rate),
                            "the report");
    }
    MPI_Gather(j->mine, (int)(2 * n), MPI_DOUBLE, s.all, (int)(2 * n),
               MPI_DOUBLE, 0, job->comm);
    MPI_Gather(&j->node_threads, 1, MPI_UINT64_T, s.threads, 1, MPI_UINT64_T, 0,
               job->comm);
    if (job->rank != 0)
        return;
    tick = assay_clock_measure().resolution;
    print_head(j);
    for (size_t node = 0; node < job->map.nodes; node++)
        report_node(&s, node, tick);
    free(s.all);
    free(s.threads);
    free(s.rate);
}
