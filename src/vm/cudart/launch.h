// Launching a kernel: is the configuration one the device can run, and if so, into the stream with
// a copy of its arguments.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "vm/cudart/api.h"
#include "vm/exec/engine.h"

namespace ridge::vm::cudart {

struct LaunchRequest {
  const void* function = nullptr;  // a host stub or a cudaKernel_t
  dim3 grid, block;
  void** arguments = nullptr;
  size_t dynamic_shared = 0;
  cudaStream_t stream = nullptr;
  bool cooperative = false;
  bool early = false;                // programmatic stream serialization
  std::optional<dim3> cluster = {};  // the launch attribute
  std::vector<cudaLaunchAttribute> hints = {};
  struct Event {
    cudaEvent_t event;
    unsigned flags;
    bool programmatic;  // it comes when the kernel lets dependent launches begin
  };
  std::vector<Event> events = {};  // recorded behind it
};

cudaError_t launch(const LaunchRequest& request);

// The same checks and the packed arguments, without launching: what a graph's kernel node needs.
cudaError_t prepare(const LaunchRequest& request, Launch* launch);
void run(const Launch& launch,
         Dependence* dependence);  // on a stream's thread; a fault becomes the sticky error

}  // namespace ridge::vm::cudart
