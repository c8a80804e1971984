// Which lane a shuffle reads.
#pragma once

#include <cstdint>

#include "vm/isa/form.h"

namespace ridge::vm {

enum class Shuffle : uint8_t { up, down, bfly, idx };
inline Shuffle shuffle_mode(const Form& form) {
  return Shuffle(form.index_of({"up", "down", "bfly", "idx"}));
}

struct ShuffleSource {
  int lane = 0;          // its own where the other is out of range
  bool in_range = true;  // what the instruction's predicate says
};

// `amount` is the lane operand, `clamp` the one of clamp and segment mask.
inline ShuffleSource shuffle_source(Shuffle mode, int lane, uint32_t amount, uint32_t clamp) {
  const int bound = int(clamp & 31), segment = int(clamp >> 8 & 31), by = int(amount & 31);
  const int top = (lane & segment) | (bound & ~segment), bottom = lane & segment;
  int from = lane;
  bool ok = true;
  switch (mode) {
    case Shuffle::up:
      from = lane - by;
      ok = from >= top;
      break;
    case Shuffle::down:
      from = lane + by;
      ok = from <= top;
      break;
    case Shuffle::bfly:
      from = lane ^ by;
      ok = from <= top;
      break;
    case Shuffle::idx:
      from = bottom | (by & ~segment);
      ok = from <= top;
      break;
  }
  return {ok ? from & 31 : lane, ok};
}

}  // namespace ridge::vm
