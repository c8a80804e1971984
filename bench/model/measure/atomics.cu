// Atomics on global memory: how many a second, by type, by how many addresses they go to.
#include "measure.h"

#include <cuda_fp16.h>

namespace measure {
namespace {

constexpr int kThreads = 256, kEach = 8;
enum class Pattern { random, per_warp, coalesced, per_block };

// The index is computed so that the compiler cannot see that lanes share an address: otherwise it
// would add them up first.
template <class T, bool kReturn, class Add>
__device__ void run(T* data, Pattern pattern, u32 spread, u32* sink, Add add_one) {
  const u32 thread = blockIdx.x * kThreads + threadIdx.x;
  bool seen = false;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const u32 salt = u32(i) * gridDim.x * kThreads;
    const u32 at = pattern == Pattern::random      ? mix(thread + salt) % spread
                   : pattern == Pattern::per_warp  ? mix(thread / 32 + salt) % spread
                   : pattern == Pattern::per_block ? mix(blockIdx.x + salt) % spread
                                                   : (thread + salt) % spread;
    seen |= add_one(data + at);
  }
  if (kReturn && seen) *sink = 1;
}

template <class T, bool kReturn>
__global__ void adds(T* data, Pattern pattern, u32 spread, u32* sink) {
  run<T, kReturn>(data, pattern, spread, sink, [](T* p) {
    if constexpr (kReturn) return atomicAdd(p, T(1)) == T(-1);
    else return atomicAdd(p, T(1)), false;
  });
}
__global__ void halves(__half2* data, Pattern pattern, u32 spread, u32* sink) {
  run<__half2, false>(data, pattern, spread, sink,
                      [](__half2* p) { return atomicAdd(p, __half2(1, 1)), false; });
}
__global__ void maxima(u32* data, Pattern pattern, u32 spread, u32* sink) {
  run<u32, false>(data, pattern, spread, sink,
                  [](u32* p) { return atomicMax(p, threadIdx.x), false; });
}
__global__ void swaps(u32* data, Pattern pattern, u32 spread, u32* sink) {
  run<u32, true>(data, pattern, spread, sink, [](u32* p) { return atomicCAS(p, 0u, 1u) == 7; });
}

template <class T>
__global__ void chain(T* data, int hops, long long* cycles, u32* sink) {
  T x = 0;
  const long long start = begin_cycles();
#pragma unroll 1
  for (int i = 0; i < hops; ++i) x = atomicAdd(data + (x == T(-1)), T(1));
  if (x == T(-2)) *sink = 1;
  end_cycles(start, cycles);
}

void* data;
u32* sink;

template <class T, class Kernel>
void patterns(const std::string& name, Kernel kernel) {
  const int blocks = card().sms * 8;
  const double lanes = double(blocks) * kThreads * kEach;
  const auto measured = [&](Pattern pattern, u32 spread) {
    const double few = pattern != Pattern::coalesced && spread == 1 ? 0.25 : 1;  // slow enough
    return rate(time_us(5,
                        [&] {
                          kernel<<<unsigned(blocks * few), kThreads, 0, stream()>>>(
                              static_cast<T*>(data), pattern, spread, sink);
                        }),
                lanes * few / 1e3);
  };
  {
    Curve curve("atomic." + name + "_by_addresses", "addresses", "G lane operations/s",
                "each lane at a random one of so many neighbouring words; all SMs; hot");
    for (const u32 spread : {1u, 2u, 4u, 16u, 64u, 256u, 1024u, 16384u, 262144u, 4194304u})
      curve.at(spread, measured(Pattern::random, spread));
  }
  {
    Curve curve("atomic." + name + "_per_warp_by_addresses", "addresses", "G lane operations/s",
                "all lanes of a warp at one address, each warp at a random one");
    for (const u32 spread : {1u, 64u, 1024u, 262144u})
      curve.at(spread, measured(Pattern::per_warp, spread));
  }
  add("atomic." + name + "_coalesced", measured(Pattern::coalesced, 4194304), "G lane operations/s",
      "neighbouring lanes at neighbouring words of 4 Mi words");
}

// One lane of every warp, as after a reduction in the warp.
template <class T>
__global__ void one_lane(T* data, u32 spread) {
  const u32 warp = (blockIdx.x * kThreads + threadIdx.x) / 32;
  if (threadIdx.x % 32 == 0)
#pragma unroll
    for (int i = 0; i < kEach; ++i) atomicAdd(data + mix(warp + u32(i) * gridDim.x) % spread, T(1));
}
template <class T>
void lanes_alone(const std::string& name) {
  Curve curve("atomic." + name + "_one_lane_by_addresses", "addresses", "G operations/s",
              "one lane of each warp, at a random one of so many neighbouring words");
  const int blocks = card().sms * 8;
  for (const u32 spread : {1u, 16u, 256u, 16384u, 1048576u})
    curve.at(spread, rate(time_us(5,
                                  [&] {
                                    one_lane<T><<<blocks, kThreads, 0, stream()>>>(
                                        static_cast<T*>(data), spread);
                                  }),
                          double(blocks) * kThreads / 32 * kEach / 1e3));
}

}  // namespace

void atomics() {
  data = device_memory(64 << 20);
  sink = static_cast<u32*>(device_memory(4));
  CHECK(cudaMemsetAsync(data, 0, 64 << 20, stream()));
  patterns<u32>("red_u32", adds<u32, false>);
  patterns<u32>("atom_u32", adds<u32, true>);
  patterns<float>("red_f32", adds<float, false>);
  patterns<u64>("red_u64", adds<u64, false>);
  if (card().arch >= 600) patterns<double>("red_f64", adds<double, false>);
  if (card().arch >= 600) patterns<__half2>("red_f16x2", halves);
  patterns<u32>("max_u32", maxima);
  patterns<u32>("cas_u32", swaps);
  lanes_alone<u32>("red_u32");
  lanes_alone<float>("red_f32");
  CHECK(cudaMemsetAsync(data, 0, 64 << 20, stream()));
  const auto latency = [&]<class T>(const char* name) {
    add(name,
        cycles_of(5, 1, 256,
                  [&] {
                    chain<T>
                        <<<1, 1, 0, stream()>>>(static_cast<T*>(data), 256, cycle_slots(), sink);
                  }),
        "cycles", "one thread, each operation after the one before has returned");
  };
  latency.operator()<u32>("atomic.latency_u32");
  latency.operator()<float>("atomic.latency_f32");
  latency.operator()<u64>("atomic.latency_u64");
}

}  // namespace measure
