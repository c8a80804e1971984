// What people are told about the part of the GPU that holds a launch up.
#include "model/why.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <set>
#include <utility>

#include "work.h"

namespace ridge::model {
namespace {

const char* const kBounds[] = {"memory", "l2",     "l1_shared", "issue", "fma",   "fp64",
                               "sfu",    "tensor", "latency",   "idle",  "launch"};

// Every part is busy for another share of the time, so that a sentence shows which one it read.
SmTime busy() {
  SmTime sm;
  sm.dram_of_peak = 0.91;
  sm.l2_of_peak = 0.82;
  sm.lsu = 0.73;
  sm.issue = 0.64;
  sm.atomics = 0.55;
  sm.pipes[size_t(Pipe::alu)] = 0.10;
  sm.pipes[size_t(Pipe::fma)] = 0.46;
  sm.pipes[size_t(Pipe::fp64)] = 0.37;
  sm.pipes[size_t(Pipe::sfu)] = 0.28;
  sm.pipes[size_t(Pipe::tensor)] = 0.19;
  return sm;
}
Work of_blocks(uint64_t blocks) {
  Work work;
  work.blocks = blocks;
  return work;
}
std::string why_of(const std::string& bound, const SmTime& sm = busy(), uint64_t blocks = 1320) {
  return why(bound, sm, of_blocks(blocks), h200());
}
bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Why, EveryBoundHasASentenceOfItsOwn) {
  std::set<std::string> all;
  for (const char* bound : kBounds) {
    const std::string text = why_of(bound);
    EXPECT_FALSE(text.empty()) << bound;
    EXPECT_EQ(text.find('\n'), std::string::npos) << bound;
    EXPECT_LT(text.size(), 160u) << bound;  // not cut off
    EXPECT_TRUE(all.insert(text).second) << bound << ": " << text;
  }
}

TEST(Why, ItNamesThePartThatIsBusy) {
  const std::pair<const char*, const char*> cases[] = {
      {"memory", "91 %"}, {"l2", "82 %"},   {"l1_shared", "73 %"}, {"issue", "64 %"},
      {"fma", "46 %"},    {"fp64", "37 %"}, {"sfu", "28 %"},       {"tensor", "19 %"}};
  for (const auto& [bound, part] : cases)
    EXPECT_TRUE(has(why_of(bound), part)) << bound << ": " << why_of(bound);
}

TEST(Why, TheBusierOfTwoPipesIsTold) {
  SmTime sm = busy();
  sm.pipes[size_t(Pipe::fma_heavy)] = 0.77;
  sm.pipes[size_t(Pipe::alu)] = 0.88;
  EXPECT_TRUE(has(why_of("fma", sm), "77 %")) << why_of("fma", sm);
  EXPECT_TRUE(has(why_of("issue", sm), "88 %")) << why_of("issue", sm);
}

TEST(Why, NothingIsBusierThanAlways) {
  SmTime sm;
  sm.lsu = 1.3;
  EXPECT_TRUE(has(why_of("l1_shared", sm), " 100 %")) << why_of("l1_shared", sm);
}

TEST(Why, TooFewBlocksAreCounted) { EXPECT_EQ(why_of("idle", busy(), 3), "3 blocks for 132 SMs"); }

// Too little is on its way for the time that it takes.
TEST(Why, LatencyTellsOfBytesInFlight) {
  SmTime sm;
  sm.dram_of_peak = sm.l2_of_peak = 0.3;
  sm.issue = 0.1;
  const std::string text = why_of("latency", sm);
  int now = 0, needed = 0;
  ASSERT_EQ(std::sscanf(text.c_str(), "%d KB in flight per SM, %d KB needed", &now, &needed), 2)
      << text;
  EXPECT_GT(now, 0);
  EXPECT_LT(now, needed);
  sm.dram_of_peak = sm.l2_of_peak = 0.2;
  int less = 0;
  ASSERT_EQ(std::sscanf(why_of("latency", sm).c_str(), "%d KB in flight", &less), 1);
  EXPECT_LT(less, now);
}

TEST(Why, LatencyWithoutMemoryTellsHowRarelyItIssues) {
  SmTime sm;
  sm.dram_of_peak = sm.l2_of_peak = 0.05;
  sm.issue = 0.1;
  EXPECT_TRUE(has(why_of("latency", sm), "one instruction in 10 cycles")) << why_of("latency", sm);
  sm.issue = 0.9;  // it never says "in 1 cycles"
  EXPECT_TRUE(has(why_of("latency", sm), "in 2 cycles")) << why_of("latency", sm);
}

// Enough is on its way: the memory is not to blame.
TEST(Why, LatencyWithEnoughInFlightDoesNotBlameMemory) {
  SmTime sm;
  sm.dram_of_peak = sm.l2_of_peak = 1;
  sm.issue = 0.25;
  EXPECT_TRUE(has(why_of("latency", sm, 1), "one instruction in 4 cycles"))
      << why_of("latency", sm, 1);
}

TEST(Why, LatencyOfAtomicsIsSaid) {
  SmTime sm;
  sm.atomics = 0.97;
  EXPECT_EQ(why("latency", sm, Work{}, h200()),
            "atomics on the same words take turns for 97 % of the time");
}

TEST(Why, NobodyKnowsOtherBounds) { EXPECT_EQ(why_of("link"), ""); }

}  // namespace
}  // namespace ridge::model
