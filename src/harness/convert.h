// Many numbers at once between doubles and a format: as core/number.h does it, only faster for the
// formats that large tensors have.
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
