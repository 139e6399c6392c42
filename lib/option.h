/* option.h - one const table gives the parser, --help, the defaults and the
 * opt line of the record.
 *
 * A row names a field of the program's own options struct by offsetof. The
 * struct holds the defaults before parsing and the values after it; --help
 * prints what the struct holds then, so help cannot drift from the code. */
#ifndef ASSAY_OPTION_H
#define ASSAY_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct assay_fields;

enum assay_option_type {
    ASSAY_FLAG = 1, /* bool, no argument */
    ASSAY_COUNT,    /* uint64_t, plain integer in [min, max] */
    ASSAY_SIZE,     /* uint64_t bytes or elements, K M G T in [min, max] */
    ASSAY_REAL,     /* double in [min, max] */
    ASSAY_CHOICE,   /* int, index into words[] */
    ASSAY_TEXT,     /* const char *, points into argv; NULL when not given */
    ASSAY_HELP,     /* no field: the parser stops and says that it was asked */
    ASSAY_VERSION,  /* no field, likewise */
};

struct assay_option {
    int letter;       /* short option, or 0 */
    const char *name; /* long option; NULL ends the table */
    enum assay_option_type type;
    size_t offset;            /* of the field in the options struct */
    double min, max;          /* inclusive; max 0 means no upper bound */
    const char *const *words; /* for ASSAY_CHOICE, NULL-terminated */
    const char *arg;          /* what --help calls the argument */
    const char *help;         /* one line */
    const char *unset;        /* --help's default while the value is 0 or NULL
                                 ("4 x cache"); NULL: print the value itself */
};

#define ASSAY_OPTION_END                                                       \
    {                                                                          \
        .name = NULL                                                           \
    }

/* A table and the struct that it describes. A row stands before those of the
 * same letter or name in later groups: a program may have its own -h. */
struct assay_option_group {
    const struct assay_option *table;
    void *options;
};

/* Parse argv by all groups, permitting --name=VALUE, --name VALUE, -xVALUE,
 * -x VALUE and -xyz for flags, and nothing else: abbreviations, unknown
 * options, operands, doubled options with different values, values out of
 * range and trailing junk are errors. A value in a word of its own must not
 * begin with a dash, unless it is a number.
 *
 * Returns 0, with all values stored; ASSAY_HELP or ASSAY_VERSION where that is
 * asked for before the first error, with nothing stored; or -1, with nothing
 * stored and a message naming the bad word and what is allowed in
 * error[0..size-1]. */
int assay_options_parse(int argc, char **argv,
                        const struct assay_option_group *groups, size_t ngroups,
                        char *error, size_t size);

/* Print one help line or more a row, within 80 columns, with live defaults. */
void assay_options_help(FILE *out, const struct assay_option_group *groups,
                        size_t ngroups);

/* Append name=value of every row to fields, dashes made underscores; unset
 * rows are left out. */
void assay_options_fields(const struct assay_option *table, const void *options,
                          struct assay_fields *fields);

#endif
