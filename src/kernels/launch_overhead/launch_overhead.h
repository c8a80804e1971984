// launch_overhead: 256 counters go up by one, `steps` times, each step after the last. A study of
// the third bound beside memory and arithmetic: what it costs to start something.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::launch_overhead {

constexpr int kCounters = 256;

struct Args {
  uint32_t* counters = nullptr;  // (256)
  int64_t steps = 0;
  Dtype dtype = Dtype::u32;
  void* workspace = nullptr;  // unused
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

}  // namespace ridge::launch_overhead
