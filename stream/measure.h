/* measure.h - one measurement: a team, three arrays, the cycle of kernels. */
#ifndef STREAM_MEASURE_H
#define STREAM_MEASURE_H

#include "stream/plan.h"

/* What is measured, where the modes differ. */
struct setup {
    size_t threads;
    uint64_t elements;
    enum assay_cycle cycle;
    int cpu_node, mem_node; /* of the NUMA matrix; -1: anywhere */
    bool unbound;           /* mem_node is the only one: not to be bound */
    bool array_bytes;       /* lengths differ within the record */
    const char *source;     /* "assay", beside "original"; or NULL */
    uint64_t round;         /* of runs in turn, from 1: its checks alone are
                               recorded, the caller has the rates; or 0 */
};

/* setup of the plan's own threads and elements. */
struct setup stream_setup(const struct plan *plan);

struct result {
    size_t ops;
    size_t threads;         /* that there were */
    double best[ASSAY_OPS]; /* MB/s; 0 where no repetition counts */
    double minimum_time[ASSAY_OPS], average_time[ASSAY_OPS],
        maximum_time[ASSAY_OPS]; /* s */
    double ticks[ASSAY_OPS];     /* of the clock, in the shortest repetition */
    double median, minimum, maximum; /* MB/s, over STREAM's four kernels */
    bool clocked;                    /* every kernel took 20 ticks or more */
    bool valid;                      /* the arrays are right */
    double average_error[ASSAY_ARRAYS];
    uint64_t huge_bytes; /* of the arrays, in huge pages */
    char cpus[64];       /* where the threads were at last, cut if long */
};

/* Form the team, touch, time, verify; write check, metric and sample lines.
 * What can't go on ends the run. */
struct result stream_measure(const struct plan *plan,
                             const struct setup *setup);

/* Lines that tell two measurements apart: host, threads, elements, ... Frees
 * nothing; the caller frees with assay_fields_free. */
struct assay_fields stream_keys(const struct plan *plan,
                                const struct setup *setup, size_t threads);

#endif
