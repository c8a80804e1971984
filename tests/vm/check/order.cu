// Without a race, and yet right only under one order: PROGRAM blocks|warps [fixed].
#include <cstdio>
#include <cstring>

constexpr int kBlocks = 8, kWarps = 4;

__global__ void by_ticket(int* out, unsigned* next, int fixed) {
  if (threadIdx.x) return;
  const unsigned ticket = atomicAdd(next, 1u);  // who comes first is not said anywhere
  out[fixed ? blockIdx.x : ticket] = int(blockIdx.x);
}

__global__ void by_warp(int* out, unsigned* next, int fixed) {
  if (threadIdx.x % 32) return;
  const unsigned ticket = atomicAdd(next, 1u);
  out[fixed ? threadIdx.x / 32 : ticket] = int(threadIdx.x / 32);
}

int main(int argc, char** argv) {
  const int fixed = argc > 2;
  int *out, host[kBlocks];
  unsigned* next;
  cudaMalloc(&out, sizeof host);
  cudaMalloc(&next, sizeof *next);
  cudaMemset(out, 0, sizeof host);
  cudaMemset(next, 0, sizeof *next);
  if (argc > 1 && !std::strcmp(argv[1], "warps")) by_warp<<<1, 32 * kWarps>>>(out, next, fixed);
  else by_ticket<<<kBlocks, 32>>>(out, next, fixed);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  for (const int x : host) std::printf("%d ", x);
  std::printf("\n");
  cudaFree(out);
  cudaFree(next);
}
