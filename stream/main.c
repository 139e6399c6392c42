/* main.c - sustained memory bandwidth: a variant of the STREAM benchmark.
 *
 * Every repetition runs copy, scale, add and triad over three arrays that no
 * cache holds; the best of all but the first gives a kernel's rate. */
#include "config.h"

#include "stream/modes.h"

int main(int argc, char **argv)
{
    struct options opt = {
        .repetitions = 10, .rounds = 3, .hugepages = ASSAY_HUGE_THP};
    struct assay_run *run = assay_start(argc, argv, &stream_program, &opt);
    struct plan plan;

    stream_plan(&plan, run, &opt);
    stream_run_mode(&plan);
    return assay_finish(run);
}
