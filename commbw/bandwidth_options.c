/* bandwidth_options.c - the one table of options: parser, help, defaults,
 * record. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commbw/bandwidth.h"

#define OPT(field) offsetof(struct options, field)

static const char *const tasks_as_words[] = {"threads", "ranks", NULL};
static const char *const operation_words[] = {"both", "get", "put", NULL};

static const struct assay_option table[] = {
    {'b', "size", ASSAY_SIZE, OPT(size), 0, (double)SIZE_MOST, NULL, "SIZE",
     "bytes of a task's block", NULL},
    {0, "sizePerTask", ASSAY_SIZE, OPT(size), 0, (double)SIZE_MOST, NULL,
     "SIZE", "the same, as the original calls it", NULL},
    {0, "sizes", ASSAY_TEXT, OPT(sizes), 0, 0, NULL, "LIST",
     "sweep these sizes, as in 0,1..4G", "that of --size"},
    {'t', "tasks", ASSAY_COUNT, OPT(tasks), 1, ASSAY_THREADS_MOST, NULL, "N",
     "tasks of each locale", "its CPUs"},
    {0, "numTasks", ASSAY_COUNT, OPT(tasks), 1, ASSAY_THREADS_MOST, NULL, "N",
     "the same, as the original calls it", "its CPUs"},
    {0, "tasks-as", ASSAY_CHOICE, OPT(tasks_as), 0, 0, tasks_as_words, "WHAT",
     "a locale is one rank with threads, or as many ranks", NULL},
    {'n', "trials", ASSAY_COUNT, OPT(trials), 1, 1e6, NULL, "N",
     "trials of each operation", NULL},
    {0, "numTrials", ASSAY_COUNT, OPT(trials), 1, 1e6, NULL, "N",
     "the same, as the original calls it", NULL},
    {'w', "window", ASSAY_COUNT, OPT(window), 1, 65536, NULL, "N",
     "blocks that a task has under way at once, in 64 MiB at most", NULL},
    {0, "one-place", ASSAY_FLAG, OPT(one_place), 0, 0, NULL, NULL,
     "move all blocks of a window from and to one place, as osu_put_bw does",
     NULL},
    {'p', "pairs", ASSAY_CHOICE, OPT(pairs), 0, 0, pairs_words, "WHICH",
     "all at once, one, or each two locales in turn", NULL},
    {0, "bidirectional", ASSAY_FLAG, OPT(bidirectional), 0, 0, NULL, NULL,
     "both locales of a pair move blocks", NULL},
    {'o', "operation", ASSAY_CHOICE, OPT(operation), 0, 0, operation_words,
     "WHICH", "what is measured", NULL},
    {0, "transport", ASSAY_CHOICE, OPT(transport), 0, 0, transport_words,
     "WHICH", "what moves the blocks", NULL},
    {'k', "kind", ASSAY_CHOICE, OPT(kind), 0, 0, window_kind_words, "KIND",
     "kind of MPI window", NULL},
    {0, "functional", ASSAY_FLAG, OPT(functional), 0, 0, NULL, NULL,
     "only show that it works; no clause is satisfied", NULL},
    {0, "watchdog", ASSAY_REAL, OPT(watchdog), 0, 1e6, NULL, "SECONDS",
     "end a job that gets no further for so long, and for as long as its bytes "
     "take at 50 MB/s; 0: never",
     NULL},
    ASSAY_OPTION_END,
};

const struct assay_program bandwidth_program = {
    .name = "simpleBandwidth",
    .summary = "Bandwidth of one-sided GET and PUT between two locales or "
               "more.",
    .table = table,
    .notes = "Locale i moves blocks with locale i + n/2. A line is the best of "
             "all trials, of\n"
             "all pairs together: tasks x window x size / seconds. Sizes take "
             "K, M and G,\n"
             "powers of 1024; -sNAME=VALUE is taken for --NAME=VALUE.",
};

/* The word for --NAME=VALUE, of which `text` is NAME=VALUE. */
static char *spelt(const char *text)
{
    size_t size = strlen(text) + 3;
    char *word = malloc(size);

    if (word)
        snprintf(word, size, "--%s", text);
    return word;
}

char **bandwidth_words(int argc, char **argv)
{
    char **words = calloc((size_t)argc + 1, sizeof(*words));

    for (int i = 0; words && i < argc; i++) {
        words[i] = argv[i];
        if (i > 0 && strncmp(argv[i], "-s", 2) == 0 && strchr(argv[i], '='))
            words[i] = spelt(argv[i] + 2);
        if (!words[i])
            assay_die(NULL, ASSAY_BROKEN, "no memory");
    }
    if (!words)
        assay_die(NULL, ASSAY_BROKEN, "no memory");
    return words;
}

int bandwidth_level(const void *options)
{
    const struct options *opt = options;

    return opt->tasks_as == AS_RANKS || opt->tasks == 1 ? MPI_THREAD_SINGLE
                                                        : MPI_THREAD_MULTIPLE;
}
