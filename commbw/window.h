/* window.h - memory that other ranks read and write, and blocks that are moved
 * one-sidedly: MPI's windows, with sizes of 64 bits and bounds of our own.
 *
 *     struct window window;
 *     window_open(&window, job, job->comm, WINDOW_ALLOCATE, bytes);
 *     window_put(&window, target, at, from, n);
 *     window_flush(&window, target);
 *     window_close(&window);
 *
 * One passive epoch stands from open to close. Errors end the job, so calls
 * need no check. Moves, flushes and checks may be called by several threads at
 * once where MPI was asked for MPI_THREAD_MULTIPLE; open, close and fence by
 * one. */
#ifndef COMMBW_WINDOW_H
#define COMMBW_WINDOW_H

#include <mpi.h>

#include <stdint.h>

#include "lib/job.h"

enum window_kind {
    WINDOW_ALLOCATE, /* memory of MPI_Win_allocate */
    WINDOW_CREATE,   /* our own, by MPI_Win_create */
    WINDOW_SHARED,   /* MPI_Win_allocate_shared: all ranks on one node */
};
extern const char *const window_kind_words[]; /* for option tables */

enum {
    /* Bytes of one call of MPI, whose counts are int. */
    WINDOW_PIECE = 1 << 30,
    /* Windows are multiples of this, of which no more is used than was asked
     * for: MPICH 4.0 takes the places of ranks in MPI_Win_allocate for another
     * than they are where a size is no multiple of 16, and the data goes
     * there. */
    WINDOW_PAD = 64,
};

struct window {
    struct assay_job *job;
    MPI_Win win; /* displacements are bytes */
    MPI_Comm comm;
    enum window_kind kind;
    unsigned char *base; /* of this rank, untouched by us; 8-byte aligned */
    uint64_t bytes;      /* of this rank, as asked for */
    uint64_t *size;      /* [ranks of comm] the same of each */
};

/* Expose so many bytes (they may differ by rank, and be 0) to all ranks of
 * comm. Collective. Ends the job where MPI can't, saying what may help. */
void window_open(struct window *window, struct assay_job *job, MPI_Comm comm,
                 enum window_kind kind, uint64_t bytes);

/* Collective. What was under way is complete. */
void window_close(struct window *window);

/* Begin to move a block between local memory and bytes [at, at + n) of the
 * target's window; it is done when a flush says so. Neither reaches over the
 * end of the window: that ends the job as broken before MPI sees it. */
void window_put(struct window *window, int target, uint64_t at,
                const void *from, uint64_t n);
void window_get(struct window *window, int target, uint64_t at, void *to,
                uint64_t n);

/* `count` blocks of n bytes, one every `step` bytes of window and local memory
 * from `at` on; step 0: all of one place. */
struct window_row {
    uint64_t at, n, step, count;
};

/* The same for a row, whose first block is at `from` or `to`: of each block no
 * more is timed than the call of MPI. */
void window_put_row(struct window *window, int target,
                    const struct window_row *row, const void *from);
void window_get_row(struct window *window, int target,
                    const struct window_row *row, void *to);

/* Where the last block of a row ends; UINT64_MAX where that can't be counted. */
uint64_t window_row_end(const struct window_row *row);

/* That bound, for who calls MPI with window->win itself. */
void window_check(const struct window *window, int target, uint64_t at,
                  uint64_t n);

/* All that this rank (all its threads) began is complete, here and at the
 * target: what was put is in the target's memory. */
void window_flush(struct window *window, int target);
void window_flush_all(struct window *window);

/* Between what others put and what this rank reads of its own memory, and
 * between what it writes there and what others get: flushed by all before it,
 * visible to all behind it. Collective, a barrier. */
void window_fence(struct window *window);

#endif
