/* nomem.c - preloaded into a program, fails its NOMEM_AT-th allocation: the
 * program's own calls are counted, not those of shared libraries. At the end
 * it says on stderr how many there were. Needs glibc. */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

static unsigned long calls;

static int fails(void *caller)
{
    const char *at = getenv("NOMEM_AT");
    Dl_info program, here;

    if (!dladdr((void *)getauxval(AT_ENTRY), &program) ||
        !dladdr(caller, &here) || program.dli_fbase != here.dli_fbase)
        return 0;
    if (++calls != (at ? strtoul(at, NULL, 10) : 0))
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(p, size);
}

__attribute__((destructor)) static void report(void)
{
    fprintf(stderr, "nomem: %lu calls\n", calls);
}
