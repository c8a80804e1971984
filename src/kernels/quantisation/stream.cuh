// A tensor without gaps whose blocks lie one after another, as one stream of packs of 16 bytes: the
// number of a pack is its place, and only the last thread block has to ask where the stream ends.
#pragma once

#include "device/divide.cuh"
#include "kernels/quantisation/codec.cuh"
#include "kernels/quantisation/maxima.cuh"

namespace ridge::quantisation::stream {

constexpr int kThreads = 256;
constexpr int kUnroll = 4;  // packs of a thread under way
constexpr int64_t kEach = int64_t(kThreads) * kUnroll;
constexpr int kSquare = 128;

// The packs of this thread: pack u is there if u * kThreads < left.
struct Share {
  int64_t begin;  // the first pack of the thread block
  int left;
  __device__ __forceinline__ Share(int64_t packs, int64_t number)
      : begin(number * kEach), left(int(min(packs - begin, kEach)) - int(threadIdx.x)) {}
  __device__ __forceinline__ bool has(int u) const { return u * kThreads < left; }
};
template <class T>
__device__ __forceinline__ void load(const Args& a, const Share& share, Pack<T> (&raw)[kUnroll]) {
  const T* const x = static_cast<const T*>(a.x) + (share.begin + threadIdx.x) * kPackSize<T>;
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    if (share.has(u)) raw[u] = load_pack(x + u * kThreads * kPackSize<T>);
    else raw[u] = Pack<T>{};
  }
}

// The largest magnitudes of kOver neighbouring packs, as bits, for all packs of the thread. Maxima
// of two-byte numbers stay in that format, and one shuffle carries those of two packs.
template <int kOver, class T>
__device__ __forceinline__ void block_maxima(const Pack<T> (&raw)[kUnroll],
                                             uint32_t (&bits)[kUnroll]) {
  if constexpr (sizeof(T) == 2) {
#pragma unroll
    for (int u = 0; u < kUnroll; u += 2) {
      const uint32_t first = pack_max_pair(raw[u]), second = pack_max_pair(raw[u + 1]);
      uint32_t both =
          pair_max<T>(__byte_perm(first, second, 0x5410), __byte_perm(first, second, 0x7632));
#pragma unroll
      for (int distance = kOver / 2; distance > 0; distance /= 2)
        both = pair_max<T>(both, __shfl_xor_sync(kAllLanes, both, distance));
      bits[u] = magnitude_bits(to_float(reinterpret_cast<const T*>(&both)[0]));
      bits[u + 1] = magnitude_bits(to_float(reinterpret_cast<const T*>(&both)[1]));
    }
  } else {
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) bits[u] = lanes_max_bits(pack_max_bits(raw[u]), kOver);
  }
}

// How many lanes share a block of kBlock elements; 1 where one scale belongs to all.
template <class T, int kBlock>
constexpr int kLanes = kBlock > kPackSize<T> ? kBlock / kPackSize<T> : 1;

// The largest magnitude of the tensor; with blocks, of those that are finite. kUnit: that of nvcc,
// because the same kernel in two units would be one for the linker.
template <class T, int kBlock, int kUnit>
__global__ void __launch_bounds__(kThreads) stream_maximum(Args a, Maxima m, int64_t packs) {
  __shared__ uint32_t most;
  if (threadIdx.x == 0) most = 0;
  __syncthreads();
  Pack<T> raw[kUnroll];
  uint32_t each[kUnroll];
  load(a, Share(packs, blockIdx.x), raw);
  block_maxima<kLanes<T, kBlock>>(raw, each);
  uint32_t bits = 0;
#pragma unroll
  for (int u = 0; u < kUnroll; ++u)
    bits = max(bits, kBlock > 0 && each[u] >= kInfinityBits ? 0 : each[u]);
  bits = lanes_max_bits(bits, kWarpSize);
  if (threadIdx.x % kWarpSize == 0) atomicMax(&most, bits);
  __syncthreads();
  // Most thread blocks find that another one had more, and spare the atomic.
  if (threadIdx.x == 0 && most > *static_cast<volatile uint32_t*>(m.tensor))
    atomicMax(m.tensor, most);
}

// The scale of a block under that of the tensor, as ue4m3: as in rules.cuh, with the division made
// ready. A quotient that is not exact here is far below the least ue4m3.
__device__ __forceinline__ uint32_t shared_scale(float scale, const Divisor& by_tensor) {
  const float quotient = by_tensor.divides() ? by_tensor.quotient(scale * by_tensor.lift)
                                             : scale * 0;  // NaN stays NaN
  return quotient == quotient ? narrow_bounded<Dtype::e4m3>(quotient) : 0x7fu;
}
// Makes and stores the scale of a block, and says what it divides by.
template <Dtype E, Rule R>
__device__ __forceinline__ Divisor divisor_of_block(const Args& a, const Maxima& m, int64_t block,
                                                    uint32_t bits, float tensor_scale,
                                                    const Divisor& by_tensor, bool stores) {
  const float amax = amax_of(bits);
  if constexpr (R == Rule::mean) {
    if (stores) m.blocks[block] = bits;
    return Divisor(amax);
  }
  const float scale = ratio_scale<E>(amax);
  if constexpr (R == Rule::ratio) {
    if (stores) static_cast<float*>(a.scales)[block] = scale;
    return Divisor(scale);
  }
  const uint32_t code = shared_scale(scale, by_tensor);
  if (stores) static_cast<uint8_t*>(a.scales)[block] = uint8_t(code);
  return Divisor(shared_scale_in_f32(code, tensor_scale));
}

// kBlock: elements of a block, 0 for the whole tensor.
template <class T, class Codec, Rule R, int kBlock>
__global__ void __launch_bounds__(kThreads, 4) quantise_stream(Args a, Maxima m, int64_t packs) {
  constexpr int kSize = kPackSize<T>;
  using Word = PackedWord<Codec::kElement, kSize>;
  const Codec codec;
  // Where x was read before, its end is still in the L2 cache, so this pass begins there.
  constexpr bool kIsSecondPass = kBlock == 0 || R == Rule::shared;
  const int64_t number = kIsSecondPass ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
  const Share share(packs, number);
  Pack<T> raw[kUnroll];
  load(a, share, raw);
  float tensor_scale = 1;
  if constexpr (kIsSecondPass) {
    const uint32_t of_tensor = m.tensor[0];
    const bool is_first = number == 0 && threadIdx.x == 0;
    if constexpr (kBlock == 0) {
      tensor_scale = ratio_scale<Codec::kElement>(amax_of(of_tensor));
      if (is_first) static_cast<float*>(a.scales)[0] = tensor_scale;
    } else {
      tensor_scale = tensor_scale_of(a, __uint_as_float(of_tensor));
      if (is_first) a.second[0] = tensor_scale;
    }
  }
  const Divisor by_tensor(tensor_scale);
  constexpr int kEvery = kLanes<T, kBlock>;
  uint32_t bits[kUnroll];
  if constexpr (kBlock > 0) block_maxima<kEvery>(raw, bits);
  const int in_block = int(threadIdx.x) % kEvery;
  const int64_t first_block = (share.begin + threadIdx.x) / kEvery;
  const auto block_of = [&](int u) { return first_block + u * (kThreads / kEvery); };
  const auto has_block = [&](int u) { return u * kThreads < share.left + in_block; };

  // The lanes of a block have kUnroll blocks together: each lane makes its part of the divisors.
  constexpr bool kDivides = kBlock > 0 && R != Rule::power;
  constexpr int kMade = kDivides && kEvery < kUnroll ? kUnroll / kEvery : 1;
  Divisor made[kMade];
  bool is_lifted = by_tensor.lift != 1;
  if constexpr (kDivides) {
    is_lifted = false;
#pragma unroll
    for (int k = 0; k < kMade; ++k) {
      const int u = in_block * kMade % kUnroll + k;
      uint32_t mine = bits[k];
#pragma unroll
      for (int v = kMade + k; v < kUnroll; v += kMade) mine = u == v ? bits[v] : mine;
      const bool stores = in_block * kMade < kUnroll && has_block(u);
      made[k] = divisor_of_block<Codec::kElement, R>(a, m, block_of(u), mine, tensor_scale,
                                                     by_tensor, stores);
      is_lifted |= made[k].lift != 1;
    }
    is_lifted = __any_sync(kAllLanes, is_lifted);
  }
  Word* const q = static_cast<Word*>(a.q) + share.begin + threadIdx.x;
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    float numbers[kSize];
    to_floats(raw[u], numbers);
    bool divides;
    if constexpr (R == Rule::power) {
      const uint32_t code = power_scale(amax_of(bits[u]), kPowerBelowLargest<Codec::kElement>);
      if (in_block == 0 && has_block(u)) static_cast<uint8_t*>(a.scales)[block_of(u)] = code;
      divide_by_power(code, numbers);
      divides = code != 0xff;
    } else {
      Divisor by = by_tensor;
      if constexpr (kDivides) {
        by.b = __shfl_sync(kAllLanes, made[u % kMade].b, u / kMade, kEvery);
        by.inverse = __shfl_sync(kAllLanes, made[u % kMade].inverse, u / kMade, kEvery);
      }
      if (is_lifted) {  // all lanes of the warp
        if constexpr (kDivides)
          by.lift = __shfl_sync(kAllLanes, made[u % kMade].lift, u / kMade, kEvery);
#pragma unroll
        for (int i = 0; i < kSize; ++i) numbers[i] *= by.lift;
      }
#pragma unroll
      for (int i = 0; i < kSize; ++i) numbers[i] = by.quotient(numbers[i]);
      divides = by.divides();
    }
    Word word = codec.encoded(numbers);  // with all lanes of the warp
    if (!divides) word = kCodesOfZero<Codec::kElement, kSize>;
    if (share.has(u)) q[u * kThreads] = word;
  }
}

// Where the scale of a pack is.
enum class Where : uint8_t { whole, row, column, square, block };

template <class T, class Codec, Rule R, Where kWhere>
__global__ void __launch_bounds__(kThreads, 4)
    dequantise_stream(Args a, Divider per_row, int per_block, int64_t packs) {
  constexpr int kSize = kPackSize<T>;
  using Word = PackedWord<Codec::kElement, kSize>;
  const Codec codec;
  const Share share(packs, blockIdx.x);
  const Word* const q = static_cast<const Word*>(a.q) + share.begin + threadIdx.x;
  T* const y = static_cast<T*>(a.x) + (share.begin + threadIdx.x) * kSize;
  Word words[kUnroll] = {};
  float scale[kUnroll] = {};
  int64_t column[kUnroll] = {};
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    if (!share.has(u)) continue;
    words[u] = q[u * kThreads];
    const int64_t pack = share.begin + threadIdx.x + u * kThreads;
    if constexpr (kWhere == Where::whole) scale[u] = stored_scale<R>(a, 0);
    else if constexpr (kWhere == Where::block) scale[u] = stored_scale<R>(a, pack >> per_block);
    else {
      const int64_t r = per_row.quotient(pack);
      column[u] = (pack - r * per_row.divisor()) * kSize;
      if constexpr (kWhere == Where::row) scale[u] = stored_scale<R>(a, r);
      if constexpr (kWhere == Where::square)
        scale[u] = stored_scale<R>(a, r / kSquare * a.blocks.across + column[u] / kSquare);
    }
  }
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    float numbers[kSize];
    codec.decode(words[u], numbers);
    if (!share.has(u)) continue;
    alignas(kPackBytes) float scales[kSize];
    if constexpr (kWhere == Where::column)
#pragma unroll
      for (int p = 0; p < kSize; p += kPackSize<float>)
        *reinterpret_cast<Pack<float>*>(scales + p) =
            load_pack(static_cast<const float*>(a.scales) + column[u] + p);
#pragma unroll
    for (int i = 0; i < kSize; ++i) numbers[i] *= kWhere == Where::column ? scales[i] : scale[u];
    store_pack(y + u * kThreads * kSize, from_floats<T>(numbers));
  }
}

inline Where where(const Args& a) {
  if (a.is_whole) return Where::whole;
  if (a.blocks.are_columns) return Where::column;
  if (a.element == Dtype::i8) return Where::row;
  return a.blocks.block_rows == kSquare ? Where::square : Where::block;
}
inline int64_t packs_of(const Args& a) {
  return a.rows * a.cols / (kPackBytes / int64_t(size_of(a.dtype)));
}
inline unsigned grid_for(const Args& a) { return unsigned((packs_of(a) + kEach - 1) / kEach); }

// Whether x and q are such streams.
inline Support supports(const Args& a) {
  if (!is_compute_float(a.dtype)) return "computes f32, f16 and bf16";
  const int64_t pack = kPackBytes / int64_t(size_of(a.dtype));
  if (a.rows > 1 && a.x_stride != a.cols) return "needs rows without gaps between them";
  if (a.cols % pack != 0 || !is_pack_aligned(a.x) || reinterpret_cast<uintptr_t>(a.q) % 8 != 0)
    return "works on rows of whole packs of 16 bytes, at multiples of 16 bytes";
  if (where(a) == Where::column && !is_pack_aligned(a.scales))
    return "reads scales of columns at multiples of 16 bytes";
  if (where(a) == Where::block && a.rows > 1 && a.cols % a.blocks.block_cols != 0)
    return "works on rows of whole blocks";
  return a.rows * a.cols < int64_t(1) << 40 ? kSupported : "counts elements up to 2^40";
}
inline Support supports_quantise(const Args& a) {
  if (a.is_given) return "works with scales that are made from x";
  if (where(a) != Where::whole && where(a) != Where::block)
    return "works on blocks of a row that a warp holds, or on one scale for all";
  return supports(a);
}

template <class T, class Codec, Rule R, int kBlock>
Status launch_blocks(const Args& a, cudaStream_t stream) {
  const Maxima m = maxima_in(a);
  if constexpr (kBlock == 0 || R == Rule::shared) {
    if (const Status s = clear_maxima(a, false, stream); !s) return s;
    stream_maximum<T, kBlock, Codec::kUnit>
        <<<grid_for(a), kThreads, 0, stream>>>(a, m, packs_of(a));
  }
  quantise_stream<T, Codec, R, kBlock><<<grid_for(a), kThreads, 0, stream>>>(a, m, packs_of(a));
  return launch_status();
}
template <class T, class Codec>
Status launch_quantise(const Args& a, cudaStream_t stream) {
  constexpr Dtype kElement = Codec::kElement;
  if constexpr (kElement == Dtype::nf4) {
    return a.rule == Rule::mean ? launch_blocks<T, Codec, Rule::mean, 64>(a, stream)
                                : launch_blocks<T, Codec, Rule::ratio, 64>(a, stream);
  } else if constexpr (kElement == Dtype::e2m1) {
    return a.rule == Rule::power ? launch_blocks<T, Codec, Rule::power, 32>(a, stream)
                                 : launch_blocks<T, Codec, Rule::shared, 16>(a, stream);
  } else {
    if constexpr (kElement != Dtype::i8) {
      if (a.rule == Rule::power) return launch_blocks<T, Codec, Rule::power, 32>(a, stream);
      if (!a.is_whole) return launch_blocks<T, Codec, Rule::ratio, 128>(a, stream);
    }
    return launch_blocks<T, Codec, Rule::ratio, 0>(a, stream);
  }
}

template <class T, class Codec, Rule R, Where kWhere>
Status launch_from(const Args& a, cudaStream_t stream) {
  const int64_t size = kPackSize<T>;
  int per_block = 0;  // log2 of its packs
  if (kWhere == Where::block)
    while (size << per_block < a.blocks.block_cols) ++per_block;
  const Divider per_row(a.cols / size, packs_of(a) + kEach);
  dequantise_stream<T, Codec, R, kWhere>
      <<<grid_for(a), kThreads, 0, stream>>>(a, per_row, per_block, packs_of(a));
  return launch_status();
}
template <class T, class Codec>
Status launch_dequantise(const Args& a, cudaStream_t stream) {
  constexpr Dtype kElement = Codec::kElement;
  if constexpr (kElement == Dtype::nf4) {
    return a.rule == Rule::mean ? launch_from<T, Codec, Rule::mean, Where::block>(a, stream)
                                : launch_from<T, Codec, Rule::ratio, Where::block>(a, stream);
  } else if constexpr (kElement == Dtype::e2m1) {
    return a.rule == Rule::power ? launch_from<T, Codec, Rule::power, Where::block>(a, stream)
                                 : launch_from<T, Codec, Rule::shared, Where::block>(a, stream);
  } else if constexpr (kElement == Dtype::i8) {
    if (a.is_whole) return launch_from<T, Codec, Rule::ratio, Where::whole>(a, stream);
    return where(a) == Where::column ? launch_from<T, Codec, Rule::ratio, Where::column>(a, stream)
                                     : launch_from<T, Codec, Rule::ratio, Where::row>(a, stream);
  } else {
    if (a.is_whole) return launch_from<T, Codec, Rule::ratio, Where::whole>(a, stream);
    if (a.rule == Rule::power) return launch_from<T, Codec, Rule::power, Where::block>(a, stream);
    return where(a) == Where::square ? launch_from<T, Codec, Rule::ratio, Where::square>(a, stream)
                                     : launch_from<T, Codec, Rule::ratio, Where::block>(a, stream);
  }
}

}  // namespace ridge::quantisation::stream
