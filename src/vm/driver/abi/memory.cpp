// Allocating and freeing, host registration, and the size of memory.
#include "vm/cudart/memory.h"

#include "vm/cudart/capture.h"
#include "vm/cudart/runtime.h"
#include "vm/driver/contexts.h"

using namespace ridge::vm::driver;
using ridge::vm::MemKind;
using ridge::vm::cudart::find_allocation;
using ridge::vm::cudart::runtime;

namespace {

// Memory goes with the context it was allocated in, unless something else lies there by then.
void own_memory(void* pointer) {
  const auto made = find_allocation(pointer);
  if (!made) return;
  own(pointer, [pointer, kind = made->kind, id = made->id] {
    const auto found = find_allocation(pointer);
    if (found && found->id == id) runtime().engine.memory().release(found->base, kind);
  });
}

// Allocates as `make` says. The driver, unlike the runtime, has no allocations of 0 bytes.
template <class Make>
CUresult allocate(size_t bytes, Make&& make) {
  return context_call([&] {
    if (!bytes) return cudaErrorInvalidValue;
    void* pointer = nullptr;
    if (const cudaError_t error = make(&pointer)) return error;
    own_memory(pointer);
    return cudaSuccess;
  });
}

template <class Make>
CUresult allocate_device(CUdeviceptr* address, size_t bytes, Make&& make) {
  return allocate(address ? bytes : 0, [&](void** pointer) {
    const cudaError_t error = make(pointer);
    if (!error) *address = reinterpret_cast<CUdeviceptr>(*pointer);
    return error;
  });
}

template <class Free>
CUresult release(void* pointer, Free&& free) {
  return context_call([&] {
    if (const cudaError_t error = ridge::vm::cudart::check_unsafe()) return error;
    if (const cudaError_t error = free(pointer)) return error;
    disown(pointer);
    return cudaSuccess;
  });
}

}  // namespace

extern "C" {

CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  return allocate_device(address, bytes,
                         [&](void** pointer) { return cudaMalloc(pointer, bytes); });
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* address, size_t* pitch, size_t width, size_t height,
                            unsigned element) {
  const bool known = element == 4 || element == 8 || element == 16;
  return allocate_device(address, pitch && known ? width * height : 0, [&](void** pointer) {
    return cudaMallocPitch(pointer, pitch, width, height);
  });
}

CUresult cuMemAllocManaged(CUdeviceptr* address, size_t bytes, unsigned flags) {
  return allocate_device(address, bytes,
                         [&](void** pointer) { return cudaMallocManaged(pointer, bytes, flags); });
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  return release(reinterpret_cast<void*>(address),
                 [](void* p) { return ridge::vm::cudart::free_device(p); });
}

CUresult cuMemHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  return allocate(pointer ? bytes : 0, [&](void** made) {
    const cudaError_t error = cudaHostAlloc(made, bytes, flags);
    if (!error) *pointer = *made;
    return error;
  });
}

CUresult cuMemAllocHost_v2(void** pointer, size_t bytes) {
  return cuMemHostAlloc(pointer, bytes, CU_MEMHOSTALLOC_DEVICEMAP);
}

CUresult cuMemFreeHost(void* pointer) {
  return release(
      pointer, [](void* p) { return p ? ridge::vm::cudart::free_host(p) : cudaErrorInvalidValue; });
}

CUresult cuMemHostRegister_v2(void* pointer, size_t bytes, unsigned flags) {
  return allocate(bytes, [&](void** made) {
    *made = pointer;
    return cudaHostRegister(pointer, bytes, flags);
  });
}
CUresult cuMemHostRegister(void* pointer, size_t bytes, unsigned flags) {
  return cuMemHostRegister_v2(pointer, bytes, flags);
}

CUresult cuMemHostUnregister(void* pointer) {
  return release(pointer, [](void* p) { return cudaHostUnregister(p); });
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* host, unsigned flags) {
  return context_call([&] {
    void* device = nullptr;
    if (const cudaError_t error = cudaHostGetDevicePointer(&device, host, flags)) return error;
    return answer(address, reinterpret_cast<CUdeviceptr>(device));
  });
}

CUresult cuMemHostGetFlags(unsigned* flags, void* host) {
  return context_call([&] { return cudaHostGetFlags(flags, host); });
}

CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
  return context_call(
      [&] { return free && total ? cudaMemGetInfo(free, total) : cudaErrorInvalidValue; });
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* size, CUdeviceptr address) {
  return context_call([&] {
    const auto found = find_allocation(reinterpret_cast<void*>(address));
    if (!found) return kNotFound;
    if (base) *base = found->base;
    if (size) *size = found->size;
    return cudaSuccess;
  });
}

}  // extern "C"
