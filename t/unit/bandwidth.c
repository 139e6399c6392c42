/* bandwidth.c - what of simpleBandwidth needs no MPI: blocks, and who moves with
 * whom. Every check of a block is shown to find a flipped bit in every byte that
 * it looks at. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "commbw/block.h"
#include "commbw/locales.h"
#include "t/unit/tap.h"

/* Bytes whose flip block_whole, or block_stamped, does not notice. */
static unsigned unnoticed(uint64_t n, bool whole)
{
    unsigned char block[100];
    struct block b = {.key = block_key(3, 1, 4, 1), .trial = 5};
    unsigned missed = 0;

    block_fill(block, n, b);
    for (uint64_t i = 0; i < n; i++) {
        block[i] ^= 16;
        missed += whole ? block_whole(block, n, b) : block_stamped(block, n, b);
        block[i] ^= 16;
    }
    return missed + !block_whole(block, n, b) + !block_stamped(block, n, b);
}

static void test_blocks(void)
{
    unsigned char block[64], other[64];
    struct block b = {.key = block_key(0, 0, 0, 1)}, c = b;
    unsigned missed = 0, ends = 0, alike = 0;

    for (uint64_t n = 0; n <= 100; n++) {
        missed += unnoticed(n, true);
        ends += unnoticed(n, false) != (n > 16 ? n - 16 : 0);
    }
    ok(missed == 0, "a flipped bit is found in each byte of 0 to 100");
    ok(ends == 0, "... and in the first and last eight of a stamped block");
    for (c.trial = 1; c.trial < 256; c.trial++)
        for (uint64_t n = 1; n <= 64; n += 9) {
            block_fill(block, n, b);
            alike += block_stamped(block, n, c);
            block_stamp(block, n, c);
            alike += !block_stamped(block, n, c);
            alike += block_whole(block, n, c) != (n <= 16);
        }
    ok(alike == 0, "a block of another trial is none; one stamped anew has the "
                   "stamps, and is not whole");
    block_fill(block, sizeof(block), b);
    for (uint64_t i = 1; i < 5; i++) {
        c = (struct block){.key =
                               block_key(i == 1, i == 2, i == 3, 1 + (i == 4))};
        block_fill(other, sizeof(other), c);
        ok(!block_whole(other, sizeof(other), b) &&
               !block_stamped(other, sizeof(other), b),
           "nor is one of another %s",
           i == 1   ? "rank"
           : i == 2 ? "task"
           : i == 3 ? "place"
                    : "measurement");
    }
}

/* A map of two nodes, their ranks dealt out in turn. */
static void map_cyclic(struct assay_map *map, size_t ranks)
{
    size_t group[16];

    for (size_t r = 0; r < ranks; r++)
        group[r] = r % 2;
    assay_map_build(map, ranks, group, NULL);
}

static void test_pairs(void)
{
    struct assay_map map;
    struct locales l;
    struct pair *pairs;
    char error[200] = "";
    size_t n;

    map_cyclic(&map, 8);
    ok(locales_form(&l, &map, 2, error, sizeof(error)) == 0 && l.n == 4,
       "eight ranks make four locales of two");
    ok(locales_rank(&l, 0, 1) == 2 && locales_of(&l, 2) == 0 &&
           locales_member(&l, 2) == 1 && locales_of(&l, 1) == 2,
       "... of neighbours on a node");
    pairs = pairs_make(&l, PAIRS_ALL, &n);
    ok(n == 2 && pairs[1].origin == 1 && pairs[1].target == 3,
       "all: half the job away");
    ok(map.node[locales_rank(&l, pairs[0].origin, 0)] !=
           map.node[locales_rank(&l, pairs[0].target, 0)],
       "... which is another node");
    free(pairs);
    pairs = pairs_make(&l, PAIRS_EACH, &n);
    ok(n == 6 && pairs[5].origin == 2 && pairs[5].target == 3, "each: six");
    free(pairs);
    pairs = pairs_make(&l, PAIRS_ONE, &n);
    ok(n == 1 && pairs[0].origin == 0 && pairs[0].target == 2,
       "one: the first");
    free(pairs);
    ok(locales_form(&l, &map, 3, error, sizeof(error)) < 0 &&
           strstr(error, "not locales of 3"),
       "four ranks of a node are no locales of three: %s", error);
    assay_map_free(&map);
}

int main(void)
{
    test_blocks();
    test_pairs();
    return done_testing();
}
