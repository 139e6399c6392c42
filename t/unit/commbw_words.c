/* commbw_words.c - what of indexgather and ra needs no MPI: who has which word,
 * random numbers, buckets, times. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "commbw/bucket.h"
#include "commbw/draw.h"
#include "commbw/span.h"
#include "commbw/spread.h"
#include "t/unit/tap.h"

/* Every word must be where spread_number says that it is, and no word twice:
 * returns how many are not. */
static uint64_t count_lost(const struct spread *s)
{
    uint64_t lost = 0, seen = 0;

    for (uint64_t g = 0; g < s->total; g++) {
        struct word_at at = spread_find(s, g);

        lost += at.rank >= s->ranks || at.offset >= spread_size(s, at.rank) ||
                spread_number(s, at) != g;
    }
    for (uint64_t r = 0; r < s->ranks; r++)
        seen += spread_size(s, r);
    return lost + (seen != s->total);
}

static void test_spread(void)
{
    static const uint64_t totals[] = {1, 2, 7, 64, 1000, 1024, 4096};
    static const uint64_t ranks[] = {1, 2, 3, 4, 7, 8, 64, 1000};
    struct spread s;

    for (size_t i = 0; i < sizeof(totals) / sizeof(*totals); i++)
        for (int cyclic = 0; cyclic < 2; cyclic++) {
            uint64_t lost = 0;

            for (size_t j = 0; j < sizeof(ranks) / sizeof(*ranks); j++) {
                lost += spread_make(&s, totals[i], ranks[j], cyclic) != 0;
                lost += count_lost(&s);
            }
            is_count(lost, 0, "%d words over 1 to 1000 ranks, %s",
                     (int)totals[i], cyclic ? "cyclic" : "blocks");
        }
}

static void test_ends(void)
{
    struct spread s;

    spread_make(&s, 1000, 3, false);
    is_count(spread_find(&s, 999).offset, 332, "the last word of the table");
    is_count(spread_find(&s, 999).rank, 2, "... is the last rank's");
    is_count(spread_size(&s, 2), 333, "... which has no more");
    ok(spread_make(&s, 0, 3, false) < 0 && errno == EINVAL, "no words: EINVAL");
    ok(spread_make(&s, 5, 0, false) < 0 && errno == EINVAL, "no ranks: EINVAL");
    ok(spread_make(&s, UINT64_C(1) << 60, 3, false) < 0 && errno == EOVERFLOW,
       "2^60 words: EOVERFLOW");
    ok(spread_make(&s, (UINT64_C(1) << 60) - 1, 3, false) == 0,
       "... one less can be counted");
}

/* Products of numbers of ranks do not fit 32 bits (46341 ranks and more). */
static void test_wide(void)
{
    struct spread s;

    ok(spread_each(&s, 46341, 46341, false) == 0, "46341 words on 46341 ranks");
    is_count(s.total, UINT64_C(2147488281), "... are 2147488281");
    is_count(spread_number(&s, (struct word_at){46340, 46340}),
             UINT64_C(2147488280), "... of which this is the last");
    is_count(spread_find(&s, UINT64_C(2147488280)).rank, 46340,
             "... and has the last rank");
    ok(spread_each(&s, 65536, 65536, true) == 0, "65536 words on 65536 ranks");
    is_count(s.total, UINT64_C(4294967296), "... are 4294967296");
    is_count(spread_find(&s, UINT64_C(4294967295)).offset, 65535,
             "... the last of them the last of a rank");
    ok(spread_each(&s, UINT64_C(1) << 40, UINT64_C(1) << 30, false) < 0 &&
           errno == EOVERFLOW,
       "2^70 words can't be counted");
}

/* Two stretches of indices that have a run in common are no two. */
static void test_draw(void)
{
    enum { N = 1000000 };
    static const uint64_t ranks[] = {2, 4};
    struct draw a = draw_start(0, 0), b = draw_start(0, 1),
                c = draw_start(1, 0), again = draw_start(0, 0);
    uint64_t same_rank = 0, same_seed = 0, other = 0;

    for (int i = 0; i < 1000; i++) {
        uint64_t x = draw_index(&a, UINT64_C(1) << 40);

        same_rank += x == draw_index(&b, UINT64_C(1) << 40);
        same_seed += x == draw_index(&c, UINT64_C(1) << 40);
        other += x != draw_index(&again, UINT64_C(1) << 40);
    }
    is_count(same_rank, 0, "two tasks draw other indices");
    is_count(same_seed, 0, "... and so do the seeds 0 and 1");
    is_count(other, 0, "the same seed draws the same");
    for (size_t i = 0; i < 2; i++) {
        struct draw d = draw_start(7, 0);
        struct spread s;
        uint64_t remote = 0;
        double share = 1.0 - 1.0 / (double)ranks[i];

        spread_each(&s, 12345, ranks[i], false);
        for (int k = 0; k < N; k++)
            remote += spread_find(&s, draw_index(&d, s.total)).rank != 0;
        is_near((double)remote / N, share, 0.02,
                "of a million indices, %d %% are remote with %d ranks",
                (int)(100 * share), (int)ranks[i]);
    }
    ok(draw_value(0, 5) != draw_value(1, 5) &&
           draw_value(0, 5) != draw_value(0, 6),
       "values depend on seed and place");
}

/* By stepping, from the definition: the sign decides. */
static uint64_t step(uint64_t x, int n)
{
    while (n-- > 0)
        x = (x << 1) ^ ((int64_t)x < 0 ? 7 : 0);
    return x;
}

static void test_random(void)
{
    static const int jumps[] = {1, 2, 63, 64, 65, 1000, 65537};
    uint64_t seventh = RANDOM_PERIOD / 7;

    is_count(random_at(0), 1, "the stream begins with 1");
    is_count(random_at(1), 2, "... goes on with 2");
    is_count(random_at(63), UINT64_C(1) << 63, "... up to 2^63");
    is_count(random_at(64), 7, "... then 7");
    is_count(random_at(127), UINT64_C(0x8000000000000009),
             "X^127 is X^65 + X^64 + X^63, which is X^63 + X^3 + 1");
    for (size_t i = 0; i < sizeof(jumps) / sizeof(*jumps); i++)
        is_count(random_at((uint64_t)jumps[i]), step(1, jumps[i]),
                 "a jump of %d is as many steps", jumps[i]);
    is_count(random_at(RANDOM_PERIOD), 1, "the period ends where it began");
    is_count(random_at(RANDOM_PERIOD - 1), UINT64_C(0x8000000000000003),
             "... after what steps to 1");
    is_count(random_next(UINT64_C(0x8000000000000003)), 1, "... as it does");
    ok(random_at(seventh) != 1 && random_at(seventh * 2) != 1 &&
           random_at(7) != 1,
       "... and no earlier: its factors are no periods");
    is_count(random_at((UINT64_C(1) << 60) + 12345),
             step(random_at(UINT64_C(1) << 60), 12345),
             "far on, jumps and steps agree");
}

static void test_bucket(void)
{
    static const uint64_t table[4] = {10, 11, 12, 13};
    uint64_t answer[3] = {0}, to[8] = {0}, bad = 0;
    struct bucket b;

    ok(bucket_make(&b, 3) == 0, "a bucket for three words");
    ok(!bucket_add(&b, 3, 5) && !bucket_add(&b, 0, 7), "two do not fill it");
    ok(bucket_add(&b, 2, 1), "... the third does");
    ok(bucket_answer(table, 4, b.message + 1, b.n, answer, &bad) == 0,
       "all are in the table");
    bucket_scatter(&b, answer, to);
    ok(to[5] == 13 && to[7] == 10 && to[1] == 12, "answers go to their places");
    ok(to[0] + to[2] + to[3] + to[4] + to[6] == 0, "... and to no other");
    b.message[2] = 4;
    answer[0] = 99;
    ok(bucket_answer(table, 4, b.message + 1, b.n, answer, &bad) < 0 &&
           bad == 4,
       "an offset past the table's end is told");
    is_count(answer[0], 99, "... and nothing is read");
    ok(bucket_answer(table, 0, b.message + 1, 0, answer, &bad) == 0,
       "no words of no table are answered");
    bucket_free(&b);
}

static void test_spans(void)
{
    static const size_t group[4] = {0, 1, 0, 1};
    static const struct span span[4] = {
        {10.0, 12.0, 1}, {500.0, 501.0, 1}, {9.5, 11.0, 1}, {499.0, 502.0, 0}};
    static const struct span idle[4] = {
        {0, 0, 0}, {7.0, 9.0, 1}, {5.0, 6.0, 0}, {8.0, 8.5, 1}};
    struct assay_map map;
    double seconds[3];

    assay_map_build(&map, 4, group, NULL);
    spans_to_seconds(&map, span, seconds);
    is_double(seconds[0], 2.5, "latest end less earliest start, of a node");
    is_double(seconds[1], 1.0, "... of those that take part");
    is_double(seconds[2], 491.5, "... and of the job, not the longest node's");
    spans_to_seconds(&map, idle, seconds);
    is_double(seconds[0], 0.0, "none of a node that takes no part");
    is_double(seconds[2], 2.0, "... which does not count for the job");
    assay_map_free(&map);
}

int main(void)
{
    test_spread();
    test_ends();
    test_wide();
    test_draw();
    test_random();
    test_bucket();
    test_spans();
    return done_testing();
}
