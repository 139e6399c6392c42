/* bandwidth_main.c - simpleBandwidth: blocks moved one-sidedly, by PUT and GET.
 *
 * Tasks of one locale each move a block between their memory and that of
 * another locale, all at once; the method is that of Chapel's simpleBandwidth.
 * The clock stops when the data is where it belongs, at the target too. */
#include "config.h"

#include "commbw/bandwidth.h"

static void run_scene(struct bench *bench, const struct scene *scene)
{
    struct assay_job *job = bench->plan->job;
    struct assay_fields keys = {0};
    struct counters before;
    struct result result;

    paths_begin(job, &before);
    measure(bench, scene, &result);
    report_keys(bench, &keys);
    assay_fields_text(&keys, "operation", operation_name[scene->operation]);
    assay_fields_count(&keys, "measurement", bench->measurement);
    paths_end(job, &before, &keys);
    assay_fields_free(&keys);
    if (job->rank == 0)
        report(bench, scene, &result);
    result_free(&result);
}

/* Both operations, of all pairs at once or in turn. */
static void run_size(struct bench *bench)
{
    const struct plan *plan = bench->plan;
    size_t at_once = plan->in_turn ? 1 : plan->npairs;

    for (size_t p = 0; p < plan->npairs; p += at_once)
        for (int o = 0; o < OPERATIONS; o++) {
            struct scene scene = {(enum operation)o, plan->pairs + p, at_once};

            if (plan->opt->operation == BOTH ||
                plan->opt->operation == (o == GET ? GET_ONLY : PUT_ONLY))
                run_scene(bench, &scene);
        }
}

static void run_sizes(const struct plan *plan)
{
    if (plan->job->rank == 0)
        report_head(plan);
    for (size_t i = 0; i < plan->sizes.n; i++) {
        struct bench bench;

        bench_make(&bench, plan, plan->sizes.bytes[i]);
        run_size(&bench);
        bench_free(&bench);
    }
}

int main(int argc, char **argv)
{
    static const struct assay_needs needs = {
        .least = 2, .level_for = bandwidth_level, .watchdog = 60};
    struct options opt = {
        .size = 131072, .trials = 100, .window = 1, .watchdog = 60};
    struct assay_job *job = assay_job_start(argc, bandwidth_words(argc, argv),
                                            &bandwidth_program, &opt, &needs);
    struct plan plan;

    plan_make(&plan, job, &opt);
    run_sizes(&plan);
    plan_free(&plan);
    return assay_job_finish(job);
}
