// gemv_quantised rung 04, tensor_cores: codes of e2m1 become pairs of 16-bit numbers, and mma.sync
// multiplies them.
//
// Since 03_packs: at the rate of the memory, a weight of 4 bits may take about four instructions.
//   03 needs two to widen it to f32 and one to multiply it. Here two weights stay in one register,
//   and one instruction multiplies 256. A product of matrices with one column would waste seven of
//   eight, so the columns tell blocks apart: column 2 t + h is zero except where lane t of each
//   four has half h of its 32 weights. The sum of each 16 weights therefore comes out by itself,
//   and is multiplied by its scale. Several warps share the rows of a thread block.
// Stops at: instructions, about four per weight: shifts and masks that bring four bits to where
//   16-bit numbers have them.
// Not for: x in f32, which tensor cores do not multiply exactly; formats of 8 bits, which 03 does
//   at nearly the rate of the memory; nf4, whose values need 24 bits.
#include "device/convert.cuh"
#include "device/from_detail.cuh"
#include "device/lanes.cuh"
#include "device/ptx/mma.cuh"
#include "kernels/gemv_quantised/gemv_quantised.h"
#include "kernels/quantisation/rules.cuh"
#include "select/select.h"

namespace ridge::gemv_quantised::tensor_cores {

constexpr int kWarps = 4;  // that share rows
constexpr int kThreads = kWarps * kWarpSize;
constexpr int kRows = 16;              // of a thread block
constexpr int kInPack = 32;            // codes in 16 bytes
constexpr int kPacks = 2;              // of a lane and row, per step
constexpr Tuned kTuned = {4.0, 0.56};  // not measured yet: what the model says

// Makes two numbers of T from codes n and n + 4 in `word`, for n from 0 to 3. The fields go to
// where T has them. For bf16 a product makes up for the other bias. For f16 kFactor does, because
// all of them are exact as they are.
template <class T>
constexpr float kFactor = std::is_same_v<T, __half> ? 0x1p14f : 1;
__device__ __forceinline__ uint32_t shifted(uint32_t word, int left) {
  return left >= 0 ? word << left : word >> -left;
}
template <class T>
__device__ __forceinline__ void decode(uint32_t word, uint32_t (&pairs)[4]) {
  constexpr bool kIsHalf = std::is_same_v<T, __half>;
  constexpr int kLeft = kIsHalf ? 9 : 6;  // the mantissa's bit
#pragma unroll
  for (int n = 0; n < 4; ++n) {
    const uint32_t sizes = shifted(word, kLeft - 4 * n) & (0x00070007u << kLeft);
    pairs[n] = (word << (12 - 4 * n) & 0x80008000u) | sizes;
    if constexpr (!kIsHalf) {
      const uint32_t powers = 0x7e807e80u;  // 2^126
      const __nv_bfloat162 product = __hmul2(*reinterpret_cast<const __nv_bfloat162*>(&pairs[n]),
                                             *reinterpret_cast<const __nv_bfloat162*>(&powers));
      pairs[n] = *reinterpret_cast<const uint32_t*>(&product);
    }
  }
}
__device__ const uint4 kZeros[2] = {};
// Eight numbers of x in the same order.
__device__ __forceinline__ void arrange(const uint4& x, uint32_t (&pairs)[4]) {
  pairs[0] = __byte_perm(x.x, x.z, 0x5410);
  pairs[1] = __byte_perm(x.x, x.z, 0x7632);
  pairs[2] = __byte_perm(x.y, x.w, 0x5410);
  pairs[3] = __byte_perm(x.y, x.w, 0x7632);
}

// The scales of the two halves of a pack: what is loaded of them, and the numbers. Those of nvfp4
// are f16 with another bias, which kFactor makes up for, and `carries` tells of a NaN.
template <Rule R>
struct Scales;
template <>
struct Scales<Rule::power> {
  using Raw = uint8_t;
  static constexpr float kFactor = 1;
  __device__ __forceinline__ float2 decode(uint32_t code) {
    const float scale = widen<Dtype::ue8m0>(code);
    return {scale, scale};
  }
  __device__ __forceinline__ bool is_nan() const { return false; }
};
template <>
struct Scales<Rule::shared> {
  using Raw = uint16_t;
  static constexpr float kFactor = 0x1p8f;
  uint32_t carries = 0;
  __device__ __forceinline__ float2 decode(uint32_t codes) {
    const uint32_t both = codes & 0x7f7f;
    carries |= both + 0x0101;  // of 0x7f, which is NaN
    const uint32_t halves = __byte_perm(both, 0, 0x4140) << 7;
    return __half22float2(*reinterpret_cast<const __half2*>(&halves));
  }
  __device__ __forceinline__ bool is_nan() const { return carries & 0x8080; }
};

template <class T, Rule R>
__global__ void __launch_bounds__(kThreads, 6) gemv_quantised_tensor_cores(Args a) {
  __shared__ float of_warps[kWarps][kRows];
  const int warp = threadIdx.x / kWarpSize, lane = threadIdx.x % kWarpSize;
  const int row = lane / 4, part = lane % 4;  // of this lane: rows `row` and `row` + 8
  const int packs = int(a.w.cols / kInPack);
  const int64_t first = int64_t(blockIdx.x) * kRows;
  const uint4* codes[2];
  using RawScale = typename Scales<R>::Raw;
  const RawScale* scales[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {  // behind the last row, that one again
    const int64_t mine = min(first + row + 8 * r, a.w.rows - 1);
    codes[r] = static_cast<const uint4*>(a.w.q) + mine * packs;
    scales[r] = static_cast<const RawScale*>(a.w.scales) + mine * packs;
  }
  // Column `row` of x is that of half `row` % 2 of part `row` / 2. Other lanes have zeros in it,
  // which they load like numbers.
  const char* of_x[2];
  int x_step[2];  // bytes from pack to pack
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const bool has = row == 2 * part + half;
    x_step[half] = has ? kInPack * int(sizeof(T)) : 0;
    of_x[half] = has ? static_cast<const char*>(a.x) + half * x_step[half] / 2
                     : reinterpret_cast<const char*>(kZeros);
  }
  Scales<R> scale[2];
  float sum[2] = {};

  uint4 next[kPacks][2], raw[kPacks][2];
  uint32_t next_scales[kPacks][2], raw_scales[kPacks][2];
  // Behind the last pack, that one again: its products are not added.
  const auto pack_at = [&](int step, int p) { return (step * kPacks + p) * 4 + part; };
  const auto load = [&](int step) {
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      const int pack = min(pack_at(step, p), packs - 1);
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        next[p][r] = codes[r][pack];
        next_scales[p][r] = scales[r][pack];
      }
    }
  };
  const int steps = (packs + 4 * kPacks - 1) / (4 * kPacks);
  load(warp);
  for (int step = warp; step < steps; step += kWarps) {
#pragma unroll
    for (int p = 0; p < kPacks; ++p)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        raw[p][r] = next[p][r];
        raw_scales[p][r] = next_scales[p][r];
      }
    load(step + kWarps);  // under way while these are multiplied
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      const int pack = min(pack_at(step, p), packs - 1);
      float d[4] = {};
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        const auto word = [&](int r) {
          const uint4& all = raw[p][r];
          return w == 0 ? all.x : w == 1 ? all.y : w == 2 ? all.z : all.w;
        };
        uint32_t upper[4], lower[4], x[4];
        decode<T>(word(0), upper);
        decode<T>(word(1), lower);
        arrange(reinterpret_cast<const uint4*>(of_x[w / 2] + int64_t(pack) * x_step[w / 2])[w % 2],
                x);
#pragma unroll
        for (int n = 0; n < 4; n += 2)
          ptx::mma_16x8x16<T>(d, {upper[n], lower[n], upper[n + 1], lower[n + 1]}, x[n], x[n + 1]);
      }
      if (pack != pack_at(step, p)) continue;
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const float2 of_halves = scale[r].decode(raw_scales[p][r]);
        sum[r] = fmaf(d[2 * r], of_halves.x, sum[r]);
        sum[r] = fmaf(d[2 * r + 1], of_halves.y, sum[r]);
      }
    }
  }
  const float factor = R == Rule::shared ? a.w.second[0] : 1;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    sum[r] = sum[r] * (kFactor<T> * Scales<R>::kFactor) * factor;
    if (scale[r].is_nan()) sum[r] = __uint_as_float(quantisation::kNanBits);
    sum[r] = lanes_sum(sum[r], 4);
    if (part == 0) of_warps[warp][row + 8 * r] = sum[r];
  }
  __syncthreads();
  if (threadIdx.x >= kRows || first + threadIdx.x >= a.w.rows) return;
  float total = 0;
#pragma unroll
  for (int w = 0; w < kWarps; ++w) total += of_warps[w][threadIdx.x];
  static_cast<T*>(a.y)[first + threadIdx.x] = from_float<T>(total);
}

static Support supports(const Args& a, const DeviceInfo&) {
  if (a.w.element != Dtype::e2m1) return "multiplies weights in e2m1";
  if (a.w.dtype != Dtype::f16 && a.w.dtype != Dtype::bf16) return "multiplies f16 and bf16";
  if (a.w.cols % kInPack != 0 || !is_pack_aligned(a.w.q) || !is_pack_aligned(a.x) ||
      reinterpret_cast<uintptr_t>(a.w.scales) % 2 != 0)
    return "reads rows of whole packs of 16 bytes, at multiples of 16 bytes";
  return a.w.cols <= 1 << 30 && a.w.rows <= int64_t(1) << 31 ? kSupported
                                                             : "counts columns up to 2^30";
}
template <class T>
static Status launched(const Args& a, cudaStream_t stream) {
  const auto grid = unsigned((a.w.rows + kRows - 1) / kRows);
  if (a.w.rule == Rule::power)
    gemv_quantised_tensor_cores<T, Rule::power><<<grid, kThreads, 0, stream>>>(a);
  else gemv_quantised_tensor_cores<T, Rule::shared><<<grid, kThreads, 0, stream>>>(a);
  return launch_status();
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return a.w.dtype == Dtype::f16 ? launched<__half>(a, stream) : launched<__nv_bfloat16>(a, stream);
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes(a), device);
}
constinit const Rung rung = {.idea = "two weights per register, multiplied by mma.sync",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.barriers = 1}};

}  // namespace ridge::gemv_quantised::tensor_cores
