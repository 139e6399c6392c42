/* kernels_plain.c - the kernels in C alone: vectors of 16 bytes, which the
 * compiler makes of what the processor has. */
#include "config.h"

#define TABLE assay_kernels_plain
#define TARGET
#define VBYTES 16

#include "lib/kernels_body.h"
