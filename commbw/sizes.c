/* sizes.c - "0,8,1K..4G". */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commbw/sizes.h"
#include "lib/units.h"

enum { SIZES = 256, WORD = 64 };

static int add(struct sizes *s, uint64_t bytes)
{
    if (s->n == SIZES || (s->n > 0 && bytes <= s->bytes[s->n - 1]))
        return -1;
    s->bytes[s->n++] = bytes;
    return 0;
}

/* One word: A, or A..B. */
static int add_word(struct sizes *s, char *word)
{
    char *dots = strstr(word, "..");
    uint64_t from, to;

    if (dots)
        *dots = '\0';
    if (assay_parse_size(word, &from) < 0)
        return -1;
    if (!dots)
        return add(s, from);
    if (from == 0 || assay_parse_size(dots + 2, &to) < 0 || to < from)
        return -1;
    for (uint64_t bytes = from; bytes <= to; bytes *= 2)
        if (add(s, bytes) < 0 || bytes > UINT64_MAX / 2)
            return -1;
    return 0;
}

int sizes_parse(const char *text, struct sizes *sizes, char *error, size_t size)
{
    const char *p = text;

    *sizes = (struct sizes){.bytes = calloc(SIZES, sizeof(uint64_t))};
    if (!sizes->bytes) {
        snprintf(error, size, "no memory");
        return -1;
    }
    for (;; p++) {
        size_t length = strcspn(p, ",");
        char word[WORD];

        snprintf(word, sizeof(word), "%.*s", (int)length, p);
        if (length >= sizeof(word) || add_word(sizes, word) < 0) {
            snprintf(error, size, "'%.*s': rising sizes such as 0,8,1K..4G",
                     (int)length, p);
            free(sizes->bytes);
            return -1;
        }
        p += length;
        if (*p == '\0')
            return 0;
    }
}
