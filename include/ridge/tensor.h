// A view of an array in device memory: pointer, format, shape, strides, and the scales of quantised
// arrays. It owns nothing.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>

#include "ridge/dtype.h"

namespace ridge {

constexpr int kMaxRank = 8;

// The scales of a block-scaled tensor: elements of one block share a scale, and an element stands
// for itself times that scale. ridge/block_scaled.h makes the usual ones. Null data: no scales.
//
// Blocks are rectangles of the last two dimensions; those at the end of a row or column may be cut
// short. Scales lie one after another, row by row: (..., ceil(rows / block_rows),
// ceil(cols / block_cols)).
struct Scales {
  void* data = nullptr;
  Dtype dtype = Dtype::f32;
  std::int64_t block_rows = 1, block_cols = 1;  // elements that share a scale

  // Scales may be quantised themselves. Where `second` is not null, the scale of block i is
  // data[i] * second[i / second_block] + offset[0]; all pointers are in device memory.
  float* second = nullptr;
  std::int64_t second_block = 0;  // scales that share one of `second`; 0: all of them
  float* offset = nullptr;        // null: 0
};

struct Tensor {
  void* data = nullptr;
  Dtype dtype = Dtype::f32;
  int rank = 0;
  std::array<std::int64_t, kMaxRank> shape = {};
  std::array<std::int64_t, kMaxRank> strides = {};  // in elements
  Scales scales = {};

  Tensor() = default;
  // Contiguous, the last dimension fastest. Of more than kMaxRank sizes only the rank is kept,
  // which every operator then refuses.
  Tensor(void* pointer, Dtype format, std::initializer_list<std::int64_t> sizes)
      : data(pointer), dtype(format), rank(int(sizes.size())) {
    int d = 0;
    for (const std::int64_t size : sizes)
      if (d < kMaxRank) shape[d++] = size;
    std::uint64_t stride = 1;
    while (--d >= 0) {
      strides[d] = std::int64_t(stride);
      stride *= std::uint64_t(shape[d]);
    }
  }

  // Unsigned inside: sizes that no memory holds wrap around here, and operators refuse them.
  std::int64_t elements() const {
    std::uint64_t count = 1;
    for (int d = 0; d < rank && d < kMaxRank; ++d) count *= std::uint64_t(shape[d]);
    return std::int64_t(count);
  }
};

}  // namespace ridge
