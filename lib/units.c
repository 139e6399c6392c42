/* units.c - units of records, and numbers in and out of text. */
#include "config.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/finite.h"
#include "lib/units.h"

enum {
    DECIMAL = 1, /* k M G T P */
    BINARY = 2,  /* Ki Mi Gi Ti Pi */
    KILO = 4,    /* K for 1000 too, where no Ki could be meant */
};

/* Sizes are whole numbers of the smallest unit, so that no conversion starts
 * from a rounded one. */
static const struct unit {
    const char *name, *dimension;
    double size;
    unsigned prefixes;
} units[] = {
    {"ns", "time", 1, 0},
    {"us", "time", 1e3, 0},
    {"ms", "time", 1e6, 0},
    {"s", "time", 1e9, 0},
    {"%", "ratio", 1, 0},
    {"x", "ratio", 100, 0},
    {"ratio", "ratio", 100, 0},
    {"entries", "entries", 1, 0},
    {"iterations", "iterations", 1, 0},
    {"count", "count", 1, 0},
    {"B", "size", 1, DECIMAL | BINARY},
    {"B/s", "data rate", 1, DECIMAL | BINARY},
    {"msg/s", "message rate", 1, DECIMAL | KILO},
    {"op/s", "operation rate", 1, DECIMAL | KILO},
    {"FLOP/s", "compute rate", 1, DECIMAL | KILO},
    {"UPS", "update rate", 1, DECIMAL | KILO},
};

static const struct prefix {
    const char *text;
    double size;
    unsigned kind;
} prefixes[] = {
    {"", 1, ~0u},
    {"k", 1e3, DECIMAL},
    {"K", 1e3, KILO},
    {"M", 1e6, DECIMAL},
    {"G", 1e9, DECIMAL},
    {"T", 1e12, DECIMAL},
    {"P", 1e15, DECIMAL},
    {"Ki", 1024.0, BINARY},
    {"Mi", 1048576.0, BINARY},
    {"Gi", 1073741824.0, BINARY},
    {"Ti", 1099511627776.0, BINARY},
    {"Pi", 1125899906842624.0, BINARY},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct prefix *prefix_of(const char *text, const struct unit *unit)
{
    size_t length = strlen(text), tail = strlen(unit->name);

    if (length < tail || strcmp(text + length - tail, unit->name) != 0)
        return NULL;
    for (size_t i = 0; i < COUNT(prefixes); i++) {
        const struct prefix *p = &prefixes[i];

        if (i > 0 && !(p->kind & unit->prefixes))
            continue;
        if (strlen(p->text) == length - tail &&
            strncmp(text, p->text, length - tail) == 0)
            return p;
    }
    return NULL;
}

/* The unit and its whole size, prefix and all; NULL if unknown. */
static const struct unit *unit_find(const char *text, double *size)
{
    for (size_t i = 0; i < COUNT(units); i++) {
        const struct prefix *p = prefix_of(text, &units[i]);

        if (p) {
            *size = p->size * units[i].size;
            return &units[i];
        }
    }
    return NULL;
}

bool assay_unit_known(const char *unit)
{
    double size;

    return unit_find(unit, &size) != NULL;
}

int assay_unit_convert(double value, const char *from, const char *to,
                       double *out)
{
    double a, b, result;
    const struct unit *one = unit_find(from, &a), *other = unit_find(to, &b);

    if (!one || !other) {
        errno = EINVAL;
        return -1;
    }
    if (strcmp(one->dimension, other->dimension) != 0) {
        errno = EDOM;
        return -1;
    }
    result = a >= b ? value * (a / b) : value / (b / a);
    if (!assay_finite(&result)) {
        errno = ERANGE;
        return -1;
    }
    *out = result;
    return 0;
}

/* The digits at *text as a number; *text is moved past them. */
static int parse_digits(const char **text, uint64_t *out)
{
    const char *p = *text;
    uint64_t value = 0;

    for (; *p >= '0' && *p <= '9'; p++) {
        unsigned digit = (unsigned)(*p - '0');

        if (value > (UINT64_MAX - digit) / 10) {
            errno = ERANGE;
            return -1;
        }
        value = value * 10 + digit;
    }
    if (p == *text) {
        errno = EINVAL;
        return -1;
    }
    *text = p;
    *out = value;
    return 0;
}

int assay_parse_count(const char *text, uint64_t *out)
{
    uint64_t value;

    /* "12x" is no number, whatever its digits say. */
    if (text[strspn(text, "0123456789")] != '\0') {
        errno = EINVAL;
        return -1;
    }
    if (parse_digits(&text, &value) < 0)
        return -1;
    *out = value;
    return 0;
}

int assay_parse_size(const char *text, uint64_t *out)
{
    static const char suffixes[] = "KMGT";
    const char *suffix = text + strspn(text, "0123456789");
    const char *which = *suffix ? strchr(suffixes, *suffix) : NULL;
    unsigned shift = which ? 10 * (unsigned)(which - suffixes + 1) : 0;
    uint64_t value;

    if (*suffix && (!which || suffix[1])) {
        errno = EINVAL;
        return -1;
    }
    if (parse_digits(&text, &value) < 0)
        return -1;
    if (value > UINT64_MAX >> shift) {
        errno = ERANGE;
        return -1;
    }
    *out = value << shift;
    return 0;
}

/* A decimal number and nothing else: -12, .5, 120000., 1.2e+05. */
static bool is_decimal(const char *p)
{
    size_t whole, part = 0;

    p += *p == '-';
    whole = strspn(p, "0123456789");
    p += whole;
    if (*p == '.') {
        part = strspn(++p, "0123456789");
        p += part;
    }
    if (whole + part == 0)
        return false;
    if (*p == 'e' || *p == 'E') {
        p++;
        p += *p == '+' || *p == '-';
        if (!(*p >= '0' && *p <= '9'))
            return false;
        p += strspn(p, "0123456789");
    }
    return *p == '\0';
}

int assay_parse_real(const char *text, double *out)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0), before;
    double value;
    int error;

    if (!c)
        return -1;
    before = uselocale(c);
    errno = 0;
    value = strtod(text, NULL);
    error = errno;
    uselocale(before);
    freelocale(c);
    if (!is_decimal(text))
        error = EINVAL;
    else if (!error && !assay_finite(&value))
        error = ERANGE;
    if (error) {
        errno = error;
        return -1;
    }
    *out = value;
    return 0;
}

uint64_t assay_product(uint64_t a, uint64_t b)
{
    return b && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

char *assay_size_text(uint64_t bytes, char *buf)
{
    static const char *const names[] = {"KiB", "MiB", "GiB",
                                        "TiB", "PiB", "EiB"};
    double value = (double)bytes / 1024;
    size_t i = 0;

    if (bytes < 1024) {
        snprintf(buf, 16, "%u B", (unsigned)bytes);
        return buf;
    }
    while (value >= 1024 && i + 1 < COUNT(names)) {
        value /= 1024;
        i++;
    }
    snprintf(buf, 16, "%.1f %s", value, names[i]);
    return buf;
}

char *assay_real_text(double value, char *buf)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = uselocale(c);

    for (int digits = 15; digits <= 17; digits++) {
        double back;

        snprintf(buf, 32, "%.*g", digits, value);
        back = strtod(buf, NULL);
        if (memcmp(&back, &value, sizeof(value)) == 0)
            break;
    }
    if (c) {
        uselocale(before);
        freelocale(c);
    }
    return buf;
}
