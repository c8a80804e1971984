// cuMemCreate, cuMemAddressReserve, cuMemMap, cuMemSetAccess and their kin.
#include "vm/driver/virtual_memory.h"

using namespace ridge::vm::driver;

namespace {

bool is_own_device(const CUmemLocation& location) {
  return location.type == CU_MEM_LOCATION_TYPE_DEVICE && location.id == 0;
}

}  // namespace

extern "C" {

CUresult cuMemGetAllocationGranularity(size_t* granularity, const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags option) {
  return driver_call([&] {
    if (option < 0 || option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) return cudaErrorInvalidValue;
    if (const cudaError_t error = check_properties(properties)) return error;
    return answer(granularity, kGranularity);
  });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t size,
                     const CUmemAllocationProp* properties, unsigned long long flags) {
  return driver_call([&] {
    if (!handle || flags) return cudaErrorInvalidValue;
    if (const cudaError_t error = check_properties(properties)) return error;
    const unsigned kinds = properties->requestedHandleTypes;
    if (kinds & ~unsigned(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))
      return refuse_call("cuMemCreate with a handle type that is no file descriptor",
                         "virtual memory");
    return create_memory(size, *properties, handle);
  });
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return driver_call([&] { return release_memory(handle); });
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
  return driver_call(
      [&] { return handle ? retain_memory(address, handle) : cudaErrorInvalidValue; });
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties,
                                                CUmemGenericAllocationHandle handle) {
  return driver_call(
      [&] { return properties ? memory_properties(handle, properties) : cudaErrorInvalidValue; });
}

CUresult cuMemExportToShareableHandle(void* out, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags) {
  return driver_call([&] {
    if (!out || flags || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
      return cudaErrorInvalidValue;
    return export_memory(handle, static_cast<int*>(out));
  });
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* shared,
                                        CUmemAllocationHandleType type) {
  return driver_call([&] {
    if (!handle || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return cudaErrorInvalidValue;
    return import_memory(int(reinterpret_cast<intptr_t>(shared)), handle);
  });
}

CUresult cuMemAddressReserve(CUdeviceptr* address, size_t size, size_t alignment, CUdeviceptr,
                             unsigned long long flags) {  // the wished-for address is a hint
  return driver_call([&] {
    if (!address || flags) return cudaErrorInvalidValue;
    return reserve_addresses(size, alignment, address);
  });
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t size) {
  return driver_call([&] { return free_addresses(address, size); });
}

CUresult cuMemMap(CUdeviceptr address, size_t size, size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
  return driver_call([&] {
    if (offset || flags) return cudaErrorInvalidValue;  // both are for later, says the toolkit
    return map_memory(address, size, handle);
  });
}

CUresult cuMemUnmap(CUdeviceptr address, size_t size) {
  return driver_call([&] { return unmap_memory(address, size); });
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t size, const CUmemAccessDesc* list,
                        size_t count) {
  return driver_call([&] {
    if (!list || !count) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; ++i) {
      if (list[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE) return cudaErrorInvalidValue;
      if (!is_own_device(list[i].location)) return cudaErrorInvalidDevice;
      if (list[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READ)
        return refuse_call("CU_MEM_ACCESS_FLAGS_PROT_READ", "virtual memory");
      const bool open = list[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
      if (!open && list[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE) return cudaErrorInvalidValue;
      if (const cudaError_t error = set_access(address, size, open)) return error;
    }
    return cudaSuccess;
  });
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location,
                        CUdeviceptr address) {
  return driver_call([&] {
    bool accessible = false;
    if (!flags || !location || !is_own_device(*location)) return cudaErrorInvalidValue;
    if (const cudaError_t error = get_access(address, &accessible)) return error;
    *flags = accessible ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return cudaSuccess;
  });
}

}  // extern "C"
