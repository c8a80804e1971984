// Allocating and freeing, host registration, and what a pointer is.
#include "vm/cudart/memory.h"

#include <cstdint>

#include "core/align.h"
#include "vm/cudart/capture.h"
#include "vm/cudart/errors.h"
#include "vm/cudart/runtime.h"

using namespace ridge::vm;
using namespace ridge::vm::cudart;

namespace {

constexpr size_t kPitchUnit = 512;
constexpr unsigned kHostAllocFlags =
    cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
constexpr unsigned kHostRegisterFlags = cudaHostRegisterPortable | cudaHostRegisterMapped |
                                        cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;

// Allocation may move memory under a capture's feet, so captures forbid it.
template <class Body>
cudaError_t unsafe_api(Body&& body) {
  return api([&] {
    if (const cudaError_t error = check_unsafe()) return error;
    return body();
  });
}

cudaError_t allocate_pitched(void** pointer, size_t* pitch, size_t width, size_t rows) {
  if (!pointer || !pitch) return cudaErrorInvalidValue;
  *pitch = width && rows ? ridge::round_up(width, kPitchUnit) : 0;
  if (*pitch && rows > SIZE_MAX / *pitch) return cudaErrorMemoryAllocation;
  return allocate(pointer, *pitch * rows, MemKind::device, 0);
}

bool is_host(const Allocation& a) {
  return a.kind == MemKind::pinned || a.kind == MemKind::registered;
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  return unsafe_api([&] { return allocate(pointer, bytes, MemKind::device, 0); });
}

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  return unsafe_api([&] { return allocate_pitched(pointer, pitch, width, height); });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* result, cudaExtent extent) {
  return unsafe_api([&] {
    if (!result) return cudaErrorInvalidValue;
    *result = {nullptr, 0, extent.width, extent.height};
    if (extent.depth && extent.height > SIZE_MAX / extent.depth) return cudaErrorMemoryAllocation;
    return allocate_pitched(&result->ptr, &result->pitch, extent.width,
                            extent.height * extent.depth);
  });
}

cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  return unsafe_api([&] { return allocate(pointer, bytes, MemKind::pinned, cudaHostAllocMapped); });
}

cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  return unsafe_api([&] {
    if (flags & ~kHostAllocFlags) return cudaErrorInvalidValue;
    return allocate(pointer, bytes, MemKind::pinned, flags | cudaHostAllocMapped);
  });
}

cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned flags) {
  return unsafe_api([&] {
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) return cudaErrorInvalidValue;
    return allocate(pointer, bytes, MemKind::managed, flags);
  });
}

cudaError_t cudaFree(void* pointer) {
  return unsafe_api([&] { return free_device(pointer); });
}

cudaError_t cudaFreeHost(void* pointer) {
  return unsafe_api([&] { return free_host(pointer); });
}

cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned flags) {
  return unsafe_api([&] {
    if (!pointer || !bytes || (flags & ~kHostRegisterFlags)) return cudaErrorInvalidValue;
    Allocations& memory = runtime().engine.memory();
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    if (memory.is_device_range(address)) return cudaErrorInvalidValue;
    if (flags & cudaHostRegisterIoMemory) return cudaErrorNotSupported;
    return memory.add_registered(address, bytes, flags) ? cudaSuccess
                                                        : cudaErrorHostMemoryAlreadyRegistered;
  });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return unsafe_api([&] {
    const auto found = find_allocation(pointer);
    if (!found || found->kind != MemKind::registered) return cudaErrorHostMemoryNotRegistered;
    if (found->base != reinterpret_cast<uintptr_t>(pointer)) return cudaErrorInvalidValue;
    runtime().scheduler.wait_all();
    return runtime().engine.memory().release(found->base, MemKind::registered)
               ? cudaSuccess
               : cudaErrorInvalidValue;
  });
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  return api([&] {
    const auto found = find_allocation(host);
    if (!device || flags || !found || !is_host(*found)) return cudaErrorInvalidValue;
    *device = host;
    return cudaSuccess;
  });
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
  return api([&] {
    const auto found = find_allocation(host);
    if (!flags || !found || !is_host(*found)) return cudaErrorInvalidValue;
    *flags = found->flags;
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return api([&] {
    const Allocations& memory = runtime().engine.memory();
    if (total) *total = memory.capacity();
    if (free) *free = memory.capacity() - memory.used();
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return api([&] {
    if (!attributes) return cudaErrorInvalidValue;
    void* address = const_cast<void*>(pointer);
    *attributes = {};
    attributes->type = cudaMemoryTypeUnregistered;
    attributes->device = cudaInvalidDeviceId;
    attributes->hostPointer = address;
    const auto found = find_allocation(pointer);
    if (!found) return cudaSuccess;
    const bool device_only = !is_host(*found) && !is_managed(*found);
    attributes->type = is_host(*found) ? cudaMemoryTypeHost
                       : device_only   ? cudaMemoryTypeDevice
                                       : cudaMemoryTypeManaged;
    attributes->device = 0;
    attributes->devicePointer = address;
    attributes->hostPointer = device_only ? nullptr : address;
    return cudaSuccess;
  });
}

}  // extern "C"
