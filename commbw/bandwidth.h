/* bandwidth.h - simpleBandwidth: options, plan, measurement, report. */
#ifndef COMMBW_BANDWIDTH_H
#define COMMBW_BANDWIDTH_H

#include <mpi.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "commbw/clocks.h"
#include "commbw/locales.h"
#include "commbw/paths.h"
#include "commbw/transport.h"
#include "lib/assay.h"
#include "lib/job.h"
#include "lib/sizes.h"
#include "lib/team.h"

enum tasks_as { AS_THREADS, AS_RANKS };
enum operations { BOTH, GET_ONLY, PUT_ONLY };

#define SIZE_MOST (UINT64_C(1) << 44) /* bytes of a block */

struct options {
    uint64_t size, tasks, trials, window; /* tasks 0: the CPUs */
    const char *sizes;                    /* "1..4G", instead; or NULL */
    int pairs, kind, transport, tasks_as, operation;
    bool bidirectional, one_place, functional;
    double watchdog;
};

extern const struct assay_program bandwidth_program;

/* Chapel's other spelling, -sNAME=VALUE, made --NAME=VALUE: a copy of argv,
 * NULL without memory. Never freed: options point into it. */
char **bandwidth_words(int argc, char **argv);

/* The thread support of MPI that the options need. */
int bandwidth_level(const void *options);

/* What is to be done, the same on all ranks but for `mine`. */
struct plan {
    struct assay_job *job;
    const struct options *opt;
    const struct transport_kind *transport;
    struct locales locales;
    size_t ranks;   /* of a locale */
    size_t threads; /* of a rank; a locale has ranks x threads tasks */
    struct pair *pairs;
    size_t npairs;
    bool in_turn; /* a pair at a time */
    struct assay_sizes sizes;
    struct paths paths;
    struct assay_team team;
    double target; /* s that a sample takes at least */
};

/* From options and job to a plan. What can't be done ends the job. Writes the
 * opt line. */
void plan_make(struct plan *plan, struct assay_job *job,
               const struct options *opt);
void plan_free(struct plan *plan);

/* Blocks under way at once, of one task: as many as asked for, but where each has
 * its place for no more than 64 MiB. */
uint64_t plan_window(const struct plan *plan, uint64_t size);

enum operation { GET, PUT, OPERATIONS };
extern const char *const operation_name[OPERATIONS]; /* "get", "put" */

/* Pairs that are measured at the same time. */
struct scene {
    enum operation operation;
    const struct pair *pairs;
    size_t n;
};

/* Window and buffer of this rank for one size. */
struct bench {
    const struct plan *plan;
    struct transport transport;
    uint64_t size, window; /* bytes, blocks of a task */
    uint64_t places;       /* of a task: as many as blocks, or one for all */
    uint64_t stride;       /* bytes from place to place */
    uint64_t measurement;  /* counted, so that no two are alike */
    char what[96];         /* goes on, for the watchdog */
};

/* Collective, both. */
void bench_make(struct bench *bench, const struct plan *plan, uint64_t size);
void bench_free(struct bench *bench);

/* What all ranks have found out: on rank 0. */
struct result {
    uint64_t trials;     /* samples */
    uint64_t batch;      /* trials of a sample, timed together */
    double *start, *end; /* [ranks * trials] s on rank 0's clock; 0, 0 for ranks
                            that moved nothing */
    bool *active;        /* [ranks] */
    double clock_error;  /* s */
    uint64_t wrong, verified; /* blocks */
    char first[128];          /* of those that are wrong */
};

/* Warm up, time all trials, verify. Collective. */
void measure(struct bench *bench, const struct scene *scene,
             struct result *result);
void result_free(struct result *result);

/* Print the original's lines, write the record. On rank 0. */
void report_head(const struct plan *plan);
void report(const struct bench *bench, const struct scene *scene,
            const struct result *result);

/* Keys that tell a size and operation apart, but for the pair. */
void report_keys(const struct bench *bench, struct assay_fields *f);

#endif
