/* clock.c - monotonic time, and the clock's own measures.
 *
 * This program's clock_gettime and gettimeofday stand before those of the C
 * library. They step the wall clock back a second at each reading, as an
 * administrator or NTP would: nothing timed may notice. */
#include "config.h"

#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "lib/clock.h"
#include "t/unit/tap.h"

static unsigned wall_readings;

int clock_gettime(clockid_t id, struct timespec *t)
{
    int status = (int)syscall(SYS_clock_gettime, id, t);

    if (id != CLOCK_MONOTONIC)
        t->tv_sec -= ++wall_readings;
    return status;
}

#ifdef __GLIBC__
int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
    struct timespec now;

    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    t->tv_sec = now.tv_sec;
    t->tv_usec = now.tv_nsec / 1000;
    return 0;
}
#endif

static void monotonic(void)
{
    struct timespec pause = {.tv_nsec = 20000000};
    double start = assay_now(), last = start, now;
    bool rising = true;

    for (int i = 0; i < 100000; i++) {
        now = assay_now();
        rising = rising && now >= last;
        last = now;
    }
    ok(rising, "never goes back");
    start = assay_now();
    nanosleep(&pause, NULL);
    now = assay_now() - start;
    ok(now >= 0.02 && now < 10, "a pause of 20 ms takes %.4f s", now);
    ok(assay_now() >= 0 && assay_now() < 1e5, "counts from about the start");
    is_count(wall_readings, 0, "the wall clock is never read for it");
}

static void measures(void)
{
    double start = assay_now();
    struct assay_clock clock = assay_clock_measure();
    double took = assay_now() - start;

    ok(clock.resolution > 0 && clock.resolution <= 1e-4,
       "resolution is %g s: above 0, no coarse tick", clock.resolution);
    ok(clock.overhead > 0 && clock.overhead < 1e-4, "overhead is %g s",
       clock.overhead);
    ok(took < 5, "measuring took %.4f s", took);
    is_count(wall_readings, 0, "without the wall clock");
}

static void utc(void)
{
    char buf[21];
    int year, month, day, hour, minute, second;
    char zone;

    ok(assay_utc(buf) == buf, "returns its buffer");
    ok(strlen(buf) == 20, "20 characters: %s", buf);
    ok(sscanf(buf, "%4d-%2d-%2dT%2d:%2d:%2d%c", &year, &month, &day, &hour,
              &minute, &second, &zone) == 7 &&
           zone == 'Z' && year >= 2024 && month >= 1 && month <= 12,
       "ISO 8601, UTC");
}

int main(void)
{
    monotonic();
    measures();
    utc();
    return done_testing();
}
