// A rung: one implementation of an operator, as its file describes it.
#pragma once

#include <cuda_runtime_api.h>

#include <span>

#include "core/device_info.h"
#include "core/status.h"
#include "select/terms.h"

namespace ridge {

// Whether a rung can do a call; if not, why.
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
  double predicted_us = 0;  // 0: a lesson, taken only if no other rung can do it
};

// What a rung says about its own memory traffic. tests/kernels/claims_test.py compares it with the
// counters of the software GPU.
constexpr double kNoClaim = -1;
struct Claims {
  double global_loads_per_element = kNoClaim;  // of the operator's work items
  double global_stores_per_element = kNoClaim;
  int barriers = int(kNoClaim);  // per thread
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
  // Bytes of device memory that it wants at Args::workspace, with arbitrary contents.
  size_t (*workspace)(const Args&, const DeviceInfo&) = nullptr;
  // Predicted microseconds. A rung without it is a lesson: it is chosen only if no other rung
  // supports the call.
  double (*cost)(const Args&, const DeviceInfo&) = nullptr;
  // The names of its variants, such as tile sizes, if it has several. Args::variant asks for one of
  // them; otherwise the rung takes the one with the least cost.
  std::span<const char* const> variants = {};
  double (*variant_cost)(const Args&, const DeviceInfo&, int variant) = nullptr;  // or kNever
  // What `ridge tune` fits: the cost of a variant is predicted_us of these and of its constants.
  Terms (*variant_terms)(const Args&, const DeviceInfo&, int variant) = nullptr;
  Claims claims = {};
  bool pageable = false;  // wants host tensors in pageable memory
  // Of a lesson: a distribution of inputs with which its results are wrong, such as numbers far
  // from 0. The tests hold it to be wrong there, and all other rungs to be right.
  const char* fails_on = nullptr;
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
