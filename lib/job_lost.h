/* job_lost.h - part of libassaympi: which rank is gone when the launcher ends the
 * others for it. */
#ifndef ASSAY_JOB_LOST_H
#define ASSAY_JOB_LOST_H

#include "lib/job.h"

/* Let rank 0 know the processes of its node; on the others, hold back the death
 * by SIGTERM for a moment, so that rank 0 can tell who was gone before that
 * came. Collective. */
void assay_job_lost_watch(struct assay_job *job);

/* For a signal handler, on rank 0: the end line that tells what SIGTERM is known
 * to mean, also said on stderr where a rank is gone; NULL for other signals, and
 * where nothing more is known than its name. */
const char *assay_job_lost(int number);

void assay_job_lost_free(void);

#endif
