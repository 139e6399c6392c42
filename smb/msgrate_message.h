/* msgrate_message.h - what each message holds, so that its receiver can tell. */
#ifndef SMB_MSGRATE_MESSAGE_H
#define SMB_MSGRATE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which message it is. */
struct message {
    int from, to;       /* ranks */
    uint64_t slot;      /* the sender's peer slot, which is the receiver's */
    uint64_t index;     /* among those of the slot */
    uint64_t iteration; /* of the run: no two sections share one */
};

/* The word that the message begins with. Those of two iterations that are not
 * a multiple of 256 apart differ in the lowest byte, which all but empty
 * messages have. */
uint64_t message_word(const struct message *m);

/* Write the message, or compare with it. No alignment is needed. */
void message_fill(void *buf, size_t bytes, uint64_t word);
bool message_right(const void *buf, size_t bytes, uint64_t word);

#endif
