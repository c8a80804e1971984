// Blocks: how fast they start, what they cost by size, how waves end; a barrier over the grid.
#include "measure.h"

#include <cooperative_groups.h>

namespace measure {
namespace {

__global__ void nothing(u32* data) {
  if (data) data[0] = 1;
}
extern __shared__ char dynamic[];
__global__ void with_shared(u32* data) {
  if (data) data[0] = dynamic[threadIdx.x];
}
// As many registers as a block of 256 threads can have.
__global__ void __launch_bounds__(256, 1) many_registers(float* data) {
  if (!data) return;
  float x[200];
#pragma unroll
  for (int i = 0; i < 200; ++i) x[i] = data[i * 256 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 200; ++i) data[(199 - i) * 256 + threadIdx.x] = x[i] * x[(i + 7) % 200];
}
__global__ void __launch_bounds__(1024) spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}
__global__ void __launch_bounds__(1024) grid_barriers(int rounds) {
  const auto grid = cooperative_groups::this_grid();
  for (int i = 0; i < rounds; ++i) grid.sync();
}

}  // namespace

void scheduling() {
  const int sms = card().sms;
  {
    Curve curve("blocks.us_by_grid", "blocks of 32 threads", "us",
                "empty blocks, between two events");
    for (const int grid : {1, 32, 132, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304})
      curve.at(grid, time_us(9, [&] { nothing<<<unsigned(grid), 32, 0, stream()>>>(nullptr); }));
  }
  {
    // From the difference of two grids, so that the launch itself drops out.
    Curve curve("blocks.rate_by_threads", "threads per block", "blocks per us",
                "empty blocks; from the difference between grids of 2^16 and 2^18 blocks");
    const auto blocks_per_us = [&](auto launch) {
      const double few = median(time_us(9, [&] { launch(1 << 16); }));
      Samples many = time_us(9, [&] { launch(1 << 18); });
      for (double& us : many) us = ((1 << 18) - (1 << 16)) / (us - few);
      return many;
    };
    for (const int threads : {32, 64, 128, 256, 512, 1024})
      curve.at(threads, blocks_per_us([&](int grid) {
                 nothing<<<unsigned(grid), threads, 0, stream()>>>(nullptr);
               }));
    Curve bytes("blocks.rate_by_shared", "bytes of dynamic shared memory", "blocks per us",
                "empty blocks of 128 threads");
    const int most = int(card().p.sharedMemPerBlockOptin);
    CHECK(cudaFuncSetAttribute(with_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
    for (const int kib : {0, 8, 32, 64, 96, most / 1024})
      if (kib * 1024 <= most)
        bytes.at(kib * 1024, blocks_per_us([&](int grid) {
                   with_shared<<<unsigned(grid), 128, size_t(kib) * 1024, stream()>>>(nullptr);
                 }));
    add("blocks.rate_many_registers", blocks_per_us([&](int grid) {
          many_registers<<<unsigned(grid), 256, 0, stream()>>>(nullptr);
        }),
        "blocks per us", "empty blocks of 256 threads, more than 200 registers per thread");
  }
  {
    // 2 blocks of 1024 threads fit on an SM, or 1 on small ones.
    const int wave = sms * (card().p.maxThreadsPerMultiProcessor / 1024);
    Curve curve("waves.us_by_waves", "full waves (a fraction: one more block)", "us",
                "blocks of 1024 threads that spin for 20000 cycles, between two events");
    for (const double waves : {0.5, 1.0, 1.001, 2.0, 2.001, 4.0, 8.0}) {
      const int whole = int(waves * wave),
                grid = waves == 1.001 || waves == 2.001 ? int(waves) * wave + 1 : whole;
      curve.at(waves, time_us(9, [&] { spin<<<grid, 1024, 0, stream()>>>(20000); }));
    }
    Curve shorter(
        "waves.us_by_block_cycles", "cycles that a block spins for", "us",
        "64 waves of blocks of 256 threads: how soon the next block starts when one ends");
    const int blocks = 64 * sms * (card().p.maxThreadsPerMultiProcessor / 256);
    for (const long long cycles : {100ll, 500ll, 1000ll, 2000ll, 5000ll})
      shorter.at(double(cycles), time_us(5, [&] { spin<<<blocks, 256, 0, stream()>>>(cycles); }));
  }
  if (card().p.cooperativeLaunch) {
    Curve curve("grid_barrier.us_by_blocks", "blocks of 256 threads", "us",
                "cooperative_groups: grid.sync(), per barrier; from 8 and 136 barriers");
    for (const int blocks : {1, 16, sms / 2, sms, sms * 2, sms * 4}) {
      const auto launch = [&](int rounds) {
        void* arguments[] = {&rounds};
        CHECK(cudaLaunchCooperativeKernel(grid_barriers, dim3(unsigned(blocks)), dim3(256),
                                          arguments, 0, stream()));
      };
      const double few = median(time_us(5, [&] { launch(8); }));
      Samples many = time_us(5, [&] { launch(136); });
      for (double& us : many) us = (us - few) / 128;
      curve.at(blocks, many);
    }
  }
}

}  // namespace measure
