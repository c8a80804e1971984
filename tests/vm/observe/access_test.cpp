#include "vm/observe/access.h"

#include <gtest/gtest.h>

namespace ridge::vm::observe {
namespace {

template <class T = uint64_t, class F>
AccessOf<T> access(uint32_t bytes, F address, uint32_t mask = ~0u) {
  AccessOf<T> a;
  a.bytes = bytes;
  a.mask = mask;
  for (uint32_t lane = 0; lane < 32; ++lane) a.address[lane] = T(address(lane));
  return a;
}

TEST(GlobalCost, CountsSectorsLinesAndBytes) {
  const auto cost = [](const Access& a) {
    const GlobalCost c = global_cost(a);
    return std::array<uint32_t, 3>{c.sectors, c.lines, c.bytes_used};
  };
  using Cost = std::array<uint32_t, 3>;
  EXPECT_EQ(cost(access(4, [](uint32_t i) { return 256 + 4 * i; })), (Cost{4, 1, 128}));
  EXPECT_EQ(cost(access(4, [](uint32_t i) { return 260 + 4 * i; })), (Cost{5, 2, 128}));
  EXPECT_EQ(cost(access(4, [](uint32_t i) { return 8 * i; })), (Cost{8, 2, 128}));
  EXPECT_EQ(cost(access(4, [](uint32_t i) { return 128 * i; })), (Cost{32, 32, 128}));
  EXPECT_EQ(cost(access(4, [](uint32_t) { return 64; })), (Cost{1, 1, 4}));
  EXPECT_EQ(cost(access(16, [](uint32_t i) { return 16 * i; })), (Cost{16, 4, 512}));
  EXPECT_EQ(cost(access(1, [](uint32_t i) { return 96 + i; })), (Cost{1, 1, 32}));
  EXPECT_EQ(cost(access(8, [](uint32_t i) { return 4 * i; })), (Cost{5, 2, 132}));  // overlapping
  EXPECT_EQ(cost(access(
                4, [](uint32_t i) { return 4 * i; }, 0xffff)),
            (Cost{2, 1, 64}));
  EXPECT_EQ(cost(access(
                4, [](uint32_t i) { return 4 * i; }, 0)),
            (Cost{0, 0, 0}));
}

TEST(AtomicSectors, LanesOfOneAddressTakeTurns) {
  EXPECT_EQ(atomic_sectors(access(4, [](uint32_t) { return 64; })), 32);
  EXPECT_EQ(atomic_sectors(access(4, [](uint32_t i) { return 4 * i; })), 4);
  EXPECT_EQ(atomic_sectors(access(4, [](uint32_t i) { return 4 * (i / 2); })), 4);  // 2 turns of 2
}

TEST(SharedCost, CountsWavefronts) {
  const auto cost = [](const SharedAccess& a) {
    const SharedCost c = shared_cost(a, Service::load);
    return std::array<uint32_t, 2>{c.wavefronts, c.ideal};
  };
  using Cost = std::array<uint32_t, 2>;
  EXPECT_EQ(cost(access<uint32_t>(4, [](uint32_t i) { return 4 * i; })), (Cost{1, 1}));
  EXPECT_EQ(cost(access<uint32_t>(4, [](uint32_t i) { return 4 * (i ^ 1); })), (Cost{1, 1}));
  EXPECT_EQ(cost(access<uint32_t>(4, [](uint32_t) { return 20; })), (Cost{1, 1}));
  EXPECT_EQ(cost(access<uint32_t>(4, [](uint32_t i) { return 8 * i; })), (Cost{2, 1}));
  EXPECT_EQ(cost(access<uint32_t>(4, [](uint32_t i) { return 128 * i; })), (Cost{32, 1}));
  EXPECT_EQ(cost(access<uint32_t>(4, [](uint32_t i) { return 132 * i; })), (Cost{1, 1}));
  EXPECT_EQ(cost(access<uint32_t>(1, [](uint32_t i) { return i; })), (Cost{1, 1}));
  EXPECT_EQ(cost(access<uint32_t>(8, [](uint32_t i) { return 8 * (i ^ 16); })), (Cost{2, 2}));
  EXPECT_EQ(cost(access<uint32_t>(16, [](uint32_t i) { return 16 * (i ^ 8); })), (Cost{4, 4}));
  // Two rows of 16 lanes, each reading one place: a wavefront a half.
  EXPECT_EQ(cost(access<uint32_t>(16, [](uint32_t i) { return 64 * (i / 16); })), (Cost{2, 2}));
  EXPECT_EQ(cost(access<uint32_t>(
                4, [](uint32_t i) { return 128 * i; }, 0)),
            (Cost{0, 0}));
}

// Every case was counted on an H200: tests/vm/observe/truth/more_patterns.cu.
TEST(SharedCost, PartsTurnsAndConflicts) {
  struct Cost {
    uint32_t wavefronts, conflicts, by_line, ideal;
    bool operator==(const Cost&) const = default;
  };
  const auto cost = [](const SharedAccess& a, Service service) {
    const SharedCost c = shared_cost(a, service);
    return Cost{c.wavefronts, c.conflicts, c.by_line, c.ideal};
  };
  const auto lanes = [](uint32_t bytes, auto unit, uint32_t mask = ~0u) {
    return access<uint32_t>(
        bytes, [&](uint32_t i) { return bytes * unit(i); }, mask);
  };
  // Halves of a wide load are served together where neighbours read the same, or are off.
  const auto pairs = [](uint32_t i) { return i / 2; };
  EXPECT_EQ(cost(lanes(8, pairs), Service::load), (Cost{1, 0, 1, 1}));
  EXPECT_EQ(cost(lanes(8, [](uint32_t i) { return (i & 1) + i / 4 * 2; }), Service::load),
            (Cost{1, 0, 1, 1}));
  EXPECT_EQ(cost(lanes(8, [](uint32_t i) { return i & 15; }), Service::load), (Cost{2, 0, 2, 2}));
  EXPECT_EQ(cost(lanes(8, [](uint32_t i) { return i / 16 * 16; }), Service::load),
            (Cost{2, 1, 2, 2}));
  EXPECT_EQ(cost(lanes(
                     8, [](uint32_t i) { return i; }, 0xaaaaaaaa),
                 Service::load),
            (Cost{2, 1, 2, 1}));
  EXPECT_EQ(cost(lanes(8, pairs), Service::store), (Cost{2, 0, 2, 2}));
  // By line, each half of the warp is looked at by itself.
  EXPECT_EQ(cost(lanes(16, [](uint32_t i) { return i < 16 ? i / 2 : i; }), Service::load),
            (Cost{4, 0, 3, 3}));
  // Atomics: every lane of a bank has its turn, unless it is only counted.
  EXPECT_EQ(cost(lanes(4, pairs), Service::atomic), (Cost{2, 1, 2, 1}));
  EXPECT_EQ(cost(lanes(4, pairs), Service::counting), (Cost{1, 0, 1, 1}));
  EXPECT_EQ(cost(lanes(4, pairs), Service::compare), (Cost{4, 1, 4, 2}));
  EXPECT_EQ(cost(lanes(4, [](uint32_t) { return 3u; }), Service::compare), (Cost{64, 31, 64, 2}));
  EXPECT_EQ(cost(lanes(4, [](uint32_t) { return 3u; }), Service::spin), (Cost{2, 0, 2, 2}));
}

}  // namespace
}  // namespace ridge::vm::observe
