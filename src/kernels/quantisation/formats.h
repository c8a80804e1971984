// The formats that operators quantise to: what a description, the kernels and the reference of each
// have to know. docs/quantisation.md defines them.
#pragma once

#include <cmath>

#include "core/number.h"
#include "ridge/block_scaled.h"

namespace ridge::quantisation {

// How the scale of a block follows from amax, its largest magnitude.
enum class Rule : uint8_t {
  ratio,   // f32: amax / (largest element)
  power,   // ue8m0: 2^(floor(log2 amax) - floor(log2 largest element))
  shared,  // ue4m3: amax / (largest element), divided by an f32 of the whole tensor
  mean,    // e4m3: amax less the mean of all amax, divided by an f32 for each 256 blocks
};

struct Format {
  const char* name;  // of the operators: quantise_NAME, dequantise_NAME
  BlockFormat block;
  Rule rule;
  bool may_be_e5m2;  // instead of e4m3
  const char* about;

  const BlockFormatInfo& info() const { return info_of(block); }
  bool is_whole_tensor() const { return info().block_rows == 0 && info().block_cols == 0; }
  bool is_of_columns() const { return info().block_rows == 0 && info().block_cols == 1; }
  bool is_of_squares() const { return info().block_rows > 1; }
  bool has_tensor_scale() const { return is_whole_tensor() || rule == Rule::shared; }
};

// clang-format off
inline constexpr Format kFormats[] = {
    {"int8_rows",   BlockFormat::int8_rows,   Rule::ratio,  false, "i8, one f32 scale per row"},
    {"int8_cols",   BlockFormat::int8_cols,   Rule::ratio,  false, "i8, one f32 scale per column"},
    {"int8_tensor", BlockFormat::int8_tensor, Rule::ratio,  false, "i8, one f32 scale"},
    {"fp8_tensor",  BlockFormat::fp8_tensor,  Rule::ratio,  true,  "fp8, one f32 scale"},
    {"fp8_1x128",   BlockFormat::fp8_1x128,   Rule::ratio,  true,  "fp8, one f32 scale per 128 elements of a row"},
    {"fp8_128x128", BlockFormat::fp8_128x128, Rule::ratio,  true,  "fp8, one f32 scale per square of 128 x 128"},
    {"mxfp8",       BlockFormat::mxfp8_e4m3,  Rule::power,  true,  "fp8, one ue8m0 scale per 32 elements of a row"},
    {"mxfp4",       BlockFormat::mxfp4,       Rule::power,  false, "e2m1, one ue8m0 scale per 32 elements of a row"},
    {"nvfp4",       BlockFormat::nvfp4,       Rule::shared, false, "e2m1, one ue4m3 scale per 16 elements of a row, one f32 for all"},
    {"nf4",         BlockFormat::nf4,         Rule::ratio,  false, "nf4, one f32 scale per 64 elements of a row"},
    {"nf4_double",  BlockFormat::nf4_double,  Rule::mean,   false, "nf4, one e4m3 scale per 64 elements of a row around a mean, one f32 per 256 scales"},
};
// clang-format on
inline constexpr int kFormatCount = int(sizeof(kFormats) / sizeof(kFormats[0]));

// Of `largest(element)`, the power of two below it.
inline int power_below_largest(Dtype element) { return std::ilogb(largest(element)); }

// How the scales of a tensor of so many rows and columns lie.
struct Blocks {
  int64_t block_rows = 1, block_cols = 1;
  int64_t across = 0, count = 0;  // blocks beside each other; all
  bool are_columns = false;       // a row of one element is a block of one column, too
};
inline Blocks blocks_of(const Format& format, int64_t rows, int64_t cols) {
  const auto size = [](int block, int64_t all) { return block ? block : all > 1 ? all : 1; };
  Blocks b = {size(format.info().block_rows, rows), size(format.info().block_cols, cols)};
  // A whole row, column or tensor has its scale even if it has no elements.
  const auto over = [](int block, int64_t all, int64_t of) {
    return block ? (all + of - 1) / of : 1;
  };
  b.across = over(format.info().block_cols, cols, b.block_cols);
  b.count = b.across * over(format.info().block_rows, rows, b.block_rows);
  b.are_columns = format.is_of_columns();
  return b;
}
constexpr int kGroup = 256;  // scales that share an f32, of Rule::mean
inline int64_t groups_of(int64_t scales) { return (scales + kGroup - 1) / kGroup; }

}  // namespace ridge::quantisation
