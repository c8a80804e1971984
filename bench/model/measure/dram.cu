// DRAM: bandwidth by mix of reads and writes, by access size, by bytes in flight, by SMs, by size.
#include "measure.h"

#include <algorithm>

namespace measure {
namespace {

constexpr size_t kMiB = 1 << 20, kGiB = 1 << 30;
constexpr int kThreads = 512;

template <class T>
__device__ u32 bits_of(T v) {
  if constexpr (sizeof(T) == 16) return v.x ^ v.y ^ v.z ^ v.w;
  else if constexpr (sizeof(T) == 8) return v.x ^ v.y;
  else return u32(v);
}

// Each thread issues kUnroll loads before it uses the first.
template <class T, int kUnroll>
__global__ void __launch_bounds__(1024)
    read_kernel(const T* in, size_t count, int passes, u32* sink) {
  const size_t step = size_t(gridDim.x) * blockDim.x;
  u32 sum = 0;
#pragma unroll 1
  for (int pass = 0; pass < passes; ++pass)
#pragma unroll 1
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i + (kUnroll - 1) * step < count;
         i += kUnroll * step) {
      T v[kUnroll];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) v[u] = __ldcg(in + i + u * step);
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) sum ^= bits_of(v[u]);
    }
  if (sum == 0x12345678) *sink = sum;
}

template <class T>
__global__ void write_kernel(T* out, size_t count, T value) {
  const size_t step = size_t(gridDim.x) * blockDim.x;
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += step)
    out[i] = value;
}

// kReads arrays are read for every kWrites arrays that are written.
template <int kReads, int kWrites>
__global__ void mix_kernel(const uint4* in, uint4* out, size_t count) {
  const size_t step = size_t(gridDim.x) * blockDim.x;
  constexpr int kUnroll = kReads > 2 ? 1 : 2;
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += kUnroll * step) {
    uint4 v[kUnroll][kReads];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u)
#pragma unroll
      for (int r = 0; r < kReads; ++r)
        if (i + u * step < count) v[u][r] = __ldcs(in + i + u * step + r * count);
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (i + u * step >= count) break;
      uint4 sum = v[u][0];
#pragma unroll
      for (int r = 1; r < kReads; ++r) sum.x ^= v[u][r].x, sum.y += v[u][r].y;
#pragma unroll
      for (int w = 0; w < kWrites; ++w) out[i + u * step + w * count] = sum;
    }
  }
}

__global__ void in_place_kernel(uint4* data, size_t count) {
  const size_t step = size_t(gridDim.x) * blockDim.x;
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += step) {
    uint4 v = data[i];
    v.x ^= 1;
    data[i] = v;
  }
}

void* buffer;  // 5 GiB
u32* sink;

template <class T, int kUnroll>
Samples read_rate(size_t bytes, int blocks, int threads) {
  return rate(time_us(9, make_cold,
                      [&] {
                        read_kernel<T, kUnroll><<<blocks, threads, 0, stream()>>>(
                            static_cast<const T*>(buffer), bytes / sizeof(T), 1, sink);
                      }),
              double(bytes) / 1e3);
}
// About a quarter of the L2, read many times. Only whole steps of the grid are read, so only they
// are counted.
template <class T, int kUnroll>
Samples hot_rate(int blocks, int threads) {
  const size_t step = size_t(blocks) * size_t(threads) * kUnroll * sizeof(T);
  const size_t bytes = std::max<size_t>(1, card().l2 / 4 / step) * step;
  const int passes = 12;
  return rate(difference_us(7, passes,
                            [&](int n) {
                              read_kernel<T, kUnroll><<<blocks, threads, 0, stream()>>>(
                                  static_cast<const T*>(buffer), bytes / sizeof(T), n, sink);
                            }),
              double(bytes) * passes / 1e3);
}

template <int kReads, int kWrites>
void mix_rate(const char* name, const char* how) {
  const size_t bytes = kGiB, count = bytes / 16;
  const auto in = static_cast<const uint4*>(buffer);
  const auto out = static_cast<uint4*>(buffer) + 3 * count;
  const Samples us = time_us(9, make_cold, [&] {
    mix_kernel<kReads, kWrites>
        <<<unsigned(count / kThreads / (kReads > 2 ? 1 : 2)), kThreads, 0, stream()>>>(in, out,
                                                                                       count);
  });
  add(name, rate(us, double(bytes) * (kReads + kWrites) / 1e3), "GB/s", how);
}

template <class T>
void by_access_size(Curve& reads, Curve& writes) {
  const int blocks = card().sms * 4;
  reads.at(sizeof(T), read_rate<T, 8>(kGiB, blocks, kThreads));
  writes.at(sizeof(T), rate(time_us(9, make_cold,
                                    [&] {
                                      write_kernel<T><<<blocks, kThreads, 0, stream()>>>(
                                          static_cast<T*>(buffer), kGiB / sizeof(T), T{});
                                    }),
                            double(kGiB) / 1e3));
}

template <class T, int kUnroll>
void in_flight(Curve& cold, Curve& hot) {
  for (const int warps : {1, 2, 4, 8, 16, 32, 64}) {
    const int blocks = card().sms * (warps > 32 ? 2 : 1), threads = (warps > 32 ? 32 : warps) * 32;
    const double bytes = double(warps) * 32 * sizeof(T) * kUnroll;
    const size_t work = bytes < 4096 ? 64 * kMiB : bytes < 16384 ? 256 * kMiB : kGiB;
    cold.at(bytes, read_rate<T, kUnroll>(work, blocks, threads));
    hot.at(bytes, hot_rate<T, kUnroll>(blocks, threads));
  }
}

template <int kUnroll, class Body>
void sizes(Curve& curve, Body body) {
  for (size_t bytes = 4096; bytes <= kGiB; bytes *= 4) curve.at(double(bytes), body(bytes));
}

}  // namespace

void dram() {
  buffer = device_memory(5 * kGiB);
  sink = static_cast<u32*>(device_memory(4));
  fill(buffer, 5 * kGiB);
  const int blocks = card().sms * 4;

  add("dram.read", read_rate<uint4, 8>(4 * kGiB, blocks, kThreads), "GB/s",
      "4 GiB read once, 16 bytes per load, 8 loads in flight per thread, 2048 threads per SM");
  add("dram.write",
      rate(time_us(9, make_cold,
                   [&] {
                     write_kernel<uint4><<<blocks, kThreads, 0, stream()>>>(
                         static_cast<uint4*>(buffer), 4 * kGiB / 16, uint4{1, 2, 3, 4});
                   }),
           4 * double(kGiB) / 1e3),
      "GB/s", "4 GiB written once, 16 bytes per store");
  mix_rate<1, 1>("dram.copy", "1 GiB read, 1 GiB written, 16 bytes per access; both counted");
  mix_rate<2, 1>("dram.mix_2_1", "two arrays of 1 GiB read, one written; all counted");
  mix_rate<3, 1>("dram.mix_3_1", "three arrays of 1 GiB read, one written; all counted");
  mix_rate<1, 2>("dram.mix_1_2", "one array of 1 GiB read, two written; all counted");
  mix_rate<2, 2>("dram.mix_2_2", "two arrays of 1 GiB read, two written; all counted");
  add("dram.in_place",
      rate(time_us(9, make_cold,
                   [&] {
                     in_place_kernel<<<unsigned(kGiB / 16 / kThreads), kThreads, 0, stream()>>>(
                         static_cast<uint4*>(buffer), kGiB / 16);
                   }),
           2 * double(kGiB) / 1e3),
      "GB/s", "1 GiB read, changed and written back to the same place; both counted");
  {
    Curve reads("dram.read_by_access_size", "bytes per lane", "GB/s", "1 GiB, 8 loads in flight");
    Curve writes("dram.write_by_access_size", "bytes per lane", "GB/s", "1 GiB");
    by_access_size<unsigned char>(reads, writes);
    by_access_size<unsigned short>(reads, writes);
    by_access_size<u32>(reads, writes);
    by_access_size<uint2>(reads, writes);
    by_access_size<uint4>(reads, writes);
  }
  const auto in_flight_of = [&]<class T, int kUnroll>(const std::string& which) {
    Curve cold("dram.read_by_in_flight_" + which, "bytes in flight per SM", "GB/s",
               "1 to 64 warps per SM issue their loads, then wait for all of them; cold");
    Curve hot(
        "l2.read_by_in_flight_" + which, "bytes in flight per SM", "GB/s",
        "the same over a quarter of the L2, past the L1, from the difference of 12 and 24 passes");
    in_flight<T, kUnroll>(cold, hot);
  };
  in_flight_of.operator()<u32, 1>("4x1");
  in_flight_of.operator()<u32, 4>("4x4");
  in_flight_of.operator()<uint4, 1>("16x1");
  in_flight_of.operator()<uint4, 2>("16x2");
  in_flight_of.operator()<uint4, 4>("16x4");
  {
    Curve cold("dram.read_by_sms", "SMs", "GB/s",
               "one block of 1024 threads per SM, 64 KB in flight");
    Curve hot("l2.read_by_sms", "SMs", "GB/s",
              "the same over a quarter of the L2, from the difference of 12 and 24 passes");
    for (int sms = 1; sms < card().sms; sms *= 2) {
      const size_t work = std::min(size_t(sms) * 16 * kMiB, kGiB);
      cold.at(sms, read_rate<uint4, 4>(work, sms, 1024));
      hot.at(sms, hot_rate<uint4, 4>(sms, 1024));
    }
    cold.at(card().sms, read_rate<uint4, 4>(kGiB, card().sms, 1024));
    hot.at(card().sms, hot_rate<uint4, 4>(card().sms, 1024));
  }
  // Small sizes as the harness times them: by events with a cold L2, and by a graph whose launches
  // rotate over enough sets to miss the L2.
  const auto copy = [&](size_t bytes, size_t set) {
    const size_t count = bytes / 16;
    const auto in = static_cast<const uint4*>(buffer) + set * 2 * count;
    mix_kernel<1, 1><<<unsigned((count + 511) / 512), 256, 0, stream()>>>(
        in, static_cast<uint4*>(buffer) + (set * 2 + 1) * count, count);
  };
  {
    Curve by_event("copy.event_us_by_bytes", "bytes read (as many are written)", "us",
                   "two packs of 16 bytes per thread, 256 threads; cold, between two events");
    sizes<1>(by_event, [&](size_t b) { return time_us(15, make_cold, [&] { copy(b, 0); }); });
  }
  {
    Curve by_graph("copy.graph_us_by_bytes", "bytes read (as many are written)", "us",
                   "the same, 32 launches in one graph over sets of together twice the L2");
    sizes<1>(by_graph, [&](size_t b) {
      const size_t sets = std::max<size_t>(1, std::min<size_t>(32, 2 * card().l2 / (2 * b)));
      return graph_us(7, 32, [&](int i) { copy(b, size_t(i) % sets); });
    });
  }
  {
    Curve hot("copy.hot_graph_us_by_bytes", "bytes read (as many are written)", "us",
              "the same, 32 launches over one set");
    sizes<1>(hot, [&](size_t b) { return graph_us(7, 32, [&](int) { copy(b, 0); }); });
  }
}

}  // namespace measure
