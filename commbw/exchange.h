/* exchange.h - words that are sent to the ranks that they are about, many in a
 * message, and what those ranks answer.
 *
 * Two-sided: whoever waits for an answer answers others meanwhile. One exchange
 * belongs to one thread of each rank, which all open it together and then call
 *
 *     exchange_put(...)    as often as they like
 *     exchange_finish(...) once; until it returns, others are answered
 *
 * and that again, as often as they like, before exchange_close. */
#ifndef COMMBW_EXCHANGE_H
#define COMMBW_EXCHANGE_H

#include <mpi.h>

#include <stddef.h>
#include <stdint.h>

#include "commbw/bucket.h"
#include "lib/job.h"

/* Serve n words that came from a rank: write as many answers, or none where
 * the exchange has no answers. */
typedef void exchange_serve_f(void *with, int from, const uint64_t *words,
                              size_t n, uint64_t *answers);

struct exchange;

/* What an exchange is made with. */
struct exchange_kind {
    struct assay_job *job;
    MPI_Comm comm; /* is duplicated: threads must not share one */
    size_t room;   /* words of a message */
    bool answers;  /* as many as there are words; else an empty message says
                      that they are served */
    exchange_serve_f *serve;
    void *with; /* its first argument */
};

/* Bytes that an exchange takes of a rank's memory. */
uint64_t exchange_bytes(uint64_t ranks, uint64_t room);

/* Collective. Ends the job where there is no memory. */
struct exchange *exchange_open(const struct exchange_kind *kind);
void exchange_close(struct exchange *x);

/* Send a word to a rank other than this one: when enough for a message are
 * there. Its answer will be in to[place]; `to` is the same in all calls before
 * exchange_finish. */
void exchange_put(struct exchange *x, int rank, uint64_t word, uint64_t place,
                  uint64_t *to);

/* Send what is left, and wait until all of this rank's words are answered.
 * Then others still go on. */
void exchange_drain(struct exchange *x);

/* Wait until all ranks have drained theirs. Collective. */
void exchange_finish(struct exchange *x);

#endif
