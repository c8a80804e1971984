// Virtual memory management: physical memory, addresses, and the one mapped at the other.
//
// Addresses are taken from the device's own range, physical memory is a file without a name, and a
// mapping is the system's. Kernels see what cuMemSetAccess has opened; neighbouring mappings are
// one piece then, as an array may lie across them.
#pragma once

#include "vm/driver/api.h"
#include "vm/driver/result.h"

namespace ridge::vm::driver {

inline constexpr size_t kGranularity = 2 << 20;

cudaError_t check_properties(const CUmemAllocationProp* properties);

cudaError_t create_memory(size_t size, const CUmemAllocationProp& properties,
                          CUmemGenericAllocationHandle* handle);
cudaError_t release_memory(CUmemGenericAllocationHandle handle);
cudaError_t retain_memory(const void* address, CUmemGenericAllocationHandle* handle);
cudaError_t memory_properties(CUmemGenericAllocationHandle handle, CUmemAllocationProp* properties);
cudaError_t export_memory(CUmemGenericAllocationHandle handle, int* descriptor);
cudaError_t import_memory(int descriptor, CUmemGenericAllocationHandle* handle);

cudaError_t reserve_addresses(size_t size, size_t alignment, CUdeviceptr* address);
cudaError_t free_addresses(CUdeviceptr address, size_t size);
cudaError_t map_memory(CUdeviceptr address, size_t size, CUmemGenericAllocationHandle handle);
cudaError_t unmap_memory(CUdeviceptr address, size_t size);
cudaError_t set_access(CUdeviceptr address, size_t size, bool accessible);
cudaError_t get_access(CUdeviceptr address, bool* accessible);

}  // namespace ridge::vm::driver
