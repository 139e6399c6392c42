/* sizes.h - the sizes of a sweep. */
#ifndef COMMBW_SIZES_H
#define COMMBW_SIZES_H

#include <stddef.h>
#include <stdint.h>

struct sizes {
    uint64_t *bytes; /* [n], rising */
    size_t n;
};

/* "0,8,1K..4G": sizes with commas between, rising; A..B doubles from A, which
 * is not 0, to B at most. Returns 0; or -1 with a message that names the bad
 * word in error. Free bytes with free. */
int sizes_parse(const char *text, struct sizes *sizes, char *error,
                size_t size);

#endif
