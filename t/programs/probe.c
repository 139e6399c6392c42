/* probe.c - a program for tests: walks every path of run.h on demand.
 *
 * It measures nothing: figures come from --samples, and so does the trouble,
 * from --do=WORD,WORD... in that order. */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/assay.h"

enum { SAMPLES_MOST = 64 };

static const char *const colours[] = {"red", "green", "blue", NULL};

struct options {
    bool median, lower;
    uint64_t count, size;
    double real;
    int colour;
    const char *steps, *text, *samples, *unit;
};

#define OPT(field) offsetof(struct options, field)
static const struct assay_option table[] = {
    {'d', "do", ASSAY_TEXT, OPT(steps), 0, 0, NULL, "WORDS",
     "what to do, in order: words with commas between", "metric"},
    {'s', "samples", ASSAY_TEXT, OPT(samples), 0, 0, NULL, "A,B,...",
     "what to call measured", NULL},
    {'u', "unit", ASSAY_TEXT, OPT(unit), 0, 0, NULL, "UNIT", "of the samples",
     NULL},
    {'m', "median", ASSAY_FLAG, OPT(median), 0, 0, NULL, NULL,
     "the value is the median", NULL},
    {'l', "lower", ASSAY_FLAG, OPT(lower), 0, 0, NULL, NULL,
     "the best is the least", NULL},
    {'c', "count", ASSAY_COUNT, OPT(count), 1, 64, NULL, "N", "a whole number",
     NULL},
    {'z', "size", ASSAY_SIZE, OPT(size), 8, 1 << 20, NULL, "SIZE",
     "a size with a default that says where it comes from, in many words",
     "4 x cache"},
    {'r', "real-number", ASSAY_REAL, OPT(real), -1, 1.5, NULL, "X", "a number",
     NULL},
    {'k', "colour", ASSAY_CHOICE, OPT(colour), 0, 0, colours, NULL,
     "one of a few words", NULL},
    {'t', "text", ASSAY_TEXT, OPT(text), 0, 0, NULL, NULL, "any text", NULL},
    ASSAY_OPTION_END,
};

static const struct assay_program program = {
    .name = "probe",
    .summary = "Walk the paths of a run, measuring nothing.",
    .table = table,
    .notes = "Words: metric wrong nan fact notrun unstable warn twice print\n"
             "nokey opt sleep term exit die77 die3 die99 empty many",
};

/* "1,2.5,nan": strtod is what the tests want here, NaN and all. */
static size_t parse_samples(const char *text, double *x)
{
    size_t n = 0;

    while (*text && n < SAMPLES_MOST) {
        char *end;

        x[n++] = strtod(text, &end);
        text = *end ? end + 1 : end;
    }
    return n;
}

static void metric(struct assay_run *run, const struct options *opt, bool empty)
{
    double x[SAMPLES_MOST];
    struct assay_fields keys = {0};
    char host[256];
    struct assay_metric m = {
        .name = "probe.rate",
        .unit = opt->unit,
        .lower_is_better = opt->lower,
        .value_is_median = opt->median,
        .samples = x,
        .n = empty ? 0 : parse_samples(opt->samples, x),
    };

    assay_fields_text(&keys, "host", assay_hostname(host, sizeof(host)));
    if (opt->text)
        assay_fields_text(&keys, "label", opt->text);
    assay_metric(run, &m, &keys);
    assay_fields_free(&keys);
}

static void many(struct assay_run *run, const char *unit)
{
    size_t n = (size_t)1 << 20;
    double *x = malloc(n * sizeof(*x));
    struct assay_metric m = {
        .name = "probe.many", .unit = unit, .samples = x, .n = n};

    if (!x)
        assay_die(run, ASSAY_BROKEN, "samples: %s", strerror(errno));
    for (size_t i = 0; i < n; i++)
        x[i] = 1.0 / (double)(i + 3);
    assay_metric(run, &m, NULL);
    free(x);
}

static void twice(struct assay_run *run)
{
    struct assay_fields keys = {0};

    assay_fields_text(&keys, "name", "again");
    assay_check(run, "data", 0, 0, &keys);
    assay_fields_free(&keys);
}

static void nokey(struct assay_run *run)
{
    struct assay_fields keys = {0};

    assay_fields_text(&keys, "not a key", "x");
    assay_notrun(run, "why", &keys);
    assay_fields_free(&keys);
}

static void step(struct assay_run *run, const struct options *opt,
                 const char *word)
{
    static const struct {
        const char *word;
        enum assay_exit status;
    } deaths[] = {{"die77", ASSAY_NOTRUN},
                  {"die3", ASSAY_UNSTABLE},
                  {"die99", ASSAY_BROKEN}};

    for (size_t i = 0; i < sizeof(deaths) / sizeof(deaths[0]); i++)
        if (strcmp(word, deaths[i].word) == 0)
            assay_die(run, deaths[i].status, "asked to: %s",
                      opt->text ? opt->text : word);
    if (strcmp(word, "metric") == 0) {
        assay_check(run, "data", 1e-16, 1e-13, NULL);
        metric(run, opt, false);
    } else if (strcmp(word, "empty") == 0)
        metric(run, opt, true);
    else if (strcmp(word, "many") == 0)
        many(run, opt->unit);
    else if (strcmp(word, "wrong") == 0)
        assay_check(run, "data", 0.5, 1e-13, NULL);
    else if (strcmp(word, "nan") == 0)
        assay_check(run, "data", strtod("nan", NULL), 1e-13, NULL);
    else if (strcmp(word, "fact") == 0)
        assay_check_fact(run, "fact", false, "two = 3", NULL);
    else if (strcmp(word, "notrun") == 0)
        assay_notrun(run, "drained", NULL);
    else if (strcmp(word, "unstable") == 0)
        assay_unstable(run, "no knee");
    else if (strcmp(word, "warn") == 0)
        assay_warn(run, "%s", opt->text ? opt->text : "beware");
    else if (strcmp(word, "twice") == 0)
        twice(run);
    else if (strcmp(word, "nokey") == 0)
        nokey(run);
    else if (strcmp(word, "opt") == 0)
        assay_opt(run, NULL);
    else if (strcmp(word, "print") == 0 && !assay_quiet(run))
        printf("figure\n");
    else if (strcmp(word, "sleep") == 0)
        sleep(30);
    else if (strcmp(word, "term") == 0)
        raise(SIGTERM);
    else if (strcmp(word, "exit") == 0)
        exit(1);
}

int main(int argc, char **argv)
{
    struct options opt = {.count = 2,
                          .real = 0.25,
                          .colour = 1,
                          .samples = "101,97,103,99",
                          .unit = "MB/s"};
    struct assay_run *run = assay_start(argc, argv, &program, &opt);
    char steps[256], *word, *rest;

    snprintf(steps, sizeof(steps), "%s", opt.steps ? opt.steps : "metric");
    assay_opt(run, NULL);
    for (word = strtok_r(steps, ",", &rest); word;
         word = strtok_r(NULL, ",", &rest))
        step(run, &opt, word);
    return assay_finish(run);
}
