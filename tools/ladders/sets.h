// The tensors that a rung is launched on, filled with a case's inputs.
#pragma once

#include <vector>

#include "core/status.h"
#include "harness/device.h"
#include "ladder/ladder.h"

namespace ridge::ladders {

// The tensors of a case where a rung wants them, several sets of them.
struct Sets {
  std::vector<std::vector<harness::DeviceBuffer>> buffers;
  std::vector<std::vector<void*>> pointers;  // (set, tensor)
};
Expected<Sets> make_sets(const Ladder& ladder, const Case& c, const Workload& workload, int sets,
                         const RungInfo& rung);

}  // namespace ridge::ladders
