#include "vm/texture/format.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace ridge::vm::texture {
namespace {

template <class T>
T read(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// A channel's bits, not extended.
uint32_t raw(const Format& format, const uint8_t* texel, int channel) {
  switch (format.bits) {
    case 8: return texel[channel];
    case 16: return read<uint16_t>(texel + 2 * channel);
    case 10: return read<uint32_t>(texel) >> (10 * channel) & (channel == 3 ? 3u : 1023u);
    default: return read<uint32_t>(texel + 4 * channel);
  }
}

int32_t extended(uint32_t value, int bits) { return int32_t(value << (32 - bits)) >> (32 - bits); }

double linear_of_srgb(double encoded) {
  return encoded <= 0.04045 ? encoded / 12.92 : std::pow((encoded + 0.055) / 1.055, 2.4);
}

double number(const Format& format, uint32_t value, int channel) {
  const int bits = format.bits == 10 && channel == 3 ? 2 : format.bits;
  switch (format.kind) {
    case Channel::real:
      return bits == 16 ? half_to_float(uint16_t(value)) : std::bit_cast<float>(value);
    case Channel::uint:
    case Channel::unorm: return double(value) / double((1ull << bits) - 1);
    default:
      return std::max(-1.0, double(extended(value, bits)) / double((1ull << (bits - 1)) - 1));
  }
}

// `value` as a channel of the format: what sust.p writes.
uint32_t encoded(const Format& format, uint32_t value, int channel) {
  const int bits = format.bits == 10 && channel == 3 ? 2 : format.bits;
  const uint32_t mask = uint32_t((1ull << bits) - 1);
  const float real = std::bit_cast<float>(value);
  switch (format.kind) {
    case Channel::real: return bits == 16 ? float_to_half(real) : value;
    case Channel::uint: return std::min(value, mask);
    case Channel::sint: {
      const auto most = int32_t(mask >> 1);
      return uint32_t(std::clamp(int32_t(value), -most - 1, most)) & mask;
    }
    case Channel::unorm:
      return real > 0 ? uint32_t(std::nearbyint(std::min(real, 1.0f) * double(mask))) : 0;
    case Channel::snorm: {
      const double most = double(mask >> 1);
      const double clamped = real == real ? std::clamp(double(real), -1.0, 1.0) : 0;
      return uint32_t(int32_t(std::nearbyint(clamped * most))) & mask;
    }
  }
  return 0;
}

}  // namespace

float half_to_float(uint16_t half) {
  const uint32_t sign = uint32_t(half & 0x8000) << 16, magnitude = half & 0x7fff;
  if (magnitude >= 0x7c00)
    return std::bit_cast<float>(sign | 0x7f800000u | (magnitude & 0x3ff) << 13);
  // 2^-14 and above by exponent, below it as a multiple of 2^-24: one product does both.
  return std::bit_cast<float>(
      sign | std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude << 13) * 0x1p112f));
}

uint16_t float_to_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = uint16_t(bits >> 16 & 0x8000);
  if (value != value) return 0x7fff;
  const float magnitude = std::fabs(value);
  if (magnitude >= 65520.0f) return sign | 0x7c00;
  if (magnitude < 0x1p-14f)  // subnormal: a multiple of 2^-24
    return sign | uint16_t(std::nearbyint(double(magnitude) * 0x1p24));
  const uint32_t kept = (bits & 0x7fffffffu) - (112u << 23);
  return sign | uint16_t((kept + 0xfff + (kept >> 13 & 1)) >> 13);
}

Texel integers_at(const Format& format, const uint8_t* texel) {
  Texel out = {0, 0, 0, 1};
  for (int c = 0; c < format.channels; ++c) {
    const uint32_t value = raw(format, texel, c);
    out[size_t(c)] = format.kind == Channel::sint ? uint32_t(extended(value, format.bits)) : value;
  }
  return out;
}

Colour colour_at(const Format& format, const Reading& reading, const uint8_t* texel) {
  Colour out = {0, 0, 0, 1};
  for (int c = 0; c < format.channels; ++c) {
    double value = number(format, raw(format, texel, c), c);
    if (reading.srgb && format.bits == 8 && c < 3 && format.kind != Channel::sint &&
        format.kind != Channel::snorm)
      value = linear_of_srgb(value);
    out[size_t(c)] = value;
  }
  return out;
}

Texel texel_of(const Colour& colour) {
  Texel out;
  for (size_t c = 0; c < 4; ++c) out[c] = std::bit_cast<uint32_t>(float(colour[c]));
  return out;
}

void store_texel(const Format& format, const Texel& value, uint8_t* texel) {
  uint32_t packed = 0;
  for (int c = 0; c < format.channels; ++c) {
    const uint32_t channel = encoded(format, value[size_t(c)], c);
    if (format.bits == 10) packed |= channel << (10 * c);
    else std::memcpy(texel + c * format.bits / 8, &channel, format.bits / 8);
  }
  if (format.bits == 10) std::memcpy(texel, &packed, 4);
}

}  // namespace ridge::vm::texture
