/* clock.c - the only clock that assay times with. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/clock.h"

/* A mutable global: whole seconds before the program began, set once, before
 * main. A double that counts from boot resolves 15 ns only after two years of
 * uptime. */
static time_t origin;

__attribute__((constructor)) static void set_origin(void)
{
    struct timespec t;

    if (clock_gettime(CLOCK_MONOTONIC, &t) == 0)
        origin = t.tv_sec;
}

double assay_now(void)
{
    struct timespec t;

    /* Without this clock nothing here can be timed, nor said honestly. */
    if (clock_gettime(CLOCK_MONOTONIC, &t) < 0)
        abort();
    return (double)(t.tv_sec - origin) + (double)t.tv_nsec * 1e-9;
}

static int compare(const void *a, const void *b)
{
    double x, y;

    memcpy(&x, a, sizeof(x));
    memcpy(&y, b, sizeof(y));
    return (x > y) - (x < y);
}

/* Time that a step of the clock takes to show. */
static double step(void)
{
    double start = assay_now(), end;

    do
        end = assay_now();
    while (!(end > start));
    return end - start;
}

struct assay_clock assay_clock_measure(void)
{
    enum { BATCHES = 51, CALLS = 200 };
    double cost[BATCHES];
    struct assay_clock clock = {.resolution = 1e9};

    for (int i = 0; i < BATCHES; i++) {
        double start = assay_now(), end = start, s;

        for (int k = 0; k < CALLS; k++)
            end = assay_now();
        cost[i] = (end - start) / CALLS;
        s = step();
        if (s < clock.resolution)
            clock.resolution = s;
    }
    qsort(cost, BATCHES, sizeof(cost[0]), compare);
    clock.overhead = cost[BATCHES / 2];
    return clock;
}

char *assay_utc(char *buf)
{
    time_t now = time(NULL);
    struct tm tm;

    if (!gmtime_r(&now, &tm) ||
        strftime(buf, 21, "%Y-%m-%dT%H:%M:%SZ", &tm) != 20)
        strcpy(buf, "unknown");
    return buf;
}
