/* layout.h - the same result, in the lines that users' scripts read. */
#ifndef STREAM_LAYOUT_H
#define STREAM_LAYOUT_H

#include <stdio.h>

#include "stream/measure.h"

/* Lines "# ...": what the figures below them count, and where they were
 * taken. */
void stream_print_facts(FILE *out, const struct plan *plan,
                        const struct setup *setup, const struct result *result);

/* The box; counted: with its line "(10 threads)". */
void stream_print_box(FILE *out, const struct result *result, bool counted);

/* "median = 1.0, minimum = 0.5, maximum = 2.0", without a line feed. */
void stream_print_summary(FILE *out, const struct result *result);

/* The table of STREAM 5.10, from banner to verdict. */
void stream_print_classic(FILE *out, const struct plan *plan,
                          const struct result *result);

#endif
