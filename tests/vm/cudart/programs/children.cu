// Dynamic parallelism: grids launched by kernels, in streams, fire-and-forget and as tails.
#include "check.h"

// Sorts [begin, end): the smaller part and the larger one each by a child.
__global__ void quicksort(int* data, int begin, int end, int depth) {
  if (end - begin < 16 || depth == 16) {
    for (int i = begin + 1; i < end; ++i)
      for (int j = i; j > begin && data[j - 1] > data[j]; --j) {
        const int t = data[j];
        data[j] = data[j - 1];
        data[j - 1] = t;
      }
    return;
  }
  const int pivot = data[(begin + end) / 2];
  int low = begin, high = end - 1;
  while (low <= high) {
    while (data[low] < pivot) ++low;
    while (data[high] > pivot) --high;
    if (low > high) break;
    const int t = data[low];
    data[low++] = data[high];
    data[high--] = t;
  }
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  quicksort<<<1, 1, 0, stream>>>(data, begin, high + 1, depth + 1);
  cudaStreamDestroy(stream);
  quicksort<<<1, 1, 0, cudaStreamFireAndForget>>>(data, low, end, depth + 1);
}

__device__ int total;
__global__ void add(int value) { atomicAdd(&total, value); }
__global__ void store(int* out, const int* scale) { out[blockIdx.x] = total * *scale; }

__global__ void parent(int* out, int* scratch) {
  if (threadIdx.x == 0) {
    scratch[1] = 3;
    store<<<2, 1, 0, cudaStreamTailLaunch>>>(out, scratch);
    cudaMemcpyAsync(scratch, scratch + 1, sizeof(int), cudaMemcpyDeviceToDevice, 0);
  }
  add<<<2, 64>>>(blockIdx.x + 1);  // every thread
}

__global__ void mistakes(int* codes) {
  add<<<1, 4096>>>(1);
  codes[0] = cudaPeekAtLastError();
  codes[1] = cudaGetLastError();
  codes[2] = cudaGetLastError();
  int device = -1, count = -1;
  codes[3] = cudaGetDevice(&device) == cudaSuccess && device == 0 &&
             cudaGetDeviceCount(&count) == cudaSuccess && count == 1;
  char* memory = nullptr;
  codes[4] = cudaMalloc(&memory, 100) == cudaSuccess;
  memory[99] = 1;
  codes[5] = cudaFree(memory) == cudaSuccess;
  codes[6] = cudaGetErrorString(cudaErrorInvalidValue)[0] == 'i';
}

int main() {
  constexpr int n = 1000;
  int* data;
  RIDGE_CUDA(cudaMallocManaged(&data, n * sizeof(int)), cudaSuccess);
  for (int i = 0; i < n; ++i) data[i] = (i * 7919) % 1009;
  quicksort<<<1, 1>>>(data, 0, n, 0);
  RIDGE_CUDA(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 1; i < n; ++i) RIDGE_CHECK(data[i - 1] <= data[i]);

  for (int i = 0; i < 4; ++i) data[i] = 0;
  parent<<<3, 32>>>(data, data + 2);
  RIDGE_CUDA(cudaDeviceSynchronize(), cudaSuccess);
  // The three blocks' threads add 1, 2 and 3, each with 128 threads; the tails see it all.
  RIDGE_CHECK(data[0] == (1 + 2 + 3) * 32 * 128 * 3);
  RIDGE_CHECK(data[1] == data[0]);

  mistakes<<<1, 1>>>(data);
  RIDGE_CUDA(cudaDeviceSynchronize(), cudaSuccess);
  RIDGE_CHECK(data[0] != cudaSuccess);
  RIDGE_CHECK(data[1] == data[0]);
  RIDGE_CHECK(data[2] == cudaSuccess);
  for (int i = 3; i < 7; ++i) RIDGE_CHECK(data[i] == 1);
  return failures != 0;
}
