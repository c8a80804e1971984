// What the benchmark programs share: error checks, inputs and the loop that is timed.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                        \
  do {                                                                                     \
    const cudaError_t error_ = (call);                                                     \
    if (error_ != cudaSuccess) {                                                           \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error_)); \
      std::exit(4);                                                                        \
    }                                                                                      \
  } while (0)

template <class T>
T* device_copy(const std::vector<T>& host) {
  T* p = nullptr;
  CHECK(cudaMalloc(&p, host.size() * sizeof(T)));
  CHECK(cudaMemcpy(p, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  return p;
}
std::vector<float> random_floats(size_t n, uint32_t seed) {
  std::vector<float> v(n);
  for (float& x : v) x = float((seed = seed * 1664525u + 1013904223u) >> 8) * 0x1p-24f;
  return v;
}
// Normally distributed, by twelve uniform ones each.
std::vector<float> normal_floats(size_t n, uint32_t seed) {
  const auto uniform = random_floats(12 * n, seed);
  std::vector<float> v(n, -6.0f);
  for (size_t i = 0; i < uniform.size(); ++i) v[i / 12] += uniform[i];
  return v;
}
[[noreturn]] void wrong(const char* what, int at) {
  std::fprintf(stderr, "%s: wrong result at %d\n", what, at);
  std::exit(1);
}

// Prints the seconds of each repeat.
template <class Launch>
void time_launches(int repeats, Launch launch) {
  for (int r = 0; r < repeats; ++r) {
    const auto start = std::chrono::steady_clock::now();
    launch();
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    std::printf("%.9f\n",
                std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
}
