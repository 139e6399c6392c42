/* layout_classic.c - the table of STREAM 5.10, line for line where a script
 * may read it. Its run rules let only results of the official program be called
 * STREAM's: the heading calls ours what they are. Never counts
 * write-allocate. */
#include "config.h"

#include "stream/layout.h"

static void rule(FILE *out)
{
    fprintf(out,
            "-------------------------------------------------------------\n");
}

static void print_sizes(FILE *out, const struct plan *plan)
{
    uint64_t n = plan->opt->elements;
    double each = (double)stream_bytes(plan, n) / 1048576.0;

    fprintf(out,
            "assay stream %s: based on a variant of the STREAM benchmark\n",
            PACKAGE_VERSION);
    rule(out);
    fprintf(out, "This system uses %zu bytes per array element.\n",
            assay_type_size(plan->kernels.type));
    rule(out);
    fprintf(out,
            "Array size = %llu (elements), Offset = 0 (elements)\n"
            "Memory per array = %.1f MiB (= %.1f GiB).\n"
            "Total memory required = %.1f MiB (= %.1f GiB).\n"
            "Each kernel will be executed %llu times.\n"
            " The *best* time for each kernel (excluding the first iteration)\n"
            " will be used to compute the reported bandwidth.\n",
            (unsigned long long)n, each, each / 1024.0, 3.0 * each,
            3.0 * each / 1024.0, (unsigned long long)plan->opt->repetitions);
}

static void print_clock(FILE *out, const struct plan *plan,
                        const struct result *result)
{
    double tick = plan->clock.resolution > plan->clock.overhead
                      ? plan->clock.resolution
                      : plan->clock.overhead;

    fprintf(out,
            "Your clock granularity/precision appears to be %.3g "
            "microseconds.\n"
            "Each test below will take on the order of %.0f microseconds.\n"
            "   (= %.0f clock ticks)\n"
            "Increase the size of the arrays if this shows that\n"
            "you are not getting at least %d clock ticks per test.\n",
            tick * 1e6, result->minimum_time[ASSAY_COPY] * 1e6,
            result->ticks[ASSAY_COPY], ASSAY_TICKS);
    rule(out);
    fprintf(out, "WARNING -- The above is only a rough guideline.\n"
                 "For best results, please be sure you know the\n"
                 "precision of your system timer.\n");
}

static void print_table(FILE *out, const struct result *result)
{
    fprintf(out, "Function    Best Rate MB/s  Avg time     Min time     "
                 "Max time\n");
    for (size_t op = 0; op < ASSAY_STREAM_OPS; op++) {
        char label[16];

        snprintf(label, sizeof(label),
                 "%s:", assay_work((enum assay_op)op)->label);
        fprintf(out, "%-11s%12.1f  %11.6f  %11.6f  %11.6f\n", label,
                result->best[op], result->average_time[op],
                result->minimum_time[op], result->maximum_time[op]);
    }
}

static void print_verdict(FILE *out, const struct plan *plan,
                          const struct result *result)
{
    static const char names[] = "abc";
    double tolerance = assay_tolerance(plan->kernels.type);

    if (result->valid) {
        fprintf(out,
                "Solution Validates: avg error less than %e on all three "
                "arrays\n",
                tolerance);
        return;
    }
    for (int i = 0; i < ASSAY_ARRAYS; i++)
        fprintf(out,
                "Failed Validation: array %c[], avg error %e, epsilon %e\n",
                names[i], result->average_error[i], tolerance);
}

void stream_print_classic(FILE *out, const struct plan *plan,
                          const struct result *result)
{
    rule(out);
    print_sizes(out, plan);
    rule(out);
    fprintf(out,
            "Number of Threads requested = %llu\n"
            "Number of Threads counted = %zu\n",
            (unsigned long long)plan->opt->threads, result->threads);
    fprintf(out, "Threads ran on CPUs %s (pin %s); %s stores, %s kernels\n",
            result->cpus, assay_pin_words[plan->opt->pin],
            assay_stores_words[plan->kernels.stores],
            assay_isa_words[plan->kernels.isa]);
    rule(out);
    print_clock(out, plan, result);
    rule(out);
    print_table(out, result);
    rule(out);
    print_verdict(out, plan, result);
    rule(out);
}
