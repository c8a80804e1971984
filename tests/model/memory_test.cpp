// One SM's share of the second cache and of DRAM.
#include "model/memory.h"

#include <gtest/gtest.h>

#include "work.h"

namespace ridge::model {
namespace {

// Cycles until the memory has taken so many stores of half a sector each; all ops in turn.
double cycles_of_halves(const Work& work, int stores) {
  Memory memory(work, h200(), h200().sms);
  for (int i = 0; i < stores; ++i) memory.write(uint32_t(size_t(i) % work.traffic.size()), 0, 1);
  return memory.backlog();
}
OpTraffic halves(uint64_t sectors, uint64_t misses, uint32_t with) {
  return {.sectors = sectors,
          .misses = misses,
          .bytes = double(sectors) * 16,
          .stored = double(sectors),
          .with = with};
}
Work work_of(std::vector<OpTraffic> traffic) {
  WorkMaker make;
  for (size_t i = 0; i < traffic.size(); ++i)
    make.add({.kind = Op::Kind::store, .pipe = Pipe::lsu, .accesses = 1}, {}, {});
  make.work.traffic = std::move(traffic);
  return std::move(make.work);
}

TEST(Memory, ASectorIsCompletedFromDramOnlyIfNobodyWritesTheRest) {
  constexpr uint64_t kMany = 1000;
  constexpr int kStores = 1000;
  // One instruction writes both halves, as a loop does; or there are two instructions, as in an
  // unrolled loop.
  const double by_one = cycles_of_halves(work_of({halves(2 * kMany, kMany, 0)}), kStores);
  const double by_two =
      cycles_of_halves(work_of({halves(kMany, kMany, 0), halves(kMany, 0, 0)}), kStores);
  EXPECT_NEAR(by_one, kStores * h200().l2_write_request, 1);
  EXPECT_NEAR(by_two, by_one, 1);
  // The second instruction writes to other sectors: both halves of each are missing in the end.
  const double left =
      cycles_of_halves(work_of({halves(kMany, kMany, 0), halves(kMany, kMany, 1)}), kStores);
  EXPECT_NEAR(left, by_one + kStores * h200().l2_write_completed, 20);
}

}  // namespace
}  // namespace ridge::model
