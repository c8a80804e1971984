#include "vm/mem/allocations.h"

#include <gtest/gtest.h>

#include <cstring>

namespace ridge::vm {
namespace {

TEST(Allocations, FindsExactlyWhatIsLive) {
  Allocations memory(1 << 30);
  const uint64_t a = *memory.allocate(100, 1, MemKind::device);
  EXPECT_EQ(a % 256, 0u);
  EXPECT_TRUE(memory.find(a));
  EXPECT_TRUE(memory.find(a + 99));
  EXPECT_FALSE(memory.find(a + 100));
  EXPECT_FALSE(memory.find(a - 1));
  EXPECT_FALSE(memory.release(a + 1, MemKind::device));
  EXPECT_FALSE(memory.release(a, MemKind::pinned));
  const uint64_t before = memory.epoch();
  EXPECT_TRUE(memory.release(a, MemKind::device));
  EXPECT_GT(memory.epoch(), before);
  EXPECT_FALSE(memory.release(a, MemKind::device));
  EXPECT_FALSE(memory.find(a));
  EXPECT_EQ(memory.find_freed(a + 50)->base, a);
}

TEST(Allocations, FreedMemoryIsNotReusedAtOnce) {
  Allocations memory(1 << 30);
  const uint64_t a = *memory.allocate(4096, 1, MemKind::device);
  memory.release(a, MemKind::device);
  const uint64_t b = *memory.allocate(4096, 1, MemKind::device);
  EXPECT_NE(a, b);
}

TEST(Allocations, EndlessAllocateAndFreeFits) {
  Allocations memory(1 << 26);
  for (int i = 0; i < 2000; ++i) {
    const auto a = memory.allocate(1 << 20, 1, MemKind::device);
    ASSERT_TRUE(a) << i;
    std::memset(reinterpret_cast<void*>(*a), i, 4096);
    ASSERT_TRUE(memory.release(*a, MemKind::device));
  }
  EXPECT_EQ(memory.used(), 0u);
}

TEST(Allocations, CapacityIsTheLimit) {
  Allocations memory(1 << 26);
  EXPECT_FALSE(memory.allocate((1 << 26) + 1, 1, MemKind::device));
  const auto most = memory.allocate(1 << 26, 1, MemKind::device);
  EXPECT_TRUE(most);
  EXPECT_FALSE(memory.allocate(1, 1, MemKind::device));
}

TEST(Allocations, VariablesAreNotNeighboursOfAllocations) {
  Allocations memory(1 << 30);
  const uint64_t a = *memory.allocate(256, 1, MemKind::device);
  memory.allocate(8, 1, MemKind::variable, 0, "v");
  EXPECT_EQ(memory.nearest(a + 4000)->base, a);
}

TEST(Allocations, RegisteredRangesMayNotOverlap) {
  Allocations memory(1 << 26);
  static char host[1000];
  const auto at = reinterpret_cast<uint64_t>(host);
  EXPECT_TRUE(memory.add_registered(at, 500, 0));
  EXPECT_FALSE(memory.add_registered(at + 499, 10, 0));
  EXPECT_TRUE(memory.add_registered(at + 500, 500, 0));
  EXPECT_TRUE(memory.release(at, MemKind::registered));
  EXPECT_TRUE(memory.add_registered(at, 500, 0));
}

}  // namespace
}  // namespace ridge::vm
