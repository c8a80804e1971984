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
  // Contiguous, the last dimension fastest.
  Tensor(void* pointer, Dtype format, std::initializer_list<std::int64_t> sizes)
      : data(pointer), dtype(format) {
    for (const std::int64_t size : sizes)
      if (rank < kMaxRank) shape[rank++] = size;
    std::int64_t stride = 1;
    for (int d = rank - 1; d >= 0; --d) {
      strides[d] = stride;
      stride *= shape[d];
    }
  }

  std::int64_t elements() const {
    std::int64_t count = 1;
    for (int d = 0; d < rank; ++d) count *= shape[d];
    return count;
  }
};

}  // namespace ridge
