/* team.h - threads in their places, the memory they touch first, and the
 * time they take.
 *
 * A team is made of OpenMP threads (or the calling thread alone, in a build
 * without OpenMP). Thread 0 is the caller's. Every thread keeps its CPU and
 * its slice of the arrays for as long as the team stands: who touches a page
 * first is who computes with it. */
#ifndef ASSAY_TEAM_H
#define ASSAY_TEAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/affinity.h"
#include "lib/kernels.h"
#include "lib/memory.h"
#include "lib/topology.h"
#include "lib/verify.h"

/* One thread's place: asked for, and had. */
struct assay_seat {
    int planned;     /* CPU asked for, or -1 */
    int cpu;         /* CPU seen last, or -1 */
    uint64_t moves;  /* times that it was seen on another CPU than before */
    bool bound;      /* the binding took, whenever it was made */
    uint64_t faults; /* minor page faults while touching its slices */
    struct assay_expected now; /* what the arrays should hold by now */
    struct assay_error spots[ASSAY_ARRAYS]; /* of elements looked at */
};

/* Threads that may be asked for: libgomp's main stack bears no 65536. */
enum { ASSAY_THREADS_MOST = 16384 };

/* How many threads there will be when so many are asked for. */
size_t assay_team_count(size_t requested);

struct assay_team {
    const struct assay_topology *topology;
    size_t requested; /* threads asked for */
    size_t threads;   /* threads that there are: seats[0..threads-1] */
    enum assay_pin pin;
    struct assay_seat *seats;
};

/* Form a team: start the threads, count them, bind each to its CPU (of that
 * NUMA node, unless numa < 0). The topology must outlive it. Returns 0; or -1
 * with errno: ENOMEM, or ENODEV where no CPU fits. */
int assay_team_form(struct assay_team *team, const struct assay_topology *t,
                    enum assay_pin pin, size_t threads, int numa);

/* Free, and let the calling thread run on all allowed CPUs again. */
void assay_team_dissolve(struct assay_team *team);

/* Call work on every thread at once, and return when all have returned.
 * Returns 0; or -1 with errno EAGAIN if the threads were not all there: then
 * nothing of use was done. */
typedef void assay_team_f(void *arg, size_t thread);
int assay_team_run(struct assay_team *team, assay_team_f *work, void *arg);

/* Wait for all others; only within work. */
void assay_team_barrier(void);

/* Elements [*begin, *begin + *n) of `total`, of `size` bytes each, are this
 * thread's. Slices begin at multiples of 64 bytes, so that no two threads
 * share a line of an aligned array; they differ by a line at most. */
void assay_team_slice(const struct assay_team *team, size_t thread,
                      uint64_t total, size_t size, uint64_t *begin,
                      uint64_t *n);

/* Threads that share a physical core with another, by the CPUs seen last. */
size_t assay_team_crowded(const struct assay_team *team);

/* Threads that were seen to move, and threads whose binding did not take. */
size_t assay_team_moved(const struct assay_team *team);
size_t assay_team_unbound(const struct assay_team *team);

/* "0-1": CPUs seen last, allocated; NULL without memory. */
char *assay_team_cpus(const struct assay_team *team);

/* The arrays a, b and c, each aligned to 64 bytes at least. */
struct assay_arrays {
    enum assay_type type;
    uint64_t n; /* elements of each */
    void *base[ASSAY_ARRAYS];
    void *map[ASSAY_ARRAYS]; /* what to unmap */
    uint64_t bytes;          /* of each map */
    enum assay_hugepages huge;
};

/* Map three arrays, untouched; node as for assay_map. Returns 0, or -1 with
 * errno, having mapped nothing (EOVERFLOW: more bytes than can be counted). */
int assay_arrays_map(struct assay_arrays *arrays, enum assay_type type,
                     uint64_t n, enum assay_hugepages huge, int node);
void assay_arrays_unmap(struct assay_arrays *arrays);

/* Bytes that assay_arrays_map takes for all three; UINT64_MAX: too many. */
uint64_t assay_arrays_bytes(enum assay_type type, uint64_t n);

/* Every thread writes its own slices of all three arrays; counts its faults.
 * Returns as assay_team_run. */
int assay_team_touch(struct assay_team *team, struct assay_arrays *arrays);

struct assay_times {
    size_t ops;           /* kernels of a cycle */
    uint64_t repetitions; /* with the first, which warms up */
    double *seconds;      /* [op * repetitions + r], latest end less earliest
                             start; may be <= 0 if the clock stood still */
    double *shortest;     /* [op], least time, over all but the first, of the
                             thread that took longest: what the clock had to
                             resolve */
    uint32_t *words;      /* [r], what read returned */
};

/* Run the cycle `repetitions` times; each kernel is timed between barriers,
 * each thread's start and end on its own. Returns 0; or -1 with errno ENOMEM
 * or EAGAIN. Free with assay_times_free. */
int assay_team_time(struct assay_team *team, const struct assay_arrays *arrays,
                    const struct assay_kernels *kernels, enum assay_cycle cycle,
                    uint64_t repetitions, struct assay_times *times);
void assay_times_free(struct assay_times *times);

/* Look, on each thread between kernels and outside the clock, whether op of the
 * cycle's repetition r wrote the thread's slice: at one element, another each
 * time. So what was left out shows, even where the end does not depend on it.
 */
void assay_team_spot(struct assay_team *team, size_t thread,
                     const struct assay_arrays *arrays, enum assay_cycle cycle,
                     enum assay_op op, uint64_t r);

/* Compare all three arrays with what the cycles run since the touch must leave;
 * errors[array] is the result, with what the looks on the way found.
 * *wrong_sums gets the repetitions in which read returned another sum than it
 * must have. Returns as assay_team_time. */
int assay_team_verify(struct assay_team *team,
                      const struct assay_arrays *arrays, enum assay_cycle cycle,
                      const struct assay_times *times,
                      struct assay_error errors[ASSAY_ARRAYS],
                      uint64_t *wrong_sums);

#endif
