// How instructions reach a CUtensorMap in memory.
#pragma once

#include "vm/exec/warp.h"
#include "vm/mem/tensor_map.h"

namespace ridge::vm {

// The map at a generic address, in global, constant or parameter memory; false after raising a
// fault.
bool read_tensor_map(Warp& w, const Inst* inst, uint32_t lane, uint64_t address,
                     TensorMapBytes& out);

}  // namespace ridge::vm
