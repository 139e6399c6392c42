/* overhead_options.c - the one table of options: parser, help, defaults,
 * record. */
#include "config.h"

#include "smb/overhead.h"

#define OPT(field) offsetof(struct options, field)
#define FLAG(letter, name, field, help)                                        \
    {                                                                          \
        letter, name, ASSAY_FLAG, OPT(field), 0, 0, NULL, NULL, help, NULL     \
    }

static const struct assay_option table[] = {
    FLAG('r', "recv", recv, "measure receives, not sends"),
    {'i', "iterations", ASSAY_COUNT, OPT(iterations), 1, 1000000000, NULL, "N",
     "loops that a result rests on, at least",
     "1000 under 64K, 100 under 8M, 10 from there"},
    {'m', "msgsize", ASSAY_SIZE, OPT(msgsize), 0, (double)OVERHEAD_BYTES_MOST,
     NULL, "SIZE", "bytes of a message", NULL},
    {'t', "thresh", ASSAY_REAL, OPT(thresh), 1.05, 1e12, NULL, "X",
     "work grows until iter_t is more than X times base_t", NULL},
    {'b', "bthresh", ASSAY_REAL, OPT(bthresh), 1, 100, NULL, "X",
     "base_t is the mean of what lies under X times itself",
     "none: measured beside iter_t and work_t"},
    FLAG('n', "nohdr", nohdr, "print no header line"),
    FLAG('v', "verbose", verbose, "print a line for each amount of work"),
    {0, "sizes", ASSAY_TEXT, OPT(sizes), 0, 0, NULL, "LIST",
     "sweep these sizes, as in 0,2,4..4M", "that of --msgsize"},
    FLAG(0, "both", both, "measure sends, and then receives"),
    FLAG(0, "pairs", pairs, "print the spread over all pairs too"),
    {0, "plot", ASSAY_TEXT, OPT(plot), 0, 0, NULL, "FILE",
     "draw overhead and availability over size, as SVG", "none"},
    FLAG(0, "functional", functional,
         "only show that it works; no clause is satisfied"),
    {0, "effort", ASSAY_REAL, OPT(effort), 0.001, 1e6, NULL, "SECONDS",
     "time for one size and direction: what is not known by then is unstable",
     NULL},
    {0, "watchdog", ASSAY_REAL, OPT(watchdog), 0, 1e6, NULL, "SECONDS",
     "end a job that gets no further for so long; 0: never", NULL},
    {'q', "help", ASSAY_HELP, 0, 0, 0, NULL, NULL, "print this text and exit",
     NULL},
    ASSAY_OPTION_END,
};

const struct assay_program overhead_program = {
    .name = "mpi_overhead",
    .summary = "Host overhead of a non-blocking MPI send or receive, by "
               "post-work-wait.",
    .table = table,
    .notes =
        "An even number of ranks: r works with r + size/2. Times are in\n"
        "microseconds; sizes take K, M and G, powers of 1024. The row is that\n"
        "of the pair of rank 0; `no overlap' behind it says that the "
        "availability\n"
        "is not to be told from 0 %, `below resolution' the overhead, and\n"
        "`unstable' that there is no honest figure (exit status 3).",
};
