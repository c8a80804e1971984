// 11_scan_with_a_functor: a recurrence, x[i] = a[i] x[i - 1] + b[i], without waiting for x[i - 1].
//
// Each step is a function, x -> a x + b, and two steps after one another are such a function again:
// a number pair like the first two. Composing functions is associative, (f g) h = f (g h), and that
// is all a scan asks for. So the compositions of all prefixes come out of one parallel scan, and
// applied to the first x they give every x[i] at once. The order of f and g matters: the operator
// does not commute, and the scan must never swap two neighbours.
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "common/args.h"
#include "common/check.h"
#include "ridge/scan.cuh"

// x -> a x + b, in unsigned arithmetic: it wraps around, so every result is exact.
struct Step {
  uint32_t a, b;
};

struct Then {
  __host__ __device__ Step identity() const { return {1, 0}; }
  __host__ __device__ Step operator()(const Step& first, const Step& second) const {
    return {second.a * first.a, second.a * first.b + second.b};
  }
};

constexpr int kBlock = 256;

__global__ void apply(const Step* steps, int n, uint32_t x, uint32_t* out) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i < n) out[i] = steps[i].a * x + steps[i].b;
}

int main(int argc, char** argv) {
  const Args args(argc, argv, {{"n", 1000003, 1, 1 << 28}});
  const int n = args.size(0);
  const uint32_t start = 12345;
  std::vector<Step> steps(n);
  std::mt19937 random(1);
  for (Step& step : steps) step = {uint32_t(random()) | 1, uint32_t(random())};  // no a is even

  Step* device_steps = nullptr;  // (n)
  uint32_t* device_x = nullptr;  // (n)
  void* workspace = nullptr;
  const size_t workspace_bytes = ridge::scan_workspace<Step>(n);
  CHECK(cudaMalloc(&device_steps, n * sizeof(Step)));
  CHECK(cudaMalloc(&device_x, n * sizeof(uint32_t)));
  CHECK(cudaMalloc(&workspace, workspace_bytes));
  CHECK(cudaMemcpy(device_steps, steps.data(), n * sizeof(Step), cudaMemcpyHostToDevice));
  // In place: afterwards device_steps[i] does steps 0 to i at once.
  const ridge::Status status =
      ridge::inclusive_scan(device_steps, device_steps, n, Then(), workspace, workspace_bytes);
  if (!status) {
    fprintf(stderr, "%s\n", status.message().c_str());
    return 4;
  }
  apply<<<ceil_div(n, kBlock), kBlock>>>(device_steps, n, start, device_x);
  CHECK(cudaGetLastError());
  std::vector<uint32_t> x(n);
  CHECK(cudaMemcpy(x.data(), device_x, n * sizeof(uint32_t), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device_steps));
  CHECK(cudaFree(device_x));
  CHECK(cudaFree(workspace));

  uint32_t want = start;
  for (int i = 0; i < n; ++i) {
    want = steps[i].a * want + steps[i].b;
    if (x[i] != want) return fail("x[%d] is %u, expected %u", i, x[i], want);
  }
  printf("%d steps of x -> a x + b, each with its own a and b, from x = %u\n", n, start);
  printf("  after the first   %10u\n  after all of them %10u\n", x[0], x[n - 1]);
  printf("every x is the one that a loop finds, step by step\n");
  return 0;
}
