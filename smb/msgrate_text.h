/* msgrate_text.h - option values that are more than a number. Pure: no MPI. */
#ifndef SMB_MSGRATE_TEXT_H
#define SMB_MSGRATE_TEXT_H

#include <stddef.h>
#include <stdint.h>

enum { SIZES = 64 };

/* "-c 8388608" (0 for llc), "--until=1%" and "--sizes=8,1K", read. Return 0, or
 * -1 where the text is none. sizes gets up to SIZES of them, all different. */
int parse_cache(const char *text, uint64_t *bytes);
int parse_until(const char *text, double *fraction);
int parse_sizes(const char *text, uint64_t sizes[SIZES], size_t *n);

#endif
