/* pattern.h - what the managed memory holds, and what the sums of it must be.
 *
 * Element i holds a whole number from 0 to PATTERN_MOST that depends on i and
 * on the round of writing: elements that are stale, shifted or from another
 * page make another sum. Sums of whole numbers are exact in any order as long
 * as the type can count that far, so a right sum is equal bit for bit. */
#ifndef MANMEM_PATTERN_H
#define MANMEM_PATTERN_H

#include <stddef.h>
#include <stdint.h>

#include "manmem/gpu.h"

enum { PATTERN_MOST = 63 };

size_t pattern_size(enum gpu_type type); /* bytes of an element */

/* Most elements that a thread can sum exactly. */
uint64_t pattern_elements_most(enum gpu_type type);

unsigned pattern_at(uint64_t i, uint64_t round);

/* Write elements [begin, begin + n) of a round to `to`. begin is a multiple of
 * 64. */
void pattern_fill(void *to, enum gpu_type type, uint64_t begin, uint64_t n,
                  uint64_t round);

/* How many of elements [0, n) are not as written. Right at any level of
 * optimisation: they are compared by their bits. */
uint64_t pattern_wrong(const void *base, enum gpu_type type, uint64_t n,
                       uint64_t round);

/* The sum of each of n threads over its elements. */
void pattern_sums(uint64_t *sums, uint64_t n, uint64_t elements,
                  enum gpu_access access, uint64_t round);

/* How many of n sums are not those wanted, by their bits; *first is the index
 * of the first of them. */
uint64_t pattern_wrong_sums(const void *sums, enum gpu_type type,
                            const uint64_t *wanted, uint64_t n,
                            uint64_t *first);

#endif
