#include "model/figures.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "model/roofs.h"

namespace ridge::model {
namespace {

TEST(Figures, EveryGpuHasAllOfThem) {
  for (const GpuSpec& gpu : all_gpus()) {
    SCOPED_TRACE(gpu.key);
    const Figures f = figures_of(gpu);
    EXPECT_EQ(f.checked, gpu.key == "h200");
    EXPECT_EQ(f.sms, gpu.sm_count);
    // All that follows the two is double, or an array of it.
    std::vector<double> all((sizeof f - offsetof(Figures, l1_latency)) / sizeof(double));
    std::memcpy(all.data(), &f.l1_latency, all.size() * sizeof(double));
    for (size_t i = 0; i < all.size(); ++i)
      EXPECT_TRUE(std::isfinite(all[i]) && all[i] > 0) << "double " << i << " is " << all[i];
    EXPECT_GT(f.clock_ghz, 0);
    EXPECT_LT(f.shared_latency, f.l2_latency);
    EXPECT_LT(f.l2_latency, f.dram_latency);
    EXPECT_LT(f.dram_read_bytes_per_ns, f.dram_peak_bytes_per_ns);
    EXPECT_LT(f.l2_bytes, double(gpu.l2_bytes) + 1);
  }
}

TEST(Figures, PipesDifferBetweenGpus) {
  EXPECT_EQ(figures_of(*find_gpu("t4")).fma_lanes, 64);
  EXPECT_EQ(figures_of(*find_gpu("a100")).fma_lanes, 64);
  EXPECT_EQ(figures_of(*find_gpu("rtx4090")).fp64_lanes, 2);
  EXPECT_EQ(Figures::busy(128), 1);
  EXPECT_EQ(Figures::busy(2), 64);
}

// A card that is not in the data file has the nearest one's figures, with its own SMs and clocks.
TEST(Figures, AnUnknownCardIsLikeTheNearest) {
  GpuSpec card = *find_gpu("h200");
  card.key = {};
  card.sm_count /= 2;
  card.clock_khz /= 2;
  const Figures f = figures_of(card), h200 = figures_of(*find_gpu("h200"));
  EXPECT_FALSE(f.checked);
  EXPECT_EQ(f.sms, 66);
  EXPECT_DOUBLE_EQ(f.dram_bytes_per_cycle, 4 * h200.dram_bytes_per_cycle);
  EXPECT_DOUBLE_EQ(f.dram_latency, h200.dram_latency / 2);
  EXPECT_DOUBLE_EQ(f.dram_read_bytes_per_ns, h200.dram_read_bytes_per_ns);
  card.major = 8;
  card.minor = 7;
  EXPECT_EQ(figures_of(card).fp64_lanes, 2);  // as an RTX 3090
  card.major = 5;
  EXPECT_EQ(figures_of(card).fma_lanes, 64);  // as the oldest one, a T4
}

TEST(Roofs, FollowFromTheFigures) {
  const Roofs h200 = roofs_of(*find_gpu("h200"));
  EXPECT_TRUE(h200.checked);
  EXPECT_NEAR(h200.of(Arithmetic::f32), 66.9e12, 0.1e12);
  EXPECT_NEAR(h200.of(Arithmetic::f64), 33.5e12, 0.1e12);
  EXPECT_NEAR(h200.of(Arithmetic::tensor_f16), 1066e12, 1e12);
  EXPECT_NEAR(h200.read, 4.4e12, 0.01e12);
  const Roofs t4 = roofs_of(*find_gpu("t4"));
  EXPECT_FALSE(t4.checked);
  EXPECT_NEAR(t4.of(Arithmetic::f32), 8.14e12, 0.01e12);
  EXPECT_NEAR(t4.of(Arithmetic::tensor_f16), 65e12, 0.5e12);
  for (const GpuSpec& gpu : all_gpus())
    for (size_t kind = 0; kind < kArithmetics; ++kind)
      EXPECT_GT(roofs_of(gpu).ops[kind], 0) << gpu.key << ' ' << kArithmeticNames[kind];
}

TEST(Roofs, StreamsOfOneKindHaveTheirOwn) {
  const Roofs roofs = {.read = 3, .write = 2, .copy = 1};
  EXPECT_EQ(roofs.memory(100, 0), 3);
  EXPECT_EQ(roofs.memory(0, 100), 2);
  EXPECT_EQ(roofs.memory(100, 100), 1);
}

TEST(Roofs, TheLargerFloorCounts) {
  EXPECT_EQ(floor_of(10, 5e6, 1e12).us, 10);
  EXPECT_TRUE(floor_of(10, 5e6, 1e12).by_memory);
  EXPECT_EQ(floor_of(10, 20e6, 1e12).us, 20);
  EXPECT_FALSE(floor_of(10, 20e6, 1e12).by_memory);
}

TEST(Arithmetic, NamesAreFoundAgain) {
  for (size_t kind = 0; kind < kArithmetics; ++kind)
    EXPECT_EQ(find_arithmetic(kArithmeticNames[kind]), Arithmetic(kind));
  EXPECT_FALSE(find_arithmetic("f8"));
}

}  // namespace
}  // namespace ridge::model
