/* option.c - what a command line may say, what it may not, and --help. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/option.h"
#include "lib/record.h"
#include "t/unit/tap.h"

static const char *const pins[] = {"compact", "spread", "none", NULL};
static const char *const many_words[] = {
    "automatic", "avx512", "avx2", "neon", "sve", "plain", "generic", NULL};

struct options {
    bool loud, quick;
    uint64_t threads, elements, any;
    double thresh;
    int pin, kernel;
    const char *file;
};

#define OPT(field) offsetof(struct options, field)
static const struct assay_option table[] = {
    {'l', "loud", ASSAY_FLAG, OPT(loud), 0, 0, NULL, NULL, "say more", NULL},
    {'q', "quick", ASSAY_FLAG, OPT(quick), 0, 0, NULL, NULL, "do less", NULL},
    {'t', "threads", ASSAY_COUNT, OPT(threads), 1, 64, NULL, "N",
     "threads to run", "one a core"},
    {'n', "elements", ASSAY_SIZE, OPT(elements), 8, 1048576, NULL, "N",
     "array length", NULL},
    {0, "any", ASSAY_COUNT, OPT(any), 0, 0, NULL, "N", "any count", NULL},
    {'b', "base-thresh", ASSAY_REAL, OPT(thresh), -1.5, 2.5, NULL, "X",
     "a factor", NULL},
    {'p', "pin", ASSAY_CHOICE, OPT(pin), 0, 0, pins, NULL, "where threads run",
     NULL},
    {0, "kernel", ASSAY_CHOICE, OPT(kernel), 0, 0, many_words, NULL,
     "which loops", NULL},
    {'f', "file", ASSAY_TEXT, OPT(file), 0, 0, NULL, "FILE", "a file", NULL},
    ASSAY_OPTION_END,
};

static const struct options defaults = {
    .elements = 4096, .any = 5, .thresh = 1.02, .pin = 0};

/* Parse words, which end in NULL, into fresh defaults. */
static int parse(struct options *o, char *error, size_t size, char **words)
{
    const struct assay_option_group group = {table, o};
    int argc = 0;

    while (words[argc])
        argc++;
    *o = defaults;
    *error = '\0';
    return assay_options_parse(argc, words, &group, 1, error, size);
}

#define WORDS(...) ((char *[]){"prog", __VA_ARGS__, NULL})

static void accepted(void)
{
    struct options o;
    char e[256];

    ok(parse(&o, e, sizeof(e), (char *[]){"prog", NULL}) == 0 &&
           o.elements == 4096 && o.threads == 0,
       "no options: the defaults");
    ok(parse(&o, e, sizeof(e), WORDS("--threads=4")) == 0 && o.threads == 4,
       "--threads=4");
    ok(parse(&o, e, sizeof(e), WORDS("--threads", "4")) == 0 && o.threads == 4,
       "--threads 4");
    ok(parse(&o, e, sizeof(e), WORDS("-t", "4")) == 0 && o.threads == 4,
       "-t 4");
    ok(parse(&o, e, sizeof(e), WORDS("-t4")) == 0 && o.threads == 4, "-t4");
    ok(parse(&o, e, sizeof(e), WORDS("-lqt4")) == 0 && o.threads == 4 &&
           o.loud && o.quick,
       "-lqt4");
    ok(parse(&o, e, sizeof(e), WORDS("-n", "64K")) == 0 && o.elements == 65536,
       "-n 64K");
    ok(parse(&o, e, sizeof(e), WORDS("-b", "-1.5")) == 0 && o.thresh == -1.5,
       "a negative number as a word of its own");
    ok(parse(&o, e, sizeof(e), WORDS("-b2.5")) == 0 && o.thresh == 2.5,
       "the greatest allowed");
    ok(parse(&o, e, sizeof(e), WORDS("--pin=none")) == 0 && o.pin == 2,
       "a choice");
    ok(parse(&o, e, sizeof(e), WORDS("--file=-O3 -g")) == 0 &&
           strcmp(o.file, "-O3 -g") == 0,
       "a joined value may begin with a dash");
    ok(parse(&o, e, sizeof(e), WORDS("--file=a=b")) == 0 &&
           strcmp(o.file, "a=b") == 0,
       "and hold an equals sign");
    ok(parse(&o, e, sizeof(e), WORDS("--any=18446744073709551615")) == 0 &&
           o.any == UINT64_MAX,
       "no upper bound: 2^64 - 1");
    ok(parse(&o, e, sizeof(e), WORDS("-t4", "--threads=4")) == 0,
       "the same value twice");
    ok(parse(&o, e, sizeof(e), WORDS("-n4K", "--elements=4096")) == 0,
       "spelt in two ways");
    ok(parse(&o, e, sizeof(e), WORDS("-l", "--")) == 0 && o.loud,
       "-- behind all options");
}

/* What is refused, and how. */
static const struct {
    char *words[4];
    const char *error; /* the start of the message */
} bad[] = {
    {{"--threads=64x"}, "--threads: '64x' is not a whole number, 1 to 64"},
    {{"--threads="}, "--threads: '' is not a whole number, 1 to 64"},
    {{"--threads= 5"}, "--threads: ' 5' is not"},
    {{"--threads=+5"}, "--threads: '+5' is not"},
    {{"--threads=-5"}, "--threads: '-5' is not"},
    {{"--threads", "-5"}, "--threads: '-5' is not"},
    {{"--threads=0x10"}, "--threads: '0x10' is not"},
    {{"--threads=1e3"}, "--threads: '1e3' is not"},
    {{"--threads=4K"}, "--threads: '4K' is not"},
    {{"--threads=0"}, "--threads: '0' is not"},
    {{"--threads=65"}, "--threads: '65' is not"},
    {{"-t65"}, "-t: '65' is not a whole number, 1 to 64"},
    {{"--any=18446744073709551616"},
     "--any: '18446744073709551616' is not a whole number, 0 or more"},
    {{"--any=-1"}, "--any: '-1' is not"},
    {{"-n", "7"},
     "-n: '7' is not a size (a whole number, or one with K, M, G or T), "
     "8 to 1M"},
    {{"-n2M"}, "-n: '2M' is not"},
    {{"-n1KB"}, "-n: '1KB' is not"},
    {{"-bnan"}, "-b: 'nan' is not a number, -1.5 to 2.5"},
    {{"-binf"}, "-b: 'inf' is not"},
    {{"--base-thresh=-nan"}, "--base-thresh: '-nan' is not"},
    {{"-b2.6"}, "-b: '2.6' is not"},
    {{"-b", "-1.6"}, "-b: '-1.6' is not"},
    {{"-b1,5"}, "-b: '1,5' is not"},
    {{"--pin=comp"}, "--pin: 'comp' is none of: compact, spread, none"},
    {{"--pin=Compact"}, "--pin: 'Compact' is none of"},
    {{"--pin="}, "--pin: '' is none of"},
    {{"--file="}, "--file: '' is empty"},
    {{"--loud=yes"}, "--loud takes no value: 'yes'"},
    {{"--lou"}, "'--lou' is no option"},
    {{"--louder"}, "'--louder' is no option"},
    {{"--"}, NULL},
    {{"--", "-l"}, "'-l': no operand is taken"},
    {{"--=5"}, "'--=5' is no option"},
    {{"-x"}, "'-x' in '-x' is no option"},
    {{"-lx"}, "'-x' in '-lx' is no option"},
    {{"-"}, "'-': no operand is taken"},
    {{""}, "'': no operand is taken"},
    {{"stray"}, "'stray': no operand is taken"},
    {{"-l", "stray", "-q"}, "'stray': no operand is taken"},
    {{"--threads"}, "--threads needs a value: --threads=VALUE"},
    {{"-t"}, "-t needs a value: --threads=VALUE"},
    {{"--file", "--loud"}, "--file needs a value: --file=VALUE"},
    {{"--file", "-l"}, "--file needs a value: --file=VALUE"},
    {{"-t4", "-t5"}, "-t: '5' contradicts the one given before"},
    {{"-pnone", "--pin=spread"}, "--pin: 'spread' contradicts"},
    {{"-fa", "-fb"}, "-f: 'b' contradicts"},
    {{"-b1", "-b2"}, "-b: '2' contradicts"},
};

static void refused(void)
{
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char *words[6] = {"prog"}, e[256];
        struct options o;

        memcpy(words + 1, bad[i].words, sizeof(bad[i].words));
        if (!bad[i].error) {
            ok(parse(&o, e, sizeof(e), words) == 0, "%s is allowed", words[1]);
            continue;
        }
        ok(parse(&o, e, sizeof(e), words) == -1 &&
               strncmp(e, bad[i].error, strlen(bad[i].error)) == 0,
           "%s", bad[i].error);
        if (strncmp(e, bad[i].error, strlen(bad[i].error)) != 0)
            diag("got: %s", e);
        ok(memcmp(&o, &defaults, sizeof(o)) == 0, "and nothing was stored");
    }
}

static void messages(void)
{
    char word[5000], e[64], none[1] = "x", big[256];
    struct options o;

    memset(word, 'x', sizeof(word));
    word[sizeof(word) - 1] = '\0';
    ok(parse(&o, big, sizeof(big), WORDS("-t", word)) == -1 &&
           strstr(big, "is not a whole number, 1 to 64"),
       "a long word leaves room for what is allowed");
    ok(parse(&o, e, sizeof(e), WORDS(word)) == -1 && strlen(e) < sizeof(e),
       "a message is cut to the room it has");
    ok(parse(&o, none, 1, WORDS("-x")) == -1 && !*none, "even none");
}

static const struct assay_option own[] = {
    {'h', "height", ASSAY_FLAG, OPT(loud), 0, 0, NULL, NULL, "tall", NULL},
    {'x', "help", ASSAY_HELP, 0, 0, 0, NULL, NULL, "this text", NULL},
    ASSAY_OPTION_END,
};
static const struct assay_option standard[] = {
    {'q', "quick", ASSAY_FLAG, OPT(quick), 0, 0, NULL, NULL, "do less", NULL},
    {'h', "help", ASSAY_HELP, 0, 0, 0, NULL, NULL, "standard help", NULL},
    {'V', "version", ASSAY_VERSION, 0, 0, 0, NULL, NULL, "version", NULL},
    ASSAY_OPTION_END,
};

/* Help text of two groups, in a buffer. */
static char *help_text(const struct assay_option_group *g, size_t n, char *buf,
                       size_t size)
{
    FILE *f = tmpfile();
    size_t length;

    if (!f)
        exit(99);
    assay_options_help(f, g, n);
    rewind(f);
    length = fread(buf, 1, size - 1, f);
    buf[length] = '\0';
    fclose(f);
    return buf;
}

static void groups(void)
{
    struct options one = {0}, two = {0};
    const struct assay_option_group g[] = {{own, &one}, {standard, &two}};
    char e[256], text[4096];

    ok(assay_options_parse(3, WORDS("-h", "-q"), g, 2, e, sizeof(e)) == 0 &&
           one.loud && two.quick,
       "each group stores into its own struct; the first -h wins");
    ok(assay_options_parse(2, WORDS("-x"), g, 2, e, sizeof(e)) == ASSAY_HELP,
       "a program's own letter for help");
    ok(assay_options_parse(2, WORDS("--help"), g, 2, e, sizeof(e)) ==
           ASSAY_HELP,
       "--help");
    ok(assay_options_parse(2, WORDS("--version"), g, 2, e, sizeof(e)) ==
           ASSAY_VERSION,
       "--version");
    one.loud = two.quick = false;
    ok(assay_options_parse(5, WORDS("-h", "-q", "-V", "--bad"), g, 2, e,
                           sizeof(e)) == ASSAY_VERSION &&
           !one.loud && !two.quick,
       "asked for before an error, with nothing stored");
    ok(assay_options_parse(3, WORDS("--bad", "--help"), g, 2, e, sizeof(e)) ==
           -1,
       "an error before it is an error");
    ok(assay_options_parse(2, WORDS("--help=x"), g, 2, e, sizeof(e)) == -1,
       "--help=x is none");
    help_text(g, 2, text, sizeof(text));
    ok(strstr(text, "-x, --help") && !strstr(text, "standard help"),
       "--help shows the row that counts");
    ok(strstr(text, "-h, --height") && strstr(text, "-V, --version"),
       "and letters of both groups");
}

static void too_many(void)
{
    static struct assay_option rows[130];
    struct options o = {0};
    const struct assay_option_group group = {rows, &o};
    char e[256];

    for (size_t i = 0; i < 129; i++)
        rows[i] = (struct assay_option){.name = "x", .type = ASSAY_FLAG};
    ok(assay_options_parse(1, WORDS("-l"), &group, 1, e, sizeof(e)) == -1,
       "a table of 129 rows is refused");
    rows[128].name = NULL;
    ok(assay_options_parse(2, WORDS("--x"), &group, 1, e, sizeof(e)) == 0,
       "one of 128 is not");
}

static size_t longest(const char *text)
{
    size_t most = 0;

    while (*text) {
        size_t n = strcspn(text, "\n");

        most = n > most ? n : most;
        text += n + (text[n] == '\n');
    }
    return most;
}

static void help(void)
{
    struct options o = defaults;
    const struct assay_option_group g = {table, &o};
    static const struct assay_option wide[] = {
        {'w', "a-long-name-for-an-option", ASSAY_SIZE, OPT(elements), 1, 0,
         NULL, "ELEMENTS",
         "words and more words until the line is full and yet more words "
         "until the next one is full as well, and then some",
         "four times the cache that all threads can reach together"},
        ASSAY_OPTION_END};
    const struct assay_option_group w = {wide, &o};
    char text[4096];

    help_text(&g, 1, text, sizeof(text));
    ok(longest(text) < 80, "no line of more than 79 columns");
    ok(strstr(text, "threads to run (default: one a core)"),
       "unset: its words");
    ok(strstr(text, "array length (default: 4K)"), "a size");
    ok(strstr(text, "any count (default: 5)"), "a count");
    ok(strstr(text, "a factor (default: 1.02)"), "a real");
    ok(strstr(text, "--pin=compact|spread|none"), "few words");
    ok(strstr(text, "(default: compact)"), "a choice");
    ok(strstr(text, "--kernel=WORD") &&
           strstr(text, "one of automatic, avx512"),
       "many words");
    ok(!strstr(text, "say more (default"), "a flag that is off has none");
    ok(strstr(text, "a file\n"), "nor a text that is not set");
    o.threads = 7;
    o.pin = 1;
    o.loud = true;
    o.file = "there";
    help_text(&g, 1, text, sizeof(text));
    ok(strstr(text, "(default: 7)") && strstr(text, "(default: spread)") &&
           strstr(text, "(default: yes)") && strstr(text, "(default: there)"),
       "defaults are those of the struct");
    o.elements = 0;
    help_text(&w, 1, text, sizeof(text));
    ok(longest(text) < 80, "long texts are wrapped");
}

static void fields(void)
{
    struct options o = defaults;
    struct assay_fields f = {0};

    assay_options_fields(table, &o, &f);
    is_text(f.text,
            "loud=no quick=no elements=4096 any=5 base_thresh=1.02 "
            "pin=compact kernel=automatic",
            "fields of the defaults");
    assay_fields_free(&f);
    o.threads = 3;
    o.file = "two words";
    o.loud = true;
    assay_options_fields(table, &o, &f);
    is_text(f.text,
            "loud=yes quick=no threads=3 elements=4096 any=5 "
            "base_thresh=1.02 pin=compact kernel=automatic "
            "file=\"two words\"",
            "and of other values");
    assay_fields_free(&f);
    assay_options_fields(own, &o, &f);
    is_text(f.text, "height=yes", "help is no field");
    assay_fields_free(&f);
}

int main(void)
{
    accepted();
    refused();
    messages();
    groups();
    too_many();
    help();
    fields();
    return done_testing();
}
