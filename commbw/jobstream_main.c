/* jobstream_main.c - stream's four kernels on every rank of a job at once: what
 * memory gives to all who share a node.
 *
 * A variant of the STREAM benchmark, which is not the official one. */
#include "config.h"

#include "commbw/jobstream.h"

int main(int argc, char **argv)
{
    struct options opt = {.repetitions = 10, .watchdog = 120};
    const struct assay_needs needs = {
        .least = 1, .thread_level = MPI_THREAD_FUNNELED, .watchdog = 120};
    struct assay_job *job =
        assay_job_start(argc, argv, &jobstream_program, &opt, &needs);
    struct jobstream j;

    jobstream_make(&j, job, &opt);
    jobstream_measure(&j);
    jobstream_report(&j);
    jobstream_free(&j);
    return assay_job_finish(job);
}
