/* option.c - command lines by table: parsing, help, and the opt line. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "lib/fail.h"
#include "lib/finite.h"
#include "lib/option.h"
#include "lib/record.h"
#include "lib/units.h"

enum {
    ROWS_MOST = 128, /* in all groups of a program */
    WIDTH = 80,
    HELP_COLUMN = 30,
    ARG_MOST = 32,  /* bytes of a choice's words that --help shows joined */
    WORD_MOST = 60, /* bytes of a bad word that a message quotes */
};

union value {
    bool flag;
    uint64_t count;
    double real;
    int choice;
    const char *text;
};

struct parser {
    const struct assay_option_group *groups;
    size_t ngroups;
    char **argv;
    int argc, next;
    bool given[ROWS_MOST];
    union value values[ROWS_MOST];
    char *error;
    size_t size;
};

static bool takes_value(const struct assay_option *row)
{
    return row->type >= ASSAY_COUNT && row->type <= ASSAY_TEXT;
}

/* The n-th row of all groups together, and where its field lies; NULL behind
 * the last. */
static const struct assay_option *row_at(const struct assay_option_group *group,
                                         size_t ngroups, size_t n, char **field)
{
    for (size_t g = 0; g < ngroups; g++)
        for (const struct assay_option *row = group[g].table; row->name; row++)
            if (n-- == 0) {
                *field = (char *)group[g].options + row->offset;
                return row;
            }
    return NULL;
}

/* Index of the first row of this name, or of this letter; -1 if none. */
static int row_find(const struct parser *p, const char *name, size_t length,
                    int letter)
{
    const struct assay_option *row;
    char *field;

    for (size_t i = 0; (row = row_at(p->groups, p->ngroups, i, &field)); i++) {
        if (i == ROWS_MOST)
            return -1;
        if (name ? strlen(row->name) == length &&
                       strncmp(row->name, name, length) == 0
                 : row->letter == letter)
            return (int)i;
    }
    return -1;
}

/* "4K" for 4096: what parses as the same size. */
static void size_short(uint64_t value, char *text, size_t size)
{
    static const char suffixes[] = " KMGT";
    size_t i = 0;

    while (value && value % 1024 == 0 && suffixes[i + 1]) {
        value /= 1024;
        i++;
    }
    snprintf(text, size, "%ju%.*s", (uintmax_t)value, i > 0, &suffixes[i]);
}

static void bound_text(const struct assay_option *row, double bound, char *text,
                       size_t size)
{
    char real[32];

    if (row->type == ASSAY_REAL)
        snprintf(text, size, "%s", assay_real_text(bound, real));
    else if (row->type == ASSAY_SIZE && bound < 0x1p63)
        size_short((uint64_t)bound, text, size);
    else
        snprintf(text, size, "%.0f", bound);
}

/* "1 to 64", "1 or more". */
static void range_text(const struct assay_option *row, char *text, size_t size)
{
    char low[32], high[32];

    bound_text(row, row->min, low, sizeof(low));
    bound_text(row, row->max, high, sizeof(high));
    if (row->max != 0)
        snprintf(text, size, "%s to %s", low, high);
    else
        snprintf(text, size, "%s or more", low);
}

static void words_join(const char *const *words, const char *between,
                       char *text, size_t size)
{
    size_t length = 0;

    text[0] = '\0';
    for (size_t i = 0; words[i] && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, "%s%s",
                                   i ? between : "", words[i]);
}

/* What row allows, after the word that it does not. */
static int refuse(struct parser *p, const char *name, const char *word,
                  const struct assay_option *row)
{
    static const char *const what[] = {
        [ASSAY_COUNT] = "whole number",
        [ASSAY_SIZE] = "size (a whole number, or one with K, M, G or T)",
        [ASSAY_REAL] = "number",
        [ASSAY_CHOICE] = "",
    };
    char allowed[256];

    if (row->type == ASSAY_CHOICE) {
        words_join(row->words, ", ", allowed, sizeof(allowed));
        return assay_fail(p->error, p->size, "%s: '%.*s' is none of: %s", name,
                          WORD_MOST, word, allowed);
    }
    if (row->type == ASSAY_TEXT)
        return assay_fail(p->error, p->size, "%s: '%.*s' is empty", name,
                          WORD_MOST, word);
    range_text(row, allowed, sizeof(allowed));
    return assay_fail(p->error, p->size, "%s: '%.*s' is not a %s, %s", name,
                      WORD_MOST, word, what[row->type], allowed);
}

static bool in_range(const struct assay_option *row, double x)
{
    return x >= row->min && (row->max == 0 || x <= row->max);
}

static bool choose(const char *const *words, const char *word, int *out)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], word) == 0) {
            *out = i;
            return true;
        }
    return false;
}

static bool value_parse(const struct assay_option *row, const char *word,
                        union value *v)
{
    switch (row->type) {
    case ASSAY_COUNT:
        return assay_parse_count(word, &v->count) == 0 &&
               in_range(row, (double)v->count);
    case ASSAY_SIZE:
        return assay_parse_size(word, &v->count) == 0 &&
               in_range(row, (double)v->count);
    case ASSAY_REAL:
        return assay_parse_real(word, &v->real) == 0 && in_range(row, v->real);
    case ASSAY_CHOICE:
        return choose(row->words, word, &v->choice);
    case ASSAY_TEXT:
        v->text = word;
        return *word != '\0';
    default:
        v->flag = true;
        return true;
    }
}

static bool value_same(const struct assay_option *row, const union value *a,
                       const union value *b)
{
    switch (row->type) {
    case ASSAY_COUNT:
    case ASSAY_SIZE:
        return a->count == b->count;
    case ASSAY_REAL:
        return a->real == b->real;
    case ASSAY_CHOICE:
        return a->choice == b->choice;
    case ASSAY_TEXT:
        return strcmp(a->text, b->text) == 0;
    default:
        return true;
    }
}

/* Bytes of a row's field, which is what its member of union value holds. */
static size_t field_size(const struct assay_option *row)
{
    static const size_t sizes[] = {
        [ASSAY_FLAG] = sizeof(bool),
        [ASSAY_COUNT] = sizeof(uint64_t),
        [ASSAY_SIZE] = sizeof(uint64_t),
        [ASSAY_REAL] = sizeof(double),
        [ASSAY_CHOICE] = sizeof(int),
        [ASSAY_TEXT] = sizeof(const char *),
        [ASSAY_HELP] = 0,
        [ASSAY_VERSION] = 0,
    };

    return sizes[row->type];
}

/* Note the value of row i; name is how the user spelt the option. */
static int take(struct parser *p, int i, const char *name, const char *word)
{
    char *field;
    const struct assay_option *row =
        row_at(p->groups, p->ngroups, (size_t)i, &field);
    union value v;

    memset(&v, 0, sizeof(v));
    if (row->type == ASSAY_HELP || row->type == ASSAY_VERSION)
        return row->type;
    if (!value_parse(row, word, &v))
        return refuse(p, name, word, row);
    if (p->given[i] && !value_same(row, &v, &p->values[i]))
        return assay_fail(p->error, p->size,
                          "%s: '%.*s' contradicts the one given before", name,
                          WORD_MOST, word);
    p->given[i] = true;
    p->values[i] = v;
    return 0;
}

/* The word after the option, if it can be its value. */
static const char *next_value(struct parser *p)
{
    const char *word = p->next < p->argc ? p->argv[p->next] : NULL;
    double number;

    if (!word || (*word == '-' && assay_parse_real(word, &number) < 0))
        return NULL;
    p->next++;
    return word;
}

static int no_value(struct parser *p, const char *name,
                    const struct assay_option *row)
{
    return assay_fail(
        p->error, p->size,
        "%s needs a value: --%s=VALUE (one that begins with a dash "
        "only so)",
        name, row->name);
}

/* --name, --name=VALUE, --name VALUE */
static int parse_long(struct parser *p, const char *word)
{
    size_t length = strcspn(word + 2, "=");
    const char *value = word[2 + length] ? word + 3 + length : NULL;
    int i = row_find(p, word + 2, length, 0);
    const struct assay_option *row;
    char name[WORD_MOST + 3], *field;

    if (i < 0)
        return assay_fail(p->error, p->size, "'%.*s' is no option (see --help)",
                          WORD_MOST, word);
    row = row_at(p->groups, p->ngroups, (size_t)i, &field);
    snprintf(name, sizeof(name), "--%s", row->name);
    if (!takes_value(row) && value)
        return assay_fail(p->error, p->size, "%s takes no value: '%.*s'", name,
                          WORD_MOST, value);
    if (takes_value(row) && !value && !(value = next_value(p)))
        return no_value(p, name, row);
    return take(p, i, name, value);
}

/* -x, -xyz, -xVALUE, -x VALUE */
static int parse_short(struct parser *p, const char *word)
{
    for (const char *c = word + 1; *c; c++) {
        int i = row_find(p, NULL, 0, *c);
        char name[] = {'-', *c, '\0'}, *field;
        const struct assay_option *row;
        const char *value = NULL;
        int status;

        if (i < 0)
            return assay_fail(p->error, p->size,
                              "'-%c' in '%.*s' is no option (see --help)", *c,
                              WORD_MOST, word);
        row = row_at(p->groups, p->ngroups, (size_t)i, &field);
        if (takes_value(row)) {
            value = c[1] ? c + 1 : next_value(p);
            return value ? take(p, i, name, value) : no_value(p, name, row);
        }
        status = take(p, i, name, NULL);
        if (status)
            return status;
    }
    return 0;
}

static int parse_word(struct parser *p, const char *word)
{
    if (strcmp(word, "--") == 0 && p->next == p->argc)
        return 0;
    if (word[0] != '-' || word[1] == '\0')
        return assay_fail(p->error, p->size, "'%.*s': no operand is taken",
                          WORD_MOST, word);
    if (strcmp(word, "--") == 0)
        return assay_fail(p->error, p->size, "'%.*s': no operand is taken",
                          WORD_MOST, p->argv[p->next]);
    return word[1] == '-' ? parse_long(p, word) : parse_short(p, word);
}

int assay_options_parse(int argc, char **argv,
                        const struct assay_option_group *groups, size_t ngroups,
                        char *error, size_t size)
{
    struct parser p = {.groups = groups,
                       .ngroups = ngroups,
                       .argv = argv,
                       .argc = argc,
                       .next = 1,
                       .error = error,
                       .size = size};
    const struct assay_option *row;
    char *field;

    if (row_at(groups, ngroups, ROWS_MOST, &field))
        return assay_fail(p.error, p.size, "more than %d options in a table",
                          ROWS_MOST);
    while (p.next < argc) {
        int status = parse_word(&p, argv[p.next++]);

        if (status)
            return status;
    }
    for (size_t i = 0; (row = row_at(groups, ngroups, i, &field)); i++)
        if (p.given[i])
            memcpy(field, &p.values[i], field_size(row));
    return 0;
}

static union value value_load(const struct assay_option *row,
                              const void *options)
{
    union value v;

    memset(&v, 0, sizeof(v));
    memcpy(&v, (const char *)options + row->offset, field_size(row));
    return v;
}

/* The value in words that parse as the same; buf holds 32 bytes. */
static const char *value_text(const struct assay_option *row,
                              const union value *v, char *buf)
{
    switch (row->type) {
    case ASSAY_FLAG:
        return v->flag ? "yes" : "no";
    case ASSAY_REAL:
        return assay_real_text(v->real, buf);
    case ASSAY_CHOICE:
        return row->words[v->choice];
    case ASSAY_TEXT:
        return v->text;
    default:
        snprintf(buf, 32, "%ju", (uintmax_t)v->count);
        return buf;
    }
}

/* Still what stands for "not given"? */
static bool is_unset(const struct assay_option *row, const union value *v)
{
    switch (row->type) {
    case ASSAY_COUNT:
    case ASSAY_SIZE:
        return row->unset && v->count == 0;
    case ASSAY_REAL:
        return row->unset && v->real == 0;
    case ASSAY_TEXT:
        return v->text == NULL;
    case ASSAY_HELP:
    case ASSAY_VERSION:
        return true;
    default:
        return false;
    }
}

/* Print text after `column`, words wrapped to lines that start at
 * HELP_COLUMN; returns the column reached. */
static int wrap(FILE *out, const char *text, int column)
{
    while (*text) {
        int length = (int)strcspn(text, " ");

        if (column > HELP_COLUMN && column + 1 + length >= WIDTH) {
            fprintf(out, "\n%*s", HELP_COLUMN, "");
            column = HELP_COLUMN;
        } else if (column > HELP_COLUMN) {
            column += fprintf(out, " ");
        }
        column += fprintf(out, "%.*s", length, text);
        text += length;
        text += strspn(text, " ");
    }
    return column;
}

static void default_text(const struct assay_option *row, const void *options,
                         char *text, size_t size)
{
    union value v = value_load(row, options);
    const char *word = row->unset;
    char buf[32];

    if (!is_unset(row, &v))
        word = value_text(row, &v, buf);
    if (row->type == ASSAY_SIZE && word == buf)
        size_short(v.count, buf, sizeof(buf));
    text[0] = '\0';
    if (word && !(row->type == ASSAY_FLAG && !v.flag))
        snprintf(text, size, "(default: %s)", word);
}

/* What --help calls the value: a choice shows its words if they are few. */
static const char *arg_text(const struct assay_option *row, char *text,
                            size_t size)
{
    if (row->arg)
        return row->arg;
    if (row->type != ASSAY_CHOICE)
        return "VALUE";
    words_join(row->words, "|", text, size);
    return strlen(text) <= ARG_MOST ? text : "WORD";
}

/* "  -n, --elements=SIZE"; returns the column reached. */
static int help_left(FILE *out, const struct assay_option *row, bool letter,
                     const char *arg)
{
    int column = letter ? fprintf(out, "  -%c, --%s", row->letter, row->name)
                        : fprintf(out, "      --%s", row->name);

    if (takes_value(row))
        column += fprintf(out, "=%s", arg);
    return column;
}

static void help_row(FILE *out, const struct assay_option *row,
                     const void *options, bool letter)
{
    char joined[256], text[256];
    const char *arg = arg_text(row, joined, sizeof(joined));
    int column = help_left(out, row, letter, arg);

    if (column + 2 > HELP_COLUMN) {
        fprintf(out, "\n");
        column = 0;
    }
    fprintf(out, "%*s", HELP_COLUMN - column, "");
    column = wrap(out, row->help ? row->help : "", HELP_COLUMN);
    if (row->type == ASSAY_CHOICE && arg != joined) {
        words_join(row->words, ", ", text, sizeof(text));
        column = wrap(out, "- one of", column);
        column = wrap(out, text, column);
    }
    default_text(row, options, text, sizeof(text));
    wrap(out, text, column);
    fprintf(out, "\n");
}

void assay_options_help(FILE *out, const struct assay_option_group *groups,
                        size_t ngroups)
{
    struct parser p = {.groups = groups, .ngroups = ngroups};
    const struct assay_option *row;
    char *field;

    for (size_t i = 0; (row = row_at(groups, ngroups, i, &field)); i++) {
        bool shown = row_find(&p, row->name, strlen(row->name), 0) == (int)i;
        bool letter =
            row->letter && row_find(&p, NULL, 0, row->letter) == (int)i;

        if (shown)
            help_row(out, row, field - row->offset, letter);
    }
}

/* "write_allocate" for --write-allocate. */
static void field_key(const char *name, char *key, size_t size)
{
    snprintf(key, size, "%s", name);
    for (char *c = key; *c; c++)
        if (*c == '-')
            *c = '_';
}

void assay_options_fields(const struct assay_option *table, const void *options,
                          struct assay_fields *fields)
{
    for (const struct assay_option *row = table; row->name; row++) {
        union value v = value_load(row, options);
        char key[64], buf[32];

        field_key(row->name, key, sizeof(key));
        if (is_unset(row, &v))
            continue;
        if (row->type == ASSAY_REAL)
            assay_fields_real(fields, key, v.real);
        else
            assay_fields_text(fields, key, value_text(row, &v, buf));
    }
}
