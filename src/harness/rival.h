// Somebody else's implementation, timed beside ours in the same process. Libraries of rivals export
// `ridge_rivals`, and are loaded where they were built.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ladder/ladder.h"

namespace ridge::harness {

struct Rival {
  std::string library;    // "CUB"
  std::string operator_;  // of ours
  std::function<bool(const Case&)> serves;
  // Tensors in the order of our workload.
  std::function<size_t(const Case&, std::span<void* const> tensors)> workspace;
  std::function<Status(const Case&, std::span<void* const> tensors, void* workspace, size_t bytes,
                       cudaStream_t)>
      launch;
};

using RivalsFunction = void (*)(std::vector<Rival>*);
constexpr const char* kRivalsSymbol = "ridge_rivals";

}  // namespace ridge::harness
