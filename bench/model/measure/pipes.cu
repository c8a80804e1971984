// Rates and latencies of instruction classes; which of them share a pipe; what one SM issues.
#include "measure.h"
#include "ops.h"

#include <cstring>

namespace measure {
namespace {

// Steps per round, over all chains of a thread: many, so that the loop's own instructions do not
// show; fewer of what ptxas makes long sequences of, so that the code stays in the caches.
constexpr bool starts_with(const char* text, const char* word) {
  while (*word)
    if (*text++ != *word++) return false;
  return true;
}
template <class Op>
constexpr int choose_steps() {
  for (const char* word : {"div.", "rem.", "sqrt.rn", "rcp.rn"})
    if (starts_with(Op::kText, word)) return 16;
  return 128;
}
template <class Op>
constexpr int kSteps = choose_steps<Op>();

template <class T>
__device__ u32 all_bits(T x) {
  u32 bits[sizeof(T) / 4];
  memcpy(bits, &x, sizeof x);
  return sizeof(T) == 8 ? bits[0] ^ bits[sizeof(T) / 4 - 1] : bits[0];
}

// kChains independent chains per thread.
template <class Op, int kChains>
__global__ void __launch_bounds__(1024)
    chains(typename Op::T a, typename Op::T b, int rounds, long long* cycles, u32* sink) {
  typename Op::T x[kChains];
#pragma unroll
  for (int c = 0; c < kChains; ++c) x[c] = a + typename Op::T(threadIdx.x + c);
  const long long start = begin_cycles();
#pragma unroll 1
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int s = 0; s < kSteps<Op> / kChains; ++s)
#pragma unroll
      for (int c = 0; c < kChains; ++c) Op::step(x[c], a, b);
  u32 sum = 0;
#pragma unroll
  for (int c = 0; c < kChains; ++c) sum ^= all_bits(x[c]);
  if (sum == 0x12345678) *sink = sum;
  end_cycles(start, cycles);
}

constexpr int kPairs = 64;  // per round
// Two instructions in turn. If they share nothing, a pair takes as long as the slower one.
template <class A, class B>
__global__ void __launch_bounds__(1024)
    pairs(typename A::T a, typename A::T b, typename B::T c, typename B::T d, int rounds,
          long long* cycles, u32* sink) {
  constexpr int kChains = 4;  // of each
  typename A::T x[kChains];
  typename B::T y[kChains];
#pragma unroll
  for (int i = 0; i < kChains; ++i)
    x[i] = a + typename A::T(threadIdx.x + i), y[i] = c + typename B::T(threadIdx.x * 3 + i);
  const long long start = begin_cycles();
#pragma unroll 1
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int s = 0; s < kPairs / kChains; ++s)
#pragma unroll
      for (int i = 0; i < kChains; ++i) A::step(x[i], a, b), B::step(y[i], c, d);
  u32 sum = 0;
#pragma unroll
  for (int i = 0; i < kChains; ++i) sum ^= all_bits(x[i]) ^ all_bits(y[i]);
  if (sum == 0x12345678) *sink = sum;
  end_cycles(start, cycles);
}

u32* sink;

template <class T>
T value(int i) {
  return T(i == 0 ? 3 : 5);
}

template <class Op>
void one() {
  if (card().arch < Op::kFrom) return;
  using T = typename Op::T;
  const int rounds = 8, sms = card().sms;
  const double steps = double(rounds) * kSteps<Op>;
  const Samples latency = difference_cycles(5, 1, rounds, steps, [&](int r) {
    chains<Op, 1><<<1, 32, 0, stream()>>>(value<T>(0), value<T>(1), r, cycle_slots(), sink);
  });
  const Samples alone = difference_cycles(5, 1, rounds, steps, [&](int r) {
    chains<Op, 8><<<1, 32, 0, stream()>>>(value<T>(0), value<T>(1), r, cycle_slots(), sink);
  });
  const Samples full = difference_cycles(5, sms, rounds, steps * 1024, [&](int r) {
    chains<Op, 4><<<sms, 1024, 0, stream()>>>(value<T>(0), value<T>(1), r, cycle_slots(), sink);
  });
  const std::string name = std::string("op.") + Op::kName;
  add(name + ".latency", latency, "cycles",
      std::string("one dependent chain, one warp: ") + Op::kText);
  add(name + ".interval", alone, "cycles", "8 independent chains, one warp");
  add(name + ".rate", rate(full, 1), "lanes per cycle and SM", "32 warps per SM, 4 chains each");
}

template <class A, class B>
void pair() {
  if (card().arch < A::kFrom || card().arch < B::kFrom) return;
  const int rounds = 8, sms = card().sms;
  add(std::string("pair.") + A::kName + "+" + B::kName,
      rate(difference_cycles(5, sms, rounds, double(rounds) * kPairs * 1024,
                             [&](int r) {
                               pairs<A, B><<<sms, 1024, 0, stream()>>>(
                                   value<typename A::T>(0), value<typename A::T>(1),
                                   value<typename B::T>(0), value<typename B::T>(1), r,
                                   cycle_slots(), sink);
                             }),
           1),
      "pairs per lane, cycle and SM",
      "the two instructions in turn, 32 warps per SM, 4 chains of each");
}

template <int kChains>
void by_warps() {
  Curve curve("issue.ffma_by_warps_" + std::to_string(kChains), "warps per SM",
              "warp instructions per cycle and SM",
              std::to_string(kChains) + " dependent chains of FFMA per thread");
  const int rounds = 8, sms = card().sms;
  for (const int warps : {1, 2, 3, 4, 5, 6, 8, 12, 16, 20, 24, 32})
    curve.at(warps,
             rate(difference_cycles(5, sms, rounds, double(rounds) * kSteps<op::ffma> * warps,
                                    [&](int r) {
                                      chains<op::ffma, kChains><<<sms, warps * 32, 0, stream()>>>(
                                          3, 5, r, cycle_slots(), sink);
                                    }),
                  1));
}

// Straight code that runs twice: the first pass also fetches the instructions.
template <int kInstructions>
__global__ void straight(float a, float b, long long* cycles, u32* sink) {
  float x = threadIdx.x;
  long long first = 0;
#pragma unroll 1
  for (int pass = 0; pass < 2; ++pass) {
    const long long start = clock64();
#pragma unroll
    for (int i = 0; i < kInstructions; ++i)
      asm volatile("fma.rn.f32 %0,%0,%1,%2;" : "+f"(x) : "f"(a), "f"(b));
    if (pass == 0) first = clock64() - start;
  }
  if (x == 0.123f) *sink = 1;
  if (threadIdx.x == 0) cycles[blockIdx.x] = first;
}
// Another kernel's code in the instruction caches.
__global__ void other_code(float a, float b, u32* sink) {
  float x = threadIdx.x;
#pragma unroll
  for (int i = 0; i < 12288; ++i)
    asm volatile("fma.rn.f32 %0,%0,%2,%1;" : "+f"(x) : "f"(a), "f"(b));
  if (x == 0.123f) *sink = 1;
}
template <int kInstructions>
void first_pass(Curve& curve) {
  curve.at(kInstructions, cycles_of(5, card().sms, 1, [&] {
             other_code<<<card().sms * 2, 64, 0, stream()>>>(3, 5, sink);
             straight<kInstructions><<<card().sms, 32, 0, stream()>>>(3, 5, cycle_slots(), sink);
           }));
}

// Warps whose lanes take kWays different paths of 32 dependent FFMA each.
__global__ void divergent(int ways, float a, float b, int rounds, long long* cycles, u32* sink) {
  float x = threadIdx.x;
  const int way = int(threadIdx.x) % ways;
  const long long start = begin_cycles();
#pragma unroll 1
  for (int r = 0; r < rounds; ++r) {
#pragma unroll 1
    for (int w = 0; w < ways; ++w)
      if (way == w) {
#pragma unroll
        for (int i = 0; i < 32; ++i)
          asm volatile("fma.rn.f32 %0,%0,%1,%2;" : "+f"(x) : "f"(a), "f"(b));
      }
  }
  if (x == 0.123f) *sink = 1;
  end_cycles(start, cycles);
}
// A loop whose body is one FFMA: what its counter and its branch cost.
__global__ void small_loop(int rounds, float a, float b, long long* cycles, u32* sink) {
  float x = threadIdx.x;
  const long long start = begin_cycles();
#pragma unroll 1
  for (int r = 0; r < rounds; ++r)
    asm volatile("fma.rn.f32 %0,%0,%1,%2;" : "+f"(x) : "f"(a), "f"(b));
  if (x == 0.123f) *sink = 1;
  end_cycles(start, cycles);
}
// if / else over the parity of the lane, both sides one FFMA that cannot be predicated together.
__global__ void if_else(int rounds, float a, float b, long long* cycles, u32* sink, int split) {
  float x = threadIdx.x;
  const bool left = int(threadIdx.x % 32) < split;
  const long long start = begin_cycles();
#pragma unroll 1
  for (int r = 0; r < rounds; ++r) {
    if (left) {
#pragma unroll
      for (int i = 0; i < 16; ++i)
        asm volatile("fma.rn.f32 %0,%0,%1,%2;" : "+f"(x) : "f"(a), "f"(b));
    } else {
#pragma unroll
      for (int i = 0; i < 16; ++i)
        asm volatile("fma.rn.f32 %0,%0,%2,%1;" : "+f"(x) : "f"(a), "f"(b));
    }
  }
  if (x == 0.123f) *sink = 1;
  end_cycles(start, cycles);
}
__global__ void __launch_bounds__(1024) barriers(int rounds, long long* cycles) {
  const long long start = begin_cycles();
#pragma unroll 1
  for (int r = 0; r < rounds; ++r) {
    __syncthreads();
    __syncthreads();
    __syncthreads();
    __syncthreads();
  }
  end_cycles(start, cycles);
}
template <int kScope>
__global__ void fences(u32* data, int rounds, long long* cycles) {
  const long long start = begin_cycles();
#pragma unroll 1
  for (int r = 0; r < rounds; ++r) {
    if constexpr (kScope >= 0)
      *reinterpret_cast<volatile u32*>(data + (blockIdx.x * 32 + threadIdx.x)) = u32(r);
    if constexpr (kScope == 0) __threadfence_block();
    if constexpr (kScope == 1) __threadfence();
    if constexpr (kScope == 2) __threadfence_system();
  }
  end_cycles(start, cycles);
}
// FFMA on every SM for about the given time.
__global__ void __launch_bounds__(1024)
    busy(float a, float b, long long total, long long* cycles, u32* sink) {
  float x[4] = {1, 2, 3, float(threadIdx.x)};
  u64 t0, t1;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t0));
  const long long start = clock64();
#pragma unroll 1
  while (clock64() - start < total)
#pragma unroll
    for (int i = 0; i < 256; ++i) op::ffma::step(x[i % 4], a, b);
  const long long end = clock64();
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t1));
  if (x[0] + x[1] + x[2] + x[3] == 0.123f) *sink = 1;
  if (threadIdx.x == 0) cycles[blockIdx.x] = (end - start) * 1000000 / (long long)(t1 - t0);
}

}  // namespace

void pipes() {
  sink = static_cast<u32*>(device_memory(1 << 20));
  const int sms = card().sms;
  add("clock.sm",
      cycles_of(
          5, sms, 1,
          [&] { busy<<<sms, 1024, 0, stream()>>>(1.5f, 0.5f, 1ll << 26, cycle_slots(), sink); }),
      "kHz", "FFMA on all SMs for some 34 ms per sample: cycles over %globaltimer");
#define RIDGE_ONE(name, ...) one<op::name>();
  RIDGE_OPS(RIDGE_ONE)
#undef RIDGE_ONE
  using namespace op;
  pair<ffma, imad>();
  pair<ffma, iadd3>();
  pair<ffma, lop3>();
  pair<ffma, mufu_ex2>();
  pair<ffma, hfma2>();
  pair<ffma, dfma>();
  pair<ffma, shfl>();
  pair<ffma, min_max_f32>();
  pair<ffma, cvt_f32_s32>();
  pair<ffma, cvt_bf16x2_f32>();
  pair<iadd3, lop3>();
  pair<iadd3, imad>();
  pair<iadd3, shf>();
  pair<lop3, prmt>();
  pair<mufu_ex2, popc>();
  pair<mufu_ex2, cvt_s32_f32>();
  pair<mufu_ex2, shfl>();
  pair<hfma2, imad>();
  pair<lop3, min_max_f32>();
  by_warps<1>();
  by_warps<2>();
  by_warps<4>();
  {
    Curve curve("branch.first_pass_by_instructions", "instructions", "cycles",
                "straight dependent FFMA in a kernel whose code is not cached; one warp per SM");
    first_pass<64>(curve);
    first_pass<256>(curve);
    first_pass<1024>(curve);
    first_pass<4096>(curve);
  }
  {
    Curve curve(
        "branch.cycles_by_ways", "different paths in a warp", "cycles",
        "a loop over the ways; each lane takes one of them, 32 dependent FFMA long; one warp");
    for (const int ways : {1, 2, 4, 8, 16, 32})
      curve.at(ways, cycles_of(5, 1, 32, [&] {
                 divergent<<<1, 32, 0, stream()>>>(ways, 3, 5, 32, cycle_slots(), sink);
               }));
  }
  for (const int split : {32, 16})
    add(split == 32 ? "branch.if_else_uniform" : "branch.if_else_divergent",
        cycles_of(5, 1, 64,
                  [&] { if_else<<<1, 32, 0, stream()>>>(64, 3, 5, cycle_slots(), sink, split); }),
        "cycles", "a loop over if and else of 16 dependent FFMA each; one warp");
  add("branch.loop",
      cycles_of(5, 1, 1024,
                [&] { small_loop<<<1, 32, 0, stream()>>>(1024, 3, 5, cycle_slots(), sink); }),
      "cycles", "a loop of one FFMA, its counter and its branch; one warp");
  add("branch.loop_full",
      rate(cycles_of(
               5, sms, 1024.0 * 32,
               [&] { small_loop<<<sms, 1024, 0, stream()>>>(1024, 3, 5, cycle_slots(), sink); }),
           1),
      "iterations per warp, cycle and SM", "the same, 32 warps per SM");
  {
    Curve curve("barrier.cycles_by_warps", "warps per block", "cycles",
                "__syncthreads in a row, one block per SM");
    for (const int warps : {1, 2, 4, 8, 16, 24, 32})
      curve.at(warps, cycles_of(5, sms, 4 * 256, [&] {
                 barriers<<<sms, warps * 32, 0, stream()>>>(256, cycle_slots());
               }));
  }
  {
    Curve curve("barrier.cycles_by_blocks", "blocks of 128 threads per SM", "cycles",
                "__syncthreads in a row while the other blocks of the SM do the same");
    for (const int blocks : {1, 2, 4, 8, 16})
      curve.at(blocks, cycles_of(5, sms * blocks, 4 * 256, [&] {
                 barriers<<<sms * blocks, 128, 0, stream()>>>(256, cycle_slots());
               }));
  }
  const auto fence = [&](auto kernel, const char* name, const char* how) {
    add(name,
        cycles_of(5, sms, 256, [&] { kernel<<<sms, 32, 0, stream()>>>(sink, 256, cycle_slots()); }),
        "cycles", how);
  };
  fence(fences<0>, "fence.block", "a store, then __threadfence_block(); one warp per SM");
  fence(fences<1>, "fence.device", "a store, then __threadfence(); one warp per SM");
  fence(fences<2>, "fence.system", "a store, then __threadfence_system(); one warp per SM");
}

}  // namespace measure
