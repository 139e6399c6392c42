/* gather_options.c - the one table of options: parser, help, defaults, record.
 */
#include "config.h"

#include "commbw/gather.h"

#define OPT(field) offsetof(struct options, field)

const char *const mode_words[] = {"ordered", "unordered", "aggregated", "all",
                                  NULL};
const char *const gatherers_words[] = {"0", "all", NULL};

static const struct assay_option table[] = {
    {0, "mode", ASSAY_CHOICE, OPT(mode), 0, 0, mode_words, "MODE",
     "a blocking GET each, many GETs in flight, or indices in messages that "
     "come back with the values",
     NULL},
    {0, "table", ASSAY_SIZE, OPT(table), 1, 1e15, NULL, "N",
     "words (of 8 bytes) of the table on each rank", NULL},
    {0, "updates", ASSAY_SIZE, OPT(updates), 1, 1e15, NULL, "N",
     "words that each task gathers", NULL},
    {0, "seed", ASSAY_COUNT, OPT(seed), 0, 0, NULL, "N",
     "of the random indices: the same seed draws the same", NULL},
    {0, "gatherers", ASSAY_CHOICE, OPT(gatherers), 0, 0, gatherers_words, "WHO",
     "rank 0 gathers, or all ranks do", NULL},
    {0, "distribution", ASSAY_CHOICE, OPT(distribution), 0, 0, spread_words,
     "HOW", "which rank has which word: blocks, or word i with rank i % ranks",
     NULL},
    {0, "tasks", ASSAY_COUNT, OPT(tasks), 1, ASSAY_THREADS_MOST, NULL, "N",
     "threads of each rank that gather", "its share of the node's CPUs"},
    {0, "trials", ASSAY_COUNT, OPT(trials), 1, 1e6, NULL, "N",
     "times that all is gathered, after once to warm up", NULL},
    {0, "window", ASSAY_COUNT, OPT(window), 1, 1e9, NULL, "N",
     "GETs in flight of a task, unordered", NULL},
    {0, "buffer", ASSAY_SIZE, OPT(buffer), 1, 1 << 26, NULL, "N",
     "indices of a message, aggregated", NULL},
    {0, "kind", ASSAY_CHOICE, OPT(kind), 0, 0, window_kind_words, "KIND",
     "of the window: memory of MPI_Win_allocate, our own, or shared memory",
     NULL},
    {0, "functional", ASSAY_FLAG, OPT(functional), 0, 0, NULL, NULL,
     "only show that it works; no clause is satisfied", NULL},
    {0, "watchdog", ASSAY_REAL, OPT(watchdog), 0, 1e6, NULL, "SECONDS",
     "end a job of which a trial takes longer; 0: never", NULL},
    ASSAY_OPTION_END,
};

const struct assay_program indexgather_program = {
    .name = "indexgather",
    .summary = "Random words of a table that is spread over all ranks.",
    .table = table,
    .notes = "Rates count the words gathered, 8 bytes each. Start it under "
             "MPI, with two ranks or\n"
             "more; numbers of words take K, M and G, powers of 1024.",
};

int gather_level(const void *options)
{
    const struct options *opt = options;

    return opt->tasks == 1 ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE;
}
