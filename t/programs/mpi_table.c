/* mpi_table.c - a program for tests: opens a table, and prints the share of its
 * pages that each task faulted in, one a line. */
#include "config.h"

#include <stdio.h>
#include <sys/resource.h>

#include "commbw/table.h"

enum { TASKS = 2, PAGE = 4096 };

struct options {
    uint64_t table;
};

static const struct assay_option options[] = {
    {0, "table", ASSAY_SIZE, offsetof(struct options, table), 1, 1e9, NULL, "N",
     "words of each rank", NULL},
    ASSAY_OPTION_END,
};

static const struct assay_program program = {
    .name = "mpi_table",
    .summary = "Open a table, measuring nothing.",
    .table = options,
};

struct faults {
    long before[TASKS], after[TASKS];
};

static long faults_of_thread(void)
{
    struct rusage usage;

    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt;
}

static void before(void *arg, size_t task)
{
    struct faults *f = arg;

    f->before[task] = faults_of_thread();
}

static void after(void *arg, size_t task)
{
    struct faults *f = arg;

    f->after[task] = faults_of_thread();
}

int main(int argc, char **argv)
{
    static const struct assay_needs needs = {
        .least = 1, .thread_level = MPI_THREAD_MULTIPLE, .watchdog = 60};
    struct options opt = {.table = 1 << 20};
    struct assay_job *job = assay_job_start(argc, argv, &program, &opt, &needs);
    struct assay_team team;
    struct faults faults;
    struct spread spread;
    struct table table;

    spread_each(&spread, opt.table, (uint64_t)job->size, false);
    assay_team_form(&team, assay_machine(job->run), ASSAY_PIN_NONE, TASKS, -1);
    assay_team_run(&team, before, &faults);
    table_open(&table, job, &spread, WINDOW_CREATE, TASKS, 0);
    table_each(&table, after, &faults);
    for (size_t i = 0; job->rank == 0 && i < TASKS; i++)
        printf("task %zu: %.3f\n", i,
               (double)(faults.after[i] - faults.before[i]) * PAGE /
                   (double)(opt.table * sizeof(uint64_t)));
    table_close(&table);
    assay_team_dissolve(&team);
    return assay_job_finish(job);
}
