// What one texel is in memory, and what a lookup makes of it.
#pragma once

#include <array>
#include <cstdint>

namespace ridge::vm::texture {

enum class Channel : uint8_t { sint, uint, real, snorm, unorm };

struct Format {
  Channel kind = Channel::real;
  uint8_t bits = 32;  // per channel: 8, 16, 32; or 10, for three channels of 10 bits and one of 2
  uint8_t channels = 1;
  uint32_t bytes() const { return bits == 10 ? 4 : uint32_t(bits) * channels / 8; }
  // Integers that lookups return as integers.
  bool is_integer() const { return kind == Channel::sint || kind == Channel::uint; }
  bool operator==(const Format&) const = default;
};

// How lookups see a format: integers as they are, or as fractions of the largest.
struct Reading {
  bool normalized = false;
  bool srgb = false;  // the colours of 8-bit fractions are sRGB encoded; the fourth channel is not
};

// Four 32-bit results: integers, or the bits of f32.
using Texel = std::array<uint32_t, 4>;
// The same as numbers, for filtering.
using Colour = std::array<double, 4>;

inline bool reads_as_float(const Format& format, const Reading& reading) {
  return !format.is_integer() || (reading.normalized && format.bits <= 16);
}

// Channels that the format has not are 0, the fourth like the others.
Texel texel_at(const Format& format, const Reading& reading, const uint8_t* texel);
Colour colour_at(const Format& format, const Reading& reading, const uint8_t* texel);

// A formatted store (sust.p): integers saturate, fractions round to nearest, halves towards zero.
void store_texel(const Format& format, const Texel& value, uint8_t* texel);

// What a border colour is in a texture: its bits, cut off, in a format of integers, and the nearest
// that the format has otherwise.
using TexelBytes = std::array<uint8_t, 16>;
TexelBytes border_bytes(const Format& format, const Reading& reading, const float border[4]);

float half_to_float(uint16_t half);
uint16_t float_to_half(float value);  // rounds to nearest even

}  // namespace ridge::vm::texture
