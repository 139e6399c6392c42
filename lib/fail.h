/* fail.h - why something failed, for a caller that will say it. */
#ifndef ASSAY_FAIL_H
#define ASSAY_FAIL_H

#include <stddef.h>

/* Write the message into error, which has size bytes, cut where it is longer.
 * Returns -1. */
__attribute__((format(printf, 3, 4))) int assay_fail(char *error, size_t size,
                                                     const char *format, ...);

#endif
