/* peers.c - the choice of peers, on maps of jobs that this machine can't run.
 *
 * What holds for every map is counted over all ranks and slots, so that one
 * point speaks for all; each check is shown to find a planted fault. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "smb/peers.h"
#include "t/unit/tap.h"

/* Placements: which node a rank is on. */
static size_t block(uint64_t rank, uint64_t nodes, uint64_t ppn)
{
    (void)nodes;
    return rank / ppn;
}

static size_t cyclic(uint64_t rank, uint64_t nodes, uint64_t ppn)
{
    (void)ppn;
    return rank % nodes;
}

typedef size_t place_f(uint64_t rank, uint64_t nodes, uint64_t ppn);

static size_t *node_map(place_f *place, uint64_t nodes, uint64_t ppn)
{
    size_t *node_of = calloc(nodes * ppn, sizeof(*node_of));

    for (uint64_t rank = 0; node_of && rank < nodes * ppn; rank++)
        node_of[rank] = place(rank, nodes, ppn);
    return node_of;
}

/* Put the ranks of a map anywhere, the same way in every run. */
static void shuffle(size_t *node_of, uint64_t ranks)
{
    uint64_t state = 88172645463325252u;

    for (uint64_t i = ranks - 1; i > 0; i--) {
        uint64_t j;
        size_t node = node_of[i];

        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        j = state % (i + 1);
        node_of[i] = node_of[j];
        node_of[j] = node;
    }
}

/* All peers of all ranks: send[rank * n + slot], and likewise receive. */
struct table {
    uint64_t ranks, n;
    int *send, *receive;
};

static struct table choose_all(const struct layout *layout, uint64_t n)
{
    struct table t = {layout->ranks, n, NULL, NULL};

    t.send = calloc(t.ranks * n, sizeof(int));
    t.receive = calloc(t.ranks * n, sizeof(int));
    for (uint64_t rank = 0; t.send && t.receive && rank < t.ranks; rank++)
        peers_choose(layout, rank, n, t.send + rank * n, t.receive + rank * n);
    return t;
}

static void table_free(struct table *t)
{
    free(t->send);
    free(t->receive);
}

/* Peers on the rank's own node, sends and receives together. */
static uint64_t count_near(const struct table *t, const size_t *node_of)
{
    uint64_t near = 0;

    for (uint64_t i = 0; i < t->ranks * t->n; i++) {
        near += node_of[t->send[i]] == node_of[i / t->n];
        near += node_of[t->receive[i]] == node_of[i / t->n];
    }
    return near;
}

/* Slots whose send no receive of the same slot awaits. */
static uint64_t count_unmet(const struct table *t)
{
    uint64_t unmet = 0;

    for (uint64_t rank = 0; rank < t->ranks; rank++)
        for (uint64_t j = 0; j < t->n; j++) {
            uint64_t to = (uint64_t)t->send[rank * t->n + j];

            unmet += t->receive[to * t->n + j] != (int)rank;
        }
    return unmet;
}

static uint64_t count_twice(const int *list, uint64_t n)
{
    uint64_t twice = 0;

    for (uint64_t i = 0; i < n; i++)
        for (uint64_t j = 0; j < i; j++)
            twice += list[i] == list[j];
    return twice;
}

/* Pairs of slots of one rank that have one peer. */
static uint64_t count_repeated(const struct table *t)
{
    uint64_t repeated = 0;

    for (uint64_t rank = 0; rank < t->ranks; rank++) {
        repeated += count_twice(t->send + rank * t->n, t->n);
        repeated += count_twice(t->receive + rank * t->n, t->n);
    }
    return repeated;
}

/* Ranks whose partner is on their node, or is not theirs in turn; idle ones
 * in *idle. */
static uint64_t count_bad_partners(const struct layout *layout,
                                   const size_t *node_of, uint64_t *idle)
{
    uint64_t bad = 0;

    *idle = 0;
    for (uint64_t rank = 0; rank < layout->ranks; rank++) {
        bool sends, back_sends;
        int partner = partner_of(layout, rank, &sends);

        if (partner < 0) {
            ++*idle;
            bad += sends;
            continue;
        }
        bad += node_of[partner] == node_of[rank];
        bad += partner_of(layout, (size_t)partner, &back_sends) != (int)rank;
        bad += sends == back_sends;
    }
    return bad;
}

/* A map, or the end of the test: nothing can be said without one. */
static struct assay_map build(const size_t *node_of, uint64_t ranks)
{
    struct assay_map map;

    if (assay_map_build(&map, ranks, node_of, NULL) < 0)
        abort();
    return map;
}

static void holds(const char *what, const size_t *node_of, uint64_t nodes,
                  uint64_t ppn, uint64_t npeers)
{
    struct assay_map map = build(node_of, nodes * ppn);
    struct layout layout;
    struct table t;
    char error[256] = "";
    uint64_t idle;

    ok(layout_real(&layout, &map, error, sizeof(error)) == 0 &&
           layout.nodes == nodes && layout.ppn == ppn,
       "%s: %ju nodes of %ju ranks", what, (uintmax_t)nodes, (uintmax_t)ppn);
    ok(peers_check(&layout, npeers, false, error, sizeof(error)) == 0,
       "... %ju peers can be had", (uintmax_t)npeers);
    t = choose_all(&layout, npeers);
    is_count(count_near(&t, node_of), 0, "... none on the same node");
    is_count(count_repeated(&t), 0, "... all distinct");
    is_count(count_unmet(&t), 0, "... each send has its receive");
    is_count(count_bad_partners(&layout, node_of, &idle), 0,
             "... partners are off the node and mutual");
    is_count(idle, layout.ranks % 2, "... and none is idle without need");
    table_free(&t);
    assay_map_free(&map);
}

static void holds_placed(const char *what, place_f *place, uint64_t nodes,
                         uint64_t ppn, uint64_t npeers)
{
    size_t *node_of = node_map(place, nodes, ppn);

    holds(what, node_of, nodes, ppn, npeers);
    free(node_of);
}

static void test_layouts(void)
{
    size_t *node_of = node_map(block, 8, 24);

    holds_placed("192 ranks in blocks", block, 8, 24, 6);
    holds_placed("192 ranks, odd peers", block, 8, 24, 7);
    holds_placed("192 ranks, one peer", block, 8, 24, 1);
    holds_placed("192 ranks, cyclic", cyclic, 8, 24, 6);
    holds_placed("45 ranks on 9 nodes", cyclic, 9, 5, 8);
    holds_placed("3 ranks on 3 nodes", block, 3, 1, 2);
    holds_placed("26 peers on 27 nodes", block, 27, 2, 26);
    shuffle(node_of, 192);
    holds("192 ranks anywhere", node_of, 8, 24, 6);
    holds("192 ranks anywhere, odd peers", node_of, 8, 24, 5);
    free(node_of);
}

/* The original's own rule, where placement is in blocks. */
static void test_distances(void)
{
    size_t *node_of = node_map(block, 8, 24);
    struct assay_map map = build(node_of, 192);
    static const int want_send[7] = {148, 172, 4, 52, 76, 100, 124};
    static const int want_receive[7] = {100, 76, 52, 4, 172, 148, 124};
    struct layout layout;
    int send[7], receive[7];
    char error[256];

    layout_real(&layout, &map, error, sizeof(error));
    peers_choose(&layout, 28, 7, send, receive);
    ok(memcmp(send, want_send, sizeof(send)) == 0,
       "rank 28 sends to 3 x ppn below up to 4 x ppn above, wrapping");
    ok(memcmp(receive, want_receive, sizeof(receive)) == 0,
       "... and receives from the opposite of each");
    assay_map_free(&map);
    free(node_of);
}

static void test_uneven(void)
{
    static const size_t uneven[5] = {0, 1, 0, 1, 0};
    static const char *const host[5] = {"n1", "n2", "n1", "n2", "n1"};
    struct assay_map map;
    struct layout layout;
    char error[256] = "";

    if (assay_map_build(&map, 5, uneven, host) < 0)
        abort();
    ok(layout_real(&layout, &map, error, sizeof(error)) < 0,
       "uneven ranks per node are refused");
    is_text(error,
            "n1 has 3 ranks and n2 has 2: all nodes must have the same number",
            "... by the names of the nodes");
    assay_map_free(&map);
}

static void test_refusals(void)
{
    static const size_t one[4] = {0, 0, 0, 0};
    size_t *node_of = node_map(block, 6, 2);
    struct assay_map small = build(one, 4), large = build(node_of, 12);
    struct layout layout;
    char error[256] = "";

    layout_real(&layout, &small, error, sizeof(error));
    ok(peers_check(&layout, 1, true, error, sizeof(error)) < 0 &&
           strstr(error, "all 4 ranks are on one node"),
       "one node has no peers, repeated or not");
    layout_real(&layout, &large, error, sizeof(error));
    ok(peers_check(&layout, 5, false, error, sizeof(error)) == 0,
       "6 nodes have 5 peers");
    ok(peers_check(&layout, 6, false, error, sizeof(error)) < 0 &&
           strstr(error, "need 7 nodes, and there are 6"),
       "... but not 6");
    ok(peers_check(&layout, 26, true, error, sizeof(error)) == 0,
       "... unless peers may be repeated");
    assay_map_free(&small);
    assay_map_free(&large);
    free(node_of);
}

static void test_repeated(void)
{
    for (uint64_t nodes = 2; nodes <= 5; nodes++) {
        size_t *node_of = node_map(cyclic, nodes, 3);
        struct assay_map map = build(node_of, nodes * 3);
        struct layout layout;
        struct table t;
        char error[256];

        layout_real(&layout, &map, error, sizeof(error));
        t = choose_all(&layout, 26);
        is_count(count_near(&t, node_of), 0,
                 "26 peers on %ju nodes: none on the same node",
                 (uintmax_t)nodes);
        is_count(count_unmet(&t), 0, "... each send has its receive");
        table_free(&t);
        assay_map_free(&map);
        free(node_of);
    }
}

static void test_mock(void)
{
    static const size_t one[6] = {0, 0, 0, 0, 0, 0};
    static const size_t mock[6] = {0, 0, 1, 1, 2, 2};
    struct assay_map map = build(one, 6);
    struct layout layout;
    struct table t;
    char error[256] = "";

    ok(layout_mock(&layout, &map, 4, error, sizeof(error)) < 0 &&
           strstr(error, "6 ranks can't be cut into nodes of 4"),
       "6 ranks make no mock nodes of 4");
    ok(layout_mock(&layout, &map, 0, error, sizeof(error)) < 0, "... nor of 0");
    ok(layout_mock(&layout, &map, 2, error, sizeof(error)) == 0 &&
           layout.nodes == 3 && layout.mock,
       "... but three of 2");
    t = choose_all(&layout, 2);
    is_count(count_near(&t, mock), 0, "... whose peers are on other ones");
    table_free(&t);
    assay_map_free(&map);
}

/* rank * rank does not fit an int above 46340 ranks, nor does k * ppn. */
static void test_large(void)
{
    size_t *node_of = node_map(cyclic, 4, 16384);
    struct assay_map map = build(node_of, 65536);
    struct layout layout;
    int send[3], receive[3];
    char error[256];

    holds_placed("46341 ranks", cyclic, 46341, 1, 6);
    holds_placed("100000 ranks", block, 100000 / 8, 8, 7);
    layout_real(&layout, &map, error, sizeof(error));
    peers_choose(&layout, 65535, 3, send, receive);
    ok(send[0] == 65534 && send[2] == 65533 && receive[2] == 65533,
       "65536 ranks on 4 nodes, cyclic: the last one's peers");
    assay_map_free(&map);
    free(node_of);
}

/* The checks themselves find what they are for. */
static void test_checks(void)
{
    size_t *node_of = node_map(block, 8, 24);
    struct assay_map map = build(node_of, 192);
    struct layout layout;
    struct table t;
    char error[256];

    layout_real(&layout, &map, error, sizeof(error));
    t = choose_all(&layout, 6);
    t.send[0] = 1;
    ok(count_near(&t, node_of) == 1, "a peer on the same node would show");
    ok(count_unmet(&t) > 0, "... and a send without its receive");
    t.send[1] = t.send[2];
    ok(count_repeated(&t) > 0, "... and a peer that stands twice");
    table_free(&t);
    assay_map_free(&map);
    free(node_of);
}

int main(void)
{
    test_layouts();
    test_distances();
    test_uneven();
    test_refusals();
    test_repeated();
    test_mock();
    test_large();
    test_checks();
    return done_testing();
}
