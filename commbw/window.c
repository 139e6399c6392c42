/* window.c - one-sided moves by MPI: a passive epoch from open to close. */
#include "config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "commbw/window.h"
#include "lib/memory.h"
#include "lib/units.h"

const char *const window_kind_words[] = {"allocate", "create", "shared", NULL};

/* What is known to help, by library. */
static const char *cure(const struct window *window)
{
    if (window->kind == WINDOW_SHARED)
        return "shared windows need all ranks on one node, and memory there "
               "that they may share (/dev/shm)";
    if (strncmp(window->job->library, "Open MPI", 8) == 0)
        return "Debian's Open MPI offers components for one-sided access that "
               "fail between nodes: set OMPI_MCA_osc=^ucx, and no "
               "OMPI_MCA_btl=^... of your own";
    return "the library can't expose memory over this network: see its "
           "settings (UCX_TLS, FI_PROVIDER), or another --kind of window";
}

_Noreturn static void failed(const struct window *window, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;

    MPI_Error_string(code, text, &length);
    assay_die(window->job->run, ASSAY_BROKEN, "MPI, one-sided: %s", text);
}

/* Small, so that it costs a move of 8 bytes nothing. */
static inline void must(const struct window *window, int code)
{
    if (code != MPI_SUCCESS)
        failed(window, code);
}

static uint64_t padded(uint64_t bytes)
{
    return (bytes + WINDOW_PAD - 1) / WINDOW_PAD * WINDOW_PAD;
}

/* MPI_Win_create of memory that is ours. */
static int create(struct window *window, MPI_Aint bytes)
{
    window->base = NULL;
    if (bytes > 0) {
        window->base = assay_map((size_t)bytes, ASSAY_HUGE_NEVER, -1);
        if (!window->base)
            assay_die(window->job->run, ASSAY_BROKEN,
                      "a window of %llu bytes: %s", assay_ull((uint64_t)bytes),
                      strerror(errno));
    }
    return MPI_Win_create(window->base, bytes, 1, MPI_INFO_NULL, window->comm,
                          &window->win);
}

/* Each rank's part on pages of its own, which it touches first. */
static int allocate_shared(struct window *window, MPI_Aint bytes)
{
    MPI_Info info;
    int code;

    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    code = MPI_Win_allocate_shared(bytes, 1, info, window->comm, &window->base,
                                   &window->win);
    MPI_Info_free(&info);
    return code;
}

static int expose(struct window *window)
{
    MPI_Aint bytes = (MPI_Aint)padded(window->bytes);

    switch (window->kind) {
    case WINDOW_ALLOCATE:
        return MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, window->comm,
                                &window->base, &window->win);
    case WINDOW_CREATE:
        return create(window, bytes);
    case WINDOW_SHARED:
        break;
    }
    return allocate_shared(window, bytes);
}

/* What can't be exposed may be found out by some of the ranks only. */
static void expose_all(struct window *window)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    MPI_Errhandler handler;
    int code, length;

    MPI_Comm_get_errhandler(window->comm, &handler);
    MPI_Comm_set_errhandler(window->comm, MPI_ERRORS_RETURN);
    code = expose(window);
    MPI_Comm_set_errhandler(window->comm, handler);
    MPI_Errhandler_free(&handler);
    if (code == MPI_SUCCESS)
        return;
    MPI_Error_string(code, text, &length);
    assay_die(window->job->run, ASSAY_BROKEN,
              "a window (%s) of %llu bytes a rank: MPI: %s: %s",
              window_kind_words[window->kind], assay_ull(window->bytes), text,
              cure(window));
}

void window_open(struct window *window, struct assay_job *job, MPI_Comm comm,
                 enum window_kind kind, uint64_t bytes)
{
    int ranks;

    *window =
        (struct window){.job = job, .comm = comm, .kind = kind, .bytes = bytes};
    if (bytes > INT64_MAX - WINDOW_PAD)
        assay_die(job->run, ASSAY_BROKEN,
                  "a window of %llu bytes: more than there can be",
                  assay_ull(bytes));
    MPI_Comm_size(comm, &ranks);
    window->size = assay_room(job->run, (size_t)ranks, sizeof(*window->size),
                              "the sizes of windows");
    MPI_Allgather(&bytes, 1, MPI_UINT64_T, window->size, 1, MPI_UINT64_T, comm);
    expose_all(window);
    MPI_Win_set_errhandler(window->win, MPI_ERRORS_RETURN);
    must(window, MPI_Win_lock_all(MPI_MODE_NOCHECK, window->win));
}

void window_close(struct window *window)
{
    must(window, MPI_Win_unlock_all(window->win));
    must(window, MPI_Win_free(&window->win));
    if (window->kind == WINDOW_CREATE && window->base)
        assay_unmap(window->base, padded(window->bytes), ASSAY_HUGE_NEVER);
    free(window->size);
    window->size = NULL;
    window->base = NULL;
}

_Noreturn static void beyond(const struct window *window, int target,
                             uint64_t at, uint64_t n)
{
    assay_die(window->job->run, ASSAY_BROKEN,
              "one-sided access to %llu bytes at %llu of rank %d: its window "
              "ends at %llu",
              assay_ull(n), assay_ull(at), target,
              assay_ull(window->size[target]));
}

void window_check(const struct window *window, int target, uint64_t at,
                  uint64_t n)
{
    uint64_t size = window->size[target];

    if (at > size || n > size - at)
        beyond(window, target, at, n);
}

/* Bytes of the next call of MPI, of n that are left. */
static int piece(uint64_t n)
{
    return n < WINDOW_PIECE ? (int)n : WINDOW_PIECE;
}

void window_put(struct window *window, int target, uint64_t at,
                const void *from, uint64_t n)
{
    const unsigned char *p = from;

    window_check(window, target, at, n);
    do {
        int k = piece(n);

        must(window, MPI_Put(p, k, MPI_BYTE, target, (MPI_Aint)at, k, MPI_BYTE,
                             window->win));
        p += k;
        at += (uint64_t)k;
        n -= (uint64_t)k;
    } while (n > 0);
}

void window_get(struct window *window, int target, uint64_t at, void *to,
                uint64_t n)
{
    unsigned char *p = to;

    window_check(window, target, at, n);
    do {
        int k = piece(n);

        must(window, MPI_Get(p, k, MPI_BYTE, target, (MPI_Aint)at, k, MPI_BYTE,
                             window->win));
        p += k;
        at += (uint64_t)k;
        n -= (uint64_t)k;
    } while (n > 0);
}

uint64_t window_row_end(const struct window_row *row)
{
    uint64_t span = assay_product(row->step, row->count - 1);

    if (row->count == 0)
        return row->at;
    if (row->at > UINT64_MAX - row->n || span > UINT64_MAX - row->n - row->at)
        return UINT64_MAX;
    return row->at + span + row->n;
}

/* Blocks that one call moves each? The bounds hold for all of them. */
static bool check_row(const struct window *window, int target,
                      const struct window_row *row)
{
    uint64_t end = window_row_end(row);

    if (end > window->size[target])
        beyond(window, target, row->at, end - row->at);
    return row->n <= WINDOW_PIECE;
}

void window_put_row(struct window *window, int target,
                    const struct window_row *row, const void *from)
{
    const unsigned char *p = from;
    bool whole = check_row(window, target, row);
    MPI_Win win = window->win;
    MPI_Aint at = (MPI_Aint)row->at;
    int n = piece(row->n);

    for (uint64_t i = 0; whole && i < row->count; i++) {
        must(window, MPI_Put(p, n, MPI_BYTE, target, at, n, MPI_BYTE, win));
        p += row->step;
        at += (MPI_Aint)row->step;
    }
    for (uint64_t i = 0; !whole && i < row->count; i++)
        window_put(window, target, row->at + i * row->step, p + i * row->step,
                   row->n);
}

void window_get_row(struct window *window, int target,
                    const struct window_row *row, void *to)
{
    unsigned char *p = to;
    bool whole = check_row(window, target, row);
    MPI_Win win = window->win;
    MPI_Aint at = (MPI_Aint)row->at;
    int n = piece(row->n);

    for (uint64_t i = 0; whole && i < row->count; i++) {
        must(window, MPI_Get(p, n, MPI_BYTE, target, at, n, MPI_BYTE, win));
        p += row->step;
        at += (MPI_Aint)row->step;
    }
    for (uint64_t i = 0; !whole && i < row->count; i++)
        window_get(window, target, row->at + i * row->step, p + i * row->step,
                   row->n);
}

void window_flush(struct window *window, int target)
{
    must(window, MPI_Win_flush(target, window->win));
}

/* Not by MPI_Win_flush_all: MPICH 4.0 returns from it before what it gets in
 * blocks of some hundred KiB is there, and from any flush after it, too. */
void window_flush_all(struct window *window)
{
    int ranks;

    MPI_Comm_size(window->comm, &ranks);
    for (int target = 0; target < ranks; target++)
        if (window->size[target] > 0)
            window_flush(window, target);
}

void window_fence(struct window *window)
{
    must(window, MPI_Win_sync(window->win));
    MPI_Barrier(window->comm);
    must(window, MPI_Win_sync(window->win));
}
