/* plot.h - the scaling curve, drawn by gnuplot where there is one. */
#ifndef STREAM_PLOT_H
#define STREAM_PLOT_H

#include <stddef.h>

struct curve {
    size_t n;
    const size_t *threads;
    const double *rate; /* MB/s */
};

/* Draw with characters on stdout (svg NULL), or as SVG into that file. Returns
 * 0; or -1 with the reason in why. */
int stream_plot(const struct curve *curve, const char *svg, char *why,
                size_t size);

#endif
