/* messages.c - send some bytes, and see where they went. */
#include "config.h"

#include <stdlib.h>

#include "commbw/messages.h"
#include "lib/run.h"

enum { TAG = 32 };

/* Take what is there to be taken, from whomever. */
static void receive(const struct assay_job *job, void *buffer, uint64_t bytes)
{
    MPI_Status status;
    int there;

    MPI_Iprobe(MPI_ANY_SOURCE, TAG, job->comm, &there, &status);
    if (there)
        MPI_Recv(buffer, (int)bytes, MPI_BYTE, status.MPI_SOURCE, TAG,
                 job->comm, &status);
}

/* Nobody knows who sends to him: a synchronous send is complete when it is
 * being received, and when all are in the barrier, all are. */
static void move(void *arg, int peer, uint64_t bytes)
{
    const struct assay_job *job = arg;
    void *from = assay_room(job->run, bytes, 1, "messages");
    void *to = assay_room(job->run, bytes, 1, "messages");
    MPI_Request sent = MPI_REQUEST_NULL, all = MPI_REQUEST_NULL;
    MPI_Status status;
    int done = 0;

    if (peer >= 0)
        MPI_Issend(from, (int)bytes, MPI_BYTE, peer, TAG, job->comm, &sent);
    for (bool waiting = false; !done;) {
        receive(job, to, bytes);
        if (waiting) {
            MPI_Test(&all, &done, &status);
            continue;
        }
        MPI_Test(&sent, &done, &status);
        if (done) {
            MPI_Ibarrier(job->comm, &all);
            waiting = true;
            done = 0;
        }
    }
    free(from);
    free(to);
}

void messages_find(struct paths *paths, struct assay_job *job)
{
    paths_find(paths, job, move, job);
}
