// Packs of 16 bytes of x: one per thread and turn. The lanes that have the packs of one block are
// neighbours in a warp, and find its maximum by shuffles.
#pragma once

#include <algorithm>

#include "device/divide.cuh"
#include "kernels/quantisation/codec.cuh"
#include "kernels/quantisation/maxima.cuh"

namespace ridge::quantisation::packs {

constexpr int kThreads = 256;
constexpr int kUnroll = 2;  // packs of a thread under way

// How rows are cut into packs.
struct Cut {
  Divider per_row;  // packs of a row, rounded up to whole blocks
  int lanes;        // packs of a block; 1 where the scale is the whole tensor's
  unsigned grid;
};
// Rows that lie one after another are one row, if every pack still belongs to one block.
inline Args flattened(Args a, int pack_size) {
  if (a.x_stride != a.cols || a.rows < 2) return a;
  if (!a.is_whole) {
    const bool has_blocks_of_rows = a.blocks.block_rows == 1 && a.cols % a.blocks.block_cols == 0;
    if (!has_blocks_of_rows || a.blocks.block_cols % pack_size != 0) return a;
    a.blocks.across *= a.rows;
  }
  a.cols = a.x_stride = a.rows * a.cols;
  a.rows = 1;
  return a;
}
inline Cut cut(const Args& a, int pack_size, int unroll) {
  const int64_t size = a.is_whole ? pack_size : a.blocks.block_cols;
  const int64_t lanes = std::max<int64_t>(size / pack_size, 1);
  const int64_t per_row = (a.cols + lanes * pack_size - 1) / (lanes * pack_size) * lanes;
  const int64_t each = int64_t(kThreads) * unroll;
  const int64_t grid = (a.rows * per_row + each - 1) / each;
  return {Divider(per_row, grid * each), int(lanes), unsigned(grid)};
}

// A pack's place.
struct Place {
  int64_t r, c, width;  // width: how many of its elements are there
  template <class T>
  static __device__ __forceinline__ Place of(const Args& a, const Divider& per_row, int64_t pack) {
    if (a.rows == 1) {
      const int64_t c = pack * kPackSize<T>;
      return {0, c, max(min(a.cols - c, int64_t(kPackSize<T>)), int64_t(0))};
    }
    const int64_t r = per_row.quotient(pack);
    const int64_t c = (pack - r * per_row.divisor()) * kPackSize<T>;
    const int64_t left = r < a.rows ? a.cols - c : 0;
    return {r, c, max(min(left, int64_t(kPackSize<T>)), int64_t(0))};
  }
};

// The largest magnitude of all blocks that are finite (Rule::shared), or of the whole tensor.
// kUnit: that of nvcc, because the same kernel in two units would be one for the linker.
template <class T, int kUnit>
__global__ void __launch_bounds__(kThreads) maxima(Args a, Maxima m, Cut cut) {
  __shared__ uint32_t most;
  if (threadIdx.x == 0) most = 0;
  __syncthreads();
  const T* const x = static_cast<const T*>(a.x);
  const int64_t first = int64_t(blockIdx.x) * (kThreads * 2 * kUnroll) + threadIdx.x;
  Pack<T> raw[2 * kUnroll];
  uint32_t bits = 0;
#pragma unroll
  for (int u = 0; u < 2 * kUnroll; ++u) {
    const Place at = Place::of<T>(a, cut.per_row, first + u * kThreads);
    raw[u] = load_part(x + at.r * a.x_stride, at.c, at.width);
  }
#pragma unroll
  for (int u = 0; u < 2 * kUnroll; ++u) {
    uint32_t of_pack = pack_max_bits(raw[u]);
    if (a.rule == Rule::shared) {
      of_pack = lanes_max_bits(of_pack, cut.lanes);
      if (of_pack >= kInfinityBits) of_pack = 0;
    }
    bits = max(bits, of_pack);
  }
  bits = lanes_max_bits(bits, kWarpSize);
  if (threadIdx.x % kWarpSize == 0) atomicMax(&most, bits);
  __syncthreads();
  // Most thread blocks find that another one had more, and spare the atomic.
  if (threadIdx.x == 0 && most > *static_cast<volatile uint32_t*>(m.tensor))
    atomicMax(m.tensor, most);
}

template <class T, class Codec>
__global__ void __launch_bounds__(kThreads, 6) quantise(Args a, Maxima m, Cut cut) {
  constexpr int kSize = kPackSize<T>;
  const Codec codec;
  const T* const x = static_cast<const T*>(a.x);
  const int64_t first = int64_t(blockIdx.x) * (kThreads * kUnroll) + threadIdx.x;
  Place at[kUnroll];
  Pack<T> raw[kUnroll];
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    at[u] = Place::of<T>(a, cut.per_row, first + u * kThreads);
    raw[u] = load_part(x + at[u].r * a.x_stride, at[u].c, at[u].width);
  }
  float tensor_scale = 0;
  uint32_t of_tensor = 0;
  if (!a.is_given && (a.is_whole || a.rule == Rule::shared)) of_tensor = m.tensor[0];
  if (a.rule == Rule::shared) {
    tensor_scale = a.is_given ? a.second[0] : tensor_scale_of(a, __uint_as_float(of_tensor));
    if (first == 0 && !a.is_given) a.second[0] = tensor_scale;
  }
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    float numbers[kSize];
    to_floats(raw[u], numbers);
    float scale;
    if (a.is_whole) {
      scale = a.is_given ? stored_scale(a, 0)
                         : make_scale(a, 0, amax_of(of_tensor), 0, first == 0 && u == 0);
    } else {
      const uint32_t bits = lanes_max_bits(pack_max_bits(raw[u]), cut.lanes);
      const bool stores = threadIdx.x % cut.lanes == 0 && at[u].width > 0;
      const int64_t block = at[u].r * a.blocks.across + at[u].c / a.blocks.block_cols;
      scale = make_scale(a, block, amax_of(bits), tensor_scale, stores);
      if (a.rule == Rule::mean && stores) m.blocks[block] = bits;
    }
    const auto word = divided(codec, a, scale, numbers);
    store_codes<Codec::kElement, kSize>(a, at[u].r * a.cols + at[u].c, at[u].width, word);
  }
}

// Whether the lanes of a warp have whole blocks.
inline bool holds_blocks(const Args& a, int pack_size) {
  const int64_t size = a.blocks.block_cols;
  return a.blocks.block_rows == 1 && size >= pack_size && (size & (size - 1)) == 0 &&
         size / pack_size <= kWarpSize;
}
constexpr int pack_size_of(const Args& a) { return kPackBytes / int(size_of(a.dtype)); }

// Of Rule::mean, the largest magnitudes of blocks are left in the workspace.
template <class T, class Codec>
Status launch_quantise(Args a, cudaStream_t stream) {
  const Maxima m = maxima_in(a);
  a = flattened(a, kPackSize<T>);
  if (!a.is_given && (a.is_whole || a.rule == Rule::shared)) {
    if (const Status s = clear_maxima(a, false, stream); !s) return s;
    const Cut c = cut(a, kPackSize<T>, 2 * kUnroll);
    maxima<T, Codec::kUnit><<<c.grid, kThreads, 0, stream>>>(a, m, c);
  }
  const Cut c = cut(a, kPackSize<T>, kUnroll);
  quantise<T, Codec><<<c.grid, kThreads, 0, stream>>>(a, m, c);
  return launch_status();
}

// Any shape of blocks. A pack belongs to one block, except in columns.
template <class T, class Codec>
__global__ void __launch_bounds__(kThreads, 6) dequantise(Args a, Cut cut) {
  constexpr int kSize = kPackSize<T>;
  constexpr int kTurns = 2 * kUnroll;
  const Codec codec;
  T* const y = static_cast<T*>(a.x);
  const int64_t first = int64_t(blockIdx.x) * (kThreads * kTurns) + threadIdx.x;
  Place at[kTurns];
  PackedWord<Codec::kElement, kSize> words[kTurns];
  float scale[kTurns];
  const bool by_column = a.blocks.are_columns;
#pragma unroll
  for (int u = 0; u < kTurns; ++u) {
    at[u] = Place::of<T>(a, cut.per_row, first + u * kThreads);
    words[u] = load_codes<Codec::kElement, kSize>(a, at[u].r * a.cols + at[u].c, at[u].width);
    const int64_t block = a.is_whole ? 0
                                     : at[u].r / a.blocks.block_rows * a.blocks.across +
                                           at[u].c / a.blocks.block_cols;
    scale[u] = at[u].width > 0 && !by_column ? stored_scale(a, block) : 0;
  }
#pragma unroll
  for (int u = 0; u < kTurns; ++u) {
    float numbers[kSize];
    codec.decode(words[u], numbers);
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      const float mine = by_column && i < at[u].width ? stored_scale(a, at[u].c + i) : scale[u];
      numbers[i] *= mine;
    }
    store_part(y + at[u].r * a.x_stride, at[u].c, at[u].width, from_floats<T>(numbers));
  }
}
template <class T, class Codec>
Status launch_dequantise(Args a, cudaStream_t stream) {
  a = flattened(a, kPackSize<T>);
  Cut c = cut(a, kPackSize<T>, 2 * kUnroll);
  if (!holds_blocks(a, kPackSize<T>)) {  // packs need not fill blocks here
    Args whole = a;
    whole.is_whole = true;
    c = cut(whole, kPackSize<T>, 2 * kUnroll);
  }
  dequantise<T, Codec><<<c.grid, kThreads, 0, stream>>>(a, c);
  return launch_status();
}

}  // namespace ridge::quantisation::packs
