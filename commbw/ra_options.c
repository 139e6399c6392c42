/* ra_options.c - the one table of options: parser, help, defaults, record. */
#include "config.h"

#include "commbw/ra.h"

#define OPT(field) offsetof(struct options, field)

const char *const mode_words[] = {"rmo", "amo", "aggregated", "all", NULL};
const char *const atomic_words[] = {"accumulate", "fetch", NULL};

static const struct assay_option table[] = {
    {0, "mode", ASSAY_CHOICE, OPT(mode), 0, 0, mode_words, "MODE",
     "fetch, xor and put (races allowed), atomic xor, or updates in messages",
     NULL},
    {0, "table", ASSAY_SIZE, OPT(table), 1, 1e18, NULL, "N",
     "words (of 8 bytes) of the table of the job, a power of 2", NULL},
    {0, "updates", ASSAY_SIZE, OPT(updates), 1, 1e18, NULL, "N",
     "updates of the job", "4 x table"},
    {0, "seed", ASSAY_COUNT, OPT(seed), 0, 0, NULL, "N",
     "begin so many times the updates later in the stream; 0 is HPCC's start",
     NULL},
    {0, "distribution", ASSAY_CHOICE, OPT(distribution), 0, 0, spread_words,
     "HOW", "which rank has which word: blocks, or word i with rank i % ranks",
     NULL},
    {0, "tasks", ASSAY_COUNT, OPT(tasks), 1, ASSAY_THREADS_MOST, NULL, "N",
     "threads of each rank that update", "its share of the node's CPUs"},
    {0, "trials", ASSAY_COUNT, OPT(trials), 1, 1e6, NULL, "N",
     "times that all updates are made, each time verified", NULL},
    {0, "window", ASSAY_COUNT, OPT(window), 1, 1024, NULL, "N",
     "updates in flight of a task, rmo and amo", NULL},
    {0, "buffer", ASSAY_SIZE, OPT(buffer), 1, 1 << 26, NULL, "N",
     "updates of a message, aggregated", NULL},
    {0, "atomic", ASSAY_CHOICE, OPT(atomic), 0, 0, atomic_words, "OP",
     "amo: MPI_Accumulate, or MPI_Fetch_and_op", NULL},
    {0, "kind", ASSAY_CHOICE, OPT(kind), 0, 0, window_kind_words, "KIND",
     "of the window: memory of MPI_Win_allocate, our own, or shared memory",
     NULL},
    {0, "functional", ASSAY_FLAG, OPT(functional), 0, 0, NULL, NULL,
     "only show that it works; no clause is satisfied", NULL},
    {0, "watchdog", ASSAY_REAL, OPT(watchdog), 0, 1e6, NULL, "SECONDS",
     "end a job of which a trial takes longer; 0: never", NULL},
    ASSAY_OPTION_END,
};

const struct assay_program ra_program = {
    .name = "ra",
    .summary = "Random updates of a table that is spread over all ranks.",
    .table = table,
    .notes = "After RandomAccess of the HPC Challenge; GUPS are 10^9 updates a "
             "second. Start it\nunder MPI, with two ranks or more; numbers of "
             "words take K, M and G, powers of 1024.",
};

int ra_level(const void *options)
{
    const struct options *opt = options;

    return opt->tasks == 1 ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE;
}
