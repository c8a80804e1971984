// Times ordinary kernels, or launches each of them once for a profiler.
//
//   programs list            names, one per line
//   programs once [NAME…]    one launch of each; all without a name
//   programs time [NAME…]    JSON: µs cold, hot, and per launch of a graph
//   programs check [NAME…]   whether those that can be checked are right, at a small size
#include "programs.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace programs {
namespace {

#define CHECK(call)                                                                              \
  do {                                                                                           \
    if (const cudaError_t e = (call); e != cudaSuccess) {                                        \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(e)); \
      std::exit(1);                                                                              \
    }                                                                                            \
  } while (0)

__host__ __device__ unsigned mix(unsigned x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}
template <class T>
__global__ void fill_unit(T* out, int n, unsigned seed) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[i] = T(mix(unsigned(i) + seed) >> 8) * T(1.0 / (1 << 24));
}
__global__ void fill_index(int* index, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    index[i] = int(mix(unsigned(i) + 7) % unsigned(n));
}
__global__ void fill_bytes(unsigned char* bytes, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    bytes[i] =
        (unsigned char)("etaoin shrdluTAOINcm"[mix(unsigned(i) + 3) % 20] + mix(unsigned(i)) % 3);
}

template <class T>
T* device_array(size_t count) {
  void* data = nullptr;
  CHECK(cudaMalloc(&data, count * sizeof(T)));
  return static_cast<T*>(data);
}

// Every program starts from the same values, whatever the one before wrote.
void reset(const Buffers& b) {
  fill_unit<<<512, 256>>>(b.a, 4 * kElements, 1);
  fill_unit<<<512, 256>>>(b.b, 4 * kElements, 2);
  fill_unit<<<512, 256>>>(b.c, 4 * kElements, 3);
  fill_unit<<<512, 256>>>(b.da, kElements, 4);
  fill_unit<<<512, 256>>>(b.db, kElements, 5);
  fill_unit<<<512, 256>>>(b.dc, kElements, 6);
  fill_index<<<512, 256>>>(b.index, kElements);
  fill_bytes<<<512, 256>>>(b.bytes, 4 * kElements);
  CHECK(cudaMemset(b.counts, 0, kElements * sizeof(unsigned)));
  CHECK(cudaDeviceSynchronize());
}

void copy(const Buffers& to, const Buffers& from) {
  const auto array = [](auto* out, const auto* in, size_t count) {
    CHECK(cudaMemcpy(out, in, count * sizeof *in, cudaMemcpyDeviceToDevice));
  };
  const size_t n = kElements;
  for (float* Buffers::*one : {&Buffers::a, &Buffers::b, &Buffers::c})
    array(to.*one, from.*one, 4 * n);
  for (double* Buffers::*one : {&Buffers::da, &Buffers::db, &Buffers::dc})
    array(to.*one, from.*one, n);
  array(to.index, from.index, n);
  array(to.bytes, from.bytes, 4 * n);
  array(to.counts, from.counts, n);
}

Buffers make_buffers() {
  const size_t n = kElements;
  return {device_array<float>(4 * n), device_array<float>(4 * n),
          device_array<float>(4 * n), device_array<double>(n),
          device_array<double>(n),    device_array<double>(n),
          device_array<int>(n),       device_array<unsigned char>(4 * n),
          device_array<unsigned>(n)};
}

constexpr int kSamples = 15;

template <class Before, class Work>
std::vector<float> time_us(cudaStream_t stream, Before before, Work work) {
  static cudaEvent_t begin = nullptr, end = nullptr;
  if (!begin) {
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
  }
  std::vector<float> samples;
  for (int i = -2; i < kSamples; ++i) {
    before();
    CHECK(cudaEventRecord(begin, stream));
    work();
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaEventSynchronize(end));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    if (i >= 0) samples.push_back(ms * 1e3f);
  }
  std::sort(samples.begin(), samples.end());
  return samples;
}

void print(const char* name, const std::vector<float>& us) {
  std::printf("\"%s\": %.3f, \"%s_q1\": %.3f, \"%s_q3\": %.3f", name, us[kSamples / 2], name,
              us[kSamples / 4], name, us[kSamples * 3 / 4]);
}

}  // namespace
}  // namespace programs

int main(int argc, char** argv) {
  using namespace programs;
  std::vector<Program> all;
  add_streaming(all);
  add_stencils(all);
  add_matrices(all);
  add_collective(all);
  add_arithmetic(all);
  add_irregular(all);
  int major = 0;
  CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  if (major == 9) {
    add_hopper_copies(all);
    add_hopper_products(all);
  }
  const std::string verb = argc > 1 ? argv[1] : "";
  if (verb == "list") {
    for (const Program& p : all) std::puts(p.name);
    return 0;
  }
  if (verb != "once" && verb != "time" && verb != "check") {
    std::fprintf(stderr,
                 "usage: programs list | once [NAME...] | time [NAME...] | check [NAME...]\n");
    return 2;
  }
  std::vector<Program> chosen;
  for (const Program& p : all)
    if (argc == 2 ||
        std::any_of(argv + 2, argv + argc, [&](const char* a) { return !std::strcmp(a, p.name); }))
      chosen.push_back(p);
  if (argc > 2 && chosen.size() != size_t(argc - 2)) {
    std::fprintf(
        stderr,
        "programs: not all of these names are known; `programs list` prints those that are\n");
    return 2;
  }
  const Buffers buffers = make_buffers();
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  reset(buffers);
  if (verb == "once") {
    const Buffers kept = make_buffers();
    copy(kept, buffers);
    for (const Program& p : chosen) {
      copy(buffers, kept);
      CHECK(cudaDeviceSynchronize());  // the stream does not wait for copies within the device
      p.launch(buffers, stream);
      CHECK(cudaStreamSynchronize(stream));
    }
    return 0;
  }
  if (verb == "check") {
    int wrong = 0;
    for (const Program& p : chosen)
      if (p.check) {
        reset(buffers);
        const bool is_right = p.check(buffers, stream);
        std::printf("%s: %s\n", p.name, is_right ? "right" : "WRONG");
        std::fflush(stdout);
        wrong += !is_right;
      }
    return wrong != 0;
  }
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  const size_t flush_bytes = 2 * size_t(device.l2CacheSize);
  char* const flush = device_array<char>(flush_bytes);
  std::printf("{");
  for (const Program& p : chosen) {
    reset(buffers);
    const auto launch = [&] {
      p.launch(buffers, stream);
      CHECK(cudaGetLastError());
    };
    std::printf("%s\n  \"%s\": {\"what\": \"%s\", ", &p == &chosen.front() ? "" : ",", p.name,
                p.what);
    const auto cold = time_us(
        stream, [&] { CHECK(cudaMemsetAsync(flush, 1, flush_bytes, stream)); }, launch);
    print("cold_us", cold);
    std::printf(", ");
    print("hot_us", time_us(
                        stream, [] {}, launch));
    // Short kernels as the harness times them: many launches in a graph.
    constexpr int kLaunches = 32;
    if (cold[kSamples / 2] < 100) {
      CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
      for (int i = 0; i < kLaunches; ++i) launch();
      cudaGraph_t graph;
      CHECK(cudaStreamEndCapture(stream, &graph));
      cudaGraphExec_t exec;
      CHECK(cudaGraphInstantiate(&exec, graph, 0));
      auto us = time_us(
          stream, [] {}, [&] { CHECK(cudaGraphLaunch(exec, stream)); });
      for (float& x : us) x /= kLaunches;
      std::printf(", ");
      print("graph_us", us);
      CHECK(cudaGraphExecDestroy(exec));
      CHECK(cudaGraphDestroy(graph));
    }
    std::printf("}");
    std::fflush(stdout);
  }
  std::printf("\n}\n");
  return 0;
}
