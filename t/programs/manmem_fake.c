/* manmem_fake.c - a back end for tests, which takes the place of HIP's.
 *
 * It computes what a GPU would, in the time that it is told to take, and the
 * trouble comes from the variable FAKE, words with blanks between:
 *
 *   devices=N nodevice nocount        what counting finds, or how it fails
 *   noopen nomalloc nomanaged noprefetch noadvice   calls that fail
 *   memory=BYTES threads=N            of the device
 *   xnack=W integrated unmanaged twins
 *                                     what it says of itself: W none,
 *                                     unsupported, off, on or unknown; all
 *                                     devices at one bus
 *   ms=A,B,...                        the first runs on managed memory; the
 *                                     last of them is that of all further ones
 *   direct=A slow=I                   on device memory; device I takes twice
 *                                     as long
 *   hang=N fail=N wrong=N nan=N stale=N scribble=N
 *                                     what run N of the kernel does: never
 *                                     end, fail, leave one sum wrong or not a
 *                                     number, leave all as they were, spoil
 *                                     the data
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "manmem/gpu.h"

struct gpu {
    int index;
    void *managed;
    long runs;
};

/* What stands behind `word` in FAKE, or NULL where it is not there. */
static const char *value_of(const char *word)
{
    const char *text = getenv("FAKE");
    size_t n = strlen(word);

    for (text = text ? text : ""; *text; text += strspn(text, " ")) {
        size_t length = strcspn(text, " ");

        if (length >= n && memcmp(text, word, n) == 0 &&
            (length == n || text[n] == '='))
            return text + n + (length > n);
        text += length;
    }
    return NULL;
}

static long number_of(const char *word, long otherwise)
{
    const char *value = value_of(word);

    return value ? strtol(value, NULL, 10) : otherwise;
}

static int fail(struct gpu_error *error, enum gpu_status status,
                const char *text)
{
    snprintf(error->text, sizeof(error->text), "%s", text);
    return (int)status;
}

static int fake_count(int *n, const struct gpu_setup *setup,
                      struct gpu_error *error)
{
    (void)setup;
    *n = (int)number_of("devices", 1);
    if (value_of("nodevice"))
        return fail(error, GPU_NONE,
                    "hipGetDeviceCount: hipErrorNoDevice (100)");
    if (value_of("nocount"))
        return fail(error, GPU_FAILED,
                    "hipGetDeviceCount: hipErrorUnknown (999)");
    return GPU_OK;
}

static int fake_open(struct gpu **gpu, int index, const struct gpu_setup *setup,
                     struct gpu_error *error)
{
    (void)setup;
    if (value_of("noopen"))
        return fail(error, GPU_FAILED,
                    "hipGetLastError: hipErrorNoBinaryForGpu (209)");
    *gpu = calloc(1, sizeof(**gpu));
    if (!*gpu)
        return fail(error, GPU_FAILED, "calloc");
    (*gpu)->index = index;
    return GPU_OK;
}

static void fake_close(struct gpu *gpu)
{
    free(gpu);
}

static int fake_facts(struct gpu *gpu, struct gpu_facts *facts,
                      struct gpu_error *error)
{
    static const char *const words[] = {"none", "unsupported", "off", "on",
                                        "unknown"};
    const char *xnack = value_of("xnack");

    (void)error;
    *facts = (struct gpu_facts){.name = "fake, for tests",
                                .arch = "gfx000",
                                .bus = "0000:FF:00.0",
                                .runtime = "none",
                                .xnack = GPU_XNACK_ON,
                                .memory = 1 << 30,
                                .threads = 1024,
                                .managed = !value_of("unmanaged"),
                                .concurrent = 1,
                                .pageable = 1,
                                .host_tables = -1,
                                .integrated = value_of("integrated") != NULL};
    facts->free = (uint64_t)number_of("memory", 1 << 30);
    facts->threads = (uint64_t)number_of("threads", 1024);
    facts->bus[6] = (char)('0' + (value_of("twins") ? 0 : gpu->index));
    for (size_t i = 0; xnack && i < sizeof(words) / sizeof(*words); i++)
        if (strncmp(xnack, words[i], strlen(words[i])) == 0)
            facts->xnack = (enum gpu_xnack)i;
    return GPU_OK;
}

static int fake_allocate(struct gpu *gpu, enum gpu_memory kind, size_t bytes,
                         void **p, struct gpu_error *error)
{
    if (kind == GPU_MANAGED && value_of("nomanaged"))
        return fail(error, GPU_UNABLE,
                    "hipMallocManaged: hipErrorNotSupported (801)");
    if (kind == GPU_MANAGED && value_of("nomalloc"))
        return fail(error, GPU_FAILED,
                    "hipMallocManaged: hipErrorOutOfMemory (2)");
    *p = malloc(bytes);
    if (!*p)
        return fail(error, GPU_FAILED, "malloc");
    if (kind == GPU_MANAGED)
        gpu->managed = *p;
    return GPU_OK;
}

static int fake_release(struct gpu *gpu, void *p, struct gpu_error *error)
{
    (void)error;
    if (p == gpu->managed)
        gpu->managed = NULL;
    free(p);
    return GPU_OK;
}

static int fake_advise(struct gpu *gpu, void *p, size_t bytes,
                       enum gpu_advice how, struct gpu_error *error)
{
    (void)gpu;
    (void)p;
    (void)bytes;
    return how != GPU_ADVISE_NONE && value_of("noadvice")
               ? fail(error, GPU_UNABLE,
                      "hipMemAdvise: hipErrorNotSupported (801)")
               : GPU_OK;
}

static int fake_prefetch(struct gpu *gpu, void *p, size_t bytes,
                         enum gpu_place where, struct gpu_error *error)
{
    (void)gpu;
    (void)p;
    (void)bytes;
    (void)where;
    return value_of("noprefetch")
               ? fail(error, GPU_FAILED,
                      "hipMemPrefetchAsync: hipErrorInvalidValue (1)")
               : GPU_OK;
}

static int fake_copy(struct gpu *gpu, void *to, const void *from, size_t bytes,
                     enum gpu_place where, struct gpu_error *error)
{
    (void)gpu;
    (void)where;
    (void)error;
    memcpy(to, from, bytes);
    return GPU_OK;
}

static void wait_ms(double ms)
{
    struct timespec t = {.tv_sec = (time_t)(ms / 1e3)};

    t.tv_nsec = (long)((ms - (double)t.tv_sec * 1e3) * 1e6);
    nanosleep(&t, NULL);
}

/* How long run number n on managed memory takes. */
static double managed_ms(long n)
{
    const char *list = value_of("ms");
    double ms = 1.0;

    for (long i = 0; list && i <= n; i++) {
        char *end;

        ms = strtod(list, &end);
        if (*end != ',')
            break;
        list = end + 1;
    }
    return ms;
}

static void sum(const struct gpu_work *w)
{
    uint64_t all = (uint64_t)w->blocks * w->threads;

    for (uint64_t t = 0; t < all; t++) {
        double s = 0.0;

        for (uint64_t i = 0; i < w->elements; i++) {
            uint64_t at =
                w->access == GPU_COALESCED ? i * all + t : t * w->elements + i;

            s += w->type == GPU_DOUBLE ? ((const double *)w->source)[at]
                                       : (double)((const float *)w->source)[at];
        }
        if (w->type == GPU_DOUBLE)
            ((double *)w->sums)[t] = s;
        else
            ((float *)w->sums)[t] = (float)s;
    }
}

static int fake_sum(struct gpu *gpu, const struct gpu_work *w, double *seconds,
                    struct gpu_error *error)
{
    bool managed = w->source == gpu->managed;
    long run = gpu->runs++;
    float *sums = w->sums;
    double ms = managed ? managed_ms(run) : (double)number_of("direct", 1);

    while (run == number_of("hang", -1))
        pause();
    if (run == number_of("fail", -1))
        return fail(error, GPU_FAILED,
                    "hipDeviceSynchronize: hipErrorIllegalAddress (700)");
    wait_ms(gpu->index == number_of("slow", -1) ? 2 * ms : ms);
    *seconds = ms * 1e-3;
    if (run != number_of("stale", -1))
        sum(w);
    if (run == number_of("wrong", -1))
        sums[3] += 1.0f;
    if (run == number_of("nan", -1))
        sums[3] = NAN;
    if (run == number_of("scribble", -1))
        ((float *)gpu->managed)[5] = 99.0f;
    return GPU_OK;
}

const struct gpu_backend *gpu_backend(void)
{
    static const struct gpu_backend backend = {.version = GPU_VERSION,
                                               .name = "hip",
                                               .what = "a fake, for tests",
                                               .archs = "gfx000",
                                               .count = fake_count,
                                               .open = fake_open,
                                               .close = fake_close,
                                               .facts = fake_facts,
                                               .allocate = fake_allocate,
                                               .release = fake_release,
                                               .advise = fake_advise,
                                               .prefetch = fake_prefetch,
                                               .copy = fake_copy,
                                               .sum = fake_sum};

    return &backend;
}
