// Shared memory: widths, bank conflicts, matrices, latency, atomics.
#include "measure.h"

namespace measure {
namespace {

constexpr int kRounds = 32, kUnroll = 8;
enum class Access {
  load32,
  load64,
  load128,
  store32,
  store64,
  store128,
  matrix1,
  matrix2,
  matrix4,
  matrix4t,
  store_matrix4
};

// Lane l accesses `stride` bytes behind lane l - 1.
template <Access kAccess>
__global__ void __launch_bounds__(1024) access(u32 stride, long long* cycles, u32* sink) {
  __shared__ __align__(1024) char data[32768 + 1024];
  for (u32 i = threadIdx.x; i < sizeof data / 4; i += blockDim.x)
    reinterpret_cast<u32*>(data)[i] = 0;
  const u32 base = u32(__cvta_generic_to_shared(data)) + threadIdx.x % 32 * stride % 32768;
  u32 sum = threadIdx.x;
  const long long start = begin_cycles();
#pragma unroll 1
  for (int r = 0; r < kRounds; ++r)
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const u32 at = base + u32((u ^ r) % 8) * 128;  // another order each round: no load repeats
      u32 x = 0, y = 0, z = 0, w = 0;
      if constexpr (kAccess == Access::load32)
        asm volatile("ld.volatile.shared.u32 %0,[%1];" : "=r"(x) : "r"(at));
      if constexpr (kAccess == Access::load64)
        asm volatile("ld.volatile.shared.v2.u32 {%0,%1},[%2];" : "=r"(x), "=r"(y) : "r"(at));
      if constexpr (kAccess == Access::load128)
        asm volatile("ld.volatile.shared.v4.u32 {%0,%1,%2,%3},[%4];"
                     : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
                     : "r"(at));
      if constexpr (kAccess == Access::store32)
        asm volatile("st.volatile.shared.u32 [%0],%1;" ::"r"(at), "r"(sum));
      if constexpr (kAccess == Access::store64)
        asm volatile("st.volatile.shared.v2.u32 [%0],{%1,%1};" ::"r"(at), "r"(sum));
      if constexpr (kAccess == Access::store128)
        asm volatile("st.volatile.shared.v4.u32 [%0],{%1,%1,%1,%1};" ::"r"(at), "r"(sum));
#if __CUDA_ARCH__ >= 750
      if constexpr (kAccess == Access::matrix1)
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0},[%1];" : "=r"(x) : "r"(at));
      if constexpr (kAccess == Access::matrix2)
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1},[%2];"
                     : "=r"(x), "=r"(y)
                     : "r"(at));
      if constexpr (kAccess == Access::matrix4)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3},[%4];"
                     : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
                     : "r"(at));
      if constexpr (kAccess == Access::matrix4t)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3},[%4];"
                     : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
                     : "r"(at));
#endif
#if __CUDA_ARCH__ >= 900
      if constexpr (kAccess == Access::store_matrix4)
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0],{%1,%1,%1,%1};" ::"r"(at),
                     "r"(sum));
#endif
      sum ^= x ^ y ^ z ^ w;
    }
  if (sum == 0x12345678) *sink = sum;
  end_cycles(start, cycles);
}

__global__ void chase(int hops, long long* cycles, u32* sink) {
  __shared__ u32 data[1024];
  const u32 base = u32(__cvta_generic_to_shared(data));
  for (u32 i = threadIdx.x; i < 1024; i += blockDim.x) data[i] = base + (i * 37 + 1) % 1024 * 4;
  u32 p = base;
  const long long start = begin_cycles();
#pragma unroll 8
  for (int i = 0; i < hops; ++i) asm volatile("ld.volatile.shared.u32 %0,[%0];" : "+r"(p));
  if (p == 1) *sink = p;
  end_cycles(start, cycles);
}

template <class T, bool kReturn>
__global__ void __launch_bounds__(1024)
    atomics(u32 spread, int rounds, long long* cycles, u32* sink) {
  __shared__ T bins[4096];
  for (u32 i = threadIdx.x; i < 4096; i += blockDim.x) bins[i] = T(0);
  T sum = 0;
  const u32 thread = threadIdx.x;
  u32 at[4];  // spread 0: one bin for each lane, without conflicts
#pragma unroll
  for (int u = 0; u < 4; ++u)
    at[u] = spread == 0 ? thread % 32 + 32 * u32(u) : mix(thread + u32(u) * 1024) % spread;
  const long long start = begin_cycles();
#pragma unroll 1
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      const T old = atomicAdd(bins + at[u], T(1));
      if constexpr (kReturn) sum += old;
    }
  __syncthreads();
  if (sum == T(12345678) || bins[thread] == T(1e9)) *sink = 1;
  end_cycles(start, cycles);
}

u32* sink;

template <Access kAccess>
Samples cost(u32 stride, int warps = 32) {
  return cycles_of(5, card().sms, double(kRounds) * kUnroll * warps, [&] {
    access<kAccess><<<card().sms, warps * 32, 0, stream()>>>(stride, cycle_slots(), sink);
  });
}
template <Access kAccess>
void width(const char* name, u32 stride) {
  add(std::string("shared.") + name, cost<kAccess>(stride), "cycles per warp instruction",
      "without conflicts, 32 warps of one SM");
  add(std::string("shared.") + name + "_one_warp", cost<kAccess>(stride, 1),
      "cycles per warp instruction", "the same, one warp");
}
template <Access kAccess>
void conflicts(const char* name, u32 word) {
  Curve curve(name, "access sizes between neighbouring lanes", "cycles per warp instruction",
              "lanes that far apart meet on one bank; 32 warps of one SM");
  for (u32 degree = 1; degree <= 32 / (word / 4); degree *= 2)
    curve.at(degree, cost<kAccess>(word * degree));
}

template <class T, bool kReturn>
void atomic_curve(const char* name) {
  Curve curve(name, "bins (0: one for each lane)", "cycles per warp instruction",
              "atomicAdd of 1 to random bins, 32 warps of one SM");
  const int rounds = 16;
  for (const u32 spread : {0u, 1u, 2u, 8u, 32u, 256u, 1024u, 4096u})
    curve.at(spread, cycles_of(5, card().sms, double(rounds) * 4 * 32, [&] {
               atomics<T, kReturn>
                   <<<card().sms, 1024, 0, stream()>>>(spread, rounds, cycle_slots(), sink);
             }));
}

}  // namespace

void shared() {
  sink = static_cast<u32*>(device_memory(4));
  add("shared.latency",
      cycles_of(5, 1, 1024, [&] { chase<<<1, 32, 0, stream()>>>(1024, cycle_slots(), sink); }),
      "cycles", "one warp follows pointers, all lanes the same one");
  width<Access::load32>("load_4", 4);
  width<Access::load64>("load_8", 8);
  width<Access::load128>("load_16", 16);
  width<Access::store32>("store_4", 4);
  width<Access::store64>("store_8", 8);
  width<Access::store128>("store_16", 16);
  add("shared.load_broadcast", cost<Access::load32>(0), "cycles per warp instruction",
      "one word for all lanes");
  if (card().arch >= 750) {
    width<Access::matrix1>("ldmatrix_x1", 16);
    width<Access::matrix2>("ldmatrix_x2", 16);
    width<Access::matrix4>("ldmatrix_x4", 16);
    width<Access::matrix4t>("ldmatrix_x4_trans", 16);
  }
  if (card().arch >= 900) width<Access::store_matrix4>("stmatrix_x4", 16);
  conflicts<Access::load32>("shared.load_4_by_conflict", 4);
  conflicts<Access::store32>("shared.store_4_by_conflict", 4);
  conflicts<Access::load64>("shared.load_8_by_conflict", 8);
  conflicts<Access::load128>("shared.load_16_by_conflict", 16);
  atomic_curve<u32, false>("shared.atomic_u32_by_bins");
  atomic_curve<u32, true>("shared.atomic_u32_return_by_bins");
  atomic_curve<float, false>("shared.atomic_f32_by_bins");
  atomic_curve<u64, false>("shared.atomic_u64_by_bins");
}

}  // namespace measure
