// Variables, calls, parameters, local memory, special registers: what a module is made of.
#include "machine.h"

namespace ridge::vm::testing {
namespace {

TEST(Program, GlobalAndConstantVariablesWithRelocations) {
  Machine m;
  m.load_body(R"(
  mov.u32 %r2, %tid.x;
  ld.const.u64 %rd1, [pointer];
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd1, %rd1, %rd2;
  ld.u32 %r1, [%rd1];
)" + kStoreR1,
              R"(
.global .align 4 .u32 table[4] = {11, 22, 33, 44};
.const .align 8 .u64 pointer = generic(table);
)");
  EXPECT_EQ(m.output<uint32_t>({1}, {4}, 4), (std::vector<uint32_t>{11, 22, 33, 44}));
  const auto symbol = m.engine().find_variable(m.program(), "table");
  EXPECT_EQ(symbol.size, 16u);
  EXPECT_EQ(m.read<uint32_t>(symbol.address, 4)[2], 33u);
}

// vmad negates its operands on the way, and is signed then.
TEST(Program, NegatedOperands) {
  const auto vmad = [](const std::string& instruction) {
    Machine m;
    m.load_body("mov.u32 %r4, 300; mov.u32 %r5, 0x70002; mov.u32 %r6, 1000;\n" + instruction +
                kStoreR1);
    return m.output<int32_t>({1}, {1}, 1)[0];
  };
  EXPECT_EQ(vmad("vmad.s32.s32.s32 %r1, -%r4, 5, %r6;"), -500);
  EXPECT_EQ(vmad("vmad.s32.s32.s32 %r1, %r4, 5, -%r6;"), 500);
  EXPECT_EQ(vmad("vmad.u32.u32.u32 %r1, -%r4, -%r6, %r6;"), 301000);
  // 300 is 44 in its lowest byte: (1000 - 44 * 7) / 128.
  EXPECT_EQ(vmad("vmad.s32.u32.u32.sat.shr7 %r1, -%r4.b0, %r5.h1, %r6;"), (1000 - 44 * 7) >> 7);
  EXPECT_EQ(vmad("vmad.s32.u32.u32.sat.shr7 %r1, -%r6, %r5.h1, %r4;"), (300 - 7000) >> 7);
}

TEST(Program, CallsPassAndReturnValuesInDivergentCode) {
  Machine m;
  m.load(R"(
.func (.param .b32 result) twice_plus(.param .b32 a, .param .b64 b)
{
  .reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .pred %p;
  ld.param.b32 %r1, [a];
  ld.param.b64 %rd1, [b];
  cvt.u32.u64 %r2, %rd1;
  setp.gt.u32 %p, %r1, 20;
  @%p bra BIG;
  mad.lo.u32 %r3, %r1, 2, %r2;
  bra DONE;
BIG:
  mov.u32 %r3, 9999;
DONE:
  st.param.b32 [result], %r3;
  ret;
}
.visible .entry k(.param .u64 k_out)
{
  .reg .pred %p<2>; .reg .b32 %r<64>; .reg .b64 %rd<32>; .reg .b64 %out;
  ld.param.u64 %out, [k_out];
  mov.u32 %r2, %tid.x;
  and.b32 %r3, %r2, 1;
  setp.eq.u32 %p1, %r3, 1;
  mov.u32 %r1, 5;
  @%p1 bra SKIP;
  {
    .param .b32 p0; .param .b64 p1; .param .b32 ret0;
    st.param.b32 [p0], %r2;
    mov.u64 %rd1, 1000;
    st.param.b64 [p1], %rd1;
    call.uni (ret0), twice_plus, (p0, p1);
    ld.param.b32 %r1, [ret0];
  }
SKIP:
)" + kStoreR1 +
         "ret; }");
  const auto out = m.output<uint32_t>({1}, {32}, 32);
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], i % 2 ? 5 : i > 20 ? 9999 : 1000 + 2 * i) << i;
}

TEST(Program, IndirectCallsToDifferentFunctions) {
  Machine m;
  m.load(R"(
.func (.param .b32 r) one(.param .b32 a) {
  .reg .b32 %r1; ld.param.b32 %r1, [a]; add.u32 %r1, %r1, 100; st.param.b32 [r], %r1; ret; }
.func (.param .b32 r) two(.param .b32 a) {
  .reg .b32 %r1; ld.param.b32 %r1, [a]; add.u32 %r1, %r1, 200; st.param.b32 [r], %r1; ret; }
.global .align 8 .u64 table[2] = {one, two};
.visible .entry k(.param .u64 k_out)
{
  .reg .b32 %r<64>; .reg .b64 %rd<32>; .reg .b64 %out;
  ld.param.u64 %out, [k_out];
  mov.u32 %r2, %tid.x;
  and.b32 %r3, %r2, 1;
  mul.wide.u32 %rd1, %r3, 8;
  mov.u64 %rd2, table;
  add.s64 %rd2, %rd2, %rd1;
  ld.global.u64 %rd3, [%rd2];
  {
    .param .b32 p0; .param .b32 ret0;
    st.param.b32 [p0], %r2;
    proto: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (ret0), %rd3, (p0), proto;
    ld.param.b32 %r1, [ret0];
  }
  activemask.b32 %r4;
  popc.b32 %r4, %r4;
  mad.lo.u32 %r1, %r4, 1000, %r1;
)" + kStoreR1 +
         "ret; }");
  const auto out = m.output<uint32_t>({1}, {32}, 32);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], 32000 + i + (i % 2 ? 200 : 100)) << i;
}

TEST(Program, LocalMemoryIsEachThreadsOwnThroughGenericAddresses) {
  Machine m;
  m.load_body(R"(
  .local .align 8 .b8 depot[32];
  mov.u32 %r2, %tid.x;
  mov.u64 %rd1, depot;
  cvta.local.u64 %rd2, %rd1;
  cvt.u64.u32 %rd4, %r2;
  shl.b64 %rd4, %rd4, 33;
  or.b64 %rd4, %rd4, 77;
  st.local.u64 [%rd1+8], %rd4;
  st.u8 [%rd2+3], %r2;
  ld.u64 %rd5, [%rd2+8];
  ld.local.u8 %r5, [%rd1+3];
  shr.u64 %rd5, %rd5, 33;
  cvt.u32.u64 %r4, %rd5;
  mad.lo.u32 %r1, %r4, 1000, %r5;
)" + kStoreR1);
  const auto out = m.output<uint32_t>({1}, {96}, 96);
  for (uint32_t i = 0; i < 96; ++i) EXPECT_EQ(out[i], i * 1001) << i;
}

TEST(Program, DynamicSharedMemoryFollowsTheStatic) {
  Machine m;
  m.load_body(R"(
  .shared .align 4 .b8 fixed[20];
  mov.u32 %r1, dynamic;
  st.shared.u32 [dynamic+28], %r1;
  ld.shared.u32 %r1, [dynamic+28];
)" + kStoreR1,
              ".extern .shared .align 16 .b8 dynamic[];\n");
  const uint64_t out = m.allocate(std::vector<uint32_t>(1));
  EXPECT_FALSE(m.run_as(m.shape({1}, {1}, 32), out));
  EXPECT_EQ(m.read<uint32_t>(out, 1)[0] % 16, 0u);
  EXPECT_TRUE(m.run_as(m.shape({1}, {1}, 16), out));
}

TEST(Program, SpecialRegistersOfA3dLaunch) {
  Machine m;
  m.load_body(R"(
  mov.u32 %r2, %tid.x; mov.u32 %r3, %tid.y; mov.u32 %r4, %tid.z;
  mov.u32 %r5, %ntid.x; mov.u32 %r6, %ntid.y; mov.u32 %r7, %ntid.z;
  mov.u32 %r8, %ctaid.x; mov.u32 %r9, %ctaid.y; mov.u32 %r10, %ctaid.z;
  mov.u32 %r11, %nctaid.x; mov.u32 %r12, %nctaid.y;
  mad.lo.u32 %r13, %r10, %r12, %r9; mad.lo.u32 %r13, %r13, %r11, %r8;
  mad.lo.u32 %r14, %r4, %r6, %r3; mad.lo.u32 %r14, %r14, %r5, %r2;
  mul.lo.u32 %r15, %r5, %r6; mul.lo.u32 %r15, %r15, %r7;
  mad.lo.u32 %r16, %r13, %r15, %r14;
  mul.wide.u32 %rd1, %r16, 4; add.s64 %rd1, %out, %rd1;
  st.global.u32 [%rd1], %r16;
)");
  const auto out = m.output<uint32_t>({3, 2, 4}, {5, 3, 7}, 24 * 105);
  for (uint32_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], i);
}

TEST(Program, NarrowLoadsExtendIntoWiderRegisters) {
  Machine m;
  m.load_body(R"(
  mov.u32 %r2, 0x8081fffe;
  st.global.u32 [%out], %r2;
  ld.global.s8 %r3, [%out];
  ld.global.u8 %rd3, [%out+2];
  ld.global.s16 %rd4, [%out+2];
  st.global.u32 [%out], %r3;
  st.global.u64 [%out+8], %rd3;
  st.global.u64 [%out+16], %rd4;
)");
  const auto out = m.output<uint64_t>({1}, {1}, 3);
  EXPECT_EQ(uint32_t(out[0]), 0xfffffffeu);
  EXPECT_EQ(out[1], 0x81u);
  EXPECT_EQ(out[2], 0xffffffffffff8081ull);
}

// Eight neighbouring shared loads between arithmetic: merged or not, each lane gets its words.
TEST(Program, RunsOfSharedLoads) {
  Machine m;
  std::string body = R"(
  .shared .align 4 .b8 s[2048];
  mov.u32 %r2, %tid.x; mov.u32 %r3, s;
  mul.lo.u32 %r4, %r2, 32; add.u32 %r4, %r3, %r4;
)";
  for (int k = 0; k < 8; ++k)
    body += "mad.lo.u32 %r5, %r2, 100, " + std::to_string(k) + "; st.shared.u32 [%r4+" +
            std::to_string(4 * k) + "], %r5;";
  body += "bar.sync 0; mov.u32 %r1, 0;";
  for (int k = 0; k < 8; ++k)
    body += "ld.shared.u32 %r1" + std::to_string(k) + ", [%r4+" + std::to_string(4 * k) +
            "]; mad.lo.u32 %r1, %r1, 3, %r1" + std::to_string(k) + ";";
  m.load_body(body + kStoreR1);
  const auto out = m.output<uint32_t>({1}, {50}, 50);
  for (uint32_t i = 0; i < 50; ++i) {
    uint32_t expected = 0;
    for (uint32_t k = 0; k < 8; ++k) expected = expected * 3 + i * 100 + k;
    EXPECT_EQ(out[i], expected) << i;
  }
}

// Neighbours that extend in different ways.
TEST(Program, SharedLoadsIntoWiderRegisters) {
  Machine m;
  m.load_body(R"(
  .shared .align 4 .b8 s[8];
  mov.u32 %r1, s; mov.u32 %r2, -2;
  st.shared.u32 [%r1], %r2; st.shared.u32 [%r1+4], %r2;
  ld.shared.s32 %rd1, [%r1];
  ld.shared.u32 %rd2, [%r1+4];
  st.global.u64 [%out], %rd1;
  st.global.u64 [%out+8], %rd2;
)");
  const auto out = m.output<uint64_t>({1}, {1}, 2);
  EXPECT_EQ(out[0], 0xfffffffffffffffeull);
  EXPECT_EQ(out[1], 0xfffffffeu);
}

// Lanes that store to one address: the winner is the one an H200 lets win.
TEST(Program, StoresToOneAddress) {
  Machine m;
  m.load_body(R"(
  mov.u32 %r1, %tid.x;
  cvt.u64.u32 %rd1, %r1;
  st.global.u32 [%out], %r1;
  st.global.u64 [%out+8], %rd1;
  st.global.v4.u32 [%out+16], {%r1, %r1, %r1, %r1};
)");
  const auto out = m.output<uint32_t>({1}, {32}, 8);
  EXPECT_EQ(out[0], 0u);
  EXPECT_EQ(out[2], 16u);
  EXPECT_EQ(out[4], 24u);
}

TEST(Program, CountsPtxInstructions) {
  Machine m;
  m.load_body("mov.u32 %r1, 1; add.u32 %r1, %r1, 2;");
  m.engine().set_counting(true);
  EXPECT_FALSE(m.run({3}, {40}, uint64_t(0)));
  // ld.param, mov, add, ret, by two warps of each of three blocks.
  EXPECT_EQ(m.engine().counts().warp_instructions, 4u * 2 * 3);
  EXPECT_EQ(m.engine().counts().thread_instructions, 4u * 40 * 3);
}

}  // namespace
}  // namespace ridge::vm::testing
