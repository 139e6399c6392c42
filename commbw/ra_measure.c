/* ra_measure.c - the table, the tasks, and the trials with their proof. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "commbw/draw.h"
#include "commbw/ra.h"

enum { UPDATES = 4, WARM = 256 }; /* times the table; of a task, to warm up */

struct stretch stretch_of(uint64_t updates, uint64_t number, uint64_t of)
{
    uint64_t each = updates / of, more = updates % of;
    uint64_t before = number < more ? number : more;

    return (struct stretch){number * each + before, each + (number < more)};
}

/* Updates that came in a message: to words of this rank, or they came wrong. */
static void serve(void *with, int from, const uint64_t *word, size_t n,
                  uint64_t *answers)
{
    struct ra *ra = with;
    uint64_t rank = (uint64_t)ra->job->rank;

    (void)answers;
    for (size_t i = 0; i < n; i++) {
        struct word_at at = spread_find(&ra->table.spread, word[i] & ra->mask);

        if (at.rank != rank)
            assay_die(ra->job->run, ASSAY_BROKEN,
                      "rank %d sent an update of rank %llu's", from,
                      (unsigned long long)at.rank);
        ra_apply(ra, at.offset, word[i]);
    }
}

static void *room(const struct ra *ra, size_t n, size_t size)
{
    return assay_room(ra->job->run, n, size, "the tasks");
}

/* The tasks of a rank share its stretch, so that what undoes it need not know
 * of them. */
static void make_task(struct ra *ra, size_t number)
{
    struct task *task = &ra->task[number];
    struct stretch mine = stretch_of(ra->updates, (uint64_t)ra->job->rank,
                                     (uint64_t)ra->job->size);
    struct stretch part = stretch_of(mine.n, number, ra->tasks);
    const struct exchange_kind kind = {.job = ra->job,
                                       .comm = ra->job->comm,
                                       .room = ra->opt->buffer,
                                       .answers = false,
                                       .serve = serve,
                                       .with = ra};

    task->ra = ra;
    task->start = random_at(ra->offset + mine.first + part.first);
    task->n = part.n;
    task->word = room(ra, ra->opt->window, sizeof(*task->word));
    task->value = room(ra, ra->opt->window, sizeof(*task->value));
    task->at = room(ra, ra->opt->window, sizeof(*task->at));
    if (ra->opt->mode == AGGREGATED || ra->opt->mode == MODES)
        task->exchange = exchange_open(&kind);
}

static uint64_t private_bytes(const struct ra *ra)
{
    uint64_t buffers = exchange_bytes((uint64_t)ra->job->size, ra->opt->buffer);
    uint64_t flight = ra->opt->window * 4 * sizeof(uint64_t);

    return assay_product(buffers > UINT64_MAX - flight ? UINT64_MAX
                                                       : buffers + flight,
                         ra->tasks);
}

static void write_opt(const struct ra *ra)
{
    struct assay_fields more = {0};

    assay_job_fields(ra->job, &more);
    assay_fields_count(&more, "threads", ra->tasks);
    assay_fields_count(&more, "updates_made", ra->updates);
    assay_fields_count(&more, "memory_needed",
                       table_bytes(&ra->table.spread, private_bytes(ra)));
    assay_opt(ra->job->run, &more);
    assay_fields_free(&more);
}

/* From the options to numbers that fit each other. */
static void plan(struct ra *ra)
{
    const struct options *opt = ra->opt;
    struct spread *spread = &ra->table.spread;

    if (opt->table & (opt->table - 1))
        assay_job_refuse(ra->job, ASSAY_USAGE, "--table=%llu: no power of 2",
                         (unsigned long long)opt->table);
    ra->mask = opt->table - 1;
    ra->updates = opt->updates;
    if (ra->updates == 0)
        ra->updates = assay_product(UPDATES, opt->table);
    ra->offset = assay_product(opt->seed, ra->updates);
    if (ra->updates > RANDOM_PERIOD || ra->offset > RANDOM_PERIOD - ra->updates)
        assay_job_refuse(ra->job, ASSAY_USAGE,
                         "--seed=%llu: with %llu updates, behind the end of "
                         "the stream",
                         (unsigned long long)opt->seed,
                         (unsigned long long)ra->updates);
    if (spread_make(spread, opt->table, (uint64_t)ra->job->size,
                    opt->distribution == SPREAD_CYCLIC) < 0)
        assay_job_refuse(ra->job, ASSAY_USAGE,
                         "--table=%llu: more words than can be counted",
                         (unsigned long long)opt->table);
}

/* Of those modes that will be run. */
static void find_paths(struct ra *ra)
{
    if (ra->opt->mode != AGGREGATED)
        paths_find(&ra->moves, ra->job, NULL, NULL);
    if (ra->opt->mode == AGGREGATED || ra->opt->mode == MODES)
        messages_find(&ra->messages, ra->job);
}

void ra_make(struct ra *ra, struct assay_job *job, const struct options *opt)
{
    struct spread spread;

    memset(ra, 0, sizeof(*ra));
    ra->job = job;
    ra->opt = opt;
    ra->tasks = table_tasks(job, opt->tasks);
    if (opt->watchdog > 0.0)
        assay_job_watch(job, opt->watchdog);
    plan(ra);
    find_paths(ra);
    spread = ra->table.spread;
    table_open(&ra->table, job, &spread, opt->kind, ra->tasks,
               private_bytes(ra));
    write_opt(ra);
    ra->task = room(ra, ra->tasks, sizeof(*ra->task));
    for (size_t i = 0; i < ra->tasks; i++)
        make_task(ra, i);
}

void ra_free(struct ra *ra)
{
    for (size_t i = 0; i < ra->tasks; i++) {
        free(ra->task[i].word);
        free(ra->task[i].value);
        free(ra->task[i].at);
        if (ra->task[i].exchange)
            exchange_close(ra->task[i].exchange);
    }
    free(ra->task);
    table_close(&ra->table);
}

/* At most so many updates of each task; when they were made, to span. */
static void run_once(struct ra *ra, const struct mode *mode, uint64_t most,
                     struct span *span)
{
    const struct table_work work = {mode->work, mode->after, ra, true};
    uint64_t *n = room(ra, ra->tasks, sizeof(*n));

    for (size_t i = 0; i < ra->tasks; i++) {
        struct task *task = &ra->task[i];

        n[i] = task->n;
        task->n = n[i] < most ? n[i] : most;
        task->local = task->remote = 0;
    }
    ra_reset(ra);
    table_run(&ra->table, &work, span);
    for (size_t i = 0; i < ra->tasks; i++)
        ra->task[i].n = n[i];
    free(n);
}

/* Undo, and count what is wrong in the job. */
static void prove(struct ra *ra, struct outcome *outcome, size_t trial)
{
    const struct assay_job *job = ra->job;
    uint64_t first = UINT64_MAX, mine, all, least;

    mine = ra_undo(ra, &first);
    MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, job->comm);
    MPI_Allreduce(&first, &least, 1, MPI_UINT64_T, MPI_MIN, job->comm);
    outcome->wrong[trial] = (double)all;
    if (all > 0 && outcome->first == UINT64_MAX)
        outcome->first = least;
}

static void count_updates(const struct ra *ra, struct outcome *outcome)
{
    uint64_t mine[2] = {0, 0}, all[2];

    for (size_t i = 0; i < ra->tasks; i++) {
        mine[0] += ra->task[i].local;
        mine[1] += ra->task[i].remote;
    }
    MPI_Allreduce(mine, all, 2, MPI_UINT64_T, MPI_SUM, ra->job->comm);
    outcome->local = all[0];
    outcome->remote = all[1];
}

static void set_amounts(const struct ra *ra, struct rates *rates)
{
    const struct assay_map *map = &ra->job->map;

    rates->tasks = (double)map->ranks * (double)ra->tasks;
    for (size_t r = 0; r < map->ranks; r++)
        rates->amount[map->node[r]] +=
            1e-9 * (double)stretch_of(ra->updates, r, map->ranks).n;
}

void ra_measure(struct ra *ra, int mode, struct outcome *outcome)
{
    struct assay_fields keys = ra_keys(ra, mode);
    struct counters before;
    struct span warm;

    memset(outcome, 0, sizeof(*outcome));
    outcome->mode = mode;
    outcome->first = UINT64_MAX;
    outcome->wrong = room(ra, ra->opt->trials, sizeof(*outcome->wrong));
    rates_make(&outcome->rates, ra->job, "gups", "GUPS", ra->opt->trials);
    set_amounts(ra, &outcome->rates);
    assay_job_progress(ra->job, "warming up");
    run_once(ra, &modes[mode], WARM, &warm);
    paths_begin(ra->job, &before);
    for (uint64_t i = 0; i < ra->opt->trials; i++) {
        assay_job_progress(ra->job, mode_words[mode]);
        run_once(ra, &modes[mode], UINT64_MAX, rates_next(&outcome->rates));
        prove(ra, outcome, i);
    }
    paths_end(ra->job, &before, &keys);
    assay_fields_free(&keys);
    rates_gather(&outcome->rates);
    count_updates(ra, outcome);
}
