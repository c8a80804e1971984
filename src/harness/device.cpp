#include "harness/device.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "ridge/vm_counters.h"

namespace ridge::harness {
namespace {

constexpr unsigned char kCanaryByte = 0xa5;

Status status_of(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return Status::ok();
  return Error{int(error), std::string(what) + ": " + cudaGetErrorString(error)};
}

}  // namespace

Status synchronize() { return status_of(cudaDeviceSynchronize(), "the kernel failed"); }

std::optional<Instructions> count_instructions(const std::function<void()>& work) {
  const auto set_counting = reinterpret_cast<decltype(&ridge_vm_set_counting)>(
      dlsym(RTLD_DEFAULT, "ridge_vm_set_counting"));
  const auto counts =
      reinterpret_cast<decltype(&ridge_vm_counts)>(dlsym(RTLD_DEFAULT, "ridge_vm_counts"));
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

DeviceBuffer::~DeviceBuffer() {
  if (base_) (void)cudaFree(base_);
}

void DeviceBuffer::swap(DeviceBuffer& other) {
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  std::swap(offset_, other.offset_);
  std::swap(behind_, other.behind_);
}

Expected<DeviceBuffer> DeviceBuffer::make(int64_t bytes, int64_t offset, bool canary_behind) {
  DeviceBuffer buffer;
  buffer.bytes_ = bytes;
  buffer.offset_ = offset;
  buffer.behind_ = canary_behind ? kCanary : 0;
  if (Status s = status_of(cudaMalloc(&buffer.base_, size_t(buffer.allocated())), "cudaMalloc"); !s)
    return s.error();
  if (Status s = status_of(cudaMemset(buffer.base_, kCanaryByte, size_t(buffer.allocated())),
                           "cudaMemset");
      !s)
    return s.error();
  return buffer;
}

Status DeviceBuffer::upload(const void* from) {
  return status_of(cudaMemcpy(data(), from, size_t(bytes_), cudaMemcpyHostToDevice), "upload");
}
Status DeviceBuffer::upload_repeated(const void* from, int64_t bytes) {
  char* const to = static_cast<char*>(data());
  int64_t filled = std::min(bytes, bytes_);
  if (const Status s =
          status_of(cudaMemcpy(to, from, size_t(filled), cudaMemcpyHostToDevice), "upload");
      !s)
    return s;
  for (int64_t part; filled < bytes_; filled += part) {
    part = std::min(filled, bytes_ - filled);
    if (const Status s = status_of(
            cudaMemcpy(to + filled, to, size_t(part), cudaMemcpyDeviceToDevice), "repeat");
        !s)
      return s;
  }
  return Status::ok();
}
Status DeviceBuffer::download(void* to) const {
  return status_of(cudaMemcpy(to, data(), size_t(bytes_), cudaMemcpyDeviceToHost), "download");
}
Status DeviceBuffer::poison() {
  return status_of(cudaMemset(data(), 0xff, size_t(bytes_)), "poison");
}

Expected<bool> DeviceBuffer::canaries_intact() const {
  std::vector<unsigned char> front(size_t(kCanary + offset_)), back(size_t(behind_), kCanaryByte);
  if (Status s = status_of(cudaMemcpy(front.data(), base_, front.size(), cudaMemcpyDeviceToHost),
                           "reading a canary");
      !s)
    return s.error();
  if (behind_)
    if (Status s = status_of(cudaMemcpy(back.data(), static_cast<char*>(data()) + bytes_,
                                        back.size(), cudaMemcpyDeviceToHost),
                             "reading a canary");
        !s)
      return s.error();
  const auto intact = [](unsigned char byte) { return byte == kCanaryByte; };
  return std::all_of(front.begin(), front.end(), intact) &&
         std::all_of(back.begin(), back.end(), intact);
}

}  // namespace ridge::harness
