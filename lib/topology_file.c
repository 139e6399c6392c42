/* topology_file.c - small files of /proc and /sys, read with bounds. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/topology_backend.h"

enum { TEXT_MAX = 16 << 20 };

/* Read fd to its end or until buf is full: /proc hands out pieces. */
static long read_all(int fd, char *buf, size_t size)
{
    size_t length = 0;

    while (length < size - 1) {
        ssize_t n = read(fd, buf + length, size - 1 - length);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        length += (size_t)n;
    }
    buf[length] = '\0';
    return (long)length;
}

static int open_path(const char *root, const char *path)
{
    char full[PATH_MAX];
    int n = snprintf(full, sizeof(full), "%s%s", root, path);

    if (n < 0 || (size_t)n >= sizeof(full)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

static long read_path(char *buf, size_t size, const char *root,
                      const char *path)
{
    int fd = open_path(root, path);
    int saved;
    long n;

    buf[0] = '\0';
    if (fd < 0)
        return -1;
    n = read_all(fd, buf, size);
    saved = errno;
    close(fd);
    errno = saved;
    return n;
}

static long read_format(char *buf, size_t size, const char *root,
                        const char *format, va_list args)
{
    char path[PATH_MAX];
    int n = vsnprintf(path, sizeof(path), format, args);

    if (n < 0 || (size_t)n >= sizeof(path)) {
        buf[0] = '\0';
        errno = ENAMETOOLONG;
        return -1;
    }
    return read_path(buf, size, root, path);
}

/* Cut text at its first newline and at the blanks before it. */
static long cut_line(char *text)
{
    size_t n = strcspn(text, "\n");

    while (n > 0 && strchr(" \t\r", text[n - 1]))
        n--;
    text[n] = '\0';
    return (long)n;
}

long assay_file_read(char *buf, size_t size, const char *root,
                     const char *format, ...)
{
    va_list args;
    long n;

    va_start(args, format);
    n = read_format(buf, size, root, format, args);
    va_end(args);
    return n;
}

long assay_file_line(char *buf, size_t size, const char *root,
                     const char *format, ...)
{
    va_list args;
    long n;

    va_start(args, format);
    n = read_format(buf, size, root, format, args);
    va_end(args);
    return n < 0 ? -1 : cut_line(buf);
}

/* An unsigned number at the start of text, and where it ends. */
static int leading_count(const char *text, uint64_t *out, char **end)
{
    unsigned long long value;

    if (text[0] < '0' || text[0] > '9')
        return -1;
    errno = 0;
    value = strtoull(text, end, 10);
    if (errno)
        return -1;
    *out = value;
    return 0;
}

int assay_file_count(uint64_t *out, const char *root, const char *format, ...)
{
    char buf[64], *end;
    va_list args;
    long n;

    va_start(args, format);
    n = read_format(buf, sizeof(buf), root, format, args);
    va_end(args);
    return n < 0 ? -1 : leading_count(buf, out, &end);
}

char *assay_file_text(const char *root, const char *path)
{
    char *text = NULL, *bigger;
    size_t size;
    int saved;

    for (size = 64 << 10; size <= TEXT_MAX; size *= 4) {
        long n;

        bigger = realloc(text, size);
        if (!bigger)
            break;
        text = bigger;
        n = read_path(text, size, root, path);
        if (n < 0)
            break;
        if ((size_t)n < size - 1 || size == TEXT_MAX)
            return text;
    }
    saved = errno;
    free(text);
    errno = saved;
    return NULL;
}

/* The text behind "key" or "key:" if the line begins with it, else NULL. */
static const char *behind_key(const char *line, const char *key)
{
    size_t n = strlen(key);

    if (strncmp(line, key, n) != 0)
        return NULL;
    line += n;
    if (*line == ':')
        line++;
    else if (*line != ' ' && *line != '\t')
        return NULL;
    return line + strspn(line, " \t");
}

const char *assay_next_line(const char *text)
{
    const char *end = strchr(text, '\n');

    return end ? end + 1 : NULL;
}

int assay_text_count(const char *text, const char *key, uint64_t *out)
{
    while (text && *text) {
        const char *value = behind_key(text, key);
        char *end;

        if (value) {
            if (leading_count(value, out, &end) != 0)
                return -1;
            if (strncmp(end, " kB", 3) == 0)
                *out = *out > UINT64_MAX / 1024 ? UINT64_MAX : *out * 1024;
            return 0;
        }
        text = assay_next_line(text);
    }
    return -1;
}
