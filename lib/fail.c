/* fail.c - a message into a buffer. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>

#include "lib/fail.h"

int assay_fail(char *error, size_t size, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(error, size, format, args);
    va_end(args);
    return -1;
}
