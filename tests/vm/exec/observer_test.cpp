// Several observers of one launch: each is told what it asked for, and nothing else.
#include "vm/exec/observer.h"

#include <map>
#include <optional>

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
    const uint64_t block = w.block->index;
    if (wants_ && told_.empty())
      for (const InstMeta& meta : code.meta) told_.push_back(wants_(meta));
    if (counts_) executed_.resize(code.insts.size());
    if (blocks.empty() || blocks.back() != block) {
      uint64_t counted = 0;
      for (const Watch::Executed& one : executed_) counted += one.warps;
      // Every block executes as much.
      if (blocks.size() == 1) of_a_block_ = counted;
      counted_at_blocks.push_back(of_a_block_ ? counted / of_a_block_ : 0);
      blocks.push_back(block);
    }
    const bool all = !wants_ || (all_of_odd_blocks && block % 2);
    return {counts_ ? executed_.data() : nullptr, all ? nullptr : told_.data()};
  }
  void before(const Warp& w, const Inst*) override {
    ++heard;
    ++heard_of[w.block->index];
  }
  void barrier_opens(const Block&, uint32_t) override {
    events_ += std::string(name_) + " meets, ";
  }
  std::vector<uint64_t> choose(const GridRun&) override {
    if (chooses.empty()) return {};
    const std::vector<uint64_t> next = chooses.front();
    chooses.erase(chooses.begin());
    return next;
  }
  bool watches(const GridRun&) override { return watches_launches; }
  bool ends_blocks() const override { return has_enough_of_blocks; }
  bool has_enough(const Block&) override { return true; }
  void finish() override {}

  bool has_enough_of_blocks = false, watches_launches = true;
  uint64_t heard = 0, warps = 0, threads = 0;
  std::map<uint64_t, uint64_t> heard_of;       // by block
  std::vector<std::vector<uint64_t>> chooses;  // which blocks, by round
  bool all_of_odd_blocks = false;              // it wants to hear of all of their instructions
  std::vector<uint64_t> blocks;                // in the order they came
  std::vector<uint64_t> counted_at_blocks;     // when each began, in blocks

 private:
  const char* const name_;
  std::string& events_;
  const Wants wants_;
  const bool counts_;
  std::vector<uint8_t> told_;
  std::vector<Watch::Executed> executed_;
  uint64_t of_a_block_ = 0;
};

bool is_store(const InstMeta& meta) {
  return meta.accesses && meta.source->mnemonic.starts_with("st.global");
}
bool is_barrier(const InstMeta& meta) {
  return meta.source && meta.source->mnemonic.starts_with("bar");
}

class Observed : public ::testing::Test {
 protected:
  // Blocks of two warps, 16 lanes of the first of which store, and a barrier: how many warp
  // instructions were counted.
  uint64_t run(uint32_t blocks = 2) {
    Machine m(1);
    m.engine().set_counting(true);
    m.load_body(R"(
  mov.u32 %r1, %tid.x;
  setp.lt.u32 %p1, %r1, 16;
  @%p1 st.global.u32 [%out], %r1;
  bar.sync 0;)");
    const uint64_t out = m.allocate(std::vector<uint32_t>(1));
    EXPECT_FALSE(m.run({blocks}, {48}, out));
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
TEST_F(Observed, OneAloneHearsOfTheBlocksThatItChose) {
  Listener alone("a", events, is_barrier, true);
  alone.chooses = {{1}};
  run();
  EXPECT_EQ(alone.heard, 2u);  // block 1 of two
}
TEST_F(Observed, IfSomebodyWantsAllBlocksEverybodyHearsOfAll) {
  Listener first("a", events, is_barrier, false), second("b", events, is_barrier, false);
  first.chooses = {{1}};
  run();
  EXPECT_EQ(first.heard, 2u * 2);
  EXPECT_EQ(second.heard, 2u * 2);
}
TEST_F(Observed, EachHearsOfTheBlocksThatItChose) {
  const uint64_t of_five_blocks = run(5);
  Listener first("a", events, is_barrier, true), second("b", events, is_barrier, true);
  first.chooses = {{1, 4}, {2, 6}};
  second.chooses = {{2, 4, 5}};
  EXPECT_EQ(run(8), of_five_blocks);
  // Block 2 ran for the second before the first wanted it: it does not run again.
  EXPECT_EQ(first.blocks, (std::vector<uint64_t>{1, 4, 6}));
  EXPECT_EQ(second.blocks, (std::vector<uint64_t>{2, 4, 5}));
  EXPECT_EQ(first.heard, 2u * 3);
  EXPECT_EQ(first.warps, second.warps);  // three blocks each
}
TEST_F(Observed, BlocksEndEarlyIfAllWhoHearOfThemHaveEnough) {
  const uint64_t of_two_blocks = run(2);
  Listener first("a", events, is_store, false), second("b", events, is_barrier, false);
  first.chooses = {{1, 2}};
  first.has_enough_of_blocks = true;
  second.chooses = {{2}};
  const uint64_t instructions = run(8);
  EXPECT_LT(instructions, of_two_blocks);  // block 1 ended early, block 2 did not
  EXPECT_GT(instructions, of_two_blocks / 2);
  EXPECT_EQ(second.heard, 2u);
}
TEST_F(Observed, WhoDoesNotWatchALaunchHearsOfItsEndsOnly) {
  Listener first("a", events, is_barrier, true);
  first.watches_launches = false;
  run();
  EXPECT_EQ(events, "a begins, a ends, ");
  EXPECT_EQ(first.heard, 0u);
  Listener second("b", events, is_barrier, true);  // who does decides for all
  run();
  EXPECT_EQ(second.heard, 2u * 2);
}
TEST_F(Observed, AnswersMayDifferFromBlockToBlock) {
  for (const bool beside_others : {false, true}) {
    Listener one("a", events, is_store, true);
    one.all_of_odd_blocks = true;
    std::optional<Listener> other;
    if (beside_others) other.emplace("b", events, is_barrier, true);
    run(4);
    // What was counted is there when the next block begins.
    EXPECT_EQ(one.counted_at_blocks, (std::vector<uint64_t>{0, 1, 2, 3}));
    EXPECT_EQ(one.heard_of[0], 1u);
    EXPECT_GE(one.heard_of[1], 2u * 5);
    EXPECT_EQ(one.heard_of[0], one.heard_of[2]);
    EXPECT_EQ(one.heard_of[1], one.heard_of[3]);
    if (other) {
      EXPECT_EQ(other->heard, 4u * 2);
    }
  }
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
