/* plan.h - what a run will do: the options, and all that follows from them
 * and from the devices. */
#ifndef MANMEM_PLAN_H
#define MANMEM_PLAN_H

#include "manmem/gpu.h"
#include "manmem/options.h"

enum { DEVICES_MOST = 64 };

/* One device, opened. */
struct device {
    struct gpu *gpu;
    int index;
    struct gpu_facts facts;
};

struct plan {
    struct assay_run *run;
    struct options *opt; /* with every default filled in */
    const struct gpu_backend *backend;
    struct gpu_setup setup;
    char plugin[4096]; /* its path, or nothing */
    int present;       /* devices that the back end has */
    size_t ndevices;   /* that are measured */
    struct device devices[DEVICES_MOST];
    uint64_t threads, elements, bytes; /* of one device */
    bool fits;      /* all of it in the memory of each device */
    uint64_t *sums; /* [threads] that are right in round 0 */
    char host[256];
};

/* Find the back end, open the devices, fill in the defaults, refuse what can't
 * be, write the opt and device lines. Never fails back. */
void manmem_plan(struct plan *plan, struct assay_run *run, struct options *opt);

/* Close the devices. */
void manmem_plan_free(struct plan *plan);

/* Print on stdout, unless --quiet. */
void manmem_say(const struct plan *plan, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* End the run unless a call of the back end succeeded: what is not supported
 * can't run here, all else is broken. `doing` opens the message. */
void manmem_check(const struct plan *plan, int device, const char *doing,
                  int status, const struct gpu_error *error);

/* Watch the next step, of n devices together: they may share a bus, and a
 * driver that serves one of them after the other. */
void manmem_watch(const struct plan *plan, size_t n, const char *what);

/* backend.c: set plan's backend, plugin and present, or end the run. */
void manmem_find_backend(struct plan *plan);

/* device.c: write the device and driver lines, print them, and warn of what
 * keeps pages from moving. */
void manmem_record_devices(struct plan *plan);

#endif
