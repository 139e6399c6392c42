/* units.h - units that records and references may carry, and sizes in options.
 *
 * Rates are decimal (MB = 10^6 bytes) unless spelt with an i (MiB = 2^20).
 * Sizes given to options take K, M, G, T as powers of 1024. */
#ifndef ASSAY_UNITS_H
#define ASSAY_UNITS_H

#include <stdbool.h>
#include <stdint.h>

/* Is it a unit that a reader of records can convert? The list is the one of
 * harness/Assay/Units.pm, held against t/data/units.tsv. */
bool assay_unit_known(const char *unit);

/* Convert value between two units of one dimension. Returns 0; or -1 with
 * errno EINVAL for an unknown unit, EDOM for units of two dimensions, ERANGE
 * where the result is not finite. */
int assay_unit_convert(double value, const char *from, const char *to,
                       double *out);

/* Whole-string parsers: leading or trailing junk, a sign where none makes
 * sense, overflow and emptiness are errors. Return 0; or -1 with errno EINVAL
 * (not a number) or ERANGE. *out is written only on success. No locale has a
 * say. */
int assay_parse_count(const char *text, uint64_t *out); /* 4294967296 */
int assay_parse_size(const char *text, uint64_t *out);  /* 64K, 1G, 4096 */
int assay_parse_real(const char *text, double *out);    /* finite, not hex */

/* n as %llu takes it, whatever type uint64_t is here. */
static inline unsigned long long assay_ull(uint64_t n)
{
    return n;
}

/* a * b, or UINT64_MAX where the product does not fit. */
uint64_t assay_product(uint64_t a, uint64_t b);

/* "128.0 MiB" for 134217728: two significant digits or more, binary units.
 * buf must hold 16 bytes; returns buf. */
char *assay_size_text(uint64_t bytes, char *buf);

/* A finite value with the fewest digits that read back as the same, a point
 * for the point in any locale. buf must hold 32 bytes; returns buf. */
char *assay_real_text(double value, char *buf);

#endif
