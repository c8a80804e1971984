#include "vm/driver/virtual_memory.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "vm/cudart/runtime.h"

namespace ridge::vm::driver {
namespace {

// Exists as long as a handle or a mapping needs it.
struct Physical {
  int file = -1;
  size_t size = 0;
  bool claimed = false;  // counts in the device's memory; imported memory does not
  CUmemAllocationProp properties{};
  ~Physical() {
    if (file >= 0) close(file);
    if (claimed) cudart::runtime().engine.memory().unclaim(size);
  }
};
using PhysicalRef = std::shared_ptr<Physical>;

struct Handle {
  PhysicalRef memory;
  int uses = 1;
};

struct Mapping {
  size_t size = 0;
  PhysicalRef memory;
  bool accessible = false;
};

struct Mapped {
  std::mutex mutex;
  std::unordered_map<CUmemGenericAllocationHandle, Handle> handles;
  std::map<uint64_t, size_t> reservations;  // by address
  std::map<uint64_t, Mapping> mappings;
  uint64_t next_handle = 1;
};
Mapped& all_mapped() {
  static auto& instance = *new Mapped;
  return instance;
}
using Lock = std::lock_guard<std::mutex>;

CUmemGenericAllocationHandle add_handle(PhysicalRef memory) {
  const uint64_t handle = all_mapped().next_handle++;
  all_mapped().handles[handle] = {std::move(memory), 1};
  return handle;
}

// The reservation that holds the whole range.
auto find_reservation(uint64_t address, size_t size) {
  auto it = all_mapped().reservations.upper_bound(address);
  if (it == all_mapped().reservations.begin()) return all_mapped().reservations.end();
  --it;
  const bool inside = address + size <= it->first + it->second && size <= it->second;
  return inside ? it : all_mapped().reservations.end();
}

auto mapping_at(uint64_t address) {
  auto it = all_mapped().mappings.upper_bound(address);
  if (it == all_mapped().mappings.begin()) return all_mapped().mappings.end();
  --it;
  return address < it->first + it->second.size ? it : all_mapped().mappings.end();
}

// Whole mappings, one behind the other, from `address` to its end.
bool covers_mappings(uint64_t address, size_t size) {
  const uint64_t end = address + size;
  while (address < end) {
    const auto it = all_mapped().mappings.find(address);
    if (it == all_mapped().mappings.end()) return false;
    address += it->second.size;
  }
  return address == end;
}

// What kernels may touch in a reservation, told anew: each run of accessible mappings is one piece.
void publish(uint64_t base, size_t size) {
  Allocations& memory = cudart::runtime().engine.memory();
  for (const Allocation& a : memory.live())
    if (a.kind == MemKind::mapped && a.base >= base && a.base < base + size)
      memory.release(a.base, MemKind::mapped);
  uint64_t start = 0, end = 0;
  const auto flush = [&] {
    if (end > start) memory.add_mapped(start, end - start);
  };
  for (auto it = all_mapped().mappings.lower_bound(base);
       it != all_mapped().mappings.end() && it->first < base + size; ++it) {
    if (!it->second.accessible) continue;
    if (it->first != end) {
      flush();
      start = it->first;
    }
    end = it->first + it->second.size;
  }
  flush();
}

}  // namespace

cudaError_t check_properties(const CUmemAllocationProp* p) {
  if (!p || p->type != CU_MEM_ALLOCATION_TYPE_PINNED) return cudaErrorInvalidValue;
  if (p->location.type == CU_MEM_LOCATION_TYPE_DEVICE)
    return p->location.id == 0 ? cudaSuccess : cudaErrorInvalidDevice;
  if (p->location.type == CU_MEM_LOCATION_TYPE_HOST ||
      p->location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
      p->location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT)
    return refuse_call("cuMemCreate for host memory", "virtual memory");
  return cudaErrorInvalidValue;
}

cudaError_t create_memory(size_t size, const CUmemAllocationProp& properties,
                          CUmemGenericAllocationHandle* handle) {
  if (!size || size % kGranularity) return cudaErrorInvalidValue;
  auto memory = std::make_shared<Physical>();
  memory->size = size;
  memory->properties = properties;
  if (!cudart::runtime().engine.memory().claim(size)) return cudaErrorMemoryAllocation;
  memory->claimed = true;
  memory->file = memfd_create("ridge device memory", MFD_CLOEXEC);
  if (memory->file < 0 || ftruncate(memory->file, off_t(size)) != 0)
    return cudaErrorMemoryAllocation;
  const Lock lock(all_mapped().mutex);
  *handle = add_handle(std::move(memory));
  return cudaSuccess;
}

cudaError_t release_memory(CUmemGenericAllocationHandle handle) {
  const Lock lock(all_mapped().mutex);
  const auto found = all_mapped().handles.find(handle);
  if (found == all_mapped().handles.end()) return cudaErrorInvalidValue;
  if (--found->second.uses == 0) all_mapped().handles.erase(found);
  return cudaSuccess;
}

cudaError_t retain_memory(const void* address, CUmemGenericAllocationHandle* handle) {
  const Lock lock(all_mapped().mutex);
  const auto mapping = mapping_at(reinterpret_cast<uintptr_t>(address));
  if (mapping == all_mapped().mappings.end()) return cudaErrorInvalidValue;
  for (auto& [number, known] : all_mapped().handles)
    if (known.memory == mapping->second.memory) {
      ++known.uses;
      *handle = number;
      return cudaSuccess;
    }
  *handle = add_handle(mapping->second.memory);  // its handles had all been released
  return cudaSuccess;
}

cudaError_t memory_properties(CUmemGenericAllocationHandle handle,
                              CUmemAllocationProp* properties) {
  const Lock lock(all_mapped().mutex);
  const auto found = all_mapped().handles.find(handle);
  if (found == all_mapped().handles.end()) return cudaErrorInvalidValue;
  *properties = found->second.memory->properties;
  return cudaSuccess;
}

cudaError_t export_memory(CUmemGenericAllocationHandle handle, int* descriptor) {
  const Lock lock(all_mapped().mutex);
  const auto found = all_mapped().handles.find(handle);
  if (found == all_mapped().handles.end()) return cudaErrorInvalidValue;
  const Physical& memory = *found->second.memory;
  if (!(memory.properties.requestedHandleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))
    return cudaErrorInvalidValue;
  *descriptor = dup(memory.file);
  return *descriptor < 0 ? cudaErrorOperatingSystem : cudaSuccess;
}

cudaError_t import_memory(int descriptor, CUmemGenericAllocationHandle* handle) {
  struct stat status;
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= 0 ||
      size_t(status.st_size) % kGranularity)
    return cudaErrorInvalidValue;
  auto memory = std::make_shared<Physical>();
  memory->size = size_t(status.st_size);
  memory->file = dup(descriptor);
  memory->properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  memory->properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  memory->properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  const Lock lock(all_mapped().mutex);
  *handle = add_handle(std::move(memory));
  return cudaSuccess;
}

cudaError_t reserve_addresses(size_t size, size_t alignment, CUdeviceptr* address) {
  const bool power_of_two = (alignment & (alignment - 1)) == 0;
  if (!size || size % kGranularity || !power_of_two) return cudaErrorInvalidValue;
  const auto base =
      cudart::runtime().engine.memory().reserve(size, std::max(alignment, kGranularity));
  if (!base) return cudaErrorMemoryAllocation;
  const Lock lock(all_mapped().mutex);
  all_mapped().reservations[*base] = size;
  *address = *base;
  return cudaSuccess;
}

cudaError_t free_addresses(CUdeviceptr address, size_t size) {
  const Lock lock(all_mapped().mutex);
  const auto found = all_mapped().reservations.find(address);
  if (found == all_mapped().reservations.end() || found->second != size)
    return cudaErrorInvalidValue;
  const auto mapped = all_mapped().mappings.lower_bound(address);
  if (mapped != all_mapped().mappings.end() && mapped->first < address + size)
    return cudaErrorInvalidValue;
  all_mapped().reservations.erase(found);
  cudart::runtime().engine.memory().unreserve(address, size);
  return cudaSuccess;
}

cudaError_t map_memory(CUdeviceptr address, size_t size, CUmemGenericAllocationHandle handle) {
  const Lock lock(all_mapped().mutex);
  const auto found = all_mapped().handles.find(handle);
  if (found == all_mapped().handles.end() || !size || size % kGranularity ||
      address % kGranularity || size > found->second.memory->size ||
      find_reservation(address, size) == all_mapped().reservations.end())
    return cudaErrorInvalidValue;
  const auto next = all_mapped().mappings.lower_bound(address);
  if (mapping_at(address) != all_mapped().mappings.end() ||
      (next != all_mapped().mappings.end() && next->first < address + size))
    return cudaErrorInvalidValue;
  if (mmap(cudart::runtime().engine.memory().place(address), size, PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_FIXED, found->second.memory->file, 0) == MAP_FAILED)
    return cudaErrorMemoryAllocation;
  all_mapped().mappings[address] = {size, found->second.memory};
  return cudaSuccess;
}

cudaError_t unmap_memory(CUdeviceptr address, size_t size) {
  cudart::runtime().scheduler.wait_all();
  const Lock lock(all_mapped().mutex);
  const auto reservation = find_reservation(address, size);
  if (reservation == all_mapped().reservations.end() || !size || !covers_mappings(address, size))
    return cudaErrorInvalidValue;
  all_mapped().mappings.erase(all_mapped().mappings.find(address),
                              all_mapped().mappings.lower_bound(address + size));
  publish(reservation->first, reservation->second);
  // Back to what the device's range is made of.
  const void* blank =
      mmap(cudart::runtime().engine.memory().place(address), size, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  return blank == MAP_FAILED ? cudaErrorOperatingSystem : cudaSuccess;
}

cudaError_t set_access(CUdeviceptr address, size_t size, bool accessible) {
  cudart::runtime().scheduler.wait_all();
  const Lock lock(all_mapped().mutex);
  const auto reservation = find_reservation(address, size);
  if (reservation == all_mapped().reservations.end() || !size || !covers_mappings(address, size))
    return cudaErrorInvalidValue;
  for (auto it = all_mapped().mappings.find(address);
       it != all_mapped().mappings.end() && it->first < address + size; ++it)
    it->second.accessible = accessible;
  publish(reservation->first, reservation->second);
  return cudaSuccess;
}

cudaError_t get_access(CUdeviceptr address, bool* accessible) {
  const Lock lock(all_mapped().mutex);
  const auto mapping = mapping_at(address);
  if (mapping == all_mapped().mappings.end()) return cudaErrorInvalidValue;
  *accessible = mapping->second.accessible;
  return cudaSuccess;
}

}  // namespace ridge::vm::driver
