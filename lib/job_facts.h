/* job_facts.h - parts of libassaympi: what job.c finds out once it has joined. */
#ifndef ASSAY_JOB_FACTS_H
#define ASSAY_JOB_FACTS_H

#include "lib/job.h"

/* "Open MPI 4.1.4" from what MPI_Get_library_version says. */
void assay_job_library(const char *version, char *buf, size_t size);

/* Fill in transport, node, map, kernels and cpus. Collective. */
void assay_job_facts(struct assay_job *job);

/* Write the env line on the job; on rank 0. */
void assay_job_env(struct assay_job *job);

/* What tells the kernel that runs here from any other: the id of its boot, or ""
 * where /proc does not say. */
enum { ASSAY_KERNEL = 40 };
void assay_job_kernel(char kernel[ASSAY_KERNEL]);

#endif
