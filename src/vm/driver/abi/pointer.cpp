// What a pointer is.
#include <cstring>

#include "vm/cudart/memory.h"
#include "vm/driver/contexts.h"
#include "vm/driver/result.h"

using namespace ridge::vm::driver;
using ridge::vm::Allocation;
using ridge::vm::MemKind;

namespace {

template <class T>
cudaError_t put(void* data, T value) {
  *static_cast<T*>(data) = value;
  return cudaSuccess;
}

cudaError_t attribute(void* data, CUpointer_attribute which, CUdeviceptr address) {
  const auto found = ridge::vm::cudart::find_allocation(reinterpret_cast<void*>(address));
  // This has an answer for memory that nobody allocated here, too.
  if (which == CU_POINTER_ATTRIBUTE_MAPPED) return put<bool>(data, found.has_value());
  if (!found) return cudaErrorInvalidValue;
  const bool host = found->kind == MemKind::pinned || found->kind == MemKind::registered;
  const bool managed = ridge::vm::cudart::is_managed(*found);
  switch (which) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: {
      const ContextRef owner = owner_of(reinterpret_cast<void*>(found->base));
      return owner ? put<CUcontext>(data, owner->handle()) : cudaErrorInvalidValue;
    }
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return put<unsigned>(data, host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: return put<CUdeviceptr>(data, address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (!host && !managed) return cudaErrorInvalidValue;
      return put<void*>(data, reinterpret_cast<void*>(address));
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: return put<bool>(data, false);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID: return put<unsigned long long>(data, found->id);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: return put<bool>(data, managed);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return put<int>(data, 0);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: return put<bool>(data, false);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: return put<CUdeviceptr>(data, found->base);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: return put<size_t>(data, found->size);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: return put<unsigned long long>(data, 0);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return put<CUmemAccess_flags>(data, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: return put<CUmemoryPool>(data, nullptr);
    default: return cudaErrorInvalidValue;
  }
}

// What cuPointerGetAttributes leaves where an attribute has no value.
size_t size_of(CUpointer_attribute which) {
  switch (which) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: return 4;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: return 1;
    default: return 8;
  }
}

}  // namespace

extern "C" {

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute which, CUdeviceptr address) {
  return driver_call(
      [&] { return data ? attribute(data, which, address) : cudaErrorInvalidValue; });
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* which, void** data,
                                CUdeviceptr address) {
  return driver_call([&] {
    if (!count || !which || !data) return cudaErrorInvalidValue;
    for (unsigned i = 0; i < count; ++i) {
      if (attribute(data[i], which[i], address) == cudaSuccess) continue;
      if (which[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) put<int>(data[i], CU_DEVICE_INVALID);
      else std::memset(data[i], 0, size_of(which[i]));
    }
    return cudaSuccess;
  });
}

CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute which, CUdeviceptr address) {
  return driver_call([&] {
    const auto found = ridge::vm::cudart::find_allocation(reinterpret_cast<void*>(address));
    if (!value || !found) return cudaErrorInvalidValue;
    return which == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS
               ? refuse_call("CU_POINTER_ATTRIBUTE_SYNC_MEMOPS", "pointer attributes")
               : cudaErrorInvalidValue;
  });
}

}  // extern "C"
