/* clock.h - the only clock that assay times with: monotonic, in seconds. */
#ifndef ASSAY_CLOCK_H
#define ASSAY_CLOCK_H

#include <stddef.h>

/* Seconds since an arbitrary start, from CLOCK_MONOTONIC: a step of the wall
 * clock never shows in a difference of two of these. */
double assay_now(void);

struct assay_clock {
    double resolution; /* s, smallest difference seen between two readings */
    double overhead;   /* s, median cost of one reading */
};

/* What is timed takes so many times the resolution at least: in fewer it is the
 * clock that decides the figure. */
enum { ASSAY_TICKS = 20 };

/* Measure the clock itself (about 1 ms of work). */
struct assay_clock assay_clock_measure(void);

/* UTC time of day as "2026-11-30T13:21:09Z", for provenance only.
 * buf must hold 21 bytes; returns buf. */
char *assay_utc(char *buf);

#endif
