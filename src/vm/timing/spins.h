// Loops in which a warp waits for others: it asks again and again, and how often says nothing of
// the time on a GPU.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vm/decode/code.h"
#include "vm/observe/plan.h"

namespace ridge::vm::timing {

struct Spins {
  static constexpr uint16_t kNone = 0xffff;
  struct At {
    uint16_t loop = kNone;  // the instruction stands in it
    bool asks = false;      // and it asks: the loop begins anew
  };
  std::vector<At> at;              // by instruction of the code
  std::vector<std::string> notes;  // where the answer comes from outside of the block
};

Spins spins_of(const Code& code, const observe::Plan& plan);

}  // namespace ridge::vm::timing
