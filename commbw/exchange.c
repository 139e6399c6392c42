/* exchange.c - words in messages, and their answers.
 *
 * Each rank fills one bucket for every other. A full one goes into a flight, of
 * which there are a few, shared by all destinations: the receive of its answer
 * is posted, then it is sent. Messages begin with the number of the flight,
 * which is the tag of the answer, so answers may come in any order. */
#include "config.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "commbw/exchange.h"
#include "lib/units.h"

enum {
    FLIGHTS = 8,    /* messages of ours under way */
    SERVERS = 8,    /* receives of others' messages, posted */
    TAG_WORDS = 0,  /* of a message; answers have those behind it: */
    TAG_ANSWER = 1, /* + flight */
    REQUESTS = 2 * FLIGHTS + SERVERS,
    PATIENCE = 64, /* times that there was nothing to do before others on this
                      CPU, who may be who is waited for, get their turn */
};

/* A message of ours, from send to answer. */
struct flight {
    struct bucket bucket;
    uint64_t *answer;
    int rank;
    int left; /* of send and answer, how many are under way; 0: idle */
};

/* A message of another's, from receive to answer. */
struct server {
    uint64_t *message, *answer;
    bool answering;
};

struct exchange {
    struct exchange_kind kind;
    MPI_Comm comm;
    int rank, size;
    uint64_t *to;
    int idle;               /* times in turn that there was nothing to do */
    struct bucket *filling; /* [size] */
    struct flight flight[FLIGHTS];
    struct server server[SERVERS];
    /* sends, answers and servers, in this order; and what MPI makes of them */
    MPI_Request request[REQUESTS];
    int done[REQUESTS];
    MPI_Status status[REQUESTS];
};

uint64_t exchange_bytes(uint64_t ranks, uint64_t room)
{
    uint64_t buckets = assay_product(ranks + FLIGHTS, 2 * room + 1);
    uint64_t others = (FLIGHTS + 2 * SERVERS) * (room + 1);

    if (buckets > UINT64_MAX - others)
        return UINT64_MAX;
    return assay_product(buckets + others, sizeof(uint64_t));
}

static void no_memory(const struct exchange *x)
{
    assay_die(x->kind.job->run, ASSAY_BROKEN,
              "no memory for messages of %zu words to %d ranks", x->kind.room,
              x->size);
}

static uint64_t *words_of(const struct exchange *x, size_t n)
{
    return assay_room(x->kind.job->run, n, sizeof(uint64_t), "messages");
}

static void post(struct exchange *x, size_t s)
{
    x->server[s].answering = false;
    MPI_Irecv(x->server[s].message, (int)x->kind.room + 1, MPI_UINT64_T,
              MPI_ANY_SOURCE, TAG_WORDS, x->comm, &x->request[2 * FLIGHTS + s]);
}

struct exchange *exchange_open(const struct exchange_kind *kind)
{
    struct exchange *x = assay_room(kind->job->run, 1, sizeof(*x), "messages");

    x->kind = *kind;
    MPI_Comm_dup(kind->comm, &x->comm);
    MPI_Comm_rank(x->comm, &x->rank);
    MPI_Comm_size(x->comm, &x->size);
    x->filling = assay_room(kind->job->run, (size_t)x->size,
                            sizeof(*x->filling), "messages");
    for (int r = 0; r < x->size; r++)
        if (r != x->rank && bucket_make(&x->filling[r], kind->room) < 0)
            no_memory(x);
    for (size_t i = 0; i < REQUESTS; i++)
        x->request[i] = MPI_REQUEST_NULL;
    for (size_t f = 0; f < FLIGHTS; f++) {
        x->flight[f].answer = words_of(x, kind->room);
        if (bucket_make(&x->flight[f].bucket, kind->room) < 0)
            no_memory(x);
    }
    for (size_t s = 0; s < SERVERS; s++) {
        x->server[s].message = words_of(x, kind->room + 1);
        x->server[s].answer = words_of(x, kind->room);
        post(x, s);
    }
    return x;
}

void exchange_close(struct exchange *x)
{
    for (size_t s = 0; s < SERVERS; s++) {
        if (!x->server[s].answering)
            MPI_Cancel(&x->request[2 * FLIGHTS + s]);
        MPI_Wait(&x->request[2 * FLIGHTS + s], &x->status[0]);
        free(x->server[s].message);
        free(x->server[s].answer);
    }
    for (size_t f = 0; f < FLIGHTS; f++) {
        free(x->flight[f].answer);
        bucket_free(&x->flight[f].bucket);
    }
    for (int r = 0; r < x->size; r++)
        bucket_free(&x->filling[r]);
    free(x->filling);
    MPI_Comm_free(&x->comm);
    free(x);
}

/* Another's message is here: serve it, and say so. */
static void serve(struct exchange *x, size_t s, const MPI_Status *status)
{
    struct server *server = &x->server[s];
    int words;

    MPI_Get_count(status, MPI_UINT64_T, &words);
    words--;
    x->kind.serve(x->kind.with, status->MPI_SOURCE, server->message + 1,
                  (size_t)words, server->answer);
    server->answering = true;
    MPI_Isend(server->answer, x->kind.answers ? words : 0, MPI_UINT64_T,
              status->MPI_SOURCE, TAG_ANSWER + (int)server->message[0], x->comm,
              &x->request[2 * FLIGHTS + s]);
}

/* Our message is sent, or its answer is here. */
static void land(struct exchange *x, struct flight *flight)
{
    if (--flight->left > 0)
        return;
    if (x->kind.answers)
        bucket_scatter(&flight->bucket, flight->answer, x->to);
    flight->bucket.n = 0;
}

/* Do what can be done now. */
static void progress(struct exchange *x)
{
    int n;

    MPI_Testsome(REQUESTS, x->request, &n, x->done, x->status);
    x->idle = n > 0 ? 0 : x->idle + 1;
    if (x->idle > PATIENCE)
        sched_yield();
    for (int i = 0; i < n; i++) {
        size_t which = (size_t)x->done[i];

        if (which < 2 * FLIGHTS)
            land(x, &x->flight[which % FLIGHTS]);
        else if (x->server[which - 2 * FLIGHTS].answering)
            post(x, which - 2 * FLIGHTS);
        else
            serve(x, which - 2 * FLIGHTS, &x->status[i]);
    }
}

static size_t idle_flight(struct exchange *x)
{
    for (;;) {
        for (size_t f = 0; f < FLIGHTS; f++)
            if (x->flight[f].left == 0)
                return f;
        progress(x);
    }
}

/* The bucket takes off, and the flight's empty one takes its place. */
static void take_off(struct exchange *x, int rank)
{
    size_t f = idle_flight(x);
    struct flight *flight = &x->flight[f];
    struct bucket empty = flight->bucket;

    flight->bucket = x->filling[rank];
    x->filling[rank] = empty;
    flight->rank = rank;
    flight->left = 2;
    flight->bucket.message[0] = f;
    MPI_Irecv(flight->answer, x->kind.answers ? (int)flight->bucket.n : 0,
              MPI_UINT64_T, rank, TAG_ANSWER + (int)f, x->comm,
              &x->request[FLIGHTS + f]);
    MPI_Isend(flight->bucket.message, (int)flight->bucket.n + 1, MPI_UINT64_T,
              rank, TAG_WORDS, x->comm, &x->request[f]);
    progress(x);
}

void exchange_put(struct exchange *x, int rank, uint64_t word, uint64_t place,
                  uint64_t *to)
{
    x->to = to;
    if (bucket_add(&x->filling[rank], word, place))
        take_off(x, rank);
}

static bool all_landed(const struct exchange *x)
{
    for (size_t f = 0; f < FLIGHTS; f++)
        if (x->flight[f].left > 0)
            return false;
    return true;
}

/* Ranks begin with the one behind them: not all with the same. */
void exchange_drain(struct exchange *x)
{
    for (int i = 1; i < x->size; i++) {
        int rank = (x->rank + i) % x->size;

        if (x->filling[rank].n > 0)
            take_off(x, rank);
    }
    while (!all_landed(x))
        progress(x);
}

/* Who enters the barrier has all its answers, so when all have entered, none is
 * under way; but the sends of the last ones may not be known to be complete. */
void exchange_finish(struct exchange *x)
{
    MPI_Request all;
    int entered = 0;

    exchange_drain(x);
    MPI_Ibarrier(x->comm, &all);
    while (!entered) {
        progress(x);
        MPI_Test(&all, &entered, &x->status[0]);
    }
}
