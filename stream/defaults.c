/* defaults.c - from options and machine to a plan. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stream/plan.h"

uint64_t stream_bytes(const struct plan *plan, uint64_t n)
{
    return assay_product(n, assay_type_size((enum assay_type)plan->opt->type));
}

uint64_t stream_elements(const struct plan *plan, unsigned factor)
{
    return assay_product(factor, plan->topology->cache) /
           assay_type_size((enum assay_type)plan->opt->type);
}

enum { LEAVE_LEAST = 16 << 20 };

/* Bytes that three arrays may take: some must be left for their alignment,
 * for stacks and code. A limit that is not known is none. */
static uint64_t room(const struct plan *plan)
{
    uint64_t available = plan->memory.available, left = available / 8;

    if (plan->opt->hugepages == ASSAY_HUGE_HUGETLB)
        return plan->memory.hugetlb;
    if (available == 0)
        return UINT64_MAX;
    left = left > LEAVE_LEAST ? left : LEAVE_LEAST;
    return available > left ? available - left : 0;
}

void stream_need(const struct plan *plan, uint64_t n)
{
    uint64_t need = assay_arrays_bytes((enum assay_type)plan->opt->type, n);
    bool pool = plan->opt->hugepages == ASSAY_HUGE_HUGETLB;
    char need_text[16], have_text[16];

    if (pool && need < UINT64_MAX / 2)
        need += ASSAY_ARRAYS * ((uint64_t)2 << 20); /* whole pages */
    if (need <= room(plan))
        return;
    if (pool)
        assay_die(plan->run, ASSAY_NOTRUN,
                  "--hugepages=hugetlb: 3 arrays take %s, the pool has %s",
                  assay_size_text(need, need_text),
                  assay_size_text(plan->memory.hugetlb, have_text));
    assay_die(plan->run, ASSAY_BROKEN,
              "elements: 3 arrays of %llu take %s, and %s may be had (%s)",
              (unsigned long long)n, assay_size_text(need, need_text),
              assay_size_text(room(plan), have_text), plan->memory.limit);
}

/* OMP_NUM_THREADS is a wish like --threads; of a list, the first counts. */
static uint64_t threads_in_environment(const struct plan *plan)
{
    const char *text = getenv("OMP_NUM_THREADS");
    char first[24] = "";
    uint64_t n;
    size_t length;

    if (!text)
        return 0;
    text += strspn(text, " ");
    length = strcspn(text, ", ");
    if (length < sizeof(first))
        memcpy(first, text, length);
    if (assay_parse_count(first, &n) == 0 && n >= 1 && n <= ASSAY_THREADS_MOST)
        return n;
    assay_warn(plan->run,
               "OMP_NUM_THREADS=%s: not a number of threads, 1 to %d; ignored",
               text, ASSAY_THREADS_MOST);
    return 0;
}

static void plan_threads(struct plan *plan)
{
    struct options *opt = plan->opt;

    if (!plan->topology->this_machine && opt->pin != ASSAY_PIN_NONE) {
        assay_warn(plan->run, "the machine described is not this one: "
                              "threads are not pinned");
        opt->pin = ASSAY_PIN_NONE;
    }
    if (opt->threads == 0)
        opt->threads = threads_in_environment(plan);
    if (opt->threads == 0)
        opt->threads = assay_default_threads(plan->topology);
    plan->threads_counted = assay_team_count((size_t)opt->threads);
}

static void plan_kernels(struct plan *plan)
{
    struct options *opt = plan->opt;
    enum assay_stores wanted = (enum assay_stores)opt->stores;

    if (assay_kernels_choose((enum assay_isa)opt->kernel, wanted,
                             (enum assay_type)opt->type, &plan->kernels) < 0)
        assay_die(plan->run, ASSAY_NOTRUN,
                  "this build or machine has no %s kernels with %s stores",
                  assay_isa_words[opt->kernel], assay_stores_words[wanted]);
    opt->kernel = (int)plan->kernels.isa;
    opt->stores = (int)plan->kernels.stores;
}

/* Non-temporal stores fetch no line: to count one would invent traffic. */
static void plan_count(struct plan *plan)
{
    struct options *opt = plan->opt;
    bool regular = plan->kernels.stores == ASSAY_REGULAR;
    bool classic = opt->mode == MODE_CLASSIC || opt->mode == MODE_ORIGINAL;

    if (opt->write_allocate == ASSAY_COUNT_YES && !regular)
        assay_die(plan->run, ASSAY_USAGE,
                  "--write-allocate=yes: nontemporal stores fetch no line that "
                  "could be counted; say --stores=regular");
    if (opt->write_allocate == ASSAY_COUNT_YES && classic)
        assay_die(plan->run, ASSAY_USAGE,
                  "--write-allocate=yes: --mode=%s never counts it",
                  stream_mode_words[opt->mode]);
    plan->write_allocate =
        regular && !classic && opt->write_allocate != ASSAY_COUNT_NO;
    opt->write_allocate =
        plan->write_allocate ? ASSAY_COUNT_YES : ASSAY_COUNT_NO;
}

static void plan_elements(struct plan *plan)
{
    struct options *opt = plan->opt;
    enum assay_type type = (enum assay_type)opt->type;
    uint64_t most = room(plan) / ASSAY_ARRAYS / assay_type_size(type);
    char cut[16], full[16];

    plan->given_elements = opt->elements > 0;
    if (plan->given_elements) {
        stream_need(plan, opt->elements);
        return;
    }
    opt->elements = stream_elements(plan, 4);
    if (opt->elements <= most)
        return;
    if (opt->hugepages == ASSAY_HUGE_HUGETLB)
        stream_need(plan, opt->elements);
    plan->cut_from = opt->elements;
    opt->elements = most > 64 ? most / 64 * 64 : 64;
    assay_warn(plan->run,
               "arrays cut from %s to %s each, for want of memory: %s",
               assay_size_text(stream_bytes(plan, plan->cut_from), full),
               assay_size_text(stream_bytes(plan, opt->elements), cut),
               plan->memory.limit);
}

/* What makes a figure doubtful is said before it is taken. */
static void plan_warnings(struct plan *plan)
{
    const struct options *opt = plan->opt;
    uint64_t bytes = stream_bytes(plan, opt->elements);
    char array[16], cache[16];

    if (strcmp(plan->topology->cache_source, "assumed") == 0)
        assay_warn(plan->run, "no cache size can be read: %s assumed",
                   assay_size_text(plan->topology->cache, cache));
    if (opt->mode != MODE_LENGTH &&
        bytes < assay_product(4, plan->topology->cache))
        assay_warn(plan->run,
                   "arrays of %s are smaller than 4 x cache (4 x %s): this may "
                   "be the speed of a cache, not of memory",
                   assay_size_text(bytes, array),
                   assay_size_text(plan->topology->cache, cache));
}

static void refuse(const struct plan *plan, bool given, const char *option,
                   enum stream_mode needed)
{
    if (given && plan->opt->mode != (int)needed)
        assay_die(plan->run, ASSAY_USAGE, "%s: only with --mode=%s", option,
                  stream_mode_words[needed]);
}

static void plan_refusals(const struct plan *plan)
{
    const struct options *opt = plan->opt;

    refuse(plan, opt->scaling, "--scaling", MODE_SCALING);
    refuse(plan, opt->plot, "--plot", MODE_SCALING);
    refuse(plan, opt->original, "--original", MODE_ORIGINAL);
    refuse(plan, opt->compiler, "--compiler", MODE_ORIGINAL);
    refuse(plan, opt->flags, "--flags", MODE_ORIGINAL);
    if (opt->mode == MODE_ORIGINAL && !opt->original)
        assay_die(plan->run, ASSAY_USAGE,
                  "--mode=original: say which, with --original=FILE");
    if (opt->mode == MODE_LENGTH && opt->elements)
        assay_die(plan->run, ASSAY_USAGE,
                  "--elements: --mode=length takes multiples of the cache");
}

static void write_opt(struct plan *plan)
{
    const struct options *opt = plan->opt;
    struct assay_fields more = {0};
    uint64_t n =
        opt->mode == MODE_LENGTH ? stream_elements(plan, 1) : opt->elements;
    char *cpus;
    int *list = calloc(plan->topology->ncpus, sizeof(*list));

    for (size_t i = 0; list && i < plan->topology->ncpus; i++)
        list[i] = (int)plan->topology->cpus[i].cpu;
    cpus = list ? assay_cpu_list(list, plan->topology->ncpus) : NULL;
    assay_fields_count(&more, "array_bytes", stream_bytes(plan, n));
    assay_fields_count(&more, "cache_bytes", plan->topology->cache);
    assay_fields_text(&more, "cache_source", plan->topology->cache_source);
    assay_fields_count(&more, "threads_requested", opt->threads);
    assay_fields_count(&more, "threads_counted", plan->threads_counted);
    assay_fields_text(&more, "cpus_allowed",
                      cpus ? cpus : "unknown (no memory)");
    assay_fields_count(&more, "cores_allowed", plan->topology->ncores);
    assay_fields_count(&more, "memory_available", plan->memory.available);
    assay_fields_text(&more, "memory_limit", plan->memory.limit);
    assay_fields_real(&more, "clock_resolution", plan->clock.resolution);
    assay_fields_real(&more, "clock_overhead", plan->clock.overhead);
    assay_opt(plan->run, &more);
    assay_fields_free(&more);
    free(cpus);
    free(list);
}

void stream_plan(struct plan *plan, struct assay_run *run, struct options *opt)
{
    *plan = (struct plan){.run = run, .opt = opt};
    plan_refusals(plan);
    plan->topology = assay_machine(run);
    assay_hostname(plan->host, sizeof(plan->host));
    plan->clock = assay_clock_measure();
    plan_kernels(plan);
    plan_count(plan);
    plan_threads(plan);
    /* Once the threads stand: their stacks are no longer to be had. */
    plan->memory = assay_memory_available(plan->topology);
    plan_elements(plan);
    plan_warnings(plan);
    write_opt(plan);
}
