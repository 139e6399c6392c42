/* record.c - fields as they are written, and files that can't be. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/record.h"
#include "t/unit/tap.h"

static double from_bits(uint64_t bits)
{
    double x;

    memcpy(&x, &bits, sizeof(x));
    return x;
}

static void texts(void)
{
    static const struct {
        const char *value, *want, *what;
    } rows[] = {
        {"plain", "k=plain", "a word"},
        {"MB/s", "k=MB/s", "a unit"},
        {"0-3,8", "k=0-3,8", "a CPU list"},
        {"n001:n002", "k=n001:n002", "a pair"},
        {"", "k=\"\"", "nothing"},
        {"two words", "k=\"two words\"", "a blank"},
        {"say \"no\"", "k=\"say \\\"no\\\"\"", "quotes"},
        {"back\\slash", "k=\"back\\\\slash\"", "a backslash"},
        {"-DX=1", "k=\"-DX=1\"", "an equals sign"},
        {"a\nb\tc\rd", "k=\"a\\nb\\tc\\rd\"", "line feed, tab, return"},
        {"\x01\x1b[31m\x7f", "k=\"\\x01\\x1b[31m\\x7f\"", "control"},
        {"caf\xc3\xa9", "k=\"caf\xc3\xa9\"", "UTF-8"},
        {"\xe2\x95\x94\xf0\x9f\x98\x80", "k=\"\xe2\x95\x94\xf0\x9f\x98\x80\"",
         "UTF-8 of three and four bytes"},
        {"caf\xe9", "k=\"caf\\xe9\"", "Latin-1"},
        {"\xc2\x85", "k=\"\\xc2\\x85\"", "a C1 control character"},
        {"\xc0\xaf", "k=\"\\xc0\\xaf\"", "an overlong form"},
        {"\xe0\x80\xaf", "k=\"\\xe0\\x80\\xaf\"", "another"},
        {"\xed\xa0\x80", "k=\"\\xed\\xa0\\x80\"", "a surrogate"},
        {"\xf4\x90\x80\x80", "k=\"\\xf4\\x90\\x80\\x80\"", "U+110000"},
        {"\xf8\x88\x80\x80\x80", "k=\"\\xf8\\x88\\x80\\x80\\x80\"",
         "a five-byte form"},
        {"\xe2\x95", "k=\"\\xe2\\x95\"", "a character cut short"},
        {"\x80", "k=\"\\x80\"", "a stray continuation"},
        {"#", "k=\"#\"", "a hash"},
        {"'", "k=\"'\"", "an apostrophe"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct assay_fields f = {0};

        assay_fields_text(&f, "k", rows[i].value);
        is_text(f.text, rows[i].want, "%s", rows[i].what);
        assay_fields_free(&f);
    }
}

static void numbers(void)
{
    static const double values[] = {1.5, -2, 1e-300};
    struct assay_fields f = {0};

    assay_fields_count(&f, "zero", 0);
    assay_fields_count(&f, "all", UINT64_MAX);
    assay_fields_real(&f, "x", 0.1);
    assay_fields_reals(&f, "list", values, 3);
    assay_fields_real(&f, "least", from_bits(1));
    is_text(f.text,
            "zero=0 all=18446744073709551615 x=0.1 list=1.5,-2,1e-300 "
            "least=4.94065645841247e-324",
            "counts and reals");
    is_count((uint64_t)f.error, 0, "no error");
    is_count(f.length, strlen(f.text), "length");
    assay_fields_free(&f);
    ok(f.text == NULL && f.length == 0 && f.error == 0, "freed is empty");
    assay_fields_free(&f);
}

static void sticky(struct assay_fields *f, int error, const char *what)
{
    ok(f->error == error, "%s: %s", what, strerror(error));
    assay_fields_text(f, "later", "x");
    ok(f->error == error && !(f->text && strstr(f->text, "later")),
       "and stays so");
    assay_fields_free(f);
}

static void faults(void)
{
    static const char *const bad_keys[] = {"",     "1k",  "a b", "a=b",
                                           "a\"b", "a\n", "-a",  "caf\xc3\xa9"};
    static const uint64_t none[] = {0x7ff8000000000000, 0x7ff0000000000000,
                                    0xfff0000000000000, 0x7ff0000000000001};
    struct assay_fields f = {0}, g = {0};
    double x;

    for (size_t i = 0; i < sizeof(bad_keys) / sizeof(bad_keys[0]); i++) {
        assay_fields_text(&f, bad_keys[i], "x");
        sticky(&f, EINVAL, "no key");
    }
    assay_fields_text(&f, NULL, "x");
    sticky(&f, EINVAL, "NULL key");
    assay_fields_text(&f, "k", NULL);
    sticky(&f, EINVAL, "NULL value");
    assay_fields_reals(&f, "k", NULL, 0);
    sticky(&f, EINVAL, "empty list");
    for (size_t i = 0; i < 4; i++) {
        x = from_bits(none[i]);
        assay_fields_reals(&f, "k", &x, 1);
        sticky(&f, EDOM, "not finite");
    }
    assay_fields_text(&f, "k", "1");
    assay_fields_count(&f, "k", 2);
    sticky(&f, EEXIST, "a key twice");
    assay_fields_text(&g, "a b", "x");
    assay_fields_append(&f, &g);
    sticky(&f, EINVAL, "appending what failed");
    assay_fields_free(&g);
}

/* What looks like a key inside a value is none. */
static void have(void)
{
    struct assay_fields f = {0}, g = {0};

    ok(!assay_fields_have(&f, "k"), "nothing has no key");
    assay_fields_text(&f, "reason", "x \\\" host=n1 y=");
    assay_fields_text(&f, "list", "a,b");
    assay_fields_text(&f, "empty", "");
    assay_fields_count(&f, "n", 1);
    ok(assay_fields_have(&f, "reason") && assay_fields_have(&f, "list") &&
           assay_fields_have(&f, "empty") && assay_fields_have(&f, "n"),
       "keys are found");
    ok(!assay_fields_have(&f, "host") && !assay_fields_have(&f, "y"),
       "but not in a value");
    ok(!assay_fields_have(&f, "reaso") && !assay_fields_have(&f, "reasons"),
       "nor by a part");
    assay_fields_text(&f, "host", "n2");
    assay_fields_append(&g, &f);
    assay_fields_append(&g, &(struct assay_fields){0});
    is_text(g.text, f.text, "append copies all fields");
    assay_fields_append(&g, &f);
    is_count((uint64_t)g.error, EEXIST, "but none twice");
    assay_fields_free(&f);
    assay_fields_free(&g);
}

static char *slurp(const char *path, char *buf, size_t size)
{
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(buf, 1, size - 1, f) : 0;

    buf[n] = '\0';
    if (f)
        fclose(f);
    return buf;
}

static void file(const char *path)
{
    struct assay_record *r = assay_record_create(path);
    struct assay_fields f = {0};
    char text[256];

    if (!ok(r != NULL, "a record is created"))
        return;
    ok(fcntl(assay_record_fd(r), F_GETFD) & FD_CLOEXEC, "closed on exec");
    ok(fcntl(assay_record_fd(r), F_GETFL) & O_APPEND, "appended to");
    assay_fields_text(&f, "host", "n1");
    ok(assay_record_append(r, "env", &f) == 0, "a line");
    ok(assay_record_append(r, "bare", NULL) == 0, "a line without fields");
    is_text(slurp(path, text, sizeof(text)), "env host=n1\nbare\n",
            "both are in the file before it is closed");
    ok(assay_record_create(path) == NULL && errno == EEXIST,
       "an existing file is refused");
    ok(assay_record_close(r) == 0, "closed");
    is_text(slurp(path, text, sizeof(text)), "env host=n1\nbare\n",
            "nothing was overwritten");
    assay_fields_free(&f);
    unlink(path);
    ok(symlink("/nonexistent/there", path) == 0 &&
           assay_record_create(path) == NULL && errno == EEXIST,
       "a dangling link is refused");
    unlink(path);
    ok(assay_record_create("/nonexistent/record") == NULL && errno == ENOENT,
       "no such directory: ENOENT");
    ok(assay_record_create("/") == NULL && errno == EEXIST, "a directory");
    ok(assay_record_create("") == NULL && errno == ENOENT, "no name");
}

/* After one failure nothing more is taken, whatever it is. */
static void refuses(struct assay_record *r, int error, const char *what)
{
    struct assay_fields end = {0};

    assay_fields_text(&end, "status", "ok");
    errno = 0;
    ok(assay_record_append(r, "end", &end) < 0 && errno == error,
       "%s: no end line", what);
    errno = 0;
    ok(assay_record_close(r) < 0 && errno == error, "%s: close says so", what);
    assay_fields_free(&end);
}

static void broken(const char *path)
{
    struct assay_fields f = {0};
    struct assay_record *r;
    char text[256];
    double x = from_bits(0x7ff8000000000000);

    r = assay_record_create(path);
    assay_fields_reals(&f, "x", &x, 1);
    ok(assay_record_append(r, "metric", &f) < 0 && errno == EDOM,
       "a number that is not finite: EDOM");
    refuses(r, EDOM, "not finite");
    is_text(slurp(path, text, sizeof(text)), "", "and nothing was written");
    assay_fields_free(&f);
    unlink(path);

    r = assay_record_create(path);
    ok(assay_record_append(r, "two words", NULL) < 0 && errno == EINVAL,
       "a kind of two words: EINVAL");
    refuses(r, EINVAL, "kind");
    unlink(path);
}

static void full(void)
{
    struct assay_record *r = assay_record_create("/dev/full");

    if (!r) {
        skip(3, "no /dev/full");
        return;
    }
    ok(assay_record_append(r, "env", NULL) < 0 && errno == ENOSPC,
       "a full disk: ENOSPC");
    refuses(r, ENOSPC, "full");
}

/* A limit in the middle of a line: the first write is short, the second
 * fails. */
static void limited(const char *path)
{
    struct rlimit old, limit;
    struct assay_fields f = {0};
    struct assay_record *r = assay_record_create(path);
    struct stat st;

    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    limit = old;
    limit.rlim_cur = 1000;
    assay_fields_text(&f, "text",
                      "0123456789012345678901234567890123456789012345678901"
                      "0123456789012345678901234567890123456789012345678");
    setrlimit(RLIMIT_FSIZE, &limit);
    for (int i = 0; i < 9; i++)
        assay_record_append(r, "env", &f);
    ok(assay_record_append(r, "env", &f) < 0 && errno == EFBIG,
       "a file that may not grow: EFBIG");
    setrlimit(RLIMIT_FSIZE, &old);
    refuses(r, EFBIG, "even when it may grow again");
    ok(stat(path, &st) == 0 && st.st_size == 1000, "what was written is there");
    assay_fields_free(&f);
    unlink(path);
}

static void long_lines(const char *path)
{
    size_t most = ASSAY_LINE_MOST;
    char *text = malloc(most + 1);
    struct assay_fields f = {0};
    struct assay_record *r = assay_record_create(path);
    struct stat st;

    if (!text)
        exit(99);
    memset(text, 'x', most);
    text[most - strlen("env k=\n")] = '\0';
    assay_fields_text(&f, "k", text);
    ok(assay_record_append(r, "env", &f) == 0, "a line of 8 MiB");
    ok(stat(path, &st) == 0 && st.st_size == (off_t)most, "is whole");
    assay_fields_free(&f);
    strcat(text, "x");
    assay_fields_text(&f, "k", text);
    ok(assay_record_append(r, "env", &f) < 0 && errno == EMSGSIZE,
       "one byte more: EMSGSIZE");
    refuses(r, EMSGSIZE, "too long");
    assay_fields_free(&f);
    free(text);
    unlink(path);
}

static void pipes(void)
{
    struct assay_record *r;
    char text[64], path[64];
    int fd[2];
    ssize_t n;

    if (pipe(fd) < 0)
        exit(99);
    snprintf(path, sizeof(path), "/dev/fd/%d", fd[1]);
    r = assay_record_create(path);
    ok(r != NULL, "a pipe takes a record");
    if (!r)
        return;
    ok(assay_record_append(r, "env", NULL) == 0, "a line into it");
    n = read(fd[0], text, sizeof(text));
    ok(n == 4 && memcmp(text, "env\n", 4) == 0, "comes out");
    ok(assay_record_close(r) == 0, "closed, though it can't be synchronised");
    close(fd[0]);
    close(fd[1]);
}

int main(void)
{
    char path[] = "record-XXXXXX";
    int fd = mkstemp(path);

    if (fd < 0)
        return 99;
    close(fd);
    unlink(path);
    texts();
    numbers();
    faults();
    have();
    file(path);
    broken(path);
    full();
    limited(path);
    long_lines(path);
    pipes();
    return done_testing();
}
