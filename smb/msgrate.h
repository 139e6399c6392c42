/* msgrate.h - sustained message rate: options, plan, patterns, report. */
#ifndef SMB_MSGRATE_H
#define SMB_MSGRATE_H

#include <mpi.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/assay.h"
#include "lib/job.h"
#include "smb/msgrate_rate.h"
#include "smb/msgrate_text.h"
#include "smb/peers.h"

struct options {
    uint64_t peers, iterations, messages, size;
    const char *sizes; /* "8,1024", instead of size; or NULL */
    const char *cache; /* bytes, or "llc" */
    uint64_t ppn;      /* 0: what it is */
    const char *until; /* "1%", or NULL */
    bool machine, functional, repeat;
    double watchdog; /* s that an iteration may take; 0: for ever */
};

extern const struct assay_program msgrate_program;

/* What is to be done, the same on all ranks but for the peers. */
struct plan {
    struct assay_job *job;
    const struct options *opt;
    struct layout layout;
    uint64_t *sizes; /* bytes of a message, one run of the patterns each */
    size_t nsizes;
    uint64_t size;    /* that is being run */
    uint64_t cache;   /* bytes that are walked before each timed section */
    uint64_t share;   /* of the last-level caches, of the rank that has most */
    double until;     /* fraction, or 0 */
    uint64_t batch;   /* iterations of a sample */
    uint64_t batches; /* at most */
    int *send_to, *receive_from; /* [peers] of this rank */
    int partner;                 /* of this rank, or -1 */
    bool sends;                  /* to the partner */
    uint64_t need; /* bytes of memory of each rank, for the largest size */
};

/* From options and job to a plan. What can't be done ends the job. Writes the
 * opt line. */
void plan_make(struct plan *plan, struct assay_job *job,
               const struct options *opt);
void plan_free(struct plan *plan);

enum { PATTERNS = 4 };

/* What all ranks have together found out about one pattern. On rank 0; on the
 * others only what the loop needs. */
struct result {
    struct times times;
    double *seconds;      /* [ranks * batches], what times points to */
    uint64_t *iterations; /* [batches] */
    bool *active;         /* [ranks] */
    bool settled;         /* --until was reached */
    uint64_t wrong;       /* messages */
    char first[160];      /* of these; "" where none is wrong */
};

struct bench;

/* One pattern; the loops of all four are the same. */
struct pattern {
    const char *name, *label; /* metric; and line of the original's layout */
    bool pairs;               /* half the job away, not the peers */
    bool preposts;            /* receives are posted an iteration ahead */
    void (*exchange)(struct bench *bench); /* what is timed */
};
extern const struct pattern patterns[PATTERNS];

/* Buffers and requests of this rank. */
struct bench {
    const struct plan *plan;
    unsigned char *send, *receive; /* [slot][message][size] */
    MPI_Request *requests;         /* receives of all slots, then sends */
    MPI_Status *statuses;          /* ignored; what stands for that, compilers
                                      take for an address and warn of */
    uint32_t *walk;
    size_t walk_words;
    uint64_t iteration; /* of the run, never the same twice */
    char what[64];      /* goes on, for the watchdog */
};

/* Messages that this rank posts in an iteration, and in each direction those
 * of a slot. */
uint64_t pattern_messages(const struct pattern *pattern,
                          const struct options *opt);

/* Post all receives of a pattern that posts them ahead. */
void post_ahead(struct bench *bench);

void bench_make(struct bench *bench, const struct plan *plan);
void bench_free(struct bench *bench);

/* Run one pattern: warm up, then batches until the plan says enough. */
void measure(struct bench *bench, const struct pattern *pattern,
             struct result *result);
void result_free(struct result *result);

/* Print the original's layout as patterns finish, or its one line at the end;
 * checks, metrics and samples into the record. Rank 0 alone has anything to
 * say. */
struct report {
    const struct plan *plan;
    bool speaks, prints;
    double each[PATTERNS]; /* rate of one rank; 0 where there is none */
};
void report_head(struct report *report, const struct plan *plan);
void report_pattern(struct report *report, size_t pattern,
                    const struct result *result);
void report_end(const struct report *report);

#endif
