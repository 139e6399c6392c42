/* tap.h - TAP for the C unit tests: assertions first, the plan last.
 *
 *     ok(x == 3, "x is %d", x);
 *     is_double(median, 100.0, "median of four");
 *     return done_testing();
 *
 * A test that dies never reaches its plan, which is a failure. Include it
 * once a program: the counts are static. Everything here may go unused. */
#ifndef ASSAY_TAP_H
#define ASSAY_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static struct {
    unsigned run, failed;
} tap;

__attribute__((unused, format(printf, 1, 2))) static void diag(const char *fmt,
                                                               ...)
{
    va_list ap;

    fflush(stdout);
    fputs("# ", stderr);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
}

/* Print the point; '#' and newlines would be read as directives, so they are
 * replaced. Returns pass. */
__attribute__((unused)) static bool tap_point(bool pass, const char *fmt,
                                              va_list ap)
{
    char name[512];

    vsnprintf(name, sizeof(name), fmt, ap);
    for (char *p = name; *p; p++) {
        if (*p == '#')
            *p = '.';
        else if (*p == '\n' || *p == '\r')
            *p = ' ';
    }
    tap.run++;
    tap.failed += !pass;
    printf("%sok %u - %s\n", pass ? "" : "not ", tap.run, name);
    fflush(stdout);
    return pass;
}

__attribute__((unused, format(printf, 2, 3))) static bool
ok(bool pass, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    tap_point(pass, fmt, ap);
    va_end(ap);
    return pass;
}

/* Equal to the last bit; NaN equals NaN, -0 does not equal 0. */
__attribute__((unused, format(printf, 3, 4))) static bool
is_double(double got, double want, const char *fmt, ...)
{
    bool pass = memcmp(&got, &want, sizeof(got)) == 0;
    va_list ap;

    va_start(ap, fmt);
    tap_point(pass, fmt, ap);
    va_end(ap);
    if (!pass)
        diag("got %.17g, want %.17g", got, want);
    return pass;
}

/* |got - want| <= within, which NaN is not. */
__attribute__((unused, format(printf, 4, 5))) static bool
is_near(double got, double want, double within, const char *fmt, ...)
{
    double error = got > want ? got - want : want - got;
    bool pass = error <= within;
    va_list ap;

    va_start(ap, fmt);
    tap_point(pass, fmt, ap);
    va_end(ap);
    if (!pass)
        diag("got %.17g, want %.17g within %g", got, want, within);
    return pass;
}

__attribute__((unused, format(printf, 3, 4))) static bool
is_count(uint64_t got, uint64_t want, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    tap_point(got == want, fmt, ap);
    va_end(ap);
    if (got != want)
        diag("got %ju, want %ju", (uintmax_t)got, (uintmax_t)want);
    return got == want;
}

/* Equal strings; NULL equals only NULL. */
__attribute__((unused, format(printf, 3, 4))) static bool
is_text(const char *got, const char *want, const char *fmt, ...)
{
    bool pass = got && want ? strcmp(got, want) == 0 : got == want;
    va_list ap;

    va_start(ap, fmt);
    tap_point(pass, fmt, ap);
    va_end(ap);
    if (!pass)
        diag("got '%s', want '%s'", got ? got : "(null)",
             want ? want : "(null)");
    return pass;
}

/* Count `n` points as skipped. */
__attribute__((unused)) static void skip(unsigned n, const char *why)
{
    while (n-- > 0)
        printf("ok %u # SKIP %s\n", ++tap.run, why);
    fflush(stdout);
}

/* Print the plan; what main returns. A test that tested nothing failed. */
__attribute__((unused)) static int done_testing(void)
{
    printf("1..%u\n", tap.run);
    if (tap.failed)
        diag("%u of %u tests failed", tap.failed, tap.run);
    return tap.run == 0 || tap.failed || fflush(stdout) ? 1 : 0;
}

#endif
