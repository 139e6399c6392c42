/* overhead_sizes.h - the message sizes of a sweep. */
#ifndef SMB_OVERHEAD_SIZES_H
#define SMB_OVERHEAD_SIZES_H

#include <stddef.h>
#include <stdint.h>

#define OVERHEAD_BYTES_MOST (UINT64_C(1) << 30) /* MPI counts in int */

struct overhead_sizes {
    uint64_t *bytes; /* [n], rising */
    size_t n;
};

/* "0,2,4..4M": sizes with commas between, rising; A..B doubles from A, which
 * is not 0, to B at most. Returns 0; or -1 with a message that names the bad
 * word in error. Free bytes with free. */
int overhead_sizes_parse(const char *text, struct overhead_sizes *sizes,
                         char *error, size_t size);

#endif
