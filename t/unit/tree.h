/* tree.h - a small tree of files, such as /proc and /sys, to read from. */
#ifndef ASSAY_TREE_H
#define ASSAY_TREE_H

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A new empty folder, readable by all, whose name goes to root (PATH_MAX). */
__attribute__((unused)) static char *tree_new(char *root)
{
    const char *tmp = getenv("TMPDIR");

    snprintf(root, PATH_MAX, "%s/assay-tree-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(root) || chmod(root, 0755) != 0) {
        perror(root);
        exit(99);
    }
    return root;
}

/* Write root + path, making the folders that it lies in. */
__attribute__((unused)) static void
tree_bytes(const char *root, const char *path, const void *bytes, size_t n)
{
    char full[2 * PATH_MAX];
    FILE *f;

    snprintf(full, sizeof(full), "%s%s", root, path);
    for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')); *p++ = '/') {
        *p = '\0';
        if (mkdir(full, 0755) != 0 && errno != EEXIST)
            break;
    }
    f = fopen(full, "w");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0) {
        perror(full);
        exit(99);
    }
}

__attribute__((unused)) static void tree_put(const char *root, const char *path,
                                             const char *text)
{
    tree_bytes(root, path, text, strlen(text));
}

static int tree_remove(const char *path, const struct stat *s, int type,
                       struct FTW *where)
{
    (void)s;
    (void)type;
    (void)where;
    return remove(path);
}

__attribute__((unused)) static void tree_free(const char *root)
{
    nftw(root, tree_remove, 16, FTW_DEPTH | FTW_PHYS);
}

/* Path of a recorded machine's file; ASSAY_SRCDIR says where the source is. */
__attribute__((unused)) static char *machine_path(const char *name,
                                                  const char *file, char *buf)
{
    const char *source = getenv("ASSAY_SRCDIR");

    snprintf(buf, PATH_MAX, "%s/t/data/machines/%s%s", source ? source : ".",
             name, file);
    return buf;
}

#endif
