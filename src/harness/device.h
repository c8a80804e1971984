// Memory, errors and counters of the device a process runs on.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/status.h"

namespace ridge::harness {

Status synchronize();  // and report what went wrong since the last time

struct Instructions {
  uint64_t warp = 0, thread = 0;
};
// What the software GPU executed during `work`. Nothing on a GPU.
std::optional<Instructions> count_instructions(const std::function<void()>& work);

// What the model of time says of `work` (docs/model.md). Nothing on a GPU. The results of kernels
// are not there afterwards: they run only as far as the model needs it.
struct Modelled {
  double us = 0, low_us = 0, high_us = 0;  // between two events
  double graph_us = 0;                     // as one of many in a graph
  std::string bound, why;
};
std::optional<Modelled> model_time(const std::function<void()>& work);

enum class Memory : uint8_t { device, pinned, pageable };  // the last two on the host

// Memory of a case's tensors, on the device unless it is asked for elsewhere. Each starts
// `misalignment` elements past a 256-byte boundary, behind a canary; on a GPU another follows it.
// The software GPU checks every access against the exact end, so there nothing may follow.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer&& other) noexcept { swap(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    swap(other);
    return *this;
  }

  static Expected<DeviceBuffer> make(int64_t bytes, int64_t offset, bool canary_behind,
                                     Memory memory = Memory::device);
  // Without canaries, and with whatever is in the memory.
  static Expected<DeviceBuffer> make_bare(int64_t bytes, Memory memory = Memory::device);
  void* data() const { return static_cast<char*>(base_) + kCanary + offset_; }
  int64_t size() const { return bytes_; }

  Status upload(const void* from);
  Status upload_part(const void* from, int64_t at, int64_t bytes);
  Status copy_from(const DeviceBuffer& other);  // of the same size and kind of memory
  Expected<bool> equals(const DeviceBuffer& other) const;
  Status upload_repeated(const void* from, int64_t bytes);  // over and over until it is full
  Status download(void* to) const;
  Status poison();  // all bits one: NaN in every floating format
  Expected<bool> canaries_intact() const;

 private:
  static constexpr int64_t kCanary = 256;
  static Expected<DeviceBuffer> allocate(int64_t bytes, int64_t offset, bool canary_behind,
                                         Memory memory);
  void swap(DeviceBuffer& other);
  // Within this buffer or between it and the host; the device is idle.
  Status copy(void* to, const void* from, int64_t bytes, const char* what) const;
  Status fill(void* to, int byte, int64_t bytes, const char* what) const;
  int64_t allocated() const { return kCanary + offset_ + bytes_ + behind_; }
  void* base_ = nullptr;
  int64_t bytes_ = 0, offset_ = 0, behind_ = 0;
  Memory memory_ = Memory::device;
};

}  // namespace ridge::harness
