/* hip_stub.c - stands in for ROCm's HIP library, for tests without a GPU: its
 * device is the host, which runs the kernels of gpu.hip by their names.
 *
 * The variable STUB, CALL=NUMBER, makes that call return that error; xnack=-
 * switches XNACK off, nothing=1 lets no kernel run, devices=N are so many. What
 * is allocated on one device is not touched by another's kernels. */
#include "config.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hip/hip_runtime_api.h>

enum { KERNELS = 16 };

/* The library's state, as the real one has one of the process. */
static struct {
    const void *function;
    const char *name;
} kernels[KERNELS];
static _Thread_local struct {
    dim3 grid, block;
} configuration;
static _Thread_local int current; /* device */

/* In front of all that is allocated. */
struct owner {
    _Alignas(64) int device;
};

static const char *told(const char *call)
{
    const char *text = getenv("STUB");
    size_t n = strlen(call);

    return text && strncmp(text, call, n) == 0 && text[n] == '=' ? text + n + 1
                                                                 : NULL;
}

static hipError_t result(const char *call)
{
    const char *text = told(call);

    return (hipError_t)(text ? atoi(text) : 0);
}

const char *hipGetErrorName(hipError_t error)
{
    static char name[32];

    if ((int)error == 100)
        return "hipErrorNoDevice";
    if ((int)error == 35)
        return "hipErrorInsufficientDriver";
    snprintf(name, sizeof(name), "hipError%d", (int)error);
    return name;
}

hipError_t hipGetDeviceCount(int *n)
{
    const char *devices = told("devices");

    *n = devices ? atoi(devices) : 1;
    return result("hipGetDeviceCount");
}

hipError_t hipGetDeviceProperties(hipDeviceProp_t *p, int device)
{
    const char *xnack = told("xnack");

    (void)device;
    memset(p, 0, sizeof(*p));
    snprintf(p->name, sizeof(p->name), "host, for tests");
    snprintf(p->gcnArchName, sizeof(p->gcnArchName), "gfx90a:sramecc+:xnack%c",
             xnack ? *xnack : '+');
    p->maxThreadsPerBlock = 1024;
    return result("hipGetDeviceProperties");
}

hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t which,
                                 int device)
{
    (void)device;
    *value = which == hipDeviceAttributeManagedMemory ||
             which == hipDeviceAttributePageableMemoryAccess;
    return result("hipDeviceGetAttribute");
}

hipError_t hipDeviceGetPCIBusId(char *bus, int size, int device)
{
    snprintf(bus, (size_t)size, "0000:C%d:00.0", device + 1);
    return result("hipDeviceGetPCIBusId");
}

hipError_t hipMemGetInfo(size_t *free_bytes, size_t *total)
{
    *free_bytes = *total = (size_t)1 << 30;
    return result("hipMemGetInfo");
}

hipError_t hipRuntimeGetVersion(int *version)
{
    *version = 50200000;
    return result("hipRuntimeGetVersion");
}

hipError_t hipDriverGetVersion(int *version)
{
    *version = 50200000;
    return result("hipDriverGetVersion");
}

hipError_t hipSetDevice(int device)
{
    current = device;
    return result("hipSetDevice");
}

hipError_t hipDeviceSynchronize(void)
{
    return result("hipDeviceSynchronize");
}

hipError_t hipGetLastError(void)
{
    return result("hipGetLastError");
}

hipError_t hipEventCreate(hipEvent_t *event)
{
    *event = NULL;
    return result("hipEventCreate");
}

hipError_t hipEventDestroy(hipEvent_t event)
{
    (void)event;
    return result("hipEventDestroy");
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream)
{
    (void)event;
    (void)stream;
    return result("hipEventRecord");
}

hipError_t hipEventElapsedTime(float *ms, hipEvent_t begin, hipEvent_t end)
{
    (void)begin;
    (void)end;
    *ms = 1.5f;
    return result("hipEventElapsedTime");
}

static void *allocate(size_t bytes)
{
    size_t size = sizeof(struct owner);
    struct owner *owner =
        aligned_alloc(size, size + (bytes + size - 1) / size * size);

    if (!owner)
        return NULL;
    owner->device = current;
    return owner + 1;
}

static int mine(const void *p)
{
    return ((const struct owner *)p - 1)->device == current;
}

hipError_t hipMalloc(void **p, size_t bytes)
{
    *p = allocate(bytes);
    return result("hipMalloc");
}

hipError_t hipMallocManaged(void **p, size_t bytes, unsigned flags)
{
    *p = flags == hipMemAttachGlobal ? allocate(bytes) : NULL;
    return result("hipMallocManaged");
}

hipError_t hipFree(void *p)
{
    if (p)
        free((struct owner *)p - 1);
    return result("hipFree");
}

hipError_t hipMemcpy(void *to, const void *from, size_t bytes,
                     hipMemcpyKind kind)
{
    (void)kind;
    memcpy(to, from, bytes);
    return result("hipMemcpy");
}

hipError_t hipMemAdvise(const void *p, size_t bytes, hipMemoryAdvise advice,
                        int device)
{
    (void)p;
    (void)bytes;
    (void)advice;
    (void)device;
    return result("hipMemAdvise");
}

hipError_t hipMemPrefetchAsync(const void *p, size_t bytes, int device,
                               hipStream_t stream)
{
    (void)p;
    (void)bytes;
    (void)device;
    (void)stream;
    return result("hipMemPrefetchAsync");
}

/*
 * What the compiler calls for a launch.
 */
void **__hipRegisterFatBinary(const void *data);
void __hipUnregisterFatBinary(void **modules);
void __hipRegisterFunction(void **modules, const void *function, char *name,
                           const char *device_name, unsigned limit, void *tid,
                           void *bid, dim3 *block, dim3 *grid, int *size);
hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                      hipStream_t stream);
hipError_t __hipPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
                                     hipStream_t *stream);

void **__hipRegisterFatBinary(const void *data)
{
    static void *module;

    (void)data;
    return &module;
}

void __hipUnregisterFatBinary(void **modules)
{
    (void)modules;
}

void __hipRegisterFunction(void **modules, const void *function, char *name,
                           const char *device_name, unsigned limit, void *tid,
                           void *bid, dim3 *block, dim3 *grid, int *size)
{
    (void)modules;
    (void)device_name;
    (void)limit;
    (void)tid;
    (void)bid;
    (void)block;
    (void)grid;
    (void)size;
    for (int i = 0; i < KERNELS; i++)
        if (!kernels[i].name) {
            kernels[i].function = function;
            kernels[i].name = name;
            return;
        }
}

hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                      hipStream_t stream)
{
    (void)shared;
    (void)stream;
    configuration.grid = grid;
    configuration.block = block;
    return hipSuccess;
}

hipError_t __hipPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
                                     hipStream_t *stream)
{
    *grid = configuration.grid;
    *block = configuration.block;
    *shared = 0;
    *stream = NULL;
    return hipSuccess;
}

/* The kernels of gpu.hip, by what a mangled name tells: which, and of what. */
static void run(const char *name, uint64_t all, void **arguments)
{
    void *sums = *(void **)arguments[0];
    const void *source = *(const void **)arguments[1];
    uint64_t elements = *(uint64_t *)arguments[2];
    int rows = strstr(name, "sum_coalesced") != NULL;
    int doubles = strstr(name, "IdE") != NULL;

    if (!mine(sums) || !mine(source))
        return;
    for (uint64_t t = 0; t < all; t++) {
        double sum = 0.0;

        for (uint64_t i = 0; i < elements; i++) {
            uint64_t at = rows ? i * all + t : t * elements + i;

            sum += doubles ? ((const double *)source)[at]
                           : (double)((const float *)source)[at];
        }
        if (doubles)
            ((double *)sums)[t] = sum;
        else
            ((float *)sums)[t] = (float)sum;
    }
}

hipError_t hipLaunchKernel(const void *function, dim3 grid, dim3 block,
                           void **arguments, size_t shared, hipStream_t stream)
{
    (void)shared;
    (void)stream;
    for (int i = 0; i < KERNELS && kernels[i].name; i++)
        if (kernels[i].function == function &&
            strstr(kernels[i].name, "sum_") && !told("nothing"))
            run(kernels[i].name, (uint64_t)grid.x * block.x, arguments);
    return result("hipLaunchKernel");
}
