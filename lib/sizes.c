/* sizes.c - a list of sizes, as options name it. */
#include "config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/fail.h"
#include "lib/sizes.h"
#include "lib/units.h"

enum { SIZES_MOST = 1024, WORD = 64 };

struct list {
    struct assay_sizes *sizes;
    uint64_t most;
    char *error;
    size_t size;
};

static int add(struct list *l, uint64_t bytes, const char *word)
{
    struct assay_sizes *s = l->sizes;
    char text[16];

    if (bytes > l->most)
        return assay_fail(l->error, l->size, "'%s' is more than %s", word,
                          assay_size_text(l->most, text));
    if (s->n > 0 && bytes <= s->bytes[s->n - 1])
        return assay_fail(l->error, l->size,
                          "'%s' does not come after a smaller size", word);
    if (s->n == SIZES_MOST)
        return assay_fail(l->error, l->size, "more than %d sizes", SIZES_MOST);
    s->bytes[s->n++] = bytes;
    return 0;
}

static int add_range(struct list *l, char *word)
{
    char *dots = strstr(word, "..");
    uint64_t from, to;

    *dots = '\0';
    if (assay_parse_size(word, &from) < 0)
        return assay_fail(l->error, l->size, "'%s' is no size", word);
    if (assay_parse_size(dots + 2, &to) < 0)
        return assay_fail(l->error, l->size, "'%s' is no size", dots + 2);
    *dots = '.';
    if (from == 0 || to < from)
        return assay_fail(l->error, l->size, "'%s' doubles to nowhere", word);
    for (; from <= to; from *= 2)
        if (add(l, from, word) < 0)
            return -1;
    return 0;
}

static int add_word(struct list *l, const char *text, size_t length)
{
    char word[WORD];
    uint64_t bytes;

    if (length >= sizeof(word))
        return assay_fail(l->error, l->size, "'%.*s...' is no size", WORD / 2,
                          text);
    memcpy(word, text, length);
    word[length] = '\0';
    if (strstr(word, ".."))
        return add_range(l, word);
    if (assay_parse_size(word, &bytes) < 0)
        return assay_fail(l->error, l->size, "'%s' is no size", word);
    return add(l, bytes, word);
}

int assay_sizes_parse(const char *text, uint64_t most,
                      struct assay_sizes *sizes, char *error, size_t size)
{
    struct list l = {sizes, most, error, size};
    int result = 0;

    *sizes = (struct assay_sizes){0};
    sizes->bytes = calloc(SIZES_MOST, sizeof(*sizes->bytes));
    if (!sizes->bytes)
        return assay_fail(l.error, l.size, "%s", strerror(ENOMEM));
    for (;;) {
        size_t length = strcspn(text, ",");

        result = add_word(&l, text, length);
        if (result < 0 || text[length] == '\0')
            break;
        text += length + 1;
    }
    if (result < 0) {
        free(sizes->bytes);
        *sizes = (struct assay_sizes){0};
    }
    return result;
}
