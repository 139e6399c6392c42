/* pmi2_main.c - how long a job takes to start and to wire up: from the launch to
 * the first line of each rank, to the fence, to every rank's keys, and to the end
 * of MPI_Init. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/launch.h"

enum { PPN_MOST = 64 };

#define OPT(field) offsetof(struct options, field)
static const struct assay_option table[] = {
    {'l', "launch", ASSAY_TEXT, OPT(launch), 0, 0, NULL, "WORDS",
     "the launcher of PMI-2 ranks, with {nodes} {ranks} {ppn}",
     "srun --mpi=pmi2 ..."},
    {0, "init-launch", ASSAY_TEXT, OPT(init_launch), 0, 0, NULL, "WORDS",
     "the launcher of MPI ranks, likewise", "no MPI_Init is timed"},
    {0, "rank-program", ASSAY_TEXT, OPT(rank_program), 0, 0, NULL, "PATH",
     "what a PMI-2 rank runs", "pmi2_rank"},
    {0, "init-program", ASSAY_TEXT, OPT(init_program), 0, 0, NULL, "PATH",
     "what an MPI rank runs", "mpi_init"},
    {'N', "nodes", ASSAY_COUNT, OPT(nodes), 1, 1000000, NULL, "N",
     "nodes of the job", NULL},
    {'p', "ppn", ASSAY_TEXT, OPT(ppn), 0, 0, NULL, "LIST",
     "ranks on each node, one job for each: 1,2,4", "1"},
    {'k', "keys", ASSAY_COUNT, OPT(keys), 1, 1000, NULL, "N",
     "keys that each rank puts", NULL},
    {'s', "size", ASSAY_SIZE, OPT(size), 1, 1023, NULL, "BYTES",
     "length of a value", NULL},
    {0, "limit", ASSAY_REAL, OPT(limit), 1, 86400, NULL, "SECONDS",
     "end a job that takes longer", NULL},
    ASSAY_OPTION_END,
};

static const struct assay_program program = {
    .name = "pmi2",
    .summary = "Job start and wire-up over PMI-2: milliseconds from the launch "
               "until each rank runs, is past the fence, has all keys.",
    .table = table,
    .notes = "Time is this process's own: a rank's line counts when it arrives "
             "here.\nOutside of an allocation: srun takes one by itself.",
};

/* The ranks on each node, of a list such as 1,2,4: how many there are; each in
 * ppn[], of room for `most`. Ends the run where it is no such list. */
static size_t parse_ppn(struct assay_run *run, const char *text, uint64_t *ppn,
                        size_t most)
{
    size_t n = 0;

    for (const char *at = text;; at++) {
        char *end;

        errno = 0;
        unsigned long long value =
            *at >= '0' && *at <= '9' ? strtoull(at, &end, 10) : 0;
        if (value < 1 || value > 100000 || errno != 0 || n == most ||
            (*end != ',' && *end != '\0'))
            assay_die(run, ASSAY_USAGE,
                      "--ppn: '%s': ranks on each node are numbers from 1 to "
                      "100000, with commas, and at most %zu",
                      text, most);
        for (size_t i = 0; i < n; i++)
            if (ppn[i] == value)
                assay_die(run, ASSAY_USAGE, "--ppn: %llu stands twice", value);
        ppn[n++] = value;
        at = end;
        if (*at == '\0')
            return n;
    }
}

/* The keys of all lines of a job. */
static void job_keys(const struct launch_shape *shape,
                     struct assay_fields *keys)
{
    char host[256] = "";

    gethostname(host, sizeof host - 1);
    assay_fields_text(keys, "host", host);
    assay_fields_count(keys, "ranks", shape->ranks);
    assay_fields_count(keys, "nodes", shape->nodes);
    assay_fields_count(keys, "ppn", shape->ppn);
    assay_fields_text(keys, "per", "job");
}

/* Each rank is a sample, so the quartiles are the ranks'; the value is the last
 * one's: a job has started when all of it has. */
static void report(struct assay_run *run, const char *name,
                   const struct launch_result *result, enum launch_word word,
                   const struct assay_fields *keys)
{
    const double *ms = result->ms[word];
    size_t n = result->count[word];
    struct assay_metric metric = {.name = name,
                                  .unit = "ms",
                                  .lower_is_better = true,
                                  .value = &ms[n - 1],
                                  .samples = ms,
                                  .n = n};

    assay_metric(run, &metric, keys);
    if (!assay_quiet(run))
        printf("%-6s %6" PRIu64 " ranks %5" PRIu64 " nodes %4" PRIu64
               " per node: first %10.3f ms, half %10.3f ms, all %10.3f ms\n",
               name, result->shape.ranks, result->shape.nodes,
               result->shape.ppn, ms[0], ms[(n - 1) / 2], ms[n - 1]);
}

/* Nothing of the figures, which were whole by then. */
static void warn_of_end(struct assay_run *run,
                        const struct launch_result *result, const char *what)
{
    if (result->killed)
        assay_warn(run,
                   "%s: all ranks had their say, but the job did not end: "
                   "ended by force",
                   what);
}

static void wire_up(struct assay_run *run, const struct options *opt,
                    const struct launch_shape *shape)
{
    struct launch_result result;
    struct assay_fields keys = {0};
    char count[32], size[32];
    char *words[] = {(char *)opt->rank_program, count, size, NULL};

    snprintf(count, sizeof count, "%" PRIu64, opt->keys);
    snprintf(size, sizeof size, "%" PRIu64, opt->size);
    launch_result_make(run, &result, shape);
    launch_job(run, opt->launch, words, opt->limit, LAUNCH_GET, &result);
    launch_demand(run, &result, "PMI-2", LAUNCH_GET);
    warn_of_end(run, &result, "PMI-2");
    job_keys(shape, &keys);
    assay_fields_count(&keys, "keys", opt->keys);
    assay_fields_count(&keys, "size", opt->size);
    assay_check(run, "keys.missing", (double)result.missing, 0, &keys);
    assay_check(run, "keys.data", (double)result.wrong, 0, &keys);
    report(run, "first", &result, LAUNCH_FIRST, &keys);
    report(run, "fence", &result, LAUNCH_FENCE, &keys);
    report(run, "get", &result, LAUNCH_GET, &keys);
    assay_fields_free(&keys);
    launch_result_free(&result);
}

static void time_init(struct assay_run *run, const struct options *opt,
                      const struct launch_shape *shape)
{
    struct launch_result result;
    struct assay_fields keys = {0};
    char *words[] = {(char *)opt->init_program, NULL};

    launch_result_make(run, &result, shape);
    launch_job(run, opt->init_launch, words, opt->limit, LAUNCH_INIT, &result);
    launch_demand(run, &result, "MPI_Init", LAUNCH_INIT);
    warn_of_end(run, &result, "MPI_Init");
    job_keys(shape, &keys);
    report(run, "init", &result, LAUNCH_INIT, &keys);
    assay_fields_free(&keys);
    launch_result_free(&result);
}

int main(int argc, char **argv)
{
    struct options opt = {
        .nodes = 1, .ppn = "1", .keys = 1, .size = 64, .limit = 120};
    struct assay_run *run = assay_start(argc, argv, &program, &opt);
    uint64_t ppn[PPN_MOST];
    size_t n = parse_ppn(run, opt.ppn, ppn, PPN_MOST);

    if (opt.launch == NULL)
        opt.launch = "srun --mpi=pmi2 --nodes={nodes} --ntasks={ranks} "
                     "--ntasks-per-node={ppn}";
    if (opt.rank_program == NULL)
        opt.rank_program = "pmi2_rank";
    if (opt.init_program == NULL)
        opt.init_program = "mpi_init";
    assay_opt(run, NULL);
    for (size_t i = 0; i < n; i++) {
        struct launch_shape shape = {
            .nodes = opt.nodes, .ppn = ppn[i], .ranks = opt.nodes * ppn[i]};

        wire_up(run, &opt, &shape);
        if (opt.init_launch != NULL)
            time_init(run, &opt, &shape);
    }
    return assay_finish(run);
}
