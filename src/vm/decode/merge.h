// Merging of neighbouring loads; see merge.cpp.
#pragma once

#include "vm/decode/flow.h"

namespace ridge::vm {

void merge_shared_loads(std::vector<Item>& items, const FlowGraph& flow,
                        const std::vector<Register>& registers);

}  // namespace ridge::vm
