// Further access patterns: wide and narrow shared accesses, masks, matrices, atomics, asynchronous
// copies, local memory, tensor-core fragments. One launch of each kernel; what Nsight Compute
// counted for them on an H200 is in more_patterns.csv.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>
#include <cstdio>
#include <cstdlib>
#define CHECK(x)                                                   \
  do {                                                             \
    cudaError_t e = (x);                                           \
    if (e != cudaSuccess) {                                        \
      std::fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e)); \
      std::exit(1);                                                \
    }                                                              \
  } while (0)

constexpr int kBlocks = 4, kThreads = 128;
#define TID (blockIdx.x * kThreads + threadIdx.x)
#define LANES [[maybe_unused]] const int t = threadIdx.x, l = t & 31, w = t >> 5

using u8 = unsigned char;
using u16 = unsigned short;
using u64 = unsigned long long;

// A kernel with global buffers a (in) and o (out), 4 MiB each, which main launches in the order of
// this file.
using Kernel = void (*)(const float*, float*);
struct Listed {
  static inline Kernel all[512];
  static inline int count = 0;
  explicit Listed(Kernel kernel) { all[count++] = kernel; }
};
#define PATTERN(name, ...)                                                   \
  __global__ void __launch_bounds__(kThreads) name(const float* a, float* o) \
      __VA_ARGS__ static const Listed listed_##name(name);

// Without unrolling: copies of a store that ptxas predicates would count as executed.
#define SHARED(T, n)                                                              \
  __shared__ T s[n];                                                              \
  _Pragma("unroll 1") for (int i = threadIdx.x; i < n; i += kThreads) s[i] = T{}; \
  __syncthreads()
#define LD(T, n, at)      \
  {                       \
    LANES;                \
    SHARED(T, n);         \
    ((T*)o)[TID] = s[at]; \
  }
#define LD_IF(T, n, at, when)       \
  {                                 \
    LANES;                          \
    SHARED(T, n);                   \
    if (when) ((T*)o)[TID] = s[at]; \
    else o[0] = 1;                  \
  }
#define ST(T, n, at)            \
  {                             \
    LANES;                      \
    SHARED(T, n);               \
    s[at] = ((const T*)a)[TID]; \
    __syncthreads();            \
    ((T*)o)[TID] = s[t];        \
  }
#define ST_IF(T, n, at, when) \
  {                           \
    LANES;                    \
    SHARED(T, n);             \
    T v = ((const T*)a)[TID]; \
    if (when) s[at] = v;      \
    __syncthreads();          \
    ((T*)o)[TID] = s[t];      \
  }
#define SATOM(T, n, call)          \
  {                                \
    LANES;                         \
    SHARED(T, n);                  \
    call;                          \
    __syncthreads();               \
    ((T*)o)[TID] = s[t & (n - 1)]; \
  }
#define SATOM_USED(T, n, call)         \
  {                                    \
    LANES;                             \
    SHARED(T, n);                      \
    T r = call;                        \
    __syncthreads();                   \
    ((T*)o)[TID] = s[t & (n - 1)] + r; \
  }
#define GATOM(T, call) \
  {                    \
    LANES;             \
    T* g = (T*)o;      \
    call;              \
  }
#define GATOM_USED(T, call)          \
  {                                  \
    LANES;                           \
    T* g = (T*)o;                    \
    ((T*)o)[(1 << 17) + TID] = call; \
  }
#define SATOM_IF(T, n, when, call) \
  {                                \
    LANES;                         \
    SHARED(T, n);                  \
    if (when) call;                \
    __syncthreads();               \
    ((T*)o)[TID] = s[t & (n - 1)]; \
  }
#define GLD(T, at)                    \
  {                                   \
    LANES;                            \
    ((T*)o)[TID] = ((const T*)a)[at]; \
  }
#define GLD_IF(T, at, when)                     \
  {                                             \
    LANES;                                      \
    if (when) ((T*)o)[TID] = ((const T*)a)[at]; \
  }
#define GST(T, at)                    \
  {                                   \
    LANES;                            \
    ((T*)o)[at] = ((const T*)a)[TID]; \
  }
#define SMEM(p) unsigned(__cvta_generic_to_shared(p))
#define LDMATRIX(x, regs, outs, at)                                                   \
  {                                                                                   \
    LANES;                                                                            \
    __shared__ __align__(128) unsigned s[4096];                                       \
    for (int i = t; i < 4096; i += kThreads) s[i] = i;                                \
    __syncthreads();                                                                  \
    unsigned r0 = 0, r1 = 0, r2 = 0, r3 = 0;                                          \
    asm volatile("ldmatrix.sync.aligned.m8n8." x ".shared.b16 " regs ", [%" outs "];" \
                 : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3)                             \
                 : "r"(SMEM((char*)s + (at))));                                       \
    ((unsigned*)o)[TID] = r0 + r1 + r2 + r3;                                          \
  }
#define STMATRIX4(at)                                                                      \
  {                                                                                        \
    LANES;                                                                                 \
    __shared__ __align__(128) unsigned s[4096];                                            \
    s[t] = 0;                                                                              \
    __syncthreads();                                                                       \
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %1, %1, %1};" ::"r"( \
                     SMEM((char*)s + (at))),                                               \
                 "r"(t)                                                                    \
                 : "memory");                                                              \
    __syncthreads();                                                                       \
    ((unsigned*)o)[TID] = s[t];                                                            \
  }
#define COPY(kind, bytes, to, from)                                    \
  {                                                                    \
    LANES;                                                             \
    __shared__ __align__(128) char s[16384];                           \
    asm volatile("cp.async." kind ".shared.global [%0], [%1], " #bytes \
                 ";\ncp.async.wait_all;" ::"r"(SMEM(s + (to))),        \
                 "l"((const char*)a + (from))                          \
                 : "memory");                                          \
    __syncthreads();                                                   \
    ((unsigned*)o)[TID] = ((unsigned*)s)[t];                           \
  }
#define COPY_IF(kind, bytes, to, from, when)                             \
  {                                                                      \
    LANES;                                                               \
    __shared__ __align__(128) char s[16384];                             \
    if (when)                                                            \
      asm volatile("cp.async." kind ".shared.global [%0], [%1], " #bytes \
                   ";" ::"r"(SMEM(s + (to))),                            \
                   "l"((const char*)a + (from))                          \
                   : "memory");                                          \
    asm volatile("cp.async.wait_all;" ::: "memory");                     \
    __syncthreads();                                                     \
    ((unsigned*)o)[TID] = ((unsigned*)s)[t];                             \
  }
#define COPY_SOME(kind, bytes, to, from, some)                         \
  {                                                                    \
    LANES;                                                             \
    __shared__ __align__(128) char s[16384];                           \
    asm volatile("cp.async." kind ".shared.global [%0], [%1], " #bytes \
                 ", %2;\ncp.async.wait_all;" ::"r"(SMEM(s + (to))),    \
                 "l"((const char*)a + (from)), "r"(some)               \
                 : "memory");                                          \
    __syncthreads();                                                   \
    ((unsigned*)o)[TID] = ((unsigned*)s)[t];                           \
  }

// 8 bytes per lane: halves of the warp
PATTERN(s8_linear, LD(float2, 1024, t))
PATTERN(s8_reverse, LD(float2, 1024, t ^ 31))
PATTERN(s8_stride2, LD(float2, 1024, 2 * t))
PATTERN(s8_stride4, LD(float2, 1024, 4 * t))
PATTERN(s8_stride16, LD(float2, 1024, 16 * l))
PATTERN(s8_stride17, LD(float2, 1024, 17 * l))
PATTERN(s8_broadcast, LD(float2, 1024, w))
PATTERN(s8_halves_apart, LD(float2, 1024, l / 16 * 5))
PATTERN(s8_halves_same_bank, LD(float2, 1024, l / 16 * 16))
PATTERN(s8_halves_equal, LD(float2, 1024, l & 15))
PATTERN(s8_pairs, LD(float2, 1024, l / 2))
PATTERN(s8_quads, LD(float2, 1024, l / 4))
PATTERN(s8_pairs_conflict, LD(float2, 1024, l / 2 * 16))
PATTERN(s8_interleaved, LD(float2, 1024, (l & 1) * 16 + l / 2))
PATTERN(s8_low_half, LD_IF(float2, 1024, t, l < 16))
PATTERN(s8_odd_lanes, LD_IF(float2, 1024, t, l & 1))
PATTERN(s8_one_lane, LD_IF(float2, 1024, t, l == 7))
PATTERN(s8_quarters_02, LD_IF(float2, 1024, t, !(l & 8)))
PATTERN(s8_one_half_conflicts, LD(float2, 1024, l < 16 ? l : 16 * l))
PATTERN(s8_double, LD(double, 1024, t))
PATTERN(s8_three_places, LD(float2, 1024, l % 3 * 16))

// 16 bytes per lane: quarters
PATTERN(s16_linear, LD(float4, 512, t))
PATTERN(s16_reverse, LD(float4, 512, t ^ 31))
PATTERN(s16_stride2, LD(float4, 512, 2 * t))
PATTERN(s16_stride4, LD(float4, 512, 4 * t))
PATTERN(s16_stride8, LD(float4, 512, 8 * l))
PATTERN(s16_stride9, LD(float4, 512, 9 * l))
PATTERN(s16_broadcast, LD(float4, 512, w))
PATTERN(s16_halves_apart, LD(float4, 512, l / 16 * 4))
PATTERN(s16_halves_same_bank, LD(float4, 512, l / 16 * 8))
PATTERN(s16_quarters_apart, LD(float4, 512, l / 8 * 2))
PATTERN(s16_quarters_same_bank, LD(float4, 512, l / 8 * 8))
PATTERN(s16_quarters_equal, LD(float4, 512, l & 7))
PATTERN(s16_quarters_cross, LD(float4, 512, (l / 8 & 1) * 8 + (l / 16) * 2))
PATTERN(s16_halves_equal, LD(float4, 512, l & 15))
PATTERN(s16_pairs, LD(float4, 512, l / 2))
PATTERN(s16_quads, LD(float4, 512, l / 4))
PATTERN(s16_pairs_conflict, LD(float4, 512, l / 2 * 8))
PATTERN(s16_interleaved, LD(float4, 512, (l & 1) * 8 + l / 2))
PATTERN(s16_low_half, LD_IF(float4, 512, t, l < 16))
PATTERN(s16_odd_lanes, LD_IF(float4, 512, t, l & 1))
PATTERN(s16_one_lane, LD_IF(float4, 512, t, l == 7))
PATTERN(s16_quarters_02, LD_IF(float4, 512, t, !(l & 8)))
PATTERN(s16_four_lanes_a_quarter, LD_IF(float4, 512, t, (l & 7) < 4))
PATTERN(s16_one_quarter_conflicts, LD(float4, 512, l < 8 ? 8 * l : l))

// 4 bytes and less
PATTERN(s4_half_stride2, LD_IF(float, 1024, 2 * l, l < 16))
PATTERN(s4_odd_stride32, LD_IF(float, 1024, 32 * l, l & 1))
PATTERN(s4_pairs_stride32, LD(float, 1024, l / 2 * 32))
PATTERN(s4_one_lane, LD_IF(float, 1024, 5, l == 3))
PATTERN(s1_linear, LD(u8, 4096, t))
PATTERN(s1_stride4, LD(u8, 4096, 4 * t))
PATTERN(s1_stride128, LD(u8, 4096, 128 * l))
PATTERN(s1_one_word, LD(u8, 4096, l & 3))
PATTERN(s1_stride33, LD(u8, 4096, 33 * l))
PATTERN(s2_linear, LD(u16, 4096, t))
PATTERN(s2_stride2, LD(u16, 4096, 2 * t))
PATTERN(s2_stride64, LD(u16, 4096, 64 * l))
PATTERN(s2_stride65, LD(u16, 4096, 65 * l))

// stores
PATTERN(t4_stride2, ST(float, 1024, 2 * t))
PATTERN(t4_stride32, ST(float, 1024, 32 * l))
PATTERN(t4_one_place, ST(float, 1024, w))
PATTERN(t4_odd_lanes, ST_IF(float, 1024, 2 * t, l & 1))
PATTERN(t8_linear, ST(float2, 1024, t))
PATTERN(t8_stride2, ST(float2, 1024, 2 * t))
PATTERN(t8_one_place, ST(float2, 1024, w))
PATTERN(t8_halves_equal, ST(float2, 1024, l & 15))
PATTERN(t8_low_half, ST_IF(float2, 1024, t, l < 16))
PATTERN(t16_linear, ST(float4, 512, t))
PATTERN(t16_stride2, ST(float4, 512, 2 * t))
PATTERN(t16_one_place, ST(float4, 512, w))
PATTERN(t16_quarters_equal, ST(float4, 512, l & 7))
PATTERN(t16_quarters_apart, ST(float4, 512, l / 8 * 2))
PATTERN(t16_odd_lanes, ST_IF(float4, 512, t, l & 1))
PATTERN(t1_linear, ST(u8, 4096, t))
PATTERN(t1_stride128, ST(u8, 4096, 128 * l))
PATTERN(t1_one_word, ST(u8, 4096, l & 3))
PATTERN(t2_linear, ST(u16, 4096, t))
PATTERN(t2_stride64, ST(u16, 4096, 64 * l))

// matrices
PATTERN(ldmatrix_x1, LDMATRIX("x1", "{%0}", "4", 16 * (l & 7)))
PATTERN(ldmatrix_x2, LDMATRIX("x2", "{%0, %1}", "4", 16 * (l & 15)))
PATTERN(ldmatrix_x4, LDMATRIX("x4", "{%0, %1, %2, %3}", "4", 16 * l))
PATTERN(ldmatrix_x4_rows32, LDMATRIX("x4", "{%0, %1, %2, %3}", "4", 32 * l))
PATTERN(ldmatrix_x4_rows64, LDMATRIX("x4", "{%0, %1, %2, %3}", "4", 64 * l))
PATTERN(ldmatrix_x4_rows128, LDMATRIX("x4", "{%0, %1, %2, %3}", "4", 128 * l))
PATTERN(ldmatrix_x4_rows144, LDMATRIX("x4", "{%0, %1, %2, %3}", "4", 144 * l))
PATTERN(ldmatrix_x4_one_row, LDMATRIX("x4", "{%0, %1, %2, %3}", "4", 16 * w))
PATTERN(ldmatrix_x4_equal, LDMATRIX("x4", "{%0, %1, %2, %3}", "4", 16 * (l & 7)))
PATTERN(ldmatrix_x1_rows128, LDMATRIX("x1", "{%0}", "4", 128 * (l & 7)))
PATTERN(ldmatrix_x4_trans,
        LDMATRIX("x4.trans", "{%0, %1, %2, %3}", "4", 128 * (l & 15) + 16 * (l / 16)))
PATTERN(stmatrix_x4, STMATRIX4(16 * l))
PATTERN(stmatrix_x4_rows128, STMATRIX4(128 * l))
PATTERN(stmatrix_x4_rows32, STMATRIX4(32 * l))

// atomics on shared memory
PATTERN(sa_same, SATOM(unsigned, 1024, atomicAdd(&s[0], t)))
PATTERN(sa_same_one, SATOM(unsigned, 1024, atomicAdd(&s[0], 1u)))
PATTERN(sa_same_used, SATOM_USED(unsigned, 1024, atomicAdd(&s[0], t)))
PATTERN(sa_spread, SATOM(unsigned, 1024, atomicAdd(&s[t], t)))
PATTERN(sa_spread_used, SATOM_USED(unsigned, 1024, atomicAdd(&s[t], t)))
PATTERN(sa_same_bank, SATOM(unsigned, 1024, atomicAdd(&s[32 * l], t)))
PATTERN(sa_pairs, SATOM(unsigned, 1024, atomicAdd(&s[l / 2], t)))
PATTERN(sa_quads, SATOM(unsigned, 1024, atomicAdd(&s[l / 4], t)))
PATTERN(sa_stride2, SATOM(unsigned, 1024, atomicAdd(&s[2 * t], t)))
PATTERN(sa_max_same, SATOM(unsigned, 1024, atomicMax(&s[0], t)))
PATTERN(sa_exch_same, SATOM_USED(unsigned, 1024, atomicExch(&s[0], t)))
PATTERN(sa_exch_spread, SATOM_USED(unsigned, 1024, atomicExch(&s[t], t)))
PATTERN(sa_cas_same, SATOM_USED(unsigned, 1024, atomicCAS(&s[0], 0u, t)))
PATTERN(sa_cas_spread, SATOM_USED(unsigned, 1024, atomicCAS(&s[t], 0u, t)))
PATTERN(sa_add64_spread, SATOM(u64, 1024, atomicAdd(&s[t], u64(t))))
PATTERN(sa_exch64_spread, SATOM_USED(u64, 1024, atomicExch(&s[t], u64(t))))
PATTERN(sa_half_warp, SATOM(unsigned, 1024, if (l < 16) atomicAdd(&s[0], t)))

// atomics on global memory
PATTERN(ga_same_used, GATOM_USED(unsigned, atomicAdd(g, t)))
PATTERN(ga_spread_used, GATOM_USED(unsigned, atomicAdd(g + TID, t)))
PATTERN(ga_pairs, GATOM(unsigned, atomicAdd(g + TID / 2, t)))
PATTERN(ga_quads, GATOM(unsigned, atomicAdd(g + TID / 4, t)))
PATTERN(ga_eighths, GATOM(unsigned, atomicAdd(g + TID % 8, t)))
PATTERN(ga_stride2, GATOM(unsigned, atomicAdd(g + 2 * TID, t)))
PATTERN(ga_stride8, GATOM(unsigned, atomicAdd(g + 8 * TID, t)))
PATTERN(ga_stride32, GATOM(unsigned, atomicAdd(g + 32 * TID, t)))
PATTERN(ga_half_warp_same, GATOM(unsigned, if (l < 16) atomicAdd(g, t)))
PATTERN(ga_half_warp_spread, GATOM(unsigned, if (l < 16) atomicAdd(g + TID, t)))
PATTERN(ga_64_same, GATOM(u64, atomicAdd(g, u64(t))))
PATTERN(ga_64_spread, GATOM(u64, atomicAdd(g + TID, u64(t))))
PATTERN(ga_max_same, GATOM(unsigned, atomicMax(g, t)))
PATTERN(ga_float_same, GATOM(float, atomicAdd(g, 1.5f)))
PATTERN(ga_float_spread, GATOM(float, atomicAdd(g + TID, 1.5f)))
PATTERN(ga_double_spread, GATOM(double, atomicAdd(g + TID, 1.5)))
PATTERN(ga_double_same, GATOM(double, atomicAdd(g, 1.5)))
PATTERN(ga_cas_same, GATOM_USED(unsigned, atomicCAS(g, 0u, t)))
PATTERN(ga_cas_spread, GATOM_USED(unsigned, atomicCAS(g + TID, 0u, t)))
PATTERN(ga_exch_same, GATOM_USED(unsigned, atomicExch(g, t)))
PATTERN(ga_exch_spread, GATOM_USED(unsigned, atomicExch(g + TID, t)))
PATTERN(ga_max_spread_used, GATOM_USED(unsigned, atomicMax(g + TID, t)))
PATTERN(ga_half2_same, GATOM(__half2, atomicAdd(g, __half2{})))
PATTERN(ga_half2_spread, GATOM(__half2, atomicAdd(g + TID, __half2{})))
PATTERN(ga_half_spread, GATOM(__half, atomicAdd(g + TID, __half{})))
PATTERN(ga_float4_spread, GATOM(float4, atomicAdd(g + TID, float4{1, 2, 3, 4})))
PATTERN(ga_float2_spread, GATOM(float2, atomicAdd(g + TID, float2{1, 2})))
PATTERN(ga_two_addresses, GATOM(unsigned, atomicAdd(g + (l & 1) * 64, t)))
PATTERN(ga_same_sector, GATOM(unsigned, atomicAdd(g + (l & 7), t)))

// global loads and stores
PATTERN(g16_half_line, GLD(float4, TID + 1))
PATTERN(g16_stride2, GLD(float4, 2 * TID))
PATTERN(g16_broadcast, GLD(float4, blockIdx.x))
PATTERN(g16_pairs, GLD(float4, TID / 2))
PATTERN(g16_odd_lanes, GLD_IF(float4, TID, l & 1))
PATTERN(g8_offset, GLD(float2, TID + 1))
PATTERN(g8_stride2, GLD(float2, 2 * TID))
PATTERN(g8_reverse, GLD(float2, TID ^ 31))
PATTERN(g8_double, GLD(double, TID))
PATTERN(g1_stride4, GLD(u8, 4 * TID))
PATTERN(g1_offset, GLD(u8, TID + 7))
PATTERN(g2_linear, GLD(u16, TID))
PATTERN(g2_offset, GLD(u16, TID + 9))
PATTERN(g4_one_lane, GLD_IF(float, TID, l == 5))
PATTERN(g4_quarter, GLD_IF(float, TID, l < 8))
PATTERN(g4_every_8th, GLD_IF(float, TID, l % 8 == 0))
PATTERN(g4_offset8, GLD(float, TID + 8))
PATTERN(g4_offset3, GLD(float, TID + 3))
PATTERN(g4_permuted, GLD(float, TID ^ 21))
PATTERN(gs16_stride2, GST(float4, 2 * TID))
PATTERN(gs16_offset, GST(float4, TID + 1))
PATTERN(gs8_stride4, GST(float2, 4 * TID))
PATTERN(gs1_linear, GST(u8, TID))
PATTERN(gs1_stride32, GST(u8, 32 * TID))
PATTERN(gs4_one_place, GST(float, blockIdx.x))
PATTERN(gs4_offset, GST(float, TID + 5))
PATTERN(g4_no_lane_in_some_warps, GLD_IF(float, TID, w == 1))
PATTERN(g4_guarded_store, {
  LANES;
  float v = a[TID];
  if (w == 1) o[TID] = v;
  o[8192 + TID] = v;
})

// asynchronous copies
PATTERN(copy4, COPY("ca", 4, 4 * t, 4 * TID))
PATTERN(copy8, COPY("ca", 8, 8 * t, 8 * TID))
PATTERN(copy16, COPY("cg", 16, 16 * t, 16 * TID))
PATTERN(copy16_ca, COPY("ca", 16, 16 * t, 16 * TID))
PATTERN(copy4_rows, COPY("ca", 4, 128 * l, 4 * TID))
PATTERN(copy16_rows, COPY("cg", 16, 128 * t, 16 * TID))
PATTERN(copy16_swizzled, COPY("cg", 16, 128 * (t / 8) + 16 * ((t & 7) ^ (t / 8 & 7)), 16 * TID))
PATTERN(copy16_apart, COPY("cg", 16, 16 * t, 64 * TID))
PATTERN(copy4_offset, COPY("ca", 4, 4 * t, 4 * TID + 4))

// local memory
PATTERN(local_dynamic, {
  LANES;
  volatile float v[16];
  for (int i = 0; i < 16; ++i) v[i] = i;
  o[TID] = v[int(a[0]) & 15];
})
PATTERN(local_by_lane, {
  LANES;
  volatile float v[16];
  for (int i = 0; i < 16; ++i) v[i] = i;
  o[TID] = v[l & 15];
})
PATTERN(local_double, {
  LANES;
  volatile double v[8];
  for (int i = 0; i < 8; ++i) v[i] = i;
  o[TID] = float(v[l & 7]);
})

// Wide shared accesses whose lanes share words with a neighbour, here or there
PATTERN(s8_every_other_pair, LD(float2, 1024, (l & 1) + l / 4 * 2))
PATTERN(s8_low_pairs, LD(float2, 1024, l < 16 ? l / 2 : l))
PATTERN(s8_pairs_both_ways, LD(float2, 1024, l < 16 ? l / 2 : 16 + (l & 1) + l / 4 * 2))
PATTERN(s8_pairs_stride5, LD(float2, 1024, l / 2 * 5))
PATTERN(s8_every_4th, LD_IF(float2, 1024, t, !(l & 3)))
PATTERN(s8_low_half_and_odd, LD_IF(float2, 1024, t, l < 16 || (l & 1)))
PATTERN(s8_apart_by_four, LD(float2, 1024, l & ~4))
PATTERN(s16_every_other_pair, LD(float4, 512, (l & 1) + l / 4 * 2))
PATTERN(s16_low_pairs, LD(float4, 512, l < 16 ? l / 2 : l))
PATTERN(s16_first_quarter_pairs, LD(float4, 512, l < 8 ? l / 2 : l))
PATTERN(s16_pairs_both_ways, LD(float4, 512, l < 16 ? l / 2 : 16 + (l & 1) + l / 4 * 2))
PATTERN(s16_pairs_both_ways_in_half, LD(float4, 512, l & 8 ? 16 + (l & 1) + l / 4 * 2 : l / 2))
PATTERN(s16_pairs_stride3, LD(float4, 512, l / 2 * 3))
PATTERN(s16_every_4th, LD_IF(float4, 512, t, !(l & 3)))
PATTERN(s16_low_half_and_odd, LD_IF(float4, 512, t, l < 16 || (l & 1)))
PATTERN(t8_pairs, ST(float2, 1024, l / 2))
PATTERN(t8_odd_lanes, ST_IF(float2, 1024, t, l & 1))
PATTERN(t8_stride16, ST(float2, 1024, 16 * l))
PATTERN(t16_pairs, ST(float4, 512, l / 2))
PATTERN(t16_low_half, ST_IF(float4, 512, t, l < 16))
PATTERN(t16_stride8, ST(float4, 512, 8 * l))

// Further atomics on shared memory
PATTERN(sa_turns, SATOM(unsigned, 1024, atomicAdd(&s[l < 3 ? 0 : l < 6 ? 32 * l + 1 : l], t)))
PATTERN(sa_one_pairs, SATOM(unsigned, 1024, atomicAdd(&s[l / 2], 1u)))
PATTERN(sa_one_bank, SATOM(unsigned, 1024, atomicAdd(&s[32 * (l & 3)], 1u)))
PATTERN(sa_one_used_pairs, SATOM_USED(unsigned, 1024, atomicAdd(&s[l / 2], 1u)))
PATTERN(sa_two_pairs, SATOM(unsigned, 1024, atomicAdd(&s[l / 2], 2u)))
PATTERN(sa_used_pairs, SATOM_USED(unsigned, 1024, atomicAdd(&s[l / 2], t)))
PATTERN(sa_pairs_in_banks, SATOM(unsigned, 1024, atomicAdd(&s[32 * (l / 2)], t)))
PATTERN(sa_min_pairs, SATOM(unsigned, 1024, atomicMin(&s[l / 2], t)))
PATTERN(sa_inc_pairs, SATOM(unsigned, 1024, atomicInc(&s[l / 2], 7u)))
PATTERN(sa_exch_pairs, SATOM_USED(unsigned, 1024, atomicExch(&s[l / 2], t)))
PATTERN(sa_exch64_pairs, SATOM_USED(u64, 1024, atomicExch(&s[l / 2], u64(t))))
PATTERN(sa_cas_pairs, SATOM_USED(unsigned, 1024, atomicCAS(&s[l / 2], 7u, t)))
PATTERN(sa_cas_bank, SATOM_USED(unsigned, 1024, atomicCAS(&s[32 * l], 7u, t)))
PATTERN(sa_cas64_spread, SATOM_USED(u64, 1024, atomicCAS(&s[t], 7ull, u64(t))))
PATTERN(sa_cas64_pairs, SATOM_USED(u64, 1024, atomicCAS(&s[l / 2], 7ull, u64(t))))
PATTERN(sa_float_spread, SATOM(float, 1024, atomicAdd(&s[t], 1.5f)))
PATTERN(sa_float_pairs, SATOM(float, 1024, atomicAdd(&s[l / 2], 1.5f)))
PATTERN(sa_float_quads, SATOM(float, 1024, atomicAdd(&s[l / 4], 1.5f)))
PATTERN(sa_float_same, SATOM(float, 1024, atomicAdd(&s[w], 1.5f)))
PATTERN(sa_float_bank, SATOM(float, 1024, atomicAdd(&s[32 * l], 1.5f)))
PATTERN(sa_float_used, SATOM_USED(float, 1024, atomicAdd(&s[t], 1.5f)))
PATTERN(sa_double_spread, SATOM(double, 1024, atomicAdd(&s[t], 1.5)))
PATTERN(sa_double_pairs, SATOM(double, 1024, atomicAdd(&s[l / 2], 1.5)))
PATTERN(sa_or64_pairs, SATOM(u64, 1024, atomicOr(&s[l / 2], 1ull << l)))
PATTERN(sa_half2_spread, SATOM(__half2, 1024, atomicAdd(&s[t], __half2(1, 2))))
PATTERN(sa_half_warp_used, SATOM_USED(unsigned, 1024, (l < 16 ? atomicAdd(&s[0], t) : 0u)))
PATTERN(sa_guarded, SATOM_IF(unsigned, 1024, a[TID] == 0, atomicAdd(&s[l / 2], t)))

// Further atomics on global memory
PATTERN(ga_exch_unused, GATOM(unsigned, atomicExch(g + TID, t)))
PATTERN(ga_or_same, GATOM(unsigned, atomicOr(g, 1u << l)))
PATTERN(ga_xor_same_used, GATOM_USED(unsigned, atomicXor(g, t)))
PATTERN(ga_one_same_used, GATOM_USED(unsigned, atomicAdd(g, 1u)))
PATTERN(ga_same_used_half, {
  LANES;
  unsigned* g = (unsigned*)o;
  if (l < 16) g[(1 << 17) + TID] = atomicAdd(g, t);
})
PATTERN(ga_64_one_same, GATOM(u64, atomicAdd(g, 1ull)))
PATTERN(ga_loaded_place, GATOM(unsigned, atomicAdd(g + unsigned(a[0]), t)))
PATTERN(ga_cas_pairs, GATOM_USED(unsigned, atomicCAS(g + TID / 2, 7u, t)))
PATTERN(ga_inc_pairs, GATOM(unsigned, atomicInc(g + TID / 2, 7u)))
PATTERN(ga_half_pairs, GATOM(__half, atomicAdd(g + TID / 2, __half(1))))
PATTERN(ga_bf162_spread, GATOM(__nv_bfloat162, atomicAdd(g + TID, __nv_bfloat162(1, 2))))
PATTERN(ga_generic, {
  LANES;
  unsigned r;
  asm volatile("atom.add.u32 %0, [%1], %2;" : "=r"(r) : "l"(o + TID), "r"(t) : "memory");
  o[(1 << 17) + TID] = r;
})
PATTERN(ga_generic_reduction, {
  LANES;
  asm volatile("red.add.u32 [%0], %1;" ::"l"(o + TID), "r"(t) : "memory");
})
PATTERN(ga_generic_shared, {
  LANES;
  __shared__ unsigned s[128];
  s[t] = 0;
  __syncthreads();
  asm volatile("red.add.u32 [%0], %1;" ::"l"(&s[l / 2]), "r"(t) : "memory");
  __syncthreads();
  o[TID] = s[t];
})
PATTERN(ga_generic_cas, {
  LANES;
  unsigned r;
  asm volatile("atom.cas.b32 %0, [%1], 0, %2;" : "=r"(r) : "l"(o + TID), "r"(t) : "memory");
  o[(1 << 17) + TID] = r;
})
PATTERN(g4_generic_load, {
  LANES;
  float r;
  asm volatile("ld.f32 %0, [%1];" : "=f"(r) : "l"(a + 2 * TID));
  o[TID] = r;
})
PATTERN(g4_generic_store, {
  LANES;
  asm volatile("st.f32 [%0], %1;" ::"l"(o + 2 * TID), "f"(1.5f) : "memory");
})
PATTERN(s4_generic_load, {
  LANES;
  SHARED(float, 1024);
  float r;
  asm volatile("ld.f32 %0, [%1];" : "=f"(r) : "l"(s + 2 * t));
  o[TID] = r;
})

// Further asynchronous copies
PATTERN(copy4_from8, COPY("ca", 4, 4 * t, 8 * TID))
PATTERN(copy4_from32, COPY("ca", 4, 4 * t, 32 * TID))
PATTERN(copy4_from128, COPY("ca", 4, 4 * t, 128 * TID))
PATTERN(copy4_to8, COPY("ca", 4, 8 * t, 4 * TID))
PATTERN(copy8_from16, COPY("ca", 8, 8 * t, 16 * TID))
PATTERN(copy8_rows, COPY("ca", 8, 128 * t, 8 * TID))
PATTERN(copy16_from32, COPY("cg", 16, 16 * t, 32 * TID))
PATTERN(copy16_from48, COPY("cg", 16, 16 * t, 48 * TID))
PATTERN(copy16_from128, COPY("cg", 16, 16 * t, 128 * TID))
PATTERN(copy16_from_swapped, COPY("cg", 16, 16 * t, 16 * (TID ^ 1)))
PATTERN(copy16_from_far, COPY("cg", 16, 16 * t, 16 * (TID ^ 8)))
PATTERN(copy16_offset, COPY("cg", 16, 16 * t, 16 * TID + 16))
PATTERN(copy16_to32, COPY("cg", 16, 32 * t, 16 * TID))
PATTERN(copy16_to_swapped, COPY("cg", 16, 16 * (t ^ 1), 16 * TID))
PATTERN(copy16_row_to_row, COPY("cg", 16, 128 * t, 128 * TID))
PATTERN(copy16_ca_rows, COPY("ca", 16, 128 * t, 16 * TID))
PATTERN(copy16_ca_from32, COPY("ca", 16, 16 * t, 32 * TID))
PATTERN(copy16_ca_from64, COPY("ca", 16, 16 * t, 64 * TID))
PATTERN(copy16_low_half, COPY_IF("cg", 16, 16 * t, 16 * TID, l < 16))
PATTERN(copy4_odd_lanes, COPY_IF("ca", 4, 4 * t, 4 * TID, l & 1))
PATTERN(copy16_half_filled, COPY_SOME("cg", 16, 16 * t, 16 * TID, l < 16 ? 16 : 0))
PATTERN(copy16_partly, COPY_SOME("cg", 16, 16 * t, 16 * TID, 8))
PATTERN(copy16_two, {
  LANES;
  __shared__ __align__(128) char s[16384];
  asm volatile(
      "cp.async.cg.shared.global [%0], [%1], 16;\ncp.async.cg.shared.global [%0+4096], [%1+16384], "
      "16;\ncp.async.wait_all;" ::"r"(SMEM(s + 16 * t)),
      "l"((const char*)a + 16 * TID)
      : "memory");
  __syncthreads();
  ((unsigned*)o)[TID] = ((unsigned*)s)[t];
})

// Local memory that is too large for registers
PATTERN(local_large, {
  LANES;
  float v[256];
  _Pragma("unroll 1") for (int i = 0; i < 256; ++i) v[i] = a[i];
  o[TID] = v[int(a[TID]) + 7] + v[l * 3];
})
PATTERN(local_vectors, {
  LANES;
  float4 v[64];
  _Pragma("unroll 1") for (int i = 0; i < 64; ++i) v[i] = ((const float4*)a)[i];
  o[TID] = v[l].x + v[l].y + v[l].z + v[l].w;
})
PATTERN(local_bytes, {
  LANES;
  u8 v[512];
  _Pragma("unroll 1") for (int i = 0; i < 512; ++i) v[i] = u8(a[i]);
  o[TID] = v[l * 5];
})

// Tensor-core fragments
template <class Layout, int kStride>
__device__ void load_fragment(const __half* from, float* o) {
  nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, __half, Layout> f;
  nvcuda::wmma::load_matrix_sync(f, from, kStride);
  float sum = 0;
  for (int i = 0; i < f.num_elements; ++i) sum += float(f.x[i]);
  o[TID] = sum;
}
template <int kStride>
__device__ void store_fragment(float* to) {
  nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> f;
  nvcuda::wmma::fill_fragment(f, float(threadIdx.x));
  nvcuda::wmma::store_matrix_sync(to, f, kStride, nvcuda::wmma::mem_row_major);
}
using Rows = nvcuda::wmma::row_major;
using Columns = nvcuda::wmma::col_major;
PATTERN(wmma_shared_rows, {
  LANES;
  SHARED(__half, 4096);
  load_fragment<Rows, 16>(s + 256 * w, o);
})
PATTERN(wmma_shared_rows24, {
  LANES;
  SHARED(__half, 4096);
  load_fragment<Rows, 24>(s + 512 * w, o);
})
PATTERN(wmma_shared_rows64, {
  LANES;
  SHARED(__half, 4096);
  load_fragment<Rows, 64>(s + 16 * w, o);
})
PATTERN(wmma_shared_columns, {
  LANES;
  SHARED(__half, 4096);
  load_fragment<Columns, 16>(s + 256 * w, o);
})
PATTERN(wmma_global_rows, {
  LANES;
  load_fragment<Rows, 64>((const __half*)a + 16 * w, o);
})
PATTERN(wmma_global_columns, {
  LANES;
  load_fragment<Columns, 64>((const __half*)a + 16 * w, o);
})
PATTERN(wmma_store_shared, {
  LANES;
  __shared__ float s[4096];
  store_fragment<64>(s + 16 * w);
  __syncthreads();
  o[TID] = s[t];
})
PATTERN(wmma_store_global, {
  LANES;
  store_fragment<64>(o + 16 * w);
})

int main() {
  float *a, *o;
  CHECK(cudaMalloc(&a, 4 << 20));
  CHECK(cudaMalloc(&o, 4 << 20));
  CHECK(cudaMemset(a, 0, 4 << 20));
  CHECK(cudaMemset(o, 0, 4 << 20));
  for (int k = 0; k < Listed::count; ++k) Listed::all[k]<<<kBlocks, kThreads>>>(a, o);
  CHECK(cudaDeviceSynchronize());
  std::printf("%d patterns ran\n", Listed::count);
}
