/* msgrate_message.c - what each message holds, so that its receiver can tell.
 *
 * Words that follow each other from the first one on: a message that is stale,
 * cut short, shifted or somebody else's is another one. */
#include "config.h"

#include <string.h>

#include "lib/mix.h"
#include "smb/msgrate_message.h"

uint64_t message_word(const struct message *m)
{
    uint64_t word = assay_mix((uint64_t)m->from << 32 | (uint32_t)m->to);

    return assay_mix(word ^ assay_mix(m->slot << 32 | m->index)) +
           m->iteration * ASSAY_STEP;
}

void message_fill(void *buf, size_t bytes, uint64_t word)
{
    unsigned char *to = buf;
    size_t words = bytes / sizeof(word);

    for (size_t i = 0; i < words; i++, word += ASSAY_STEP)
        memcpy(to + i * sizeof(word), &word, sizeof(word));
    memcpy(to + words * sizeof(word), &word, bytes % sizeof(word));
}

bool message_right(const void *buf, size_t bytes, uint64_t word)
{
    const unsigned char *from = buf;
    size_t words = bytes / sizeof(word);
    uint64_t wrong = 0, got;

    for (size_t i = 0; i < words; i++, word += ASSAY_STEP) {
        memcpy(&got, from + i * sizeof(word), sizeof(got));
        wrong |= got ^ word;
    }
    if (bytes % sizeof(word) == 0)
        return wrong == 0; /* buf may be NULL then, of which memcmp is shy */
    return wrong == 0 && memcmp(from + words * sizeof(word), &word,
                                bytes % sizeof(word)) == 0;
}
