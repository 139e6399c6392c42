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

void stream_run_mode(const struct plan *plan)
{
    mode_bandwidth(plan);
}
