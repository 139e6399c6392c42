/* overhead.c - mpi_overhead's search on networks that are made up, and the
 * price of work. */
#include "config.h"

#include <stdlib.h>

#include "smb/overhead_find.h"
#include "smb/overhead_work.h"
#include "t/unit/tap.h"

/* A network: a message takes `transfer` of which the host pays `host`, and the
 * rest passes while it works, or does not. */
struct network {
    double transfer, host, unit, barrier;
    double noise;    /* of each sample: 1 is the whole of it */
    unsigned spike;  /* every so many samples one takes 50 times as long */
    bool no_overlap; /* progress only in the wait */
    double late;     /* from this sample on everything takes 3 times as long */
    unsigned calm;   /* ... and until this one */
    uint64_t samples, steps;
    uint64_t random;
};

static double uniform(struct network *n)
{
    n->random = n->random * 6364136223846793005u + 1442695040888963407u;
    return (double)(n->random >> 11) * 0x1p-53;
}

static double sample(void *context, bool message, uint64_t work, uint64_t loops)
{
    struct network *n = context;
    double worked = (double)work * n->unit, seconds = n->barrier + worked;

    (void)loops;
    n->samples++;
    if (message && n->no_overlap)
        seconds += n->transfer;
    else if (message && worked > n->transfer - n->host)
        seconds += n->host;
    else if (message)
        seconds = n->barrier + n->transfer;
    seconds *= 1.0 + n->noise * (uniform(n) - 0.5);
    if (n->spike && n->samples % n->spike == 0)
        seconds *= 50.0;
    if (n->calm && n->samples >= n->late && n->samples < n->calm)
        seconds *= 3.0;
    return seconds;
}

static void step(void *context, uint64_t work, double iter_t, double base_t)
{
    (void)work, (void)iter_t, (void)base_t;
    ((struct network *)context)->steps++;
}

static struct overhead_rules rules(const struct network *n)
{
    return (struct overhead_rules){.iterations = 1000,
                                   .thresh = 1.5,
                                   .unit = n->unit,
                                   .effort = 60,
                                   .longest = 0.25};
}

static struct overhead_point find(struct network *n, struct overhead_rules r)
{
    struct overhead_sampler s = {.context = n, .sample = sample, .step = step};
    struct overhead_point p;

    ok(overhead_find(&r, &s, &p) == 0, "the search ends");
    return p;
}

static const struct network quick = {
    .transfer = 2e-6, .host = 0.5e-6, .unit = 1.3e-9, .barrier = 0.3e-6};

static void overlap(void)
{
    struct network n = quick;
    struct overhead_point p = find(&n, rules(&n));

    is_count(p.note, OVERHEAD_PLAIN, "a network with overlap has a figure");
    is_near(p.base_t, 2.3e-6, 1e-12, "base_t is barrier and transfer");
    is_near(p.overhead, 0.5e-6, 1e-12, "the overhead is the host's part");
    is_near(p.availability, 100 * (1 - 0.5 / 2.3), 1e-6, "availability");
    ok(p.iter_t > 1.5 * p.base_t, "beyond the knee");
    ok(p.iter_t < 3.1 * p.base_t, "and not by more than a doubling");
    ok(p.overhead == p.iter_t - p.work_t, "columns are consistent");
    ok((p.work & (p.work - 1)) == 0, "work is a power of two");
    ok(n.steps > 8, "every amount of work is told");
    ok(p.n * p.loops >= 1000, "the iterations asked for were done");
    ok(p.base && p.low <= p.overhead && p.overhead <= p.high,
       "the interval holds the overhead");
    overhead_point_free(&p);
}

static void no_overlap(void)
{
    struct network n = quick;
    struct overhead_point p;

    n.no_overlap = true;
    n.barrier = 0;
    p = find(&n, rules(&n));
    is_count(p.note, OVERHEAD_NO_OVERLAP, "nothing hides: no overlap");
    ok(p.availability < 1 && p.availability > -1, "availability is near 0");
    overhead_point_free(&p);
    n.noise = 0.04;
    p = find(&n, rules(&n));
    is_count(p.note, OVERHEAD_NO_OVERLAP, "with noise too");
    ok(p.availability < 3 && p.availability > -3, "(%.2f %%)", p.availability);
    overhead_point_free(&p);
}

static void below_resolution(void)
{
    struct network n = {
        .transfer = 1779e-6, .host = 0.5e-6, .unit = 1.3e-9, .noise = 0.01};
    struct overhead_point p = find(&n, rules(&n));

    is_count(p.note, OVERHEAD_BELOW_RESOLUTION,
             "an overhead that drowns: below resolution");
    ok(p.availability > 98 && p.availability < 102, "(%.2f %%)",
       p.availability);
    overhead_point_free(&p);
}

static void noise(void)
{
    struct network n = quick;
    struct overhead_point p;

    n.spike = 7;
    n.noise = 0.02;
    p = find(&n, rules(&n));
    is_count(p.note, OVERHEAD_PLAIN, "slow samples end no search");
    is_near(p.availability, 100 * (1 - 0.5 / 2.3), 2, "nor move the figure");
    ok(p.disturbed > 0, "and are counted");
    overhead_point_free(&p);
    n = quick;
    n.noise = 1.9;
    p = find(&n, rules(&n));
    is_count(p.note, OVERHEAD_UNSTABLE, "noise alone is unstable");
    ok(strstr(p.reason, "%") != NULL, "and says why (%s)", p.reason);
    overhead_point_free(&p);
}

/* Time that samples do not see: their setting up, say. */
static double clock_of(void *context)
{
    return (double)((struct network *)context)->samples * 1e-3;
}

/* However bad a network is, the search ends when it may take no more. */
static void effort(void)
{
    struct network n = quick;
    struct overhead_rules r = rules(&n);
    struct overhead_sampler s = {&n, sample, clock_of, step};
    struct overhead_point p;

    n.transfer = 2e-3;
    r.effort = 1;
    p = find(&n, r);
    is_count(p.note, OVERHEAD_UNSTABLE, "no time for the iterations: unstable");
    ok(strstr(p.reason, " of 1000 iterations after ") != NULL &&
           strstr(p.reason, "--effort"),
       "and says so (%s)", p.reason);
    ok(p.seconds > 1 && p.seconds < 1.1, "in that time (%g s)", p.seconds);
    overhead_point_free(&p);
    r.effort = 100;
    p = find(&n, r);
    is_count(p.note, OVERHEAD_PLAIN, "with more time there is a figure");
    overhead_point_free(&p);
    n = quick;
    n.noise = 1.9;
    r.effort = 0.4;
    ok(overhead_find(&r, &s, &p) == 0 && p.note == OVERHEAD_UNSTABLE &&
           p.seconds > 0.3 && p.seconds < 0.5,
       "the clock counts, not the samples (%g s)", p.seconds);
    overhead_point_free(&p);
    for (int ms = 1, honest = 1; ms <= 100; ms++) {
        n = quick;
        r.effort = ms * 1e-3;
        honest &= overhead_find(&r, &s, &p) == 0 &&
                  (p.note == OVERHEAD_PLAIN) == (p.n * p.loops >= 1000);
        overhead_point_free(&p);
        if (ms == 100)
            ok(honest, "wherever time ends, there is a figure of all "
                       "iterations or none");
    }
    n = quick;
    r.effort = 1e-9;
    p = find(&n, r);
    is_count(p.note, OVERHEAD_UNSTABLE, "no time at all: unstable");
    ok(n.samples < 20, "at once");
    overhead_point_free(&p);
}

/* A burst that lasts long enough to look like the knee, twice. */
static void burst(void)
{
    struct network n = quick;
    struct overhead_point p;

    n.late = 40;
    n.calm = 60;
    p = find(&n, rules(&n));
    is_count(p.note, OVERHEAD_PLAIN, "a burst is no knee");
    is_near(p.availability, 100 * (1 - 0.5 / 2.3), 2, "nor moves the figure");
    ok(p.disturbed > 0, "it is counted");
    overhead_point_free(&p);
}

static void never(void)
{
    struct network n = quick;
    struct overhead_rules r = rules(&n);
    struct overhead_point p;

    r.thresh = 1e12;
    p = find(&n, r);
    is_count(p.note, OVERHEAD_UNSTABLE, "a knee out of reach ends the search");
    ok(!p.has_knee && p.n == 0, "without figures");
    ok(strstr(p.reason, "not reached") != NULL, "and says so (%s)", p.reason);
    overhead_point_free(&p);
    n.unit = 0; /* work that an optimiser removed, were it not noticed before */
    r.unit = 0;
    p = find(&n, r);
    is_count(p.note, OVERHEAD_UNSTABLE, "so does work without end");
    overhead_point_free(&p);
}

/* A base that follows what it is compared with. */
static void never_with_bthresh(void)
{
    struct network n = quick;
    struct overhead_rules r = rules(&n);
    struct overhead_point p;

    r.thresh = 60;
    r.bthresh = 50;
    p = find(&n, r);
    is_count(p.note, OVERHEAD_UNSTABLE, "so does a base that follows");
    ok(n.steps < 40, "in bounded time (%d doublings)", (int)n.steps);
    overhead_point_free(&p);
}

static void bthresh(void)
{
    struct network n = quick;
    struct overhead_rules r = rules(&n);
    struct overhead_point p;

    n.barrier = 0;
    n.no_overlap = true;
    r.bthresh = 1.4;
    p = find(&n, r);
    ok(!p.base, "with bthresh base_t is not measured again");
    ok(p.base_t > 2.05e-6 && p.base_t < 2.8e-6,
       "it is the mean of what lies under the threshold (%g)", p.base_t);
    overhead_point_free(&p);
    r.bthresh = 1.02;
    p = find(&n, r);
    is_near(p.base_t, 2e-6, 0.03e-6, "a lower threshold, a lower base");
    overhead_point_free(&p);
}

static uint64_t removed(uint64_t n)
{
    return n; /* what an optimiser may make of a loop */
}

static uint64_t quadratic(uint64_t n)
{
    return overhead_work(n + (n < 1u << 22 ? n * n >> 18 : 0));
}

static void price(void)
{
    struct overhead_price p;

    if (overhead_price(overhead_work, &p) < 0)
        skip(2, "the CPU is too busy to find a price");
    else {
        ok(p.error <= OVERHEAD_LINEAR, "work is linear (%.3f)", p.error);
        ok(p.unit > 1e-11 && p.unit < 1e-7, "a unit takes %.2f ns",
           p.unit * 1e9);
    }
    ok(overhead_work(1000) != overhead_work(1001), "the last unit counts");
    ok(overhead_price(removed, &p) < 0, "work that was removed has no price");
    ok(overhead_price(quadratic, &p) < 0 && p.error > OVERHEAD_LINEAR,
       "nor has work that is not linear (%.2f)", p.error);
}

int main(void)
{
    overlap();
    no_overlap();
    below_resolution();
    noise();
    effort();
    burst();
    never();
    never_with_bthresh();
    bthresh();
    price();
    return done_testing();
}
