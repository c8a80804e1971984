// The number formats a tensor can hold, and one table of what they are.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ridge {

enum class Dtype : std::uint8_t {
  f32,
  f16,
  bf16,
  f64,
  i32,
  i64,
  u32,
  u8,
  // Quantised numbers. docs/formats.md describes each of them.
  i8,
  i4,
  u4,
  e4m3,   // fp8 without infinities (e4m3fn)
  e5m2,   // fp8 like f16 with fewer mantissa bits
  e2m1,   // fp4
  e2m3,   // fp6
  e3m2,   // fp6
  ue8m0,  // a scale: a power of two
  ue4m3,  // a scale: e4m3 without its sign
  nf4,    // an index into kNf4Values
};

enum class NumberKind : std::uint8_t { floating, integer, table };

// What the highest patterns of a floating format mean.
enum class Specials : std::uint8_t {
  none,  // they are numbers like all others
  nan,   // all exponent and mantissa bits set: NaN; there are no infinities
  ieee,  // all exponent bits set: infinity without, NaN with mantissa bits
};

struct NumberFormat {
  Dtype dtype;
  const char* name;
  int bits;  // that one element takes in memory
  NumberKind kind;
  bool is_signed;
  int exponent_bits, mantissa_bits, bias;  // of floating formats: e, m and bias below
  Specials specials;
  // How numbers are stored where the caller does not say. Quantised formats round to nearest and
  // saturate at their largest number. Of the others, floating formats go on to infinity, and
  // integers drop the fraction and then the bits that do not fit.
  bool is_quantised;
};

// One row per format, in the order of Dtype. Everything about a format is read from here.
// clang-format off
inline constexpr NumberFormat kNumberFormats[] = {
    // dtype        name    bits  kind                  signed  e   m  bias  specials     quantised
    {Dtype::f32,    "f32",    32, NumberKind::floating, true,   8, 23,  127, Specials::ieee, false},
    {Dtype::f16,    "f16",    16, NumberKind::floating, true,   5, 10,   15, Specials::ieee, false},
    {Dtype::bf16,   "bf16",   16, NumberKind::floating, true,   8,  7,  127, Specials::ieee, false},
    {Dtype::f64,    "f64",    64, NumberKind::floating, true,  11, 52, 1023, Specials::ieee, false},
    {Dtype::i32,    "i32",    32, NumberKind::integer,  true,   0,  0,    0, Specials::none, false},
    {Dtype::i64,    "i64",    64, NumberKind::integer,  true,   0,  0,    0, Specials::none, false},
    {Dtype::u32,    "u32",    32, NumberKind::integer,  false,  0,  0,    0, Specials::none, false},
    {Dtype::u8,     "u8",      8, NumberKind::integer,  false,  0,  0,    0, Specials::none, false},
    {Dtype::i8,     "i8",      8, NumberKind::integer,  true,   0,  0,    0, Specials::none, true},
    {Dtype::i4,     "i4",      4, NumberKind::integer,  true,   0,  0,    0, Specials::none, true},
    {Dtype::u4,     "u4",      4, NumberKind::integer,  false,  0,  0,    0, Specials::none, true},
    {Dtype::e4m3,   "e4m3",    8, NumberKind::floating, true,   4,  3,    7, Specials::nan,  true},
    {Dtype::e5m2,   "e5m2",    8, NumberKind::floating, true,   5,  2,   15, Specials::ieee, true},
    {Dtype::e2m1,   "e2m1",    4, NumberKind::floating, true,   2,  1,    1, Specials::none, true},
    {Dtype::e2m3,   "e2m3",    6, NumberKind::floating, true,   2,  3,    1, Specials::none, true},
    {Dtype::e3m2,   "e3m2",    6, NumberKind::floating, true,   3,  2,    3, Specials::none, true},
    {Dtype::ue8m0,  "ue8m0",   8, NumberKind::floating, false,  8,  0,  127, Specials::nan,  true},
    {Dtype::ue4m3,  "ue4m3",   8, NumberKind::floating, false,  4,  3,    7, Specials::nan,  true},
    {Dtype::nf4,    "nf4",     4, NumberKind::table,    true,   0,  0,    0, Specials::none, true},
};
// clang-format on
inline constexpr int kDtypeCount = int(sizeof(kNumberFormats) / sizeof(kNumberFormats[0]));
inline constexpr NumberFormat kUnknownFormat = {Dtype(255), "?", 0, NumberKind::integer, false,
                                                0,          0,   0, Specials::none,      false};

namespace detail {
constexpr bool formats_follow_dtype() {
  for (int i = 0; i < kDtypeCount; ++i)
    if (int(kNumberFormats[i].dtype) != i) return false;
  return kDtypeCount == int(Dtype::nf4) + 1;
}
static_assert(formats_follow_dtype(), "kNumberFormats has one row per Dtype, in its order");
}  // namespace detail

constexpr const NumberFormat& format_of(Dtype dtype) {
  return int(dtype) < kDtypeCount ? kNumberFormats[int(dtype)] : kUnknownFormat;
}

// The 16 values of NormalFloat (QLoRA, arXiv 2305.14314, appendix E).
inline constexpr float kNf4Values[16] = {
    -1.0f,
    -0.6961928009986877f,
    -0.5250730514526367f,
    -0.39491748809814453f,
    -0.28444138169288635f,
    -0.18477343022823334f,
    -0.09105003625154495f,
    0.0f,
    0.07958029955625534f,
    0.16093020141124725f,
    0.24611230194568634f,
    0.33791524171829224f,
    0.44070982933044434f,
    0.5626170039176941f,
    0.7229568362236023f,
    1.0f,
};

constexpr const char* name_of(Dtype dtype) { return format_of(dtype).name; }
constexpr int bits_of(Dtype dtype) { return format_of(dtype).bits; }
constexpr bool is_floating(Dtype dtype) { return format_of(dtype).kind == NumberKind::floating; }
// Whether several elements share a byte: those of 4 and 6 bits.
constexpr bool is_packed(Dtype dtype) { return bits_of(dtype) % 8 != 0; }

// Bytes of one element that has bytes of its own. 0 for packed formats, which no code that steps
// from element to element by bytes can handle; ask bytes_for there.
constexpr std::size_t size_of(Dtype dtype) {
  return is_packed(dtype) ? 0 : std::size_t(bits_of(dtype) / 8);
}
// Bytes of `elements` elements one after another, rounded up. Element i takes the bits from
// i * bits_of(dtype) on, counted from the lowest bit of the first byte.
constexpr std::size_t bytes_for(Dtype dtype, std::int64_t elements) {
  const auto bits = std::size_t(bits_of(dtype));
  return std::size_t(elements) / 8 * bits + (std::size_t(elements) % 8 * bits + 7) / 8;
}

}  // namespace ridge
