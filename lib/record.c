/* record.c - the record: logfmt lines, each appended with one write(2). */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/finite.h"
#include "lib/record.h"
#include "lib/units.h"

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_key(const char *key)
{
    if (!key || !is_letter(*key))
        return false;
    while (is_letter(*key) || is_digit(*key) || *key == '.' || *key == '-')
        key++;
    return *key == '\0';
}

/* Room for `more` bytes and a NUL behind the text. */
static bool grow(struct assay_fields *f, size_t more)
{
    size_t need = f->length + more + 1, size = f->size ? f->size : 128;
    char *text;

    if (f->error)
        return false;
    if (need <= f->size)
        return true;
    while (size < need)
        size *= 2;
    text = realloc(f->text, size);
    if (!text) {
        f->error = ENOMEM;
        return false;
    }
    f->text = text;
    f->size = size;
    return true;
}

static void put(struct assay_fields *f, const char *bytes, size_t n)
{
    if (!grow(f, n))
        return;
    memcpy(f->text + f->length, bytes, n);
    f->length += n;
    f->text[f->length] = '\0';
}

/* Behind the value at p, which is bare or quoted. */
static const char *value_end(const char *p)
{
    if (*p != '"')
        return p + strcspn(p, " ");
    for (p++; *p && *p != '"'; p++)
        p += *p == '\\' && p[1];
    return p + (*p == '"');
}

bool assay_fields_have(const struct assay_fields *f, const char *key)
{
    const char *p = f->text ? f->text : "";
    size_t length = strlen(key);

    while (*p) {
        size_t n = strcspn(p, "=");

        if (n == length && memcmp(p, key, n) == 0)
            return true;
        p = value_end(p + n + (p[n] == '='));
        p += *p == ' ';
    }
    return false;
}

static void put_key(struct assay_fields *f, const char *key)
{
    if (f->error)
        return;
    if (!is_key(key)) {
        f->error = EINVAL;
        return;
    }
    if (assay_fields_have(f, key)) {
        f->error = EEXIST;
        return;
    }
    if (f->length)
        put(f, " ", 1);
    put(f, key, strlen(key));
    put(f, "=", 1);
}

/* Length of the printable UTF-8 character at p, which holds no NUL before its
 * end; 0 for a control character and for what is not UTF-8 (overlong forms,
 * surrogates, beyond U+10FFFF). */
static size_t character(const unsigned char *p)
{
    static const uint32_t least[] = {0, 0, 0xa0, 0x800, 0x10000};
    size_t n = *p < 0x80 ? 1 : *p >> 5 == 6 ? 2 : *p >> 4 == 14 ? 3 : 4;
    uint32_t code = n == 1 ? *p : *p & (0xffu >> (n + 1));

    if (n == 1)
        return code >= 0x20 && code != 0x7f;
    if (n == 4 && *p >> 3 != 30)
        return 0;
    for (size_t i = 1; i < n; i++) {
        if (p[i] >> 6 != 2)
            return 0;
        code = code << 6 | (p[i] & 0x3f);
    }
    if (code < least[n] || code > 0x10ffff || (code >> 11) == 0x1b)
        return 0;
    return n;
}

static void put_escaped(struct assay_fields *f, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    char text[4] = {'\\', 'x', hex[c >> 4], hex[c & 15]};

    switch (c) {
    case '\n':
        put(f, "\\n", 2);
        break;
    case '\t':
        put(f, "\\t", 2);
        break;
    case '\r':
        put(f, "\\r", 2);
        break;
    default:
        put(f, text, sizeof(text));
        break;
    }
}

static void put_quoted(struct assay_fields *f, const char *value)
{
    const unsigned char *p = (const unsigned char *)value;

    put(f, "\"", 1);
    while (*p) {
        size_t n = character(p);

        if (*p == '"' || *p == '\\')
            put(f, "\\", 1);
        if (n == 0) {
            put_escaped(f, *p++);
            continue;
        }
        put(f, (const char *)p, n);
        p += n;
    }
    put(f, "\"", 1);
}

static bool is_bare(const char *value)
{
    const char *p = value;

    while (is_letter(*p) || is_digit(*p) || (*p && strchr("+-_.,:/@%", *p)))
        p++;
    return *p == '\0' && p != value;
}

void assay_fields_text(struct assay_fields *f, const char *key,
                       const char *value)
{
    put_key(f, key);
    if (!value && !f->error)
        f->error = EINVAL;
    if (f->error)
        return;
    if (is_bare(value))
        put(f, value, strlen(value));
    else
        put_quoted(f, value);
}

void assay_fields_count(struct assay_fields *f, const char *key, uint64_t value)
{
    char text[24], *p = text + sizeof(text);

    do
        *--p = (char)('0' + value % 10);
    while (value /= 10);
    put_key(f, key);
    put(f, p, (size_t)(text + sizeof(text) - p));
}

static void put_real(struct assay_fields *f, const double *value)
{
    char text[32];

    if (!assay_finite(value)) {
        if (!f->error)
            f->error = EDOM;
        return;
    }
    assay_real_text(*value, text);
    put(f, text, strlen(text));
}

void assay_fields_real(struct assay_fields *f, const char *key, double value)
{
    assay_fields_reals(f, key, &value, 1);
}

void assay_fields_reals(struct assay_fields *f, const char *key,
                        const double *values, size_t n)
{
    put_key(f, key);
    if (n == 0 && !f->error)
        f->error = EINVAL;
    for (size_t i = 0; i < n && !f->error; i++) {
        if (i > 0)
            put(f, ",", 1);
        put_real(f, &values[i]);
    }
}

void assay_fields_append(struct assay_fields *f, const struct assay_fields *g)
{
    const char *p = g->text ? g->text : "";

    if (g->error && !f->error)
        f->error = g->error;
    while (*p && !f->error) {
        const char *value = p + strcspn(p, "=") + 1;
        const char *end = value_end(value);
        char key[256];

        if ((size_t)(value - p) > sizeof(key)) {
            f->error = EINVAL;
            return;
        }
        memcpy(key, p, (size_t)(value - p) - 1);
        key[value - p - 1] = '\0';
        put_key(f, key);
        put(f, value, (size_t)(end - value));
        p = end + (*end == ' ');
    }
}

void assay_fields_free(struct assay_fields *f)
{
    free(f->text);
    *f = (struct assay_fields){0};
}

struct assay_record {
    int fd;
    int error; /* errno of the first failure: no further line after it */
};

/* What is there and no plain file (a terminal, a pipe, /dev/full) holds
 * nothing that could be overwritten. */
static int open_special(const char *path)
{
    struct stat st;

    if (stat(path, &st) < 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) {
        errno = EEXIST;
        return -1;
    }
    return open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY);
}

struct assay_record *assay_record_create(const char *path)
{
    struct assay_record *record = calloc(1, sizeof(*record));
    int error;

    if (!record)
        return NULL;
    record->fd =
        open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (record->fd < 0 && errno == EEXIST)
        record->fd = open_special(path);
    if (record->fd >= 0)
        return record;
    error = errno;
    free(record);
    errno = error;
    return NULL;
}

static int write_all(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t done = write(fd, bytes, n);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            errno = done < 0 ? errno : EIO;
            return -1;
        }
        bytes += done;
        n -= (size_t)done;
    }
    return 0;
}

/* The whole line, allocated; NULL with errno. */
static char *line_make(const char *kind, const struct assay_fields *fields,
                       size_t *length)
{
    size_t head = strlen(kind), body = fields ? fields->length : 0;
    size_t size = head + (body ? 1 : 0) + body + 1;
    char *line;

    if (fields && fields->error) {
        errno = fields->error;
        return NULL;
    }
    if (!is_key(kind) || size > ASSAY_LINE_MOST) {
        errno = is_key(kind) ? EMSGSIZE : EINVAL;
        return NULL;
    }
    line = malloc(size);
    if (!line)
        return NULL;
    memcpy(line, kind, head);
    if (body) {
        line[head] = ' ';
        memcpy(line + head + 1, fields->text, body);
    }
    line[size - 1] = '\n';
    *length = size;
    return line;
}

int assay_record_append(struct assay_record *record, const char *kind,
                        const struct assay_fields *fields)
{
    size_t length = 0;
    char *line;

    if (record->error) {
        errno = record->error;
        return -1;
    }
    line = line_make(kind, fields, &length);
    if (!line || write_all(record->fd, line, length) < 0)
        record->error = errno;
    free(line);
    errno = record->error;
    return record->error ? -1 : 0;
}

int assay_record_fd(const struct assay_record *record)
{
    return record->fd;
}

int assay_record_close(struct assay_record *record)
{
    int error = record->error;

    /* A pipe or terminal can't be synchronised, and need not be. */
    if (fsync(record->fd) < 0 && errno != EINVAL && errno != EROFS && !error)
        error = errno;
    if (close(record->fd) < 0 && !error)
        error = errno;
    free(record);
    errno = error;
    return error ? -1 : 0;
}
