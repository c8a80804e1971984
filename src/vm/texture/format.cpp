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

// The upper halves of the floats an H200 reads for the 256 sRGB values; the lower ones are 0. They
// are within 1% of the curve, or 0.004.
constexpr uint16_t kLinearOfSrgb[256] = {
    0x0000, 0x39a0, 0x3a20, 0x3a70, 0x3aa0, 0x3ac8, 0x3af0, 0x3b0c, 0x3b20, 0x3b34, 0x3b48, 0x3b5c,
    0x3b70, 0x3b84, 0x3b90, 0x3b9c, 0x3baa, 0x3bb8, 0x3bc6, 0x3bd6, 0x3be6, 0x3bf6, 0x3c03, 0x3c0c,
    0x3c16, 0x3c1f, 0x3c29, 0x3c34, 0x3c3e, 0x3c49, 0x3c55, 0x3c60, 0x3c6c, 0x3c7a, 0x3c83, 0x3c8a,
    0x3c91, 0x3c98, 0x3c9f, 0x3ca6, 0x3cae, 0x3cb6, 0x3cbe, 0x3cc6, 0x3cce, 0x3cd7, 0x3ce0, 0x3ce9,
    0x3cf2, 0x3cfc, 0x3d03, 0x3d08, 0x3d0d, 0x3d12, 0x3d17, 0x3d1c, 0x3d22, 0x3d28, 0x3d2d, 0x3d33,
    0x3d39, 0x3d3f, 0x3d45, 0x3d4c, 0x3d52, 0x3d58, 0x3d60, 0x3d66, 0x3d6c, 0x3d74, 0x3d7a, 0x3d81,
    0x3d85, 0x3d88, 0x3d8c, 0x3d90, 0x3d94, 0x3d98, 0x3d9c, 0x3da0, 0x3da4, 0x3da9, 0x3dad, 0x3db1,
    0x3db6, 0x3dba, 0x3dbf, 0x3dc3, 0x3dc8, 0x3dcd, 0x3dd1, 0x3dd6, 0x3ddb, 0x3de0, 0x3de5, 0x3dea,
    0x3df0, 0x3df4, 0x3dfa, 0x3e00, 0x3e02, 0x3e05, 0x3e08, 0x3e0b, 0x3e0e, 0x3e11, 0x3e14, 0x3e17,
    0x3e1a, 0x3e1d, 0x3e20, 0x3e23, 0x3e26, 0x3e29, 0x3e2c, 0x3e30, 0x3e33, 0x3e36, 0x3e3a, 0x3e3d,
    0x3e40, 0x3e44, 0x3e47, 0x3e4b, 0x3e4e, 0x3e52, 0x3e56, 0x3e59, 0x3e5d, 0x3e61, 0x3e65, 0x3e68,
    0x3e6c, 0x3e70, 0x3e74, 0x3e78, 0x3e7c, 0x3e80, 0x3e82, 0x3e84, 0x3e86, 0x3e88, 0x3e8a, 0x3e8d,
    0x3e8f, 0x3e91, 0x3e93, 0x3e95, 0x3e98, 0x3e9a, 0x3e9c, 0x3e9e, 0x3ea1, 0x3ea3, 0x3ea5, 0x3ea8,
    0x3eaa, 0x3ead, 0x3eaf, 0x3eb2, 0x3eb4, 0x3eb6, 0x3eb9, 0x3ebc, 0x3ebe, 0x3ec1, 0x3ec3, 0x3ec6,
    0x3ec8, 0x3ecb, 0x3ece, 0x3ed1, 0x3ed3, 0x3ed6, 0x3ed9, 0x3edb, 0x3ede, 0x3ee1, 0x3ee4, 0x3ee7,
    0x3eea, 0x3eed, 0x3ef0, 0x3ef2, 0x3ef6, 0x3ef8, 0x3efc, 0x3efe, 0x3f01, 0x3f02, 0x3f04, 0x3f05,
    0x3f07, 0x3f09, 0x3f0a, 0x3f0c, 0x3f0d, 0x3f0f, 0x3f11, 0x3f12, 0x3f14, 0x3f16, 0x3f17, 0x3f19,
    0x3f1b, 0x3f1c, 0x3f1e, 0x3f20, 0x3f21, 0x3f23, 0x3f25, 0x3f27, 0x3f29, 0x3f2a, 0x3f2c, 0x3f2e,
    0x3f30, 0x3f32, 0x3f33, 0x3f35, 0x3f37, 0x3f39, 0x3f3b, 0x3f3d, 0x3f3f, 0x3f41, 0x3f43, 0x3f45,
    0x3f47, 0x3f49, 0x3f4b, 0x3f4d, 0x3f4f, 0x3f51, 0x3f53, 0x3f55, 0x3f57, 0x3f59, 0x3f5b, 0x3f5d,
    0x3f5f, 0x3f61, 0x3f63, 0x3f65, 0x3f68, 0x3f6a, 0x3f6c, 0x3f6e, 0x3f70, 0x3f72, 0x3f74, 0x3f76,
    0x3f7a, 0x3f7c, 0x3f7e, 0x3f80,
};
double linear_of_srgb(uint32_t encoded) {
  return std::bit_cast<float>(uint32_t(kLinearOfSrgb[encoded]) << 16);
}

double number(const Format& format, uint32_t value, int channel) {
  const int bits = format.bits == 10 && channel == 3 ? 2 : format.bits;
  switch (format.kind) {
    case Channel::real:
      return bits == 16 ? half_to_float(uint16_t(value)) : std::bit_cast<float>(value);
    case Channel::uint:
    case Channel::unorm: return double(value) / double((1ull << bits) - 1);
    // Below -1 for the least: a filter sees that.
    default: return double(extended(value, bits)) / double((1ull << (bits - 1)) - 1);
  }
}

// The nearest integer, halves towards zero: what an H200 makes of 127.5, and of what is so near to
// a half that it is one as a float.
float round_half_in(float x) { return std::copysign(std::ceil(std::fabs(x) - 0.5f), x); }

// `value` as a channel of the format: what sust.p writes.
uint32_t encoded(const Format& format, uint32_t value, int channel) {
  const int bits = format.bits == 10 && channel == 3 ? 2 : format.bits;
  const uint32_t mask = uint32_t((1ull << bits) - 1);
  const float real = std::bit_cast<float>(value);
  switch (format.kind) {
    case Channel::real:
      if (bits == 32) return value;
      return real == real ? float_to_half(real) : (value >> 16 & 0x8000) | 0x7fff;
    case Channel::uint: return std::min(value, mask);
    case Channel::sint: {
      const auto most = int32_t(mask >> 1);
      return uint32_t(std::clamp(int32_t(value), -most - 1, most)) & mask;
    }
    case Channel::unorm:
      return real > 0 ? uint32_t(round_half_in(std::min(real, 1.0f) * float(mask))) : 0;
    case Channel::snorm: {
      const auto most = float(mask >> 1);
      const float clamped = real == real ? std::clamp(real, -1.0f, 1.0f) : 0;
      return uint32_t(int32_t(round_half_in(clamped * most))) & mask;
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

// Ten bits become sixteen, the uppermost repeated below; what is not filtered is not widened.
Colour colour_at(const Format& format, const Reading& reading, const uint8_t* texel) {
  Colour out = {0, 0, 0, 0};
  for (int c = 0; c < format.channels; ++c) {
    const uint32_t value = raw(format, texel, c);
    const bool srgb = reading.srgb && format.bits == 8 && c < 3 && format.kind != Channel::sint &&
                      format.kind != Channel::snorm;
    if (srgb) out[size_t(c)] = linear_of_srgb(value);
    else if (format.bits == 10 && c < 3) out[size_t(c)] = (value << 6 | value >> 4) / 65535.0;
    else out[size_t(c)] = number(format, value, c);
  }
  return out;
}

Texel texel_at(const Format& format, const Reading& reading, const uint8_t* texel) {
  Texel out = {0, 0, 0, 0};
  if (format.kind != Channel::real && reads_as_float(format, reading)) {
    Colour colour = colour_at(format, reading, texel);
    for (int c = 0; format.bits == 10 && c < 3; ++c)
      colour[size_t(c)] = number(format, raw(format, texel, c), c);
    for (size_t c = 0; c < 4; ++c)
      out[c] = std::bit_cast<uint32_t>(float(std::max(-1.0, colour[c])));
    return out;
  }
  // As bits: a NaN keeps all of its own.
  for (int c = 0; c < format.channels; ++c) {
    const uint32_t value = raw(format, texel, c);
    uint32_t& to = out[size_t(c)];
    if (format.kind == Channel::sint) to = uint32_t(extended(value, format.bits));
    else if (format.kind == Channel::real && format.bits == 16)
      to = std::bit_cast<uint32_t>(half_to_float(uint16_t(value)));
    else to = value;
  }
  return out;
}

namespace {

template <class Encode>
void pack(const Format& format, uint8_t* texel, Encode encode) {
  uint32_t packed = 0;
  for (int c = 0; c < format.channels; ++c) {
    const uint32_t channel = encode(c);
    if (format.bits == 10) packed |= channel << (10 * c);
    else std::memcpy(texel + c * format.bits / 8, &channel, format.bits / 8);
  }
  if (format.bits == 10) std::memcpy(texel, &packed, 4);
}

}  // namespace

void store_texel(const Format& format, const Texel& value, uint8_t* texel) {
  pack(format, texel, [&](int c) { return encoded(format, value[size_t(c)], c); });
}

TexelBytes border_bytes(const Format& format, const Reading& reading, const float border[4]) {
  Format stored = format;
  if (format.is_integer() && reads_as_float(format, reading))
    stored.kind = format.kind == Channel::sint ? Channel::snorm : Channel::unorm;
  TexelBytes bytes = {};
  pack(stored, bytes.data(), [&](int c) {
    const auto bits = std::bit_cast<uint32_t>(border[c]);
    return stored.is_integer() ? bits : encoded(stored, bits, c);
  });
  return bytes;
}

}  // namespace ridge::vm::texture
