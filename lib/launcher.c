/* launcher.c - what the launcher says of this process. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/launcher.h"
#include "lib/units.h"

/* A whole number in a variable, or -1. */
static long number(char *(*get)(const char *), const char *name)
{
    const char *text = get(name);
    uint64_t n;

    if (!text || assay_parse_count(text, &n) < 0 || n > LONG_MAX)
        return -1;
    return (long)n;
}

static bool claim(struct assay_launcher *l, char *(*get)(const char *),
                  const char *name)
{
    long size = number(get, name);

    if (size < 1)
        return false;
    l->claim[l->claims++] = (struct assay_claim){name, size};
    return true;
}

/* Does srun's step hold this process? The batch script and an interactive
 * allocation are steps of one process too, whose numbers are the highest. */
static bool in_step(char *(*get)(const char *))
{
    long step = number(get, "SLURM_STEP_ID");

    if (step < 0)
        step = number(get, "SLURM_STEPID");
    return step >= 0 && step < 0xfffffff0L && number(get, "SLURM_PROCID") >= 0;
}

static bool is_socket(long fd)
{
    struct stat s;

    return fd >= 0 && fd <= INT_MAX && fstat((int)fd, &s) == 0 &&
           S_ISSOCK(s.st_mode);
}

static bool is_process(long pid)
{
    return pid > 0 && pid <= INT_MAX &&
           (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

/* What left-over variables name is gone: this process is alone, and must speak
 * for itself, whatever its number. */
static bool is_linked(char *(*get)(const char *), bool step)
{
    const char *folder = get("PMIX_SERVER_TMPDIR");

    return is_socket(number(get, "PMI_FD")) || get("PMI_PORT") ||
           (folder && access(folder, F_OK) == 0) ||
           (step && is_process(number(get, "SLURM_TASK_PID")));
}

struct assay_launcher assay_launcher(char *(*get)(const char *name))
{
    static const char *const sizes[] = {
        "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",      "PMIX_SIZE",
        "MV2_COMM_WORLD_SIZE",  "FLUX_JOB_SIZE",
    };
    static const char *const ranks[] = {
        "OMPI_COMM_WORLD_RANK", "PMI_RANK",       "PMIX_RANK",
        "MV2_COMM_WORLD_RANK",  "FLUX_TASK_RANK",
    };
    struct assay_launcher l = {.rank = -1};
    bool step = in_step(get);

    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        claim(&l, get, sizes[i]);
    for (size_t i = 0; i < sizeof(ranks) / sizeof(*ranks) && l.rank < 0; i++)
        l.rank = number(get, ranks[i]);
    if (l.claims == 0 && step && !claim(&l, get, "SLURM_STEP_NUM_TASKS"))
        claim(&l, get, "SLURM_NTASKS");
    if (l.rank < 0 && step)
        l.rank = number(get, "SLURM_PROCID");
    l.linked = l.rank >= 0 && is_linked(get, step);
    l.allocated = number(get, "SLURM_NTASKS");
    if (l.allocated < 0)
        l.allocated = 0;
    l.parts =
        number(get, "SLURM_HET_SIZE") > 1 || number(get, "SLURM_PACK_SIZE") > 1;
    return l;
}

const struct assay_claim *assay_launcher_denies(const struct assay_launcher *l,
                                                long size)
{
    const struct assay_claim *most = NULL;

    for (int i = 0; i < l->claims; i++) {
        if (size > 1 && l->claim[i].size == size)
            return NULL;
        if (!most || l->claim[i].size > most->size)
            most = &l->claim[i];
    }
    if (!most || most->size == size || (l->parts && size > most->size))
        return NULL;
    return most;
}
