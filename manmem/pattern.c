/* pattern.c - a number for each element, in blocks of 64: the odd elements
 * of a block hold their place in it, the even ones a scrambled number of the
 * block, so that to write it is no work beside the memory's. */
#include "config.h"

#include <string.h>

#include "manmem/pattern.h"

enum {
    BLOCK = 64,
    EVEN = BLOCK / 2, /* elements of a block that hold its number */
    ODD_SUM = 1024,   /* 1 + 3 + ... + 63 */
};

size_t pattern_size(enum gpu_type type)
{
    return type == GPU_DOUBLE ? sizeof(double) : sizeof(float);
}

/* Whole numbers are exact up to the 24 or 53 bits of a mantissa. */
uint64_t pattern_elements_most(enum gpu_type type)
{
    return ((uint64_t)1 << (type == GPU_DOUBLE ? 53 : 24)) / PATTERN_MOST;
}

/* A scrambled number of a block: neighbours have nothing in common. */
static unsigned number_of(uint64_t block, uint64_t round)
{
    uint64_t x = (block + round * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;

    x ^= x >> 31;
    x *= 0x94d049bb133111ebu;
    return (unsigned)(x >> 58);
}

unsigned pattern_at(uint64_t i, uint64_t round)
{
    return i % 2 ? (unsigned)(i % BLOCK) : number_of(i / BLOCK, round);
}

static void block_float(float *to, uint64_t n, unsigned number)
{
    for (uint64_t i = 0; i < n; i++)
        to[i] = (float)(i % 2 ? (unsigned)i : number);
}

static void block_double(double *to, uint64_t n, unsigned number)
{
    for (uint64_t i = 0; i < n; i++)
        to[i] = i % 2 ? (unsigned)i : number;
}

static uint64_t block_length(uint64_t at, uint64_t n)
{
    return n - at < BLOCK ? n - at : BLOCK;
}

void pattern_fill(void *to, enum gpu_type type, uint64_t begin, uint64_t n,
                  uint64_t round)
{
    for (uint64_t at = 0; at < n; at += BLOCK) {
        unsigned number = number_of((begin + at) / BLOCK, round);

        if (type == GPU_DOUBLE)
            block_double((double *)to + at, block_length(at, n), number);
        else
            block_float((float *)to + at, block_length(at, n), number);
    }
}

uint64_t pattern_wrong(const void *base, enum gpu_type type, uint64_t n,
                       uint64_t round)
{
    size_t size = pattern_size(type);
    const char *bytes = base;
    uint64_t wrong = 0;
    double wanted[BLOCK]; /* room for either type */

    for (uint64_t at = 0; at < n; at += BLOCK) {
        uint64_t length = block_length(at, n);
        const char *got = bytes + at * size;

        if (type == GPU_DOUBLE)
            block_double(wanted, length, number_of(at / BLOCK, round));
        else
            block_float((float *)(void *)wanted, length,
                        number_of(at / BLOCK, round));
        if (memcmp(got, wanted, length * size) == 0)
            continue;
        for (uint64_t i = 0; i < length; i++)
            wrong +=
                memcmp(got + i * size, (char *)wanted + i * size, size) != 0;
    }
    return wrong;
}

/* Sum of elements [begin, end). */
static uint64_t sum_range(uint64_t begin, uint64_t end, uint64_t round)
{
    uint64_t sum = 0;

    while (begin < end) {
        if (begin % BLOCK == 0 && end - begin >= BLOCK) {
            sum += (uint64_t)EVEN * number_of(begin / BLOCK, round) + ODD_SUM;
            begin += BLOCK;
        } else {
            sum += pattern_at(begin++, round);
        }
    }
    return sum;
}

/* Element i x n + t, for all t. */
static void add_row(uint64_t *sums, uint64_t n, uint64_t row, uint64_t round)
{
    uint64_t first = row * n;
    unsigned number = number_of(first / BLOCK, round);

    for (uint64_t t = 0; t < n; t++) {
        uint64_t i = first + t;

        if (i % BLOCK == 0)
            number = number_of(i / BLOCK, round);
        sums[t] += i % 2 ? i % BLOCK : number;
    }
}

void pattern_sums(uint64_t *sums, uint64_t n, uint64_t elements,
                  enum gpu_access access, uint64_t round)
{
    memset(sums, 0, n * sizeof(*sums));
    if (access == GPU_COALESCED)
        for (uint64_t i = 0; i < elements; i++)
            add_row(sums, n, i, round);
    else
        for (uint64_t t = 0; t < n; t++)
            sums[t] = sum_range(t * elements, (t + 1) * elements, round);
}

uint64_t pattern_wrong_sums(const void *sums, enum gpu_type type,
                            const uint64_t *wanted, uint64_t n, uint64_t *first)
{
    size_t size = pattern_size(type);
    const char *bytes = sums;
    uint64_t wrong = 0;

    for (uint64_t t = 0; t < n; t++) {
        double as_double = (double)wanted[t];
        float as_float = (float)wanted[t];
        const void *right = type == GPU_DOUBLE ? (void *)&as_double : &as_float;

        if (memcmp(bytes + t * size, right, size) == 0)
            continue;
        if (wrong++ == 0)
            *first = t;
    }
    return wrong;
}
