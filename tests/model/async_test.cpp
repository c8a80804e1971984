// Asynchronous copies, mbarriers, products and clusters, replayed on one SM.
#include "model/async.h"

#include <gtest/gtest.h>

#include <unordered_map>

#include "model/sm.h"
#include "work.h"

namespace ridge::model {
namespace {

double cycles_of(const WorkMaker& make, double sms = 132) {
  Figures figures = h200();
  figures.l2_dirty_bytes = 0;
  return run_sm(make.work, figures, 1, 1, sms).cycles - figures.first_instruction;
}

using Stream = std::vector<uint32_t>;
void append(Stream& stream, const Stream& more) {
  stream.insert(stream.end(), more.begin(), more.end());
}

struct AsyncMaker : WorkMaker {
  uint32_t add_op(Op::Kind kind, Op op = {}) {
    op.kind = kind;
    op.ends = true;
    op.accesses = kind >= Op::Kind::signal || kind == Op::Kind::named_barrier ||
                  kind == Op::Kind::bulk_load || kind == Op::Kind::bulk_store;
    if (kind >= Op::Kind::lands) op.issues = 0;
    return add(op, {}, {});
  }
  // A warpgroup's product of 64 x n sums over 32 bytes of k; each warp has a quarter of it.
  uint32_t product(int n) {
    return add_op(
        Op::Kind::product,
        {.pipe = Pipe::tensor, .operands = float(2048 + 32 * n) / 512, .busy = float(n) / 2});
  }
  uint32_t wait(Op::Kind kind, uint8_t newest) { return add_op(kind, {.newest = newest}); }
};

TEST(Groups, AWaitLeavesTheNewest) {
  Groups groups;
  groups.add(100), groups.commit();
  groups.add(50), groups.commit();
  groups.add(300), groups.commit();
  groups.add(900);
  EXPECT_EQ(groups.wait(2), 100);
  EXPECT_EQ(groups.wait(0), 300);  // what is not committed does not count
  EXPECT_EQ(groups.wait(Groups::kAll), 900);
}

TEST(Phases, AreOverWithTheLastSignal) {
  Work::Block block;
  block.signals[phase_key(64, 0)] = 2;
  Phases phases;
  phases.begin(block);
  EXPECT_FALSE(phases.is_over(phase_key(64, 0)));
  EXPECT_TRUE(phases.is_over(phase_key(72, 0)));  // nobody signals it in what was kept
  phases.wait(phase_key(64, 0), 7);
  EXPECT_TRUE(phases.signal(phase_key(64, 0), 500).empty());
  EXPECT_EQ(phases.signal(phase_key(64, 0), 400), std::vector<int>{7});
  EXPECT_EQ(phases.over(phase_key(64, 0)), 500);
}

// wgmma.bf16_n*.latency and .rate_by_warpgroups of an H200: sixteen products, then a wait.
TEST(Async, ProductsOfWarpgroups) {
  const struct {
    int n, groups;
    double cycles;  // of sixteen products of each warpgroup
  } measured[] = {{256, 1, 2125}, {256, 2, 4112}, {128, 1, 1096}, {128, 2, 2058},
                  {64, 1, 590},   {64, 2, 1032},  {32, 1, 453},   {32, 2, 775}};
  for (const auto& [n, groups, cycles] : measured) {
    AsyncMaker make;
    const uint32_t fence = make.add_op(Op::Kind::fence_products), product = make.product(n),
                   commit = make.add_op(Op::Kind::commit_products),
                   wait = make.wait(Op::Kind::wait_products, 0);
    Stream stream;
    for (int round = 0; round < 20; ++round) {
      stream.push_back(fence);
      stream.insert(stream.end(), 16, product);
      append(stream, {commit, wait});
    }
    make.blocks(1, std::vector(size_t(4 * groups), stream));
    EXPECT_NEAR(cycles_of(make) / 20, cycles, 0.08 * cycles) << n << " x " << groups;
  }
}

// A ring of stages: one warp copies, the other works for so many cycles per stage. With one stage
// they take turns; with enough of them, only the slower one counts.
double ring(uint32_t stages, int work) {
  constexpr uint32_t kRounds = 64, kLines = 64, kFull = 0, kEmpty = 1024;
  AsyncMaker make;
  const uint32_t load = make.add_op(Op::Kind::bulk_load), lands = make.add_op(Op::Kind::lands),
                 signal = make.add_op(Op::Kind::signal), wait = make.add_op(Op::Kind::wait_phase),
                 step = make.fma(1, 1);
  Stream producer, consumer;
  std::unordered_map<uint64_t, uint32_t> signals;
  for (uint32_t r = 0; r < kRounds; ++r) {
    const uint32_t full = kFull + r % stages * 8, empty = kEmpty + r % stages * 8;
    const uint32_t phase = r / stages;
    if (phase) append(producer, {wait, 0, 1, empty, phase - 1});
    append(producer, {load, kLines * 128, kLines});
    for (uint32_t i = 0; i < kLines; ++i) append(producer, {r * kLines + i, 0xfu << 28});
    append(producer, {lands, kLines * 128, 1, full, phase});
    append(consumer, {wait, 0, 1, full, phase});
    consumer.insert(consumer.end(), size_t(work / 4), step);
    append(consumer, {signal, 0, 1, empty, phase});
    ++signals[phase_key(full, phase)], ++signals[phase_key(empty, phase)];
  }
  make.blocks(1, {producer, consumer});
  make.work.sm[0].signals = signals;
  return cycles_of(make, 1) / kRounds;
}

TEST(Async, StagesOverlapCopiesAndWork) {
  const double one = ring(1, 400), four = ring(4, 400);
  EXPECT_NEAR(four, 400, 40);                       // the copies are hidden
  EXPECT_GT(one, 400 + h200().l2_latency);          // they are not
  EXPECT_GT(ring(4, 40), 0.9 * h200().bulk_issue);  // the one who asks is the limit
  EXPECT_LT(ring(2, 400), one - 0.5 * h200().l2_latency);
}

// Two warps signal, the third waits for both; a fourth one has nothing to do with it.
TEST(Async, NamedBarriersCountWarps) {
  AsyncMaker make;
  const uint32_t barrier = make.add_op(Op::Kind::named_barrier), step = make.fma(1, 1);
  const auto come = [&](Stream& stream, uint32_t waits) {
    append(stream, {barrier, 3u << 1 | waits, 1, 96, 0});
  };
  Stream slow(500, step), quick, waiting, other(100, step);
  come(slow, 0), come(quick, 0), come(waiting, 1);
  waiting.insert(waiting.end(), 100, step);
  quick.insert(quick.end(), 100, step);
  make.blocks(1, {slow, quick, waiting, other});
  EXPECT_NEAR(cycles_of(make), 4 * 600, 60);
}

TEST(Async, ClustersMeetLater) {
  AsyncMaker make;
  const uint32_t arrive = make.add_op(Op::Kind::cluster_arrive),
                 wait = make.add_op(Op::Kind::cluster_wait), step = make.fma(1, 1);
  Stream stream;
  for (int i = 0; i < 50; ++i) {
    stream.push_back(arrive);
    stream.insert(stream.end(), 25, step);  // hidden behind the barrier
    stream.push_back(wait);
  }
  make.blocks(1, std::vector(4, stream));
  EXPECT_NEAR(cycles_of(make) / 50, h200().cluster_barrier, 30);
}

// Bytes to another SM: a latency, and a rate.
TEST(Async, SharedMemoryOfOtherBlocks) {
  const Figures& figures = h200();
  for (const uint32_t warps : {1u, 32u}) {
    WorkMaker make;
    const uint32_t load = make.add(
        {.kind = Op::Kind::load, .pipe = Pipe::lsu, .accesses = 1, .is_shared = true}, {1}, {1});
    Stream stream;
    for (int i = 0; i < 50; ++i) append(stream, {load, 1, 1, 512, 0});
    make.blocks(1, std::vector(warps, stream));
    const double each = 512 / figures.cluster_bytes_per_cycle;
    EXPECT_NEAR(cycles_of(make) / 50, warps == 1 ? each + figures.cluster_latency : warps * each,
                0.1 * warps * each + 20)
        << warps;
  }
}

TEST(Async, ACopyWaitsForItsGroupOnly) {
  AsyncMaker make;
  const uint32_t copy = make.add(
      {.kind = Op::Kind::copy, .pipe = Pipe::lsu, .accesses = 1, .bypasses_l1 = true}, {}, {});
  const uint32_t commit = make.add_op(Op::Kind::commit_copies);
  const auto cycles = [&](uint8_t newest) {
    AsyncMaker mine = make;
    const uint32_t wait = mine.wait(Op::Kind::wait_copies, newest);
    Stream stream;
    for (uint32_t i = 0; i < 64; ++i) {
      append(stream, {copy, 1, 1, i, 0xfu << 28, commit, wait});
    }
    mine.blocks(1, {stream});
    return cycles_of(mine, 1) / 64;
  };
  EXPECT_NEAR(cycles(0), h200().l2_latency, 40);
  EXPECT_NEAR(cycles(3), h200().l2_latency / 4, 25);
}

TEST(Async, AFenceStopsItsWarp) {
  AsyncMaker make;
  const uint32_t fence = make.add({.pipe = Pipe::control, .stall = 500, .ends = true}, {}, {});
  make.blocks(1, {Stream(40, fence)});
  EXPECT_NEAR(cycles_of(make) / 40, 500, 20);
}

}  // namespace
}  // namespace ridge::model
