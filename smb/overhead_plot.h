/* overhead_plot.h - overhead, base_t and availability over size, as SVG. */
#ifndef SMB_OVERHEAD_PLOT_H
#define SMB_OVERHEAD_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct overhead_mark {
    size_t column; /* which of the sizes */
    bool receive;
    double overhead, base_t; /* us; what is not above 0 is not drawn */
    double availability;     /* % */
};

/* Draw n marks over m sizes, in bytes: above, on a logarithmic scale, overhead
 * and base_t; below, availability from 0 to 100 %. note: a line of text at the foot,
 * or NULL. */
void overhead_plot(FILE *out, const uint64_t *bytes, size_t m,
                   const struct overhead_mark *mark, size_t n,
                   const char *note);

#endif
