// Where in the program's own code a CUDA call was made. Noting it costs a walk over the stack;
// turning it into "file:line" asks addr2line, which comes with the compiler, and happens only when
// something is reported.
#pragma once

#include <array>
#include <cstdint>

#include "vm/report/finding.h"

namespace ridge::vm::report {

// Return addresses of the calling thread from the CUDA function outwards.
struct HostCall {
  static constexpr size_t kDepth = 24;
  std::array<uintptr_t, kDepth> frames{};  // 0: no more
  uintptr_t function = 0;                  // in the exported CUDA function that was called

  explicit operator bool() const { return frames[0] != 0; }
  auto operator<=>(const HostCall&) const = default;
};

// The call that this thread is in. Frames of the runtime are left out, and so are those of cuBLAS and
// of what it calls.
HostCall host_call();
// For a signal's handler: the code at this address, where the signal came, and who called it.
HostCall host_call_at(uintptr_t address);

// The CUDA function that was called: "cudaMalloc". Costs next to nothing; empty where not known.
std::string called_function(const HostCall& call);
// The line in the user's own files. `instruction` is the name of the CUDA function.
Place host_place(const HostCall& call);

}  // namespace ridge::vm::report
