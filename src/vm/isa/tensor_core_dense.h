// The hot case of tensor_core.h's operation, straight from a fragment's registers: f16 or bf16,
// dense, a depth of 8 or 16, on CPUs with AVX-512.
//
// Lanes of a vector are four rows by the four even or the four odd columns, as C's registers hold
// them, so C and D need no rearranging.
#pragma once

#include <cstdint>

#include "vm/isa/lane.h"

namespace ridge::vm::tensor {

struct DenseProduct {
  Warp& w;
  uint32_t steps;                    // depth / 8
  uint32_t row_tiles, column_tiles;  // of 16 and 8; at most two tiles
  bool half_c, half_d;               // f16, otherwise f32
  const uint32_t *d, *a, *b, *c;     // operands, as the instruction lists them

  template <int N>
  struct Sources {
    const uint32_t* at[N];
  };
  template <int N>
  Sources<N> sources(const uint32_t* operands) const {
    Sources<N> s;
    for (int i = 0; i < N; ++i) s.at[i] = w.src<uint32_t>(operands[i]);
    return s;
  }
  template <int N>
  struct Results {
    uint32_t* at[N];
  };
  template <int N>
  Results<N> results(const uint32_t* operands) const {
    Results<N> r;
    for (int i = 0; i < N; ++i) r.at[i] = w.reg<uint32_t>(operands[i]);
    return r;
  }
};

// False, and nothing written, where the CPU cannot do it, or the values are not ordinary enough:
// infinities, NaNs, and exponents of bf16 far apart or near the ends of f32's.
template <Type K>
bool multiply_dense(const DenseProduct& product);

}  // namespace ridge::vm::tensor
