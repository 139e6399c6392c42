/* noufd.c - run a program that may not do all that userfaultfd takes.
 *
 * usage: noufd HOW PROGRAM [ARGUMENT...]
 *
 *   forbidden   the call fails with EPERM, as in many a container
 *   missing     with ENOSYS, as in kernels without it
 *   old         with EINVAL if it has the flag UFFD_USER_MODE_ONLY, as before
 *               Linux 5.11
 *   immovable   it works, but moving a page fails with ENOMEM
 */
#include "config.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A system call that fails where an argument is, or has one bit of, so much. */
struct rule {
    const char *name;
    unsigned call, argument, compare, much, number;
};

static const struct rule rules[] = {
    {"forbidden", SYS_userfaultfd, 0, BPF_JGE, 0, EPERM},
    {"missing", SYS_userfaultfd, 0, BPF_JGE, 0, ENOSYS},
    {"old", SYS_userfaultfd, 0, BPF_JSET, 1, EINVAL},
    {"immovable", SYS_ioctl, 1, BPF_JEQ, UFFDIO_COPY, ENOMEM},
};

/* The lower half of an argument, on machines of either byte order. */
static unsigned place_of(unsigned argument)
{
    const uint16_t one = 1;
    bool little = *(const unsigned char *)&one == 1;

    return (unsigned)offsetof(struct seccomp_data, args) + 8 * argument +
           (little ? 0 : 4);
}

static int forbid(const struct rule *rule)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, rule->call, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, place_of(rule->argument)),
        BPF_JUMP(BPF_JMP | rule->compare | BPF_K, rule->much, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | rule->number),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof(filter) / sizeof(*filter),
                                 .filter = filter};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
    const struct rule *rule = rules;
    const struct rule *end = rules + sizeof(rules) / sizeof(*rules);

    while (argc > 2 && rule < end && strcmp(argv[1], rule->name) != 0)
        rule++;
    if (argc <= 2 || rule == end)
        return 2;
    if (forbid(rule) < 0) {
        perror("noufd: seccomp");
        return 126;
    }
    execv(argv[2], argv + 2);
    perror(argv[2]);
    return 127;
}
