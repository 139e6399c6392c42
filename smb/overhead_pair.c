/* overhead_pair.c - the loops that are timed, and what they carry. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "smb/overhead_pair.h"
#include "smb/overhead_work.h"

enum {
    DATA_TAG = 1,
    ORDER_TAG = 2,
    RESULT_TAG = 3,
    LINE = 64,      /* bytes: what arrives begins at a multiple of it */
    PLACES = 64,    /* where messages of a sample arrive, one after the other */
    CACHED = 16384, /* bytes of all places of a short message, which a
                       first-level cache holds: more would be timed */
};

/* What the origin tells its target to take part in. */
enum deed { RELEASE, MESSAGES, BARRIERS };
enum { DEED, LOOPS, STAMP, WORDS };

void overhead_pair_form(struct overhead_pair *pair, struct assay_job *job)
{
    int half = job->size / 2;

    *pair = (struct overhead_pair){.job = job};
    pair->pairs = (size_t)half;
    pair->index = (size_t)(job->rank % half);
    pair->origin = job->rank < half;
    MPI_Comm_split(job->comm, job->rank % half, job->rank, &pair->comm);
}

static bool is_receiver(const struct overhead_pair *pair)
{
    return pair->origin == pair->receive;
}

/* A sender has one buffer, as in the original. A receiver has a place of its own
 * for each message of a sample, so that none hides that another did not come;
 * but those of a longer message overlap, so that it is not the memory that is
 * timed: each is `stride' bytes on, or back, and of a message which others follow
 * remains that much of its beginning, or of its end. */
static void choose_places(struct overhead_pair *pair, size_t bytes)
{
    size_t whole = (bytes / LINE + 1) * LINE;
    size_t room = bytes < CACHED ? (CACHED - bytes) / PLACES / LINE * LINE : 0;

    if (room < LINE)
        room = LINE;
    pair->stride = room < whole ? room : whole;
    pair->room = (PLACES - 1) * pair->stride + whole;
    if (!is_receiver(pair))
        pair->room = whole;
}

void overhead_pair_open(struct overhead_pair *pair, bool receive,
                        uint64_t bytes)
{
    pair->receive = receive;
    pair->bytes = (int)bytes;
    choose_places(pair, bytes);
    pair->buffer = aligned_alloc(LINE, pair->room);
    if (!pair->buffer)
        assay_die(pair->job->run, ASSAY_BROKEN, "a message of %llu bytes: %s",
                  (unsigned long long)bytes, strerror(ENOMEM));
    memset(pair->buffer, 0, pair->room);
    pair->wrong = pair->verified = 0;
    snprintf(pair->what, sizeof(pair->what), "msgsize=%llu direction=%s",
             (unsigned long long)bytes, receive ? "recv" : "send");
}

void overhead_pair_close(struct overhead_pair *pair)
{
    free(pair->buffer);
    pair->buffer = NULL;
}

/*
 * What messages carry: words that are different in each place and sample.
 */
enum { WORD = sizeof(uint64_t) };

static uint64_t word_at(const struct overhead_pair *pair, size_t i)
{
    uint64_t x = ((pair->stamp << 40) + i) * UINT64_C(0x9e3779b97f4a7c15);

    return x ^ x >> 29;
}

/* Bytes of one word of the message from the ith on, up to `to'. */
static size_t in_word(size_t i, size_t to)
{
    size_t n = WORD - i % WORD;

    return n < to - i ? n : to - i;
}

/* Write bytes from..to of the message at p, or with mask ~0 what differs in every
 * byte. */
static void write_message(const struct overhead_pair *pair, unsigned char *p,
                          size_t from, size_t to, uint64_t mask)
{
    size_t n;

    for (size_t i = from; i < to; i += n) {
        uint64_t word = word_at(pair, i / WORD) ^ mask;

        n = in_word(i, to);
        if (n == WORD)
            memcpy(p + i, &word, WORD);
        else
            memcpy(p + i, (unsigned char *)&word + i % WORD, n);
    }
}

static unsigned differing(uint64_t x, uint64_t y)
{
    unsigned n = 0;

    for (uint64_t bits = x ^ y; bits; bits >>= 8)
        n += (bits & 0xff) != 0;
    return n;
}

/* Of bytes from..to of the message at p, those that are not as they were sent. */
static uint64_t compare_message(const struct overhead_pair *pair,
                                const unsigned char *p, size_t from, size_t to)
{
    uint64_t wrong = 0;
    size_t n;

    for (size_t i = from; i < to; i += n) {
        uint64_t sent = word_at(pair, i / WORD), got = sent;

        n = in_word(i, to);
        if (n == WORD)
            memcpy(&got, p + i, WORD);
        else
            memcpy((unsigned char *)&got + i % WORD, p + i, n);
        if (got != sent)
            wrong += differing(got, sent);
    }
    return wrong;
}

/* Messages of a sample come forwards or backwards, in turn. */
static bool is_forward(const struct overhead_pair *pair)
{
    return pair->stamp % 2 == 0;
}

static unsigned char *place_of(const struct overhead_pair *pair, size_t i)
{
    if (!is_receiver(pair))
        return pair->buffer;
    return pair->buffer +
           (is_forward(pair) ? i : PLACES - 1 - i) * pair->stride;
}

/* Of the messages that came after the places were last used up, each with the
 * bytes that no other overwrote: of the last one all. */
struct rest {
    unsigned char *at;
    size_t from, to;
};

static size_t rests(uint64_t loops)
{
    return (size_t)((loops - 1) % PLACES) + 1;
}

static struct rest rest_of(const struct overhead_pair *pair, size_t i,
                           size_t rests)
{
    struct rest rest = {place_of(pair, i), 0, (size_t)pair->bytes};

    if (i + 1 == rests || rest.to <= pair->stride)
        return rest;
    if (is_forward(pair))
        rest.to = pair->stride;
    else
        rest.from = rest.to - pair->stride;
    return rest;
}

/* What is sent, or what must not be there any more when it has come. */
static void prepare(struct overhead_pair *pair, uint64_t loops)
{
    size_t n = rests(loops);

    if (!is_receiver(pair)) {
        write_message(pair, pair->buffer, 0, (size_t)pair->bytes, 0);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        struct rest rest = rest_of(pair, i, n);

        write_message(pair, rest.at, rest.from, rest.to, UINT64_MAX);
    }
}

static void inspect(struct overhead_pair *pair, uint64_t loops)
{
    size_t n = rests(loops);

    if (!is_receiver(pair))
        return;
    for (size_t i = 0; i < n; i++) {
        struct rest rest = rest_of(pair, i, n);

        pair->wrong += compare_message(pair, rest.at, rest.from, rest.to);
    }
    pair->verified += n;
}

/*
 * Loops. The barrier is that of the pair: another pair that is slow does not
 * show in this one.
 */
static void post(struct overhead_pair *pair, unsigned char *buffer,
                 MPI_Request *request)
{
    int other = pair->origin ? 1 : 0;

    if (is_receiver(pair))
        MPI_Irecv(buffer, pair->bytes, MPI_BYTE, other, DATA_TAG, pair->comm,
                  request);
    else
        MPI_Isend(buffer, pair->bytes, MPI_BYTE, other, DATA_TAG, pair->comm,
                  request);
}

/* How messages of a sample move on: counted, since a division would be timed. */
struct walk {
    unsigned char *first, *at;
    ptrdiff_t step;
    unsigned left;
};

static struct walk walk_of(const struct overhead_pair *pair)
{
    unsigned char *first = place_of(pair, 0);

    return (struct walk){first, first, place_of(pair, 1) - first, PLACES};
}

static unsigned char *next_place(struct walk *walk)
{
    unsigned char *at = walk->at;

    if (--walk->left > 0) {
        walk->at += walk->step;
    } else {
        walk->at = walk->first;
        walk->left = PLACES;
    }
    return at;
}

/* Receives are posted before the barrier, sends after it. */
static void loop_origin(struct overhead_pair *pair, uint64_t work,
                        struct walk *walk)
{
    unsigned char *buffer = next_place(walk);
    MPI_Request request;

    if (pair->receive)
        post(pair, buffer, &request);
    MPI_Barrier(pair->comm);
    if (!pair->receive)
        post(pair, buffer, &request);
    overhead_work(work);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void loop_work(struct overhead_pair *pair, uint64_t work)
{
    MPI_Barrier(pair->comm);
    overhead_work(work);
}

static void loop_target(struct overhead_pair *pair, struct walk *walk)
{
    unsigned char *buffer = next_place(walk);
    MPI_Request request;

    if (!pair->receive)
        post(pair, buffer, &request);
    MPI_Barrier(pair->comm);
    if (pair->receive)
        post(pair, buffer, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* The first barrier is not timed: the target has to hear of it. */
static double time_loops(struct overhead_pair *pair, bool message,
                         uint64_t work, uint64_t loops)
{
    struct walk walk = walk_of(pair);
    double start;

    MPI_Barrier(pair->comm);
    start = assay_now();
    if (message)
        for (uint64_t i = 0; i < loops; i++)
            loop_origin(pair, work, &walk);
    else
        for (uint64_t i = 0; i < loops; i++)
            loop_work(pair, work);
    return (assay_now() - start) / (double)loops;
}

static void follow(struct overhead_pair *pair, bool message, uint64_t loops)
{
    struct walk walk = walk_of(pair);

    MPI_Barrier(pair->comm);
    for (uint64_t i = 0; i < loops; i++)
        if (message)
            loop_target(pair, &walk);
        else
            MPI_Barrier(pair->comm);
}

static void order(struct overhead_pair *pair, enum deed deed, uint64_t loops)
{
    uint64_t words[WORDS] = {
        [DEED] = deed, [LOOPS] = loops, [STAMP] = ++pair->stamp};

    assay_job_progress(pair->job, pair->what);
    MPI_Send(words, WORDS, MPI_UINT64_T, 1, ORDER_TAG, pair->comm);
}

double overhead_pair_sample(void *context, bool message, uint64_t work,
                            uint64_t loops)
{
    struct overhead_pair *pair = context;
    double seconds;

    order(pair, message ? MESSAGES : BARRIERS, loops);
    if (message)
        prepare(pair, loops);
    seconds = time_loops(pair, message, work, loops);
    if (message)
        inspect(pair, loops);
    return seconds;
}

void overhead_pair_release(struct overhead_pair *pair)
{
    uint64_t found[2];

    order(pair, RELEASE, 0);
    MPI_Recv(found, 2, MPI_UINT64_T, 1, RESULT_TAG, pair->comm,
             MPI_STATUS_IGNORE);
    pair->wrong += found[0];
    pair->verified += found[1];
}

void overhead_pair_serve(struct overhead_pair *pair)
{
    uint64_t words[WORDS];

    for (;;) {
        assay_job_progress(pair->job, pair->what);
        MPI_Recv(words, WORDS, MPI_UINT64_T, 0, ORDER_TAG, pair->comm,
                 MPI_STATUS_IGNORE);
        pair->stamp = words[STAMP];
        if (words[DEED] == RELEASE)
            break;
        if (words[DEED] != BARRIERS)
            prepare(pair, words[LOOPS]);
        follow(pair, words[DEED] != BARRIERS, words[LOOPS]);
        if (words[DEED] != BARRIERS)
            inspect(pair, words[LOOPS]);
    }
    MPI_Send((uint64_t[]){pair->wrong, pair->verified}, 2, MPI_UINT64_T, 0,
             RESULT_TAG, pair->comm);
}
