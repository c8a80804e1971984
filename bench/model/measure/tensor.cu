// Tensor cores: mma.sync by type, wgmma by type and width, what is sustained under power.
#include "measure.h"
#include "ops.h"
#include "wgmma_registers.h"

// Before Hopper nobody uses the products of warpgroups.
#pragma nv_diag_suppress 177

namespace measure {
namespace {

u32* sink;

// m16n8kK with 32-bit registers: 4 of A, 2 of B, kC of C.
#define RIDGE_MMA(name_, C_, kC_, flops_, from, shape_and_types)                \
  struct name_ {                                                                \
    using C = C_;                                                               \
    static constexpr int kC = kC_, kFrom = from;                                \
    static constexpr double kFlops = flops_;                                    \
    static constexpr const char* kName = #name_;                                \
    static __device__ __forceinline__ void step(C (&c)[kC_], const u32 (&a)[4], \
                                                const u32 (&b)[2]) {            \
      if constexpr (kArch >= from) RIDGE_MMA_##kC_(shape_and_types, C_);        \
    }                                                                           \
  };
#define RIDGE_MMA_4(text, C)                                                                  \
  asm volatile("mma.sync.aligned." text " {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};" \
               : RIDGE_PLUS_##C(c[0]), RIDGE_PLUS_##C(c[1]), RIDGE_PLUS_##C(c[2]),            \
                 RIDGE_PLUS_##C(c[3])                                                         \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
#define RIDGE_MMA_2(text, C)                                                      \
  asm volatile("mma.sync.aligned." text " {%0,%1},{%2,%3,%4,%5},{%6,%7},{%0,%1};" \
               : RIDGE_PLUS_##C(c[0]), RIDGE_PLUS_##C(c[1])                       \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
#define RIDGE_PLUS_float "+f"
#define RIDGE_PLUS_u32 "+r"

RIDGE_MMA(f16_f32, float, 4, 4096, 800, "m16n8k16.row.col.f32.f16.f16.f32")
RIDGE_MMA(f16_f16, u32, 2, 4096, 800, "m16n8k16.row.col.f16.f16.f16.f16")
RIDGE_MMA(bf16_f32, float, 4, 4096, 800, "m16n8k16.row.col.f32.bf16.bf16.f32")
RIDGE_MMA(tf32_f32, float, 4, 2048, 800, "m16n8k8.row.col.f32.tf32.tf32.f32")
RIDGE_MMA(s8_s32, u32, 4, 8192, 800, "m16n8k32.row.col.s32.s8.s8.s32")
RIDGE_MMA(e4m3_f32, float, 4, 8192, 890, "m16n8k32.row.col.f32.e4m3.e4m3.f32")

struct f64_m8n8k4 {
  using C = double;
  static constexpr int kC = 2, kFrom = 800;
  static constexpr double kFlops = 512;
  static constexpr const char* kName = "f64_m8n8k4";
  static __device__ __forceinline__ void step(C (&c)[2], const u32 (&a)[4], const u32 (&b)[2]) {
    if constexpr (kArch >= kFrom)
      asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{%2},{%3},{%0,%1};"
                   : "+d"(c[0]), "+d"(c[1])
                   : "d"(__hiloint2double(int(a[0]), int(a[1]))),
                     "d"(__hiloint2double(int(b[0]), int(b[1]))));
  }
};
struct f64_m16n8k8 {
  using C = double;
  static constexpr int kC = 4, kFrom = 900;
  static constexpr double kFlops = 2048;
  static constexpr const char* kName = "f64_m16n8k8";
  static __device__ __forceinline__ void step(C (&c)[4], const u32 (&a)[4], const u32 (&b)[2]) {
    if constexpr (kArch >= kFrom) {
      const double x = __hiloint2double(int(a[0]), int(a[1])),
                   y = __hiloint2double(int(b[0]), int(b[1]));
      asm volatile(
          "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
          "{%0,%1,%2,%3},{%4,%4,%4,%4},{%5,%5},{%0,%1,%2,%3};"
          : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
          : "d"(x), "d"(y));
    }
  }
};

template <class Mma, int kChains>
__global__ void __launch_bounds__(1024)
    mma_chains(int rounds, u32 seed, long long* cycles, u32* sink) {
  typename Mma::C c[kChains][Mma::kC] = {};
  u32 a[4], b[2];
  for (u32& x : a) x = mix(seed++ + threadIdx.x) & 0x3fff3fff;
  for (u32& x : b) x = mix(seed++ + threadIdx.x) & 0x3fff3fff;
  const long long start = begin_cycles();
#pragma unroll 1
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      Mma::step(c[i % kChains], a, b);
      a[0] += 0x10001;  // so that no product is the same as the one before
    }
  typename Mma::C sum = 0;
#pragma unroll
  for (int i = 0; i < kChains; ++i)
#pragma unroll
    for (int j = 0; j < Mma::kC; ++j) sum += c[i][j];
  if (sum == typename Mma::C(12345)) *sink = 1;
  end_cycles(start, cycles);
}

template <class Mma>
void mma() {
  if (card().arch < Mma::kFrom) return;
  const int rounds = 64, sms = card().sms;
  const std::string name = std::string("mma.") + Mma::kName;
  add(name + ".latency",
      cycles_of(
          5, 1, rounds * 8,
          [&] { mma_chains<Mma, 1><<<1, 32, 0, stream()>>>(rounds, 1, cycle_slots(), sink); }),
      "cycles", "mma.sync, each one adds to the result of the one before; one warp");
  Curve curve(name + ".rate_by_warps", "warps per SM", "FLOP per cycle and SM",
              "4 independent accumulators per warp");
  for (const int warps : {1, 4, 8, 16, 32})
    curve.at(warps, rate(cycles_of(5, sms, rounds * 8 * Mma::kFlops * warps,
                                   [&] {
                                     mma_chains<Mma, 4><<<sms, warps * 32, 0, stream()>>>(
                                         rounds, 1, cycle_slots(), sink);
                                   }),
                         1));
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || !defined(__CUDA_ARCH__)
#define RIDGE_HAS_WGMMA 1
#endif

// A and B lie in shared memory as rows of 128 bytes, swizzled: groups of 8 rows are 1024 bytes
// apart.
[[maybe_unused]] __device__ u64 descriptor(u32 address) {
  return (u64(address) >> 4 & 0x3fff) | u64(1) << 16 | u64(64) << 32 | u64(1) << 62;
}

// RIDGE_WGMMA(name, type, constraint, registers, FLOP, text, A's operand, B's, the predicate's,
// tail)
#ifdef RIDGE_HAS_WGMMA
#define RIDGE_WGMMA_ASM(C, regs, plus, text, ia, ib, ip, tail)                                 \
  asm volatile("{.reg .pred p; setp.ne.b32 p, %" ip ", 0;\nwgmma.mma_async.sync.aligned." text \
               " " RIDGE_D##regs ", %" ia ", %" ib ", p" tail ";}"                             \
               : RIDGE_R##regs(plus, d)                                                        \
               : "l"(a), "l"(b), "r"(1))
#else
#define RIDGE_WGMMA_ASM(...) (void)(a + b + u64(d[0]))
#endif
#define RIDGE_WGMMA(name_, C_, plus, regs, flops_, text, ia, ib, ip, tail)                     \
  struct name_ {                                                                               \
    using C = C_;                                                                              \
    static constexpr int kC = regs;                                                            \
    static constexpr double kFlops = flops_;                                                   \
    static constexpr const char* kName = #name_;                                               \
    [[maybe_unused]] static __device__ __forceinline__ void step(C (&d)[regs], u64 a, u64 b) { \
      RIDGE_WGMMA_ASM(C_, regs, plus, text, ia, ib, ip, tail);                                 \
    }                                                                                          \
  };
#define RIDGE_KEEP ", 1, 1, 0, 0"
RIDGE_WGMMA(bf16_n8, float, "+f", 4, 2. * 64 * 8 * 16, "m64n8k16.f32.bf16.bf16", "4", "5", "6",
            RIDGE_KEEP)
RIDGE_WGMMA(bf16_n32, float, "+f", 16, 2. * 64 * 32 * 16, "m64n32k16.f32.bf16.bf16", "16", "17",
            "18", RIDGE_KEEP)
RIDGE_WGMMA(bf16_n64, float, "+f", 32, 2. * 64 * 64 * 16, "m64n64k16.f32.bf16.bf16", "32", "33",
            "34", RIDGE_KEEP)
RIDGE_WGMMA(bf16_n128, float, "+f", 64, 2. * 64 * 128 * 16, "m64n128k16.f32.bf16.bf16", "64", "65",
            "66", RIDGE_KEEP)
RIDGE_WGMMA(bf16_n256, float, "+f", 128, 2. * 64 * 256 * 16, "m64n256k16.f32.bf16.bf16", "128",
            "129", "130", RIDGE_KEEP)
RIDGE_WGMMA(f16_n256, float, "+f", 128, 2. * 64 * 256 * 16, "m64n256k16.f32.f16.f16", "128", "129",
            "130", RIDGE_KEEP)
RIDGE_WGMMA(f16_f16_n256, u32, "+r", 64, 2. * 64 * 256 * 16, "m64n256k16.f16.f16.f16", "64", "65",
            "66", RIDGE_KEEP)
RIDGE_WGMMA(tf32_n128, float, "+f", 64, 2. * 64 * 128 * 8, "m64n128k8.f32.tf32.tf32", "64", "65",
            "66", ", 1, 1")
RIDGE_WGMMA(tf32_n256, float, "+f", 128, 2. * 64 * 256 * 8, "m64n256k8.f32.tf32.tf32", "128", "129",
            "130", ", 1, 1")
RIDGE_WGMMA(e4m3_n128, float, "+f", 64, 2. * 64 * 128 * 32, "m64n128k32.f32.e4m3.e4m3", "64", "65",
            "66", ", 1, 1")
RIDGE_WGMMA(e4m3_n256, float, "+f", 128, 2. * 64 * 256 * 32, "m64n256k32.f32.e4m3.e4m3", "128",
            "129", "130", ", 1, 1")
RIDGE_WGMMA(s8_n256, u32, "+r", 128, 2. * 64 * 256 * 32, "m64n256k32.s32.s8.s8", "128", "129",
            "130", "")

// kBatch products are committed together and waited for.
template <class W, int kBatch>
__global__ void __launch_bounds__(256, 1) wgmmas(int rounds, long long* cycles, u32* sink) {
#ifdef RIDGE_HAS_WGMMA
  __shared__ __align__(1024) u32 data[(64 + 256) * 128 / 4];
  for (u32 i = threadIdx.x; i < sizeof data / 4; i += blockDim.x)
    data[i] = mix(i + 1) & 0xbfffbfffu;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  typename W::C d[W::kC] = {};
  const u32 address = u32(__cvta_generic_to_shared(data));
  const long long start = begin_cycles();
#pragma unroll 1
  for (int r = 0; r < rounds; ++r) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int i = 0; i < kBatch; ++i)
      W::step(d, descriptor(address + u32(i % 4) * 32),
              descriptor(address + 8192 + u32(i % 4) * 32));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  typename W::C sum = 0;
#pragma unroll
  for (int i = 0; i < W::kC; ++i) sum += d[i];
  if (sum == typename W::C(12345)) *sink = 1;
  end_cycles(start, cycles);
#endif
}

template <class W>
void wgmma() {
  const int rounds = 64, sms = card().sms;
  const std::string name = std::string("wgmma.") + W::kName;
  add(name + ".latency",
      cycles_of(5, 1, rounds,
                [&] { wgmmas<W, 1><<<1, 128, 0, stream()>>>(rounds, cycle_slots(), sink); }),
      "cycles",
      "one product committed and waited for, one warpgroup; both operands in shared memory");
  Curve curve(name + ".rate_by_warpgroups", "warpgroups per SM", "FLOP per cycle and SM",
              "16 products committed together, then waited for");
  for (const int groups : {1, 2})
    curve.at(groups, rate(cycles_of(5, sms, rounds * 16 * W::kFlops * groups,
                                    [&] {
                                      wgmmas<W, 16><<<sms, groups * 128, 0, stream()>>>(
                                          rounds, cycle_slots(), sink);
                                    }),
                          1));
}

template <class W>
void sustained(const char* name) {
  const int rounds = 40000, sms = card().sms;
  const double flops = double(rounds) * 16 * W::kFlops * 2 * sms;
  const auto launch = [&] {
    wgmmas<W, 16><<<sms, 256, 0, stream()>>>(rounds, cycle_slots(), sink);
  };
  const Samples us = time_us(5, launch);
  add(std::string(name) + ".rate", rate(us, flops / 1e6), "TFLOP/s",
      "products of random values on all SMs without pause, some 100 ms per sample");
  add(std::string(name) + ".clock", scaled(cycles_of(2, sms, 1, launch), 1e3 / median(us)), "kHz",
      "the SM's clock meanwhile: cycles over time");
}

}  // namespace

void tensor() {
  sink = static_cast<u32*>(device_memory(4));
  mma<f16_f32>();
  mma<f16_f16>();
  mma<bf16_f32>();
  mma<tf32_f32>();
  mma<s8_s32>();
  mma<e4m3_f32>();
  mma<f64_m8n8k4>();
  mma<f64_m16n8k8>();
  if (card().p.major != 9) return;
  wgmma<bf16_n8>();
  wgmma<bf16_n32>();
  wgmma<bf16_n64>();
  wgmma<bf16_n128>();
  wgmma<bf16_n256>();
  wgmma<f16_n256>();
  wgmma<f16_f16_n256>();
  wgmma<tf32_n128>();
  wgmma<tf32_n256>();
  wgmma<e4m3_n128>();
  wgmma<e4m3_n256>();
  wgmma<s8_n256>();
  sustained<bf16_n256>("sustained.bf16");
  sustained<e4m3_n256>("sustained.e4m3");
}

}  // namespace measure
