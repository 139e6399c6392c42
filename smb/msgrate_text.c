/* msgrate_text.c - option values that are more than a number. */
#include "config.h"

#include <limits.h>
#include <string.h>

#include "lib/units.h"
#include "smb/msgrate_text.h"

int parse_cache(const char *text, uint64_t *bytes)
{
    uint64_t value;

    if (strcmp(text, "llc") == 0) {
        *bytes = 0;
        return 0;
    }
    if (assay_parse_size(text, &value) < 0 || value < sizeof(uint32_t) ||
        value > UINT64_C(1) << 50)
        return -1;
    *bytes = value;
    return 0;
}

int parse_until(const char *text, double *fraction)
{
    size_t length = strlen(text);
    char number[32];
    double value;

    if (length < 2 || length > sizeof(number) || text[length - 1] != '%')
        return -1;
    memcpy(number, text, length - 1);
    number[length - 1] = '\0';
    if (assay_parse_real(number, &value) < 0 ||
        !(value > 0.0 && value <= 100.0))
        return -1;
    *fraction = value / 100.0;
    return 0;
}

/* One size of a list, which ends at a comma or at the text's end. */
static int parse_size(const char *text, size_t length, uint64_t *size)
{
    char word[24];

    if (length == 0 || length >= sizeof(word))
        return -1;
    memcpy(word, text, length);
    word[length] = '\0';
    return assay_parse_size(word, size) < 0 || *size > INT_MAX ? -1 : 0;
}

int parse_sizes(const char *text, uint64_t sizes[SIZES], size_t *n)
{
    for (*n = 0; *n < SIZES; text++) {
        size_t length = strcspn(text, ",");

        if (parse_size(text, length, &sizes[*n]) < 0)
            return -1;
        for (size_t i = 0; i < *n; i++)
            if (sizes[i] == sizes[*n])
                return -1;
        ++*n;
        text += length;
        if (*text == '\0')
            return 0;
    }
    return -1;
}
