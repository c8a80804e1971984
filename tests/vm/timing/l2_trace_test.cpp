// What the second cache says of the accesses of a launch.
#include "vm/timing/l2_trace.h"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

namespace ridge::vm::timing {
namespace {

constexpr int kLines = 4096;

// A launch of one block. Of each line that is looked at, every op stores what `stored` says.
struct Stores {
  std::vector<uint8_t> sectors;  // by op
  double bytes_of_sector = 16;
};
model::Work answer_to(const Stores& stores) {
  model::Work work;
  work.blocks = 1;
  work.traffic.resize(stores.sectors.size());
  L2Trace trace;
  trace.begin(1, 1, 1, 32e6);
  trace.extend(1, L2Trace::kAnyProgress);
  L2Asked asked;
  for (uint64_t line = 0; line < kLines; ++line) {
    if (!model::is_sampled(line)) continue;
    for (uint32_t op = 0; op < stores.sectors.size(); ++op) {
      asked.some.push_back({line, 0, op, op, stores.sectors[op], true});
      const double sectors = std::popcount(stores.sectors[op]);
      asked.stored[op].sectors += sectors;
      asked.stored[op].bytes += sectors * stores.bytes_of_sector;
    }
  }
  trace.take(0, asked);
  trace.answer(work);
  return work;
}

TEST(L2Trace, PartsOfASectorMayComeFromSeveralInstructions) {
  const model::Work work = answer_to({.sectors = {1, 2, 1, 8, 2}});
  ASSERT_EQ(work.traffic.size(), 5u);
  EXPECT_EQ(work.traffic[0].with, 0u);
  EXPECT_EQ(work.traffic[1].with, 1u);
  EXPECT_EQ(work.traffic[2].with, 0u);
  EXPECT_EQ(work.traffic[3].with, 3u);
  EXPECT_EQ(work.traffic[4].with, 1u);
  EXPECT_EQ(work.traffic[0].misses, work.traffic[0].sectors);
  EXPECT_EQ(work.traffic[2].misses, 0u);
  EXPECT_EQ(work.traffic[2].stored, work.traffic[0].stored);
}

TEST(L2Trace, InstructionsMayMeetThroughAThirdOne) {
  const model::Work work = answer_to({.sectors = {4, 8, 4 | 8}});
  for (const model::OpTraffic& traffic : work.traffic) EXPECT_EQ(traffic.with, 0u);
}

}  // namespace
}  // namespace ridge::vm::timing
