// Asynchronous copies, mbarriers, products and clusters, replayed on one SM.
#include "model/async.h"

#include <gtest/gtest.h>

#include "model/sm.h"
#include "work.h"

namespace ridge::model {
namespace {

double cycles_of(const WorkMaker& make, double sms = 132) {
  Figures figures;
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

}  // namespace
}  // namespace ridge::model
