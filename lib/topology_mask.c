/* topology_mask.c - which CPUs and NUMA nodes the kernel grants. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/affinity.h"
#include "lib/topology_backend.h"

#define NOT_SANITIZED                                                          \
    __attribute__((no_sanitize("address", "undefined", "thread")))

/* A mutable global: the mask that this process was started with, written once,
 * before main. GNU libgomp binds the main thread
 * in its constructor when OMP_PROC_BIND is set, so any later look would find
 * one CPU. Functions in .preinit_array run before every constructor. */
static struct assay_mask start_mask;
static long start_bytes; /* of start_mask that the kernel filled; 0: not yet */

/* May run before a sanitizer is up: the kernel, and nothing else, is called. */
NOT_SANITIZED static void take_start_mask(void)
{
    if (start_bytes == 0)
        start_bytes =
            syscall(SYS_sched_getaffinity, 0, sizeof(start_mask), &start_mask);
}

/* Where the C library ignores .preinit_array, the program's own constructor
 * comes next. */
NOT_SANITIZED __attribute__((constructor(101))) static void construct(void)
{
    take_start_mask();
}

typedef void preinit(void);
__attribute__((section(".preinit_array"),
               used)) static preinit *const before_all = take_start_mask;

const struct assay_mask *assay_start_mask(void)
{
    take_start_mask();
    return start_bytes > 0 ? &start_mask : NULL;
}

bool assay_mask_has(const struct assay_mask *m, unsigned i)
{
    if (i >= ASSAY_MASK_BITS)
        return false;
    return m->word[i / ASSAY_WORD_BITS] >> i % ASSAY_WORD_BITS & 1;
}

void assay_mask_add(struct assay_mask *m, unsigned i)
{
    if (i < ASSAY_MASK_BITS)
        m->word[i / ASSAY_WORD_BITS] |= 1ul << i % ASSAY_WORD_BITS;
}

/* "3" or "3-7" at *text, which moves behind it. Returns 0 or -1. */
static int parse_range(const char **text, unsigned long *low,
                       unsigned long *high)
{
    char *end;

    if (**text < '0' || **text > '9')
        return -1;
    *low = *high = strtoul(*text, &end, 10);
    if (*end == '-') {
        if (end[1] < '0' || end[1] > '9')
            return -1;
        *high = strtoul(end + 1, &end, 10);
    }
    *text = end;
    return *low <= *high && *high < ASSAY_MASK_BITS ? 0 : -1;
}

int assay_mask_parse(struct assay_mask *m, const char *text)
{
    unsigned long low, high;

    memset(m, 0, sizeof(*m));
    while (*text && *text != '\n') {
        if (parse_range(&text, &low, &high) != 0)
            return -1;
        for (; low <= high; low++)
            assay_mask_add(m, (unsigned)low);
        if (*text == ',')
            text++;
        else if (*text && *text != '\n')
            return -1;
    }
    return 0;
}

/* From linux/mempolicy.h, which not every system has. */
enum {
    POLICY_BIND = 2,
    POLICY_WORDS = 7,
    POLICY_FLAGS = 7 << 13, /* MPOL_F_STATIC_NODES and the like */
    MEMS_ALLOWED = 1 << 2,  /* MPOL_F_MEMS_ALLOWED */
    NODES = 4096,           /* more than any kernel's MAX_NUMNODES */
};

static int get_policy(int *mode, struct assay_mask *nodes, unsigned long flags)
{
    memset(nodes, 0, sizeof(*nodes));
    return (int)syscall(SYS_get_mempolicy, mode, nodes->word,
                        (unsigned long)NODES, NULL, flags);
}

/* Where a container forbids get_mempolicy, the cpuset can still be read. */
static int status_nodes(struct assay_mask *nodes)
{
    char *text = assay_file_text("", "/proc/self/status");
    const char *line = text ? strstr(text, "\nMems_allowed_list:") : NULL;
    int rc = -1;

    if (line) {
        line = strchr(line, ':') + 1;
        rc = assay_mask_parse(nodes, line + strspn(line, " \t"));
    }
    free(text);
    return rc;
}

int assay_policy_nodes(struct assay_mask *nodes)
{
    struct assay_mask bound;
    int mode = 0;

    if (get_policy(NULL, nodes, MEMS_ALLOWED) != 0)
        return status_nodes(nodes);
    if (get_policy(&mode, &bound, 0) != 0)
        return 0;
    if ((mode & ~POLICY_FLAGS) == POLICY_BIND)
        for (unsigned w = 0; w < NODES / ASSAY_WORD_BITS; w++)
            nodes->word[w] &= bound.word[w];
    return 0;
}

/* ":0-1" of a set, or "" for the empty one. */
static void nodes_text(const struct assay_mask *nodes, char *buf, size_t size)
{
    int list[NODES];
    size_t n = 0;
    char *text;

    for (unsigned i = 0; i < NODES; i++)
        if (assay_mask_has(nodes, i))
            list[n++] = (int)i;
    text = n ? assay_cpu_list(list, n) : NULL;
    snprintf(buf, size, "%s%s", text ? ":" : "", text ? text : "");
    free(text);
}

char *assay_policy_text(char *buf, size_t size)
{
    static const char *const words[POLICY_WORDS] = {
        "default",        "preferred",          "bind", "interleave", "local",
        "preferred_many", "weighted_interleave"};
    struct assay_mask nodes;
    char list[128];
    int mode = 0;

    if (get_policy(&mode, &nodes, 0) != 0) {
        snprintf(buf, size, "unknown (%s)", strerror(errno));
        return buf;
    }
    mode &= ~POLICY_FLAGS;
    nodes_text(&nodes, list, sizeof(list));
    snprintf(buf, size, "%s%s",
             mode >= 0 && mode < POLICY_WORDS ? words[mode] : "unknown kind",
             list);
    return buf;
}
