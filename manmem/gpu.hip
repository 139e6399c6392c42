/* gpu.hip - the back end for GPUs: one source for HIP and, through
 * cuda_names.h, for CUDA. C with kernels; what it exports is in gpu.h.
 *
 * Work of the kernel: one addition and one load of an element; a store a
 * thread. Bytes counted are those loaded. */
#ifdef MANMEM_CUDA
#include "manmem/cuda_names.h"
#else
#include <hip/hip_runtime.h>
#define GPU_API "hip"
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manmem/gpu.h"

struct gpu {
    int index;
    hipEvent_t begin, end;
};

/* Keep the call's name and the error's, and tell them apart: no device or no
 * driver is no failure. */
static int fail(struct gpu_error *error, const char *call, hipError_t status)
{
    /* NoBinaryForGpu, NoKernelImageForDevice */
    bool foreign = (int)status == 209;

    snprintf(error->text, sizeof(error->text), "%s: %s (%d)%s%s", call,
             hipGetErrorName(status), (int)status,
             foreign ? ": this build has code for " : "",
             foreign ? MANMEM_ARCHS : "");
    switch ((int)status) {
    case 35:  /* cudaErrorInsufficientDriver */
    case 100: /* NoDevice */
        return GPU_NONE;
    case 801: /* NotSupported */
        return GPU_UNABLE;
    default:
        return GPU_FAILED;
    }
}

#define TEXT_OF(word) #word
#define NAME_OF(word) TEXT_OF(word)

/* Return from the function unless the call succeeds. */
#define TRY(function, ...)                                                     \
    do {                                                                       \
        hipError_t status_ = function(__VA_ARGS__);                            \
                                                                               \
        if (status_ != hipSuccess)                                             \
            return fail(error, NAME_OF(function), status_);                    \
    } while (0)

/*
 * Kernels.
 */
__global__ void nothing(void)
{
}

template <typename T>
__global__ void sum_consecutive(T *sums, const T *source, uint64_t elements)
{
    uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const T *mine = source + thread * elements;
    T sum = 0;

    for (uint64_t i = 0; i < elements; i++)
        sum += mine[i];
    sums[thread] = sum;
}

template <typename T>
__global__ void sum_coalesced(T *sums, const T *source, uint64_t elements)
{
    uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t all = (uint64_t)gridDim.x * blockDim.x;
    const T *mine = source + thread;
    T sum = 0;

    for (uint64_t i = 0; i < elements; i++)
        sum += mine[i * all];
    sums[thread] = sum;
}

template <typename T> static void launch(const struct gpu_work *work)
{
    T *sums = (T *)work->sums;
    const T *source = (const T *)work->source;

    if (work->access == GPU_COALESCED)
        sum_coalesced<T><<<work->blocks, work->threads>>>(sums, source,
                                                          work->elements);
    else
        sum_consecutive<T><<<work->blocks, work->threads>>>(sums, source,
                                                            work->elements);
}

/*
 * Devices.
 */
static int gpu_count(int *n, const struct gpu_setup *setup,
                     struct gpu_error *error)
{
    (void)setup;
    *n = 0;
    TRY(hipGetDeviceCount, n);
    if (*n > 0)
        return GPU_OK;
    snprintf(error->text, sizeof(error->text), "%s: no device",
             NAME_OF(hipGetDeviceCount));
    return GPU_NONE;
}

static int gpu_prepare(struct gpu *gpu, struct gpu_error *error)
{
    TRY(hipSetDevice, gpu->index);
    TRY(hipEventCreate, &gpu->begin);
    TRY(hipEventCreate, &gpu->end);
    nothing<<<1, 1>>>();
    TRY(hipGetLastError);
    TRY(hipDeviceSynchronize);
    return GPU_OK;
}

static int gpu_open(struct gpu **gpu, int index, const struct gpu_setup *setup,
                    struct gpu_error *error)
{
    struct gpu *made = (struct gpu *)calloc(1, sizeof(*made));
    int status;

    (void)setup;
    if (!made) {
        snprintf(error->text, sizeof(error->text), "calloc: no memory");
        return GPU_FAILED;
    }
    made->index = index;
    status = gpu_prepare(made, error);
    if (status == GPU_OK)
        *gpu = made;
    else
        free(made);
    return status;
}

static void gpu_close(struct gpu *gpu)
{
    if (!gpu)
        return;
    (void)hipEventDestroy(gpu->begin);
    (void)hipEventDestroy(gpu->end);
    free(gpu);
}

/* An attribute that this version of the run time doesn't know is unknown. */
static int attribute(struct gpu *gpu, hipDeviceAttribute_t which)
{
    int value = -1;

    if (hipDeviceGetAttribute(&value, which, gpu->index) != hipSuccess) {
        (void)hipGetLastError();
        return -1;
    }
    return value;
}

#ifdef MANMEM_CUDA
/* NVIDIA's devices have no XNACK; those that SCALE runs this on may, but CUDA's
 * properties have no place for it. */
static void describe(struct gpu_facts *facts, const hipDeviceProp_t *p)
{
    snprintf(facts->arch, sizeof(facts->arch), "sm_%d%d", p->major, p->minor);
#ifdef __REDSCALE__
    facts->xnack = GPU_XNACK_UNKNOWN;
#else
    facts->xnack = GPU_XNACK_NONE;
#endif
}
#else
static void describe(struct gpu_facts *facts, const hipDeviceProp_t *p)
{
    snprintf(facts->arch, sizeof(facts->arch), "%.127s", p->gcnArchName);
    facts->xnack = strstr(p->gcnArchName, "xnack+")   ? GPU_XNACK_ON
                   : strstr(p->gcnArchName, "xnack-") ? GPU_XNACK_OFF
                                                      : GPU_XNACK_UNSUPPORTED;
}
#endif

static int gpu_facts_of(struct gpu *gpu, struct gpu_facts *facts,
                        struct gpu_error *error)
{
    hipDeviceProp_t p;
    size_t free_bytes = 0, total = 0;
    int runtime = 0, driver = 0;

    memset(facts, 0, sizeof(*facts));
    TRY(hipSetDevice, gpu->index);
    TRY(hipGetDeviceProperties, &p, gpu->index);
    TRY(hipMemGetInfo, &free_bytes, &total);
    TRY(hipDeviceGetPCIBusId, facts->bus, (int)sizeof(facts->bus), gpu->index);
    TRY(hipRuntimeGetVersion, &runtime);
    TRY(hipDriverGetVersion, &driver);
    snprintf(facts->name, sizeof(facts->name), "%.127s",
             p.name[0] ? p.name : "unknown");
    snprintf(facts->runtime, sizeof(facts->runtime),
             GPU_API " runtime %d, driver %d", runtime, driver);
    describe(facts, &p);
    facts->memory = total;
    facts->free = free_bytes;
    facts->threads = (uint64_t)p.maxThreadsPerBlock;
    facts->managed = attribute(gpu, hipDeviceAttributeManagedMemory);
    facts->concurrent =
        attribute(gpu, hipDeviceAttributeConcurrentManagedAccess);
    facts->pageable = attribute(gpu, hipDeviceAttributePageableMemoryAccess);
    facts->host_tables = attribute(
        gpu, hipDeviceAttributePageableMemoryAccessUsesHostPageTables);
    facts->integrated = attribute(gpu, hipDeviceAttributeIntegrated);
    return GPU_OK;
}

/*
 * Memory.
 */
static int gpu_allocate(struct gpu *gpu, enum gpu_memory kind, size_t bytes,
                        void **p, struct gpu_error *error)
{
    TRY(hipSetDevice, gpu->index);
    if (kind == GPU_MANAGED)
        TRY(hipMallocManaged, p, bytes, hipMemAttachGlobal);
    else
        TRY(hipMalloc, p, bytes);
    return GPU_OK;
}

static int gpu_release(struct gpu *gpu, void *p, struct gpu_error *error)
{
    TRY(hipSetDevice, gpu->index);
    TRY(hipFree, p);
    return GPU_OK;
}

static int gpu_advise(struct gpu *gpu, void *p, size_t bytes,
                      enum gpu_advice how, struct gpu_error *error)
{
    hipMemoryAdvise advice;

    switch (how) {
    case GPU_ADVISE_PREFERRED:
        advice = hipMemAdviseSetPreferredLocation;
        break;
    case GPU_ADVISE_ACCESSED:
        advice = hipMemAdviseSetAccessedBy;
        break;
    case GPU_ADVISE_READ:
        advice = hipMemAdviseSetReadMostly;
        break;
#ifndef MANMEM_CUDA
    case GPU_ADVISE_COARSE:
        advice = hipMemAdviseSetCoarseGrain;
        break;
#endif
    case GPU_ADVISE_NONE:
        return GPU_OK;
    default:
        snprintf(error->text, sizeof(error->text),
                 "%s: no such advice in " GPU_API, NAME_OF(hipMemAdvise));
        return GPU_UNABLE;
    }
    TRY(hipMemAdvise, p, bytes, advice, gpu->index);
    return GPU_OK;
}

static int gpu_prefetch(struct gpu *gpu, void *p, size_t bytes,
                        enum gpu_place where, struct gpu_error *error)
{
    int to = where == GPU_TO_HOST ? hipCpuDeviceId : gpu->index;

    TRY(hipSetDevice, gpu->index);
    TRY(hipMemPrefetchAsync, p, bytes, to, 0);
    TRY(hipDeviceSynchronize);
    return GPU_OK;
}

static int gpu_copy(struct gpu *gpu, void *to, const void *from, size_t bytes,
                    enum gpu_place where, struct gpu_error *error)
{
    TRY(hipSetDevice, gpu->index);
    TRY(hipMemcpy, to, from, bytes,
        where == GPU_TO_HOST ? hipMemcpyDeviceToHost : hipMemcpyHostToDevice);
    return GPU_OK;
}

/* Launch errors show through hipGetLastError, those of the run through the
 * synchronise. */
static int gpu_sum(struct gpu *gpu, const struct gpu_work *work,
                   double *seconds, struct gpu_error *error)
{
    float milliseconds = 0;

    *seconds = -1.0;
    TRY(hipSetDevice, gpu->index);
    TRY(hipEventRecord, gpu->begin, 0);
    if (work->type == GPU_DOUBLE)
        launch<double>(work);
    else
        launch<float>(work);
    TRY(hipGetLastError);
    TRY(hipEventRecord, gpu->end, 0);
    TRY(hipDeviceSynchronize);
    TRY(hipEventElapsedTime, &milliseconds, gpu->begin, gpu->end);
    *seconds = (double)milliseconds * 1e-3;
    return GPU_OK;
}

static const struct gpu_backend backend = {
    GPU_VERSION,
    GPU_API,
#ifdef __REDSCALE__
    "CUDA through SCALE: managed memory of a GPU",
#elif defined(MANMEM_CUDA)
    "CUDA: managed memory of a GPU",
#else
    "HIP: managed memory of a GPU",
#endif
    MANMEM_ARCHS,
    gpu_count,
    gpu_open,
    gpu_close,
    gpu_facts_of,
    gpu_allocate,
    gpu_release,
    gpu_advise,
    gpu_prefetch,
    gpu_copy,
    gpu_sum,
    NULL,
};

extern "C" const struct gpu_backend *gpu_backend(void)
{
    return &backend;
}
