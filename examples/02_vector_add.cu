// 02_vector_add: one thread per element, and the five steps every CUDA program takes.
//
// 1 allocate on the device, 2 copy in, 3 launch, 4 copy out, 5 free. The kernel has no loop: the
// loop of the CPU version has become the launch.
#include <cstdio>
#include <random>
#include <vector>

#include "common/args.h"
#include "common/check.h"

constexpr int kBlock = 256;

__global__ void vector_add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];  // the last block has more threads than there are elements left
}

int main(int argc, char** argv) {
  // The default is no multiple of the block size, so that the test in the kernel matters.
  const Args args(argc, argv, {{"n", 1000003, 1, 1 << 28}});
  const int n = args.size(0);
  const size_t bytes = n * sizeof(float);

  std::vector<float> a(n), b(n), c(n);
  std::mt19937 random(1);  // a fixed seed: every run is the same run
  for (int i = 0; i < n; ++i) {
    a[i] = float(random() >> 8) * 0x1p-24f;  // 24 random bits: exact in a float, in [0, 1)
    b[i] = float(random() >> 8) * 0x1p-24f;
  }

  float *device_a = nullptr, *device_b = nullptr, *device_c = nullptr;  // (n) each
  CHECK(cudaMalloc(&device_a, bytes));
  CHECK(cudaMalloc(&device_b, bytes));
  CHECK(cudaMalloc(&device_c, bytes));
  CHECK(cudaMemcpy(device_a, a.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(device_b, b.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(device_c, 0xff, bytes));  // all NaN: an element nobody writes shows up

  const int blocks = ceil_div(n, kBlock);
  vector_add<<<blocks, kBlock>>>(device_a, device_b, device_c, n);
  CHECK(cudaGetLastError());

  CHECK(cudaMemcpy(c.data(), device_c, bytes, cudaMemcpyDeviceToHost));  // waits for the kernel
  CHECK(cudaFree(device_a));
  CHECK(cudaFree(device_b));
  CHECK(cudaFree(device_c));

  for (int i = 0; i < n; ++i) {
    const float want = a[i] + b[i];
    // Tolerance 0: one addition has one correctly rounded answer, on any device.
    if (!is_close(c[i], want, 0.0)) return fail("c[%d] is %.9g, expected %.9g", i, c[i], want);
  }
  printf("added %d numbers with %d blocks of %d threads; %d threads of the last block were idle\n",
         n, blocks, kBlock, blocks * kBlock - n);
  printf("c[0] = %g + %g = %g; all %d sums are exact\n", a[0], b[0], c[0], n);
  return 0;
}
