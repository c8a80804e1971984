// malloc and free in kernels, alloca, and the heap's limit.
#include <utility>

#include "check.h"

struct Node {
  int value;
  Node* next;
};
__device__ Node* lists[64];

// One list per thread, kept from one kernel to the next.
__global__ void build(int length) {
  Node* head = nullptr;
  for (int i = 0; i < length; ++i) {
    Node* node = static_cast<Node*>(malloc(sizeof(Node)));
    if (!node) break;
    *node = {i, head};
    head = node;
  }
  lists[threadIdx.x] = head;
}
__global__ void consume(int* sums) {
  int sum = 0;
  for (Node* node = lists[threadIdx.x]; node;) {
    Node* next = node->next;
    sum += node->value;
    free(node);
    node = next;
  }
  sums[threadIdx.x] = sum;
}

__global__ void take(size_t bytes, int* got) {
  void* p = malloc(bytes);
  *got = p != nullptr;
  free(p);
}

__global__ void on_the_stack(int* sums) {
  int n = 1 + threadIdx.x % 7, sum = 0;
  int* numbers = static_cast<int*>(alloca(n * sizeof(int)));
  for (int i = 0; i < n; ++i) numbers[i] = i * threadIdx.x;
  for (int i = 0; i < n; ++i) sum += numbers[i];
  sums[threadIdx.x] = sum;
}

int main() {
  int* out;
  size_t limit = 0;
  RIDGE_CUDA(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20), cudaSuccess);
  RIDGE_CUDA(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize), cudaSuccess);
  RIDGE_CHECK(limit >= 64 << 20);
  RIDGE_CUDA(cudaMallocManaged(&out, 64 * sizeof(int)), cudaSuccess);
  build<<<1, 64>>>(100);
  consume<<<1, 64>>>(out);
  RIDGE_CUDA(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < 64; ++i) RIDGE_CHECK(out[i] == 99 * 100 / 2);
  for (const auto& [bytes, fits] : {std::pair<size_t, bool>{32 << 20, true}, {200 << 20, false}}) {
    take<<<1, 1>>>(bytes, out);
    RIDGE_CUDA(cudaDeviceSynchronize(), cudaSuccess);
    RIDGE_CHECK(out[0] == fits);
  }
  on_the_stack<<<1, 64>>>(out);
  RIDGE_CUDA(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < 64; ++i) RIDGE_CHECK(out[i] == i * (i % 7) * (i % 7 + 1) / 2);
  return failures != 0;
}
