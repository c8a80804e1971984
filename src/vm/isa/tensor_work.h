// What a product of matrices costs a GPU of compute capability 9.0, as its row says.
#pragma once

#include "vm/isa/fragment.h"

namespace ridge::vm {

// Of one warp.
struct TensorWork {
  uint32_t instructions = 0;      // of the tensor cores; 0: ptxas makes other instructions of it
  uint64_t operations = 0;        // multiplications and additions; sparse ones with the full depth
  Element source = Element::f16;  // what the tensor cores multiply
  bool sparse = false;
  bool by_warpgroup = false;
  uint32_t shared_bytes = 0;  // operands that the whole warpgroup reads from shared memory
};

// Nothing for instructions that multiply no matrices.
TensorWork tensor_work(const Match& match, const Inst* inst);

}  // namespace ridge::vm
