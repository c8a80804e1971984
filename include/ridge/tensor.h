// A view of an array in device memory: pointer, format, shape, strides. It owns nothing.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>

#include "ridge/dtype.h"

namespace ridge {

constexpr int kMaxRank = 8;

struct Tensor {
  void* data = nullptr;
  Dtype dtype = Dtype::f32;
  int rank = 0;
  std::array<std::int64_t, kMaxRank> shape = {};
  std::array<std::int64_t, kMaxRank> strides = {};  // in elements

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
