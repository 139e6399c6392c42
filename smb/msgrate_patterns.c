/* msgrate_patterns.c - the four ways to send and receive at once.
 *
 * What happens here is timed: no error paths, since an error of MPI ends the
 * job, and nothing that is not the pattern itself. Slot j of a rank sends to
 * a rank whose slot j receives; the slot is the tag, so that peers that stand
 * twice are told apart. */
#include "config.h"

#include "smb/msgrate.h"

static MPI_Request *post_receives(const struct bench *bench, int from, int slot,
                                  MPI_Request *request)
{
    const struct options *opt = bench->plan->opt;
    size_t size = bench->plan->size;
    unsigned char *to = bench->receive + (uint64_t)slot * opt->messages * size;

    for (uint64_t i = 0; i < opt->messages; i++, to += size)
        MPI_Irecv(to, (int)size, MPI_BYTE, from, slot, bench->plan->job->comm,
                  request++);
    return request;
}

static MPI_Request *post_sends(const struct bench *bench, int to, int slot,
                               MPI_Request *request)
{
    const struct options *opt = bench->plan->opt;
    size_t size = bench->plan->size;
    const unsigned char *from =
        bench->send + (uint64_t)slot * opt->messages * size;

    for (uint64_t i = 0; i < opt->messages; i++, from += size)
        MPI_Isend(from, (int)size, MPI_BYTE, to, slot, bench->plan->job->comm,
                  request++);
    return request;
}

static MPI_Request *post_all_receives(const struct bench *bench)
{
    const struct plan *plan = bench->plan;
    MPI_Request *request = bench->requests;

    for (int j = 0; j < (int)plan->opt->peers; j++)
        request = post_receives(bench, plan->receive_from[j], j, request);
    return request;
}

static MPI_Request *post_all_sends(const struct bench *bench,
                                   MPI_Request *request)
{
    const struct plan *plan = bench->plan;

    for (int j = 0; j < (int)plan->opt->peers; j++)
        request = post_sends(bench, plan->send_to[j], j, request);
    return request;
}

static void wait_all(const struct bench *bench, const MPI_Request *end)
{
    MPI_Waitall((int)(end - bench->requests), bench->requests, bench->statuses);
}

static void single_direction(struct bench *bench)
{
    const struct plan *plan = bench->plan;
    MPI_Request *end = bench->requests;

    if (plan->partner < 0)
        return;
    if (plan->sends)
        end = post_sends(bench, plan->partner, 0, end);
    else
        end = post_receives(bench, plan->partner, 0, end);
    wait_all(bench, end);
}

static void pair_based(struct bench *bench)
{
    const struct plan *plan = bench->plan;

    for (int j = 0; j < (int)plan->opt->peers; j++) {
        MPI_Request *end = bench->requests;

        end = post_receives(bench, plan->receive_from[j], j, end);
        end = post_sends(bench, plan->send_to[j], j, end);
        wait_all(bench, end);
    }
}

void post_ahead(struct bench *bench)
{
    post_all_receives(bench);
}

/* The receives are there already. */
static void pre_post(struct bench *bench)
{
    const struct options *opt = bench->plan->opt;

    wait_all(bench, post_all_sends(bench, bench->requests +
                                              opt->peers * opt->messages));
}

static void all_start(struct bench *bench)
{
    wait_all(bench, post_all_sends(bench, post_all_receives(bench)));
}

const struct pattern patterns[PATTERNS] = {
    {"single_direction", "single direction", true, false, single_direction},
    {"pair_based", "pair-based", false, false, pair_based},
    {"pre_post", "  pre-post", false, true, pre_post},
    {"all_start", " all-start", false, false, all_start},
};

uint64_t pattern_messages(const struct pattern *pattern,
                          const struct options *opt)
{
    return pattern->pairs ? opt->messages : 2 * opt->peers * opt->messages;
}
