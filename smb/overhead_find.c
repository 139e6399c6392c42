/* overhead_find.c - find the work that hides a transfer, and what it costs. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/stats.h"
#include "smb/overhead_find.h"

enum {
    SPLIT = 20,       /* samples that the iterations are split into */
    GROUP_LEAST = 3,  /* samples of one amount of work */
    GROUP_MOST = 10,  /* ... and so many, if they are short */
    ROUNDS_LEAST = 9, /* from 6 on an interval of 95 % exists */
    ROUNDS_MOST = 4000,
    ROUNDS_CHECK = 8, /* rounds between two looks at the interval */
    KNEES_MOST = 8,   /* that did not last */
};

static const double sample_least =
                        5e-6, /* s of one sample, so that the clock can tell */
    sample_most = 1e-3,  /* s, where one loop is not longer: a longer sample is
                            sure to be disturbed where a CPU is shared */
    sample_long = 20e-3, /* s, which a sample is never meant to take */
    group_long = 10e-3,  /* s that a group may take beyond its least */
    plateau = 0.02,      /* work under this share of base_t does not count */
    slow = 1.25,         /* x median: a disturbed sample */
    lasting = 0.9,       /* of thresh: what a knee must keep to be one */
    plausible = 0.5,     /* of the least work that a knee can come with */
    confidence = 0.95;

const char *const overhead_notes[] = {"", "no overlap", "below resolution",
                                      "unstable"};

struct series {
    double *x;
    size_t n, size;
};

struct search {
    const struct overhead_rules *rules;
    const struct overhead_sampler *sampler;
    struct overhead_point *out;
    uint64_t loops, loops_least;
    struct series group, base, iter, worked;
    double base_sum; /* with bthresh: of base_n values of iter_t */
    size_t base_n, false_knees;
    double base_t;
    double first; /* base_t by the least work alone */
    double start, spent;
    bool enough; /* rounds for the iterations that were asked for */
    bool no_memory;
};

static void push(struct search *s, struct series *series, double x)
{
    if (series->n == series->size) {
        size_t size = series->size ? 2 * series->size : 64;
        double *more = realloc(series->x, size * sizeof(*more));

        if (!more) {
            s->no_memory = true;
            return;
        }
        series->x = more;
        series->size = size;
    }
    series->x[series->n++] = x;
}

static double median(struct search *s, const struct series *series)
{
    struct assay_stats stats;

    if (series->n == 0 || assay_stats(series->x, series->n, &stats) < 0) {
        s->no_memory |= errno == ENOMEM;
        return 0.0;
    }
    return stats.median;
}

static size_t count_slow(const struct series *series, double typical)
{
    size_t n = 0;

    for (size_t i = 0; i < series->n; i++)
        n += series->x[i] > slow * typical;
    return n;
}

/* Loops of a sample with so much work: fewer where that alone is long. */
static uint64_t loops_for(const struct search *s, uint64_t work)
{
    double most = sample_most / ((double)work * s->rules->unit + 1e-12);

    return most >= (double)s->loops ? s->loops
           : most >= 1.0            ? (uint64_t)most
                                    : 1;
}

/* How long it has taken so far. */
static double elapsed(const struct search *s)
{
    const struct overhead_sampler *sampler = s->sampler;

    return sampler->now ? sampler->now(sampler->context) - s->start : s->spent;
}

static bool late(const struct search *s)
{
    return elapsed(s) > s->rules->effort;
}

/* Mean time of a loop; *spent grows by that of all of them. Where ranks wait
 * for a CPU at every turn, samples grow long: later ones have fewer loops. */
static double sample(struct search *s, bool message, uint64_t work,
                     double *spent)
{
    uint64_t loops = loops_for(s, work);
    double x = s->sampler->sample(s->sampler->context, message, work, loops);

    *spent += x * (double)loops;
    s->spent += x * (double)loops;
    if (x * (double)loops > sample_long && s->loops > s->loops_least)
        s->loops -= (s->loops - s->loops_least + 1) / 2;
    return x;
}

/* Loops of one sample: a share of the iterations, but neither too short for the
 * clock nor much longer than a turn of the scheduler. */
static uint64_t choose_loops(struct search *s)
{
    uint64_t loops = s->rules->iterations / SPLIT;
    double once = 0.0, spent = 0.0;

    s->loops = s->loops_least = 1;
    for (int i = 0; i < GROUP_LEAST; i++) {
        double seconds = sample(s, true, 1, &spent);

        if (i == 0 || seconds < once)
            once = seconds;
    }
    if (!(once > 0.0))
        once = 1e-9;
    if ((double)loops * once > sample_most)
        loops = (uint64_t)(sample_most / once);
    if (once < sample_least)
        s->loops_least = (uint64_t)(sample_least / once) + 1;
    if (loops < s->loops_least)
        loops = s->loops_least;
    return loops ? loops : 1;
}

/* Median of a few samples. Disturbed ones stay among them, but as many more
 * are taken, so that they weigh less. */
static double group(struct search *s, uint64_t work, size_t least)
{
    struct series *g = &s->group;
    double spent = 0.0, typical;
    size_t again;

    g->n = 0;
    while (g->n < least ||
           (least > 1 && g->n < GROUP_MOST && spent < group_long)) {
        push(s, g, sample(s, true, work, &spent));
        if (s->no_memory)
            return 0.0;
    }
    typical = median(s, g);
    again = count_slow(g, typical);
    s->out->disturbed += again;
    for (size_t i = 0; i < again; i++)
        push(s, g, sample(s, true, work, &spent));
    return again ? median(s, g) : typical;
}

/* What was measured with so much work, as part of base_t: by the original's
 * rule, or where the work is too little to matter. */
static void base_update(struct search *s, uint64_t work, double iter_t)
{
    const struct overhead_rules *r = s->rules;

    if (r->bthresh > 0.0) {
        if (s->base_n > 0 && !(iter_t < r->bthresh * s->base_t))
            return;
        s->base_sum += iter_t;
        s->base_n++;
        s->base_t = s->base_sum / (double)s->base_n;
        return;
    }
    if (s->base.n > 0 && (double)work * r->unit > plateau * s->base_t)
        return;
    for (size_t i = 0; i < s->group.n; i++)
        push(s, &s->base, s->group.x[i]);
    s->base_t = median(s, &s->base);
}

/* Does the time exceed the threshold, twice? Nothing can take longer than
 * transfer and work one after the other, so with much less work than that asks
 * for it was something else that took the time. */
static bool crosses(struct search *s, uint64_t work, double *iter_t)
{
    const struct overhead_rules *r = s->rules;
    double limit = r->thresh * s->base_t;
    double owed = (r->thresh - 1.0) * s->base_t;

    if (s->base_t <= 0.0 || !(*iter_t > limit))
        return false;
    if ((double)work * r->unit >= plausible * owed) {
        *iter_t = group(s, work, GROUP_LEAST);
        if (*iter_t > limit)
            return true;
    }
    s->out->disturbed++;
    return false;
}

static void unstable(struct search *s, const char *reason)
{
    s->out->note = OVERHEAD_UNSTABLE;
    snprintf(s->out->reason, sizeof(s->out->reason), "%s", reason);
}

/* One sample of each kind, one after the other, so that what drifts drifts in
 * all of them. */
static void round_take(struct search *s, uint64_t work)
{
    double spent = 0.0;

    push(s, &s->iter, sample(s, true, work, &spent));
    push(s, &s->worked, sample(s, false, work, &spent));
    if (!(s->rules->bthresh > 0.0))
        push(s, &s->base, sample(s, true, 1, &spent));
}

/* Fill in what the samples say; the interval is that of the median of the
 * differences of neighbours. */
static void evaluate(struct search *s)
{
    struct overhead_point *out = s->out;
    struct series difference = {0};
    struct assay_interval interval = {0};

    out->n = s->iter.n;
    out->iter_t = median(s, &s->iter);
    out->work_t = median(s, &s->worked);
    if (!(s->rules->bthresh > 0.0))
        s->base_t = median(s, &s->base);
    out->base_t = s->base_t;
    out->overhead = out->iter_t - out->work_t;
    out->availability = 100.0 * (1.0 - out->overhead / out->base_t);
    for (size_t i = 0; i < out->n; i++)
        push(s, &difference, s->iter.x[i] - s->worked.x[i]);
    if (!s->no_memory && difference.n > 1 &&
        assay_median_interval(difference.x, difference.n, confidence,
                              &interval) < 0)
        s->no_memory = true;
    if (difference.n == 1) /* of which nothing is known */
        interval = (struct assay_interval){-out->base_t, 2.0 * out->base_t, 0};
    out->low = interval.low < out->overhead ? interval.low : out->overhead;
    out->high = interval.high > out->overhead ? interval.high : out->overhead;
    out->coverage = interval.coverage;
    free(difference.x);
}

static bool narrow(const struct overhead_point *p)
{
    return p->high - p->low <= OVERHEAD_RESOLUTION * p->base_t;
}

static void rounds(struct search *s, uint64_t work)
{
    const struct overhead_rules *r = s->rules;
    uint64_t loops = loops_for(s, work);
    size_t least = (size_t)((r->iterations + loops - 1) / loops), owed;

    s->out->loops = loops;
    s->iter.n = s->worked.n = 0;
    if (!(r->bthresh > 0.0))
        s->base.n = 0;
    if (least < ROUNDS_LEAST)
        least = ROUNDS_LEAST;
    do
        round_take(s, work);
    while (s->iter.n < least && !late(s) && !s->no_memory);
    s->enough = s->iter.n >= least;
    owed = count_slow(&s->iter, median(s, &s->iter)) +
           count_slow(&s->worked, median(s, &s->worked));
    s->out->disturbed += owed;
    for (; owed > 0 && !late(s) && !s->no_memory; owed--)
        round_take(s, work);
    evaluate(s);
    while (!narrow(s->out) && !late(s) && s->iter.n < ROUNDS_MOST &&
           !s->no_memory) {
        for (int i = 0; i < ROUNDS_CHECK; i++)
            round_take(s, work);
        evaluate(s);
    }
}

static void judge(struct search *s)
{
    struct overhead_point *p = s->out;
    double most = 100.0 * OVERHEAD_RESOLUTION;

    if (!(p->base_t > 0.0) || !(p->work_t > 0.0))
        unstable(s, "a time that is none");
    else if (!s->enough) {
        p->note = OVERHEAD_UNSTABLE;
        snprintf(p->reason, sizeof(p->reason),
                 "%llu of %llu iterations after %.3g s, and --effort gives it "
                 "no more",
                 (unsigned long long)(p->n * p->loops),
                 (unsigned long long)s->rules->iterations, elapsed(s));
    } else if (!narrow(p)) {
        p->note = OVERHEAD_UNSTABLE;
        snprintf(
            p->reason, sizeof(p->reason),
            "the overhead is known to %.1f %% of base_t after %zu samples in "
            "%.3g s, not to %.0f %%",
            100.0 * (p->high - p->low) / p->base_t, p->n, elapsed(s), most);
    } else if (!(p->availability >= -most && p->availability <= 100.0 + most)) {
        p->note = OVERHEAD_UNSTABLE;
        snprintf(p->reason, sizeof(p->reason),
                 "an availability of %.1f %% is none", p->availability);
    } else if (p->high >= p->base_t - s->rules->unit) /* base_t has one */
        p->note = OVERHEAD_NO_OVERLAP;
    else if (p->low <= 0.0)
        p->note = OVERHEAD_BELOW_RESOLUTION;
}

/* Measure at what seems the knee. False where it was none after all: what
 * raised the time has passed. */
static bool settle(struct search *s, uint64_t work)
{
    struct overhead_point *p = s->out;

    rounds(s, work);
    p->work = work;
    if (p->iter_t > lasting * s->rules->thresh * p->base_t) {
        p->has_knee = true;
        judge(s);
        return true;
    }
    p->disturbed++;
    if (++s->false_knees < KNEES_MOST && !late(s))
        return false;
    unstable(s, "no knee that lasts: times rise and fall by themselves");
    return true;
}

/* With bthresh base_t may follow iter_t, and no work would be too much. */
static bool beyond(struct search *s, uint64_t work)
{
    const struct overhead_rules *r = s->rules;
    struct overhead_point *p = s->out;
    double seconds = (double)work * r->unit;
    double base_t = r->bthresh > 0.0 ? s->first : s->base_t;

    if (work <= UINT64_MAX / 2 && !late(s) &&
        (seconds <= r->longest || seconds <= 20.0 * base_t))
        return false;
    p->note = OVERHEAD_UNSTABLE;
    snprintf(p->reason, sizeof(p->reason),
             "the knee was not reached: %llu units of work, %.3g us, leave "
             "iter_t under %g x base_t (%.3g us), after %.3g s",
             (unsigned long long)work, seconds * 1e6, r->thresh,
             s->base_t * 1e6, elapsed(s));
    return true;
}

static void search(struct search *s)
{
    for (uint64_t work = 1; !s->no_memory; work *= 2) {
        bool little = (double)work * s->rules->unit < plateau / 2 * s->base_t;
        double iter_t = group(s, work, little ? 1 : GROUP_LEAST);
        bool knee = crosses(s, work, &iter_t);

        if (!knee)
            base_update(s, work, iter_t);
        if (work == 1)
            s->first = s->base_t;
        s->out->base_t = s->base_t;
        if (s->sampler->step)
            s->sampler->step(s->sampler->context, work, iter_t, s->base_t);
        if ((knee && settle(s, work)) || beyond(s, work))
            return;
    }
}

int overhead_find(const struct overhead_rules *rules,
                  const struct overhead_sampler *sampler,
                  struct overhead_point *point)
{
    struct search s = {.rules = rules, .sampler = sampler, .out = point};

    *point = (struct overhead_point){0};
    s.start = sampler->now ? sampler->now(sampler->context) : 0.0;
    s.loops = choose_loops(&s);
    search(&s);
    point->seconds = elapsed(&s);
    free(s.group.x);
    point->iter = s.iter.x;
    point->worked = s.worked.x;
    point->base = s.base.x;
    if (rules->bthresh > 0.0) {
        free(s.base.x);
        point->base = NULL;
    }
    if (!point->has_knee)
        point->n = 0;
    if (!s.no_memory)
        return 0;
    errno = ENOMEM;
    return -1;
}

void overhead_point_free(struct overhead_point *point)
{
    free(point->iter);
    free(point->worked);
    free(point->base);
    point->iter = point->worked = point->base = NULL;
}
