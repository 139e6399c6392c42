/* bucket.c - words for one destination, collected for a message. */
#include "config.h"

#include <stdlib.h>

#include "commbw/bucket.h"

int bucket_make(struct bucket *b, size_t room)
{
    b->n = 0;
    b->room = room;
    b->message = calloc(room + 1, sizeof(*b->message));
    b->place = calloc(room, sizeof(*b->place));
    if (b->message && b->place)
        return 0;
    bucket_free(b);
    return -1;
}

void bucket_free(struct bucket *b)
{
    free(b->message);
    free(b->place);
    b->message = NULL;
    b->place = NULL;
}

void bucket_scatter(const struct bucket *b, const uint64_t *answer,
                    uint64_t *to)
{
    for (size_t i = 0; i < b->n; i++)
        to[b->place[i]] = answer[i];
}

/* The test comes first, so that the loop that reads has nothing else to do. */
int bucket_answer(const uint64_t *table, uint64_t size, const uint64_t *offset,
                  size_t n, uint64_t *answer, uint64_t *bad)
{
    uint64_t most = 0;

    for (size_t i = 0; i < n; i++)
        if (offset[i] > most)
            most = offset[i];
    if (n > 0 && most >= size) {
        *bad = most;
        return -1;
    }
    for (size_t i = 0; i < n; i++)
        answer[i] = table[offset[i]];
    return 0;
}
