// A case's call on tensors that are nowhere: addresses that no allocation has. For tests of what is
// decided before memory is touched.
#pragma once

#include "ladder/ladder.h"
#include "ladder/registry.h"

namespace ridge {

class CallNowhere {
 public:
  // Tensors start where the case's misalignment and skew say. Those in host memory start at
  // `on_host`, one after another, where that is given.
  CallNowhere(const Ladder& ladder, const Case& c, char* on_host = nullptr)
      : workload_(ladder.workload(c)),
        call_(ladder.call(c, workload_, places(c, on_host), kept_)) {}
  CallNowhere(const CallNowhere&) = delete;
  CallNowhere& operator=(const CallNowhere&) = delete;

  Call& call() { return call_; }
  const Workload& workload() const { return workload_; }
  Status check() { return check_call(call_, call_.op().name.c_str()); }

  static void* workspace() { return reinterpret_cast<void*>(kApart * (kMostTensors + 1)); }

 private:
  static constexpr uintptr_t kApart = uintptr_t(1) << 43;  // bytes from tensor to tensor

  std::vector<void*> places(const Case& c, char* on_host) const {
    constexpr uintptr_t kAlignment = 256;
    std::vector<void*> all;
    for (size_t t = 0; t < workload_.tensors.size(); ++t) {
      const TensorSpec& spec = workload_.tensors[t];
      const uintptr_t offset = uintptr_t(c.misalignment + int(t) * c.skew) * size_of(spec.dtype);
      if (on_host && spec.on_host) {
        all.push_back(on_host + offset);
        const uintptr_t bytes = offset + uintptr_t(spec.span) * size_of(spec.dtype);
        on_host += (bytes + kAlignment - 1) / kAlignment * kAlignment;
      } else {
        all.push_back(reinterpret_cast<void*>(kApart * (t + 1) + offset));
      }
    }
    return all;
  }

  Workload workload_;
  KeptCall kept_;
  Call call_;
};

}  // namespace ridge
