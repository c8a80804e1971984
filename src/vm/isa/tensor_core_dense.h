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

// --- the same in steps, for operands that serve several products; a depth of 16 ---

// Whether the CPU can do it. The functions below must not be called otherwise.
bool can_multiply_dense();

// A in the form that costs least to use, if more to make.
struct alignas(64) WideRows {
  float value[4][16][16];       // [row / 4][k][row % 4, four times]
  uint8_t distance[2][16][64];  // [row / 8][k][row % 4][row / 4 % 2, eight times]; below `top`
  int top;
};
struct alignas(64) DenseColumns {
  float value[16][8];       // [k][even columns, odd ones]
  uint8_t distance[2][64];  // [k / 8][k % 4][k / 4 % 2][even columns, odd ones]; below `top`
  int top;                  // exponent at distance 0
};
// From fragments' registers: four of A, two of B. False where values are not ordinary; the operand
// is then of no use.
template <Type K>
bool load_dense(WideRows& a, const uint32_t* const* tiles);
template <Type K>
bool load_dense(DenseColumns& b, const uint32_t* const* tiles);
// D = A B, or D = A B + D if it `adds`, for the registers of a tile of D, which is f16 (`half`) or
// f32. False as above.
template <Type K>
bool multiply_dense(const WideRows& a, const DenseColumns& b, bool half, bool adds,
                    uint32_t* const* d);

}  // namespace ridge::vm::tensor
