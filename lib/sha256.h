/* sha256.h - SHA-256 (FIPS 180-4), for the program's own fingerprint. */
#ifndef ASSAY_SHA256_H
#define ASSAY_SHA256_H

/* Hash the file at path into 64 hex digits and a NUL. Returns 0, or -1 with
 * errno. */
int assay_sha256_file(const char *path, char hex[65]);

#endif
