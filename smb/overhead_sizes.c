/* overhead_sizes.c - the message sizes of a sweep. */
#include "config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/fail.h"
#include "lib/units.h"
#include "smb/overhead_sizes.h"

enum { SIZES_MOST = 1024, WORD = 64 };

struct parser {
    struct overhead_sizes *sizes;
    char *error;
    size_t size;
};

static int add(struct parser *p, uint64_t bytes, const char *word)
{
    struct overhead_sizes *s = p->sizes;

    if (bytes > OVERHEAD_BYTES_MOST)
        return assay_fail(p->error, p->size, "'%s' is more than 1G", word);
    if (s->n > 0 && bytes <= s->bytes[s->n - 1])
        return assay_fail(p->error, p->size,
                          "'%s' does not come after a smaller size", word);
    if (s->n == SIZES_MOST)
        return assay_fail(p->error, p->size, "more than %d sizes", SIZES_MOST);
    s->bytes[s->n++] = bytes;
    return 0;
}

static int add_range(struct parser *p, char *word)
{
    char *dots = strstr(word, "..");
    uint64_t from, to;

    *dots = '\0';
    if (assay_parse_size(word, &from) < 0)
        return assay_fail(p->error, p->size, "'%s' is no size", word);
    if (assay_parse_size(dots + 2, &to) < 0)
        return assay_fail(p->error, p->size, "'%s' is no size", dots + 2);
    *dots = '.';
    if (from == 0 || to < from)
        return assay_fail(p->error, p->size, "'%s' doubles to nowhere", word);
    for (; from <= to; from *= 2)
        if (add(p, from, word) < 0)
            return -1;
    return 0;
}

static int add_word(struct parser *p, const char *text, size_t length)
{
    char word[WORD];
    uint64_t bytes;

    if (length >= sizeof(word))
        return assay_fail(p->error, p->size, "'%.*s...' is no size", WORD / 2,
                          text);
    memcpy(word, text, length);
    word[length] = '\0';
    if (strstr(word, ".."))
        return add_range(p, word);
    if (assay_parse_size(word, &bytes) < 0)
        return assay_fail(p->error, p->size, "'%s' is no size", word);
    return add(p, bytes, word);
}

int overhead_sizes_parse(const char *text, struct overhead_sizes *sizes,
                         char *error, size_t size)
{
    struct parser p = {sizes, error, size};
    int result = 0;

    *sizes = (struct overhead_sizes){0};
    sizes->bytes = calloc(SIZES_MOST, sizeof(*sizes->bytes));
    if (!sizes->bytes)
        return assay_fail(p.error, p.size, "%s", strerror(ENOMEM));
    for (;;) {
        size_t length = strcspn(text, ",");

        result = add_word(&p, text, length);
        if (result < 0 || text[length] == '\0')
            break;
        text += length + 1;
    }
    if (result < 0) {
        free(sizes->bytes);
        *sizes = (struct overhead_sizes){0};
    }
    return result;
}
