/* overhead_pair.c - the loops that are timed, and what they carry. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "smb/overhead_pair.h"
#include "smb/overhead_work.h"

enum { DATA_TAG = 1, ORDER_TAG = 2, RESULT_TAG = 3, ENDS = 32 };

/* What the origin tells its target to take part in. */
enum deed { RELEASE, VERIFY, MESSAGES, BARRIERS };
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

void overhead_pair_open(struct overhead_pair *pair, bool receive,
                        uint64_t bytes)
{
    unsigned char *buffer = malloc(bytes ? bytes : 1);

    if (!buffer)
        assay_die(pair->job->run, ASSAY_BROKEN, "a message of %llu bytes: %s",
                  (unsigned long long)bytes, strerror(ENOMEM));
    memset(buffer, 0, bytes ? bytes : 1);
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
 * What messages carry.
 */
static unsigned char byte_at(uint32_t stamp, size_t i)
{
    uint32_t x = ((uint32_t)i + stamp) * 0x9e3779b1u;

    return (unsigned char)(x >> 24 ^ x >> 8);
}

/* Call `f` on bytes 0 to n - 1, or on those at both ends. */
static uint64_t at_bytes(const struct overhead_pair *pair, bool all,
                         uint64_t (*f)(const struct overhead_pair *, size_t))
{
    size_t n = (size_t)pair->bytes, sum = 0;

    for (size_t i = 0; i < n; i++) {
        if (!all && i == ENDS && n > 2 * ENDS)
            i = n - ENDS;
        sum += f(pair, i);
    }
    return sum;
}

static uint64_t fill(const struct overhead_pair *pair, size_t i)
{
    pair->out[i] = byte_at(pair->stamp, i);
    return 0;
}

static uint64_t spoil(const struct overhead_pair *pair, size_t i)
{
    pair->in[i] = (unsigned char)~byte_at(pair->stamp, i);
    return 0;
}

static uint64_t compare(const struct overhead_pair *pair, size_t i)
{
    return pair->in[i] != byte_at(pair->stamp, i);
}

static void prepare(struct overhead_pair *pair, bool all)
{
    at_bytes(pair, all, is_receiver(pair) ? spoil : fill);
}

static void inspect(struct overhead_pair *pair, bool all)
{
    if (!is_receiver(pair))
        return;
    pair->wrong += at_bytes(pair, all, compare);
    pair->verified++;
}

/*
 * Loops. The barrier is that of the pair: another pair that is slow does not
 * show in this one.
 */
static void post(struct overhead_pair *pair, MPI_Request *request)
{
    int other = pair->origin ? 1 : 0;

    if (is_receiver(pair))
        MPI_Irecv(pair->in, pair->bytes, MPI_BYTE, other, DATA_TAG, pair->comm,
                  request);
    else
        MPI_Isend(pair->out, pair->bytes, MPI_BYTE, other, DATA_TAG, pair->comm,
                  request);
}

/* Receives are posted before the barrier, sends after it. */
static void loop_origin(struct overhead_pair *pair, uint64_t work)
{
    MPI_Request request;

    if (pair->receive)
        post(pair, &request);
    MPI_Barrier(pair->comm);
    if (!pair->receive)
        post(pair, &request);
    overhead_work(work);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void loop_work(struct overhead_pair *pair, uint64_t work)
{
    MPI_Barrier(pair->comm);
    overhead_work(work);
}

static void loop_target(struct overhead_pair *pair)
{
    MPI_Request request;

    if (!pair->receive)
        post(pair, &request);
    MPI_Barrier(pair->comm);
    if (pair->receive)
        post(pair, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* The first barrier is not timed: the target has to hear of it. */
static double time_loops(struct overhead_pair *pair, bool message,
                         uint64_t work, uint64_t loops)
{
    double start;

    MPI_Barrier(pair->comm);
    start = assay_now();
    if (message)
        for (uint64_t i = 0; i < loops; i++)
            loop_origin(pair, work);
    else
        for (uint64_t i = 0; i < loops; i++)
            loop_work(pair, work);
    return (assay_now() - start) / (double)loops;
}

static void follow(struct overhead_pair *pair, bool message, uint64_t loops)
{
    MPI_Barrier(pair->comm);
    for (uint64_t i = 0; i < loops; i++)
        if (message)
            loop_target(pair);
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
        prepare(pair, false);
    seconds = time_loops(pair, message, work, loops);
    if (message)
        inspect(pair, false);
    return seconds;
}

void overhead_pair_verify(struct overhead_pair *pair)
{
    order(pair, VERIFY, 1);
    prepare(pair, true);
    time_loops(pair, true, 0, 1);
    inspect(pair, true);
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
        pair->stamp = (uint32_t)words[STAMP];
        if (words[DEED] == RELEASE)
            break;
        if (words[DEED] != BARRIERS)
            prepare(pair, words[DEED] == VERIFY);
        follow(pair, words[DEED] != BARRIERS, words[LOOPS]);
        if (words[DEED] != BARRIERS)
            inspect(pair, words[DEED] == VERIFY);
    }
    MPI_Send((uint64_t[]){pair->wrong, pair->verified}, 2, MPI_UINT64_T, 0,
             RESULT_TAG, pair->comm);
}
