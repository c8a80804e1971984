#include "harness/device.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "core/align.h"
#include "harness/equal.h"
#include "ridge/vm_counters.h"

namespace ridge::harness {
namespace {

constexpr unsigned char kCanaryByte = 0xa5;

Status status_of(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return Status::ok();
  return Error{int(error), std::string(what) + ": " + cudaGetErrorString(error)};
}

// A function of the software GPU that no GPU has; none on a GPU.
template <class Function>
Function* software_gpu_function(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace

Status synchronize() { return status_of(cudaDeviceSynchronize(), "the kernel failed"); }

std::optional<Instructions> count_instructions(const std::function<void()>& work) {
  const auto set_counting = software_gpu_function<void(int)>("ridge_vm_set_counting");
  const auto counts = software_gpu_function<void(RidgeVmCounts*)>("ridge_vm_counts");
  if (!set_counting || !counts) {
    work();
    return std::nullopt;
  }
  RidgeVmCounts before, after;
  counts(&before);
  set_counting(1);
  work();
  set_counting(0);
  counts(&after);
  return Instructions{after.warp_instructions - before.warp_instructions,
                      after.thread_instructions - before.thread_instructions};
}

std::optional<Modelled> model_time(const std::function<void()>& work) {
  const auto begin = software_gpu_function<void()>("ridge_vm_model_begin");
  const auto end = software_gpu_function<int(RidgeVmModelled*)>("ridge_vm_model_end");
  if (!begin || !end) return std::nullopt;
  begin();
  work();
  RidgeVmModelled sum;
  end(&sum);
  return Modelled{.us = sum.us,
                  .low_us = sum.low_us,
                  .high_us = sum.high_us,
                  .graph_us = sum.graph_us,
                  .bound = sum.bound,
                  .why = sum.why};
}

DeviceBuffer::~DeviceBuffer() {
  switch (memory_) {
    case Memory::device: (void)cudaFree(base_); break;
    case Memory::pinned: (void)cudaFreeHost(base_); break;
    case Memory::pageable: std::free(base_); break;
  }
}

void DeviceBuffer::swap(DeviceBuffer& other) {
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  std::swap(offset_, other.offset_);
  std::swap(behind_, other.behind_);
  std::swap(memory_, other.memory_);
}

Status DeviceBuffer::copy(void* to, const void* from, int64_t bytes, const char* what) const {
  if (memory_ == Memory::device)
    return status_of(cudaMemcpy(to, from, size_t(bytes), cudaMemcpyDefault), what);
  if (bytes > 0) std::memcpy(to, from, size_t(bytes));
  return Status::ok();
}
Status DeviceBuffer::fill(void* to, int byte, int64_t bytes, const char* what) const {
  if (memory_ == Memory::device) return status_of(cudaMemset(to, byte, size_t(bytes)), what);
  if (bytes > 0) std::memset(to, byte, size_t(bytes));
  return Status::ok();
}

Expected<DeviceBuffer> DeviceBuffer::make(int64_t bytes, int64_t offset, bool canary_behind,
                                          Memory memory) {
  auto buffer = allocate(bytes, offset, canary_behind, memory);
  if (!buffer) return buffer;
  if (const Status s = buffer->fill(buffer->base_, kCanaryByte, buffer->allocated(), "cudaMemset");
      !s)
    return s.error();
  return buffer;
}
Expected<DeviceBuffer> DeviceBuffer::make_bare(int64_t bytes, Memory memory) {
  return allocate(bytes, 0, false, memory);
}
Expected<DeviceBuffer> DeviceBuffer::allocate(int64_t bytes, int64_t offset, bool canary_behind,
                                              Memory memory) {
  DeviceBuffer buffer;
  buffer.bytes_ = bytes;
  buffer.offset_ = offset;
  buffer.behind_ = canary_behind ? kCanary : 0;
  buffer.memory_ = memory;
  const auto size = size_t(buffer.allocated());
  Status made;
  switch (memory) {
    case Memory::device: made = status_of(cudaMalloc(&buffer.base_, size), "cudaMalloc"); break;
    case Memory::pinned:
      made = status_of(cudaMallocHost(&buffer.base_, size), "cudaMallocHost");
      break;
    case Memory::pageable:
      buffer.base_ = std::aligned_alloc(kCanary, round_up(size, kCanary));
      if (!buffer.base_) made = Error{int(cudaErrorMemoryAllocation), "no host memory"};
  }
  if (!made) return made.error();
  return buffer;
}

Status DeviceBuffer::upload(const void* from) { return copy(data(), from, bytes_, "upload"); }
Status DeviceBuffer::upload_part(const void* from, int64_t at, int64_t bytes) {
  return copy(static_cast<char*>(data()) + at, from, bytes, "upload");
}
Status DeviceBuffer::copy_from(const DeviceBuffer& other) {
  return copy(data(), other.data(), bytes_, "copy");
}
Expected<bool> DeviceBuffer::equals(const DeviceBuffer& other) const {
  if (bytes_ == 0) return true;
  if (memory_ != Memory::device) return std::memcmp(data(), other.data(), size_t(bytes_)) == 0;
  auto differ = make(sizeof(unsigned), 0, false);
  if (!differ) return differ.error();
  const unsigned none = 0;
  if (const Status s = differ->upload(&none); !s) return s.error();
  launch_compare(data(), other.data(), bytes_, static_cast<unsigned*>(differ->data()), nullptr);
  if (const Status s = status_of(cudaGetLastError(), "comparing memory"); !s) return s.error();
  unsigned any = 0;
  if (const Status s = differ->download(&any); !s) return s.error();
  return any == 0;
}
Status DeviceBuffer::upload_repeated(const void* from, int64_t bytes) {
  char* const to = static_cast<char*>(data());
  const auto repeat =
      software_gpu_function<int(void*, size_t, const void*, size_t)>("ridge_vm_repeat");
  if (memory_ == Memory::device && repeat && repeat(to, size_t(bytes_), from, size_t(bytes)))
    return Status::ok();
  int64_t filled = std::min(bytes, bytes_);
  if (const Status s = copy(to, from, filled, "upload"); !s) return s;
  for (int64_t part; filled < bytes_; filled += part) {
    part = std::min(filled, bytes_ - filled);
    if (const Status s = copy(to + filled, to, part, "repeat"); !s) return s;
  }
  return Status::ok();
}
Status DeviceBuffer::download(void* to) const { return copy(to, data(), bytes_, "download"); }
Status DeviceBuffer::poison() { return fill(data(), 0xff, bytes_, "poison"); }

Expected<bool> DeviceBuffer::canaries_intact() const {
  std::vector<unsigned char> front(size_t(kCanary + offset_)), back(size_t(behind_), kCanaryByte);
  if (const Status s = copy(front.data(), base_, int64_t(front.size()), "reading a canary"); !s)
    return s.error();
  if (behind_)
    if (const Status s =
            copy(back.data(), static_cast<char*>(data()) + bytes_, behind_, "reading a canary");
        !s)
      return s.error();
  const auto intact = [](unsigned char byte) { return byte == kCanaryByte; };
  return std::all_of(front.begin(), front.end(), intact) &&
         std::all_of(back.begin(), back.end(), intact);
}

}  // namespace ridge::harness
