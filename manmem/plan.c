/* plan.c - from options and devices to a plan. */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "manmem/pattern.h"
#include "manmem/plan.h"

void manmem_say(const struct plan *plan, const char *format, ...)
{
    va_list ap;

    if (assay_quiet(plan->run))
        return;
    va_start(ap, format);
    vprintf(format, ap);
    va_end(ap);
}

void manmem_check(const struct plan *plan, int device, const char *doing,
                  int status, const struct gpu_error *error)
{
    if (status != GPU_OK)
        assay_die(plan->run, status == GPU_UNABLE ? ASSAY_NOTRUN : ASSAY_BROKEN,
                  "%s device %d: %s: %s", plan->backend->name, device, doing,
                  error->text);
}

void manmem_watch(const struct plan *plan, size_t n, const char *what)
{
    assay_watch(plan->run, plan->opt->watchdog * (double)n, what);
}

static _Noreturn void bad_list(const struct plan *plan, const char *word,
                               const char *why)
{
    assay_die(plan->run, ASSAY_USAGE, "--devices=%s: '%s' %s",
              plan->opt->devices, word, why);
}

/* A device's number, which there is. */
static int number_of(const struct plan *plan, const char *word)
{
    uint64_t n;

    if (assay_parse_count(word, &n) < 0)
        bad_list(plan, word, "is no device number");
    if (n >= (uint64_t)plan->present)
        assay_die(plan->run, ASSAY_USAGE,
                  "--devices=%s: there is no device %s: %s has %d, from 0",
                  plan->opt->devices, word, plan->backend->name, plan->present);
    return (int)n;
}

static void add_device(struct plan *plan, int index, const char *word)
{
    for (size_t i = 0; i < plan->ndevices; i++)
        if (plan->devices[i].index == index)
            bad_list(plan, word, "names a device twice");
    if (plan->ndevices == DEVICES_MOST)
        assay_die(plan->run, ASSAY_USAGE, "more than %d devices", DEVICES_MOST);
    plan->devices[plan->ndevices++].index = index;
}

/* One word of a list: "2" or "0-3". */
static void add_word(struct plan *plan, char *word)
{
    char whole[32], *dash;
    int first, last;

    snprintf(whole, sizeof(whole), "%s", word);
    dash = strchr(word, '-');
    if (dash)
        *dash = '\0';
    first = number_of(plan, word);
    last = dash ? number_of(plan, dash + 1) : first;
    if (last < first)
        bad_list(plan, whole, "does not ascend");
    for (int i = first; i <= last; i++)
        add_device(plan, i, whole);
}

static void choose_devices(struct plan *plan)
{
    const char *list = plan->opt->devices;
    char word[32];

    if (!list || strcmp(list, "all") == 0) {
        for (int i = 0; i < plan->present; i++)
            add_device(plan, i, "all");
        return;
    }
    for (;;) {
        size_t length = strcspn(list, ",");

        snprintf(word, sizeof(word), "%.*s",
                 (int)(length < sizeof(word) ? length : sizeof(word) - 1),
                 list);
        add_word(plan, word);
        if (list[length] == '\0')
            return;
        list += length + 1;
    }
}

static void open_devices(struct plan *plan)
{
    struct gpu_error error = {""};

    for (size_t i = 0; i < plan->ndevices; i++) {
        struct device *d = &plan->devices[i];

        manmem_watch(plan, 1, "opening a device");
        manmem_check(
            plan, d->index, "opening it",
            plan->backend->open(&d->gpu, d->index, &plan->setup, &error),
            &error);
        manmem_check(plan, d->index, "asking what it is",
                     plan->backend->facts(d->gpu, &d->facts, &error), &error);
    }
}

/* What does not depend on devices is refused before any is looked for. */
static void plan_sizes(struct plan *plan)
{
    struct options *opt = plan->opt;
    enum gpu_type type = (enum gpu_type)opt->type;
    uint64_t most = pattern_elements_most(type);

    if (opt->num_blocks == 0)
        opt->num_blocks = opt->backend == BACKEND_HOST ? 64 : 256;
    if (opt->elements > most)
        assay_die(plan->run, ASSAY_USAGE,
                  "--elements-per-thread=%llu: the sum of more than %llu "
                  "elements up to %d is not exact in a %s",
                  (unsigned long long)opt->elements, (unsigned long long)most,
                  PATTERN_MOST, manmem_type_words[type]);
    if (opt->chunk & (opt->chunk - 1))
        assay_die(plan->run, ASSAY_USAGE, "--chunk=%llu: not a power of 2",
                  (unsigned long long)opt->chunk);
    plan->threads = assay_product(opt->block_size, opt->num_blocks);
    plan->elements = assay_product(plan->threads, opt->elements);
    plan->bytes = assay_product(plan->elements, pattern_size(type));
    if (plan->bytes > (uint64_t)1 << 62)
        assay_die(plan->run, ASSAY_USAGE,
                  "%llu x %llu x %llu elements: more than can be addressed",
                  (unsigned long long)opt->block_size,
                  (unsigned long long)opt->num_blocks,
                  (unsigned long long)opt->elements);
}

/* Devices that have managed memory at the same time. */
static uint64_t at_once(const struct plan *plan)
{
    return plan->opt->order == ORDER_ALONE ? 1 : plan->ndevices;
}

/* All of it is in the host's memory before it is anywhere else. */
static void need_host(const struct plan *plan)
{
    struct assay_memory memory =
        assay_memory_available(assay_machine(plan->run));
    uint64_t need = assay_product(plan->bytes, at_once(plan));
    char need_text[16], have_text[16];

    if (memory.available == 0 || need <= memory.available / 8 * 7)
        return;
    assay_die(plan->run, ASSAY_BROKEN,
              "managed memory: %llu x %s begin in the host's, of which %s may "
              "be had (%s): take fewer --num-blocks",
              (unsigned long long)at_once(plan),
              assay_size_text(plan->bytes, need_text),
              assay_size_text(memory.available, have_text), memory.limit);
}

static void need_device(struct plan *plan, const struct device *d)
{
    uint64_t sums = assay_product(plan->threads,
                                  pattern_size((enum gpu_type)plan->opt->type));

    if (plan->opt->block_size > d->facts.threads)
        assay_die(plan->run, ASSAY_USAGE,
                  "--block-size=%llu: device %d has at most %llu threads in a "
                  "block",
                  (unsigned long long)plan->opt->block_size, d->index,
                  (unsigned long long)d->facts.threads);
    if (plan->bytes + sums <= d->facts.free)
        return;
    plan->fits = false;
    if (plan->opt->oversubscribe)
        return;
    assay_die(plan->run, ASSAY_USAGE,
              "%llu x %llu x %llu elements take %llu bytes, and %llu for sums: "
              "device %d has %llu bytes, %llu of them free: take fewer "
              "--num-blocks, or say --oversubscribe",
              (unsigned long long)plan->opt->block_size,
              (unsigned long long)plan->opt->num_blocks,
              (unsigned long long)plan->opt->elements,
              (unsigned long long)plan->bytes, (unsigned long long)sums,
              d->index, (unsigned long long)d->facts.memory,
              (unsigned long long)d->facts.free);
}

static void write_opt(const struct plan *plan)
{
    struct assay_fields more = {0};
    char hash[65];

    assay_fields_text(&more, "backend_used", plan->backend->name);
    assay_fields_text(&more, "backend_is", plan->backend->what);
    if (plan->plugin[0] && plan->opt->backend != BACKEND_HOST) {
        assay_fields_text(&more, "plugin", plan->plugin);
        assay_fields_text(&more, "plugin_sha256",
                          assay_sha256_file(plan->plugin, hash) == 0
                              ? hash
                              : "unknown (can't be read)");
        assay_fields_text(&more, "plugin_archs", plan->backend->archs);
    }
    assay_fields_count(&more, "threads", plan->threads);
    assay_fields_count(&more, "managed_bytes", plan->bytes);
    assay_fields_count(&more, "devices_present", (uint64_t)plan->present);
    assay_fields_count(&more, "devices_measured", plan->ndevices);
    if (plan->opt->backend == BACKEND_HOST)
        assay_fields_text(&more, "functional", "yes");
    assay_opt(plan->run, &more);
    assay_fields_free(&more);
}

void manmem_plan(struct plan *plan, struct assay_run *run, struct options *opt)
{
    *plan = (struct plan){.run = run, .opt = opt, .fits = true};
    assay_hostname(plan->host, sizeof(plan->host));
    plan_sizes(plan);
    plan->setup = (struct gpu_setup){.chunk = opt->chunk,
                                     .devices = (unsigned)opt->stand_ins};
    manmem_find_backend(plan);
    choose_devices(plan);
    open_devices(plan);
    need_host(plan);
    for (size_t i = 0; i < plan->ndevices; i++)
        need_device(plan, &plan->devices[i]);
    write_opt(plan);
    manmem_record_devices(plan);
    plan->sums = malloc(plan->threads * sizeof(*plan->sums));
    if (!plan->sums)
        assay_die(run, ASSAY_BROKEN, "sums: %s", strerror(errno));
    manmem_watch(plan, 1, "working out the sums");
    pattern_sums(plan->sums, plan->threads, opt->elements,
                 (enum gpu_access)opt->access, 0);
}

void manmem_plan_free(struct plan *plan)
{
    for (size_t i = 0; i < plan->ndevices; i++) {
        manmem_watch(plan, 1, "closing a device");
        plan->backend->close(plan->devices[i].gpu);
    }
    assay_watch(plan->run, 0, "");
    free(plan->sums);
}
