/* options.c - the one table of options: parser, help, defaults, record. */
#include "config.h"

#include "lib/team_options.h"
#include "stream/options.h"

const char *const stream_mode_words[] = {"bandwidth", "benchmark", "scaling",
                                         "length",    "kernels",   "numa",
                                         "classic",   "original",  NULL};

#define OPT(field) offsetof(struct options, field)

static const struct assay_option table[] = {
    {'m', "mode", ASSAY_CHOICE, OPT(mode), 0, 0, stream_mode_words, "MODE",
     "what to measure and print", NULL},
    {'e', "elements", ASSAY_SIZE, OPT(elements), 1, 0, NULL, "N",
     "elements of each array", "4 x reachable caches"},
    {'t', "threads", ASSAY_COUNT, OPT(threads), 1, ASSAY_THREADS_MOST, NULL,
     "N", "threads to run", "OMP_NUM_THREADS, or one a core"},
    {'r', "repetitions", ASSAY_COUNT, OPT(repetitions), 2, 100000, NULL, "N",
     "passes over the arrays; the first is not counted", NULL},
    ASSAY_TEAM_OPTIONS(struct options),
    {0, "scaling", ASSAY_TEXT, OPT(scaling), 0, 0, NULL, "LIST",
     "thread counts of --mode=scaling: all, numa, socket, or 1,2,4", "all"},
    {0, "plot", ASSAY_TEXT, OPT(plot), 0, 0, NULL, "FILE",
     "write the plot of --mode=scaling as SVG (needs gnuplot)", "none"},
    {0, "original", ASSAY_TEXT, OPT(original), 0, 0, NULL, "FILE",
     "stream.c, or its URL, that --mode=original builds and runs", "none"},
    {0, "compiler", ASSAY_TEXT, OPT(compiler), 0, 0, NULL, "CC",
     "compiler for --original", "cc"},
    {0, "flags", ASSAY_TEXT, OPT(flags), 0, 0, NULL, "FLAGS",
     "flags for --compiler, split at blanks", "-O3 -march=native"},
    {0, "rounds", ASSAY_COUNT, OPT(rounds), 1, 1000, NULL, "N",
     "runs of the original and of ours, in turn", NULL},
    ASSAY_OPTION_END,
};

const struct assay_program stream_program = {
    .name = "stream",
    .summary = "Sustained memory bandwidth: copy, scale, add and triad over "
               "long arrays.",
    .table = table,
    .notes = "Sizes take K, M and G, powers of 1024; rates are in MB/s, 10^6 "
             "bytes a second.\n"
             "A variant of the STREAM benchmark, which is not the official "
             "one.",
};
