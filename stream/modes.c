/* modes.c - the modes that are one measurement or a few. */
#include "config.h"

#include "stream/layout.h"
#include "stream/modes.h"

static void mode_bandwidth(const struct plan *plan)
{
    struct setup setup = stream_setup(plan);
    struct result result;

    if (plan->opt->mode == MODE_KERNELS)
        setup.cycle = ASSAY_CYCLE_ALL;
    result = stream_measure(plan, &setup);
    if (assay_quiet(plan->run))
        return;
    stream_print_facts(stdout, plan, &setup, &result);
    stream_print_box(stdout, &result, true);
    printf("(");
    stream_print_summary(stdout, &result);
    printf(")\n");
}

/* Where one thread is all, what it reached stands for both. */
static void mode_benchmark(const struct plan *plan)
{
    struct setup one = stream_setup(plan), all = one;
    struct result single, multi;
    bool quiet = assay_quiet(plan->run);

    one.threads = 1;
    single = stream_measure(plan, &one);
    if (!quiet) {
        stream_print_facts(stdout, plan, &one, &single);
        stream_print_box(stdout, &single, false);
        printf("\n");
        fflush(stdout);
    }
    multi = single;
    if (assay_team_count(all.threads) > 1)
        multi = stream_measure(plan, &all);
    else if (all.threads > 1)
        assay_warn(plan->run, "threads requested %zu, counted 1: measured once",
                   all.threads);
    if (quiet)
        return;
    stream_print_facts(stdout, plan, &all, &multi);
    stream_print_box(stdout, &multi, true);
    printf("\n(single = (");
    stream_print_summary(stdout, &single);
    printf("), multi = (");
    stream_print_summary(stdout, &multi);
    printf("))\n");
}

/* Arrays of 1 to 4 outermost caches; the figure is the median of the four
 * kernels. */
static void mode_length(const struct plan *plan)
{
    for (unsigned factor = 1; factor <= 4; factor++) {
        struct setup setup = stream_setup(plan);
        struct result result;

        setup.elements = stream_elements(plan, factor);
        setup.array_bytes = true;
        stream_need(plan, setup.elements);
        result = stream_measure(plan, &setup);
        if (assay_quiet(plan->run))
            continue;
        if (factor == 1)
            stream_print_facts(stdout, plan, &setup, &result);
        printf("%u: %llu => %.1f\n", factor, (unsigned long long)setup.elements,
               result.median);
        fflush(stdout);
    }
}

static void mode_classic(const struct plan *plan)
{
    struct setup setup = stream_setup(plan);
    struct result result = stream_measure(plan, &setup);

    if (!assay_quiet(plan->run))
        stream_print_classic(stdout, plan, &result);
}

void stream_run_mode(const struct plan *plan)
{
    static void (*const modes[])(const struct plan *) = {
        [MODE_BANDWIDTH] = mode_bandwidth,
        [MODE_BENCHMARK] = mode_benchmark,
        [MODE_SCALING] = stream_mode_scaling,
        [MODE_LENGTH] = mode_length,
        [MODE_KERNELS] = mode_bandwidth,
        [MODE_NUMA] = stream_mode_numa,
        [MODE_CLASSIC] = mode_classic,
        [MODE_ORIGINAL] = stream_mode_original,
    };

    modes[plan->opt->mode](plan);
}
