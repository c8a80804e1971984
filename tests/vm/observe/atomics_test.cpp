// What ptxas makes of atomics: every case was seen in ptxas 13.0's machine code for sm_90
// (nvdisasm).
#include <gtest/gtest.h>

#include <string>

#include "loaded.h"
#include "vm/observe/plan.h"

namespace ridge::vm::observe {
namespace {

// Of the last atomic of the body: "red" or "atom", its way, and which lanes do it.
std::string atomic(const std::string& body) {
  const std::string text = R"(.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 o_param, .param .u32 n_param)
{
 .reg .pred %p<9>; .reg .f32 %f<9>; .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .b16 %rs<9>;
 .shared .align 16 .b8 s[4096];
 ld.param.u64 %rd1, [o_param];
 cvta.to.global.u64 %rd2, %rd1;
 ld.param.u32 %r9, [n_param];
 mov.u32 %r1, %tid.x;
 mov.u32 %r3, s;
 shl.b32 %r2, %r1, 2;
 add.s32 %r4, %r3, %r2;
 mul.wide.u32 %rd3, %r1, 8;
 add.s64 %rd4, %rd2, %rd3;
 cvt.u64.u32 %rd9, %r1;
 mov.f32 %f1, 0f3F800000;
 )" + body + R"(
 st.global.u32 [%rd4+1024], %r10;
 ret;
}
)";
  const Loaded loaded(text);
  if (!loaded.code) return loaded.error;
  const Plan plan = plan_of(*loaded.code);
  std::string out;
  for (const Touch& touch : plan.touches) {
    if (touch.action != Action::reduction && touch.action != Action::atomic) continue;
    const char* const ways[] = {"direct", "counting", "compare", "loop"};
    const char* const lanes[] = {"all", "one", "one of all"};
    out = std::string(name_of(touch.action)) + ' ' + ways[int(touch.atomic.way)] + ' ' +
          lanes[int(touch.atomic.lanes)] +
          (touch.atomic.loops_in_shared ? ", loops in shared" : "");
  }
  return out;
}

TEST(MachineAtomic, OneLaneWorksForAllAtOnePlace) {
  EXPECT_EQ(atomic("red.global.add.u32 [%rd2], %r1;"), "red direct one");
  EXPECT_EQ(atomic("red.global.max.s32 [%rd2], %r1;"), "red direct one");
  EXPECT_EQ(atomic("red.global.xor.b32 [%rd2], %r1;"), "red direct one");
  EXPECT_EQ(atomic("red.global.inc.u32 [%rd2], %r9;"), "red direct all");
  EXPECT_EQ(atomic("red.global.add.f32 [%rd2], %f1;"), "red direct all");
  EXPECT_EQ(atomic("red.global.add.u64 [%rd2], %rd9;"), "red direct all");
  EXPECT_EQ(atomic("red.global.add.u64 [%rd2], 1;"), "red direct one");
  EXPECT_EQ(atomic("red.global.add.u32 [%rd4], %r1;"), "red direct all");
}

TEST(MachineAtomic, WhereTheResultIsReadOnlyAdditionsAreJoined) {
  EXPECT_EQ(atomic("atom.global.add.u32 %r10, [%rd2], 1;"), "atom direct one");
  EXPECT_EQ(atomic("atom.global.add.u32 %r10, [%rd2], %r1;"), "atom direct one of all");
  EXPECT_EQ(atomic("atom.global.max.u32 %r10, [%rd2], %r1;"), "atom direct all");
  EXPECT_EQ(atomic("atom.global.add.u32 %r11, [%rd2], %r1;"), "red direct one");  // not read
  EXPECT_EQ(atomic("atom.global.exch.b32 %r11, [%rd2], %r1;"), "atom direct all");
  EXPECT_EQ(atomic("atom.global.cas.b32 %r11, [%rd2], 0, %r1;"), "atom compare all");
}

TEST(MachineAtomic, WhatIsOneForAllLanes) {
  const std::string add = "add.s64 %rd5, %rd2, %rd6;\n red.global.add.u32 [%rd5], %r1;";
  EXPECT_EQ(atomic("mov.u32 %r5, %ctaid.x;\n mul.wide.u32 %rd6, %r5, 4;\n" + add),
            "red direct one");
  EXPECT_EQ(atomic("ld.global.u32 %r5, [%rd2];\n mul.wide.u32 %rd6, %r5, 4;\n" + add),
            "red direct one");
  EXPECT_EQ(atomic("ld.global.u32 %r5, [%rd4];\n mul.wide.u32 %rd6, %r5, 4;\n" + add),
            "red direct all");
  EXPECT_EQ(atomic("shr.u32 %r5, %r1, 5;\n mul.wide.u32 %rd6, %r5, 4;\n" + add), "red direct all");
  EXPECT_EQ(atomic("shfl.sync.idx.b32 %r5, %r1, 0, 31, -1;\n mul.wide.u32 %rd6, %r5, 4;\n" + add),
            "red direct one");
  // Lanes that went different ways have different values.
  EXPECT_EQ(atomic("mov.u32 %r5, 0;\n setp.lt.u32 %p1, %r1, 7;\n @%p1 bra $L;\n mov.u32 %r5, 8;\n"
                   "$L:\n mul.wide.u32 %rd6, %r5, 4;\n" +
                   add),
            "red direct all");
  // A loop's counter is everybody's, if all leave it together.
  const auto loop = [&](const std::string& bound) {
    return atomic("mov.u32 %r5, 0;\n$L:\n mul.wide.u32 %rd6, %r5, 4;\n" + add +
                  "\n add.u32 %r5, %r5, 1;\n setp.lt.u32 %p1, %r5, " + bound + ";\n @%p1 bra $L;");
  };
  EXPECT_EQ(loop("%r9"), "red direct one");
  EXPECT_EQ(loop("%r1"), "red direct all");
}

TEST(MachineAtomic, OnSharedMemory) {
  EXPECT_EQ(atomic("red.shared.add.u32 [%r4], 1;"), "red counting all");
  EXPECT_EQ(atomic("red.shared.add.u32 [%r4], 2;"), "red direct all");
  EXPECT_EQ(atomic("red.shared.add.u32 [%r3], %r1;"), "red direct one");
  EXPECT_EQ(atomic("atom.shared.add.u32 %r10, [%r4], 1;"), "atom direct all");
  EXPECT_EQ(atomic("atom.shared.exch.b64 %rd8, [%r3], %rd9;"), "atom direct all");
  EXPECT_EQ(atomic("red.shared.add.f32 [%r4], %f1;"), "atom loop all");
  EXPECT_EQ(atomic("red.shared.or.b64 [%r3], %rd9;"), "atom loop all");
}

TEST(MachineAtomic, GenericOnesNeverReduce) {
  EXPECT_EQ(atomic("red.add.u32 [%rd4], %r1;"), "atom direct all");
  EXPECT_EQ(atomic("red.add.noftz.f16x2 [%rd4], %r1;"), "atom direct all, loops in shared");
  EXPECT_EQ(atomic("red.add.noftz.f16 [%rd4], %rs1;"), "atom loop all");
}

}  // namespace
}  // namespace ridge::vm::observe
