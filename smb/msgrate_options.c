/* msgrate_options.c - the one table of options: parser, help, defaults, record.
 */
#include "config.h"

#include <limits.h>

#include "smb/msgrate.h"

#define OPT(field) offsetof(struct options, field)

static const struct assay_option table[] = {
    {'p', "peers", ASSAY_COUNT, OPT(peers), 1, 32767, NULL, "N",
     "ranks that each rank sends to, and as many to receive from", NULL},
    {'i', "iterations", ASSAY_COUNT, OPT(iterations), 1, 1e12, NULL, "N",
     "iterations of each pattern; the most, with --until", NULL},
    {'m', "messages", ASSAY_COUNT, OPT(messages), 1, 1 << 24, NULL, "N",
     "messages to each peer and iteration", NULL},
    {'s', "size", ASSAY_SIZE, OPT(size), 0, INT_MAX, NULL, "BYTES",
     "bytes of a message", NULL},
    {0, "sizes", ASSAY_TEXT, OPT(sizes), 0, 0, NULL, "LIST",
     "run all patterns for each of these sizes, instead of -s", "none"},
    {'c', "cache", ASSAY_TEXT, OPT(cache), 0, 0, NULL, "BYTES",
     "invalidate so much before each timed section; llc: the rank's share of "
     "the last-level cache",
     NULL},
    {'n', "ranks-per-node", ASSAY_COUNT, OPT(ppn), 1, 1 << 24, NULL, "N",
     "ranks on each node; with --functional, on mock nodes", "what it is"},
    {'o', "machine", ASSAY_FLAG, OPT(machine), 0, 0, NULL, NULL,
     "print one line: job size, peers, iterations, messages, bytes, cache, "
     "ppn, and four rates",
     NULL},
    {0, "until", ASSAY_TEXT, OPT(until), 0, 0, NULL, "N%",
     "stop when the interval of the rate is that narrow", "never"},
    {0, "functional", ASSAY_FLAG, OPT(functional), 0, 0, NULL, NULL,
     "only show that it works, on one node too; no clause is satisfied", NULL},
    {0, "repeat-peers", ASSAY_FLAG, OPT(repeat), 0, 0, NULL, NULL,
     "let one rank be several peers where there are too few nodes", NULL},
    {0, "watchdog", ASSAY_REAL, OPT(watchdog), 0, 1e6, NULL, "SECONDS",
     "end a job that gets no further for so long, and for as long as its bytes "
     "take at 50 MB/s; 0: never",
     NULL},
    ASSAY_OPTION_END,
};

const struct assay_program msgrate_program = {
    .name = "msgrate",
    .summary = "Sustained MPI message rate, sending and receiving at once, "
               "with a cold cache.",
    .table = table,
    .notes = "Rates are in messages a second of each rank. Start it under MPI, "
             "on two nodes or\n"
             "more with equally many ranks; sizes take K, M and G, powers of "
             "1024.",
};
