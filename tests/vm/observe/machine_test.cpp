// What ptxas makes of a few instructions each: every case was seen in ptxas 13.0's machine code for
// sm_90 (nvdisasm).
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "loaded.h"
#include "vm/observe/plan.h"

namespace ridge::vm::observe {
namespace {

// The machine's accesses: "ld16@8" is a load of 16 bytes per lane, 8 bytes behind the base
// register.
std::string accesses(const std::string& body,
                     const std::string& shared = ".shared .align 16 .b8 s[4096];") {
  const std::string text = R"(.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 o_param, .param .u32 n_param)
{
 .reg .pred %p<20>; .reg .f32 %f<99>; .reg .b32 %r<99>; .reg .b64 %rd<99>; .reg .b16 %rs<40>;
 )" + shared + R"(
 ld.param.u64 %rd1, [o_param];
 cvta.to.global.u64 %rd2, %rd1;
 ld.param.u32 %r90, [n_param];
 mov.u32 %r1, %tid.x;
 shl.b32 %r2, %r1, 4;
 mov.u32 %r3, s;
 add.s32 %r4, %r3, %r2;
 mul.wide.u32 %rd3, %r1, 16;
 add.s64 %rd4, %rd2, %rd3;
 )" + body + R"(
 add.f32 %f90, %f1, %f2; add.f32 %f90, %f3, %f4; add.f32 %f90, %f5, %f6; add.f32 %f90, %f7, %f8;
 add.s16 %rs30, %rs1, %rs2; add.s16 %rs30, %rs3, %rs4;
 add.s64 %rd90, %rd10, %rd11; add.s32 %r91, %r20, %r21;
 ret;
}
)";
  const Loaded loaded(text);
  if (!loaded.code) return loaded.error;
  std::string out;
  const Code& code = *loaded.code;
  const Plan plan = plan_of(code);
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    for (uint32_t k = step.touch; k < step.touch + step.touches; ++k) {
      const Touch& touch = plan.touches[k];
      const char* const names[] = {"ld", "st", "red", "atom", "copy"};
      out += (out.empty() ? "" : " ") + std::string(names[int(touch.action)]) +
             std::to_string(touch.bytes) + '@' +
             std::to_string(int32_t(code.insts[i].b) + touch.offset);
    }
  }
  return out;
}
std::string load(int f, int offset, const char* base = "%r4") {
  return "ld.shared.f32 %f" + std::to_string(f) + ", [" + base + "+" + std::to_string(offset) +
         "];\n";
}
std::string store(int f, int offset, const char* base = "%r4") {
  return "st.shared.f32 [" + std::string(base) + "+" + std::to_string(offset) + "], %f" +
         std::to_string(f) + ";\n";
}

TEST(Machine, NeighbouringLoadsAreOne) {
  EXPECT_EQ(accesses(load(1, 0) + load(2, 4) + load(3, 8) + load(4, 12)), "ld16@0");
  EXPECT_EQ(accesses(load(1, 0) + load(2, 4)), "ld8@0");
  EXPECT_EQ(accesses(load(3, 8) + load(4, 12)), "ld8@8");
  EXPECT_EQ(accesses(load(2, 4) + load(3, 8)), "ld4@4 ld4@8");
  EXPECT_EQ(accesses(load(1, 0) + load(3, 8)), "ld4@0 ld4@8");
}
TEST(Machine, ThreeOfFourAreLoadedAsFour) {
  EXPECT_EQ(accesses(load(1, 0) + load(2, 4) + load(3, 8)), "ld16@0");
  EXPECT_EQ(accesses(load(1, 4) + load(2, 8) + load(3, 12)), "ld16@0");
  EXPECT_EQ(accesses(load(1, 0) + load(2, 4) + load(3, 12)), "ld16@0");
}
TEST(Machine, ThreeOfFourAreStoredAsTwoAndOne) {
  EXPECT_EQ(accesses(store(1, 0) + store(2, 4) + store(3, 8) + store(4, 12)), "st16@0");
  EXPECT_EQ(accesses(store(1, 0) + store(2, 4) + store(3, 8)), "st8@0 st4@8");
  EXPECT_EQ(accesses(store(1, 4) + store(2, 0)), "st8@0");
}
TEST(Machine, TheOrderDoesNotMatter) {
  EXPECT_EQ(accesses(load(4, 12) + load(2, 4) + load(1, 0) + load(3, 8)), "ld16@0");
  EXPECT_EQ(accesses(load(1, 0) + "shl.b32 %r5, %r90, 4; add.s32 %r6, %r3, %r5;\n" +
                     load(2, 0, "%r6") + load(3, 4) + load(4, 4, "%r6")),
            "ld8@0 ld8@0");
}
TEST(Machine, WhatCouldInterfereKeepsThemApart) {
  const std::string apart = "ld4@0 st4@64 ld4@4";
  EXPECT_EQ(accesses(load(1, 0) + store(9, 64) + load(2, 4)), apart);
  EXPECT_EQ(accesses(load(1, 0) + "bar.sync 0;" + load(2, 4)), "ld4@0 ld4@4");
  EXPECT_EQ(accesses(load(1, 0) + "bar.warp.sync -1;" + load(2, 4)), "ld4@0 ld4@4");
  EXPECT_EQ(accesses(load(1, 0) + "membar.cta;" + load(2, 4)), "ld4@0 ld4@4");
  EXPECT_EQ(accesses(load(1, 0) + "st.global.f32 [%rd4], %f9;" + load(2, 4)), "ld8@0 st4@0");
  EXPECT_EQ(accesses(load(1, 0) + "shfl.sync.bfly.b32 %r20, %r1, 1, 31, -1;" + load(2, 4)),
            "ld8@0");
  EXPECT_EQ(accesses(store(1, 0) + load(5, 2048, "%r3") + store(2, 4)), "st4@0 ld4@2048 st4@4");
  EXPECT_EQ(accesses("ld.volatile.shared.f32 %f1, [%r4]; ld.volatile.shared.f32 %f2, [%r4+4];"),
            "ld4@0 ld4@4");
}
TEST(Machine, AlignmentIsProvenFromBits) {
  const auto four = [](const std::string& base) {
    return accesses(base + load(1, 0, "%r6") + load(2, 4, "%r6") + load(3, 8, "%r6") +
                    load(4, 12, "%r6"));
  };
  EXPECT_EQ(four("mad.lo.s32 %r6, %r1, 48, %r3;"), "ld16@0");
  EXPECT_EQ(four("mad.lo.s32 %r6, %r1, 24, %r3;"), "ld8@0 ld8@8");
  EXPECT_EQ(four("mad.lo.s32 %r6, %r1, 20, %r3;"), "ld4@0 ld4@4 ld4@8 ld4@12");
  EXPECT_EQ(four("xor.b32 %r7, %r2, %r90; shl.b32 %r8, %r7, 3; add.s32 %r6, %r3, %r8;"),
            "ld8@0 ld8@8");
  EXPECT_EQ(four("mul.lo.s32 %r7, %r90, %r2; add.s32 %r6, %r3, %r7;"), "ld16@0");
}
TEST(Machine, ConstantsAreFollowed) {
  EXPECT_EQ(accesses("add.s32 %r5, %r4, 4;" + load(1, 0) + load(2, 0, "%r5")), "ld8@0");
  EXPECT_EQ(accesses("or.b32 %r5, %r2, 4; add.s32 %r6, %r3, %r5;" + load(1, 0) + load(2, 0, "%r6")),
            "ld8@0");
  EXPECT_EQ(accesses("or.b32 %r6, %r4, 4;" + load(1, 0) + load(2, 0, "%r6")), "ld4@0 ld4@0");
  EXPECT_EQ(accesses("add.s32 %r7, %r1, 1; shl.b32 %r5, %r7, 4; add.s32 %r6, %r3, %r5;" +
                     load(1, 16) + load(2, 4, "%r6")),
            "ld8@16");
}
TEST(Machine, VariablesArePlacedInTheOrderOfTheirDeclarations) {
  const std::string four = load(1, 0) + load(2, 4) + load(3, 8) + load(4, 12);
  EXPECT_EQ(accesses(four, ".shared .align 4 .b8 s[4096];"), "ld16@0");
  EXPECT_EQ(accesses("st.shared.u32 [a], %r1; bar.sync 0;" + four,
                     ".shared .align 4 .b8 a[4];\n.shared .align 4 .b8 s[4096];"),
            "st4@0 ld4@0 ld4@4 ld4@8 ld4@12");
}
TEST(Machine, ElementsOfOneSizeMeet) {
  const std::string two = "ld.shared.u16 %rs1, [%r4]; ld.shared.u16 %rs2, [%r4+2];";
  EXPECT_EQ(accesses(two), "ld4@0");
  EXPECT_EQ(accesses(two + load(1, 4)), "ld4@0 ld4@4");
  EXPECT_EQ(accesses("ld.shared.u8 %rs1, [%r4]; ld.shared.u8 %rs2, [%r4+1];"), "ld1@0 ld1@1");
  EXPECT_EQ(accesses("ld.shared.s16 %r20, [%r4]; ld.shared.s16 %r21, [%r4+2];"), "ld2@0 ld2@2");
  EXPECT_EQ(accesses("ld.shared.u64 %rd10, [%r4]; ld.shared.u64 %rd11, [%r4+8];"), "ld16@0");
  EXPECT_EQ(accesses("ld.shared.v2.f32 {%f1, %f2}, [%r4];" + load(3, 8) + load(4, 12)), "ld16@0");
  EXPECT_EQ(accesses("ld.shared.v4.u8 {%rs1, %rs2, %rs3, %rs4}, [%r4];" + load(1, 4)), "ld8@0");
}
TEST(Machine, WhatNobodyReadsIsNotLoaded) {
  EXPECT_EQ(accesses(load(1, 0) + load(2, 4) + load(60, 8) + load(61, 12)), "ld8@0");
  EXPECT_EQ(accesses("ld.shared.v4.f32 {%f60, %f61, %f1, %f2}, [%r4];"), "ld8@8");
  EXPECT_EQ(accesses("ld.shared.v4.f32 {%f1, %f60, %f61, %f2}, [%r4];"), "ld4@0 ld4@12");
}
TEST(Machine, WhatIsAtHandIsNotLoaded) {
  EXPECT_EQ(accesses(load(1, 0) + load(2, 0)), "ld4@0");
  EXPECT_EQ(accesses(store(9, 0) + load(1, 0)), "st4@0");
  EXPECT_EQ(accesses(store(9, 0) + store(9, 64) + load(1, 0)), "st4@0 st4@64 ld4@0");
  EXPECT_EQ(accesses(store(1, 0) + store(2, 0)), "st4@0");  // the first is written over
}
TEST(Machine, MatricesAreLoadedOnce) {
  const auto matrix = [](int offset, const char* modifiers = ".x1") {
    return "ldmatrix.sync.aligned.m8n8" + std::string(modifiers) + ".shared.b16 {%r20}, [%r4+" +
           std::to_string(offset) + "];\n";
  };
  const std::string a = matrix(0), b = matrix(16);
  // The first of the function does for no others, unless a barrier comes before it.
  EXPECT_EQ(accesses(a + a + a + a), "ld16@0 ld16@0");
  EXPECT_EQ(accesses(a + b + a + b), "ld16@0 ld16@16 ld16@0");
  EXPECT_EQ(accesses("bar.sync 0;" + a + a + a), "ld16@0");
  EXPECT_EQ(accesses(a + a + "bar.sync 0;" + a + a), "ld16@0 ld16@0 ld16@0");
  EXPECT_EQ(accesses(a + a + store(9, 2048) + a + a), "ld16@0 ld16@0 st4@2048 ld16@0");
  EXPECT_EQ(accesses("bar.sync 0;" + a + matrix(0, ".x1.trans")), "ld16@0 ld16@0");
}
TEST(Machine, AnAccessProvesItsOwnAlignment) {
  const std::string two = "ld.global.f32 %f1, [%rd4+8]; ld.global.f32 %f2, [%rd4+12];";
  EXPECT_EQ(accesses(two), "ld4@8 ld4@12");
  EXPECT_EQ(accesses(two + "ld.global.u64 %rd10, [%rd4];"), "ld8@8 ld8@0");
  EXPECT_EQ(
      accesses("and.b64 %rd5, %rd4, -16; ld.global.f32 %f1, [%rd5]; ld.global.f32 %f2, [%rd5+4];"),
      "ld8@0");
}
TEST(Machine, AtomicsWithoutAReaderAreReductions) {
  EXPECT_EQ(accesses("atom.global.add.u32 %r70, [%rd4], 1;"), "red4@0");
  EXPECT_EQ(accesses("atom.global.add.u32 %r20, [%rd4], 1;"), "atom4@0");
  EXPECT_EQ(accesses("red.global.add.u32 [%rd4], 1;"), "red4@0");
}

// Whether the machine has a branch around this body, or predicates it.
bool is_predicated(const std::string& body, const std::string& otherwise = "") {
  const std::string text = R"(.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 o_param, .param .u32 n_param)
{
 .reg .pred %p<9>; .reg .f32 %f<99>; .reg .b32 %r<99>; .reg .b64 %rd<99>;
 .shared .align 4 .b8 s[4096];
 ld.param.u64 %rd1, [o_param]; ld.param.u32 %r1, [n_param]; mov.u32 %r2, %tid.x; mov.u32 %r3, s;
 ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd1+128];
 setp.ge.s32 %p1, %r2, %r1;
 @%p1 bra other;
)" + body + (otherwise.empty() ? "\nother:\n" : "\nbra join;\nother:\n" + otherwise + "\njoin:\n") +
                           " st.global.f32 [%rd1], %f1; ret;\n}\n";
  const Loaded loaded(text);
  EXPECT_EQ(loaded.error, "");
  if (!loaded.code) return false;
  const Plan plan = plan_of(*loaded.code);
  return std::any_of(plan.entries.begin(), plan.entries.end(),
                     [](const Entry& entry) { return entry.passed_by; });
}
std::string fmas(int n) {
  std::string all;
  for (int i = 0; i < n; ++i) all += " fma.rn.f32 %f1, %f1, %f2, %f1;\n";
  return all;
}
TEST(Machine, ShortIfsArePredicated) {
  EXPECT_TRUE(is_predicated(fmas(8)));
  EXPECT_FALSE(is_predicated(fmas(9)));
  EXPECT_TRUE(is_predicated(fmas(7), fmas(7)));
  EXPECT_FALSE(is_predicated(fmas(8), fmas(8)));
  const std::string store = " st.global.f32 [%rd1+256], %f1;\n";
  EXPECT_TRUE(is_predicated(fmas(7) + store));
  EXPECT_FALSE(is_predicated(fmas(8) + store));
}
TEST(Machine, IfsWithALoadFromGlobalMemoryMayBeLonger) {
  const std::string load = " ld.global.f32 %f3, [%rd1+512];\n add.f32 %f1, %f1, %f3;\n";
  EXPECT_TRUE(is_predicated(load + fmas(18)));
  EXPECT_TRUE(is_predicated(fmas(18) + load));
  EXPECT_FALSE(is_predicated(load + fmas(19)));
  EXPECT_TRUE(is_predicated(load + fmas(17), " mov.f32 %f1, 0f00000000;"));
  EXPECT_FALSE(is_predicated(load + fmas(18), " mov.f32 %f1, 0f00000000;"));
  // The address of an element of a matrix: products of 64 bits are three instructions each.
  const std::string product = " mul.lo.s64 %rd5, %rd5, %rd1;\n";
  EXPECT_TRUE(is_predicated(" mov.u64 %rd5, %rd1;\n" + product + product + load));
  EXPECT_FALSE(
      is_predicated(product + product + product + product + product + product + product + load));
}
TEST(Machine, IfsOfWhatThreadsDoTogetherAreNot) {
  EXPECT_FALSE(is_predicated(" red.global.add.u32 [%rd1], 1;\n"));
  EXPECT_FALSE(is_predicated(" shfl.sync.bfly.b32 %r5, %r2, 1, 31, -1;\n"));
  EXPECT_FALSE(is_predicated(" div.rn.f32 %f1, %f1, %f2;\n"));
}

}  // namespace
}  // namespace ridge::vm::observe
