// Which loops ptxas unrolls. What is expected here is what ptxas 13.0 made of the same loops.
#include "vm/timing/unrolled.h"

#include <gtest/gtest.h>

#include "../observe/loaded.h"
#include "vm/timing/uses.h"

namespace ridge::vm::timing {
namespace {

// How often the loop's body comes, of a kernel whose only loop begins at `turn`.
int times(const std::string& body) {
  const observe::Loaded loaded(R"(.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a_param, .param .u32 n_param)
{
 .reg .pred %p<9>; .reg .b32 %r<20>; .reg .f32 %f<9>; .reg .b64 %rd<9>;
 .shared .align 4 .b8 tile[4096];
 ld.param.u64 %rd1, [a_param];
 ld.param.u32 %r1, [n_param];
 mov.u32 %r2, %tid.x;
 mov.u32 %r4, tile;
 mov.f32 %f1, 0f00000000;
 mov.f32 %f2, 0f3F800000;
)" + body + "\n st.global.f32 [%rd1], %f1;\n ret;\n}\n");
  EXPECT_EQ(loaded.error, "");
  if (!loaded.code) return 0;
  const Function& function = *loaded.code->function;
  int most = 1;
  for (const uint8_t one : unrolled(function, Uses(function))) most = std::max<int>(most, one);
  return most;
}

std::string fmas(int n) {
  std::string all;
  for (int i = 0; i < n; ++i) all += " fma.rn.f32 %f1, %f1, %f2, %f1;\n";
  return all;
}
const std::string kLoad =
    " ld.global.f32 %f3, [%rd1];\n add.f32 %f1, %f1, %f3;\n add.s64 %rd1, %rd1, 1024;\n";
const std::string kShared = " ld.shared.f32 %f3, [%r4];\n add.f32 %f1, %f1, %f3;\n";
const std::string kEnd = " add.s32 %r2, %r2, 256;\n setp.lt.s32 %p1, %r2, %r1;\n @%p1 bra turn;\n";
int loop(const std::string& work, const std::string& end = kEnd) {
  return times("turn:\n" + work + end);
}

TEST(Unrolled, WithALoadUpToFiftyInstructions) {
  EXPECT_EQ(loop(kLoad + fmas(43)), 4);
  EXPECT_EQ(loop(kLoad + fmas(44)), 1);
}
TEST(Unrolled, ArithmeticAloneOnlyIfItIsShort) {
  EXPECT_EQ(loop(fmas(18)), 4);
  EXPECT_EQ(loop(fmas(20)), 1);
}
TEST(Unrolled, LoadsFromSharedMemoryMakeRoomForMore) {
  const std::string step = " add.s32 %r4, %r4, 4;\n";
  EXPECT_EQ(loop(kShared + step + fmas(20)), 4);
  EXPECT_EQ(loop(kShared + step + fmas(21)), 1);
  std::string eight;
  for (int i = 0; i < 8; ++i) eight += kShared;
  EXPECT_EQ(loop(eight + step + fmas(34)), 4);
  EXPECT_EQ(loop(eight + step + fmas(35)), 1);
}
TEST(Unrolled, StoresCountTwice) {
  const std::string store = " st.global.f32 [%rd1+4], %f1;\n";
  EXPECT_EQ(loop(kLoad + store + fmas(41)), 4);
  EXPECT_EQ(loop(kLoad + store + fmas(42)), 1);
}
TEST(Unrolled, StoresAnywhereKeepLoadsBehindThem) {
  const std::string address = " mul.wide.s32 %rd3, %r2, 4;\n add.s64 %rd3, %rd3, %rd2;\n";
  const std::string moved = " add.s64 %rd4, %rd4, 1024;\n";
  EXPECT_EQ(loop(address + kLoad + " st.global.f32 [%rd3], %f1;\n"), 1);
  EXPECT_EQ(loop(kLoad + " st.global.f32 [%rd4], %f1;\n" + moved), 4);
  EXPECT_EQ(loop(address + " st.global.f32 [%rd3], %f1;\n"), 4);  // no loads
  EXPECT_EQ(loop(" add.s32 %r6, %r4, %r2;\n" + kLoad + " st.shared.f32 [%r6], %f1;\n"), 4);
  EXPECT_EQ(loop(" add.s32 %r6, %r4, %r2;\n" + kShared + " st.shared.f32 [%r6], %f1;\n"), 1);
}
TEST(Unrolled, OnlyLoopsThatCountTowardsTheirEnd) {
  const auto with = [](const std::string& step, const std::string& compare) {
    return loop(kLoad, " " + step + ";\n " + compare + ";\n @%p1 bra turn;\n");
  };
  EXPECT_EQ(with("add.s32 %r2, %r2, 4", "setp.le.s32 %p1, %r2, %r1"), 4);
  EXPECT_EQ(with("add.s32 %r2, %r2, 4", "setp.gt.s32 %p1, %r1, %r2"), 4);
  EXPECT_EQ(with("add.s32 %r2, %r2, 4", "setp.ne.s32 %p1, %r2, %r1"), 4);
  EXPECT_EQ(with("add.s32 %r2, %r2, -4", "setp.ne.s32 %p1, %r2, 0"), 4);
  EXPECT_EQ(with("add.s32 %r2, %r2, -4", "setp.gt.s32 %p1, %r2, 0"), 4);
  EXPECT_EQ(with("sub.s32 %r2, %r2, 4", "setp.gt.s32 %p1, %r2, %r1"), 4);
  EXPECT_EQ(with("add.s32 %r2, %r2, 4", "setp.gt.s32 %p1, %r2, %r1"), 1);
  EXPECT_EQ(with("add.s32 %r2, %r2, %r1", "setp.lt.s32 %p1, %r2, %r1"), 1);
  EXPECT_EQ(with("add.s32 %r2, %r2, 4;\n add.s32 %r1, %r1, 1", "setp.lt.s32 %p1, %r2, %r1"), 1);
  EXPECT_EQ(with("setp.lt.s32 %p1, %r2, %r1", "add.s32 %r2, %r2, 4"), 1);
  EXPECT_EQ(with("add.s32 %r2, %r2, 4", "setp.lt.f32 %p1, %f3, %f2"), 1);
  EXPECT_EQ(with("add.s64 %rd2, %rd2, 4", "setp.lt.s64 %p1, %rd2, 100000"), 4);
}
TEST(Unrolled, NothingThatThreadsDoTogether) {
  for (const char* const one :
       {"bar.sync 0", "shfl.sync.bfly.b32 %r5, %r2, 1, 31, -1", "red.global.add.u32 [%rd1], 1",
        "atom.shared.add.u32 %r5, [%r4], 1", "membar.gl", "vote.sync.ballot.b32 %r5, %p2, -1",
        "div.rn.f32 %f1, %f1, %f2"})
    EXPECT_EQ(loop(kLoad + " " + one + ";\n"), 1) << one;
}
TEST(Unrolled, AnIfInsideMayBeThereButNoWayOut) {
  const std::string test = " setp.lt.f32 %p2, %f3, %f2;\n";
  EXPECT_EQ(loop(kLoad + test + " @%p2 bra skip;\n" + fmas(2) + "skip:\n"), 4);
  EXPECT_EQ(loop(kLoad + test + " @%p2 bra skip;\n st.global.f32 [%rd1], %f1;\nskip:\n"), 1);
  EXPECT_EQ(times("turn:\n" + kLoad + test + " @%p2 bra out;\n" + kEnd + "out:\n"), 1);
}
TEST(Unrolled, ALoopFromAConstantToAConstantDisappears) {
  const auto known = [](const std::string& work, const std::string& start = "mov.u32 %r8, 0") {
    return times(" " + start + ";\nturn:\n" + work +
                 " add.s32 %r8, %r8, 1;\n setp.lt.s32 %p1, %r8, 1024;\n @%p1 bra turn;\n");
  };
  EXPECT_EQ(known(kLoad + fmas(60)), kAllTimes);
  EXPECT_EQ(known(" bar.sync 0;\n" + fmas(30)), kAllTimes);
  EXPECT_EQ(known(" shfl.sync.bfly.b32 %r5, %r4, 1, 31, -1;\n"), kAllTimes);
  EXPECT_EQ(known(kLoad, "mov.u32 %r8, %tid.y"), 4);
  EXPECT_EQ(known(" .pragma \"nounroll\";\n" + kLoad), 1);
}
TEST(Unrolled, ThePragmaForbidsIt) { EXPECT_EQ(loop(" .pragma \"nounroll\";\n" + kLoad), 1); }
TEST(Unrolled, AnOuterLoopIsNot) {
  EXPECT_EQ(
      times(
          "outer:\n mov.u32 %r3, 0;\nturn:\n bar.sync 0;\n add.s32 %r3, %r3, 1;\n setp.lt.s32 %p1, "
          "%r3, %r1;\n @%p1 bra turn;\n add.s32 %r2, %r2, 1;\n setp.lt.s32 %p2, %r2, %r1;\n @%p2 "
          "bra outer;\n"),
      1);
}

}  // namespace
}  // namespace ridge::vm::timing
