/* device.h - how a record and a line name what a device is. */
#ifndef MANMEM_DEVICE_H
#define MANMEM_DEVICE_H

#include "manmem/plan.h"

extern const char *const manmem_xnack_words[]; /* by enum gpu_xnack */

#endif
