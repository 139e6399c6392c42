/* cuda_names.h - CUDA by the names of HIP, as far as gpu.hip uses them.
 *
 * HIP's own headers for NVIDIA do not compile with CUDA 13. */
#ifndef MANMEM_CUDA_NAMES_H
#define MANMEM_CUDA_NAMES_H

#include <cuda_runtime.h>

#define GPU_API "cuda"

#define hipError_t cudaError_t
#define hipSuccess cudaSuccess
#define hipEvent_t cudaEvent_t
#define hipDeviceProp_t cudaDeviceProp
#define hipDeviceAttribute_t cudaDeviceAttr
#define hipMemoryAdvise cudaMemoryAdvise
#define hipMemAttachGlobal cudaMemAttachGlobal
#define hipCpuDeviceId cudaCpuDeviceId
#define hipMemcpyDeviceToHost cudaMemcpyDeviceToHost
#define hipMemcpyHostToDevice cudaMemcpyHostToDevice
#define hipMemAdviseSetPreferredLocation cudaMemAdviseSetPreferredLocation
#define hipMemAdviseSetAccessedBy cudaMemAdviseSetAccessedBy
#define hipMemAdviseSetReadMostly cudaMemAdviseSetReadMostly
#define hipDeviceAttributeManagedMemory cudaDevAttrManagedMemory
#define hipDeviceAttributeConcurrentManagedAccess                              \
    cudaDevAttrConcurrentManagedAccess
#define hipDeviceAttributePageableMemoryAccess cudaDevAttrPageableMemoryAccess
#define hipDeviceAttributePageableMemoryAccessUsesHostPageTables               \
    cudaDevAttrPageableMemoryAccessUsesHostPageTables
#define hipDeviceAttributeIntegrated cudaDevAttrIntegrated

#define hipDeviceGetAttribute cudaDeviceGetAttribute
#define hipDeviceGetPCIBusId cudaDeviceGetPCIBusId
#define hipDeviceSynchronize cudaDeviceSynchronize
#define hipDriverGetVersion cudaDriverGetVersion
#define hipEventCreate cudaEventCreate
#define hipEventDestroy cudaEventDestroy
#define hipEventElapsedTime cudaEventElapsedTime
#define hipEventRecord cudaEventRecord
#define hipFree cudaFree
#define hipGetDeviceCount cudaGetDeviceCount
#define hipGetDeviceProperties cudaGetDeviceProperties
#define hipGetErrorName cudaGetErrorName
#define hipGetLastError cudaGetLastError
#define hipMalloc cudaMalloc
#define hipMallocManaged cudaMallocManaged
#define hipMemGetInfo cudaMemGetInfo
#define hipMemcpy cudaMemcpy
#define hipRuntimeGetVersion cudaRuntimeGetVersion
#define hipSetDevice cudaSetDevice

#define hipMemAdvise cudaMemAdvise
#define hipMemPrefetchAsync cudaMemPrefetchAsync

/* CUDA 13 names a place by a struct where CUDA 12 has a device's number. */
#if CUDART_VERSION >= 13000
static inline struct cudaMemLocation cuda_place(int device)
{
    struct cudaMemLocation place;

    place.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost
                                           : cudaMemLocationTypeDevice;
    place.id = device == cudaCpuDeviceId ? 0 : device;
    return place;
}

static inline cudaError_t cudaMemAdvise(const void *p, size_t bytes,
                                        cudaMemoryAdvise advice, int device)
{
    return cudaMemAdvise(p, bytes, advice, cuda_place(device));
}

static inline cudaError_t cudaMemPrefetchAsync(const void *p, size_t bytes,
                                               int device, cudaStream_t stream)
{
    return cudaMemPrefetchAsync(p, bytes, cuda_place(device), 0, stream);
}
#endif

#endif
