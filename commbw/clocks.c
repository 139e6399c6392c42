/* clocks.c - times of several nodes on one clock. */
#include "config.h"

#include <float.h>

#include "commbw/clocks.h"
#include "lib/clock.h"

enum { ROUNDS = 40, TAG = 32 };

/* Rank 0's half: say what time it is, when asked. */
static void answer(struct assay_job *job, int rank)
{
    for (int i = 0; i < ROUNDS; i++) {
        double now;

        MPI_Recv(&now, 1, MPI_DOUBLE, rank, TAG, job->comm, MPI_STATUS_IGNORE);
        now = assay_now();
        MPI_Send(&now, 1, MPI_DOUBLE, rank, TAG, job->comm);
    }
}

/* The other half: what it says was true between asking and hearing. */
static void ask(struct assay_job *job, struct clocks *clocks)
{
    double shortest = DBL_MAX;

    for (int i = 0; i < ROUNDS; i++) {
        double start = assay_now(), there, end;

        MPI_Send(&start, 1, MPI_DOUBLE, 0, TAG, job->comm);
        MPI_Recv(&there, 1, MPI_DOUBLE, 0, TAG, job->comm, MPI_STATUS_IGNORE);
        end = assay_now();
        if (end - start >= shortest)
            continue;
        shortest = end - start;
        clocks->offset = there - (start + end) / 2.0;
    }
    clocks->error = shortest / 2.0;
}

void clocks_compare(struct assay_job *job, struct clocks *clocks)
{
    const struct assay_map *map = &job->map;
    double mine[2];

    *clocks = (struct clocks){.at = assay_now()};
    if (map->nodes == 1)
        return;
    for (size_t n = 1; n < map->nodes; n++) {
        int rank = (int)map->order[map->first[n]];

        if (job->rank == 0)
            answer(job, rank);
        else if (job->rank == rank)
            ask(job, clocks);
    }
    mine[0] = clocks->offset;
    mine[1] = clocks->error;
    MPI_Bcast(mine, 2, MPI_DOUBLE, 0, job->node);
    clocks->offset = mine[0];
    MPI_Allreduce(&mine[1], &clocks->error, 1, MPI_DOUBLE, MPI_MAX, job->comm);
    clocks->at = assay_now();
}

double clocks_common(const struct clocks *before, const struct clocks *after,
                     double time)
{
    double span = after->at - before->at;
    double part = span > 0.0 ? (time - before->at) / span : 0.0;

    return time + before->offset + part * (after->offset - before->offset);
}
