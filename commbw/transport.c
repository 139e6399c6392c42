/* transport.c - which transports there are, and what they have in common. */
#include "config.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "commbw/transport.h"
#include "lib/assay.h"

const char *const transport_words[] = {"mpi", "ucx", "ofi", NULL};

const struct transport_kind *transport_find(enum transport_word word,
                                            const char **why)
{
    *why = NULL;
    switch (word) {
    case TRANSPORT_MPI:
        return &transport_mpi;
    case TRANSPORT_UCX:
#ifdef HAVE_UCX
        return &transport_ucx;
#else
        *why = "this build has no UCX: configure --with-ucx (libucx-dev)";
        return NULL;
#endif
    case TRANSPORT_OFI:
        break;
    }
#ifdef HAVE_LIBFABRIC
    return &transport_ofi;
#else
    *why = "this build has no libfabric: configure --with-libfabric "
           "(libfabric-dev)";
    return NULL;
#endif
}

void transport_open(struct transport *t)
{
    struct assay_job *job = t->job;

    t->size = transport_array(t, (size_t)job->size, sizeof(*t->size));
    MPI_Allgather(&t->window_bytes, 1, MPI_UINT64_T, t->size, 1, MPI_UINT64_T,
                  job->comm);
    t->details[0] = '\0';
    t->kind->open(t);
}

void transport_close(struct transport *t)
{
    t->kind->close(t);
    free(t->size);
    t->size = NULL;
}

void transport_check(const struct transport *t, int target,
                     const struct window_row *row)
{
    uint64_t size = t->size[target], end = window_row_end(row);

    if (end <= size)
        return;
    assay_die(t->job->run, ASSAY_BROKEN,
              "one-sided access to %llu bytes at %llu of rank %d: its window "
              "ends at %llu",
              (unsigned long long)(end - row->at), (unsigned long long)row->at,
              target, (unsigned long long)size);
}

unsigned char *transport_map(const struct transport *t, uint64_t bytes)
{
    unsigned char *p = NULL;

    if (bytes == 0)
        return NULL;
    p = assay_map(bytes, ASSAY_HUGE_NEVER, -1);
    if (!p)
        assay_die(t->job->run, ASSAY_BROKEN, "no memory for %llu bytes: %s",
                  (unsigned long long)bytes, strerror(errno));
    return p;
}

void transport_unmap(unsigned char *p, uint64_t bytes)
{
    if (p)
        assay_unmap(p, bytes, ASSAY_HUGE_NEVER);
}

void *transport_array(const struct transport *t, size_t n, size_t size)
{
    return assay_room(t->job->run, n, size, t->kind->name);
}

void transport_sync(struct transport *t)
{
    MPI_Request request;
    int done = 0;

    MPI_Ibarrier(t->job->comm, &request);
    while (!done) {
        for (size_t i = 0; i < t->threads; i++)
            t->kind->progress(t, i);
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (!done)
            sched_yield();
    }
}
