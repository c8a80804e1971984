// Which loops' ends can be foreseen, and which kernels may wait for other blocks.
#include "vm/timing/loops.h"

#include <gtest/gtest.h>

#include "../observe/loaded.h"

namespace ridge::vm::timing {
namespace {

struct Found {
  std::vector<Loops::End> ends;
  bool may_wait = false;
};
Found find(const std::string& body) {
  const observe::Loaded loaded(R"(.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a_param, .param .u32 n_param)
{
 .reg .pred %p<9>; .reg .b32 %r<20>; .reg .f32 %f<9>; .reg .b64 %rd<9>;
 ld.param.u64 %rd1, [a_param];
 ld.param.u32 %r1, [n_param];
 mov.u32 %r2, 0;
 mov.u32 %r3, 0;
 mov.u64 %rd2, 0;
)" + body + "\n ret;\n}\n");
  EXPECT_EQ(loaded.error, "");
  if (!loaded.code) return {};
  const observe::Plan plan = observe::plan_of(*loaded.code);
  const Loops loops(*loaded.code, plan);
  Found found;
  for (uint32_t step = 0; step < plan.steps.size(); ++step)
    if (const Loops::End* const end = loops.at(step)) found.ends.push_back(*end);
  found.may_wait = may_wait(*loaded.code, plan);
  return found;
}
// Counts a register up to the parameter; `work` comes first.
std::string counted(const std::string& label, const std::string& counter, const std::string& work) {
  return label + ":\n" + work + "\n add.s32 " + counter + ", " + counter +
         ", 1;\n setp.lt.s32 %p1, " + counter + ", %r1;\n @%p1 bra " + label + ";\n";
}
const std::string kAdd = " fma.rn.f32 %f1, %f1, %f1, %f1;\n";

TEST(Loops, TheEndOfACountedLoopIsFound) {
  const Found found = find(counted("turn", "%r2", kAdd));
  ASSERT_EQ(found.ends.size(), 1u);
  EXPECT_EQ(found.ends[0].length, 4u);
  EXPECT_FALSE(found.ends[0].is_wide);
  EXPECT_TRUE(found.ends[0].is_signed);
}

TEST(Loops, TheTypeOfTheCounterIsKnown) {
  const Found found = find(R"(
turn:
 add.s64 %rd2, %rd2, 4;
 setp.ne.u64 %p1, %rd2, %rd1;
 @%p1 bra turn;)");
  ASSERT_EQ(found.ends.size(), 1u);
  EXPECT_TRUE(found.ends[0].is_wide);
  EXPECT_FALSE(found.ends[0].is_signed);
}

// Both go by the same predicate, as in PTX that is written by hand.
TEST(Loops, OnlyTheOutermostOneTells) {
  const Found found = find(counted("outer", "%r2", counted("inner", "%r3", kAdd)));
  ASSERT_EQ(found.ends.size(), 1u);
  EXPECT_EQ(found.ends[0].length, 7u);
}

TEST(Loops, TheLastComparisonBeforeTheBranchDecides) {
  const Found found =
      find("turn:\n setp.eq.s64 %p1, %rd2, 3;\n @%p1 add.s32 %r3, %r3, 1;\n" +
           std::string(" add.s32 %r2, %r2, 1;\n setp.lt.s32 %p1, %r2, %r1;\n @%p1 bra turn;"));
  ASSERT_EQ(found.ends.size(), 1u);
  EXPECT_FALSE(found.ends[0].is_wide);
}

TEST(Loops, OneThatALongLoopFollowsDoesNotTell) {
  const Found found = find(counted("first", "%r2", kAdd) + counted("second", "%r3", kAdd + kAdd));
  ASSERT_EQ(found.ends.size(), 1u);
  EXPECT_EQ(found.ends[0].length, 5u);  // the last one
}

TEST(Loops, OneThatAShortLoopFollowsDoes) {
  const Found found = find(counted("first", "%r2", kAdd + kAdd + kAdd + kAdd + kAdd + kAdd) +
                           counted("second", "%r3", kAdd));
  EXPECT_EQ(found.ends.size(), 2u);
}

TEST(Loops, ComparisonsThatEndNoLoopAreNone) {
  EXPECT_TRUE(find(" setp.lt.s32 %p1, %r2, %r1;\n @%p1 bra out;\n" + kAdd + "out:").ends.empty());
  // Of floating point: nothing is counted.
  EXPECT_TRUE(find("turn:\n" + kAdd + " setp.lt.f32 %p1, %f1, %f2;\n @%p1 bra turn;").ends.empty());
  // Another predicate than the branch's.
  EXPECT_EQ(find("turn:\n setp.eq.s32 %p2, %r2, 3;\n @%p2 " + kAdd +
                 " add.s32 %r2, %r2, 1;\n setp.lt.s32 %p1, %r2, %r1;\n @%p1 bra turn;")
                .ends.size(),
            1u);
}

// A warp that comes to a comparison of two registers.
struct Turns {
  Warp warp;
  Inst at;
  Foreseen foreseen;
  Loops::End end = {.length = 10, .is_wide = false, .is_signed = true};
  alignas(64) int32_t values[2][32] = {};

  Turns() {
    warp.base[0] = reinterpret_cast<uint8_t*>(values);
    warp.mask = ~7u;  // the first lanes do something else
    at.b = sizeof values[0];
  }
  void turn(int32_t value, int32_t bound, double executed) {
    values[0][3] = value;
    values[1][3] = bound;
    foreseen.note(end, warp, &at, executed);
  }
  // -1: it cannot be known.
  double left() const {
    double left = -1;
    return foreseen.knows(left) ? left : -1;
  }
};

TEST(Foreseen, ACounterTellsWhatIsLeft) {
  Turns turns;
  EXPECT_EQ(turns.left(), -1);
  for (int i = 0; i < 6; ++i) {
    turns.turn(i, 100, 50 + 20 * i);
    EXPECT_EQ(turns.left(), -1) << i;  // too soon
  }
  turns.turn(6, 100, 50 + 20 * 6);
  EXPECT_DOUBLE_EQ(turns.left(), 94 * 20);
  turns.foreseen.clear();
  EXPECT_EQ(turns.left(), -1);
}

TEST(Foreseen, ACounterMayFall) {
  Turns turns;
  for (int i = 0; i < 10; ++i) turns.turn(1000 - 4 * i, 0, 7 * i);
  EXPECT_DOUBLE_EQ(turns.left(), 964 / 4 * 7);
}

TEST(Foreseen, UnsignedCountersAreLarge) {
  Turns turns;
  turns.end.is_signed = false;
  for (int i = 0; i < 10; ++i) turns.turn(i, int32_t(0x80000009), i);
  EXPECT_DOUBLE_EQ(turns.left(), double(0x80000000));
}

TEST(Foreseen, WhatDoesNotCountIsNotForeseen) {
  Turns stays, away, changes;
  for (int i = 0; i < 20; ++i) {
    stays.turn(5, 100, i);
    away.turn(-i, 100, i);
    changes.turn(i * i, 1000, i);
  }
  EXPECT_EQ(stays.left(), -1);
  EXPECT_EQ(away.left(), -1);
  EXPECT_EQ(changes.left(), -1);
}

TEST(Foreseen, TheLongestLoopCounts) {
  Turns turns;
  const Inst other;
  const Loops::End shorter = {.length = 5, .is_wide = false, .is_signed = true};
  for (int i = 0; i < 10; ++i) {
    turns.turn(i, 5000, i);
    turns.foreseen.note(shorter, turns.warp, &other, i);
  }
  EXPECT_DOUBLE_EQ(turns.left(), 4991);
}

TEST(MayWait, ALoopThatAsksForWhatOthersWrite) {
  for (const char* ask :
       {" ld.volatile.global.u32 %r4, [%rd1];", " ld.acquire.gpu.global.u32 %r4, [%rd1];",
        " ld.relaxed.gpu.global.u32 %r4, [%rd1];", " atom.global.cas.b32 %r4, [%rd1], 0, 1;"}) {
    const std::string text(ask);
    EXPECT_TRUE(find("wait:\n" + text + "\n setp.eq.u32 %p1, %r4, 0;\n @%p1 bra wait;").may_wait)
        << ask;
    EXPECT_FALSE(find(text).may_wait) << ask << " outside of loops";
    EXPECT_FALSE(find(text + counted("turn", "%r2", kAdd)).may_wait) << ask << " before a loop";
    EXPECT_FALSE(find(counted("turn", "%r2", kAdd) + text).may_wait) << ask << " after a loop";
  }
}

TEST(MayWait, NotForPlainLoadsInLoops) {
  EXPECT_FALSE(find(counted("turn", "%r2", " ld.global.u32 %r4, [%rd1];")).may_wait);
  EXPECT_FALSE(find(counted("turn", "%r2", " st.global.u32 [%rd1], %r2;")).may_wait);
}

}  // namespace
}  // namespace ridge::vm::timing
