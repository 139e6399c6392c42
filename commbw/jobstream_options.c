/* jobstream_options.c - the one table of options: parser, help, defaults,
 * record. */
#include "config.h"

#include "commbw/jobstream.h"
#include "lib/team_options.h"

#define OPT(field) offsetof(struct options, field)

static const struct assay_option table[] = {
    {0, "elements", ASSAY_SIZE, OPT(elements), 1, 1e15, NULL, "N",
     "elements of each array of each rank", "4 x its share of the caches"},
    {0, "threads", ASSAY_COUNT, OPT(threads), 1, ASSAY_THREADS_MOST, NULL, "N",
     "threads of each rank", "one a core of its share"},
    {0, "repetitions", ASSAY_COUNT, OPT(repetitions), 2, 100000, NULL, "N",
     "passes over the arrays; the first is not counted", NULL},
    ASSAY_TEAM_OPTIONS(struct options),
    {0, "functional", ASSAY_FLAG, OPT(functional), 0, 0, NULL, NULL,
     "only show that it works; no clause is satisfied", NULL},
    {0, "watchdog", ASSAY_REAL, OPT(watchdog), 0, 1e6, NULL, "SECONDS",
     "end a job of which a repetition takes longer; 0: never", NULL},
    ASSAY_OPTION_END,
};

/* Its figures are stream's, of more than one process: see the keys ranks and
 * colocales. */
const struct assay_program jobstream_program = {
    .name = "jobstream",
    .bench = "stream",
    .summary = "Sustained memory bandwidth of all ranks of a job at once, "
               "summed per node.",
    .table = table,
    .notes = "Rates are in MB/s, 10^6 bytes a second, of all ranks of a node "
             "together. A variant\nof the STREAM benchmark, which is not the "
             "official one.",
};
