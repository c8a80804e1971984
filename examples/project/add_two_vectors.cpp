// add_two_vectors: calls the library from a plain C++ program, with memory and a stream of its own.
#include <cuda_runtime.h>
#include <ridge/elementwise.h>

#include <cstdio>
#include <vector>

int main() {
  const int n = 1 << 20;
  std::vector<float> a(n, 1.5f), b(n, 2.25f), sum(n);
  float *da, *db, *dsum;
  cudaStream_t stream;
  if (cudaMalloc(&da, n * sizeof(float)) || cudaMalloc(&db, n * sizeof(float)) ||
      cudaMalloc(&dsum, n * sizeof(float)) || cudaStreamCreate(&stream)) {
    std::fprintf(stderr, "no device memory\n");
    return 4;
  }
  cudaMemcpyAsync(da, a.data(), n * sizeof(float), cudaMemcpyHostToDevice, stream);
  cudaMemcpyAsync(db, b.data(), n * sizeof(float), cudaMemcpyHostToDevice, stream);

  using ridge::Dtype;
  const ridge::Status status =
      ridge::add({da, Dtype::f32, {n}}, {db, Dtype::f32, {n}}, {dsum, Dtype::f32, {n}}, stream);
  if (!status) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    return 1;
  }
  cudaMemcpyAsync(sum.data(), dsum, n * sizeof(float), cudaMemcpyDeviceToHost, stream);
  if (cudaStreamSynchronize(stream) != cudaSuccess) return 4;
  for (float x : sum)
    if (x != 3.75f) return 1;
  std::printf("%d sums, all right\n", n);
  return 0;
}
