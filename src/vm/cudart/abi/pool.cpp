// Stream-ordered allocation and memory pools.
#include "vm/cudart/errors.h"
#include "vm/cudart/pools.h"
#include "vm/cudart/refuse.h"

using namespace ridge::vm::cudart;

namespace {

template <class Body>
cudaError_t with_pool(cudaMemPool_t handle, Body&& body) {
  return api([&] {
    const PoolRef pool = find_pool(handle);
    return pool ? body(*pool) : cudaErrorInvalidValue;
  });
}

cudaError_t device_pool(cudaMemPool_t* pool, int device, cudaMemPool_t (*which)()) {
  return api([&] {
    if (!pool) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    *pool = which();
    return cudaSuccess;
  });
}

// The pool of a place and kind of memory. There is one place with pools, and one kind.
template <class Body>
cudaError_t located_pool(const cudaMemLocation* location, cudaMemAllocationType type, Body&& body) {
  return api([&] {
    if (!location) return cudaErrorInvalidValue;
    if (type == cudaMemAllocationTypeManaged)
      return cudaError_t(refuse("a memory pool of managed memory", "memory pools"));
    if (type != cudaMemAllocationTypePinned) return cudaErrorInvalidValue;
    switch (location->type) {
      case cudaMemLocationTypeDevice: return location->id == 0 ? body() : cudaErrorInvalidDevice;
      case cudaMemLocationTypeHost:
      case cudaMemLocationTypeHostNuma:
        return cudaError_t(refuse("a memory pool of host memory", "memory pools"));
      default: return cudaErrorInvalidValue;
    }
  });
}

}  // namespace

extern "C" {

cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
  return api([&] { return allocate_async(pointer, bytes, find_pool(current_pool()), stream); });
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  return api([&] { return allocate_async(pointer, bytes, find_pool(pool), stream); });
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return api([&] { return free_async(pointer, stream); });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return device_pool(pool, device, default_pool);
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return device_pool(pool, device, current_pool);
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return api([&] { return device == 0 ? set_current_pool(pool) : cudaErrorInvalidDevice; });
}

cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                                     cudaMemAllocationType type) {
  return located_pool(location, type, [&] { return cudaDeviceGetDefaultMemPool(pool, 0); });
}

cudaError_t cudaMemGetMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                              cudaMemAllocationType type) {
  return located_pool(location, type, [&] { return cudaDeviceGetMemPool(pool, 0); });
}

cudaError_t cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType type,
                              cudaMemPool_t pool) {
  return located_pool(location, type, [&] { return set_current_pool(pool); });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return api([&] { return create_pool(pool, properties); });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return api([&] { return destroy_pool(pool); });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) {
  // Nothing is kept, so nothing is left to trim.
  return with_pool(pool, [](Pool&) { return cudaSuccess; });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return with_pool(pool, [&](Pool& p) {
    return value ? pool_attribute(p, attribute, value) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return with_pool(pool, [&](Pool& p) {
    return value ? set_pool_attribute(p, attribute, value) : cudaErrorInvalidValue;
  });
}

// The one device always has access to its own pools, and that cannot be taken away.
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* list, size_t count) {
  return with_pool(pool, [&](Pool&) {
    if (count && !list) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; ++i) {
      if (list[i].location.type != cudaMemLocationTypeDevice) return cudaErrorInvalidValue;
      if (list[i].location.id != 0) return cudaErrorInvalidDevice;
      if (list[i].flags != cudaMemAccessFlagsProtReadWrite) return cudaErrorInvalidValue;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool,
                                 cudaMemLocation* location) {
  return with_pool(pool, [&](Pool&) {
    if (!flags || !location) return cudaErrorInvalidValue;
    const bool own = location->type == cudaMemLocationTypeDevice && location->id == 0;
    *flags = own ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
    return cudaSuccess;
  });
}

}  // extern "C"
