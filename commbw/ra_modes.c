/* ra_modes.c - the three ways to update.
 *
 * What happens in work is timed: no error paths, since an error of MPI ends the
 * job. */
#include "config.h"

#include "commbw/draw.h"
#include "commbw/ra.h"

static struct task *task_of(void *arg, size_t number)
{
    struct ra *ra = arg;

    return &ra->task[number];
}

void ra_apply(struct ra *ra, uint64_t offset, uint64_t word)
{
    uint64_t *entry = &ra->table.word[offset];

    if (ra->tasks > 1)
        __atomic_fetch_xor(entry, word, __ATOMIC_RELAXED);
    else
        *entry ^= word;
}

/* This rank's own word, while others may put there: no more than what a fetch
 * and a put do. */
static void change(uint64_t *entry, uint64_t word)
{
    uint64_t value = __atomic_load_n(entry, __ATOMIC_RELAXED);

    __atomic_store_n(entry, value ^ word, __ATOMIC_RELAXED);
}

/* Put back what was fetched for the first n of the window. */
static void put_back(struct task *task, size_t n)
{
    struct window *window = &task->ra->table.window;

    window_flush_all(window);
    for (size_t i = 0; i < n; i++) {
        task->value[i] ^= task->word[i];
        window_put(window, (int)task->at[i].rank,
                   task->at[i].offset * sizeof(uint64_t), &task->value[i],
                   sizeof(uint64_t));
    }
    window_flush_all(window);
    task->remote += n;
}

static void rmo(void *arg, size_t number)
{
    struct task *task = task_of(arg, number);
    struct ra *ra = task->ra;
    struct table *t = &ra->table;
    uint64_t rank = (uint64_t)ra->job->rank, word = task->start;
    size_t n = 0;

    for (uint64_t i = 0; i < task->n; i++) {
        struct word_at at;

        word = random_next(word);
        at = spread_find(&t->spread, word & ra->mask);
        if (at.rank == rank) {
            change(&t->word[at.offset], word);
            task->local++;
            continue;
        }
        task->word[n] = word;
        task->at[n] = at;
        window_get(&t->window, (int)at.rank, at.offset * sizeof(uint64_t),
                   &task->value[n], sizeof(uint64_t));
        if (++n == ra->opt->window) {
            put_back(task, n);
            n = 0;
        }
    }
    put_back(task, n);
}

/* One atomic update, begun. */
static void begin(struct task *task, size_t slot, struct word_at at)
{
    struct window *window = &task->ra->table.window;
    MPI_Aint place = (MPI_Aint)(at.offset * sizeof(uint64_t));
    int rank = (int)at.rank;

    window_check(window, rank, (uint64_t)place, sizeof(uint64_t));
    if (task->ra->opt->atomic == ATOMIC_FETCH)
        MPI_Fetch_and_op(&task->word[slot], &task->value[slot], MPI_UINT64_T,
                         rank, place, MPI_BXOR, window->win);
    else
        MPI_Accumulate(&task->word[slot], 1, MPI_UINT64_T, rank, place, 1,
                       MPI_UINT64_T, MPI_BXOR, window->win);
}

/* Words of this rank's own too: what MPI does is atomic among itself alone. */
static void amo(void *arg, size_t number)
{
    struct task *task = task_of(arg, number);
    struct ra *ra = task->ra;
    uint64_t rank = (uint64_t)ra->job->rank, word = task->start;
    size_t n = 0;

    for (uint64_t i = 0; i < task->n; i++) {
        struct word_at at;

        word = random_next(word);
        at = spread_find(&ra->table.spread, word & ra->mask);
        task->word[n] = word;
        begin(task, n, at);
        task->local += at.rank == rank;
        if (++n == ra->opt->window) {
            window_flush_all(&ra->table.window);
            n = 0;
        }
    }
    window_flush_all(&ra->table.window);
    task->remote = task->n - task->local;
}

static void aggregated(void *arg, size_t number)
{
    struct task *task = task_of(arg, number);
    struct ra *ra = task->ra;
    uint64_t rank = (uint64_t)ra->job->rank, word = task->start;

    for (uint64_t i = 0; i < task->n; i++) {
        struct word_at at;

        word = random_next(word);
        at = spread_find(&ra->table.spread, word & ra->mask);
        if (at.rank == rank) {
            ra_apply(ra, at.offset, word);
            task->local++;
        } else {
            exchange_put(task->exchange, (int)at.rank, word, 0, NULL);
            task->remote++;
        }
    }
    exchange_drain(task->exchange);
}

/* Others may still send. */
static void serve_on(void *arg, size_t number)
{
    exchange_finish(task_of(arg, number)->exchange);
}

const struct mode modes[MODES] = {
    [RMO] = {rmo, NULL, 0.01},
    [AMO] = {amo, NULL, 0.0},
    [AGGREGATED] = {aggregated, serve_on, 0.0},
};
