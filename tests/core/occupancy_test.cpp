// Occupancy against the toolkit's own calculator, which is a header of pure host code, on every GPU
// that Ridge knows; and a few cases worked out by hand.
#include "core/occupancy.h"

#include <gtest/gtest.h>

#include <climits>
#include <cstddef>

#include <cuda_occupancy.h>

namespace ridge {
namespace {

int blocks_by_toolkit(const GpuSpec& gpu, const KernelResources& kernel) {
  cudaOccDeviceProp device;
  device.computeMajor = gpu.major;
  device.computeMinor = gpu.minor;
  device.maxThreadsPerBlock = kMaxThreadsPerBlock;
  device.maxThreadsPerMultiprocessor = gpu.max_threads_per_sm;
  device.regsPerBlock = kMaxRegistersPerBlock;
  device.regsPerMultiprocessor = gpu.registers_per_sm;
  device.warpSize = kWarpSize;
  device.sharedMemPerBlock = kSharedPerBlock;
  device.sharedMemPerMultiprocessor = size_t(gpu.shared_per_sm);
  device.numSms = gpu.sm_count;
  device.sharedMemPerBlockOptin = size_t(gpu.shared_per_block_optin);
  device.reservedSharedMemPerBlock = size_t(gpu.shared_reserved_per_block);

  cudaOccFuncAttributes function;
  function.maxThreadsPerBlock = kMaxThreadsPerBlock;
  function.numRegs = kernel.registers_per_thread;
  function.sharedSizeBytes = 0;
  function.partitionedGCConfig = PARTITIONED_GC_OFF;
  function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  function.maxDynamicSharedSizeBytes = size_t(gpu.shared_per_block_optin);

  cudaOccDeviceState state;
  cudaOccResult result;
  const cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(
      &result, &device, &function, &state, kernel.block_threads, size_t(kernel.shared_bytes));
  return error == CUDA_OCC_SUCCESS ? result.activeBlocksPerMultiprocessor : -1;
}

TEST(Occupancy, AgreesWithTheToolkit) {
  for (const GpuSpec& gpu : all_gpus())
    for (int threads = 1; threads <= 1024; threads += threads < 96 ? 1 : 31)
      for (int registers = 1; registers <= 255; registers += 11)
        for (int64_t shared :
             {0, 1, 100, 1024, 9000, 17000, 49152, 65536, 101376, 166912, 232448}) {
          if (shared > gpu.shared_per_block_optin) continue;
          const KernelResources kernel{threads, registers, shared};
          ASSERT_EQ(occupancy(gpu, kernel).blocks_per_sm, blocks_by_toolkit(gpu, kernel))
              << gpu.key << ", " << threads << " threads, " << registers << " registers, " << shared
              << " bytes";
        }
}

TEST(Occupancy, NamesTheLimiter) {
  const GpuSpec h200 = *find_gpu("h200");
  const Occupancy threads = occupancy(h200, {256, 32, 0});
  EXPECT_EQ(threads.blocks_per_sm, 8);
  EXPECT_EQ(threads.warps_per_sm, 64);
  EXPECT_EQ(threads.fraction, 1.0);
  EXPECT_EQ(threads.limiter, Limiter::threads);

  EXPECT_EQ(occupancy(h200, {32, 16, 0}).limiter, Limiter::blocks);
  EXPECT_EQ(occupancy(h200, {32, 16, 0}).fraction, 0.5);
  EXPECT_EQ(occupancy(h200, {256, 64, 0}).limiter, Limiter::registers);
  EXPECT_EQ(occupancy(h200, {256, 64, 0}).blocks_per_sm, 4);
  EXPECT_EQ(occupancy(h200, {128, 32, 100 * 1024}).limiter, Limiter::shared);
  EXPECT_EQ(occupancy(h200, {128, 32, 100 * 1024}).blocks_per_sm, 2);
}

TEST(Occupancy, SaysWhatDoesNotFit) {
  const GpuSpec t4 = *find_gpu("t4");
  for (const KernelResources& kernel :
       {KernelResources{0, 32, 0}, KernelResources{1025, 32, 0}, KernelResources{1024, 65, 0},
        KernelResources{32, 256, 0}, KernelResources{32, 32, 65 * 1024}}) {
    EXPECT_EQ(occupancy(t4, kernel).blocks_per_sm, 0);
    EXPECT_EQ(occupancy(t4, kernel).limiter, Limiter::does_not_fit);
  }
}

}  // namespace
}  // namespace ridge
