// Latencies of the memory levels by pointer chases; where the levels end; the L2's two partitions.
#include "measure.h"

#include <algorithm>

namespace measure {
namespace {

constexpr size_t kKiB = 1 << 10, kMiB = 1 << 20, kGiB = 1 << 30;
constexpr int kHops = 1024;

// Line i points at line (i + step) % lines, where step is about 0.618 * lines and coprime to it: a
// walk over all lines without neighbours.
__global__ void link_lines(char* data, u64 lines, u64 line_bytes, u64 step) {
  for (u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x; i < lines;
       i += u64(gridDim.x) * blockDim.x)
    *reinterpret_cast<u64*>(data + i * line_bytes) = u64(data + (i + step) % lines * line_bytes);
}
__global__ void touch(const char* data, u64 lines, u64 line_bytes, u32* sink) {
  u32 sum = 0;
  for (u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x; i < lines;
       i += u64(gridDim.x) * blockDim.x)
    sum ^= __ldcg(reinterpret_cast<const u32*>(data + i * line_bytes));
  if (sum == 0x12345678) *sink = sum;
}

template <bool kL1>
__global__ void chase(const char* data, int warm, int hops, long long* cycles, u32* sink) {
  u64 p = u64(data);
  const auto hop = [&] {
    if constexpr (kL1) asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(p)::"memory");
    else asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(p)::"memory");
  };
#pragma unroll 1
  for (int i = 0; i < warm; ++i) hop();
  const long long start = begin_cycles();
#pragma unroll 8
  for (int i = 0; i < hops; ++i) hop();
  if (p == 1) *sink = 1;
  end_cycles(start, cycles);
}

u64 coprime_step(u64 lines) {
  u64 step = u64(double(lines) * 0.6180339887) | 1;
  const auto gcd = [](u64 a, u64 b) {
    while (b) {
      const u64 t = a % b;
      a = b, b = t;
    }
    return a;
  };
  while (step > 1 && gcd(step, lines) != 1) --step;
  return std::max<u64>(step, 1);
}

struct Chase {
  char* data;
  u32* sink;
  template <bool kL1>
  Samples run(size_t footprint, bool warm_l2) const {
    const u64 line = std::max<u64>(128, footprint >> 22), lines = footprint / line;
    link_lines<<<card().sms * 4, 256, 0, stream()>>>(data, lines, line, coprime_step(lines));
    const int warm = kL1 ? int(std::min<u64>(lines, 4096)) : 0;
    return cycles_of(5, 1, kHops, [&] {
      if (warm_l2) touch<<<card().sms, 256, 0, stream()>>>(data, lines, line, sink);
      else make_cold();
      chase<kL1><<<1, 1, 0, stream()>>>(data, warm, kHops, cycle_slots(), sink);
    });
  }
};

// Cycles of kLoads loads of one word from the L2 that wait for each other.
template <int kLoads>
__device__ long long chain_of(const char* p) {
  u64 q = u64(p);
  u32 v;
  const long long start = clock64();
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(q) : "memory");
    q += v == 1;  // never, but the next load has to wait for it
  }
  return clock64() - start + (q == 1);
}
// The difference of two lengths, so that it does not matter whether the clock waits for the last
// load. The first chain also brings the translation of the address.
__global__ void each_line(const char* data, int lines, long long* cycles, unsigned short* each) {
  const long long start = begin_cycles();
#pragma unroll 1
  for (int i = 0; i < lines; ++i) {
    const char* const p = data + size_t(i) * 4096 + size_t(mix(u32(i)) % 32) * 128;
    (void)chain_of<8>(p);
    const long long few = chain_of<8>(p), many = chain_of<24>(p);
    each[blockIdx.x * lines + i] = static_cast<unsigned short>((many - few) / 16);
  }
  end_cycles(start, cycles);
}

// Every 16th word holds the index of the next.
constexpr u32 kConstantWords = 16384;
__constant__ u32 constants[kConstantWords];
__global__ void chase_constant(int warm, int hops, long long* cycles, u32* sink) {
  u32 at = 0;
#pragma unroll 1
  for (int i = 0; i < warm; ++i) at = constants[at];
  const long long start = begin_cycles();
#pragma unroll 8
  for (int i = 0; i < hops; ++i) at = constants[at];
  if (at == 1) *sink = at;
  end_cycles(start, cycles);
}

}  // namespace

void latency() {
  const size_t most = 16 * kGiB;
  const Chase c{static_cast<char*>(device_memory(most)), static_cast<u32*>(device_memory(4))};
  const size_t kib[] = {4, 16, 32, 64, 96, 128, 160, 192, 208, 224, 240, 256, 288, 320, 512, 1024};
  {
    Curve l1("latency.l1_by_footprint", "bytes", "cycles",
             "one thread follows pointers, 128 bytes per line, loads that may hit the L1; warm");
    for (const size_t k : kib) l1.at(double(k * kKiB), c.run<true>(k * kKiB, true));
  }
  {
    Curve l2("latency.l2_by_footprint", "bytes", "cycles",
             "the same past the L1 (ld.global.cg), after all SMs touched every line");
    for (const size_t m :
         {1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 48, 56, 64, 80, 96, 128, 192, 256})
      l2.at(double(m * kMiB), c.run<false>(m * kMiB, true));
  }
  {
    Curve cold("latency.dram_by_footprint", "bytes", "cycles",
               "the same with a cold L2; large footprints also miss the translation of addresses");
    for (const size_t m : {1, 4, 16, 64, 256, 1024, 2048, 4096, 8192, 16384})
      cold.at(double(m * kMiB), c.run<false>(m * kMiB, false));
  }
  {
    constexpr int kLines = 1024;
    const auto each = static_cast<unsigned short*>(device_memory(size_t(card().sms) * kLines * 2));
    each_line<<<card().sms, 1, 0, stream()>>>(c.data, kLines, cycle_slots(), each);
    std::vector<unsigned short> host(size_t(card().sms) * kLines);
    CHECK(cudaMemcpyAsync(host.data(), each, host.size() * 2, cudaMemcpyDeviceToHost, stream()));
    CHECK(cudaStreamSynchronize(stream()));
    Samples first(host.begin(), host.begin() + kLines);
    std::sort(first.begin(), first.end());
    Curve lines("latency.l2_one_sm_by_share", "share of lines", "cycles",
                "one SM loads 1024 lines that are in the L2, one after the other; "
                "sorted, so that the near and the far partition show as two steps");
    for (int i = 0; i <= 20; ++i) lines.at(i / 20.0, {first[size_t(i) * (kLines - 1) / 20]});
    Curve sms("latency.l2_by_sm", "SM", "cycles", "the median of the same lines for each SM");
    for (int s = 0; s < card().sms; ++s)
      sms.at(s, Samples(host.begin() + s * kLines, host.begin() + (s + 1) * kLines));
  }
  {
    Curve constant("latency.constant_by_footprint", "bytes", "cycles",
                   "one thread follows indices in constant memory, 64 bytes apart; warm");
    for (const u32 words : {256u, 512u, 1024u, 2048u, 8192u, kConstantWords}) {
      std::vector<u32> next(words, 0);
      for (u32 i = 0; i < words; i += 16) next[i] = (i + 16) % words;
      CHECK(cudaMemcpyToSymbol(constants, next.data(), words * 4));
      constant.at(words * 4.0, cycles_of(5, 1, 1024, [&] {
                    chase_constant<<<1, 1, 0, stream()>>>(int(words / 16), 1024, cycle_slots(),
                                                          c.sink);
                  }));
    }
  }
}

}  // namespace measure
