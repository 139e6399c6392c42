/* table.h - a table of words in a window, and the tasks that work with it: what
 * indexgather and ra have in common.
 *
 * Tasks are threads, equally many on each rank. Task t of rank r is number
 * r * tasks + t of the job. */
#ifndef COMMBW_TABLE_H
#define COMMBW_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "commbw/span.h"
#include "commbw/spread.h"
#include "commbw/window.h"
#include "lib/assay.h"
#include "lib/job.h"
#include "lib/team.h"

struct table {
    struct assay_job *job;
    struct spread spread;
    struct window window;
    uint64_t
        *word; /* [size], of this rank; written by it alone, or one-sided */
    uint64_t size;
    size_t tasks; /* of each rank */
    struct assay_team team;
    struct task_times *times; /* [tasks] of the run */
};

/* Tasks of a rank, where nobody asked for a number: its share of the CPUs that
 * the node's ranks may use. */
size_t table_tasks(const struct assay_job *job, uint64_t asked);

/* Open it, zeroed; private_bytes is what each rank will allocate besides. Ends
 * the job where a node has not that much memory, or not as many threads.
 * Collective. */
void table_open(struct table *t, struct assay_job *job,
                const struct spread *spread, enum window_kind kind,
                size_t tasks, uint64_t private_bytes);
void table_close(struct table *t);

/* Bytes of a rank: its part of the table, and private_bytes; UINT64_MAX: too
 * many to count. */
uint64_t table_bytes(const struct spread *spread, uint64_t private_bytes);

/* Every task calls work, not timed: what it touches first is near to it. */
void table_each(struct table *t, assay_team_f *work, void *arg);

/* Every task calls work, timed, behind a barrier of all; then, not timed,
 * after (or NULL), in which it may help those that are not done yet. active:
 * the times of this rank count. */
struct table_work {
    assay_team_f *work, *after;
    void *arg;
    bool active;
};
/* *span gets the earliest start and the latest end of this rank's tasks.
 * Collective; ends with a barrier. */
void table_run(struct table *t, const struct table_work *work,
               struct span *span);

#endif
