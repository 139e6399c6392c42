/* transport.h - what moves blocks one-sidedly: MPI, or the layers below it, so
 * that a site sees what its MPI costs over the wire.
 *
 * Every rank has a window, which others reach, and a buffer of its own, from
 * and to which it moves. All know both sizes of all ranks. Tasks are threads,
 * numbered from 0: each has its own way to the others where the layer has such,
 * and at most one call at a time. What fails ends the job, with the reason. */
#ifndef COMMBW_TRANSPORT_H
#define COMMBW_TRANSPORT_H

#include <stdint.h>

#include "commbw/window.h"
#include "lib/job.h"

struct transport;

struct transport_kind {
    const char *name; /* as --transport says it */

    /* Take window and buffer, make them known. Collective, as are the next. */
    void (*open)(struct transport *t);
    void (*close)(struct transport *t);

    /* A barrier of all ranks: what was flushed before it is seen behind it.
     * While a rank waits in it, others can reach it. One thread calls. */
    void (*sync)(struct transport *t);

    /* Begin to move blocks between the buffer and the target's window, at the
     * same places of both. A row at once, so that what is timed of a small block
     * is the layer's call and no more. */
    void (*put)(struct transport *t, size_t thread, int target,
                const struct window_row *row);
    void (*get)(struct transport *t, size_t thread, int target,
                const struct window_row *row);

    /* All that the thread began is complete, here and at the target. */
    void (*flush)(struct transport *t, size_t thread, int target);

    /* Let others reach this rank while the thread has nothing to do. */
    void (*progress)(struct transport *t, size_t thread);
};

struct transport {
    const struct transport_kind *kind;
    struct assay_job *job;
    enum window_kind window_kind; /* for MPI */
    size_t threads;               /* that will call put, get and flush */
    unsigned char *window, *buffer;
    uint64_t window_bytes, buffer_bytes;
    uint64_t *size;    /* [ranks] bytes of their windows */
    char details[128]; /* what it has chosen, "tcp;ofi_rxm"; or "" */
    void *own;         /* the kind's */
};

extern const char *const transport_words[]; /* for option tables */
enum transport_word { TRANSPORT_MPI, TRANSPORT_UCX, TRANSPORT_OFI };

/* The kind; NULL where this build has none, with the reason in *why. */
const struct transport_kind *transport_find(enum transport_word word,
                                            const char **why);

/* Kind, job, window_kind, threads and the two numbers of bytes (which may be 0,
 * and differ by rank) are set; the rest is done here. */
void transport_open(struct transport *t);
void transport_close(struct transport *t);

/* The bounds of a target's window, which no layer below checks for all. */
void transport_check(const struct transport *t, int target,
                     const struct window_row *row);

/* Untouched memory for windows and buffers of kinds that have none of their
 * own; NULL for 0 bytes. Ends the job without memory. */
unsigned char *transport_map(const struct transport *t, uint64_t bytes);
void transport_unmap(unsigned char *p, uint64_t bytes);

/* n zeroed things of that size. Ends the job without memory. */
void *transport_array(const struct transport *t, size_t n, size_t size);

/* The sync of a kind whose progress must be asked for. */
void transport_sync(struct transport *t);

extern const struct transport_kind transport_mpi, transport_ucx, transport_ofi;

#endif
