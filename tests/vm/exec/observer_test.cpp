// Several observers of one launch: each is told what it asked for, and nothing else.
#include "vm/exec/observer.h"

#include <utility>

#include "machine.h"
#include "vm/exec/grid.h"

namespace ridge::vm::testing {
namespace {

// Wants to hear of some instructions, and how often all of them were met.
class Listener : public Observer {
 public:
  using Wants = bool (*)(const InstMeta& meta);
  Listener(const char* name, std::string& events, Wants wants, bool counts)
      : name_(name), events_(events), wants_(wants), counts_(counts) {
    add_observer(this);
  }
  ~Listener() override { remove_observer(this); }

  void begin(const GridRun&, unsigned) override { events_ += std::string(name_) + " begins, "; }
  void end(const GridRun&) override {
    events_ += std::string(name_) + " ends, ";
    for (const Watch::Executed& one : executed_) {
      warps += one.warps;
      threads += one.threads;
    }
  }
  Watch watch(const Warp& w) override {
    const Code& code = *w.frame->code;
    if (wants_ && told_.empty())
      for (const InstMeta& meta : code.meta) told_.push_back(wants_(meta));
    if (counts_) executed_.resize(code.insts.size());
    return {counts_ ? executed_.data() : nullptr, wants_ ? told_.data() : nullptr};
  }
  void before(const Warp&, const Inst*) override { ++heard; }
  void barrier_opens(const Block&, uint32_t) override {
    events_ += std::string(name_) + " meets, ";
  }
  std::vector<uint64_t> choose(const GridRun&) override {
    return std::exchange(chooses, false) ? std::vector<uint64_t>{1} : std::vector<uint64_t>();
  }
  void finish() override {}

  uint64_t heard = 0, warps = 0, threads = 0;
  bool chooses = false;  // block 1, and no other

 private:
  const char* const name_;
  std::string& events_;
  const Wants wants_;
  const bool counts_;
  std::vector<uint8_t> told_;
  std::vector<Watch::Executed> executed_;
};

bool is_store(const InstMeta& meta) {
  return meta.accesses && meta.source->mnemonic.starts_with("st.global");
}
bool is_barrier(const InstMeta& meta) {
  return meta.source && meta.source->mnemonic.starts_with("bar");
}

class Observed : public ::testing::Test {
 protected:
  // Two blocks of two warps, 16 lanes of the first of which store, and a barrier: how many warp
  // instructions were counted.
  uint64_t run() {
    Machine m(1);
    m.engine().set_counting(true);
    m.load_body(R"(
  mov.u32 %r1, %tid.x;
  setp.lt.u32 %p1, %r1, 16;
  @%p1 st.global.u32 [%out], %r1;
  bar.sync 0;)");
    const uint64_t out = m.allocate(std::vector<uint32_t>(1));
    EXPECT_FALSE(m.run({2}, {48}, out));
    return m.engine().counts().warp_instructions;
  }
  std::string events;
};

TEST_F(Observed, EachHearsOfTheInstructionsThatItAskedFor) {
  Listener stores("a", events, is_store, false), barriers("b", events, is_barrier, false);
  Listener all("c", events, nullptr, false);
  run();
  EXPECT_EQ(stores.heard, 2u);  // a warp without a lane to store passes by
  EXPECT_EQ(barriers.heard, 2u * 2);
  EXPECT_GE(all.heard, 2u * 2 * 5);
}
TEST_F(Observed, EventsComeInTheOrderOfSubscription) {
  Listener first("a", events, is_store, false), second("b", events, is_store, false);
  run();
  EXPECT_EQ(events, "a begins, b begins, a meets, b meets, a meets, b meets, a ends, b ends, ");
}
TEST_F(Observed, CountsAreTheSameAloneAndBesideOthers) {
  uint64_t warps = 0, threads = 0;
  {
    Listener alone("a", events, is_barrier, true);
    run();
    warps = alone.warps, threads = alone.threads;
    EXPECT_GE(warps, 2u * 2 * 5);
  }
  Listener first("a", events, is_store, true), second("b", events, is_barrier, true);
  Listener uncounted("c", events, is_store, false);
  run();
  EXPECT_EQ(first.warps, warps);
  EXPECT_EQ(first.threads, threads);
  EXPECT_EQ(second.warps, warps);
  EXPECT_EQ(second.threads, threads);
  EXPECT_EQ(uncounted.warps, 0u);
}
TEST_F(Observed, InstructionsAreCountedAsWell) {
  const uint64_t unobserved = run();
  EXPECT_GE(unobserved, 2u * 2 * 5);
  const Listener first("a", events, is_barrier, true);
  EXPECT_EQ(run(), unobserved);
  const Listener second("b", events, is_store, false);
  EXPECT_EQ(run(), unobserved);
}
TEST_F(Observed, OnlyOneAloneChoosesBlocks) {
  {
    Listener alone("a", events, is_barrier, false);
    alone.chooses = true;
    run();
    EXPECT_EQ(alone.heard, 2u);  // block 1 of two
  }
  Listener first("a", events, is_barrier, false), second("b", events, is_barrier, false);
  first.chooses = true;
  run();
  EXPECT_EQ(first.heard, 2u * 2);
}
TEST_F(Observed, WhoLeavesHearsNoMore) {
  Listener first("a", events, is_barrier, false);
  {
    const Listener second("b", events, is_barrier, false);
    EXPECT_NE(observer(), &first);
  }
  EXPECT_EQ(observer(), &first);  // nothing stands between it and the loop
}

}  // namespace
}  // namespace ridge::vm::testing
