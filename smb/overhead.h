/* overhead.h - mpi_overhead: options, sizes, and the results of all pairs. */
#ifndef SMB_OVERHEAD_H
#define SMB_OVERHEAD_H

#include "lib/assay.h"
#include "lib/sizes.h"
#include "smb/overhead_pair.h"
#include "smb/overhead_plot.h"
#include "smb/overhead_work.h"

/* Where a reader may look, this stands with --functional. */
#define OVERHEAD_FUNCTIONAL "functional only: not the required run"

#define OVERHEAD_BYTES_MOST (UINT64_C(1) << 30) /* MPI counts in int */

struct options {
    bool recv, both, nohdr, verbose, pairs, functional;
    uint64_t iterations; /* 0: by size */
    uint64_t msgsize;
    double thresh;
    double bthresh; /* 0: the base is measured beside the rest */
    double effort;  /* s that a size may take */
    double watchdog;
    const char *sizes; /* of a sweep; or NULL */
    const char *plot;  /* SVG file; or NULL */
};

extern const struct assay_program overhead_program;

/* What a run will do. */
struct overhead_plan {
    struct assay_job *job;
    const struct options *opt;
    struct assay_sizes sizes;
    bool direction[2];           /* to measure: send, receive */
    struct overhead_pair pair;   /* that this rank is in */
    struct overhead_price price; /* of this rank's work */
    FILE *plot;                  /* on rank 0; or NULL */
    struct overhead_mark *mark;  /* [marks] what it will show: rank 0's pair */
    size_t marks;
};

/* Refuse what contradicts itself, open the plot, form the pairs, find the price of work, write
 * the opt line. Collective. */
void overhead_plan_make(struct overhead_plan *plan, struct assay_job *job,
                        const struct options *opt);
/* Draw the plot, if one was asked for, and free everything. */
void overhead_plan_free(struct overhead_plan *plan);

uint64_t overhead_iterations(const struct options *opt, uint64_t msgsize);

/* One size in one direction, of all pairs: rank 0 has the results. */
struct overhead_result {
    uint64_t msgsize, iterations;
    bool receive;
    size_t pairs;
    struct overhead_point *point; /* [pairs] */
    uint64_t *wrong, *verified;   /* [pairs] */
};

/* Measure, and gather to rank 0; elsewhere pairs is 0. Collective. */
void overhead_measure(struct overhead_plan *plan, bool receive,
                      uint64_t msgsize, struct overhead_result *result);
void overhead_result_free(struct overhead_result *result);

/* Rank 0: lines of the record, rows of the table. */
void overhead_record_price(const struct overhead_plan *plan,
                           const double *price, const double *error);
void overhead_record(const struct overhead_plan *plan,
                     const struct overhead_result *result);
void overhead_print_header(const struct overhead_plan *plan, bool receive);
void overhead_print(const struct overhead_plan *plan,
                    const struct overhead_result *result);
void overhead_print_step(void *context, uint64_t work, double iter_t,
                         double base_t);

#endif
