/* messages.h - what carries the messages of this job, as opposed to its
 * one-sided moves, which may go another way. */
#ifndef COMMBW_MESSAGES_H
#define COMMBW_MESSAGES_H

#include "commbw/paths.h"

/* Find out, as paths_find does, by messages. Collective. */
void messages_find(struct paths *paths, struct assay_job *job);

#endif
