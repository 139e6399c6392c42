/* peer.h - the user's own stream.c: fetched, compiled, run, read. */
#ifndef STREAM_PEER_H
#define STREAM_PEER_H

#include "stream/plan.h"

enum peer_build { PEER_SINGLE, PEER_MULTI, PEER_BUILDS };

struct peer {
    int program[PEER_BUILDS];       /* descriptors of the executables */
    char command[PEER_BUILDS][512]; /* how each was compiled */
};

/* Fetch and compile both builds for n elements. The files are gone again when
 * this returns; what can't go on ends the run. */
void peer_build(const struct plan *plan, uint64_t n, struct peer *peer);
void peer_close(struct peer *peer);

struct peer_result {
    double rate[ASSAY_STREAM_OPS]; /* MB/s; 0 where none was read */
    bool read;                     /* all four rates, each once */
    bool validates;                /* it says so, and exits with 0 */
    uint64_t elements, threads;    /* that it says it has; 0: it does not */
    char why[128];                 /* what is wrong with it */
};

/* Run one build with so many threads, each where ours would be. */
struct peer_result peer_run(const struct plan *plan, const struct peer *peer,
                            enum peer_build build, size_t threads);

#endif
