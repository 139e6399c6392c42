/* sizes.h - a list of sizes, as options name it. */
#ifndef ASSAY_SIZES_H
#define ASSAY_SIZES_H

#include <stddef.h>
#include <stdint.h>

struct assay_sizes {
    uint64_t *bytes; /* [n], rising */
    size_t n;
};

/* "0,2,4..4M": sizes with commas between, rising, none above `most` (2^62 or
 * less); A..B doubles from A, which is not 0, to B at most. Returns 0; or -1
 * with a message that names the bad word in error. Free bytes with free. */
int assay_sizes_parse(const char *text, uint64_t most,
                      struct assay_sizes *sizes, char *error, size_t size);

#endif
