/* overhead_find.h - find the work that hides a transfer, and what it costs.
 *
 * No MPI here: samples come from a function, so that any network can be made
 * up in a test. Times are in seconds. */
#ifndef SMB_OVERHEAD_FIND_H
#define SMB_OVERHEAD_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct overhead_sampler {
    void *context;
    /* Mean time of one of `loops` loops { barrier; post; work; wait }, or, with
     * no message, { barrier; work }. */
    double (*sample)(void *context, bool message, uint64_t work,
                     uint64_t loops);
    double (*now)(void *context); /* s; or NULL: time is that of the samples */
    /* Told of each amount of work that was tried; or NULL. */
    void (*step)(void *context, uint64_t work, double iter_t, double base_t);
};

struct overhead_rules {
    uint64_t
        iterations; /* loops of each kind that a result rests on, at least */
    double thresh;  /* the knee: iter_t > thresh x base_t */
    double bthresh; /* what counts for base_t is under bthresh x base_t; or 0:
                       base_t is taken anew beside iter_t and work_t */
    double unit;    /* s of one unit of work */
    double effort;  /* s that all this may take: what is not known by then is
                       unstable */
    double longest; /* s that the work of one loop may take, unless that is
                       under 20 x base_t */
};

enum overhead_note {
    OVERHEAD_PLAIN,
    OVERHEAD_NO_OVERLAP,       /* availability not to be told from 0 */
    OVERHEAD_BELOW_RESOLUTION, /* overhead not to be told from 0 */
    OVERHEAD_UNSTABLE,         /* no honest figure: see reason */
};
extern const char *const overhead_notes[]; /* "", "no overlap", ... */

struct overhead_point {
    enum overhead_note note;
    char reason[160];
    bool has_knee;  /* without one, what follows is 0, and only base_t known */
    uint64_t work;  /* units, at the knee */
    uint64_t loops; /* of one sample of iter_t or work_t */
    uint64_t disturbed; /* samples that were measured again */
    double seconds;     /* that it took */
    double iter_t, work_t, base_t, overhead; /* overhead = iter_t - work_t */
    double availability;                     /* % */
    double low, high; /* interval of the overhead, at 95 % or what n allows */
    double coverage;
    size_t n;                     /* samples of each kind, taken in turn */
    double *iter, *worked, *base; /* [n]; base is NULL with bthresh */
};

/* The interval of the overhead must be narrower than this share of base_t, and
 * no availability may be further out of 0 to 100 %. */
#define OVERHEAD_RESOLUTION 0.05

/* Returns 0, whatever the note; or -1 with errno ENOMEM. Free the point with
 * overhead_point_free either way. */
int overhead_find(const struct overhead_rules *rules,
                  const struct overhead_sampler *sampler,
                  struct overhead_point *point);

void overhead_point_free(struct overhead_point *point);

#endif
