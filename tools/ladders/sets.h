// The tensors that a contestant is launched on, filled with a case's inputs.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/status.h"
#include "harness/device.h"
#include "ladder/ladder.h"

namespace ridge::ladders {

// Inputs of cases that are too large for a reference repeat after this many elements, which is far
// more than any kernel could profit from.
inline constexpr int64_t kPattern = 1 << 22;

// One set of a case's tensors, and the call on them.
struct Set {
  std::vector<harness::DeviceBuffer> buffers;
  KeptCall kept;
  std::unique_ptr<Call> call;
};
using Sets = std::vector<Set>;

Expected<Sets> make_sets(const Ladder& ladder, const Case& c, const Workload& workload, int sets,
                         bool pageable);

}  // namespace ridge::ladders
