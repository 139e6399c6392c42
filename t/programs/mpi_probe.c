/* mpi_probe.c - a program for tests: what becomes of a job in which one rank
 * does what --do says. It measures nothing. */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/assay.h"
#include "lib/job.h"
#include "lib/launcher.h"

static const char *const deeds[] = {"nothing", "die",      "kill",   "stop",
                                    "hang",    "wrong",    "refuse", "error",
                                    "exit",    "finalize", NULL};
enum deed {
    NOTHING,
    DIE,
    KILL,
    STOP,
    HANG,
    WRONG,
    REFUSE,
    ERROR,
    EXIT,
    FINALIZE
};

struct options {
    int deed;
    uint64_t rank;
    double watchdog;
};

#define OPT(field) offsetof(struct options, field)
static const struct assay_option table[] = {
    {'d', "do", ASSAY_CHOICE, OPT(deed), 0, 0, deeds, "WHAT",
     "what happens after the first metric", NULL},
    {'r', "rank", ASSAY_COUNT, OPT(rank), 0, 4096, NULL, "R",
     "the rank that does it", NULL},
    {0, "watchdog", ASSAY_REAL, OPT(watchdog), 0, 3600, NULL, "SECONDS",
     "end without progress", NULL},
    ASSAY_OPTION_END,
};

static const struct assay_program program = {
    .name = "mpi_probe",
    .summary = "Walk the ends of a job, measuring nothing.",
    .table = table,
};

static void metric(struct assay_job *job, const char *host, double value)
{
    struct assay_fields keys = {0};

    if (job->rank != 0)
        return;
    assay_fields_text(&keys, "host", host);
    assay_check(job->run, "data", 0.0, 0.0, &keys);
    assay_metric(job->run,
                 &(struct assay_metric){
                     .name = "figure", .unit = "us", .samples = &value, .n = 1},
                 &keys);
    assay_fields_free(&keys);
}

/* What MPI_EARLY=exit:1 says becomes of a process before MPI has started, by the
 * number that its launcher gave it. */
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    const char *early = getenv("MPI_EARLY"),
               *whom = early ? strchr(early, ':') : NULL;

    if (whom && assay_launcher(getenv).rank == atol(whom + 1)) {
        if (strncmp(early, "exit", 4) == 0)
            _exit(0);
        if (strncmp(early, "kill", 4) == 0)
            raise(SIGKILL);
        for (;;)
            sleep(1);
    }
    return PMPI_Init_thread(argc, argv, required, provided);
}

/* Finalize that does not return, as a library's may. */
int MPI_Finalize(void)
{
    static bool hangs;
    const char *asked = getenv("MPI_LATE");

    hangs = asked && strcmp(asked, "yes") == 0;
    while (hangs)
        pause();
    return PMPI_Finalize();
}

static void act(struct assay_job *job, const struct options *opt)
{
    if (opt->deed == REFUSE)
        assay_job_refuse(job, ASSAY_NOTRUN, "asked to: refuse");
    if ((uint64_t)job->rank != opt->rank)
        return;
    switch ((enum deed)opt->deed) {
    case DIE:
        assay_die(job->run, ASSAY_BROKEN, "asked to: die");
    case KILL:
        raise(SIGKILL);
        break;
    case STOP:
        raise(SIGSTOP);
        break;
    case HANG:
        sleep(120);
        break;
    case WRONG:
        assay_check_fact(job->run, "data", false, "asked to", NULL);
        break;
    case ERROR:
        MPI_Send(NULL, 0, MPI_CHAR, job->size, 0, job->comm);
        break;
    case EXIT:
        _exit(0);
    default:
        break;
    }
}

int main(int argc, char **argv)
{
    static const struct assay_needs needs = {
        .least = 2, .even = true, .watchdog = 30};
    struct options opt = {.watchdog = 30};
    struct assay_job *job = assay_job_start(argc, argv, &program, &opt, &needs);

    assay_job_watch(job, opt.watchdog);
    assay_job_progress(job, "the first");
    metric(job, "first", 1.0);
    MPI_Barrier(job->comm);
    assay_job_progress(job, "the deed");
    act(job, &opt);
    MPI_Barrier(job->comm);
    metric(job, "second", 2.0);
    if (job->rank == 0 && !assay_quiet(job->run))
        printf("ranks %zu nodes %zu ppn %zu %s | %s | %s\n", job->map.ranks,
               job->map.nodes, job->map.ppn, job->map.placement, job->library,
               job->transport);
    return assay_job_finish(job);
}
