// 01_hello: many threads run the same function, and each one can tell who it is.
//
// A launch `kernel<<<blocks, threads>>>` starts blocks x threads copies of the kernel. The copies
// differ only in two built-in variables: blockIdx says which block a thread is in, and threadIdx
// which thread of that block it is. Everything else in CUDA grows out of these two numbers.
#include <cstdio>

#include "common/args.h"
#include "common/check.h"

constexpr int kThreads = 4;

__global__ void hello(int* visitor) {
  const int me = blockIdx.x * blockDim.x + threadIdx.x;  // unique in the whole launch
  printf("hello from thread %d of block %d: I am number %d\n", int(threadIdx.x), int(blockIdx.x),
         me);
  visitor[me] = me;  // no two threads write the same element, so no lock is needed
}

int main(int argc, char** argv) {
  const Args args(argc, argv, {{"blocks", 3, 1, 64}});
  const int blocks = args.size(0);
  const int count = blocks * kThreads;

  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  printf("%d blocks of %d threads say hello on %s:\n", blocks, kThreads, device.name);
  fflush(stdout);  // the threads print next; keep this line before theirs

  int* visitor = nullptr;  // (count), managed memory: one pointer for the host and the device
  CHECK(cudaMallocManaged(&visitor, count * sizeof(int)));
  for (int i = 0; i < count; ++i) visitor[i] = -1;

  hello<<<blocks, kThreads>>>(visitor);
  CHECK(cudaGetLastError());       // could it start?
  CHECK(cudaDeviceSynchronize());  // it runs on its own: wait for it, and for what it prints

  for (int i = 0; i < count; ++i) {
    if (visitor[i] != i) return fail("thread %d left %d in its place", i, visitor[i]);
  }
  CHECK(cudaFree(visitor));
  printf("all %d threads ran, each exactly where it said\n", count);
  return 0;
}
