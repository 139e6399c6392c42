/* block.h - blocks of bytes that tell whose they are: by a key, which differs
 * by rank, task, place and measurement, and by the trial. Needs no MPI.
 *
 * A block is filled in some trials; most stamp only its first and last eight
 * bytes, which is what can be done, and looked at, between short trials. Stamps
 * of two trials less than 256 apart differ in their first byte and in their
 * last one; between the stamps, too, a block that is filled is another in each
 * trial, so that no whole one is left over from an earlier trial. */
#ifndef COMMBW_BLOCK_H
#define COMMBW_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct block {
    uint64_t key;   /* of block_key */
    uint64_t trial; /* that filled or stamped it last */
};

/* A key from what tells blocks apart. */
uint64_t block_key(uint64_t rank, uint64_t task, uint64_t place,
                   uint64_t measurement);

/* Write all n bytes, stamps included; or the stamps alone. */
void block_fill(unsigned char *p, uint64_t n, struct block b);
void block_stamp(unsigned char *p, uint64_t n, struct block b);

/* Is it there: its first and last bytes; every byte. */
bool block_stamped(const unsigned char *p, uint64_t n, struct block b);
bool block_whole(const unsigned char *p, uint64_t n, struct block b);

#endif
