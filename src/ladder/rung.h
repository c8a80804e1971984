// A rung: one implementation of an operator, as its file describes it.
#pragma once

#include <cuda_runtime_api.h>

#include "core/device_info.h"
#include "core/status.h"

namespace ridge {

// Whether a rung can do what it is asked for; if not, why.
struct Support {
  const char* reason = nullptr;  // none: it can

  constexpr Support() = default;
  constexpr Support(const char* why_not) : reason(why_not) {}
  constexpr explicit operator bool() const { return reason == nullptr; }
};
inline constexpr Support kSupported = {};

// A rung as selection saw it.
struct Candidate {
  const char* name;
  Support support;
  double predicted_us = 0;  // 0: a lesson, taken only where nothing else can do it
};

// What a rung says of its own memory traffic; the software GPU's counters hold it to that.
constexpr double kNoClaim = -1;
struct Claims {
  double global_loads_per_element = kNoClaim;  // of the operator's work items
  double global_stores_per_element = kNoClaim;
  int barriers = int(kNoClaim);  // a thread meets
  bool conflict_free = false;    // no shared-memory bank conflict
};

// Args is the operator's own struct: device pointers, sizes, dtype.
template <class Args>
struct RungOf {
  const char* name = nullptr;  // that of its file, set by the build from ladder.def
  const char* idea;            // what it adds to the rung before, in under 60 characters
  Support (*supports)(const Args&, const DeviceInfo&);
  // Enqueues, and nothing else: no allocation, no synchronisation, no state.
  Status (*launch)(const Args&, const DeviceInfo&, cudaStream_t);
  // Bytes of device memory it wants at Args::workspace, whatever they hold.
  size_t (*workspace)(const Args&, const DeviceInfo&) = nullptr;
  // Predicted microseconds. None: a lesson, which is never chosen where another rung can serve.
  double (*cost)(const Args&, const DeviceInfo&) = nullptr;
  Claims claims = {};
  bool pageable = false;  // wants host tensors in ordinary memory, which cannot be copied behind it
};

template <class Args>
RungOf<Args> named(const char* name, RungOf<Args> rung) {
  rung.name = name;
  return rung;
}

// The error of the launch just made.
inline Status launch_status() {
  const cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) return Status::ok();
  return Error{int(error), std::string("the launch failed: ") + cudaGetErrorString(error)};
}

}  // namespace ridge
