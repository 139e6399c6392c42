/* msgrate_cache.c - push everything else out of the cache. */
#include "config.h"

#include "smb/msgrate_cache.h"

enum { STEP = 3 };

/* The compiler can't know what the empty assembly does with the word, so it
 * can neither leave out a store nor make words otherwise than one by one; nor,
 * for the last one, that nobody reads the array. */
void cache_walk(uint32_t *words, size_t n, uint32_t seed)
{
    uint32_t word = seed;

    for (size_t i = 0; i < n; i++) {
        word += STEP;
        __asm__ volatile("" : "+r"(word));
        words[i] = word;
    }
    __asm__ volatile("" : : "r"(words) : "memory");
}

bool cache_walked(const uint32_t *words, size_t n, uint32_t seed)
{
    uint32_t wrong = 0;

    for (size_t i = 0; i < n; i++)
        wrong |= words[i] ^ (seed + STEP * (uint32_t)(i + 1));
    return wrong == 0;
}
