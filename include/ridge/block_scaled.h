// Block-scaled tensors by the names they are known by: mxfp8, nvfp4, nf4 ... docs/formats.md shows
// how each of them is laid out and quantised.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "ridge/tensor.h"

namespace ridge {

enum class BlockFormat : std::uint8_t {
  mxfp8_e4m3,
  mxfp8_e5m2,
  mxfp6_e2m3,
  mxfp6_e3m2,
  mxfp4,
  nvfp4,
  fp8_1x128,
  fp8_128x128,
  nf4,
  nf4_double,
  int8_rows,
  int8_cols,
  int8_tensor,
  fp8_tensor,
};

struct BlockFormatInfo {
  BlockFormat format;
  const char* name;
  Dtype element, scale;
  int block_rows, block_cols;  // 0: all rows, the whole row
  int second_block;            // scales that share an f32 of their own; 0: all; -1: there is none
  bool has_offset;             // an f32 that is added to every scale
};

// One row per block format, in the order of BlockFormat.
// clang-format off
inline constexpr BlockFormatInfo kBlockFormats[] = {
    // format                   name           element      scale         block     second offset
    {BlockFormat::mxfp8_e4m3,  "mxfp8_e4m3",  Dtype::e4m3, Dtype::ue8m0,   1,  32,  -1, false},
    {BlockFormat::mxfp8_e5m2,  "mxfp8_e5m2",  Dtype::e5m2, Dtype::ue8m0,   1,  32,  -1, false},
    {BlockFormat::mxfp6_e2m3,  "mxfp6_e2m3",  Dtype::e2m3, Dtype::ue8m0,   1,  32,  -1, false},
    {BlockFormat::mxfp6_e3m2,  "mxfp6_e3m2",  Dtype::e3m2, Dtype::ue8m0,   1,  32,  -1, false},
    {BlockFormat::mxfp4,       "mxfp4",       Dtype::e2m1, Dtype::ue8m0,   1,  32,  -1, false},
    {BlockFormat::nvfp4,       "nvfp4",       Dtype::e2m1, Dtype::ue4m3,   1,  16,   0, false},
    {BlockFormat::fp8_1x128,   "fp8_1x128",   Dtype::e4m3, Dtype::f32,     1, 128,  -1, false},
    {BlockFormat::fp8_128x128, "fp8_128x128", Dtype::e4m3, Dtype::f32,   128, 128,  -1, false},
    {BlockFormat::nf4,         "nf4",         Dtype::nf4,  Dtype::f32,     1,  64,  -1, false},
    {BlockFormat::nf4_double,  "nf4_double",  Dtype::nf4,  Dtype::e4m3,    1,  64, 256, true},
    {BlockFormat::int8_rows,   "int8_rows",   Dtype::i8,   Dtype::f32,     1,   0,  -1, false},
    {BlockFormat::int8_cols,   "int8_cols",   Dtype::i8,   Dtype::f32,     0,   1,  -1, false},
    {BlockFormat::int8_tensor, "int8_tensor", Dtype::i8,   Dtype::f32,     0,   0,  -1, false},
    {BlockFormat::fp8_tensor,  "fp8_tensor",  Dtype::e4m3, Dtype::f32,     0,   0,  -1, false},
};
// clang-format on

constexpr const BlockFormatInfo& info_of(BlockFormat format) { return kBlockFormats[int(format)]; }

inline bool is_block_scaled(const Tensor& t) { return t.scales.data != nullptr; }

// A contiguous tensor of any block format. `second` and `offset` are for the formats that have
// them.
inline Tensor block_scaled(BlockFormat format, void* data, void* scales,
                           std::initializer_list<std::int64_t> sizes, float* second = nullptr,
                           float* offset = nullptr) {
  const BlockFormatInfo& info = info_of(format);
  Tensor t(data, info.element, sizes);
  const std::int64_t cols = t.rank > 0 && t.rank <= kMaxRank ? t.shape[t.rank - 1] : 1;
  const std::int64_t rows = t.rank > 1 && t.rank <= kMaxRank ? t.shape[t.rank - 2] : 1;
  t.scales.data = scales;
  t.scales.dtype = info.scale;
  t.scales.block_rows = info.block_rows ? info.block_rows : std::max<std::int64_t>(rows, 1);
  t.scales.block_cols = info.block_cols ? info.block_cols : std::max<std::int64_t>(cols, 1);
  if (info.second_block >= 0) {
    t.scales.second = second;
    t.scales.second_block = info.second_block;
  }
  if (info.has_offset) t.scales.offset = offset;
  return t;
}

// OCP Microscaling: one ue8m0 per 32 elements. `element` is e4m3 or e5m2; e2m3 or e3m2.
inline Tensor mxfp8(void* data, void* scales, Dtype element,
                    std::initializer_list<std::int64_t> sizes) {
  return block_scaled(element == Dtype::e5m2 ? BlockFormat::mxfp8_e5m2 : BlockFormat::mxfp8_e4m3,
                      data, scales, sizes);
}
inline Tensor mxfp6(void* data, void* scales, Dtype element,
                    std::initializer_list<std::int64_t> sizes) {
  return block_scaled(element == Dtype::e3m2 ? BlockFormat::mxfp6_e3m2 : BlockFormat::mxfp6_e2m3,
                      data, scales, sizes);
}
inline Tensor mxfp4(void* data, void* scales, std::initializer_list<std::int64_t> sizes) {
  return block_scaled(BlockFormat::mxfp4, data, scales, sizes);
}

// NVFP4: one ue4m3 per 16 elements, and one f32 for the whole tensor.
inline Tensor nvfp4(void* data, void* scales, float* tensor_scale,
                    std::initializer_list<std::int64_t> sizes) {
  return block_scaled(BlockFormat::nvfp4, data, scales, sizes, tensor_scale);
}

// e4m3 with an f32 per 128 elements of a row, as activations have it, or per square of 128 x 128,
// as weights have it.
inline Tensor fp8_1x128(void* data, float* scales, std::initializer_list<std::int64_t> sizes) {
  return block_scaled(BlockFormat::fp8_1x128, data, scales, sizes);
}
inline Tensor fp8_128x128(void* data, float* scales, std::initializer_list<std::int64_t> sizes) {
  return block_scaled(BlockFormat::fp8_128x128, data, scales, sizes);
}

// QLoRA: the largest magnitude of each 64 elements, as f32 ...
inline Tensor nf4(void* data, float* absmax, std::initializer_list<std::int64_t> sizes) {
  return block_scaled(BlockFormat::nf4, data, absmax, sizes);
}
// ... or quantised again: e4m3 around their mean, with one f32 per 256 of them.
inline Tensor nf4_double(void* data, void* absmax, float* second, float* mean,
                         std::initializer_list<std::int64_t> sizes) {
  return block_scaled(BlockFormat::nf4_double, data, absmax, sizes, second, mean);
}

// i8 with an f32 per row.
inline Tensor int8_rows(void* data, float* scales, std::initializer_list<std::int64_t> sizes) {
  return block_scaled(BlockFormat::int8_rows, data, scales, sizes);
}

// i8 with an f32 per column, or one for the whole matrix.
inline Tensor int8_cols(void* data, float* scales, std::initializer_list<std::int64_t> sizes) {
  return block_scaled(BlockFormat::int8_cols, data, scales, sizes);
}
inline Tensor int8_tensor(void* data, float* scale, std::initializer_list<std::int64_t> sizes) {
  return block_scaled(BlockFormat::int8_tensor, data, scale, sizes);
}

// e4m3 or e5m2 with one f32 for the whole matrix.
inline Tensor fp8_tensor(void* data, float* scale, Dtype element,
                         std::initializer_list<std::int64_t> sizes) {
  Tensor t = block_scaled(BlockFormat::fp8_tensor, data, scale, sizes);
  t.dtype = element;
  return t;
}

// How many scales a tensor has, and which of them is that of an element. A tensor of rank 1 is one
// row; dimensions before the last two count matrices.
struct ScaleGrid {
  std::int64_t matrices = 1, rows = 1, cols = 1;  // elements
  std::int64_t block_rows = 1, block_cols = 1;

  std::int64_t scale_rows() const { return (rows + block_rows - 1) / block_rows; }
  std::int64_t scale_cols() const { return (cols + block_cols - 1) / block_cols; }
  std::int64_t count() const { return matrices * scale_rows() * scale_cols(); }
  std::int64_t index(std::int64_t matrix, std::int64_t row, std::int64_t col) const {
    return (matrix * scale_rows() + row / block_rows) * scale_cols() + col / block_cols;
  }
};
inline ScaleGrid scale_grid(const Tensor& t) {
  ScaleGrid grid;
  if (t.rank > 0) grid.cols = t.shape[t.rank - 1];
  if (t.rank > 1) grid.rows = t.shape[t.rank - 2];
  for (int d = 0; d + 2 < t.rank; ++d) grid.matrices *= t.shape[d];
  grid.block_rows = t.scales.block_rows;
  grid.block_cols = t.scales.block_cols;
  return grid;
}
inline std::size_t scale_bytes(const Tensor& t) {
  return bytes_for(t.scales.dtype, scale_grid(t).count());
}
inline std::int64_t second_count(const Tensor& t) {  // how many f32 `second` holds
  if (!t.scales.second) return 0;
  if (t.scales.second_block == 0) return 1;
  return (scale_grid(t).count() + t.scales.second_block - 1) / t.scales.second_block;
}

}  // namespace ridge
