// wgmma as programs use it: what is seen before and after a wait, who must take part, and what is
// refused. tests/vm/isa/wgmma_h200_test.cpp holds the products themselves against an H200.
#include "machine.h"

namespace ridge::vm::testing {
namespace {

// Shared memory is all ones in bf16, so that an element of a product is 16. A (64 by 16) lies at 0,
// B (8 by 16) at 2048; %rd1 and %rd2 are their descriptors. The accumulator, %f0 … %f3, starts
// with 7.
const std::string kBegin = R"(
  .shared .align 1024 .b8 s[4096];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, s;
  mad.lo.u32 %r2, %r1, 4, %r2;
fill:
  st.shared.b32 [%r2], 0x3f803f80;
  add.u32 %r2, %r2, 512;
  setp.lt.u32 %p1, %r2, 4096;
  @%p1 bra fill;
  fence.proxy.async;
  bar.sync 0;
  mov.b64 %rd1, 0x1000080000;
  mov.b64 %rd2, 0x1000080080;
  setp.eq.u32 %p2, %r1, %r1;
  mov.f32 %f0, 0f40E00000; mov.f32 %f1, 0f40E00000; mov.f32 %f2, 0f40E00000; mov.f32 %f3, 0f40E00000;
  wgmma.fence.sync.aligned;
)";
const std::string kMultiply =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, %p2, 1, "
    "1, 0, 0;\n";
const std::string kCommit = "wgmma.commit_group.sync.aligned;\n";
const std::string kWait = "wgmma.wait_group.sync.aligned 0;\n";
// out[thread] = a float
std::string store(const std::string& reg) {
  return "mul.wide.u32 %rd3, %r1, 4; add.s64 %rd3, %rd3, %out; st.global.f32 [%rd3], " + reg +
         ";\n";
}

float result(const std::string& body) {
  Machine m;
  m.load_body(kBegin + body);
  const auto out = m.output<float>({1}, {128}, 128);
  for (float x : out) EXPECT_EQ(x, out[0]);
  return out[0];
}
std::string fault_of(const std::string& body, uint32_t threads = 128) {
  Machine m;
  m.load_body(kBegin + body);
  const Fault fault = m.run({1}, {threads}, m.allocate(std::vector<float>(256)));
  return fault ? text_of(fault) : "";
}

TEST(Wgmma, IsThereAfterTheWait) {
  EXPECT_EQ(result(kMultiply + kCommit + kWait + store("%f0")), 23);
  EXPECT_EQ(result(kMultiply + kMultiply + kCommit + kWait + store("%f3")), 39);
}

TEST(Wgmma, IsNotThereBefore) {
  EXPECT_EQ(result(kMultiply + kCommit + store("%f0") + kWait), 7);
  EXPECT_EQ(result(kMultiply + kCommit + "add.f32 %f9, %f0, %f1;\n" + kWait + store("%f9")), 14);
}

TEST(Wgmma, WaitsForCommittedGroupsOnly) {
  EXPECT_EQ(result(kMultiply + kWait + store("%f0")), 7);
  const std::string two = kMultiply + kCommit + kMultiply + kCommit;
  const std::string meet = "bar.sync 0;\n";  // a warp that waits makes the products of all four
  EXPECT_EQ(result(two + "wgmma.wait_group.sync.aligned 1;\n" + store("%f0") + meet + kWait), 23);
  EXPECT_EQ(result(two + "wgmma.wait_group.sync.aligned 2;\n" + store("%f0") + meet + kWait), 7);
  EXPECT_EQ(result(two + kWait + store("%f0")), 39);
}

// The tensor core reads shared memory when it multiplies, not when the instruction is issued.
TEST(Wgmma, ReadsSharedMemoryLate) {
  const std::string twos = R"(
  shl.b32 %r2, %r1, 2;
  bar.sync 0;
  @%p2 st.shared.b32 [%r2+2048], 0x40004000;
)";
  EXPECT_EQ(result(kMultiply + kCommit + twos + "bar.sync 0;\n" + kWait + store("%f0")), 39);
}

// A product is over for all four warps when it is over for one: whoever hears from that one that B is
// free may overwrite it.
TEST(Wgmma, IsOverForAllFourWarpsAtOnce) {
  const std::string overwritten_by_one = R"(
  setp.eq.u32 %p3, %r1, 0;
  mov.u32 %r2, 2048;
twos:
  @%p3 st.shared.b32 [%r2], 0x40004000;
  add.u32 %r2, %r2, 4;
  setp.lt.u32 %p1, %r2, 2304;
  @%p1 bra twos;
)";
  EXPECT_EQ(result(kMultiply + kCommit + kWait + overwritten_by_one + store("%f0")), 23);
}

// As ptxas does it: a move of an accumulator under way is a new name.
TEST(Wgmma, AMoveIsANewName) {
  const std::string other =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f10, %f11, %f12, %f13}, %rd1, %rd2, "
      "%p2, 1, 1, 0, 0;\n";
  const std::string moves =
      "mov.f32 %f10, %f0; mov.f32 %f11, %f1; mov.f32 %f12, %f2; mov.f32 %f13, %f3;\n";
  EXPECT_EQ(result(kMultiply + kCommit + moves + other + kCommit + kWait + store("%f10")), 39);
}

// Nothing else lies where an accumulator nobody reads again will be written.
TEST(Wgmma, ADeadAccumulatorKeepsItsPlace) {
  const std::string body = kMultiply + kCommit +
                           "mov.f32 %f20, 0f3F800000; mov.f32 %f21, 0f40000000;\n"
                           "add.f32 %f22, %f20, %f21; mov.f32 %f23, 0f40800000;\n" +
                           kWait + "add.f32 %f24, %f22, %f23; add.f32 %f24, %f24, %f20;\n" +
                           "add.f32 %f24, %f24, %f21;\n";
  EXPECT_EQ(result(body + store("%f24")), 10);
}

TEST(Wgmma, ScaleOfD) {
  const auto scaled = [](const std::string& d, const std::string& a, const std::string& b) {
    return "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %rd1, "
           "%rd2, " +
           d + ", " + a + ", " + b + ", 0, 0;\n" + kCommit + kWait + store("%f0");
  };
  EXPECT_EQ(result(scaled("!%p2", "1", "1")), 16);
  EXPECT_EQ(result(scaled("0", "1", "1")), 16);
  EXPECT_EQ(result(scaled("1", "-1", "1")), -9);
  EXPECT_EQ(result(scaled("1", "-1", "-1")), 23);
}

TEST(Wgmma, NeedsAllFourWarps) {
  const std::string rest = kCommit + kWait;
  EXPECT_NE(fault_of(kMultiply + rest, 96).find("needs a warpgroup"), std::string::npos);
  EXPECT_NE(fault_of("setp.ge.u32 %p3, %r1, 96;\n@%p3 ret;\n" + kMultiply + rest)
                .find("this warp ended without the wgmma"),
            std::string::npos);
  EXPECT_NE(fault_of("setp.ge.u32 %p3, %r1, 96;\n@%p3 bra other;\n" + kMultiply + rest +
                     "ret;\nother:\n" + kMultiply + rest)
                .find("have executed another wgmma"),
            std::string::npos);
}

TEST(Wgmma, OperandsLieInSharedMemory) {
  const std::string far = "mov.b64 %rd2, 0x10000800f9;\n";
  const std::string text = fault_of(far + kMultiply + kCommit + kWait);
  EXPECT_NE(text.find("shared wgmma operand of 256 bytes at offset 0xf90"), std::string::npos)
      << text;
  EXPECT_EQ(fault_of("mov.b64 %rd2, 0x10000800f0;\n" + kMultiply + kCommit + kWait), "");
}

TEST(Wgmma, RefusesWrongLiterals) {
  const auto message = [](const std::string& end) {
    Machine m;
    m.load_body(kBegin +
                "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %rd1, "
                "%rd2, %p2, " +
                end);
    const Fault fault = m.run({1}, {128}, m.allocate(std::vector<float>(256)));
    return fault.finding.message;
  };
  EXPECT_NE(message("2, 1, 0, 0;").find("the literal 1 or -1"), std::string::npos);
  EXPECT_NE(message("1, 1, 0, 2;").find("the literal 0 or 1"), std::string::npos);
  EXPECT_NE(message("1, 1, 0, 0, 0;").find("does not take 9 operands"), std::string::npos);
}

}  // namespace
}  // namespace ridge::vm::testing
