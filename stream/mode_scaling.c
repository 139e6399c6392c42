/* mode_scaling.c - the bandwidth of 1, 2, ... threads, and its curve. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stream/layout.h"
#include "stream/modes.h"
#include "stream/plot.h"

struct counts {
    size_t n, size;
    size_t *threads;
};

static void add(const struct plan *plan, struct counts *counts, size_t threads)
{
    if (counts->n == counts->size) {
        counts->size = counts->size ? 2 * counts->size : 64;
        counts->threads =
            realloc(counts->threads, counts->size * sizeof(*counts->threads));
        if (!counts->threads)
            assay_die(plan->run, ASSAY_BROKEN, "--scaling: %s",
                      strerror(errno));
    }
    counts->threads[counts->n++] = threads;
}

/* 1, 2, ... as many as wanted, but no more than there are CPUs. */
static void add_all(const struct plan *plan, struct counts *counts)
{
    size_t last = plan->opt->threads;

    if (last > plan->topology->ncpus) {
        assay_warn(plan->run,
                   "%zu threads wanted, %zu CPUs: scaling ends there", last,
                   plan->topology->ncpus);
        last = plan->topology->ncpus;
    }
    for (size_t threads = 1; threads <= last; threads++)
        add(plan, counts, threads);
}

/* The cores of one NUMA node or socket, of two, ... */
static void add_steps(const struct plan *plan, struct counts *counts, bool numa)
{
    const struct assay_topology *t = plan->topology;
    size_t cores = 0;

    for (size_t i = 0; i < t->ncpus; i++) {
        const struct assay_cpu *cpu = &t->cpus[i], *next = cpu + 1;
        bool last = i + 1 == t->ncpus;

        cores += last || next->core != cpu->core;
        if (last || (numa && next->numa != cpu->numa) ||
            next->package != cpu->package)
            add(plan, counts, cores);
    }
}

/* "1,2,4": ascending, so that none comes twice. */
static void add_list(const struct plan *plan, struct counts *counts,
                     const char *text)
{
    while (true) {
        size_t length = strcspn(text, ",");
        char word[16] = "";
        uint64_t threads;

        if (length < sizeof(word))
            memcpy(word, text, length);
        if (assay_parse_count(word, &threads) < 0 || threads < 1 ||
            threads > ASSAY_THREADS_MOST)
            assay_die(plan->run, ASSAY_USAGE,
                      "--scaling=%s: '%.*s' is none of all, numa, socket, nor "
                      "a count of threads",
                      plan->opt->scaling, (int)length, text);
        if (counts->n > 0 && threads <= counts->threads[counts->n - 1])
            assay_die(plan->run, ASSAY_USAGE,
                      "--scaling=%s: '%s' does not ascend", plan->opt->scaling,
                      word);
        add(plan, counts, (size_t)threads);
        if (text[length] == '\0')
            return;
        text += length + 1;
    }
}

static struct counts choose(const struct plan *plan)
{
    const char *text = plan->opt->scaling;
    struct counts counts = {0};

    if (!text || strcmp(text, "all") == 0)
        add_all(plan, &counts);
    else if (strcmp(text, "numa") == 0)
        add_steps(plan, &counts, true);
    else if (strcmp(text, "socket") == 0)
        add_steps(plan, &counts, false);
    else
        add_list(plan, &counts, text);
    return counts;
}

/* Before an hour of measuring: can the plot be written at all? */
static void try_plot(const struct plan *plan)
{
    const char *name = plan->opt->plot;
    int fd = name ? open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666) : -1;

    if (name && fd < 0)
        assay_die(plan->run, ASSAY_BROKEN, "--plot: %s: %s", name,
                  strerror(errno));
    if (fd >= 0)
        close(fd);
}

static void draw(const struct plan *plan, const struct curve *curve)
{
    char why[256];

    if (!assay_quiet(plan->run) &&
        stream_plot(curve, NULL, why, sizeof(why)) < 0)
        printf("# %s\n", why);
    if (plan->opt->plot &&
        stream_plot(curve, plan->opt->plot, why, sizeof(why)) < 0)
        assay_warn(plan->run, "--plot: %s", why);
}

/* Rows bear the threads that there were, not those asked for; a count that
 * was had before is not measured again. */
void stream_mode_scaling(const struct plan *plan)
{
    struct counts counts = choose(plan);
    double *rate = assay_room(plan->run, counts.n, sizeof(*rate), "--scaling");
    size_t rows = 0;

    try_plot(plan);
    for (size_t i = 0; i < counts.n; i++) {
        struct setup setup = stream_setup(plan);
        size_t counted = assay_team_count(counts.threads[i]);
        struct result result;

        setup.threads = counts.threads[i];
        if (rows > 0 && counted <= counts.threads[rows - 1]) {
            assay_warn(plan->run,
                       "threads requested %zu, counted %zu: not measured again",
                       setup.threads, counted);
            continue;
        }
        result = stream_measure(plan, &setup);
        counts.threads[rows] = result.threads;
        rate[rows++] = result.maximum;
        if (assay_quiet(plan->run))
            continue;
        if (rows == 1)
            stream_print_facts(stdout, plan, &setup, &result);
        printf("# Threads: %zu\tMax. memory bandwidth: %.1f\n", result.threads,
               result.maximum);
        fflush(stdout);
    }
    if (rows > 0)
        draw(plan, &(struct curve){rows, counts.threads, rate});
    free(rate);
    free(counts.threads);
}
