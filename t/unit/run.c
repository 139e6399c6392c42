/* run.c - what the functions of run.h return, and what a child that runs them
 * leaves behind. The whole of a program is tested by t/020*.t. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/run.h"
#include "t/unit/tap.h"

struct options {
    uint64_t n;
};

static const struct assay_option table[] = {
    {'n', "n", ASSAY_COUNT, 0, 1, 0, NULL, "N", "a count", NULL},
    ASSAY_OPTION_END,
};
static const struct assay_program program = {
    .name = "unit", .summary = "Test.", .table = table};

static char record[] = "run-XXXXXX";

static double from_bits(uint64_t bits)
{
    double x;

    memcpy(&x, &bits, sizeof(x));
    return x;
}

#define NOT_A_NUMBER from_bits(0x7ff8000000000000)
#define INFINITE from_bits(0x7ff0000000000000)

static char *slurp(const char *path, char *buf, size_t size)
{
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(buf, 1, size - 1, f) : 0;

    buf[n] = '\0';
    if (f)
        fclose(f);
    return buf;
}

/* Run body in a child that writes a record; returns its exit status, or 128
 * and the signal that it died of. */
static int child(int (*body)(struct assay_run *))
{
    int status;
    pid_t pid;

    unlink(record);
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        char argument[64], *argv[] = {"unit", argument, "--quiet", NULL};
        struct options opt = {.n = 1};
        int null = open("/dev/null", O_WRONLY);

        dup2(null, 1);
        dup2(null, 2);
        snprintf(argument, sizeof(argument), "--record=%s", record);
        exit(body(assay_start(3, argv, &program, &opt)));
    }
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static bool has(const char *want)
{
    static char text[65536];

    return strstr(slurp(record, text, sizeof(text)), want) != NULL;
}

/* Exit status 50 + k tells which expectation of a child failed. */
static int checks(struct assay_run *run)
{
    static const double wrong[][2] = {{2, 1}, {-1, 1}, {1, -1}, {1e-9, 0}};
    double nan = NOT_A_NUMBER, inf = INFINITE;

    if (!assay_check(run, "zero", 0, 0, NULL))
        return 50;
    if (!assay_check(run, "edge", 1, 1, NULL))
        return 51;
    if (!assay_check_fact(run, "fact", true, "so it is", NULL))
        return 52;
    for (int i = 0; i < 4; i++)
        if (assay_check(run, "wrong", wrong[i][0], wrong[i][1], NULL))
            return 60 + i;
    if (assay_check(run, "nan", nan, 1, NULL))
        return 70;
    if (assay_check(run, "nan", 0, nan, NULL))
        return 71;
    if (assay_check(run, "nan", nan, nan, NULL))
        return 72;
    if (assay_check(run, "inf", inf, 1, NULL))
        return 73;
    if (assay_check(run, "inf", 1, inf, NULL))
        return 74;
    if (assay_check(run, "inf", inf, inf, NULL))
        return 75;
    if (assay_check_fact(run, "fact", false, NULL, NULL))
        return 80;
    return assay_finish(run);
}

static int valid(struct assay_run *run)
{
    static const double seconds[] = {2, 1, 4, 3};
    struct assay_metric m = {.name = "unit.time",
                             .unit = "s",
                             .lower_is_better = true,
                             .value_is_median = true,
                             .samples = seconds,
                             .n = 4};
    struct assay_fields keys = {0};

    if (!assay_quiet(run) || !assay_machine(run) ||
        assay_machine(run)->ncpus == 0)
        return 50;
    assay_fields_text(&keys, "where", "here");
    assay_opt(run, &keys);
    assay_metric(run, &m, &keys);
    m.name = "unit.other";
    m.value_is_median = false;
    assay_metric(run, &m, &keys);
    assay_fields_free(&keys);
    return assay_finish(run);
}

static int metric_of(struct assay_run *run, double x)
{
    double samples[] = {1, 2, 3};
    struct assay_metric m = {
        .name = "unit.rate", .unit = "MB/s", .samples = samples, .n = 3};

    samples[1] = x;
    assay_metric(run, &m, NULL);
    return assay_finish(run);
}

static int metric_nan(struct assay_run *run)
{
    return metric_of(run, NOT_A_NUMBER);
}

static int metric_inf(struct assay_run *run)
{
    return metric_of(run, INFINITE);
}

static int key_nan(struct assay_run *run)
{
    double nan = NOT_A_NUMBER;
    struct assay_fields keys = {0};

    assay_fields_reals(&keys, "ratio", &nan, 1);
    assay_notrun(run, "why", &keys);
    return assay_finish(run);
}

static int doubled_key(struct assay_run *run)
{
    struct assay_fields more = {0};

    assay_fields_count(&more, "n", 2);
    assay_opt(run, &more);
    return assay_finish(run);
}

static int dies(struct assay_run *run)
{
    assay_unstable(run, "shaky");
    assay_die(run, ASSAY_NOTRUN, "no %s", "device");
}

static int unstable(struct assay_run *run)
{
    assay_unstable(run, "first");
    assay_unstable(run, "second");
    return assay_finish(run);
}

static int empty(struct assay_run *run)
{
    return assay_finish(run);
}

static int ended_twice(struct assay_run *run)
{
    int status = assay_finish(run);

    raise(SIGTERM);
    return status;
}

int main(void)
{
    int fd = mkstemp(record);

    if (fd < 0)
        return 99;
    close(fd);
    is_count((unsigned)child(valid), 0, "a valid run");
    ok(has("\nopt n=1 where=here\n"), "opt line: the table, then what follows");
    ok(has("\nmetric name=unit.time value=2.5 unit=s n=4 best=1 min=1 q1=1.75 "
           "median=2.5 q3=3.25 max=4 where=here\n"),
       "a metric whose value is its median, and whose best is its least");
    ok(has("\nmetric name=unit.other value=1 unit=s "), "one of its best");
    ok(has("\nsample name=unit.time unit=s values=2,1,4,3 where=here\n"),
       "its samples");
    ok(has("\nend status=ok\n"), "its end");
    is_count((unsigned)child(checks), ASSAY_WRONG,
             "no error passes that is not within a tolerance");
    ok(has("\ncheck name=nan ok=no tolerance=1 reason=\"error not finite, "
           "tolerance 1\"\n"),
       "NaN is said in words");
    ok(has("\nend status=wrong reason=\"wrong: wrong data: error 2, tolerance "
           "1\"\n"),
       "the end line has the first reason");
    is_count((unsigned)child(metric_nan), ASSAY_BROKEN, "a NaN among samples");
    ok(!has("\nmetric") && !has("\nsample") && has("\nend status=failed"),
       "is never written");
    is_count((unsigned)child(metric_inf), ASSAY_BROKEN, "an infinite one");
    ok(!has("\nmetric") && !has("\nsample") && has("\nend status=failed"),
       "neither");
    is_count((unsigned)child(key_nan), ASSAY_BROKEN, "a key that is NaN");
    ok(has("notrun line: a number that is not finite"), "has its reason");
    is_count((unsigned)child(doubled_key), ASSAY_BROKEN, "a doubled key");
    ok(has("opt line: a key that stands twice"), "has its reason");
    is_count((unsigned)child(dies), ASSAY_NOTRUN, "assay_die ends the run");
    ok(has("\nend status=notrun reason=\"no device\"\n"), "and says why");
    is_count((unsigned)child(unstable), ASSAY_UNSTABLE, "an unstable run");
    ok(has("\nend status=unstable reason=first\n"), "the first reason");
    ok(has("\nwarning text=\"unstable: second\"\n"), "and the others");
    is_count((unsigned)child(empty), ASSAY_OK, "a run without any line");
    ok(has("\nopt n=1\n"), "has its opt line even so");
    is_count((unsigned)child(ended_twice), 128 + SIGTERM,
             "a signal behind the end");
    ok(has("\nend status=ok\n") && !has("SIGTERM"), "adds no second end");
    unlink(record);
    return done_testing();
}
