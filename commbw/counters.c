/* counters.c - what the kernel and InfiniBand ports have counted.
 *
 * Interfaces are those of /proc/net/dev: /sys shows those of the namespace
 * that it was mounted in, which need not be ours. */
#include "config.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commbw/counters.h"

enum { WORD = 4 }; /* bytes: what ports count in */

/* A new entry, or NULL where there are too many or the name is too long. */
static struct counter *add(struct counters *c, const char *name)
{
    struct counter *new = &c->counter[c->n];

    if (c->n == COUNTERS || strlen(name) >= COUNTER_NAME)
        return NULL;
    c->n++;
    memset(new, 0, sizeof(*new));
    strcpy(new->name, name);
    strcpy(new->device, name);
    return new;
}

/* The last part of where a link leads to: a card's address. */
static void find_device(struct counter *c, const char *path)
{
    char full[PATH_MAX];
    const char *last;

    if (!realpath(path, full) || !(last = strrchr(full, '/')))
        return;
    if (strlen(last + 1) < sizeof(c->device))
        strcpy(c->device, last + 1);
}

/* An interface made of others has a link "lower_NAME" to each of them. */
static bool has_lower(const char *path)
{
    DIR *dir = opendir(path);
    bool found = false;

    if (!dir)
        return false;
    for (struct dirent *e; !found && (e = readdir(dir));)
        found = strncmp(e->d_name, "lower_", 6) == 0;
    closedir(dir);
    return found;
}

static void read_interfaces(struct counters *c, const char *root)
{
    char line[512], path[PATH_MAX];
    FILE *file;

    snprintf(path, sizeof(path), "%s/proc/net/dev", root);
    file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file)) {
        uint64_t received, sent;
        char *colon = strchr(line, ':'), *name = line + strspn(line, " ");
        struct counter *new;

        if (!colon || sscanf(colon + 1,
                             "%" SCNu64 " %*u %*u %*u %*u %*u %*u %*u %" SCNu64,
                             &received, &sent) != 2)
            continue;
        *colon = '\0';
        new = add(c, name);
        if (!new)
            continue;
        new->received = received;
        new->sent = sent;
        new->loopback = strcmp(name, "lo") == 0;
        snprintf(path, sizeof(path), "%s/sys/class/net/%s", root, name);
        new->stacked = has_lower(path);
        strcat(path, "/device");
        find_device(new, path);
    }
    if (file)
        fclose(file);
}

/* The number in a file; false where there is none. */
static bool number_in(const char *folder, const char *name, uint64_t *value)
{
    char path[PATH_MAX + 32];
    FILE *file;
    bool found;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "r");
    if (!file)
        return false;
    found = fscanf(file, "%" SCNu64, value) == 1;
    fclose(file);
    return found;
}

static void read_port(struct counters *c, const char *device, const char *port,
                      const char *folder)
{
    char name[2 * NAME_MAX + 2], path[PATH_MAX];
    uint64_t received, sent;
    struct counter *new;

    snprintf(path, sizeof(path), "%s/ports/%s/counters", folder, port);
    if (!number_in(path, "port_rcv_data", &received) ||
        !number_in(path, "port_xmit_data", &sent))
        return;
    snprintf(name, sizeof(name), "%s:%s", device, port);
    new = add(c, name);
    if (!new)
        return;
    new->received = received *WORD;
    new->sent = sent *WORD;
    snprintf(path, sizeof(path), "%s/device", folder);
    find_device(new, path);
}

static void read_ports(struct counters *c, const char *root)
{
    char all[PATH_MAX / 4], folder[PATH_MAX / 2], path[PATH_MAX];
    DIR *devices, *ports;

    snprintf(all, sizeof(all), "%s/sys/class/infiniband", root);
    devices = opendir(all);
    for (struct dirent *d; devices && (d = readdir(devices));) {
        if (d->d_name[0] == '.')
            continue;
        snprintf(folder, sizeof(folder), "%s/%s", all, d->d_name);
        snprintf(path, sizeof(path), "%s/ports", folder);
        ports = opendir(path);
        for (struct dirent *p; ports && (p = readdir(ports));)
            if (p->d_name[0] != '.')
                read_port(c, d->d_name, p->d_name, folder);
        if (ports)
            closedir(ports);
    }
    if (devices)
        closedir(devices);
}

static int by_name(const void *a, const void *b)
{
    const struct counter *x = a, *y = b;

    return strcmp(x->name, y->name);
}

void counters_read(struct counters *counters, const char *root)
{
    counters->n = 0;
    read_interfaces(counters, root);
    read_ports(counters, root);
    qsort(counters->counter, counters->n, sizeof(*counters->counter), by_name);
}

static uint64_t less(uint64_t after, uint64_t before)
{
    return after > before ? after - before : 0;
}

void counters_subtract(struct counters *after, const struct counters *before)
{
    for (size_t i = 0; i < after->n; i++) {
        struct counter *c = &after->counter[i];
        const struct counter *b =
            bsearch(c, before->counter, before->n, sizeof(*b), by_name);

        if (!b)
            continue;
        c->received = less(c->received, b->received);
        c->sent = less(c->sent, b->sent);
    }
}

static size_t carriers(const struct counters *moved, uint64_t least,
                       bool stacked, size_t *carrier)
{
    size_t n = 0;

    for (size_t i = 0; i < moved->n; i++) {
        const struct counter *c = &moved->counter[i];
        bool twice = false;

        if (c->sent < least || c->stacked != stacked)
            continue;
        for (size_t k = 0; k < n; k++)
            twice |= strcmp(moved->counter[carrier[k]].device, c->device) == 0;
        if (!twice)
            carrier[n++] = i;
    }
    return n;
}

size_t counters_carriers(const struct counters *moved, uint64_t least,
                         size_t *carrier)
{
    size_t n = carriers(moved, least, false, carrier);

    return n ? n : carriers(moved, least, true, carrier);
}
