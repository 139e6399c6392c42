/* overhead_print.c - the original's table, and the spread over pairs. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "smb/overhead.h"

/* Columns are left-aligned: 8 wide, then 12; a blank stands between them even
 * where a number is longer than the original's ever were. */
void overhead_print_header(const struct overhead_plan *plan, bool receive)
{
    const struct options *opt = plan->opt;

    if (opt->both)
        printf("# direction: %s\n", receive ? "recv" : "send");
    if (!opt->nohdr)
        printf("%-7s %-11s %-11s %-11s %-11s %-11s %s\n", "msgsize",
               "iterations", "iter_t", "work_t", "overhead", "base_t",
               "avail(%)");
}

void overhead_print_step(void *context, uint64_t work, double iter_t,
                         double base_t)
{
    (void)context;
    printf("%-11llu %-11.3f %.3f\n", (unsigned long long)work, iter_t * 1e6,
           base_t * 1e6);
}

static void print_row(const struct overhead_result *result,
                      const struct overhead_point *p)
{
    printf("%-7llu %-11llu ", (unsigned long long)result->msgsize,
           (unsigned long long)result->iterations);
    if (!p->has_knee) {
        printf("%-11s %-11s %-11s %-11.3f unstable\n", "-", "-", "-",
               p->base_t * 1e6);
        return;
    }
    printf("%-11.3f %-11.3f %-11.3f %-11.3f ", p->iter_t * 1e6, p->work_t * 1e6,
           p->overhead * 1e6, p->base_t * 1e6);
    if (p->note == OVERHEAD_UNSTABLE)
        printf("unstable\n");
    else if (p->note == OVERHEAD_PLAIN)
        printf("%.1f\n", p->availability);
    else
        printf("%-11.1f %s\n", p->availability, overhead_notes[p->note]);
}

/* A pair and its figure, to be put in order. */
struct entry {
    double value;
    size_t pair;
};

static int by_value(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    return x->value < y->value ? -1 : x->value > y->value;
}

static void print_end(const struct overhead_plan *plan, const char *word,
                      const struct entry *e)
{
    const struct assay_map *map = &plan->job->map;
    size_t other = e->pair + plan->pair.pairs;

    printf(" %s %.3f (%s:%s, ranks %zu:%zu)", word, e->value,
           map->name[map->node[e->pair]], map->name[map->node[other]], e->pair,
           other);
}

static void print_spread(const struct overhead_plan *plan, const char *name,
                         struct entry *entry, size_t n)
{
    qsort(entry, n, sizeof(*entry), by_value);
    printf("# %-8s", name);
    print_end(plan, "min", &entry[0]);
    printf(", median %.3f,",
           (entry[(n - 1) / 2].value + entry[n / 2].value) / 2);
    print_end(plan, "max", &entry[n - 1]);
    printf("\n");
}

static double figure(const struct overhead_point *p, int which)
{
    switch (which) {
    case 0:
        return p->overhead * 1e6;
    case 1:
        return p->base_t * 1e6;
    default:
        return p->availability;
    }
}

/* Of the pairs that have a figure. */
static void print_pairs(const struct overhead_plan *plan,
                        const struct overhead_result *result)
{
    static const char *const names[] = {"overhead", "base_t", "avail(%)"};
    struct entry *entry = calloc(result->pairs, sizeof(*entry));
    size_t n = 0;

    for (int which = 0; entry && which < 3; which++) {
        n = 0;
        for (size_t i = 0; i < result->pairs; i++)
            if (result->point[i].note != OVERHEAD_UNSTABLE)
                entry[n++] =
                    (struct entry){figure(&result->point[i], which), i};
        if (which == 0)
            printf("# msgsize %llu: %zu of %zu pairs\n",
                   (unsigned long long)result->msgsize, n, result->pairs);
        if (n > 0)
            print_spread(plan, names[which], entry, n);
    }
    free(entry);
}

void overhead_print(const struct overhead_plan *plan,
                    const struct overhead_result *result)
{
    print_row(result, &result->point[0]);
    if (plan->opt->pairs)
        print_pairs(plan, result);
}
