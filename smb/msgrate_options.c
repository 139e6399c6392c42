/* msgrate_options.c - the one table of options: parser, help, defaults, record.
 */
#include "config.h"

#include <limits.h>
#include <string.h>

#include "smb/msgrate.h"

#define OPT(field) offsetof(struct options, field)

static const struct assay_option table[] = {
    {'p', "peers", ASSAY_COUNT, OPT(peers), 1, 32767, NULL, "N",
     "ranks that each rank sends to, and as many to receive from", NULL},
    {'i', "iterations", ASSAY_COUNT, OPT(iterations), 1, 1e12, NULL, "N",
     "iterations of each pattern; the most, with --until", NULL},
    {'m', "messages", ASSAY_COUNT, OPT(messages), 1, 1 << 24, NULL, "N",
     "messages to each peer and iteration", NULL},
    {'s', "size", ASSAY_SIZE, OPT(size), 0, INT_MAX, NULL, "BYTES",
     "bytes of a message", NULL},
    {0, "sizes", ASSAY_TEXT, OPT(sizes), 0, 0, NULL, "LIST",
     "run all patterns for each of these sizes, instead of -s", "none"},
    {'c', "cache", ASSAY_TEXT, OPT(cache), 0, 0, NULL, "BYTES",
     "invalidate so much before each timed section; llc: the rank's share of "
     "the last-level cache",
     NULL},
    {'n', "ranks-per-node", ASSAY_COUNT, OPT(ppn), 1, 1 << 24, NULL, "N",
     "ranks on each node; with --functional, on mock nodes", "what it is"},
    {'o', "machine", ASSAY_FLAG, OPT(machine), 0, 0, NULL, NULL,
     "print one line: job size, peers, iterations, messages, bytes, cache, "
     "ppn, and four rates",
     NULL},
    {0, "until", ASSAY_TEXT, OPT(until), 0, 0, NULL, "N%",
     "stop when the interval of the rate is that narrow", "never"},
    {0, "functional", ASSAY_FLAG, OPT(functional), 0, 0, NULL, NULL,
     "only show that it works, on one node too; no clause is satisfied", NULL},
    {0, "repeat-peers", ASSAY_FLAG, OPT(repeat), 0, 0, NULL, NULL,
     "let one rank be several peers where there are too few nodes", NULL},
    ASSAY_OPTION_END,
};

const struct assay_program msgrate_program = {
    .name = "msgrate",
    .summary = "Sustained MPI message rate, sending and receiving at once, "
               "with a cold cache.",
    .table = table,
    .notes = "Rates are in messages a second of each rank. Start it under MPI, "
             "on two nodes or\n"
             "more with equally many ranks; sizes take K, M and G, powers of "
             "1024.",
};

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
