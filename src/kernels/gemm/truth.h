// What the epilogues make of sums, in float64, with what errors are relative to.
#pragma once

#include "ladder/elements.h"

namespace ridge::gemm {

// What an element of d is made of beside its sum; what a call leaves out is as it is here.
struct Terms {
  double row_scale = 1, col_scale = 1, bias = 0;
  double c = 0;
};

// An element of d from its sum of products, for gemm and gemm_fused.
Truth finished(const Case& c, const Truth& sum, const Terms& terms);
// An element of d from two sums of products, for gemm_swiglu. The other terms are their biases.
Truth gated(const Case& c, const Truth& gate, double gate_bias, const Truth& up, double up_bias);
// The largest magnitude of a row, with one more element of d.
Truth larger(const Truth& most, const Truth& element);

// How often an element of d is rounded in f32, and how much to its own format.
struct Roundings {
  double arithmetic, rounding;
};
Roundings roundings_of(const Case& c);

}  // namespace ridge::gemm
