/* launch.h - job start and wire-up: a launcher starts ranks, and every word of
 * theirs is timed when it arrives here. One clock, this process's, so nodes need
 * not agree on the time. */
#ifndef ASSAY_LAUNCH_H
#define ASSAY_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/assay.h"

/* What a rank says, in the order in which it says it. */
enum launch_word {
    LAUNCH_FIRST, /* it runs */
    LAUNCH_FENCE, /* the fence is behind it */
    LAUNCH_GET,   /* it has every rank's keys */
    LAUNCH_INIT,  /* MPI_Init is behind it */
    LAUNCH_WORDS
};

struct options {
    const char *launch, *init_launch;
    const char *rank_program, *init_program;
    const char *ppn;
    uint64_t nodes, keys, size;
    double limit;
};

/* One job: how many ranks it should have, and where. */
struct launch_shape {
    uint64_t nodes, ppn, ranks;
};

/* What came of a job. Owns its arrays, of `ranks` places. */
struct launch_result {
    struct launch_shape shape;
    double *ms[LAUNCH_WORDS]; /* ms since the launch, in order of arrival */
    size_t count[LAUNCH_WORDS];
    char (*host)[256]; /* of each rank; empty: not heard of */
    uint64_t missing, wrong, doubled, foreign;
    uint64_t singletons; /* ranks that said that they are alone */
    int status;          /* wait status of the launcher */
    bool late;           /* the limit was reached */
    bool killed;         /* all had spoken, and the launcher did not end */
};

/* Start the words of `launch`, split at blanks, {nodes}, {ranks} and {ppn}
 * filled in, then `program` and its arguments (NULL-terminated); read what its
 * ranks say until all have ended, or limit seconds are over, and then end it.
 * last is the word after which a rank has nothing more to say. */
void launch_job(struct assay_run *run, const char *launch, char *const *program,
                double limit, enum launch_word last,
                struct launch_result *result);

void launch_result_make(struct assay_run *run, struct launch_result *result,
                        const struct launch_shape *shape);
void launch_result_free(struct launch_result *result);

/* Take in one line of a rank that arrived ms after the launch. What is no such
 * line is passed on to stdout. */
void launch_hear(struct launch_result *result, const char *line, double ms);

/* Whether this is the job that was asked for: ends the run where it is not. */
void launch_demand(struct assay_run *run, const struct launch_result *result,
                   const char *what, enum launch_word last);

#endif
