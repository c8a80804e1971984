#include "model/l2.h"

#include <gtest/gtest.h>

namespace ridge::model {
namespace {

// One set of four lines.
Cache small() { return Cache(4 * 128, 4); }

TEST(L2, DramBringsTwoNeighbours) {
  Cache cache = small();
  const auto first = cache.access(7, 0b0100, false);
  EXPECT_EQ(first.missing, 0b0100u);
  EXPECT_EQ(first.fetched, 0b1100u);
  EXPECT_EQ(cache.access(7, 0b1000, false).missing, 0u);
  EXPECT_EQ(cache.access(7, 0b0011, false).missing, 0b0011u);
}

TEST(L2, AWriteBringsNoNeighbourAndIsWrittenBackOnce) {
  Cache cache = small();
  const auto first = cache.access(7, 0b0001, true);
  EXPECT_EQ(first.fetched, 0b0001u);
  EXPECT_EQ(first.clean, 0b0001u);
  EXPECT_EQ(cache.access(7, 0b0001, true).clean, 0u);
  EXPECT_EQ(cache.access(7, 0b0001, false).missing, 0u);
}

TEST(L2, TheLeastRecentlyUsedLineLeaves) {
  Cache cache = small();
  for (uint64_t line = 0; line < 4; ++line) cache.access(line, 0xf, false);
  cache.access(0, 0xf, false);
  cache.access(9, 0xf, false);  // in the place of 1
  EXPECT_EQ(cache.access(0, 0xf, false).missing, 0u);
  EXPECT_EQ(cache.access(1, 0xf, false).missing, 0xfu);
}

}  // namespace
}  // namespace ridge::model
