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
    std::memset(memory.place(*a), i, 4096);
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

TEST(Allocations, OnlyTheDevicesOwnMemoryIsClosed) {
  Allocations memory(1 << 26);
  const uint64_t device = *memory.allocate(100, 1, MemKind::device);
  const uint64_t variable = *memory.allocate(4, 1, MemKind::variable, 0, "v");
  for (const uint64_t at : {device, device + 99, variable}) {
    EXPECT_TRUE(memory.is_closed(at));
    EXPECT_NE(reinterpret_cast<uint64_t>(memory.place(at)), at);
    *memory.place(at) = 7;
  }
  EXPECT_EQ(memory.place(device + 99) - memory.place(device), 99);
  for (const uint64_t at :
       {*memory.allocate(100, 1, MemKind::managed), *memory.allocate(100, 1, MemKind::pinned),
        *memory.allocate(4, 1, MemKind::variable, kManagedVariable, "m")}) {
    EXPECT_FALSE(memory.is_closed(at));
    *reinterpret_cast<uint8_t*>(at) = 7;
    EXPECT_EQ(*memory.place(at), 7);
  }
  uint8_t own = 3;  // the program's, as with cudaHostRegister
  EXPECT_EQ(memory.place(&own), &own);
  EXPECT_DEATH(*reinterpret_cast<volatile uint8_t*>(device) = 1, "");
}

TEST(Allocations, OpenMemoryLiesWhereItsPointersSay) {
  Allocations memory(1 << 26, /*closed=*/false);
  const uint64_t device = *memory.allocate(100, 1, MemKind::device);
  *reinterpret_cast<uint8_t*>(device) = 7;
  EXPECT_EQ(*memory.place(device), 7);
  EXPECT_FALSE(memory.is_closed(device));
}

TEST(Allocations, WatchedMemoryCanBeClosedToTheHostAlone) {
  using Guard = Allocations::Guard;
  Allocations memory(1 << 26, /*closed=*/true, /*watched=*/true);
  const uint64_t at = *memory.allocate(100, 1, MemKind::managed);
  const uint64_t other = *memory.allocate(100, 1, MemKind::pinned);
  auto* host = reinterpret_cast<volatile uint8_t*>(at);
  EXPECT_TRUE(memory.is_watched(at) && memory.is_watched(other));
  *host = 1;
  EXPECT_EQ(*memory.place(at), 1);
  memory.guard(at, at + 100, Guard::shut);
  *memory.place(at) = 2;  // the device's side of it
  EXPECT_DEATH(static_cast<void>(*host), "");
  *reinterpret_cast<volatile uint8_t*>(other) = 3;  // nobody else has a part of its pages
  memory.guard(at, at + 100, Guard::read_only);
  EXPECT_EQ(*host, 2);
  EXPECT_DEATH(*host = 4, "");
  EXPECT_TRUE(memory.release(at, MemKind::managed));
  *host = 5;  // whatever comes to lie there is open
  // Large ones give their memory back.
  const uint64_t large = *memory.allocate(2 << 20, 1, MemKind::managed);
  *reinterpret_cast<uint8_t*>(large) = 6;
  EXPECT_TRUE(memory.release(large, MemKind::managed));
  EXPECT_EQ(*memory.place(large), 0);
}

TEST(Allocations, AGpuMapsWholePages) {
  Allocations memory(1 << 30);
  const uint64_t a = *memory.allocate(1000, 1, MemKind::device);
  const uint64_t page = a / kDevicePage * kDevicePage;
  EXPECT_TRUE(memory.is_mapped_on_a_gpu(a + 996, a + 1004));
  EXPECT_TRUE(memory.is_mapped_on_a_gpu(page, page + kDevicePage));
  EXPECT_FALSE(memory.is_mapped_on_a_gpu(page + kDevicePage, page + kDevicePage + 4));
  EXPECT_FALSE(memory.is_mapped_on_a_gpu(page + kDevicePage - 4, page + kDevicePage + 4));
  EXPECT_FALSE(memory.is_mapped_on_a_gpu(page - 4, page));
  EXPECT_EQ(*memory.place(a + 1004), 0);
  *memory.place(a + 1004) = 5;  // what is mapped has memory behind it
  EXPECT_EQ(*memory.place(a + 1004), 5);
  memory.release(a, MemKind::device);
  EXPECT_FALSE(memory.is_mapped_on_a_gpu(a, a + 4));
}

TEST(Allocations, LargeOnesHaveTheirPagesToThemselves) {
  Allocations memory(1 << 30);
  const uint64_t small = *memory.allocate(1000, 1, MemKind::device);
  const uint64_t large = *memory.allocate((3 << 20) + 4, 1, MemKind::device);
  EXPECT_EQ(large % kDevicePage, 0u);
  for (int i = 0; i < 2000; ++i) {
    const uint64_t other = *memory.allocate(1000, 1, MemKind::device);
    EXPECT_TRUE(other < large || other >= large + 2 * kDevicePage);
  }
  // Their whole last page is theirs.
  EXPECT_TRUE(memory.is_mapped_on_a_gpu(large + (3 << 20) + 4, large + 2 * kDevicePage));
  EXPECT_TRUE(memory.find(small));
  // What strays into it does not outlive the allocation.
  *memory.place(large + (3 << 20) + 8) = 9;
  memory.release(large, MemKind::device);
  EXPECT_EQ(*memory.place(large + (3 << 20) + 8), 0);
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
