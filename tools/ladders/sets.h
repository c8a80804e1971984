// The tensors that a contestant is launched on, filled with a case's inputs.
#pragma once

#include <memory>
#include <vector>

#include "core/status.h"
#include "harness/device.h"
#include "ladder/ladder.h"

namespace ridge::ladders {

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
