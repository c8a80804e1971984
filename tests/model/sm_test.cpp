#include "model/sm.h"

#include <gtest/gtest.h>

#include "model/launch.h"
#include "work.h"

namespace ridge::model {
namespace {

std::vector<uint32_t> repeat(uint32_t step, size_t count) {
  return std::vector<uint32_t>(count, step);
}

double cycles_of(const WorkMaker& make, double blocks = 1, int resident = 1, double sms = 132) {
  const Figures& figures = h200();
  return run_sm(make.work, figures, blocks, resident, sms).cycles - figures.first_instruction;
}

TEST(Sm, AChainTakesItsLatency) {
  WorkMaker make;
  make.blocks(1, {repeat(make.fma(1, 1), 1000)});
  EXPECT_NEAR(cycles_of(make), 4000, 50);
}

TEST(Sm, IndependentInstructionsOfOneWarpTakeOneCycleEach) {
  WorkMaker make;
  make.blocks(1, {repeat(make.fma(2, 1), 1000)});
  EXPECT_NEAR(cycles_of(make), 1000, 50);
}

TEST(Sm, FourSchedulersWorkSideBySide) {
  WorkMaker make;
  const uint32_t step = make.fma(1, 1);
  make.blocks(1, std::vector(16, repeat(step, 1000)));  // four warps each hide the latency
  EXPECT_NEAR(cycles_of(make), 4000 * h200().issue_cycles, 50);
}

TEST(Sm, AHalfRatePipeTakesTwice) {
  WorkMaker make;
  const uint32_t step = make.add({.pipe = Pipe::alu, .busy = 2, .latency = 4}, {1}, {2});
  make.blocks(1, {repeat(step, 1000)});
  EXPECT_NEAR(cycles_of(make), 2000, 50);
}

TEST(Sm, WarpsWaitForTheSlowestAtABarrier) {
  WorkMaker make;
  const uint32_t slow = make.fma(1, 1), barrier = make.barrier(), after = make.fma(3, 3);
  std::vector<uint32_t> late = repeat(slow, 500), early;
  for (std::vector<uint32_t>* stream : {&late, &early}) {
    stream->push_back(barrier);
    stream->insert(stream->end(), 100, after);
  }
  make.blocks(1, {late, early});
  EXPECT_NEAR(cycles_of(make), 2000 + 400, 60);
}

// One load after the other, each at the address that the one before brought.
TEST(Sm, LatencyOfTheFirstCacheAndOfDram) {
  const Figures& figures = h200();
  for (const bool cold : {false, true}) {
    WorkMaker make;
    const uint32_t load = make.load(1, 1);
    if (cold) make.work.traffic[0] = {.sectors = 4, .misses = 4};
    std::vector<uint32_t> stream;
    for (uint32_t i = 0; i < 100; ++i) {
      stream.push_back(load);
      WorkMaker::line(stream, cold ? 1000 * i : 0);
    }
    make.blocks(1, {stream});
    const double expected = cold ? figures.dram_latency : figures.l1_latency;
    EXPECT_NEAR(cycles_of(make, 1, 1, 1) / 100, expected, 0.1 * expected) << cold;
  }
}

// Enough in flight: what an SM gets is its share of DRAM, and two waves take twice as long.
TEST(Sm, BandwidthIsShared) {
  const Figures& figures = h200();
  WorkMaker make;
  const uint32_t load = make.load(1, 0);
  make.work.traffic[0] = {.sectors = 4, .misses = 4};
  std::vector<std::vector<uint32_t>> warps(32);
  const uint32_t use = make.fma(2, 1);
  for (uint32_t w = 0; w < 32; ++w) {
    for (uint32_t i = 0; i < 64; ++i) {
      warps[w].push_back(load);
      WorkMaker::line(warps[w], w * 64 + i);
    }
    warps[w].push_back(use);
  }
  make.blocks(1, warps);
  Figures clean = figures;
  clean.l2_dirty_bytes = 0;
  const double bytes = 32 * 64 * 128;
  const double all = run_sm(make.work, clean, 1, 1, 132).cycles;
  EXPECT_NEAR(all, bytes / clean.dram_bytes_per_cycle, 0.15 * all);
  const double alone = run_sm(make.work, clean, 1, 1, 1).cycles;
  EXPECT_LT(alone, 0.5 * all);
}

// ptxas has no branch around a short body: a warp that skips it takes its slots, and waits for
// nothing.
TEST(Sm, WhatNoLaneExecutesTakesItsSlots) {
  WorkMaker make;
  const uint32_t load = make.load(1, 1);
  make.work.ops[make.work.steps[load].op].busy = 1;
  make.blocks(1, std::vector(32, repeat(load | kSwitchedOff, 500)));
  EXPECT_NEAR(cycles_of(make), 32 * 500, 100);  // one memory pipe
}

TEST(Sm, ConstantMemoryServesOneWordAtATime) {
  const Figures& figures = h200();
  for (const uint32_t words : {1u, 32u}) {
    WorkMaker make;
    const uint32_t load =
        make.add({.kind = Op::Kind::constant, .pipe = Pipe::none, .accesses = 1}, {1}, {1});
    std::vector<uint32_t> stream;
    for (int i = 0; i < 100; ++i) stream.insert(stream.end(), {load, words, 0});
    make.blocks(1, {stream});
    EXPECT_NEAR(cycles_of(make) / 100,
                figures.constant_latency + 1 + (words - 1) * figures.constant_word, 4)
        << words;
  }
}

// Additions go to the pipe that has less to do; comparisons cannot.
TEST(Sm, AdditionsUseTwoPipes) {
  for (const bool either : {false, true}) {
    WorkMaker make;
    const uint32_t step =
        make.add({.pipe = Pipe::alu, .may_use_fma = either, .busy = 2, .latency = 4}, {1}, {2});
    make.blocks(1, std::vector(16, repeat(step, 500)));
    EXPECT_NEAR(cycles_of(make), either ? 2000 : 4000, 100) << either;
  }
}

// A stream that was too long to keep stands for the rest of its warp.
TEST(Launch, WhatWasCutCounts) {
  WorkMaker make;
  make.blocks(1, {repeat(make.fma(1, 1), 50000)});
  const double whole = predict(make.work, h200(), 1).us;
  make.work.sm[0].followed = 50000;
  make.work.sm[0].cut = 150000;
  const double launch = h200().launch_us;
  EXPECT_NEAR(predict(make.work, h200(), 1).us - launch, 4 * (whole - launch), 0.01 * whole);
}

// The SM that gets the heavy blocks ends last.
TEST(Launch, BlocksOfUnequalWork) {
  WorkMaker make;
  make.blocks(1, {repeat(make.fma(1, 1), 50000)});
  make.work.sm[0].issued = 50000;
  make.work.blocks = make.work.blocks_run = 132;
  make.work.issued.assign(132, 50000);
  const double equal = predict(make.work, h200(), 1).us;
  make.work.issued[17] = 150000;
  EXPECT_NEAR(predict(make.work, h200(), 1).us / equal, 3, 0.2);
}

TEST(Launch, SaysWhatHoldsItUp) {
  WorkMaker make;
  const uint32_t step = make.fma(1, 1);
  make.blocks(1, std::vector(32, repeat(step, 2000)));
  make.work.blocks = make.work.blocks_run = 132 * 4;
  const Prediction busy = predict(make.work, h200(), 2);
  EXPECT_EQ(busy.bound, "issue");
  EXPECT_LT(busy.low_us, busy.us);
  EXPECT_LT(busy.us, busy.high_us);
  make.work.blocks = make.work.blocks_run = 3;
  EXPECT_EQ(predict(make.work, h200(), 2).bound, "idle");
}

// On a card that nobody compared the limits are twice as wide.
TEST(Launch, UncheckedFiguresWidenTheBand) {
  WorkMaker make;
  make.blocks(1, {repeat(make.fma(1, 1), 50000)});
  make.work.blocks = uint64_t(h200().sms);
  Figures unchecked = h200();
  unchecked.checked = false;
  const Prediction one = predict(make.work, h200(), 1), other = predict(make.work, unchecked, 1);
  EXPECT_TRUE(one.checked);
  EXPECT_FALSE(other.checked);
  EXPECT_DOUBLE_EQ(one.us, other.us);
  EXPECT_NEAR(other.high_us - other.us, 2 * (one.high_us - one.us), 1e-9);
  EXPECT_NEAR(other.us - other.low_us, 2 * (one.us - one.low_us), 1e-9);
}

// A few blocks wait for latencies that nothing hides: their time is less certain.
TEST(Launch, TheBandFollowsFromTheBound) {
  const auto width = [](uint64_t blocks) {
    WorkMaker make;
    make.blocks(1, std::vector(32, repeat(make.fma(1, 1), 50000)));
    make.work.blocks = blocks;
    const Prediction one = predict(make.work, h200(), 1);
    return std::pair(one.bound, (one.high_us - one.low_us) / 2 / one.us);
  };
  const auto few = width(4), many = width(uint64_t(h200().sms) * 4);
  EXPECT_EQ(few.first, "idle");
  EXPECT_EQ(many.first, "issue");
  EXPECT_NEAR(few.second, 0.6, 1e-9);
  EXPECT_NEAR(many.second, 0.19, 1e-9);
}

TEST(Launch, NotesWidenTheBand) {
  WorkMaker make;
  make.blocks(1, std::vector(32, repeat(make.fma(1, 1), 2000)));
  const Prediction usual = predict(make.work, h200(), 2);
  make.work.notes = {"waits for other blocks"};
  make.work.band = 3;
  const Prediction guessed = predict(make.work, h200(), 2);
  EXPECT_EQ(guessed.notes, make.work.notes);
  EXPECT_EQ(guessed.us, usual.us);
  EXPECT_LT(guessed.low_us, usual.low_us);
  EXPECT_GT(guessed.high_us, usual.high_us);
}

TEST(Launch, TensorCoresSlowTheClock) {
  const auto time = [&](Pipe pipe) {
    WorkMaker mine;
    mine.blocks(1, std::vector(16, repeat(mine.add({.pipe = pipe, .busy = 16}, {}, {}), 4000)));
    return predict(mine.work, h200(), 1).us;
  };
  EXPECT_GT(time(Pipe::tensor), 1.15 * time(Pipe::alu));
}

}  // namespace
}  // namespace ridge::model
