/* msgrate_cache.h - push everything else out of the cache. */
#ifndef SMB_MSGRATE_CACHE_H
#define SMB_MSGRATE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Write n words, each from the one before, the first from seed. Every word is
 * written at any level of optimisation. */
void cache_walk(uint32_t *words, size_t n, uint32_t seed);

/* Do the words hold what the walk with this seed leaves? */
bool cache_walked(const uint32_t *words, size_t n, uint32_t seed);

#endif
