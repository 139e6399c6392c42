/* jobstream.h - stream on every rank of a job at once: options, plan, times,
 * report. */
#ifndef COMMBW_JOBSTREAM_H
#define COMMBW_JOBSTREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "commbw/paths.h"
#include "lib/assay.h"
#include "lib/job.h"
#include "lib/kernels.h"
#include "lib/team.h"
#include "lib/verify.h"

struct options {
    uint64_t elements, threads; /* of each rank; 0: by caches and CPUs */
    uint64_t repetitions;
    int type, kernel, stores, write_allocate, pin, hugepages;
    bool functional;
    double watchdog;
};

extern const struct assay_program jobstream_program;

enum { OPS = ASSAY_STREAM_OPS };

/* Start and end of a kernel on a rank: the earliest of its threads, the latest.
 */
struct interval {
    double start, end;
};

struct jobstream {
    struct assay_job *job;
    const struct options *opt;
    struct assay_topology cpus; /* of this rank */
    struct assay_kernels kernels;
    bool write_allocate; /* is counted */
    uint64_t elements;   /* of each array of each rank */
    struct assay_team team;
    struct assay_arrays arrays;
    struct interval *each; /* [threads * repetitions * OPS] */
    struct interval *mine; /* [repetitions * OPS] */
    uint64_t node_threads; /* of this rank's node */
    uint64_t node_cache;   /* bytes, of all its ranks' shares */
    const char *confined;  /* "yes" or "no" */
    struct assay_error worst[ASSAY_ARRAYS];
};

/* From options and job to threads in their places and arrays that they have
 * touched. What can't be done ends the job. Writes the opt line. */
void jobstream_make(struct jobstream *j, struct assay_job *job,
                    const struct options *opt);
void jobstream_free(struct jobstream *j);

/* Run all repetitions, all ranks at once, and prove the arrays. */
void jobstream_measure(struct jobstream *j);

/* Sum up per node: printed, and in the record. */
void jobstream_report(struct jobstream *j);

#endif
