/* gather_measure.c - the table, the tasks, and the trials with their proof. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commbw/draw.h"
#include "commbw/gather.h"

/* Answer a message; an offset that is not of this rank's part came wrong. */
static void answer(void *with, int from, const uint64_t *offset, size_t n,
                   uint64_t *values)
{
    const struct table *t = with;
    uint64_t bad;

    if (bucket_answer(t->word, t->size, offset, n, values, &bad) < 0)
        assay_die(t->job->run, ASSAY_BROKEN,
                  "rank %d asks for word %llu of %llu", from,
                  (unsigned long long)bad, (unsigned long long)t->size);
}

static uint64_t *words_of(const struct gather *g)
{
    return assay_room(g->job->run, g->opt->updates, sizeof(uint64_t),
                      "the words of a task");
}

static void make_task(struct gather *g, size_t number)
{
    struct task *task = &g->task[number];
    const struct exchange_kind kind = {.job = g->job,
                                       .comm = g->job->comm,
                                       .room = g->opt->buffer,
                                       .answers = true,
                                       .serve = answer,
                                       .with = &g->table};

    task->gather = g;
    if (g->opt->mode == AGGREGATED || g->opt->mode == MODES)
        task->exchange = exchange_open(&kind);
    if (!g->gathers)
        return;
    task->index = words_of(g);
    task->to = words_of(g);
}

/* Indices of a task, by itself: it touches them first. */
static void draw_task(void *arg, size_t number)
{
    struct gather *g = arg;
    struct task *task = &g->task[number];
    uint64_t of_job = (uint64_t)g->job->rank * g->tasks + number;
    struct draw draw = draw_start(g->opt->seed, of_job);

    for (uint64_t i = 0; g->gathers && i < g->opt->updates; i++)
        task->index[i] = draw_index(&draw, g->table.spread.total);
}

static void fill_table(struct gather *g)
{
    struct word_at at = {.rank = (uint64_t)g->job->rank};

    for (at.offset = 0; at.offset < g->table.size; at.offset++)
        g->table.word[at.offset] =
            draw_value(g->opt->seed, spread_number(&g->table.spread, at));
    window_fence(&g->table.window);
}

/* Bytes of a rank besides the table; UINT64_MAX: too many to count. */
static uint64_t private_bytes(const struct gather *g)
{
    uint64_t words = assay_product(g->opt->updates, 2 * sizeof(uint64_t));
    uint64_t buffers = exchange_bytes((uint64_t)g->job->size, g->opt->buffer);

    if (words > UINT64_MAX - buffers)
        return UINT64_MAX;
    return assay_product(words + buffers, g->tasks);
}

static void write_opt(const struct gather *g)
{
    struct assay_fields more = {0};

    assay_job_fields(g->job, &more);
    assay_fields_count(&more, "threads", g->tasks);
    assay_fields_count(&more, "table_words", g->table.spread.total);
    assay_fields_count(&more, "memory_needed",
                       table_bytes(&g->table.spread, private_bytes(g)));
    assay_opt(g->job->run, &more);
    assay_fields_free(&more);
}

/* Of those modes that will be run. */
static void find_paths(struct gather *g)
{
    if (g->opt->mode != AGGREGATED)
        paths_find(&g->moves, g->job, NULL, NULL);
    if (g->opt->mode == AGGREGATED || g->opt->mode == MODES)
        messages_find(&g->messages, g->job);
}

void gather_make(struct gather *g, struct assay_job *job,
                 const struct options *opt)
{
    struct spread spread;

    memset(g, 0, sizeof(*g));
    g->job = job;
    g->opt = opt;
    g->tasks = table_tasks(job, opt->tasks);
    g->gathers = opt->gatherers == GATHER_ALL || job->rank == 0;
    if (opt->watchdog > 0.0)
        assay_job_watch(job, opt->watchdog);
    if (spread_each(&spread, opt->table, (uint64_t)job->size,
                    opt->distribution == SPREAD_CYCLIC) < 0)
        assay_job_refuse(job, ASSAY_USAGE,
                         "--table=%llu: with %d ranks, more words than can be "
                         "counted",
                         (unsigned long long)opt->table, job->size);
    find_paths(g);
    table_open(&g->table, job, &spread, opt->kind, g->tasks, private_bytes(g));
    write_opt(g);
    g->task = assay_room(job->run, g->tasks, sizeof(*g->task), "the tasks");
    for (size_t i = 0; i < g->tasks; i++)
        make_task(g, i);
    table_each(&g->table, draw_task, g);
    fill_table(g);
}

void gather_free(struct gather *g)
{
    for (size_t i = 0; i < g->tasks; i++) {
        free(g->task[i].index);
        free(g->task[i].to);
        if (g->task[i].exchange)
            exchange_close(g->task[i].exchange);
    }
    free(g->task);
    table_close(&g->table);
}

double gather_tasks(const struct gather *g)
{
    double ranks = g->opt->gatherers == GATHER_ALL ? g->job->size : 1;

    return ranks * (double)g->tasks;
}

/* Nothing of an earlier trial may pass for this one's. */
static void forget(void *arg, size_t number)
{
    struct gather *g = arg;
    struct task *task = &g->task[number];

    task->local = task->remote = 0;
    for (uint64_t i = 0; g->gathers && i < g->opt->updates; i++)
        task->to[i] = ~draw_value(g->opt->seed, task->index[i]);
}

/* Every entry must be the word that its index names. */
static void verify(const struct gather *g, struct outcome *outcome)
{
    for (size_t t = 0; t < g->tasks && g->gathers; t++) {
        const struct task *task = &g->task[t];

        for (uint64_t i = 0; i < g->opt->updates; i++) {
            uint64_t want = draw_value(g->opt->seed, task->index[i]);

            if (task->to[i] == want || outcome->wrong++ > 0)
                continue;
            snprintf(outcome->first, sizeof(outcome->first),
                     "entry %llu of task %zu of rank %d: word %llu of the "
                     "table is %016llx, not %016llx",
                     (unsigned long long)i, t, g->job->rank,
                     (unsigned long long)task->index[i],
                     (unsigned long long)want, (unsigned long long)task->to[i]);
        }
    }
}

static void run_once(struct gather *g, struct outcome *outcome,
                     struct span *span)
{
    const struct mode *mode = &modes[outcome->mode];
    const struct table_work work = {mode->work, mode->after, g, g->gathers};

    table_each(&g->table, forget, g);
    assay_job_progress(g->job, mode_words[outcome->mode]);
    table_run(&g->table, &work, span);
    assay_job_progress(g->job, "verifying");
    verify(g, outcome);
}

/* Counts of all ranks, and the first wrong one of the lowest rank. */
static void join(const struct gather *g, struct outcome *outcome)
{
    const struct assay_job *job = g->job;
    uint64_t mine[3] = {outcome->wrong, 0, 0}, all[3];
    int has = outcome->wrong ? job->rank : job->size, first;

    for (size_t t = 0; t < g->tasks; t++) {
        mine[1] += g->task[t].local;
        mine[2] += g->task[t].remote;
    }
    MPI_Allreduce(mine, all, 3, MPI_UINT64_T, MPI_SUM, job->comm);
    outcome->wrong = all[0];
    outcome->local = all[1];
    outcome->remote = all[2];
    MPI_Allreduce(&has, &first, 1, MPI_INT, MPI_MIN, job->comm);
    if (first < job->size)
        MPI_Bcast(outcome->first, (int)sizeof(outcome->first), MPI_BYTE, first,
                  job->comm);
}

static void set_amounts(const struct gather *g, struct rates *rates)
{
    const struct assay_map *map = &g->job->map;
    double each = 8e-6 * (double)g->opt->updates * (double)g->tasks;

    rates->tasks = gather_tasks(g);
    for (size_t n = 0; n < map->nodes; n++)
        rates->amount[n] = g->opt->gatherers == GATHER_ALL
                               ? each * (double)map->size[n]
                               : (n == map->node[0] ? each : 0.0);
}

void gather_measure(struct gather *g, int mode, struct outcome *outcome)
{
    struct assay_fields keys = gather_keys(g, mode);
    struct counters before;
    struct span warm;

    memset(outcome, 0, sizeof(*outcome));
    outcome->mode = mode;
    rates_make(&outcome->rates, g->job, "rate", "MB/s", g->opt->trials);
    set_amounts(g, &outcome->rates);
    run_once(g, outcome, &warm);
    paths_begin(g->job, &before);
    for (uint64_t i = 0; i < g->opt->trials; i++)
        run_once(g, outcome, rates_next(&outcome->rates));
    paths_end(g->job, &before, &keys);
    assay_fields_free(&keys);
    rates_gather(&outcome->rates);
    join(g, outcome);
}
