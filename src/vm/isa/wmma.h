// What a wmma load or store moves, for those who watch it.
#pragma once

#include "vm/isa/fragment.h"

namespace ridge::vm {

enum class WmmaRole : uint32_t { a, b, sums };

// `lines` lines of `width` elements, `pitch` bits apart.
struct WmmaTile {
  WmmaRole role = WmmaRole::a;
  TensorForm form;
  Element element = Element::f16;
  bool by_column = false;
  uint32_t lines = 0, width = 0;
  uint64_t base = 0;  // as the instruction names it: in shared memory's window, or generic
  uint64_t pitch = 0;

  // Whether neighbours along K are neighbours in memory.
  bool depth_first() const { return (role == WmmaRole::a) != by_column; }
};
WmmaTile wmma_tile(const Warp& w, const Inst* inst);
// The same of an instruction that does not run: what its spelling says, without sizes and places.
struct WmmaMove {
  WmmaRole role = WmmaRole::a;
  Element element = Element::f16;
  bool by_column = false, in_shared = false;
  bool depth_first() const { return (role == WmmaRole::a) != by_column; }
};
WmmaMove wmma_move(const Handlers& handlers);

}  // namespace ridge::vm
