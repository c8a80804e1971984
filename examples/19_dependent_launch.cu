// 19_dependent_launch: a kernel that begins while the one before it still runs.
//
// Kernels of a stream run one after the other. Between two of them the GPU drains: the last blocks
// of the first kernel keep a few multiprocessors busy, and nobody uses the rest. And most kernels
// begin with work that needs nothing from the kernel before: they compute indices, fill tables, set
// up barriers. *Programmatic dependent launch* (Hopper, sm_90) lets that part overlap. It takes
// three steps.
//
// 1. The first kernel says when the next one may begin: cudaTriggerProgrammaticLaunchCompletion().
//    It counts when every block has called it or has ended.
// 2. The second kernel is launched with an attribute: programmaticStreamSerializationAllowed.
// 3. The second kernel waits before it touches anything of the first one's:
//    cudaGridDependencySynchronize() returns when the first kernel has ended, and all that it wrote
//    is visible.
//
// The trigger says nothing about memory, not even about what was written before it. Try it: without
// step 3 the sums are wrong, and `ridge check` names the line that needs the wait.
//
// Overlap is allowed, never promised. So this program counts how often it happened, but its result
// does not depend on it.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "common/args.h"
#include "common/check.h"

constexpr int kBlock = 256;
constexpr int kTable = 256;
constexpr int kRounds = 8;

// What happens is numbered in the order in which it happens.
struct Order {
  int next;
  int first_ends;     // the last block of the first kernel
  int second_begins;  // the first block of the second kernel
  int wait_returns;   // in that block
};

// Writes one byte per thread: a cheap random number.
__global__ void make_bytes(unsigned char* bytes, int n, unsigned seed, Order* order) {
  cudaTriggerProgrammaticLaunchCompletion();  // from here on the next kernel may begin
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i < n) {
    unsigned x = seed * 2654435761u + unsigned(i);
    for (int k = 0; k < 8; ++k) x = (x ^ x >> 15) * 2246822519u;
    bytes[i] = (unsigned char)(x >> 24);
  }
  if (threadIdx.x == 0) atomicMax(&order->first_ends, atomicAdd(&order->next, 1));
}

// Counts the one bits of all bytes, with a table of the bits of each byte.
__global__ void count_bits(const unsigned char* bytes, int n, unsigned long long* bits,
                           Order* order) {
  // The prologue: it needs nothing from the kernel before.
  __shared__ int bits_of[kTable];
  if (blockIdx.x == 0 && threadIdx.x == 0) order->second_begins = atomicAdd(&order->next, 1);
  for (int b = threadIdx.x; b < kTable; b += kBlock) bits_of[b] = __popc(unsigned(b));
  __syncthreads();

  cudaGridDependencySynchronize();  // now the bytes are there
  if (blockIdx.x == 0 && threadIdx.x == 0) order->wait_returns = atomicAdd(&order->next, 1);
  const int i = blockIdx.x * kBlock + threadIdx.x;
  int mine = i < n ? bits_of[bytes[i]] : 0;
  for (int offset = 16; offset > 0; offset /= 2) mine += __shfl_down_sync(~0u, mine, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(bits, (unsigned long long)mine);
}

int main(int argc, char** argv) {
  const Args args(argc, argv, {{"n", 1 << 18, 1, 1 << 28}});
  const int n = args.size(0);
  const int blocks = ceil_div(n, kBlock);

  unsigned char* bytes = nullptr;
  unsigned long long* bits = nullptr;  // (kRounds)
  Order* order = nullptr;              // (kRounds)
  CHECK(cudaMalloc(&bytes, n));
  CHECK(cudaMalloc(&bits, kRounds * sizeof(*bits)));
  CHECK(cudaMalloc(&order, kRounds * sizeof(*order)));
  CHECK(cudaMemset(bits, 0, kRounds * sizeof(*bits)));
  CHECK(cudaMemset(order, 0, kRounds * sizeof(*order)));

  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks;
  config.blockDim = kBlock;
  config.attrs = &early;
  config.numAttrs = 1;

  for (int round = 0; round < kRounds; ++round) {
    // This one has no attribute: it overwrites the bytes, so it must not begin while the kernel
    // before it still reads them.
    make_bytes<<<blocks, kBlock>>>(bytes, n, unsigned(round), order + round);
    CHECK(cudaGetLastError());
    CHECK(cudaLaunchKernelEx(&config, count_bits, (const unsigned char*)bytes, n, bits + round,
                             order + round));
  }

  std::vector<unsigned long long> counted(kRounds);
  std::vector<Order> seen(kRounds);
  CHECK(cudaMemcpy(counted.data(), bits, kRounds * sizeof(*bits), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(seen.data(), order, kRounds * sizeof(*order), cudaMemcpyDeviceToHost));

  int overlaps = 0;
  for (int round = 0; round < kRounds; ++round) {
    unsigned long long want = 0;
    for (int i = 0; i < n; ++i) {
      unsigned x = unsigned(round) * 2654435761u + unsigned(i);
      for (int k = 0; k < 8; ++k) x = (x ^ x >> 15) * 2246822519u;
      want += (unsigned long long)__builtin_popcount(x >> 24);
    }
    if (counted[round] != want)
      return fail("round %d: %llu bits, not %llu", round, counted[round], want);
    if (seen[round].wait_returns < seen[round].first_ends)
      return fail("round %d: the wait returned before the first kernel had ended", round);
    overlaps += seen[round].second_begins < seen[round].first_ends;
  }
  std::printf("%d rounds of two kernels, %d bytes each: all counts are right\n", kRounds, n);
  std::printf("the second kernel began before the first had ended: %d of %d times\n", overlaps,
              kRounds);

  CHECK(cudaFree(bytes));
  CHECK(cudaFree(bits));
  CHECK(cudaFree(order));
  return 0;
}
