/* units.c - names of units, and numbers in and out of text. */
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

static const struct unit {
    const char *name;
    unsigned prefixes;
} units[] = {
    {"ns", 0},
    {"us", 0},
    {"ms", 0},
    {"s", 0},
    {"%", 0},
    {"x", 0},
    {"ratio", 0},
    {"entries", 0},
    {"iterations", 0},
    {"count", 0},
    {"B", DECIMAL | BINARY},
    {"B/s", DECIMAL | BINARY},
    {"msg/s", DECIMAL | KILO},
    {"op/s", DECIMAL | KILO},
    {"FLOP/s", DECIMAL | KILO},
    {"UPS", DECIMAL | KILO},
};

static const struct prefix {
    const char *text;
    unsigned kind;
} prefixes[] = {
    {"k", DECIMAL}, {"K", KILO},    {"M", DECIMAL}, {"G", DECIMAL},
    {"T", DECIMAL}, {"P", DECIMAL}, {"Ki", BINARY}, {"Mi", BINARY},
    {"Gi", BINARY}, {"Ti", BINARY}, {"Pi", BINARY},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Are the first n bytes of text nothing, or a prefix of one of these kinds? */
static bool is_prefix(const char *text, size_t n, unsigned kinds)
{
    for (size_t i = 0; i < COUNT(prefixes); i++)
        if ((prefixes[i].kind & kinds) && strlen(prefixes[i].text) == n &&
            strncmp(text, prefixes[i].text, n) == 0)
            return true;
    return n == 0;
}

bool assay_unit_known(const char *unit)
{
    size_t length = strlen(unit);

    for (size_t i = 0; i < COUNT(units); i++) {
        size_t tail = strlen(units[i].name);

        if (length >= tail &&
            strcmp(unit + length - tail, units[i].name) == 0 &&
            is_prefix(unit, length - tail, units[i].prefixes))
            return true;
    }
    return false;
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
