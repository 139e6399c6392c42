/* session.h - one device while it is measured, alone or with others. */
#ifndef MANMEM_SESSION_H
#define MANMEM_SESSION_H

#include "manmem/curve.h"
#include "manmem/plan.h"

struct session {
    const struct device *device;
    struct assay_fields keys;      /* of every metric line */
    char label[32];                /* opens its lines where there are several */
    void *managed, *copied, *sums; /* GPU_MANAGED, GPU_DEVICE, GPU_DEVICE */
    double fill, prefetch, copy, write_back; /* s; 0: was not done */
    double *seconds;                         /* [iterations] by our clock */
    double *kernel; /* [iterations] by the device's, or negative */
    double *direct; /* [iterations] on device memory; all 0 if not done */
    double *touch, *cycle; /* [rounds] s: the host's writing; with it, K
                              iterations */
    uint64_t *faults;      /* [iterations] of the stand-in */
    uint64_t faults_back;  /* when the host read it */
    uint64_t faults_turns; /* in ping-pong */
    double last;           /* s, of the latest run of the kernel */
    double last_kernel;
};

/* Measure these devices together, print the lines and write the metrics. What
 * can't go on ends the run. */
void manmem_measure(const struct plan *plan, const struct device *devices,
                    size_t n);

/* report.c: what is told as it happens ... */
void manmem_report_start(const struct plan *plan, struct session *s, size_t n);
void manmem_report_fill(const struct plan *plan, const struct session *s);
void manmem_report_prefetch(const struct plan *plan, const struct session *s);
void manmem_report_iteration(const struct plan *plan, const struct session *s,
                             uint64_t i);
/* ... and when all is known. */
void manmem_report_end(const struct plan *plan, const struct session *s);

#endif
