/* hear.c - what the ranks of a job say, and whether it is the job that was
 * asked for. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/launch.h"

static const char *const words[LAUNCH_WORDS] = {"first", "fence", "get",
                                                "init"};

void launch_result_make(struct assay_run *run, struct launch_result *result,
                        const struct launch_shape *shape)
{
    *result = (struct launch_result){.shape = *shape};
    for (int word = 0; word < LAUNCH_WORDS; word++)
        result->ms[word] = assay_room(run, shape->ranks,
                                      sizeof *result->ms[word], "the ranks");
    result->host =
        assay_room(run, shape->ranks, sizeof *result->host, "the ranks");
}

void launch_result_free(struct launch_result *result)
{
    for (int word = 0; word < LAUNCH_WORDS; word++)
        free(result->ms[word]);
    free(result->host);
}

/* A rank's last words tell where it is; more than once is once too often. */
static void note(struct launch_result *result, enum launch_word word, long rank,
                 const char *host)
{
    if (word != LAUNCH_GET && word != LAUNCH_INIT)
        return;
    if (rank < 0 || (uint64_t)rank >= result->shape.ranks)
        result->foreign++;
    else if (result->host[rank][0] != '\0')
        result->doubled++;
    else
        snprintf(result->host[rank], sizeof result->host[rank], "%s", host);
}

void launch_hear(struct launch_result *result, const char *line, double ms)
{
    char name[16], host[256];
    long rank, size;
    uint64_t missing, wrong;
    int word = 0;

    if (sscanf(line, "launch %15s %ld %ld %" SCNu64 " %" SCNu64 " %255s", name,
               &rank, &size, &missing, &wrong, host) != 6) {
        puts(line);
        return;
    }
    while (word < LAUNCH_WORDS && strcmp(name, words[word]) != 0)
        word++;
    if (strcmp(name, "alone") == 0 ||
        (word > LAUNCH_FIRST && word < LAUNCH_WORDS && size == 1 &&
         result->shape.ranks > 1))
        result->singletons++;
    if (word == LAUNCH_WORDS)
        return;
    if (word != LAUNCH_FIRST && (uint64_t)size != result->shape.ranks)
        result->foreign++;
    if (result->count[word] == result->shape.ranks) {
        result->doubled++;
        return;
    }
    result->ms[word][result->count[word]++] = ms;
    result->missing += missing;
    result->wrong += wrong;
    note(result, (enum launch_word)word, rank, host);
}

/* Ranks on the host of rank i. */
static uint64_t on_host(const struct launch_result *result, uint64_t i)
{
    uint64_t n = 0;

    for (uint64_t k = 0; k < result->shape.ranks; k++)
        n += strcmp(result->host[k], result->host[i]) == 0;
    return n;
}

static void demand_placement(struct assay_run *run,
                             const struct launch_result *result,
                             const char *what)
{
    for (uint64_t i = 0; i < result->shape.ranks; i++) {
        uint64_t n = on_host(result, i);

        if (n != result->shape.ppn)
            assay_die(run, ASSAY_BROKEN,
                      "%s: %" PRIu64 " ranks on %s, not %" PRIu64
                      ": the launcher placed them otherwise than it was told",
                      what, n, result->host[i], result->shape.ppn);
    }
}

void launch_demand(struct assay_run *run, const struct launch_result *result,
                   const char *what, enum launch_word last)
{
    uint64_t ranks = result->shape.ranks;

    if (result->singletons > 0)
        assay_die(run, ASSAY_BROKEN,
                  "%s: %" PRIu64 " processes that each believe to be alone, "
                  "not a job of %" PRIu64
                  ": start them with srun --mpi=pmi2, or for MPI with the "
                  "library's own launcher",
                  what, result->singletons, ranks);
    if (result->late)
        assay_die(run, ASSAY_BROKEN,
                  "%s: %zu of %" PRIu64
                  " ranks had their say when the time was over (--limit)",
                  what, result->count[last], ranks);
    if (result->foreign > 0 || result->doubled > 0)
        assay_die(run, ASSAY_BROKEN,
                  "%s: %" PRIu64 " words of other jobs' ranks, %" PRIu64
                  " ranks that speak twice",
                  what, result->foreign, result->doubled);
    for (int word = 0; word <= (int)last; word++)
        if ((last == LAUNCH_GET || word == LAUNCH_FIRST || word == (int)last) &&
            result->count[word] != ranks)
            assay_die(run, ASSAY_BROKEN,
                      "%s: %zu of %" PRIu64
                      " ranks said `%s'; the launcher ended with status %d",
                      what, result->count[word], ranks, words[word],
                      result->status);
    if (result->status != 0 && !result->killed)
        assay_die(run, ASSAY_BROKEN,
                  "%s: all ranks are well, but the launcher ended with "
                  "status %d",
                  what, result->status);
    demand_placement(run, result, what);
}
