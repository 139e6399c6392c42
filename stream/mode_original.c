/* mode_original.c - the user's stream.c and ours in turn, and their ratio.
 * Both count what STREAM counts: no write-allocate. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "stream/layout.h"
#include "stream/modes.h"
#include "stream/peer.h"

/* Best rates of every round, MB/s. */
struct rounds {
    uint64_t n;
    double *ours[ASSAY_STREAM_OPS], *theirs[ASSAY_STREAM_OPS];
    bool complete; /* theirs could be read every time */
};

static void rounds_make(const struct plan *plan, struct rounds *rounds)
{
    *rounds = (struct rounds){.n = plan->opt->rounds, .complete = true};
    for (size_t op = 0; op < ASSAY_STREAM_OPS; op++) {
        rounds->ours[op] =
            assay_room(plan->run, rounds->n, sizeof(double), "rounds");
        rounds->theirs[op] =
            assay_room(plan->run, rounds->n, sizeof(double), "rounds");
    }
}

static void rounds_free(struct rounds *rounds)
{
    for (size_t op = 0; op < ASSAY_STREAM_OPS; op++) {
        free(rounds->ours[op]);
        free(rounds->theirs[op]);
    }
}

/* The original is held to what ours is held to: right data, the same size,
 * the same threads. */
static void check_peer(const struct plan *plan, const struct setup *setup,
                       size_t threads, const struct peer_result *theirs)
{
    struct setup of_theirs = *setup;
    struct assay_fields keys;
    bool same_size = theirs->elements == setup->elements;
    bool same_threads = theirs->threads == threads;

    of_theirs.source = "original";
    keys = stream_keys(plan, &of_theirs, threads);
    assay_check_fact(plan->run, "original.output", theirs->read,
                     theirs->read ? "four rates" : theirs->why, &keys);
    assay_check_fact(plan->run, "original.data", theirs->validates,
                     theirs->validates ? "it says that its solution validates"
                                       : theirs->why,
                     &keys);
    if (theirs->elements)
        assay_check_fact(plan->run, "original.size", same_size,
                         same_size ? "as many elements as ours"
                                   : "it has arrays of another size",
                         &keys);
    else if (setup->round == 1)
        assay_warn(plan->run, "the original does not say how long its arrays "
                              "are");
    if (theirs->threads)
        assay_check_fact(plan->run, "original.threads", same_threads,
                         same_threads ? "as many threads as ours"
                                      : "it has another number of threads",
                         &keys);
    else if (threads > 1 && setup->round == 1)
        assay_warn(plan->run,
                   "the original does not say how many threads it has");
    assay_fields_free(&keys);
}

static double best(const double *x, uint64_t n)
{
    double most = x[0];

    for (uint64_t i = 1; i < n; i++)
        if (x[i] > most)
            most = x[i];
    return most;
}

static void record_source(const struct plan *plan, const struct setup *setup,
                          size_t threads, const char *source,
                          double *const rate[ASSAY_STREAM_OPS])
{
    struct setup of_source = *setup;

    of_source.source = source;
    of_source.round = 0;
    for (size_t op = 0; op < ASSAY_STREAM_OPS; op++) {
        struct assay_fields keys = stream_keys(plan, &of_source, threads);

        assay_metric(
            plan->run,
            &(struct assay_metric){.name = assay_work((enum assay_op)op)->name,
                                   .unit = "MB/s",
                                   .samples = rate[op],
                                   .n = plan->opt->rounds},
            &keys);
        assay_fields_free(&keys);
    }
}

static void record_ratios(const struct plan *plan, const struct setup *setup,
                          size_t threads, const struct rounds *rounds)
{
    struct setup of_both = *setup;

    of_both.round = 0;
    for (size_t op = 0; op < ASSAY_STREAM_OPS; op++) {
        struct assay_fields keys = stream_keys(plan, &of_both, threads);
        double ratio = 100.0 * best(rounds->ours[op], rounds->n) /
                       best(rounds->theirs[op], rounds->n);
        char name[32];

        snprintf(name, sizeof(name), "%s_ratio",
                 assay_work((enum assay_op)op)->name);
        assay_metric(plan->run,
                     &(struct assay_metric){
                         .name = name, .unit = "%", .samples = &ratio, .n = 1},
                     &keys);
        assay_fields_free(&keys);
    }
}

static void print(const char *command, size_t threads,
                  const struct rounds *rounds)
{
    printf("# original: %s\n"
           "# best of %llu rounds in turn, %zu %s, MB/s, no write-allocate\n"
           "Function      original       assay   ratio\n",
           command, (unsigned long long)rounds->n, threads,
           threads == 1 ? "thread" : "threads");
    for (size_t op = 0; op < ASSAY_STREAM_OPS; op++) {
        double ours = best(rounds->ours[op], rounds->n);
        double theirs = best(rounds->theirs[op], rounds->n);
        char label[16];

        snprintf(label, sizeof(label),
                 "%s:", assay_work((enum assay_op)op)->label);
        printf("%-10s%12.1f%12.1f%8.3f\n", label, theirs, ours, ours / theirs);
    }
    fflush(stdout);
}

/* Ours and theirs in turn, so that both meet the same disturbances. */
static void compare(const struct plan *plan, const struct peer *peer,
                    enum peer_build build, size_t threads)
{
    struct setup setup = stream_setup(plan);
    struct result ours = {0};
    struct rounds rounds;

    rounds_make(plan, &rounds);
    setup.threads = threads;
    setup.source = "assay";
    for (uint64_t r = 0; r < rounds.n; r++) {
        struct peer_result theirs;

        setup.round = r + 1;
        ours = stream_measure(plan, &setup);
        theirs = peer_run(plan, peer, build, ours.threads);
        check_peer(plan, &setup, ours.threads, &theirs);
        rounds.complete &= theirs.read;
        for (size_t op = 0; op < ASSAY_STREAM_OPS; op++) {
            rounds.ours[op][r] = ours.best[op];
            rounds.theirs[op][r] = theirs.rate[op];
        }
    }
    if (ours.clocked)
        record_source(plan, &setup, ours.threads, "assay", rounds.ours);
    if (rounds.complete) {
        record_source(plan, &setup, ours.threads, "original", rounds.theirs);
        setup.source = NULL;
        if (ours.clocked)
            record_ratios(plan, &setup, ours.threads, &rounds);
        if (!assay_quiet(plan->run)) {
            stream_print_facts(stdout, plan, &setup, &ours);
            print(peer->command[build], ours.threads, &rounds);
        }
    }
    rounds_free(&rounds);
}

void stream_mode_original(const struct plan *plan)
{
    struct peer peer;

    peer_build(plan, plan->opt->elements, &peer);
    compare(plan, &peer, PEER_SINGLE, 1);
    if (assay_team_count(plan->opt->threads) > 1)
        compare(plan, &peer, PEER_MULTI, plan->opt->threads);
    peer_close(&peer);
}
