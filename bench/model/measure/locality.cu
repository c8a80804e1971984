// DRAM's pages: random accesses by granule, many streams, strides; scattered writes.
#include "measure.h"

#include <algorithm>

namespace measure {
namespace {

constexpr size_t kGiB = 1 << 30;
constexpr int kThreads = 256;

// Granule g of 2^log_bytes bytes stands at a random place of 2^log_all bytes. Each lane reads 16
// bytes (or one 4-byte word per sector when the granule is one sector).
__global__ void random_read(const uint4* in, int log_granule, int log_all, size_t packs,
                            u32* sink) {
  const size_t step = size_t(gridDim.x) * blockDim.x;
  const u64 granules = u64(1) << (log_all - log_granule), mask = granules - 1;
  const int packs_log = log_granule - 4;
  u32 sum = 0;
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < packs; i += 4 * step) {
    uint4 v[4];
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      const u64 pack = i + u * step;
      const u64 granule = ((pack >> packs_log) * 0x9e3779b97f4a7c15ull >> 20) & mask;
      v[u] = __ldcg(in + (granule << packs_log) + (pack & ((u64(1) << packs_log) - 1)));
    }
#pragma unroll
    for (int u = 0; u < 4; ++u) sum ^= v[u].x ^ v[u].y ^ v[u].z ^ v[u].w;
  }
  if (sum == 0x12345678) *sink = sum;
}

// `streams` equal parts of the buffer are read side by side: neighbouring warps read 512 bytes each
// from neighbouring streams.
__global__ void streams_read(const uint4* in, size_t packs, int log_streams, u32* sink) {
  const size_t step = size_t(gridDim.x) * blockDim.x;
  const size_t tiles_per_stream = packs / 32 >> log_streams;
  u32 sum = 0;
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < packs; i += 4 * step) {
    uint4 v[4];
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      const size_t tile = (i + u * step) / 32, lane = threadIdx.x % 32;
      const size_t stream = tile & ((size_t(1) << log_streams) - 1);
      v[u] = __ldcg(in + (stream * tiles_per_stream + (tile >> log_streams)) * 32 + lane);
    }
#pragma unroll
    for (int u = 0; u < 4; ++u) sum ^= v[u].x ^ v[u].y ^ v[u].z ^ v[u].w;
  }
  if (sum == 0x12345678) *sink = sum;
}

// Lane l of the whole grid touches the word at l * stride bytes; a buffer's worth of lanes.
template <bool kWrite>
__global__ void strided(char* data, size_t stride, size_t count, u32* sink) {
  const size_t step = size_t(gridDim.x) * blockDim.x;
  u32 sum = 0;
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += 4 * step) {
    u32 v[4] = {};
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      u32* const word = reinterpret_cast<u32*>(data + (i + u * step) * stride);
      if constexpr (kWrite) *word = u32(i);
      else v[u] = __ldcg(word);
    }
    for (const u32 one : v) sum ^= one;
  }
  if (sum == 0x12345678) *sink = sum;
}

// One 4-byte access per lane at a random word of 2^log_all bytes.
template <bool kWrite>
__global__ void random_words(u32* data, int log_all, size_t count, u32* sink) {
  const size_t step = size_t(gridDim.x) * blockDim.x;
  const u64 mask = (u64(1) << (log_all - 2)) - 1;
  u32 sum = 0;
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += 4 * step) {
    u32 v[4] = {};
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      u32* const word = data + ((i + u * step) * 0x9e3779b97f4a7c15ull >> 20 & mask);
      if constexpr (kWrite) *word = u32(i);
      else v[u] = __ldcg(word);
    }
    for (const u32 one : v) sum ^= one;
  }
  if (sum == 0x12345678) *sink = sum;
}

}  // namespace

void locality() {
  char* const buffer = static_cast<char*>(device_memory(8 * kGiB));
  u32* const sink = static_cast<u32*>(device_memory(4));
  fill(buffer, 8 * kGiB);
  const int blocks = card().sms * 8;
  const auto packs = reinterpret_cast<const uint4*>(buffer);
  const size_t bytes = kGiB / 2;
  {
    Curve curve("dram.random_read_by_granule", "bytes per granule", "GB/s",
                "512 MiB in granules at random places of 8 GiB, 16 bytes per lane");
    for (int log = 5; log <= 16; ++log)
      curve.at(double(1 << log), rate(time_us(5, make_cold,
                                              [&] {
                                                random_read<<<blocks, kThreads, 0, stream()>>>(
                                                    packs, log, 33, bytes / 16, sink);
                                              }),
                                      double(bytes) / 1e3));
  }
  {
    Curve curve("dram.random_read_by_span", "bytes that the granules are spread over", "GB/s",
                "granules of 128 bytes at random places; the translation of addresses shows");
    for (int log = 28; log <= 33; ++log)
      curve.at(double(size_t(1) << log),
               rate(time_us(5, make_cold,
                            [&] {
                              random_read<<<blocks, kThreads, 0, stream()>>>(packs, 7, log,
                                                                             bytes / 16, sink);
                            }),
                    double(bytes) / 1e3));
  }
  {
    Curve curve(
        "dram.read_by_streams", "streams", "GB/s",
        "1 GiB cut into streams, which neighbouring warps read side by side, 512 bytes each");
    for (int log = 0; log <= 18; log += 2)
      curve.at(double(1 << log), rate(time_us(5, make_cold,
                                              [&] {
                                                streams_read<<<blocks, kThreads, 0, stream()>>>(
                                                    packs, kGiB / 16, log, sink);
                                              }),
                                      double(kGiB) / 1e3));
  }
  const auto by_stride = [&](auto kernel, const char* name) {
    Curve curve(name, "bytes between neighbouring lanes", "Gsector/s",
                "one 4-byte access per lane, 4 in flight per thread; a sector has 32 bytes");
    for (const size_t stride : {32, 64, 96, 128, 256, 512, 544, 1024, 4096, 4128, 16384}) {
      const size_t count = std::min<size_t>(1 << 24, 8 * kGiB / stride) / 4096 * 4096;
      const size_t lanes = size_t(blocks) * kThreads * 4, whole = count / lanes * lanes;
      if (whole == 0) continue;
      curve.at(double(stride), rate(time_us(5, make_cold,
                                            [&] {
                                              kernel<<<blocks, kThreads, 0, stream()>>>(
                                                  buffer, stride, whole, sink);
                                            }),
                                    double(whole) / 1e3));
    }
  };
  by_stride(strided<false>, "dram.read_sectors_by_stride");
  by_stride(strided<true>, "dram.write_sectors_by_stride");
  const auto random = [&](auto kernel, const char* name, const char* how) {
    Curve curve(name, "bytes that the words are spread over", "Gword/s", how);
    for (int log = 16; log <= 33; ++log) {
      const size_t count = log < 24 ? 1 << 24 : 1 << 25;
      const size_t lanes = size_t(blocks) * kThreads * 4, whole = count / lanes * lanes;
      const auto launch = [&] {
        kernel<<<blocks, kThreads, 0, stream()>>>(reinterpret_cast<u32*>(buffer), log, whole, sink);
      };
      curve.at(double(size_t(1) << log), rate(time_us(5, launch), double(whole) / 1e3));
    }
  };
  random(random_words<false>, "gather.words_by_span",
         "one 4-byte load per lane at a random place, past the L1, 4 in flight per thread; hot");
  random(random_words<true>, "scatter.words_by_span",
         "one 4-byte store per lane at a random place; hot");
}

}  // namespace measure
