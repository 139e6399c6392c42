/* launcher.h - what the launcher says of this process, by the variables that
 * it sets: the only place of the library that knows their names. */
#ifndef ASSAY_LAUNCHER_H
#define ASSAY_LAUNCHER_H

#include <stdbool.h>

enum { ASSAY_CLAIMS = 8 };

struct assay_claim {
    const char *variable; /* "PMI_SIZE" */
    long size;            /* processes of this launch, by that variable */
};

struct assay_launcher {
    struct assay_claim claim[ASSAY_CLAIMS]; /* of this very launch */
    int claims;
    long rank;      /* of this process, or -1: not numbered */
    bool linked;    /* the launcher that numbered it seems to be there still */
    long allocated; /* tasks of the allocation around it, or 0 */
    bool parts;     /* a job of several components: claims are of one */
};

/* Variables outlive what they describe: SLURM_NTASKS stands in every batch
 * script, and a launch daemon that was itself launched hands on what it was
 * told. So those of the innermost launcher count: OMPI_COMM_WORLD_SIZE,
 * PMI_SIZE, PMIX_SIZE, MV2_COMM_WORLD_SIZE, FLUX_JOB_SIZE; only where there are
 * none of these, SLURM_STEP_NUM_TASKS or SLURM_NTASKS, and those only in a step
 * that srun started. A launcher that is there shows by what it holds open for
 * the process: the socket PMI_FD or PMI_PORT, the folder PMIX_SERVER_TMPDIR, the
 * task SLURM_TASK_PID. `get` is getenv, or a test's. */
struct assay_launcher assay_launcher(char *(*get)(const char *name));

/* Does MPI's size contradict the launcher? If so returns the claim, else
 * NULL. A size of 1 must be what all claims say; any other, what one says. */
const struct assay_claim *assay_launcher_denies(const struct assay_launcher *l,
                                                long size);

#endif
