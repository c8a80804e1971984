// Linear filtering in the hardware's arithmetic: how much each texel around a point counts, and
// their sum. Both were found by comparing with an H200 and equal it bit by bit.
#pragma once

#include <array>
#include <span>

#include "vm/texture/fixed.h"
#include "vm/texture/format.h"

namespace ridge::vm::texture {

// What texel x + 2 * y + 4 * z of the up to eight around a point has of `whole`, which is kOne, or
// less where two levels share it. A texel of weight 0 is not looked at.
using Weights = std::array<int, 8>;
Weights weights_of(const Tap taps[3], int dimensions, int whole);

// In what a channel's texels are added up.
enum class Arithmetic : uint8_t {
  real32,  // texels are cut to 28 bits below the largest one's first, the sum is rounded to f32
  real16,  // to 15 bits, and the sum to f16: halves, and the colours of sRGB
  unorm,   // integers of 16 bits, and so is the sum
  snorm,   // likewise; of 8-bit texels the sum may be one of 32767 beside a GPU's
};
Arithmetic arithmetic_of(const Format& format, const Reading& reading, int channel);

// The sum of `texels` (numbers of colour_at) times weights out of kOne. Halves of reals are rounded
// away from zero, those of fractions upwards.
float weighted_sum(Arithmetic how, std::span<const double> texels, std::span<const int> weights);

}  // namespace ridge::vm::texture
