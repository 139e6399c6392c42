/* transport_mpi.c - blocks moved by MPI's windows. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "commbw/transport.h"
#include "lib/run.h"

static void mpi_open(struct transport *t)
{
    struct window *w = calloc(1, sizeof(*w));

    if (!w)
        assay_die(t->job->run, ASSAY_BROKEN, "window: %s", strerror(ENOMEM));
    t->own = w;
    window_open(w, t->job, t->job->comm, t->window_kind, t->window_bytes);
    t->window = w->base;
    t->buffer = transport_map(t, t->buffer_bytes);
}

static void mpi_close(struct transport *t)
{
    window_close(t->own);
    transport_unmap(t->buffer, t->buffer_bytes);
    free(t->own);
}

static void mpi_sync(struct transport *t)
{
    window_fence(t->own);
}

static void mpi_put(struct transport *t, size_t thread, int target, uint64_t at,
                    const unsigned char *p, uint64_t n)
{
    (void)thread;
    window_put(t->own, target, at, p, n);
}

static void mpi_get(struct transport *t, size_t thread, int target, uint64_t at,
                    unsigned char *p, uint64_t n)
{
    (void)thread;
    window_get(t->own, target, at, p, n);
}

static void mpi_flush(struct transport *t, size_t thread, int target)
{
    (void)thread;
    window_flush(t->own, target);
}

/* The library gets on in every call of any thread. */
static void mpi_progress(struct transport *t, size_t thread)
{
    (void)t;
    (void)thread;
}

const struct transport_kind transport_mpi = {
    .name = "mpi",
    .open = mpi_open,
    .close = mpi_close,
    .sync = mpi_sync,
    .put = mpi_put,
    .get = mpi_get,
    .flush = mpi_flush,
    .progress = mpi_progress,
};
