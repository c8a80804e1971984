// What is kept of an instruction's accesses.
#include "vm/observe/seen.h"

#include <gtest/gtest.h>

#include <set>

namespace ridge::vm::observe {
namespace {

Access row(uint64_t base, uint32_t bytes = 4) {
  Access access;
  access.mask = ~0u;
  access.bytes = bytes;
  for (uint64_t lane = 0; lane < 32; ++lane) access.address[lane] = base + lane * bytes;
  return access;
}

TEST(Seen, KeepsAllOfAFew) {
  Seen seen(16, 0);
  for (uint64_t i = 0; i < 16; ++i) seen.take(row(i * 128));
  ASSERT_EQ(seen.sample().size(), 16u);
  for (uint64_t i = 0; i < 16; ++i) EXPECT_EQ(seen.sample()[i].address[0], i * 128);
}

// A sample that took every n-th access would see one turn of a loop of n only.
TEST(Seen, KeepsSomeOfManyFromAllParts) {
  constexpr uint64_t kCount = 1 << 16, kLoop = 32;
  Seen seen(128, 0);
  for (uint64_t i = 0; i < kCount; ++i) seen.take(row(i * 128));
  EXPECT_EQ(seen.count(), kCount);
  ASSERT_EQ(seen.sample().size(), 128u);
  std::set<uint64_t> turns;
  uint64_t late = 0;
  for (const Access& access : seen.sample()) {
    turns.insert(access.address[0] / 128 % kLoop);
    late += access.address[0] / 128 >= kCount / 2;
  }
  EXPECT_GT(turns.size(), kLoop * 3 / 4);
  EXPECT_GT(late, 40u);
  EXPECT_LT(late, 88u);
}

TEST(Seen, OfOneBlockTheFirstAccessOfEachWarp) {
  Seen seen(4, 7);
  for (uint64_t block : {6, 7, 8})
    for (uint32_t turn = 0; turn < 3; ++turn)
      for (uint32_t warp = 0; warp < 4; ++warp) {
        seen.begin(block, warp);
        seen.take(row(block * 65536 + turn * 4096 + warp * 128));
      }
  ASSERT_EQ(seen.of_block().size(), 4u);
  for (const SeenAccess& one : seen.of_block())
    EXPECT_EQ(one.access.address[0], 7 * 65536 + one.warp * 128u);
}

TEST(Seen, SectorsThatATileWouldMoveOnce) {
  Seen seen(4, 0);
  const auto access = [&](uint64_t block, uint32_t warp, uint64_t at) {
    seen.begin(block, warp);
    seen.take(row(at));
    seen.take_sectors(row(at), 4);
  };
  // Two warps walk over the same rows, one after the other.
  for (uint32_t warp : {0, 1})
    for (uint64_t turn = 0; turn < 64; ++turn) access(0, warp, turn * 128);
  EXPECT_EQ(seen.staging().requests, 128u);
  EXPECT_EQ(seen.staging().moved, 512u);
  EXPECT_EQ(seen.staging().once, 256u);
  // What comes back much later is moved again.
  access(0, 0, 0);
  EXPECT_EQ(seen.staging().once, 260u);
  access(1, 0, 4096);  // another block
  EXPECT_EQ(seen.staging().moved, 516u);
}

TEST(Footprint, EachSectorIsFirstOnce) {
  Footprint footprint;
  Footprint::Last last;
  EXPECT_EQ(footprint.touch(row(0), false, last), 4u);
  EXPECT_EQ(footprint.touch(row(64), false, last), 2u);  // half of it was touched
  EXPECT_EQ(footprint.touch(row(0), true, last), 4u);    // writing is counted apart
  const uint64_t edge = Footprint::kPageBytes - 64;
  EXPECT_EQ(footprint.touch(row(edge), false, last), 4u);  // on two pages
  EXPECT_EQ(footprint.touch(row(edge), false, last), 0u);
  Access one = row(8192);
  one.mask = 1;
  EXPECT_EQ(footprint.touch(one, false, last), 1u);
}

}  // namespace
}  // namespace ridge::vm::observe
