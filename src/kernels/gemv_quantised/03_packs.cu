// gemv_quantised rung 03, packs: each lane loads 16 bytes of codes from each of four rows, and
// decodes them in registers.
//
// Since 02_warp_per_row: 64 bytes per lane are under way while 64 others are multiplied. The
// compiler knows the format: two codes
//   at a time go to where f16 has them, in two instructions per code; nf4 is looked up by shuffles
//   in a table that the lanes hold. A sum of 16 products is multiplied by its scale once. x is
//   loaded and converted once for four rows.
// Stops at: instructions, about five per code: formats of 4 bits have no more than that at the full
//   rate of the memory.
// Not for: rows that are no multiple of 16 bytes: 02 does them.
#include "device/convert_pack.cuh"
#include "kernels/gemv_quantised/decode.cuh"
#include "kernels/gemv_quantised/gemv_quantised.h"
#include "select/select.h"

namespace ridge::gemv_quantised::packs {

constexpr int kWarps = 4;
constexpr int kThreads = kWarps * kWarpSize;
constexpr int kRows = 4;  // of a warp

constexpr Tuned kBytes = {4.0, 0.70}, kNibbles = {4.0, 0.44};  // not measured: of the model

// Sixteen numbers of x from column c on.
template <class T>
__device__ __forceinline__ void load_x(const Args& a, int64_t c, float (&x)[kCodes]) {
  constexpr int kSize = kPackSize<T>;
#pragma unroll
  for (int p = 0; p < kCodes / kSize; ++p) {
    float part[kSize];
    to_floats(load_pack(static_cast<const T*>(a.x) + c + p * kSize), part);
#pragma unroll
    for (int i = 0; i < kSize; ++i) x[p * kSize + i] = part[i];
  }
}

template <class T, Dtype E, Rule R>
__global__ void __launch_bounds__(kThreads) gemv_quantised_packs(Args a) {
  constexpr int kSteps = 4 / kWords<E>;     // of 16 codes in a pack
  constexpr int kInPack = kSteps * kCodes;  // codes
  Decoder<E> decoder;
  const int lane = threadIdx.x % kWarpSize;
  const int64_t first = (int64_t(blockIdx.x) * kWarps + threadIdx.x / kWarpSize) * kRows;
  if (first >= a.w.rows) return;  // the whole warp
  const int64_t row_bytes = a.w.cols * low_precision::kBits<E> / 8;
  const bool by_column = R == Rule::ratio && a.w.blocks.are_columns;
  const uint4* rows[kRows];
  int64_t of_row[kRows];  // its first scale
#pragma unroll
  for (int r = 0; r < kRows; ++r) {  // behind the last row, that one again
    const int64_t row = min(first + r, a.w.rows - 1);
    rows[r] = reinterpret_cast<const uint4*>(static_cast<const char*>(a.w.q) + row * row_bytes);
    of_row[r] = row / a.w.blocks.block_rows * a.w.blocks.across;
  }
  const int packs = int(row_bytes / 16), block_cols = int(a.w.blocks.block_cols);
  float sum[kRows] = {};
  // All lanes stay together: shuffles are the table of nf4.
  uint4 raw[kRows], next[kRows];
  const auto load = [&](int pack, uint4(&to)[kRows]) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) to[r] = pack < packs ? rows[r][pack] : uint4{0, 0, 0, 0};
  };
  load(lane, next);
  for (int begin = 0; begin < packs; begin += kWarpSize) {
    const int pack = begin + lane;
    const bool has = pack < packs;
#pragma unroll
    for (int r = 0; r < kRows; ++r) raw[r] = next[r];
    load(pack + kWarpSize, next);  // under way while these are multiplied
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      const int c = pack * kInPack + step * kCodes;
      float x[kCodes] = {};
      if (has) load_x<T>(a, c, x);
      if (by_column && has)
#pragma unroll
        for (int p = 0; p < kCodes; p += kPackSize<float>) {
          const auto of_columns = load_pack(static_cast<const float*>(a.w.scales) + c + p);
#pragma unroll
          for (int i = 0; i < kPackSize<float>; ++i) x[p + i] *= of_columns[i];
        }
      const int block = by_column ? 0 : c / block_cols;
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const uint32_t all[4] = {raw[r].x, raw[r].y, raw[r].z, raw[r].w};
        uint32_t words[kWords<E>];
#pragma unroll
        for (int w = 0; w < kWords<E>; ++w) words[w] = all[step * kWords<E> + w];
        float weight[kCodes], dot = 0;
        decoder.decode(words, weight);
#pragma unroll
        for (int i = 0; i < kCodes; ++i) dot = fmaf(weight[i], x[i], dot);
        if (Decoder<E>::kFactor != 1) dot *= Decoder<E>::kFactor;
        if (by_column) sum[r] += dot;
        else if (has) sum[r] = fmaf(dot, stored_scale<R>(a.w, of_row[r] + block), sum[r]);
        if constexpr (E == Dtype::e4m3) {
          if (decoder.is_nan()) sum[r] = __uint_as_float(0x7fffffffu);
          decoder.carries = 0;
        }
      }
    }
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    sum[r] = lanes_sum(sum[r], kWarpSize);
    if (lane == r && first + r < a.w.rows) static_cast<T*>(a.y)[first + r] = from_float<T>(sum[r]);
  }
}

static Support supports(const Args& a, const DeviceInfo&) {
  const int64_t bits = a.w.cols * bits_of(a.w.element);
  if (!is_compute_float(a.w.dtype)) return "multiplies f32, f16 and bf16";
  if (bits % (8 * kPackBytes) != 0 || !is_pack_aligned(a.w.q) || !is_pack_aligned(a.x))
    return "reads rows of whole packs of 16 bytes, at multiples of 16 bytes";
  if (a.w.blocks.are_columns && !is_pack_aligned(a.w.scales))
    return "reads scales of columns at multiples of 16 bytes";
  return a.w.cols <= 1 << 30 && a.w.rows <= int64_t(1) << 31 ? kSupported
                                                             : "counts columns up to 2^30";
}
template <class T, Dtype E, Rule R>
static Status launched(const Args& a, cudaStream_t stream) {
  constexpr int64_t kEach = int64_t(kWarps) * kRows;
  gemv_quantised_packs<T, E, R>
      <<<unsigned((a.w.rows + kEach - 1) / kEach), kThreads, 0, stream>>>(a);
  return launch_status();
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_float_type(a.w.dtype, [&](auto t) {
    using T = decltype(t);
    const bool is_power = a.w.rule == Rule::power;
    switch (a.w.element) {
      case Dtype::i8: return launched<T, Dtype::i8, Rule::ratio>(a, stream);
      case Dtype::e4m3:
        return is_power ? launched<T, Dtype::e4m3, Rule::power>(a, stream)
                        : launched<T, Dtype::e4m3, Rule::ratio>(a, stream);
      case Dtype::e5m2:
        return is_power ? launched<T, Dtype::e5m2, Rule::power>(a, stream)
                        : launched<T, Dtype::e5m2, Rule::ratio>(a, stream);
      case Dtype::e2m1:
        return is_power ? launched<T, Dtype::e2m1, Rule::power>(a, stream)
                        : launched<T, Dtype::e2m1, Rule::shared>(a, stream);
      default:
        return a.w.rule == Rule::mean ? launched<T, Dtype::nf4, Rule::mean>(a, stream)
                                      : launched<T, Dtype::nf4, Rule::ratio>(a, stream);
    }
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(is_packed(a.w.element) ? kNibbles : kBytes, bytes(a), device);
}
constinit const Rung rung = {.idea = "16 bytes of codes per load, decoded in registers",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.barriers = 0}};

}  // namespace ridge::gemv_quantised::packs
