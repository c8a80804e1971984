// What ptxas makes of an atomic instruction. docs/agreement.md has the rules.
#pragma once

#include <cstdint>

#include "vm/decode/code.h"
#include "vm/observe/uniform.h"

namespace ridge::vm::observe {

struct MachineAtomic {
  enum class Way : uint8_t {
    direct,    // as it is written
    counting,  // shared memory adds up the lanes of a word: the addition of 1
    compare,   // compare and swap
    loop,      // a load and a compare-and-swap, until every lane had its turn
  };
  enum class Lanes : uint8_t {
    all,
    one,         // at one place the warp's values are put together first
    one_of_all,  // likewise, but only where all lanes are there
  };
  Way way = Way::direct;
  Lanes lanes = Lanes::all;
  bool loops_in_shared = false;  // generic: what the machine can do in global memory alone
  bool is_reduction =
      false;  // nobody reads the result, and the machine has an instruction for that
};

// `is_read`: whether somebody reads the result.
MachineAtomic machine_atomic(const Instruction& ins, const Form& form, bool is_read,
                             const Uniform& uniform);

}  // namespace ridge::vm::observe
