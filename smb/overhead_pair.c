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
    LINE = 64, /* bytes that a buffer begins at a multiple of */
    CACHED =
        16384 /* bytes of all buffers of short messages, which a first-level
                      cache holds: more would be timed */
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

/* As many buffers as short messages may have: each message of a sample has one
 * of its own, or comes after one that is as far back as that. */
static void choose_slots(struct overhead_pair *pair, uint64_t bytes)
{
    pair->stride = (bytes / LINE + 1) * LINE;
    pair->slots = pair->stride < CACHED ? CACHED / pair->stride : 1;
}

void overhead_pair_open(struct overhead_pair *pair, bool receive,
                        uint64_t bytes)
{
    unsigned char *buffer;

    choose_slots(pair, bytes);
    buffer = aligned_alloc(LINE, pair->slots * pair->stride);
    if (!buffer)
        assay_die(pair->job->run, ASSAY_BROKEN, "a message of %llu bytes: %s",
                  (unsigned long long)bytes, strerror(ENOMEM));
    memset(buffer, 0, pair->slots * pair->stride);
    pair->receive = receive;
    pair->bytes = (int)bytes;
    pair->wrong = pair->verified = 0;
    pair->in = pair->out = NULL;
    if (is_receiver(pair))
        pair->in = buffer;
    else
        pair->out = buffer;
    snprintf(pair->what, sizeof(pair->what), "msgsize=%llu direction=%s",
             (unsigned long long)bytes, receive ? "recv" : "send");
}

void overhead_pair_close(struct overhead_pair *pair)
{
    free(pair->in);
    free(pair->out);
    pair->in = pair->out = NULL;
}

/*
 * What messages carry: words that are different in each place, buffer and
 * sample.
 */
enum { WORD = sizeof(uint64_t) };

static uint64_t word_at(uint64_t key, size_t i)
{
    uint64_t x = (key + i) * UINT64_C(0x9e3779b97f4a7c15);

    return x ^ x >> 29;
}

static uint64_t key_of(const struct overhead_pair *pair, size_t slot)
{
    return pair->stamp << 40 ^ (uint64_t)slot << 28;
}

/* Write the message of that key, or with mask ~0 what differs in every byte. */
static void write_message(unsigned char *p, size_t n, uint64_t key,
                          uint64_t mask)
{
    uint64_t word;

    for (size_t i = 0; i < n / WORD; i++) {
        word = word_at(key, i) ^ mask;
        memcpy(p + i * WORD, &word, WORD);
    }
    word = word_at(key, n / WORD) ^ mask;
    memcpy(p + n / WORD * WORD, &word, n % WORD);
}

static unsigned differing(uint64_t x, uint64_t y)
{
    unsigned n = 0;

    for (uint64_t bits = x ^ y; bits; bits >>= 8)
        n += (bits & 0xff) != 0;
    return n;
}

/* Bytes that are not those of the message. */
static uint64_t compare_message(const unsigned char *p, size_t n, uint64_t key)
{
    uint64_t wrong = 0, word, last = word_at(key, n / WORD), rest = last;

    for (size_t i = 0; i < n / WORD; i++) {
        memcpy(&word, p + i * WORD, WORD);
        if (word != word_at(key, i))
            wrong += differing(word, word_at(key, i));
    }
    memcpy(&rest, p + n / WORD * WORD, n % WORD);
    return wrong + differing(rest, last);
}

static unsigned char *buffer_of(const struct overhead_pair *pair, size_t slot)
{
    unsigned char *base = is_receiver(pair) ? pair->in : pair->out;

    return base + slot % pair->slots * pair->stride;
}

static size_t slots_used(const struct overhead_pair *pair, uint64_t loops)
{
    return loops < pair->slots ? (size_t)loops : pair->slots;
}

/* What is sent, or what must not be there any more when it has come. */
static void prepare(struct overhead_pair *pair, uint64_t loops)
{
    uint64_t mask = is_receiver(pair) ? UINT64_MAX : 0;

    for (size_t slot = 0; slot < slots_used(pair, loops); slot++)
        write_message(buffer_of(pair, slot), (size_t)pair->bytes,
                      key_of(pair, slot), mask);
}

static void inspect(struct overhead_pair *pair, uint64_t loops)
{
    if (!is_receiver(pair))
        return;
    for (size_t slot = 0; slot < slots_used(pair, loops); slot++) {
        pair->wrong += compare_message(buffer_of(pair, slot),
                                       (size_t)pair->bytes, key_of(pair, slot));
        pair->verified++;
    }
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

/* Buffers in turn; counted, since a division would be timed. */
static unsigned char *next_buffer(const struct overhead_pair *pair,
                                  size_t *slot)
{
    unsigned char *buffer =
        (is_receiver(pair) ? pair->in : pair->out) + *slot * pair->stride;

    *slot = *slot + 1 == pair->slots ? 0 : *slot + 1;
    return buffer;
}

/* Receives are posted before the barrier, sends after it. */
static void loop_origin(struct overhead_pair *pair, uint64_t work, size_t *slot)
{
    unsigned char *buffer = next_buffer(pair, slot);
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

static void loop_target(struct overhead_pair *pair, size_t *slot)
{
    unsigned char *buffer = next_buffer(pair, slot);
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
    size_t slot = 0;
    double start;

    MPI_Barrier(pair->comm);
    start = assay_now();
    if (message)
        for (uint64_t i = 0; i < loops; i++)
            loop_origin(pair, work, &slot);
    else
        for (uint64_t i = 0; i < loops; i++)
            loop_work(pair, work);
    return (assay_now() - start) / (double)loops;
}

static void follow(struct overhead_pair *pair, bool message, uint64_t loops)
{
    size_t slot = 0;

    MPI_Barrier(pair->comm);
    for (uint64_t i = 0; i < loops; i++)
        if (message)
            loop_target(pair, &slot);
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
