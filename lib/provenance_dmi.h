/* provenance_dmi.h - memory modules out of the firmware's SMBIOS table. */
#ifndef ASSAY_PROVENANCE_DMI_H
#define ASSAY_PROVENANCE_DMI_H

#include <stddef.h>

/* "8 x 32768 MB 3200 MT/s, 8 empty" from the n bytes of a DMI table, or
 * "unknown (not exposed)" where it lists no module. Whatever the bytes are,
 * none outside of them is read. buf gets the text; returns buf. */
char *assay_dimms(const unsigned char *table, size_t n, char *buf, size_t size);

#endif
