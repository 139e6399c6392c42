/* topology_cgroup.c - the control groups that rule this process.
 *
 * /proc/self/cgroup says which group, /proc/self/mountinfo where that group's
 * tree is mounted, and which part of it. Limits of outer groups bind too, so
 * every walk goes from the own group to the top of the mount. */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/topology_backend.h"

struct mount {
    char part[PATH_MAX];  /* of the hierarchy: mountinfo's root */
    char point[PATH_MAX]; /* where it is mounted */
    unsigned version;
};

/* mountinfo writes blanks and backslashes of paths as \040. */
static void unescape(char *s)
{
    char *out = s;

    for (; *s; out++) {
        if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' &&
            s[2] <= '7' && s[3] >= '0' && s[3] <= '7') {
            *out = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
            s += 4;
        } else {
            *out = *s++;
        }
    }
    *out = '\0';
}

/* Whether word stands in a list that commas separate. */
static bool has_word(const char *list, const char *word)
{
    size_t n = strlen(word);

    while (*list && *list != '\n') {
        size_t m = strcspn(list, ",\n");

        if (m == n && strncmp(list, word, n) == 0)
            return true;
        list += m + (list[m] == ',');
    }
    return false;
}

#define TEXT(x) #x
#define WIDTH(x) TEXT(x)
#define PATH_WIDTH 4095 /* PATH_MAX - 1, as a literal for sscanf */

/* Whether this line of mountinfo mounts the controller, or v2 (which has no
 * controller of its own here). */
static bool parse_mount(const char *line, const char *controller,
                        struct mount *m)
{
    char type[32], options[512];
    const char *tail = strstr(line, " - ");
    const char *end = strchr(line, '\n');

    if (!tail || (end && tail > end))
        return false;
    if (sscanf(line,
               "%*s %*s %*s %" WIDTH(PATH_WIDTH) "s %" WIDTH(PATH_WIDTH) "s",
               m->part, m->point) != 2 ||
        sscanf(tail, " - %31s %*s %511s", type, options) != 2)
        return false;
    unescape(m->part);
    unescape(m->point);
    m->version = strcmp(type, "cgroup2") == 0 ? 2 : 1;
    return m->version == 2 ||
           (strcmp(type, "cgroup") == 0 && has_word(options, controller));
}

/* Whether a line "4:cpu,cpuacct:/path" of /proc/self/cgroup speaks of the
 * hierarchy of this mount: v1's has the controller in its second field, v2's
 * is "0::/path". *path is then where the path begins. */
static bool parse_group(const char *line, const struct mount *m,
                        const char *controller, const char **path)
{
    char names[256];
    int end = 0;

    if (m->version == 2) {
        *path = line + 3;
        return strncmp(line, "0::/", 4) == 0;
    }
    if (sscanf(line, "%*[0-9]:%255[^:\n]:%n", names, &end) != 1 || end == 0)
        return false;
    *path = line + end;
    return has_word(names, controller);
}

/* Path of the own group in the hierarchy. Returns 0 or -1. */
static int own_group(const char *groups, const struct mount *m,
                     const char *controller, char *path, size_t size)
{
    const char *found;

    for (; groups && *groups; groups = assay_next_line(groups)) {
        if (!parse_group(groups, m, controller, &found))
            continue;
        snprintf(path, size, "%.*s", (int)strcspn(found, "\n"), found);
        return 0;
    }
    return -1;
}

/* The group's folder below the mount point: what is left of its path behind
 * the part that is mounted, or nothing where it lies outside (a container
 * that sees the host's path, or ".."). */
static const char *below(const struct mount *m, const char *path)
{
    size_t n = strlen(m->part);

    while (n > 0 && m->part[n - 1] == '/')
        n--;
    if (strncmp(path, m->part, n) != 0 || (path[n] && path[n] != '/'))
        return "";
    if (strstr(path, "/.."))
        return "";
    return path + n;
}

static void walk_up(const char *root, const struct mount *m, const char *path,
                    assay_cgroup_visit *visit, void *arg)
{
    char dir[2 * PATH_MAX];
    size_t top = strlen(m->point), n;

    n = (size_t)snprintf(dir, sizeof(dir), "%s%s", m->point, below(m, path));
    while (n > top) {
        while (n > top && dir[n - 1] == '/')
            dir[--n] = '\0';
        if (n == top)
            break;
        visit(root, dir, m->version, arg);
        while (n > top && dir[n - 1] != '/')
            dir[--n] = '\0';
    }
    dir[top] = '\0';
    visit(root, dir, m->version, arg);
}

/* Whether there was no memory for the text that is not there. */
static bool starved(const char *text)
{
    return !text && errno == ENOMEM;
}

int assay_cgroup_walk(const char *root, const char *controller,
                      assay_cgroup_visit *visit, void *arg)
{
    char *groups = assay_file_text(root, "/proc/self/cgroup");
    bool failed = starved(groups);
    char *mounts = assay_file_text(root, "/proc/self/mountinfo");
    struct mount *m = malloc(sizeof(*m));
    char path[PATH_MAX];

    failed |= starved(mounts) || !m;

    for (const char *line = mounts; m && line && *line;) {
        if (parse_mount(line, controller, m) &&
            own_group(groups, m, controller, path, sizeof(path)) == 0)
            walk_up(root, m, path, visit, arg);
        line = assay_next_line(line);
    }
    free(m);
    free(mounts);
    free(groups);
    return failed ? -1 : 0;
}

/* v2: "150000 100000" or "max 100000"; v1: two files, -1 for none. */
static double group_quota(const char *root, const char *dir, unsigned version)
{
    char text[64];
    double quota = 0, period = 0;

    if (version == 2) {
        if (assay_file_line(text, sizeof(text), root, "%s/cpu.max", dir) < 0 ||
            sscanf(text, "%lf %lf", &quota, &period) != 2)
            return 0;
    } else {
        if (assay_file_line(text, sizeof(text), root, "%s/cpu.cfs_quota_us",
                            dir) < 0 ||
            sscanf(text, "%lf", &quota) != 1 ||
            assay_file_line(text, sizeof(text), root, "%s/cpu.cfs_period_us",
                            dir) < 0 ||
            sscanf(text, "%lf", &period) != 1)
            return 0;
    }
    return quota > 0 && period > 0 ? quota / period : 0;
}

static void visit_quota(const char *root, const char *dir, unsigned version,
                        void *arg)
{
    double *tightest = arg;
    double quota = group_quota(root, dir, version);

    if (quota > 0 && (*tightest <= 0 || quota < *tightest))
        *tightest = quota;
}

double assay_cgroup_quota(const char *root)
{
    double quota = 0;

    if (assay_cgroup_walk(root, "cpu", visit_quota, &quota) != 0)
        return -1;
    return quota;
}

/* The number behind a name in cpu.stat, or -1. */
static double stat_of(const char *root, const char *dir, const char *name)
{
    char path[2 * PATH_MAX];
    size_t length = strlen(name);
    double value = -1;
    char *text;

    snprintf(path, sizeof(path), "%s/cpu.stat", dir);
    text = assay_file_text(root, path);
    for (const char *line = text; line && *line; line = assay_next_line(line))
        if (strncmp(line, name, length) == 0 &&
            sscanf(line + length, " %lf", &value) == 1)
            break;
    free(text);
    return value;
}

static void visit_throttled(const char *root, const char *dir, unsigned version,
                            void *arg)
{
    double *most = arg;
    double units =
        stat_of(root, dir, version == 2 ? "throttled_usec" : "throttled_time");
    double seconds = units * (version == 2 ? 1e-6 : 1e-9);

    if (units >= 0 && seconds > *most)
        *most = seconds;
}

double assay_cgroup_throttled(const char *root)
{
    double seconds = -1;

    if (assay_cgroup_walk(root, "cpu", visit_throttled, &seconds) != 0)
        return -1;
    return seconds;
}
