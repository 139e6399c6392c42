/* table.c - a table of words in a window, and the tasks that work with it. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commbw/table.h"

/* One task's start and end, on a cache line of its own. */
struct task_times {
    double start, end;
    char apart[48];
};

size_t table_tasks(const struct assay_job *job, uint64_t asked)
{
    size_t local = job->map.size[job->map.node[job->rank]];
    size_t mine = job->cpus / local;

    if (asked > 0)
        return (size_t)asked;
    return mine > 0 ? mine : 1;
}

uint64_t table_bytes(const struct spread *spread, uint64_t private_bytes)
{
    uint64_t bytes = spread_size(spread, 0) * sizeof(uint64_t);

    return bytes > UINT64_MAX - private_bytes ? UINT64_MAX
                                              : bytes + private_bytes;
}

static void form_team(struct table *t)
{
    struct assay_job *job = t->job;
    const struct assay_topology *machine = assay_machine(job->run);
    int threads, fewest;

    if (assay_team_form(&t->team, machine, ASSAY_PIN_NONE, t->tasks, -1) < 0)
        assay_die(job->run, ASSAY_BROKEN, "%zu tasks: %s", t->tasks,
                  strerror(errno));
    threads = (int)t->team.threads;
    MPI_Allreduce(&threads, &fewest, 1, MPI_INT, MPI_MIN, job->comm);
    if ((size_t)fewest < t->tasks)
        assay_job_refuse(job, ASSAY_USAGE,
                         "--tasks=%zu: only %d threads are to be had (see "
                         "OMP_THREAD_LIMIT, OMP_DYNAMIC)",
                         t->tasks, fewest);
}

/* Each task touches its slice first: the pages of a table that all of a rank
 * update are where all of them run. */
static void touch(void *arg, size_t task)
{
    struct table *t = arg;
    uint64_t begin, n;

    assay_team_slice(&t->team, task, t->size, sizeof(*t->word), &begin, &n);
    if (n > 0)
        memset(t->word + begin, 0, n * sizeof(*t->word));
}

void table_open(struct table *t, struct assay_job *job,
                const struct spread *spread, enum window_kind kind,
                size_t tasks, uint64_t private_bytes)
{
    uint64_t bytes = table_bytes(spread, private_bytes);
    char what[64], text[16];

    memset(t, 0, sizeof(*t));
    t->job = job;
    t->spread = *spread;
    t->tasks = tasks;
    t->size = spread_size(spread, (uint64_t)job->rank);
    snprintf(what, sizeof(what), "table and messages take %s a rank",
             assay_size_text(bytes, text));
    assay_job_need(job, bytes, what);
    form_team(t);
    t->times = assay_room(job->run, tasks, sizeof(*t->times), "the times");
    window_open(&t->window, job, job->comm, kind, t->size * sizeof(uint64_t));
    t->word = (uint64_t *)(void *)t->window.base;
    table_each(t, touch, t);
}

void table_close(struct table *t)
{
    window_close(&t->window);
    assay_team_dissolve(&t->team);
    free(t->times);
}

void table_each(struct table *t, assay_team_f *work, void *arg)
{
    if (assay_team_run(&t->team, work, arg) < 0)
        assay_die(t->job->run, ASSAY_BROKEN, "%zu tasks: %s", t->tasks,
                  strerror(errno));
}

/* What the tasks of table_run share. */
struct run {
    struct table *table;
    const struct table_work *work;
};

/* MPI's barrier is one thread's; that of the team holds the others back. */
static void run_task(void *arg, size_t task)
{
    struct run *run = arg;
    struct table *t = run->table;
    struct task_times *times = &t->times[task];

    if (task == 0)
        MPI_Barrier(t->job->comm);
    assay_team_barrier();
    times->start = assay_now();
    run->work->work(run->work->arg, task);
    times->end = assay_now();
    if (run->work->after)
        run->work->after(run->work->arg, task);
}

void table_run(struct table *t, const struct table_work *work,
               struct span *span)
{
    struct run run = {t, work};

    table_each(t, run_task, &run);
    window_fence(&t->window);
    *span = (struct span){t->times[0].start, t->times[0].end, work->active};
    for (size_t i = 1; i < t->tasks; i++) {
        if (t->times[i].start < span->start)
            span->start = t->times[i].start;
        if (t->times[i].end > span->end)
            span->end = t->times[i].end;
    }
}
