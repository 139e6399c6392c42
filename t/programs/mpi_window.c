/* mpi_window.c - a program for tests: windows of every kind and size, filled by
 * their neighbours, first whole, then the last byte alone. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commbw/paths.h"
#include "commbw/window.h"
#include "lib/assay.h"

static const char *const deeds[] = {"nothing",  "put-past",  "get-past",
                                    "row-past", "row-wraps", "start-past",
                                    "paths",    NULL};
enum deed {
    NOTHING,
    PUT_PAST,
    GET_PAST,
    ROW_PAST,
    ROW_WRAPS,
    START_PAST,
    PATHS
};

struct options {
    int deed;
    uint64_t bytes, step;
};

#define OPT(field) offsetof(struct options, field)
static const struct assay_option table[] = {
    {'b', "bytes", ASSAY_SIZE, OPT(bytes), 0, 1e12, NULL, "BYTES",
     "of the window whose end is reached over", NULL},
    {'s', "step", ASSAY_SIZE, OPT(step), 0, 1e6, NULL, "BYTES",
     "more of each further rank", NULL},
    {'d', "do", ASSAY_CHOICE, OPT(deed), 0, 0, deeds, "WHAT",
     "reach over the end; or show what carries the bytes", NULL},
    ASSAY_OPTION_END,
};

static const struct assay_program program = {
    .name = "mpi_window",
    .summary = "Fill windows one-sidedly, measuring nothing.",
    .table = table,
};

/* Where WINDOW_EXACT is set, MPI gets the size that was asked for, as if there
 * were no padding. */
int MPI_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
                     void *base, MPI_Win *win)
{
    const char *exact = getenv("WINDOW_EXACT");

    if (exact && size - atol(exact) < WINDOW_PAD && size >= atol(exact))
        size = atol(exact);
    return PMPI_Win_allocate(size, unit, info, comm, base, win);
}

/* Where WINDOW_FLUSH_ALL is set, one flush of all targets stands for those of
 * each. */
int MPI_Win_flush(int target, MPI_Win win)
{
    return getenv("WINDOW_FLUSH_ALL") ? PMPI_Win_flush_all(win)
                                      : PMPI_Win_flush(target, win);
}

/* What a rank writes at a place. */
static unsigned char pattern(int rank, uint64_t at)
{
    return (unsigned char)((at * 131 + at / 251 + (uint64_t)rank * 29 + 7) %
                           255);
}

static void *buffer(struct assay_job *job, uint64_t bytes)
{
    void *p = malloc(bytes + 1);

    if (!p)
        assay_die(job->run, ASSAY_BROKEN, "no memory");
    return p;
}

static uint64_t count_wrong(const unsigned char *p, uint64_t n, int rank)
{
    uint64_t wrong = 0;

    for (uint64_t i = 0; i < n; i++)
        wrong += p[i] != pattern(rank, i);
    return wrong;
}

/* Put to the next rank, look at what the one before has put, and get what it
 * has of its own neighbour. */
static uint64_t pass(struct window *w)
{
    struct assay_job *job = w->job;
    int next = (job->rank + 1) % job->size;
    int before = (job->rank + job->size - 1) % job->size;
    uint64_t there = w->size[next], wrong;
    unsigned char *p = buffer(job, there);
    unsigned char *q = buffer(job, w->size[before]);

    for (uint64_t i = 0; i < there; i++)
        p[i] = pattern(job->rank, i);
    if (there > 0) {
        window_put(w, next, 0, p, there - 1);
        window_flush(w, next);
        window_put(w, next, there - 1, p + there - 1, 1);
    }
    window_flush(w, next);
    window_fence(w);
    wrong = count_wrong(w->base, w->bytes, before);
    window_get(w, before, 0, q, w->size[before]);
    window_flush_all(w);
    wrong +=
        count_wrong(q, w->size[before], (before + job->size - 1) % job->size);
    window_fence(w);
    free(p);
    free(q);
    return wrong;
}

static void reach(struct window *w, enum deed deed)
{
    const struct window_row past = {1, 100, 100, 10},
                            wraps = {0, 2, UINT64_C(1) << 63, 3};
    unsigned char byte[1001] = {0};
    uint64_t end = w->size[0];

    if (w->job->rank != 1 || deed == NOTHING)
        return;
    if (deed == PUT_PAST)
        window_put(w, 0, end, byte, 1);
    else if (deed == GET_PAST)
        window_get(w, 0, end - 1, byte, 2);
    else if (deed == ROW_PAST)
        window_put_row(w, 0, &past, byte);
    else if (deed == ROW_WRAPS)
        window_get_row(w, 0, &wraps, byte);
    else
        window_get(w, 0, UINT64_MAX, byte, 2);
    window_flush(w, 0);
}

/* One window, filled and looked at. */
static void try(struct assay_job *job, const struct options *opt, int kind,
                uint64_t bytes)
{
    uint64_t mine = bytes + (uint64_t)job->rank * opt->step, wrong, all;
    struct window window;
    char why[128];

    window_open(&window, job, job->comm, (enum window_kind)kind, mine);
    memset(window.base, 255, mine);
    window_fence(&window);
    wrong = pass(&window);
    MPI_Reduce(&wrong, &all, 1, MPI_UINT64_T, MPI_SUM, 0, job->comm);
    snprintf(why, sizeof(why), "%llu bytes of a window (%s) of %llu",
             (unsigned long long)all, window_kind_words[kind],
             (unsigned long long)bytes);
    if (job->rank == 0)
        assay_check_fact(job->run, "window.data", all == 0, why, NULL);
    reach(&window, (enum deed)opt->deed);
    window_fence(&window);
    window_close(&window);
}

/* What carries the bytes, on one line. */
static void show_paths(struct assay_job *job)
{
    struct assay_fields f = {0};
    struct counters before;
    struct paths paths;

    paths_begin(job, &before);
    paths_find(&paths, job, NULL, NULL);
    paths_end(job, &before, NULL);
    paths_fields(&paths, &f);
    if (job->rank == 0)
        printf("%s interfaces=%s\n", f.text, paths.interfaces);
    assay_fields_free(&f);
}

int main(int argc, char **argv)
{
    static const struct assay_needs needs = {.least = 2, .watchdog = 60};
    static const uint64_t sizes[] = {1, 1001, 4096, 65537, 1 << 20};
    struct options opt = {.bytes = 1000};
    struct assay_job *job = assay_job_start(argc, argv, &program, &opt, &needs);

    if (opt.deed == PATHS)
        show_paths(job);
    else if (opt.deed != NOTHING)
        try(job, &opt, WINDOW_ALLOCATE, opt.bytes);
    else
        for (int kind = 0; window_kind_words[kind]; kind++)
            for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
                try(job, &opt, kind, sizes[i]);
    return assay_job_finish(job);
}
