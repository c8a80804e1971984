// Converts many numbers at once between doubles and a format. The results are those of
// core/number.h, but it is faster for the formats of large tensors.
#pragma once

#include <cstdint>
#include <span>

#include "ridge/dtype.h"

namespace ridge::harness {

// Elements `first`, `first + 1`, … of an array.
void store_all(Dtype dtype, void* base, int64_t first, std::span<const double> values);
// Elements `first`, `first + step`, …
void load_all(Dtype dtype, const void* base, int64_t first, int64_t step, std::span<double> values);
// Each becomes the number of the format nearest to it.
void round_all(Dtype dtype, std::span<double> values);

}  // namespace ridge::harness
