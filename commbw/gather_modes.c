/* gather_modes.c - the three ways to gather.
 *
 * What happens in work is timed: no error paths, since an error of MPI ends the
 * job. A word of this rank's own part is read where it lies, as a program does
 * that has such a table; all others go through MPI, on this node as well. */
#include "config.h"

#include "commbw/gather.h"

static struct task *task_of(void *arg, size_t number)
{
    struct gather *g = arg;

    return &g->task[number];
}

/* Fetch index[i], if it is another's; returns from whom, or -1. */
static int get(struct task *task, uint64_t i)
{
    struct table *t = &task->gather->table;
    struct word_at at = spread_find(&t->spread, task->index[i]);

    if ((int)at.rank == t->job->rank) {
        task->to[i] = t->word[at.offset];
        task->local++;
        return -1;
    }
    window_get(&t->window, (int)at.rank, at.offset * sizeof(uint64_t),
               &task->to[i], sizeof(uint64_t));
    task->remote++;
    return (int)at.rank;
}

static void ordered(void *arg, size_t number)
{
    struct task *task = task_of(arg, number);
    struct gather *g = task->gather;

    for (uint64_t i = 0; g->gathers && i < g->opt->updates; i++) {
        int rank = get(task, i);

        if (rank >= 0)
            window_flush(&g->table.window, rank);
    }
}

static void unordered(void *arg, size_t number)
{
    struct task *task = task_of(arg, number);
    struct gather *g = task->gather;
    uint64_t in_flight = 0;

    for (uint64_t i = 0; g->gathers && i < g->opt->updates; i++) {
        in_flight += get(task, i) >= 0;
        if (in_flight == g->opt->window) {
            window_flush_all(&g->table.window);
            in_flight = 0;
        }
    }
    window_flush_all(&g->table.window);
}

static void aggregated(void *arg, size_t number)
{
    struct task *task = task_of(arg, number);
    const struct gather *g = task->gather;
    const struct table *t = &g->table;
    uint64_t rank = (uint64_t)t->job->rank, local = 0;

    for (uint64_t i = 0; g->gathers && i < g->opt->updates; i++) {
        struct word_at at = spread_find(&t->spread, task->index[i]);

        if (at.rank == rank) {
            task->to[i] = t->word[at.offset];
            local++;
        } else {
            exchange_put(task->exchange, (int)at.rank, at.offset, i, task->to);
            task->remote++;
        }
    }
    exchange_drain(task->exchange);
    task->local = local;
}

/* Others may still ask. */
static void serve_on(void *arg, size_t number)
{
    exchange_finish(task_of(arg, number)->exchange);
}

const struct mode modes[MODES] = {
    [ORDERED] = {ordered, NULL},
    [UNORDERED] = {unordered, NULL},
    [AGGREGATED] = {aggregated, serve_on},
};
