// From an operator known when the program runs to a kernel compiled for it.
#pragma once

#include <type_traits>

#include "device/raw.cuh"
#include "kernels/rearrange/rearrange.h"

namespace ridge::rearrange {

template <Op op>
using OpConstant = std::integral_constant<Op, op>;

template <class F>
Status with_op(Op op, F f) {
  switch (op) {
    case Op::reverse: return f(OpConstant<Op::reverse>());
    case Op::reverse_in_place: return f(OpConstant<Op::reverse_in_place>());
    case Op::swap: return f(OpConstant<Op::swap>());
    default: return f(OpConstant<Op::interleave>());
  }
}

constexpr Support moves(const Args& a) {
  return has_raw_type(a.dtype) ? kSupported : "moves elements of 1, 2 or 4 bytes";
}

}  // namespace ridge::rearrange
