/* overhead_plot.c - overhead, base_t and availability over size, as SVG. */
#include "config.h"

#include <math.h>

#include "lib/units.h"
#include "smb/overhead_plot.h"

/* Pixels: a column of two panels. */
enum {
    WIDTH = 800,
    HEIGHT = 560,
    LEFT = 80,
    RIGHT = 780,
    TOP = 40,
    MIDDLE = 300, /* bottom of the upper panel */
    LOWER = 340,  /* top of the lower one */
    BOTTOM = 510,
    LABELS = 12, /* sizes that have one, at most */
};

struct scale {
    double low, high; /* decades */
};

/* A curve: what it shows, of which direction, how. */
struct curve {
    int which; /* 0 overhead, 1 base_t, 2 availability */
    bool receive;
    const char *colour, *name;
};

static const struct curve curves[] = {
    {0, false, "#1f5fa8", "send: overhead"},
    {1, false, "#8fb8e0", "send: base_t"},
    {0, true, "#b3461b", "recv: overhead"},
    {1, true, "#e5b08f", "recv: base_t"},
    {2, false, "#1f5fa8", NULL},
    {2, true, "#b3461b", NULL},
};

static double value_of(const struct overhead_mark *mark, int which)
{
    return which == 0   ? mark->overhead
           : which == 1 ? mark->base_t
                        : mark->availability;
}

static double x_of(size_t column, size_t m)
{
    return LEFT + (RIGHT - LEFT) * ((double)column + 0.5) / (double)m;
}

static double y_of(double value, int which, const struct scale *s)
{
    if (which == 2) {
        value = value < 0.0 ? 0.0 : value > 100.0 ? 100.0 : value;
        return BOTTOM - (BOTTOM - LOWER) * value / 100.0;
    }
    return MIDDLE -
           (MIDDLE - TOP) * (log10(value) - s->low) / (s->high - s->low);
}

/* Whole decades around all that is drawn. */
static struct scale scale_of(const struct overhead_mark *mark, size_t n)
{
    struct scale s = {0, 1};
    bool any = false;

    for (size_t i = 0; i < 2 * n; i++) {
        double v = value_of(&mark[i / 2], (int)(i % 2));

        if (!(v > 0.0))
            continue;
        v = log10(v);
        if (!any || floor(v) < s.low)
            s.low = floor(v);
        if (!any || ceil(v) > s.high)
            s.high = ceil(v);
        any = true;
    }
    if (s.high <= s.low)
        s.high = s.low + 1;
    return s;
}

static void line(FILE *out, double y, const char *text)
{
    fprintf(out,
            "<path d='M%d %.1fH%d' stroke='#ccc'/>\n"
            "<text x='%d' y='%.1f' text-anchor='end'>%s</text>\n",
            LEFT, y, RIGHT, LEFT - 8, y + 4, text);
}

static void draw_axes(FILE *out, const uint64_t *bytes, size_t m,
                      const struct scale *s)
{
    size_t every = (m + LABELS - 1) / LABELS;
    char text[32];

    for (double d = s->low; d <= s->high; d++) {
        snprintf(text, sizeof(text), "%g us", pow(10, d));
        line(out, y_of(pow(10, d), 0, s), text);
    }
    for (int percent = 0; percent <= 100; percent += 25) {
        snprintf(text, sizeof(text), "%d %%", percent);
        line(out, y_of(percent, 2, s), text);
    }
    for (size_t i = 0; i < m; i += every)
        fprintf(out, "<text x='%.1f' y='%d' text-anchor='middle'>%s</text>\n",
                x_of(i, m), BOTTOM + 20, assay_size_text(bytes[i], text));
    fprintf(out, "<text x='%d' y='%d'>overhead and base_t</text>\n", LEFT,
            TOP - 12);
    fprintf(out, "<text x='%d' y='%d'>availability</text>\n", LEFT, LOWER - 12);
    fprintf(out, "<text x='%d' y='%d' text-anchor='end'>message size</text>\n",
            RIGHT, HEIGHT - 8);
}

static bool is_of(const struct overhead_mark *mark, const struct curve *c)
{
    return mark->receive == c->receive &&
           (c->which == 2 || value_of(mark, c->which) > 0.0);
}

/* A point for each mark, and a line from each to the next. Returns how many. */
static size_t draw_curve(FILE *out, const struct curve *c, size_t m,
                         const struct overhead_mark *mark, size_t n,
                         const struct scale *s)
{
    size_t drawn = 0;

    for (size_t i = 0; i < n; i++)
        if (is_of(&mark[i], c))
            fprintf(out, "%s%.1f %.1f", drawn++ ? " L" : "<path d='M",
                    x_of(mark[i].column, m),
                    y_of(value_of(&mark[i], c->which), c->which, s));
    if (drawn)
        fprintf(out,
                "' fill='none' stroke='%s' stroke-width='2' "
                "stroke-linejoin='round'/>\n",
                c->colour);
    for (size_t i = 0; i < n; i++)
        if (is_of(&mark[i], c))
            fprintf(out, "<circle cx='%.1f' cy='%.1f' r='3' fill='%s'/>\n",
                    x_of(mark[i].column, m),
                    y_of(value_of(&mark[i], c->which), c->which, s), c->colour);
    return drawn;
}

void overhead_plot(FILE *out, const uint64_t *bytes, size_t m,
                   const struct overhead_mark *mark, size_t n, const char *note)
{
    struct scale s = scale_of(mark, n);
    int x = LEFT + 200;

    fprintf(out,
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' "
            "font-family='sans-serif' font-size='12'>\n"
            "<rect width='%d' height='%d' fill='#fff'/>\n",
            WIDTH, HEIGHT, WIDTH, HEIGHT);
    draw_axes(out, bytes, m, &s);
    for (size_t i = 0; i < sizeof(curves) / sizeof(*curves); i++) {
        const struct curve *c = &curves[i];

        if (draw_curve(out, c, m, mark, n, &s) == 0 || !c->name)
            continue;
        fprintf(out, "<text x='%d' y='%d' fill='%s'>%s</text>\n", x, TOP - 12,
                c->colour, c->name);
        x += 120;
    }
    if (note)
        fprintf(out, "<text x='%d' y='%d'>%s</text>\n", LEFT, HEIGHT - 8, note);
    fprintf(out, "</svg>\n");
}
