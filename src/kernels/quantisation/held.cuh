// A block of elements in the registers of a thread block: a row, or a square of 128 x 128.
#pragma once

#include "kernels/quantisation/packs.cuh"

namespace ridge::quantisation::held {

constexpr int kMostThreads = 512;
constexpr int kPacks = 8;  // of a thread

// Packs of a rectangle, row by row.
template <class T>
struct Rectangle {
  int64_t first_row, first_col, rows, cols;
  __device__ __forceinline__ Rectangle(const Args& a, int64_t block)
      : first_row(block / a.blocks.across * a.blocks.block_rows),
        first_col(block % a.blocks.across * a.blocks.block_cols),
        rows(min(a.blocks.block_rows, a.rows - first_row)),
        cols(min(a.blocks.block_cols, a.cols - first_col)) {}
  __device__ __forceinline__ packs::Place place(const Divider& per_row, int64_t pack) const {
    if (rows == 1) {
      const int64_t c = pack * kPackSize<T>;
      return {first_row, first_col + c, max(min(cols - c, int64_t(kPackSize<T>)), int64_t(0))};
    }
    const int64_t r = per_row.quotient(pack);
    const int64_t c = (pack - r * per_row.divisor()) * kPackSize<T>;
    const int64_t left = r < rows ? cols - c : 0;
    return {first_row + r, first_col + c, max(min(left, int64_t(kPackSize<T>)), int64_t(0))};
  }
};

// The largest of all threads' bits, in all of them. `of_warps` has a word for each warp.
__device__ __forceinline__ uint32_t threads_max_bits(uint32_t bits, uint32_t* of_warps) {
  const int warp = threadIdx.x / kWarpSize, lane = threadIdx.x % kWarpSize;
  bits = lanes_max_bits(bits, kWarpSize);
  if (lane == 0) of_warps[warp] = bits;
  __syncthreads();
  return lanes_max_bits(lane < int(blockDim.x) / kWarpSize ? of_warps[lane] : 0, kWarpSize);
}

template <class T, class Codec>
__global__ void __launch_bounds__(kMostThreads) quantise_held(Args a, Divider per_row, int packs) {
  __shared__ uint32_t of_warps[kMostThreads / kWarpSize];
  const Codec codec;
  const T* const x = static_cast<const T*>(a.x);
  const Rectangle<T> block(a, blockIdx.x);
  const int threads = int(blockDim.x), turn = threads * kPacks;
  Pack<T> raw[kPacks];
  float numbers[kPackSize<T>];
  const auto load = [&](int first) {
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      const packs::Place at = block.place(per_row, first + p * threads);
      raw[p] = load_part(x + at.r * a.x_stride, at.c, at.width);
    }
  };
  uint32_t bits = 0;
  for (int first = threadIdx.x; first < packs; first += turn) {
    load(first);
#pragma unroll
    for (int p = 0; p < kPacks; ++p) bits = max(bits, pack_max_bits(raw[p]));
  }
  bits = threads_max_bits(bits, of_warps);
  const float scale = make_scale(a, blockIdx.x, amax_of(bits), 0, threadIdx.x == 0);
  for (int first = threadIdx.x; first < packs; first += turn) {
    if (packs > turn) load(first);
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      const packs::Place at = block.place(per_row, first + p * threads);
      to_floats(raw[p], numbers);
      const auto word = divided(codec, a, scale, numbers);
      store_codes<Codec::kElement, kPackSize<T>>(a, at.r * a.cols + at.c, at.width, word);
    }
  }
}

// The same where every row begins with a whole pack and ends with one: a pack is there or it is
// not. kIsRow: a block is a row, so the number of a pack is its place.
template <class T, class Codec, bool kIsRow>
__global__ void __launch_bounds__(kMostThreads, 2)
    quantise_held_packs(Args a, Divider per_row, int packs) {
  constexpr int kSize = kPackSize<T>;
  using Word = PackedWord<Codec::kElement, kSize>;
  __shared__ uint32_t of_warps[kMostThreads / kWarpSize];
  const Codec codec;
  const Rectangle<T> block(a, blockIdx.x);
  const auto* const x = reinterpret_cast<const Pack<T>*>(
      static_cast<const T*>(a.x) + block.first_row * a.x_stride + block.first_col);
  Word* const q = static_cast<Word*>(a.q) + (block.first_row * a.cols + block.first_col) / kSize;
  const int threads = int(blockDim.x), turn = threads * kPacks;
  const int rows = int(block.rows), across = int(block.cols) / kSize;
  const int64_t x_step = a.x_stride / kSize, q_step = a.cols / kSize;
  struct Place {
    int r, c;
    bool is_there;
  };
  const auto place = [&](int pack) {
    if constexpr (kIsRow) return Place{0, pack, pack < packs};
    const int r = int(per_row.quotient(pack)), c = pack - r * int(per_row.divisor());
    return Place{r, c, r < rows && c < across};
  };
  Pack<T> raw[kPacks];
  const auto load = [&](int first) {
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      const Place at = place(first + p * threads);
      if (at.is_there) raw[p] = x[at.r * x_step + at.c];
      else raw[p] = Pack<T>{};
    }
  };
  uint32_t bits = 0;
  for (int first = threadIdx.x; first < packs; first += turn) {
    load(first);
    if constexpr (sizeof(T) == 2) {
      uint32_t pair = 0;
#pragma unroll
      for (int p = 0; p < kPacks; ++p) pair = pair_max<T>(pair, pack_max_pair(raw[p]));
      bits = max(bits, pair_max_bits<T>(pair));
    } else {
#pragma unroll
      for (int p = 0; p < kPacks; ++p) bits = max(bits, pack_max_bits(raw[p]));
    }
  }
  bits = threads_max_bits(bits, of_warps);
  const float scale = ratio_scale<Codec::kElement>(amax_of(bits));
  if (threadIdx.x == 0) static_cast<float*>(a.scales)[blockIdx.x] = scale;
  const Divisor by(scale);
  for (int first = threadIdx.x; first < packs; first += turn) {
    if (packs > turn) load(first);
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      const Place at = place(first + p * threads);
      float numbers[kSize];
      to_floats(raw[p], numbers);
#pragma unroll
      for (int i = 0; i < kSize; ++i) numbers[i] = by.quotient(numbers[i] * by.lift);
      const Word word =
          by.divides() ? codec.encoded(numbers) : kCodesOfZero<Codec::kElement, kSize>;
      if (at.is_there) q[at.r * q_step + at.c] = word;
    }
  }
}
template <class T>
bool has_whole_packs(const Args& a) {
  constexpr int kSize = kPackSize<T>;
  return a.cols % kSize == 0 && a.x_stride % kSize == 0 && is_pack_aligned(a.x) &&
         reinterpret_cast<uintptr_t>(a.q) % kSize == 0;
}

// Where this is more than one pass over x.
inline bool is_too_wide(const Args& a) {
  const int64_t packs = a.blocks.block_cols / packs::pack_size_of(a) * a.blocks.block_rows;
  return packs > kMostThreads * kPacks;
}
// Rows and squares of 8 bits.
inline Support supports(const Args& a) {
  if (!is_compute_float(a.dtype)) return "computes f32, f16 and bf16";
  if (a.back || a.is_whole || a.rule != Rule::ratio || is_packed(a.element))
    return "quantises rows, columns and squares to 8 bits";
  if (a.blocks.block_cols > int64_t(1) << 30) return "counts columns up to 2^30";
  return a.blocks.count < int64_t(1) << 31 ? kSupported : "counts blocks up to 2^31";
}
template <class T, class Codec>
Status launch_quantise(const Args& a, cudaStream_t stream) {
  const int64_t per_row = (std::min(a.blocks.block_cols, a.cols) + kPackSize<T> - 1) / kPackSize<T>;
  const int64_t packs = per_row * std::min(a.blocks.block_rows, a.rows);
  int threads = kWarpSize;
  while (threads < kMostThreads && packs > threads * kPacks) threads *= 2;
  const Divider divider(per_row, packs + int64_t(kMostThreads) * kPacks);
  if (has_whole_packs<T>(a)) {
    const auto kernel = a.blocks.block_rows == 1 ? quantise_held_packs<T, Codec, true>
                                                 : quantise_held_packs<T, Codec, false>;
    kernel<<<unsigned(a.blocks.count), threads, 0, stream>>>(a, divider, int(packs));
    return launch_status();
  }
  quantise_held<T, Codec><<<unsigned(a.blocks.count), threads, 0, stream>>>(a, divider, int(packs));
  return launch_status();
}

}  // namespace ridge::quantisation::held
