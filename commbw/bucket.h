/* bucket.h - words for one destination, collected until there are enough for a
 * message, and where each one's answer goes. */
#ifndef COMMBW_BUCKET_H
#define COMMBW_BUCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A message is one word of the sender's (which bucket it is), then the words.
 */
struct bucket {
    uint64_t *message; /* [1 + room] */
    uint64_t *place;   /* [room] index of the answer */
    size_t n, room;
};

/* Allocate room for so many words. Returns 0, or -1 with errno. */
int bucket_make(struct bucket *b, size_t room);
void bucket_free(struct bucket *b);

/* Add a word (the bucket must have room); returns whether it is full now. */
static inline bool bucket_add(struct bucket *b, uint64_t word, uint64_t place)
{
    b->place[b->n] = place;
    b->message[1 + b->n] = word;
    return ++b->n == b->room;
}

/* Put the answers where they belong: to[place[i]] = answer[i]. */
void bucket_scatter(const struct bucket *b, const uint64_t *answer,
                    uint64_t *to);

/* Answer n offsets out of table[0 .. size - 1]. Returns 0; or -1, and *bad, for
 * an offset that the table does not have: then nothing is read. */
int bucket_answer(const uint64_t *table, uint64_t size, const uint64_t *offset,
                  size_t n, uint64_t *answer, uint64_t *bad);

#endif
