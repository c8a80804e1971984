#include "vm/observe/sample.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

namespace ridge::vm::observe {
namespace {

TEST(Sample, TakesNoBlockTwiceNorWhatRanForSomebodyElse) {
  constexpr uint64_t kBlocks = 1000, kCount = 80;
  std::vector<bool> has_run(kBlocks);
  for (uint64_t block = 0; block < kBlocks / 2; ++block) has_run[block] = true;
  Sample sample(kBlocks, kCount, 7);
  std::set<uint64_t> all;
  Sample::Work work = {};
  for (int round = 0; round < 8; ++round) {
    const std::vector<uint64_t> blocks = sample.next(work, has_run);
    EXPECT_TRUE(std::ranges::is_sorted(blocks));
    for (const uint64_t block : blocks) {
      EXPECT_FALSE(has_run[block]);
      EXPECT_TRUE(all.insert(block).second);
      has_run[block] = true;
      for (double& done : work) done += 1;
    }
  }
  EXPECT_EQ(sample.blocks(), all.size());
  EXPECT_GE(all.size(), kCount / 4);
  EXPECT_TRUE(sample.next(work, std::vector<bool>(kBlocks, true)).empty());  // nothing is left
}

}  // namespace
}  // namespace ridge::vm::observe
