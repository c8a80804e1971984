// L2 and L1: bandwidth by footprint and access size, cost per request by lines and sectors.
#include "measure.h"

#include <algorithm>

namespace measure {
namespace {

constexpr size_t kMiB = 1 << 20;

// `passes` times over the footprint, which another SM reads each time.
template <class T>
__device__ u32 bits_of(T v) {
  if constexpr (sizeof(T) == 16) return v.x ^ v.y ^ v.z ^ v.w;
  else if constexpr (sizeof(T) == 8) return v.x ^ v.y;
  else return u32(v);
}
template <class T>
__global__ void __launch_bounds__(512) l2_read(const T* in, u32 count, int passes, u32* sink) {
  const u32 step = gridDim.x * blockDim.x;
  u32 sum = 0;
#pragma unroll 1
  for (int pass = 0; pass < passes; ++pass) {
    u32 i = (blockIdx.x + u32(pass) * 37) % gridDim.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (; i + 3 * step < count; i += 4 * step) {
      T v[4];
#pragma unroll
      for (int u = 0; u < 4; ++u) v[u] = __ldcg(in + i + u32(u) * step);
#pragma unroll
      for (int u = 0; u < 4; ++u) sum ^= bits_of(v[u]);
    }
    for (; i < count; i += step) sum ^= bits_of(__ldcg(in + i));
  }
  if (sum == 0x12345678) *sink = sum;
}
__global__ void __launch_bounds__(512) l2_write(uint4* out, u32 count, int passes) {
#pragma unroll 1
  for (int pass = 0; pass < passes; ++pass)
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
      out[i] = uint4{u32(pass), 0, 0, 0};
}
__global__ void __launch_bounds__(512) l2_copy(const uint4* in, uint4* out, u32 count, int passes) {
#pragma unroll 1
  for (int pass = 0; pass < passes; ++pass)
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
      uint4 v = __ldcg(in + i);
      v.x += u32(pass);
      out[i] = v;
    }
}

// 32 warps of one block per SM load from 16 KB that are in the L1: lane l reads at l * stride.
template <class T>
__global__ void __launch_bounds__(1024)
    l1_read(const char* in, u32 stride, int rounds, long long* cycles, u32* sink) {
  const char* const base = in + blockIdx.x * 65536;
  u32 sum = 0;
  for (u32 i = threadIdx.x; i < 32768 / 4; i += blockDim.x)
    sum += *reinterpret_cast<const volatile u32*>(base + i * 4);
  const u32 lane = threadIdx.x % 32, at = (lane * stride) % 16384;
  const long long start = begin_cycles();
#pragma unroll 1
  for (int r = 0; r < rounds; ++r) {
    const char* p = base + at + (r & 1) * 8192;
#pragma unroll
    for (int u = 0; u < 8; ++u) {
      u32 x, y = 0, z = 0, w = 0;
      const char* const q = p + u * 128 % 4096;
      if constexpr (sizeof(T) == 16)
        asm volatile("ld.global.ca.v4.u32 {%0,%1,%2,%3}, [%4];"
                     : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
                     : "l"(q));
      else if constexpr (sizeof(T) == 8)
        asm volatile("ld.global.ca.v2.u32 {%0,%1}, [%2];" : "=r"(x), "=r"(y) : "l"(q));
      else asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(x) : "l"(q));
      sum ^= x ^ y ^ z ^ w;
    }
  }
  if (sum == 0x12345678) *sink = sum;
  end_cycles(start, cycles);
}

// Stores that lane l makes at l * stride of an area of its SM's own; the L2 takes them all.
__global__ void __launch_bounds__(1024)
    store_cost(char* out, u32 stride, int rounds, long long* cycles) {
  char* const p = out + blockIdx.x * 65536 + threadIdx.x % 32 * stride % 32768;
  const long long start = begin_cycles();
#pragma unroll 1
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int u = 0; u < 4; ++u)
      asm volatile("st.global.u32 [%0], %1;" ::"l"(p + u * 4), "r"(r) : "memory");
  end_cycles(start, cycles);
}

// The same 4-byte loads past the L1, each warp from sectors of its own that are in the L2.
__global__ void __launch_bounds__(1024)
    l2_cost(const char* in, u32 stride, u32 span, int rounds, long long* cycles, u32* sink) {
  u32 sum = 0;
  u32 place = mix(blockIdx.x * 32 + threadIdx.x / 32);
  const u32 offset = threadIdx.x % 32 * stride, mask = span - 1;  // span is a power of two
  const long long start = begin_cycles();
#pragma unroll 1
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      place = place * 1664525 + 1013904223;
      const u32 at = ((place & ~4095u) + offset) & mask;
      u32 x;
      asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(x) : "l"(in + at));
      sum ^= x;
    }
  if (sum == 0x12345678) *sink = sum;
  end_cycles(start, cycles);
}

}  // namespace

void caches() {
  const int sms = card().sms;
  char* const data = static_cast<char*>(device_memory(512 * kMiB));
  u32* const sink = static_cast<u32*>(device_memory(4));
  fill(data, 512 * kMiB);
  const auto packs = reinterpret_cast<uint4*>(data);
  // Passes over about 256 MiB in all, so that the difference of n and 2 n passes is long enough.
  const auto passes_of = [](size_t bytes) { return int(std::max<size_t>(2, 256 * kMiB / bytes)); };
  const auto rate_of = [&](size_t bytes, auto launch) {
    const int passes = passes_of(bytes);
    return rate(difference_us(7, passes, launch), double(bytes) * passes / 1e3);
  };
  const auto read = [&]<class T>(size_t bytes) {
    return rate_of(bytes, [&](int n) {
      l2_read<T><<<sms * 4, 512, 0, stream()>>>(reinterpret_cast<const T*>(data),
                                                u32(bytes / sizeof(T)), n, sink);
    });
  };
  {
    Curve curve(
        "l2.read_by_footprint", "bytes", "GB/s",
        "many passes over the footprint, by another SM each time, 16 bytes per load, past the L1");
    for (const size_t m : {2, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 48, 56, 64, 80, 96, 128, 256})
      curve.at(double(m * kMiB), read.operator()<uint4>(m * kMiB));
  }
  {
    Curve curve("l2.read_by_access_size", "bytes per lane", "GB/s",
                "the same over a quarter of the L2");
    curve.at(1, read.operator()<unsigned char>(card().l2 / 4));
    curve.at(2, read.operator()<unsigned short>(card().l2 / 4));
    curve.at(4, read.operator()<u32>(card().l2 / 4));
    curve.at(8, read.operator()<uint2>(card().l2 / 4));
    curve.at(16, read.operator()<uint4>(card().l2 / 4));
  }
  {
    Curve writes("l2.write_by_footprint", "bytes", "GB/s", "many passes of 16-byte stores");
    Curve copies("l2.copy_by_footprint", "bytes read and written together", "GB/s",
                 "many passes, 16 bytes per access; reads and writes counted");
    for (const size_t m : {4, 8, 16, 24, 32, 48, 64, 128}) {
      const u32 count = u32(m * kMiB / 16);
      writes.at(double(m * kMiB), rate_of(m * kMiB, [&](int n) {
                  l2_write<<<sms * 4, 512, 0, stream()>>>(packs, count, n);
                }));
      copies.at(double(m * kMiB), rate_of(m * kMiB, [&](int n) {
                  l2_copy<<<sms * 4, 512, 0, stream()>>>(packs, packs + count / 2, count / 2, n);
                }));
    }
  }
  const int rounds = 64;
  const double per = double(rounds) * 8 * 32;  // warp instructions
  const auto l1 = [&]<class T>(u32 stride) {
    return cycles_of(7, sms, per, [&] {
      l1_read<T><<<sms, 1024, 0, stream()>>>(data, stride, rounds, cycle_slots(), sink);
    });
  };
  {
    Curve curve("l1.cycles_by_access_size", "bytes per lane", "cycles per warp load",
                "coalesced loads that hit the L1, 32 warps of one SM");
    curve.at(4, l1.operator()<u32>(4));
    curve.at(8, l1.operator()<uint2>(8));
    curve.at(16, l1.operator()<uint4>(16));
  }
  {
    Curve curve(
        "l1.cycles_by_stride", "bytes between neighbouring lanes", "cycles per warp load",
        "4-byte loads that hit the L1; 0 is one word for all lanes, 128 is one line per lane");
    for (const u32 stride : {0u, 4u, 8u, 16u, 32u, 64u, 128u, 132u, 256u})
      curve.at(stride, l1.operator()<u32>(stride));
  }
  {
    Curve curve("store.cycles_by_stride", "bytes between neighbouring lanes",
                "cycles per warp store",
                "4-byte stores of 32 warps of each SM; all SMs at once, into the L2");
    for (const u32 stride : {0u, 4u, 8u, 16u, 32u, 64u, 128u, 256u})
      curve.at(stride, cycles_of(7, sms, double(rounds) * 4 * 32, [&] {
                 store_cost<<<sms, 1024, 0, stream()>>>(data, stride, rounds, cycle_slots());
               }));
  }
  {
    Curve curve("l2.cycles_by_stride", "bytes between neighbouring lanes", "cycles per warp load",
                "4-byte loads past the L1 at random places of a part of the L2; all SMs at once");
    u32 span = 1 << 20;
    while (span * 2 <= card().l2 / 3) span *= 2;
    for (const u32 stride : {0u, 4u, 8u, 16u, 32u, 64u, 128u, 256u})
      curve.at(stride, cycles_of(7, sms, double(rounds) * 4 * 32, [&] {
                 l2_cost<<<sms, 1024, 0, stream()>>>(data, stride, span, rounds, cycle_slots(),
                                                     sink);
               }));
  }
}

}  // namespace measure
