/* gpu_host.c - a stand-in for a GPU: host emulation by userfaultfd.
 *
 * Managed memory has two views: that of the program, and the device's. A page
 * is in one of them alone. Who touches it in the other faults, and a thread
 * brings its whole chunk: copies it there and drops it here. That is what a
 * GPU's driver does, at the speed of a page fault of this kernel; no figure of
 * it says anything of a GPU.
 *
 * Host and device must not touch one chunk at the same time: what is written
 * during a move may be lost. manmem has them take turns. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manmem/gpu.h"

#ifdef HAVE_LINUX_USERFAULTFD_H

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

enum { AT_HOST, AT_DEVICE };

/* One allocation. Device memory has one view, and no chunks. */
struct region {
    struct region *next;
    size_t bytes;  /* whole chunks */
    char *view[2]; /* by place; those of device memory are one */
    bool managed;
    bool armed;           /* faults are handled: no page is anywhere else */
    unsigned char *place; /* of each chunk */
};

struct gpu {
    size_t chunk;
    int uffd, stop;
    pthread_t handler;
    pthread_mutex_t lock; /* of all that follows */
    struct region *regions;
    int error; /* of a move that failed; its page was made zero */
    uint64_t faults, moved;
};

static int fail(struct gpu_error *error, enum gpu_status status,
                const char *call, int number)
{
    snprintf(error->text, sizeof(error->text), "%s: %s", call,
             strerror(number));
    return (int)status;
}

/* The same of userfaultfd(2), which may be missing for more than one reason. */
static int no_uffd(struct gpu_error *error, int number)
{
    snprintf(error->text, sizeof(error->text), "userfaultfd: %s%s",
             strerror(number),
             number == EPERM ? " (forbidden here, as in many a container; or a "
                               "kernel before 5.11 that wants root, or "
                               "vm.unprivileged_userfaultfd=1)"
             : number == ENOSYS ? " (not in this kernel, or forbidden here)"
                                : "");
    return GPU_NONE;
}

/* Only faults of user mode: that is allowed to everybody. Kernels before 5.11
 * know no such flag. */
static int uffd_open(void)
{
    int flags = O_CLOEXEC | O_NONBLOCK;
    long fd = syscall(SYS_userfaultfd, flags | UFFD_USER_MODE_ONLY);
    struct uffdio_api api = {.api = UFFD_API};
    int number;

    if (fd < 0 && errno == EINVAL)
        fd = syscall(SYS_userfaultfd, flags);
    if (fd < 0 || ioctl((int)fd, UFFDIO_API, &api) == 0)
        return (int)fd;
    number = errno;
    close((int)fd);
    errno = number;
    return -1;
}

static int host_count(int *n, const struct gpu_setup *setup,
                      struct gpu_error *error)
{
    int fd = uffd_open();

    *n = 0;
    if (fd < 0)
        return no_uffd(error, errno);
    close(fd);
    *n = (int)setup->devices;
    return GPU_OK;
}

/*
 * Moving.
 */

/* Copy a chunk to where it is missing, and wake nobody yet. A page that is there
 * already is an error: nothing moves pages but this. */
static int chunk_copy(const struct gpu *gpu, char *to, const char *from)
{
    struct uffdio_copy copy = {0};
    size_t done = 0;

    while (done < gpu->chunk) {
        copy.dst = (uintptr_t)to + done;
        copy.src = (uintptr_t)from + done;
        copy.len = gpu->chunk - done;
        copy.mode = UFFDIO_COPY_MODE_DONTWAKE;
        copy.copy = 0;
        if (ioctl(gpu->uffd, UFFDIO_COPY, &copy) == 0)
            return 0;
        if (errno != EAGAIN)
            return -1;
        if (copy.copy > 0)
            done += (size_t)copy.copy;
    }
    return 0;
}

/* Let who waits for a page go on with one of zeros, and remember why. Page by
 * page: some of a chunk may have come. */
static void give_up(struct gpu *gpu, char *at, int number)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    gpu->error = number;
    for (size_t i = 0; i < gpu->chunk; i += page) {
        struct uffdio_zeropage zero = {
            .range = {.start = (uintptr_t)at + i, .len = page}};

        if (ioctl(gpu->uffd, UFFDIO_ZEROPAGE, &zero) < 0)
            ioctl(gpu->uffd, UFFDIO_WAKE, &zero.range);
    }
}

/* Bring chunk i to a place, and wake who waits for it when all is done: it may
 * touch the other view next. Under the lock. */
static void chunk_bring(struct gpu *gpu, struct region *r, size_t i, int place)
{
    char *to = r->view[place] + i * gpu->chunk;
    char *from = r->view[!place] + i * gpu->chunk;
    struct uffdio_range range = {.start = (uintptr_t)to, .len = gpu->chunk};

    if (r->place[i] != place) {
        if (chunk_copy(gpu, to, from) < 0 ||
            madvise(from, gpu->chunk, MADV_DONTNEED) < 0) {
            give_up(gpu, to, errno);
            return;
        }
        r->place[i] = (unsigned char)place;
        gpu->moved += gpu->chunk;
    }
    ioctl(gpu->uffd, UFFDIO_WAKE, &range);
}

/* The region that an address of either view lies in, and the view; or NULL. */
static struct region *region_of(const struct gpu *gpu, const char *at,
                                int *place)
{
    for (struct region *r = gpu->regions; r; r = r->next)
        for (int i = AT_HOST; i <= AT_DEVICE; i++)
            if (at >= r->view[i] && at < r->view[i] + r->bytes) {
                *place = i;
                return r;
            }
    return NULL;
}

/* A second fault at a chunk that has come moves nothing, and does not count. */
static void on_fault(struct gpu *gpu, char *at)
{
    struct region *r;
    int place = AT_HOST;

    pthread_mutex_lock(&gpu->lock);
    r = region_of(gpu, at, &place);
    if (r) {
        size_t i = (size_t)(at - r->view[place]) / gpu->chunk;

        gpu->faults += r->place[i] != place;
        chunk_bring(gpu, r, i, place);
    }
    pthread_mutex_unlock(&gpu->lock);
}

static void *handle(void *argument)
{
    struct gpu *gpu = argument;
    struct pollfd wait[] = {{.fd = gpu->uffd, .events = POLLIN},
                            {.fd = gpu->stop, .events = POLLIN}};
    struct uffd_msg message;

    for (;;) {
        if (poll(wait, 2, -1) < 0 && errno != EINTR)
            return NULL;
        if (wait[1].revents)
            return NULL;
        while (read(gpu->uffd, &message, sizeof(message)) ==
               (ssize_t)sizeof(message))
            if (message.event == UFFD_EVENT_PAGEFAULT)
                on_fault(gpu, (char *)(uintptr_t)message.arg.pagefault.address);
    }
}

/*
 * Devices.
 */
static void gpu_free(struct gpu *gpu)
{
    if (gpu->uffd >= 0)
        close(gpu->uffd);
    if (gpu->stop >= 0)
        close(gpu->stop);
    pthread_mutex_destroy(&gpu->lock);
    free(gpu);
}

/* Signals are for the threads that the program knows. */
static int handler_start(struct gpu *gpu)
{
    sigset_t all, before;
    int number;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    number = pthread_create(&gpu->handler, NULL, handle, gpu);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return number;
}

static int host_open(struct gpu **gpu, int index, const struct gpu_setup *setup,
                     struct gpu_error *error)
{
    struct gpu *made = calloc(1, sizeof(*made));
    int number;

    (void)index;
    if (!made)
        return fail(error, GPU_FAILED, "calloc", ENOMEM);
    pthread_mutex_init(&made->lock, NULL);
    made->chunk = (size_t)setup->chunk;
    made->uffd = uffd_open();
    number = errno;
    made->stop = eventfd(0, EFD_CLOEXEC);
    if (made->uffd < 0 || made->stop < 0) {
        bool none = made->uffd < 0;

        number = none ? number : errno;
        gpu_free(made);
        return none ? no_uffd(error, number)
                    : fail(error, GPU_FAILED, "eventfd", number);
    }
    number = handler_start(made);
    if (number) {
        gpu_free(made);
        return fail(error, GPU_FAILED, "pthread_create", number);
    }
    *gpu = made;
    return GPU_OK;
}

static void region_free(struct region *r)
{
    for (int i = AT_HOST; i <= AT_DEVICE; i++)
        if (r->view[i] && (i == AT_HOST || r->managed))
            munmap(r->view[i], r->bytes);
    free(r->place);
    free(r);
}

static void host_close(struct gpu *gpu)
{
    uint64_t one = 1;

    if (!gpu)
        return;
    if (write(gpu->stop, &one, sizeof(one)) == (ssize_t)sizeof(one))
        pthread_join(gpu->handler, NULL);
    while (gpu->regions) {
        struct region *r = gpu->regions;

        gpu->regions = r->next;
        region_free(r);
    }
    gpu_free(gpu);
}

static int host_facts(struct gpu *gpu, struct gpu_facts *facts,
                      struct gpu_error *error)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

    (void)gpu;
    (void)error;
    *facts = (struct gpu_facts){.name = "none: host emulation",
                                .arch = "userfaultfd",
                                .bus = "none",
                                .runtime = "none",
                                .xnack = GPU_XNACK_NONE,
                                .threads = UINT32_MAX,
                                .managed = 1,
                                .concurrent = 0,
                                .pageable = 0,
                                .host_tables = 0,
                                .integrated = 1};
    if (pages > 0 && page > 0)
        facts->memory = facts->free = (uint64_t)pages * (uint64_t)page;
    return GPU_OK;
}

/*
 * Memory.
 */

/* Address space aligned to a chunk, in small pages; NULL with errno. */
static char *map(size_t bytes, size_t chunk)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    size_t before;
    char *p;

    if (bytes > SIZE_MAX - chunk) {
        errno = ENOMEM;
        return NULL;
    }
    p = mmap(NULL, bytes + chunk, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    before = (chunk - (uintptr_t)p % chunk) % chunk;
    if (before > 0)
        munmap(p, before);
    if (chunk - before > 0)
        munmap(p + before + bytes, chunk - before);
    madvise(p + before, bytes, MADV_NOHUGEPAGE);
    return p + before;
}

static int host_allocate(struct gpu *gpu, enum gpu_memory kind, size_t bytes,
                         void **p, struct gpu_error *error)
{
    struct region *r = calloc(1, sizeof(*r));
    size_t chunks = bytes / gpu->chunk + (bytes % gpu->chunk != 0);

    if (!r)
        return fail(error, GPU_FAILED, "calloc", ENOMEM);
    r->managed = kind == GPU_MANAGED;
    r->bytes = chunks * gpu->chunk;
    r->place = calloc(chunks, 1);
    r->view[AT_HOST] = map(r->bytes, gpu->chunk);
    r->view[AT_DEVICE] =
        r->managed ? map(r->bytes, gpu->chunk) : r->view[AT_HOST];
    if (!r->place || !r->view[AT_HOST] || !r->view[AT_DEVICE]) {
        region_free(r);
        return fail(error, GPU_FAILED, "mmap", ENOMEM);
    }
    *p = r->view[AT_HOST];
    pthread_mutex_lock(&gpu->lock);
    r->next = gpu->regions;
    gpu->regions = r;
    pthread_mutex_unlock(&gpu->lock);
    return GPU_OK;
}

static int host_release(struct gpu *gpu, void *p, struct gpu_error *error)
{
    struct region **link = &gpu->regions, *r;

    pthread_mutex_lock(&gpu->lock);
    while (*link && (*link)->view[AT_HOST] != p)
        link = &(*link)->next;
    r = *link;
    if (r)
        *link = r->next;
    pthread_mutex_unlock(&gpu->lock);
    if (!r)
        return fail(error, GPU_FAILED, "release", EINVAL);
    region_free(r);
    return GPU_OK;
}

static int host_advise(struct gpu *gpu, void *p, size_t bytes,
                       enum gpu_advice how, struct gpu_error *error)
{
    (void)gpu;
    (void)p;
    (void)bytes;
    if (how == GPU_ADVISE_NONE)
        return GPU_OK;
    snprintf(error->text, sizeof(error->text),
             "advise: host emulation takes no advice");
    return GPU_UNABLE;
}

/* From the device's first touch on, faults are ours. What the program has not
 * touched is touched here: a page that is nowhere could not be copied. */
static int arm(struct gpu *gpu, struct region *r, struct gpu_error *error)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    if (r->armed)
        return GPU_OK;
    for (size_t at = 0; at < r->bytes; at += page) {
        volatile char *c = r->view[AT_HOST] + at;

        *c = *c; /* reading alone would map the page of zeros */
    }
    for (int i = AT_HOST; i <= AT_DEVICE; i++) {
        struct uffdio_register wanted = {
            .range = {.start = (uintptr_t)r->view[i], .len = r->bytes},
            .mode = UFFDIO_REGISTER_MODE_MISSING};

        if (ioctl(gpu->uffd, UFFDIO_REGISTER, &wanted) < 0)
            return fail(error, GPU_FAILED, "UFFDIO_REGISTER", errno);
    }
    r->armed = true;
    return GPU_OK;
}

/* Whether a move failed since it was last asked. */
static int moves(struct gpu *gpu, struct gpu_error *error)
{
    int number;

    pthread_mutex_lock(&gpu->lock);
    number = gpu->error;
    gpu->error = 0;
    pthread_mutex_unlock(&gpu->lock);
    return number ? fail(error, GPU_FAILED, "UFFDIO_COPY", number) : GPU_OK;
}

static int host_prefetch(struct gpu *gpu, void *p, size_t bytes,
                         enum gpu_place where, struct gpu_error *error)
{
    int place, target = where == GPU_TO_HOST ? AT_HOST : AT_DEVICE;
    struct region *r = region_of(gpu, p, &place);

    if (!r || !r->managed || bytes > r->bytes)
        return fail(error, GPU_FAILED, "prefetch", EINVAL);
    if (arm(gpu, r, error) != GPU_OK)
        return GPU_FAILED;
    pthread_mutex_lock(&gpu->lock);
    for (size_t i = 0; i * gpu->chunk < bytes; i++)
        if (r->place[i] != target)
            chunk_bring(gpu, r, i, target);
    pthread_mutex_unlock(&gpu->lock);
    return moves(gpu, error);
}

static int host_copy(struct gpu *gpu, void *to, const void *from, size_t bytes,
                     enum gpu_place where, struct gpu_error *error)
{
    (void)gpu;
    (void)where;
    (void)error;
    memcpy(to, from, bytes);
    return GPU_OK;
}

/*
 * The kernel. Sums are exact, so their order is free: eight at a time.
 */
enum { LANES = 8 };

#define DEFINE_SUM(TYPE)                                                       \
    static void sum_##TYPE(const struct gpu_work *w, const TYPE *source,       \
                           uint64_t all)                                       \
    {                                                                          \
        TYPE *sums = w->sums;                                                  \
                                                                               \
        for (uint64_t t = 0; t < all; t++) {                                   \
            const TYPE *mine = source + t * w->elements;                       \
            TYPE lane[LANES] = {0};                                            \
            uint64_t i = 0;                                                    \
                                                                               \
            for (; i + LANES <= w->elements; i += LANES)                       \
                for (int k = 0; k < LANES; k++)                                \
                    lane[k] += mine[i + (uint64_t)k];                          \
            for (; i < w->elements; i++)                                       \
                lane[0] += mine[i];                                            \
            for (int k = 1; k < LANES; k++)                                    \
                lane[0] += lane[k];                                            \
            sums[t] = lane[0];                                                 \
        }                                                                      \
    }                                                                          \
                                                                               \
    static void rows_##TYPE(const struct gpu_work *w, const TYPE *source,      \
                            uint64_t all)                                      \
    {                                                                          \
        TYPE *sums = w->sums;                                                  \
                                                                               \
        memset(sums, 0, all * sizeof(*sums));                                  \
        for (uint64_t i = 0; i < w->elements; i++)                             \
            for (uint64_t t = 0; t < all; t++)                                 \
                sums[t] += source[i * all + t];                                \
    }

DEFINE_SUM(float)
DEFINE_SUM(double)

static void work(const struct gpu_work *w, const void *source)
{
    uint64_t all = (uint64_t)w->blocks * w->threads;
    bool rows = w->access == GPU_COALESCED;

    if (w->type == GPU_DOUBLE)
        (rows ? rows_double : sum_double)(w, source, all);
    else
        (rows ? rows_float : sum_float)(w, source, all);
}

/* On the CPU of who faults the handler answers several times as fast as from
 * another, which would have to be woken. Returns whether *before must be put
 * back. */
static bool join_cpu(struct gpu *gpu, cpu_set_t *before)
{
    int cpu = sched_getcpu();
    cpu_set_t here;

    if (cpu < 0 || cpu >= CPU_SETSIZE ||
        pthread_getaffinity_np(pthread_self(), sizeof(*before), before) != 0)
        return false;
    CPU_ZERO(&here);
    CPU_SET(cpu, &here);
    if (pthread_setaffinity_np(pthread_self(), sizeof(here), &here) != 0)
        return false;
    pthread_setaffinity_np(gpu->handler, sizeof(here), &here);
    return true;
}

static int host_sum(struct gpu *gpu, const struct gpu_work *w, double *seconds,
                    struct gpu_error *error)
{
    int place = AT_HOST;
    struct region *r = region_of(gpu, w->source, &place);
    const char *source = w->source;
    cpu_set_t before;
    bool joined;

    *seconds = -1.0;
    if (r && r->managed) {
        if (arm(gpu, r, error) != GPU_OK)
            return GPU_FAILED;
        source = r->view[AT_DEVICE] + (source - r->view[place]);
    }
    joined = join_cpu(gpu, &before);
    work(w, source);
    if (joined) {
        pthread_setaffinity_np(pthread_self(), sizeof(before), &before);
        pthread_setaffinity_np(gpu->handler, sizeof(before), &before);
    }
    return moves(gpu, error);
}

static void host_moved(struct gpu *gpu, uint64_t *faults, uint64_t *bytes)
{
    pthread_mutex_lock(&gpu->lock);
    *faults = gpu->faults;
    *bytes = gpu->moved;
    pthread_mutex_unlock(&gpu->lock);
}

static const struct gpu_backend backend = {
    .version = GPU_VERSION,
    .name = "host",
    .what = "host emulation: a page-fault handler copies between two host "
            "buffers; no GPU was measured",
    .archs = "",
    .count = host_count,
    .open = host_open,
    .close = host_close,
    .facts = host_facts,
    .allocate = host_allocate,
    .release = host_release,
    .advise = host_advise,
    .prefetch = host_prefetch,
    .copy = host_copy,
    .sum = host_sum,
    .moved = host_moved,
};

#else /* no userfaultfd in this C library's Linux */

static int host_count(int *n, const struct gpu_setup *setup,
                      struct gpu_error *error)
{
    (void)setup;
    *n = 0;
    snprintf(error->text, sizeof(error->text),
             "userfaultfd: not known when this was built");
    return GPU_NONE;
}

static const struct gpu_backend backend = {
    .version = GPU_VERSION,
    .name = "host",
    .what = "host emulation",
    .archs = "",
    .count = host_count,
};

#endif

const struct gpu_backend *gpu_host_backend(void)
{
    return &backend;
}
