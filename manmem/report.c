/* report.c - the original's lines, what they amount to, and the metrics. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "manmem/device.h"
#include "manmem/session.h"

/* Managed memory at less than this share of device memory's speed is read from
 * afar: no page came. */
#define FAR 0.5

static double rate(const struct plan *plan, double seconds)
{
    return (double)plan->bytes / seconds * 1e-9;
}

/* What tells this measurement from others, those of other runs included. */
static struct assay_fields keys_of(const struct plan *plan,
                                   const struct session *s, size_t n)
{
    const struct options *opt = plan->opt;
    const struct device *d = s->device;
    struct assay_fields f = {0};
    char dimensions[80];

    snprintf(dimensions, sizeof(dimensions), "%llu,%llu,%llu",
             (unsigned long long)opt->block_size,
             (unsigned long long)opt->num_blocks,
             (unsigned long long)opt->elements);
    assay_fields_text(&f, "host", plan->host);
    assay_fields_count(&f, "device", (uint64_t)d->index);
    assay_fields_text(&f, "backend", plan->backend->name);
    assay_fields_text(&f, "arch", d->facts.arch);
    assay_fields_text(&f, "xnack", manmem_xnack_words[d->facts.xnack]);
    assay_fields_count(&f, "bytes", plan->bytes);
    assay_fields_text(&f, "dimensions", dimensions);
    assay_fields_text(&f, "type", manmem_type_words[opt->type]);
    assay_fields_text(&f, "access", manmem_access_words[opt->access]);
    assay_fields_text(&f, "advise", manmem_advice_words[opt->advise]);
    assay_fields_text(&f, "prefetch", opt->prefetch ? "yes" : "no");
    assay_fields_count(&f, "iterations", opt->iterations);
    assay_fields_count(&f, "at_once", n);
    if (!plan->fits)
        assay_fields_text(&f, "oversubscribed", "yes");
    if (plan->opt->backend == BACKEND_HOST) {
        assay_fields_count(&f, "chunk", opt->chunk);
        assay_fields_text(&f, "functional", "yes");
    }
    return f;
}

static void put(const struct plan *plan, const struct session *s,
                const char *name, const char *unit, const double *samples,
                size_t n)
{
    bool time = strcmp(unit, "ms") == 0 || strcmp(unit, "iterations") == 0;
    struct assay_fields keys = {0};

    assay_fields_append(&keys, &s->keys);
    if (strcmp(name, "pingpong") == 0)
        assay_fields_count(&keys, "ping_pong", plan->opt->ping_pong);
    assay_metric(plan->run,
                 &(struct assay_metric){.name = name,
                                        .unit = unit,
                                        .lower_is_better = time,
                                        .value_is_median = true,
                                        .samples = samples,
                                        .n = n},
                 &keys);
    assay_fields_free(&keys);
}

static void put_one(const struct plan *plan, const struct session *s,
                    const char *name, const char *unit, double value)
{
    put(plan, s, name, unit, &value, 1);
}

/* Rates of n times, as samples; their median. */
static double put_rates(const struct plan *plan, const struct session *s,
                        const char *name, const double *seconds, size_t n,
                        double times)
{
    double *rates = assay_room(plan->run, n, sizeof(*rates), "the samples");
    struct assay_stats stats;

    for (size_t i = 0; i < n; i++)
        rates[i] = times * rate(plan, seconds[i]);
    put(plan, s, name, "GB/s", rates, n);
    if (assay_stats(rates, n, &stats) < 0)
        assay_die(plan->run, ASSAY_BROKEN, "statistics: %s", strerror(errno));
    free(rates);
    return stats.median;
}

/*
 * As it happens.
 */
void manmem_report_start(const struct plan *plan, struct session *s, size_t n)
{
    const struct options *opt = plan->opt;

    s->keys = keys_of(plan, s, n);
    if (plan->ndevices > 1)
        snprintf(s->label, sizeof(s->label),
                 "%s %d: ", n > 1 ? "At once, device" : "Device",
                 s->device->index);
    manmem_say(plan, "%sDimensions: %llu, %llu, %llu\n", s->label,
               (unsigned long long)opt->block_size,
               (unsigned long long)opt->num_blocks,
               (unsigned long long)opt->elements);
    manmem_say(plan,
               "%sStarting source data generation to %p (0x%llx bytes).\n",
               s->label, s->managed, (unsigned long long)plan->bytes);
}

void manmem_report_fill(const struct plan *plan, const struct session *s)
{
    manmem_say(plan, "%sSource number generation took %.3f ms.\n", s->label,
               s->fill * 1e3);
    put_one(plan, s, "fill", "GB/s", rate(plan, s->fill));
}

void manmem_report_prefetch(const struct plan *plan, const struct session *s)
{
    manmem_say(plan, "# %sprefetch: %.3f ms (%.3f GB/s)\n", s->label,
               s->prefetch * 1e3, rate(plan, s->prefetch));
    put_one(plan, s, "prefetch", "GB/s", rate(plan, s->prefetch));
}

void manmem_report_iteration(const struct plan *plan, const struct session *s,
                             uint64_t i)
{
    double milliseconds = s->seconds[i] * 1e3;
    struct assay_fields keys = {0};

    manmem_say(plan, "%sIteration %llu: %.3f ms (%.3f GB/s).\n", s->label,
               (unsigned long long)i, milliseconds, rate(plan, s->seconds[i]));
    assay_fields_append(&keys, &s->keys);
    assay_fields_count(&keys, "iteration", i);
    assay_metric(plan->run,
                 &(struct assay_metric){.name = "iteration",
                                        .unit = "ms",
                                        .lower_is_better = true,
                                        .samples = &milliseconds,
                                        .n = 1},
                 &keys);
    if (i == 0)
        put_one(plan, s, "cold", "GB/s", rate(plan, s->seconds[0]));
    assay_fields_free(&keys);
}

/*
 * When all is known.
 */
static double report_steady(const struct plan *plan, const struct session *s,
                            const struct curve *c)
{
    size_t n = plan->opt->iterations;
    double steady =
        put_rates(plan, s, "steady", s->seconds + c->half, n - c->half, 1.0);

    manmem_say(plan, "# %ssteady: %.3f GB/s, median of the last %zu\n",
               s->label, steady, n - c->half);
    return steady;
}

static void report_migration(const struct plan *plan, const struct session *s,
                             const struct curve *c)
{
    double lost = c->lost / c->total * 100.0;

    put_one(plan, s, "converged", "iterations", (double)c->converged);
    put_one(plan, s, "lost", "%", lost);
    manmem_say(plan, "# %scold: %.3f GB/s in iteration 0\n", s->label,
               rate(plan, c->cold));
    if (c->converged == 0 || !(c->lost > 0.0)) {
        manmem_say(plan,
                   "# %smigration: none seen, iteration 0 was as fast as the "
                   "steady ones\n",
                   s->label);
        return;
    }
    put_one(plan, s, "migrated", "GB/s", rate(plan, c->lost));
    manmem_say(plan,
               "# %smigration: %zu iteration%s until within 10 %% of steady; "
               "%.3f GB/s beyond what steady ones take; %.1f %% of all %.3f ms "
               "lost to it\n",
               s->label, c->converged, c->converged == 1 ? "" : "s",
               rate(plan, c->lost), lost, c->total * 1e3);
}

static void check_count(const struct plan *plan, const struct session *s,
                        const char *name, uint64_t got, uint64_t wanted)
{
    uint64_t error = got > wanted ? got - wanted : wanted - got;

    assay_check(plan->run, name, (double)error, 0.0, &s->keys);
}

/* Exactly one fault a chunk, in iteration 0 and never again, none at all after
 * a prefetch; one when the host reads all of it; and in ping-pong one each
 * way, but for the first writing, when the host has all of it still. */
static void check_faults(const struct plan *plan, const struct session *s)
{
    uint64_t chunks =
        plan->bytes / plan->opt->chunk + (plan->bytes % plan->opt->chunk != 0);
    uint64_t turns = plan->opt->ping_pong ? 2 * plan->opt->rounds - 1 : 0;
    uint64_t later = 0;

    if (!plan->backend->moved)
        return;
    for (uint64_t i = 1; i < plan->opt->iterations; i++)
        later += s->faults[i];
    manmem_say(plan,
               "# %sfaults: %llu in iteration 0, %llu later, %llu when the "
               "host read; %llu chunks of %llu bytes\n",
               s->label, (unsigned long long)s->faults[0],
               (unsigned long long)later, (unsigned long long)s->faults_back,
               (unsigned long long)chunks,
               (unsigned long long)plan->opt->chunk);
    check_count(plan, s, "faults.cold", s->faults[0],
                plan->opt->prefetch ? 0 : chunks);
    check_count(plan, s, "faults.later", later, 0);
    check_count(plan, s, "faults.writeback", s->faults_back, chunks);
    check_count(plan, s, "faults.pingpong", s->faults_turns, turns * chunks);
}

/* Were the pages there? Only the same kernel on device memory can tell. */
static void report_direct(const struct plan *plan, const struct session *s,
                          double steady)
{
    size_t n = plan->opt->iterations;
    double direct, share;

    if (!plan->fits) {
        manmem_say(plan,
                   "# %sdevice memory: not measured, as the device has less "
                   "than this\n",
                   s->label);
        return;
    }
    put_one(plan, s, "copy", "GB/s", rate(plan, s->copy));
    direct = put_rates(plan, s, "device", s->direct + n / 2, n - n / 2, 1.0);
    share = steady / direct;
    put_one(plan, s, "steady_share", "%", share * 100.0);
    manmem_say(plan,
               "# %sdevice memory: %.3f GB/s by the same kernel on the same "
               "bytes, copied there at %.3f GB/s; steady is %.1f %% of it\n",
               s->label, direct, rate(plan, s->copy), share * 100.0);
    if (share >= FAR)
        return;
    /* The stand-in's pages did move, as its faults prove. */
    assay_warn(plan->run, "%ssteady is %.1f %% of device memory's rate: %s",
               s->label, share * 100.0,
               plan->backend->moved
                   ? "something else kept the machine busy"
                   : "the pages are read remotely, they did not migrate");
}

static void report_host(const struct plan *plan, const struct session *s)
{
    uint64_t rounds = plan->opt->rounds, k = plan->opt->ping_pong;
    double touch, cycle;

    put_one(plan, s, "writeback", "GB/s", rate(plan, s->write_back));
    manmem_say(plan, "# %swrite-back: %.3f GB/s, the host reads all of it\n",
               s->label, rate(plan, s->write_back));
    if (!k)
        return;
    touch = put_rates(plan, s, "retouch", s->touch, rounds, 1.0);
    cycle = put_rates(plan, s, "pingpong", s->cycle, rounds, (double)k);
    manmem_say(plan,
               "# %sping-pong: %.3f GB/s in rounds of 1 writing by the host, "
               "at %.3f GB/s, and %llu iteration%s; median of %llu rounds; "
               "bytes are those the kernel read\n",
               s->label, cycle, touch, (unsigned long long)k, k == 1 ? "" : "s",
               (unsigned long long)rounds);
}

/* The device's own clock, where it has one. */
static void report_kernel(const struct plan *plan, const struct session *s)
{
    size_t n = plan->opt->iterations;
    double *milliseconds;

    for (size_t i = 0; i < n; i++)
        if (!(s->kernel[i] >= 0.0))
            return;
    milliseconds =
        assay_room(plan->run, n, sizeof(*milliseconds), "the samples");
    for (size_t i = 0; i < n; i++)
        milliseconds[i] = s->kernel[i] * 1e3;
    put(plan, s, "kernel", "ms", milliseconds, n);
    free(milliseconds);
}

void manmem_report_end(const struct plan *plan, const struct session *s)
{
    size_t n = plan->opt->iterations;
    struct curve c;

    if (curve_read(s->seconds, n, &c) < 0) {
        assay_unstable(plan->run, "a time of 0 or less: no curve");
        return;
    }
    put_one(plan, s, "total", "ms", c.total * 1e3);
    report_kernel(plan, s);
    check_faults(plan, s);
    if (c.settled) {
        report_migration(plan, s, &c);
        report_direct(plan, s, report_steady(plan, s, &c));
    } else {
        char why[160];

        snprintf(why, sizeof(why),
                 "%snot steady: iteration %zu of %zu was the first within 10 "
                 "%% of the last half's median; take more --iterations",
                 s->label, c.converged, n);
        assay_unstable(plan->run, why);
    }
    if (c.settled && c.drifting)
        assay_warn(plan->run,
                   "%sthe iterations were still getting faster at the end: "
                   "take more --iterations",
                   s->label);
    report_host(plan, s);
}
