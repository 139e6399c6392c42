/* paths.h - what carries the bytes between the ranks of this job, found out by
 * moving some and looking at the interfaces' counters: the keys by which the
 * figures of communication are told apart. */
#ifndef COMMBW_PATHS_H
#define COMMBW_PATHS_H

#include <stdbool.h>
#include <stdint.h>

#include "commbw/counters.h"
#include "lib/job.h"

/* Bytes of each move: far more than else goes by. */
enum { PATHS_BYTES = 8 << 20 };

/* Put `bytes` one-sidedly to the rank `peer`, complete there; or, for peer -1,
 * see to it that others can. All ranks call it, and return when all are done. */
typedef void paths_move_f(void *arg, int peer, uint64_t bytes);

struct paths {
    char nics[24];         /* "2": cards of each node that carried; "1-2" where
                              nodes differ */
    const char *nic_share; /* "own": no two ranks of a node used the same one,
                              "shared", "none" */
    const char *pshm;      /* "yes": between two ranks of a node, no interface
                              carried anything; "no" */
    char colocales[24];    /* ranks of each node; "uneven" */
    const char *confined;  /* "yes": each rank may use the CPUs of one socket
                              only, and its node has more; "no" */
    char interfaces[256];  /* "n1:eth0+eth1 n2:eth0", or "none" */
};

/* Find out; the same on all ranks. move NULL: by MPI's windows. Some MiB are
 * moved from node to node, by one rank of each node at a time, and between two
 * ranks of each node. Collective. */
void paths_find(struct paths *paths, struct assay_job *job, paths_move_f *move,
                void *arg);

/* That alone, without moving anything. Collective. */
const char *paths_confined(const struct assay_job *job);

/* Append nics, nic_share, pshm, colocales and confined. */
void paths_fields(const struct paths *paths, struct assay_fields *f);

/* Bytes on the interfaces of all nodes while something is measured: between
 * these two, lines "traffic host= interface= received= sent=" and the keys of
 * `what` (rank 0's; may be NULL) are written, of each interface that carried
 * anything. Collective, both. */
void paths_begin(struct assay_job *job, struct counters *before);
void paths_end(struct assay_job *job, const struct counters *before,
               const struct assay_fields *what);

#endif
