/* transport_mpi.c - blocks moved by MPI's windows. */
#include "config.h"

#include <stdlib.h>

#include "commbw/transport.h"

enum { PAGE = 4096 };

/* The window, and what the buffer's memory begins with. */
struct own {
    struct window window; /* first */
    unsigned char *memory;
    uint64_t bytes;
};

/* The buffer lies half a page from where windows lie in their pages: a library
 * may put them behind a word of its own, and where a copy writes a few bytes
 * behind where it reads, of the addresses' low 12 bits, some processors take one
 * for the other, and copy at a tenth of the rate. */
static uint64_t low_bits(const struct transport *t)
{
    uint64_t low = t->window_bytes ? (uintptr_t)t->window % PAGE : 0;

    MPI_Allreduce(MPI_IN_PLACE, &low, 1, MPI_UINT64_T, MPI_MAX, t->job->comm);
    return (low / 64 * 64 + PAGE / 2) % PAGE;
}

static void mpi_open(struct transport *t)
{
    struct own *own = transport_array(t, 1, sizeof(*own));
    uint64_t low;

    t->own = own;
    window_open(&own->window, t->job, t->job->comm, t->window_kind,
                t->window_bytes);
    t->window = own->window.base;
    own->bytes = t->buffer_bytes ? t->buffer_bytes + PAGE : 0;
    low = low_bits(t);
    own->memory = transport_map(t, own->bytes);
    t->buffer = own->memory ? own->memory + low : NULL;
}

static void mpi_close(struct transport *t)
{
    struct own *own = t->own;

    window_close(&own->window);
    transport_unmap(own->memory, own->bytes);
    free(own);
}

static void mpi_sync(struct transport *t)
{
    window_fence(t->own);
}

static void mpi_put(struct transport *t, size_t thread, int target,
                    const struct window_row *row)
{
    (void)thread;
    window_put_row(t->own, target, row, t->buffer + row->at);
}

static void mpi_get(struct transport *t, size_t thread, int target,
                    const struct window_row *row)
{
    (void)thread;
    window_get_row(t->own, target, row, t->buffer + row->at);
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
