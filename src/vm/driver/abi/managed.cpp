// Managed memory and stream-ordered allocation: the runtime's, with addresses as numbers.
#include "vm/driver/contexts.h"
#include "vm/driver/result.h"
#include "vm/driver/same.h"

using namespace ridge::vm::driver;

namespace {

cudaMemLocation location_of(const CUmemLocation& location) {
  cudaMemLocation same{};
  same.type = cudaMemLocationType(location.type);
  same.id = location.id;
  return same;
}

// The older calls name a device, or the host by a negative number.
CUmemLocation location_of(CUdevice device) {
  CUmemLocation location{};
  location.type = device < 0 ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE;
  location.id = device < 0 ? 0 : device;
  return location;
}

template <class Make>
CUresult allocate(CUdeviceptr* address, size_t bytes, Make&& make) {
  return context_call([&] {
    void* made = nullptr;
    if (!address || !bytes) return cudaErrorInvalidValue;
    if (const cudaError_t error = make(&made)) return error;
    *address = reinterpret_cast<CUdeviceptr>(made);
    return cudaSuccess;
  });
}

}  // namespace

extern "C" {

CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t bytes, CUmemLocation location,
                               unsigned flags, CUstream stream) {
  return context_call([&] {
    return cudaMemPrefetchAsync(pointer(address), bytes, location_of(location), flags, stream);
  });
}
CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream) {
  return cuMemPrefetchAsync_v2(address, bytes, location_of(device), 0, stream);
}

CUresult cuMemAdvise_v2(CUdeviceptr address, size_t bytes, CUmem_advise advice,
                        CUmemLocation location) {
  return context_call([&] {
    return cudaMemAdvise(pointer(address), bytes, cudaMemoryAdvise(advice), location_of(location));
  });
}
CUresult cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice device) {
  return cuMemAdvise_v2(address, bytes, advice, location_of(device));
}

CUresult cuMemRangeGetAttribute(void* data, size_t bytes, CUmem_range_attribute attribute,
                                CUdeviceptr address, size_t count) {
  return context_call([&] {
    return cudaMemRangeGetAttribute(data, bytes, cudaMemRangeAttribute(attribute), pointer(address),
                                    count);
  });
}
CUresult cuMemRangeGetAttributes(void** data, size_t* sizes, CUmem_range_attribute* attributes,
                                 size_t number, CUdeviceptr address, size_t count) {
  return context_call([&] {
    return cudaMemRangeGetAttributes(data, sizes,
                                     reinterpret_cast<cudaMemRangeAttribute*>(attributes), number,
                                     pointer(address), count);
  });
}

CUresult cuMemAllocAsync(CUdeviceptr* address, size_t bytes, CUstream stream) {
  return allocate(address, bytes,
                  [&](void** made) { return cudaMallocAsync(made, bytes, stream); });
}
CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, size_t bytes, CUmemoryPool pool,
                                 CUstream stream) {
  return allocate(address, bytes,
                  [&](void** made) { return cudaMallocFromPoolAsync(made, bytes, pool, stream); });
}
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return context_call([&] { return cudaFreeAsync(pointer(address), stream); });
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  return driver_call([&] { return cudaDeviceGetDefaultMemPool(pool, device); });
}
CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  return driver_call([&] { return cudaDeviceGetMemPool(pool, device); });
}
CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  return driver_call([&] { return cudaDeviceSetMemPool(device, pool); });
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool* pool, CUmemLocation* location,
                                CUmemAllocationType type) {
  return driver_call(
      [&] { return cudaMemGetDefaultMemPool(pool, same(location), cudaMemAllocationType(type)); });
}
CUresult cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
  return driver_call(
      [&] { return cudaMemGetMemPool(pool, same(location), cudaMemAllocationType(type)); });
}
CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool pool) {
  return driver_call(
      [&] { return cudaMemSetMemPool(same(location), cudaMemAllocationType(type), pool); });
}

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  static_assert(sizeof(CUmemPoolProps) == sizeof(cudaMemPoolProps));
  return driver_call([&] {
    return cudaMemPoolCreate(pool, reinterpret_cast<const cudaMemPoolProps*>(properties));
  });
}
CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  return driver_call([&] { return cudaMemPoolDestroy(pool); });
}
CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t bytes) {
  return driver_call([&] { return cudaMemPoolTrimTo(pool, bytes); });
}
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return driver_call(
      [&] { return cudaMemPoolGetAttribute(pool, cudaMemPoolAttr(attribute), value); });
}
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return driver_call(
      [&] { return cudaMemPoolSetAttribute(pool, cudaMemPoolAttr(attribute), value); });
}
CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* list, size_t count) {
  static_assert(sizeof(CUmemAccessDesc) == sizeof(cudaMemAccessDesc));
  return driver_call([&] {
    return cudaMemPoolSetAccess(pool, reinterpret_cast<const cudaMemAccessDesc*>(list), count);
  });
}
CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool pool, CUmemLocation* location) {
  static_assert(sizeof(CUmemLocation) == sizeof(cudaMemLocation));
  return driver_call([&] {
    return cudaMemPoolGetAccess(reinterpret_cast<cudaMemAccessFlags*>(flags), pool,
                                reinterpret_cast<cudaMemLocation*>(location));
  });
}

}  // extern "C"
