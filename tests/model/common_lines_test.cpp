// Which cache lines several blocks of an SM touch, found in what their warps did.
#include <gtest/gtest.h>

#include "work.h"

namespace ridge::model {
namespace {

using Lines = std::unordered_set<uint64_t>;

struct LinesMaker : WorkMaker {
  uint32_t access(Op::Kind kind) { return add({.kind = kind, .accesses = 1}, {}, {}); }
  void block(const std::vector<std::vector<uint32_t>>& warps) { blocks(1, warps); }
  const Lines& found() {
    find_common_lines(work);
    return work.common_lines;
  }
};
std::vector<uint32_t> touch(uint32_t step, uint32_t line, uint32_t sectors = 0xfu << 28) {
  return {step, 1, 1, line, sectors};
}

TEST(CommonLines, ThoseOfTwoBlocksAre) {
  LinesMaker make;
  const uint32_t load = make.access(Op::Kind::load);
  make.block({touch(load, 7)});
  make.block({{load, 1, 2, 8, 0xfu << 28, 7, 0x1u << 28}});  // other sectors of the same line
  make.block({touch(load, 9)});
  EXPECT_EQ(make.found(), Lines{7});
}

TEST(CommonLines, ThoseOfOneBlockAreNot) {
  LinesMaker make;
  const uint32_t load = make.access(Op::Kind::load);
  std::vector<uint32_t> twice = touch(load, 7);
  twice.insert(twice.end(), {load, 1, 1, 7, 0xfu << 28});
  make.block({twice, touch(load, 7)});  // by two of its warps, too
  EXPECT_EQ(make.found(), Lines{});
}

TEST(CommonLines, EveryKindOfAccessToMemoryCounts) {
  using enum Op::Kind;
  for (const Op::Kind kind : {load, store, atomic, reduction, copy, bulk_load, bulk_store}) {
    LinesMaker make;
    make.block({touch(make.access(load), 7)});
    make.block({touch(make.access(kind), 7)});
    EXPECT_EQ(make.found(), Lines{7}) << int(kind);
  }
}

// Addresses of mbarriers, barriers' threads and constants look like lines. What follows them is
// still read right.
TEST(CommonLines, WordsOfSignalsAndWaitsAreNone) {
  using enum Op::Kind;
  for (const Op::Kind kind :
       {signal, wait_phase, lands, delivered, arrived, named_barrier, constant}) {
    LinesMaker make;
    const uint32_t other = make.access(kind), load_one = make.access(load);
    std::vector<uint32_t> words = touch(other, 7);
    words.insert(words.end(), {load_one, 1, 1, 30, 0xfu << 28});
    make.block({words});
    make.block({words});
    EXPECT_EQ(make.found(), Lines{30}) << int(kind);
  }
}

TEST(CommonLines, BytesOfAnotherSmAreNone) {
  LinesMaker make;
  const uint32_t load = make.access(Op::Kind::load);
  make.block({touch(load, 512, 0)});
  make.block({touch(load, 512, 0)});
  EXPECT_EQ(make.found(), Lines{});
}

TEST(CommonLines, HighAddressesAreOtherLines) {
  LinesMaker make;
  const uint32_t load = make.access(Op::Kind::load);
  make.block({touch(load, 7, 0xfu << 28 | 1)});
  make.block({touch(load, 7, 0xfu << 28 | 2)});
  make.block({touch(load, 7, 0x3u << 28 | 2)});
  EXPECT_EQ(make.found(), Lines{2ull << 32 | 7});
}

// A step that no lane executes has no accesses behind it.
TEST(CommonLines, StepsThatAreSwitchedOffAreSkipped) {
  LinesMaker make;
  const uint32_t load = make.access(Op::Kind::load);
  const std::vector<uint32_t> words = {load | kSwitchedOff, load, 1, 1, 7, 0xfu << 28};
  make.block({words});
  make.block({words});
  EXPECT_EQ(make.found(), Lines{7});
}

TEST(CommonLines, AStepMayHaveSeveralAccesses) {
  LinesMaker make;
  make.access(Op::Kind::load);
  make.access(Op::Kind::store);
  make.work.steps = {{.op = 0, .ops = 2}};
  make.block({{0, 1, 1, 5, 0xfu << 28, 1, 1, 6, 0xfu << 28}});
  make.block({{0, 1, 0, 1, 1, 6, 0xfu << 28}});
  EXPECT_EQ(make.found(), Lines{6});
}

}  // namespace
}  // namespace ridge::model
