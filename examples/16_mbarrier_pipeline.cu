// 16_mbarrier_pipeline: one warp fetches, the others compute, and two barriers per stage keep them
// apart.
//
// 08_streams overlaps copies with kernels. Here the same happens inside a block. Shared memory
// holds a ring of stages. The *producer*, one thread of the first warp, asks the copy engine for
// chunk after chunk. The *consumers*, all other warps, add up what has arrived. Each stage has two
// mbarriers:
//   full[s]   ends its phase when the chunk's bytes are there: consumers wait for it
//   empty[s]  ends its phase when all consumers have arrived: the producer waits for it, and only
//             then asks for the next chunk of that stage
// An mbarrier is used again and again, one phase after the other. Whoever waits names the parity of
// the phase: the first use of a stage is phase 0, the second phase 1, the third phase 0 again. The
// wait for `empty` in the first round is the one trick: no consumer has arrived yet, but the wait
// must pass. Waiting for the parity of the phase *before* the first one does that.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "common/args.h"
#include "common/check.h"

constexpr int kStages = 4;
constexpr int kChunk = 2048;  // floats: 8 KB
constexpr int kWarp = 32, kConsumers = 4 * kWarp, kThreads = kWarp + kConsumers;

__device__ uint32_t shared_address(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }

__device__ void init(uint64_t* barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals)
               : "memory");
}
__device__ void arrive(uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}
// Arrives, and makes the phase wait for so many bytes.
__device__ void arrive_and_expect(uint64_t* barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(bytes)
               : "memory");
}
// Returns when the phase of this parity is over.
__device__ void wait(uint64_t* barrier, uint32_t parity) {
  uint32_t done = 0;
  while (!done)
    asm volatile(
        "{\n.reg .pred p;\n"
        "mbarrier.try_wait.parity.shared.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(shared_address(barrier)), "r"(parity)
        : "memory");
}
// A run of bytes, a multiple of 16; the engine tells the barrier when they are there.
__device__ void bulk_load(float* to, const float* from, uint32_t bytes, uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}

// sums[b] = the squares of block b's chunks, added up. `chunks` is how many there are in all.
__global__ void __launch_bounds__(kThreads)
    sum_of_squares(const float* numbers, int chunks, float* sums) {
  __shared__ __align__(128) float ring[kStages][kChunk];
  __shared__ uint64_t full[kStages], empty[kStages];
  __shared__ float partial[kConsumers / kWarp];
  const int mine = (chunks - int(blockIdx.x) + int(gridDim.x) - 1) / int(gridDim.x);

  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      init(&full[s], 1);            // the producer
      init(&empty[s], kConsumers);  // every consumer
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();

  if (threadIdx.x < kWarp) {  // the producer
    if (threadIdx.x == 0) {
      for (int k = 0; k < mine; ++k) {
        const int stage = k % kStages, round = k / kStages;
        wait(&empty[stage], uint32_t(round + 1) & 1);  // round 0: of the phase before the first
        arrive_and_expect(&full[stage], sizeof ring[stage]);
        const int64_t chunk = blockIdx.x + int64_t(k) * gridDim.x;
        bulk_load(ring[stage], numbers + chunk * kChunk, sizeof ring[stage], &full[stage]);
      }
    }
  } else {  // a consumer
    const int t = int(threadIdx.x) - kWarp;
    float sum = 0;
    for (int k = 0; k < mine; ++k) {
      const int stage = k % kStages, round = k / kStages;
      wait(&full[stage], uint32_t(round) & 1);
      for (int i = t; i < kChunk; i += kConsumers) sum += ring[stage][i] * ring[stage][i];
      arrive(&empty[stage]);
    }
    for (int step = kWarp / 2; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (t % kWarp == 0) partial[t / kWarp] = sum;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = 0;
    for (const float p : partial) sum += p;
    sums[blockIdx.x] = sum;
  }
}

int main(int argc, char** argv) {
  const Args args(argc, argv, {{"chunks", 100, 1, 100000}, {"blocks", 4, 1, 1000}});
  const int chunks = args.size(0), blocks = args.size(1);
  int major = 0;
  CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  if (major < 9) {
    printf("this example needs the copy engine of compute capability 9.0\n");
    return 0;
  }
  std::vector<float> numbers(size_t(chunks) * kChunk), sums(blocks);
  double want = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = float(i * 2654435761u % 1000) / 1000.0f;
    want += double(numbers[i]) * numbers[i];
  }
  float *in = nullptr, *out = nullptr;
  CHECK(cudaMalloc(&in, numbers.size() * sizeof(float)));
  CHECK(cudaMalloc(&out, sums.size() * sizeof(float)));
  CHECK(cudaMemcpy(in, numbers.data(), numbers.size() * sizeof(float), cudaMemcpyHostToDevice));
  sum_of_squares<<<blocks, kThreads>>>(in, chunks, out);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(sums.data(), out, sums.size() * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));

  double got = 0;
  for (const float sum : sums) got += sum;
  // A thread adds one number after the other; each addition rounds a sum that is no larger than
  // all.
  const double additions = double(chunks) * kChunk / kConsumers / blocks + 16;
  if (!is_close(got, want, want * additions * std::ldexp(1.0, -24)))
    return fail("the sum is %.9g, expected %.9g", got, want);
  printf("%d chunks of %d KB went through rings of %d stages in %d blocks\n", chunks,
         int(kChunk * sizeof(float) / 1024), kStages, blocks);
  printf("the squares of %zu numbers add up to %.6g\n", numbers.size(), got);
  return 0;
}
