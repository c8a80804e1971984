// One floating-point tensor-core operation: D = A B + C for 16 rows, 8 columns and a depth of at
// most 32.
//
// The hardware does not add one product after the other. Products are exact; they and C are aligned
// to the largest exponent among them, cut off (towards zero) so many bits below it as the rule
// says, added as integers, and the sum is cut off to f32 or rounded to the nearest f16. Exponents
// are those of the factors, added: a product of significands of up to 4 is not normalised first,
// and a subnormal factor counts as its format's least exponent. A result of zero is +0; any NaN is
// the canonical one. docs/hopper_facts.md has the measurements. Published measurements of H100 (Xie
// et al. 2025, Khattak and Mikaitis 2025) agree on this, and ptxas shows how each PTX instruction
// is made of such operations.
//
// Rows r and r + 8 are computed together, so the operands are stored side by side that way.
#pragma once

#include <cstdint>

#include "vm/isa/fragment.h"
#include "vm/isa/half.h"

namespace ridge::vm::tensor {

inline constexpr int kFraction = 25, kNarrowFraction = 13;
// Nothing is aligned to an exponent below this one.
inline constexpr int kLeastExponent = -133;
inline constexpr int kDepth = 32;

// Exponents beside the values, so that sums of two tell what a product is: above kSpecialSum an
// infinity or NaN is involved, below kZeroSum it is zero, or not there at all (sparse A), whatever
// the other factor is.
inline constexpr int16_t kSpecial = 6000, kZero = -2000, kAbsent = -16000;
inline constexpr int kSpecialSum = 1000, kZeroSum = -1000;

struct Rows {  // A: [row % 8][k][row / 8]
  alignas(64) float value[8][kDepth][2];
  alignas(64) int16_t exponent[8][kDepth][2];
  void set(uint32_t row, uint32_t k, float x, int16_t e) {
    value[row % 8][k][row / 8] = x;
    exponent[row % 8][k][row / 8] = e;
  }
};
struct Columns {  // B: [k][column, twice]
  alignas(64) float value[kDepth][16];
  alignas(64) int16_t exponent[kDepth][16];
  void set(uint32_t column, uint32_t k, float x, int16_t e) {
    for (uint32_t i = 2 * column; i < 2 * column + 2; ++i) {
      value[k][i] = x;
      exponent[k][i] = e;
    }
  }
};
struct Sums {  // C and D: [row % 8][2 * column + row / 8]
  alignas(64) float at[8][16];
};

struct Rule {
  // C and D are f16. D is still in f32, rounded so that rounding it to f16 is correct.
  bool half = false;
  // kNarrowFraction bits below the largest exponent, and as many in an f32 result: wgmma on 8-bit
  // formats.
  bool narrow = false;
};
void multiply_add(const Rows& a, const Columns& b, int depth, Sums& c, Rule rule);
// Only rows i and i + 8, with columns of their own: those that rows i + 8 are multiplied with stand
// at odd places.
void multiply_add_pair(const Rows& a, const Columns& b, int depth, int i, Sums& c, Rule rule);

// A value and its exponent in a format whose least normal exponent is `least`.
int16_t exponent_of(float value, int least);
struct Value {
  float value;
  int16_t exponent;
};
// An element of wgmma's; the bits above it are not looked at.
Value value_of(Element e, uint32_t bits);

#if defined(__AVX2__)
inline bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

// --- registers to operands and back ---

// 8 columns of depth k … k + 7 from one register of f16 or bf16 for each half of the rows.
template <Type K>
void load_rows(Rows& a, int k, const uint32_t* top, const uint32_t* bottom);
template <Type K>
void load_columns(Columns& b, int k, const uint32_t* tile);

// Four registers of f32: rows 0-7 even and odd columns, rows 8-15 even and odd columns.
void load_sums(Sums& c, const uint32_t* const* registers);
void store_sums(const Sums& d, uint32_t* const* registers);
// Two registers of f16x2: rows 0-7, rows 8-15. `negative_zero`: D was f32, and rounding it to f16
// is another instruction, which keeps the sign of zero.
void load_half_sums(Sums& c, const uint32_t* const* registers);
void store_half_sums(const Sums& d, uint32_t* const* registers, bool negative_zero);

}  // namespace ridge::vm::tensor
