#include "core/gpu_spec.h"

#include <gtest/gtest.h>

#include <set>

namespace ridge {
namespace {

TEST(GpuSpec, FindsByKeyInAnyCase) {
  ASSERT_TRUE(find_gpu("h200"));
  EXPECT_EQ(find_gpu("H200")->name, "NVIDIA H200");
  EXPECT_FALSE(find_gpu("h20"));
  EXPECT_FALSE(find_gpu(""));
}

TEST(GpuSpec, EveryRowIsPlausible) {
  std::set<std::string_view> keys;
  for (const GpuSpec& gpu : all_gpus()) {
    SCOPED_TRACE(gpu.key);
    EXPECT_TRUE(keys.insert(gpu.key).second);
    EXPECT_GE(gpu.major * 10 + gpu.minor, 75);
    EXPECT_GT(gpu.sm_count, 0);
    EXPECT_EQ(gpu.max_threads_per_sm % 256, 0);
    EXPECT_LE(gpu.shared_per_block_optin + gpu.shared_reserved_per_block, gpu.shared_per_sm);
    EXPECT_GT(gpu.memory_bytes, 0);
    EXPECT_GT(gpu.l2_bytes, 0);
    EXPECT_GT(gpu.clock_khz, 0);
    EXPECT_GT(gpu.memory_clock_khz, 0);
    EXPECT_GT(gpu.memory_bus_bits, 0);
  }
}

}  // namespace
}  // namespace ridge
