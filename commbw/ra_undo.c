/* ra_undo.c - the proof: without the updates, the table is what it was.
 *
 * An update that is made twice is undone, and one that is made nowhere, or
 * twice at the wrong place, is too: so what undoes them shares nothing with
 * what made them but the stream and who has which word. */
#include "config.h"

#include <stdlib.h>

#include "commbw/draw.h"
#include "commbw/ra.h"

enum { BATCH = 65536 }; /* words that a rank sends at once */

/* What one rank sends and receives in a round. */
struct round {
    uint64_t *drawn, *send, *receive;
    int *sends, *send_at, *receives, *receive_at; /* [ranks] */
    size_t room;                                  /* of receive */
};

void ra_reset(struct ra *ra)
{
    struct word_at at = {.rank = (uint64_t)ra->job->rank};

    for (at.offset = 0; at.offset < ra->table.size; at.offset++)
        ra->table.word[at.offset] = spread_number(&ra->table.spread, at);
    window_fence(&ra->table.window);
}

static int owner(const struct ra *ra, uint64_t word)
{
    return (int)spread_find(&ra->table.spread, word & ra->mask).rank;
}

/* Counts to places; returns their sum. */
static int places(int ranks, const int *counts, int *at)
{
    int sum = 0;

    for (int r = 0; r < ranks; r++) {
        at[r] = sum;
        sum += counts[r];
    }
    return sum;
}

/* The next n words of the stream, sorted by owner; returns the last one. */
static uint64_t draw_round(const struct ra *ra, struct round *round,
                           uint64_t word, size_t n)
{
    int ranks = ra->job->size;

    for (int r = 0; r < ranks; r++)
        round->sends[r] = 0;
    for (size_t i = 0; i < n; i++) {
        word = random_next(word);
        round->drawn[i] = word;
        round->sends[owner(ra, word)]++;
    }
    places(ranks, round->sends, round->send_at);
    for (size_t i = 0; i < n; i++)
        round->send[round->send_at[owner(ra, round->drawn[i])]++] =
            round->drawn[i];
    places(ranks, round->sends, round->send_at);
    return word;
}

/* To their owners, who undo them. */
static void undo_round(struct ra *ra, struct round *round)
{
    struct table *t = &ra->table;
    MPI_Comm comm = ra->job->comm;
    size_t n;

    MPI_Alltoall(round->sends, 1, MPI_INT, round->receives, 1, MPI_INT, comm);
    n = (size_t)places(ra->job->size, round->receives, round->receive_at);
    if (n > round->room) {
        free(round->receive);
        round->receive =
            assay_room(ra->job->run, n, sizeof(uint64_t), "undoing updates");
        round->room = n;
    }
    MPI_Alltoallv(round->send, round->sends, round->send_at, MPI_UINT64_T,
                  round->receive, round->receives, round->receive_at,
                  MPI_UINT64_T, comm);
    for (size_t i = 0; i < n; i++) {
        uint64_t word = round->receive[i];

        t->word[spread_find(&t->spread, word & ra->mask).offset] ^= word;
    }
}

static uint64_t count_wrong(const struct ra *ra, uint64_t *first)
{
    struct word_at at = {.rank = (uint64_t)ra->job->rank};
    uint64_t wrong = 0;

    for (at.offset = 0; at.offset < ra->table.size; at.offset++) {
        uint64_t number = spread_number(&ra->table.spread, at);

        if (ra->table.word[at.offset] != number && wrong++ == 0)
            *first = number;
    }
    return wrong;
}

static void undo_all(struct ra *ra, struct round *round)
{
    struct stretch mine = stretch_of(ra->updates, (uint64_t)ra->job->rank,
                                     (uint64_t)ra->job->size);
    uint64_t longest = ra->updates / (uint64_t)ra->job->size + 1;
    uint64_t word = random_at(ra->offset + mine.first);

    for (uint64_t done = 0; done < longest; done += BATCH) {
        uint64_t left = done < mine.n ? mine.n - done : 0;
        size_t n = left < BATCH ? (size_t)left : BATCH;

        assay_job_progress(ra->job, "undoing the updates");
        word = draw_round(ra, round, word, n);
        undo_round(ra, round);
    }
}

uint64_t ra_undo(struct ra *ra, uint64_t *first)
{
    size_t ranks = (size_t)ra->job->size;
    struct round round = {
        .drawn = assay_room(ra->job->run, BATCH, sizeof(uint64_t),
                            "undoing updates"),
        .send = assay_room(ra->job->run, BATCH, sizeof(uint64_t),
                           "undoing updates"),
        .receive = assay_room(ra->job->run, BATCH, sizeof(uint64_t),
                              "undoing updates"),
        .sends =
            assay_room(ra->job->run, 4 * ranks, sizeof(int), "undoing updates"),
        .room = BATCH,
    };

    round.send_at = round.sends + ranks;
    round.receives = round.sends + 2 * ranks;
    round.receive_at = round.sends + 3 * ranks;
    undo_all(ra, &round);
    free(round.drawn);
    free(round.send);
    free(round.receive);
    free(round.sends);
    return count_wrong(ra, first);
}
