/* layout_box.c - the box of STREAMBenchmark.jl, and what its figures count. */
#include "config.h"

#include <string.h>

#include "stream/layout.h"

/* "16 24": bytes a kernel counts for an element. */
static void print_counted(FILE *out, const struct plan *plan, size_t ops)
{
    size_t size = assay_type_size(plan->kernels.type);

    for (size_t op = 0; op < ops; op++)
        fprintf(out, " %llu",
                (unsigned long long)assay_work_bytes((enum assay_op)op, 1, size,
                                                     plan->write_allocate));
}

void stream_print_facts(FILE *out, const struct plan *plan,
                        const struct setup *setup, const struct result *result)
{
    const struct options *opt = plan->opt;
    uint64_t bytes = stream_bytes(plan, setup->elements);
    char each[16], total[16], cache[16], huge[16];

    fprintf(out,
            "# arrays: 3 of %llu %ss, %s each, %s in all; %s of cache (%s)\n",
            (unsigned long long)setup->elements, assay_type_words[opt->type],
            assay_size_text(bytes, each),
            assay_size_text(assay_product(3, bytes), total),
            assay_size_text(plan->topology->cache, cache),
            plan->topology->cache_source);
    fprintf(out, "# stores: %s (%s); write-allocate %s; bytes an element:",
            assay_stores_words[plan->kernels.stores],
            assay_isa_words[plan->kernels.isa],
            plan->write_allocate                        ? "counted"
            : plan->kernels.stores == ASSAY_NONTEMPORAL ? "none"
                                                        : "not counted");
    print_counted(out, plan, result->ops);
    fprintf(out, "\n# threads: requested %zu, counted %zu, on CPUs %s, pin %s",
            setup->threads, result->threads, result->cpus,
            assay_pin_words[opt->pin]);
    fprintf(out, "; huge pages (%s): %s", assay_hugepages_words[opt->hugepages],
            assay_size_text(result->huge_bytes, huge));
    fprintf(out, "\n");
}

static void print_row(FILE *out, const char *name, int width,
                      const struct result *result, size_t op)
{
    char label[16];
    size_t length = strlen(name);

    for (size_t i = 0; i <= length; i++)
        label[i] =
            name[i] >= 'a' && name[i] <= 'z' ? (char)(name[i] - 32) : name[i];
    strcat(label, ":");
    fprintf(out, "╟─ %-*s%.1f MB/s%s\n", width, label, result->best[op],
            result->ticks[op] < ASSAY_TICKS ? " (invalid: too short)" : "");
}

void stream_print_box(FILE *out, const struct result *result, bool counted)
{
    int width = result->ops > ASSAY_STREAM_OPS ? 8 : 7;

    fprintf(out, "╔══╡ %s-threaded:\n",
            result->threads > 1 ? "Multi" : "Single");
    if (counted)
        fprintf(out, "╠══╡ (%zu threads)\n", result->threads);
    for (size_t op = 0; op < result->ops; op++)
        print_row(out, assay_work((enum assay_op)op)->name, width, result, op);
    fprintf(out,
            "╟─────────────────────\n"
            "║ Median: %.1f MB/s\n"
            "╚═════════════════════\n",
            result->median);
}

void stream_print_summary(FILE *out, const struct result *result)
{
    fprintf(out, "median = %.1f, minimum = %.1f, maximum = %.1f",
            result->median, result->minimum, result->maximum);
}
