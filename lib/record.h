/* record.h - the record: logfmt lines, each appended with one write(2).
 *
 * Fields build the part of a line after its kind. They own their text, grow
 * as needed, and remember the first thing that went wrong (no memory, a number
 * that is not finite, a key that is no key), so that callers need not check
 * each call: appending such fields to a record fails. */
#ifndef ASSAY_RECORD_H
#define ASSAY_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct assay_fields {
    char *text; /* "key=value key=value", or NULL */
    size_t length, size;
    int error; /* errno of the first failure: ENOMEM, EDOM (not finite), EINVAL
                  (no key, no value), EEXIST (a key twice); or 0 */
};

/* Initialise with {0}. A key is a letter or _, then letters, digits, _ . or
 * -, and stands once in a line. Values of other than letters, digits and +-_.,:/@%
 * are double-quoted; in quotes \\ \" \n \t \r stand for themselves, and each
 * byte of a control character or of what is not UTF-8 is \xHH. */
void assay_fields_text(struct assay_fields *f, const char *key,
                       const char *value);
void assay_fields_count(struct assay_fields *f, const char *key,
                        uint64_t value);
void assay_fields_real(struct assay_fields *f, const char *key, double value);
void assay_fields_reals(struct assay_fields *f, const char *key,
                        const double *values, size_t n); /* a,b,c */
void assay_fields_append(struct assay_fields *f, const struct assay_fields *g);
bool assay_fields_have(const struct assay_fields *f, const char *key);
void assay_fields_free(struct assay_fields *f);

/* Bytes in a line, its line feed counted: a reader takes no more. */
#define ASSAY_LINE_MOST ((size_t)8 << 20)

struct assay_record;

/* Create the file `path` (it must not exist: a record is never overwritten;
 * but a terminal, pipe or device is written to as it is). Returns NULL with
 * errno on failure. */
struct assay_record *assay_record_create(const char *path);

/* Append "kind fields\n" with one write. Returns 0; or -1 with errno (ENOSPC,
 * EDOM for a non-finite number, EMSGSIZE, ...). After a failure the record
 * refuses further lines, so it can never bear an end line. */
int assay_record_append(struct assay_record *record, const char *kind,
                        const struct assay_fields *fields);

/* File descriptor, for the signal path of run.c only. */
int assay_record_fd(const struct assay_record *record);

/* fsync and close; frees. Returns 0, or -1 with errno if anything, at any
 * time, could not be written. */
int assay_record_close(struct assay_record *record);

#endif
