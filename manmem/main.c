/* main.c - managed memory of GPUs: the host fills it, a kernel sums it again
 * and again; the first iterations pay for the pages that have to come. */
#include "config.h"

#include "manmem/session.h"

static void measure(const struct plan *plan)
{
    for (size_t i = 0; i < plan->ndevices; i++)
        if (plan->ndevices == 1 || plan->opt->order != ORDER_TOGETHER)
            manmem_measure(plan, &plan->devices[i], 1);
    if (plan->ndevices > 1 && plan->opt->order != ORDER_ALONE)
        manmem_measure(plan, plan->devices, plan->ndevices);
}

int main(int argc, char **argv)
{
    struct options opt = {.block_size = 1024,
                          .elements = 4096,
                          .iterations = 20,
                          .rounds = 5,
                          .chunk = 65536,
                          .stand_ins = 1,
                          .watchdog = 1200};
    struct assay_run *run = assay_start(argc, argv, &manmem_program, &opt);
    struct plan plan;

    manmem_plan(&plan, run, &opt);
    measure(&plan);
    manmem_plan_free(&plan);
    return assay_finish(run);
}
