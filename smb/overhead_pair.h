/* overhead_pair.h - two ranks: the origin, which works while a message is under
 * way, and its target, which does what the origin says. */
#ifndef SMB_OVERHEAD_PAIR_H
#define SMB_OVERHEAD_PAIR_H

#include "lib/job.h"
#include "smb/overhead_find.h"

struct overhead_pair {
    struct assay_job *job;
    MPI_Comm comm; /* of the two: origin 0, target 1 */
    size_t index;  /* of the pair: rank r works with r + pairs */
    size_t pairs;  /* of the job */
    bool origin;
    bool receive;             /* the origin receives */
    int bytes;                /* of a message */
    unsigned char *buffer;    /* what is sent, or where it comes */
    size_t room, stride;      /* bytes of it, and from one place to the next */
    uint64_t stamp;           /* of the last data that were sent */
    uint64_t wrong, verified; /* bytes not as sent, messages compared: here */
    char what[64];            /* for the watchdog */
};

/* Pair rank r of the lower half with r + size/2. Collective. */
void overhead_pair_form(struct overhead_pair *pair, struct assay_job *job);

/* Take buffers for a size and a direction; ends the job without memory. */
void overhead_pair_open(struct overhead_pair *pair, bool receive,
                        uint64_t bytes);
void overhead_pair_close(struct overhead_pair *pair);

/* Origin: samples, for overhead_find; its context is the pair. After each the
 * receiver compares every byte of the last message, and of up to 63 before it
 * what others did not overwrite: all of it up to 192 bytes, beginning or end
 * of a longer one. */
double overhead_pair_sample(void *context, bool message, uint64_t work,
                            uint64_t loops);

/* Origin: let the target go; wrong and verified are those of both now. */
void overhead_pair_release(struct overhead_pair *pair);

/* Target: do as the origin says until it lets go. */
void overhead_pair_serve(struct overhead_pair *pair);

#endif
