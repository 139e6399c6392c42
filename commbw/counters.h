/* counters.h - which network interface carried how many bytes, by the kernel's
 * own counters and those of InfiniBand ports. Needs no MPI. */
#ifndef COMMBW_COUNTERS_H
#define COMMBW_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COUNTERS = 128, COUNTER_NAME = 48 }; /* interfaces, bytes of a name */

struct counter {
    char name[COUNTER_NAME];   /* "eth0", "mlx5_0:1" */
    char device[COUNTER_NAME]; /* its card's address; that of an interface and
                                  of the InfiniBand port behind it are equal.
                                  The name, where it has no card */
    bool loopback;
    bool stacked; /* a bond, a bridge, a VLAN: counted below it again */
    uint64_t received, sent; /* bytes */
};

struct counters {
    size_t n;
    struct counter counter[COUNTERS]; /* in order of name */
};

/* Read those of this process's network namespace, files taken under root ("":
 * this machine). What can't be read is left out. */
void counters_read(struct counters *counters, const char *root);

/* What was carried from before to after, into after; what was not there before
 * began at 0, what ran backwards carried nothing. */
void counters_subtract(struct counters *after, const struct counters *before);

/* Those that sent `least` bytes or more: indices to carrier[COUNTERS], of no
 * card twice, and of stacked ones none but where nothing else carried. Returns
 * how many. */
size_t counters_carriers(const struct counters *moved, uint64_t least,
                         size_t *carrier);

#endif
