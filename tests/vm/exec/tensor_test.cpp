// Tensor-core instructions as a program writes them: tiles through memory, who must take part, and
// what is refused.
#include "machine.h"

namespace ridge::vm::testing {
namespace {

int small(size_t i, int low, int high) {
  return low + int(uint32_t(i * 2654435761u) >> 16) % (high - low + 1);
}

// 4-bit tiles: A by rows at 0, B by columns at 128, D at 256; strides left to their default.
TEST(Tensor, NibbleTiles) {
  Machine m;
  m.load_body(R"(
  add.s64 %rd1, %out, 128;
  wmma.load.a.sync.aligned.row.m8n8k32.global.s4 {%r1}, [%out];
  wmma.load.b.sync.aligned.col.m8n8k32.s4 {%r2}, [%rd1];
  mov.b32 %r3, 7;
  wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32 {%r4, %r5}, {%r1}, {%r2}, {%r3, %r3};
  wmma.store.d.sync.aligned.row.m8n8k32.global.s32 [%out+256], {%r4, %r5};
)");
  std::vector<uint8_t> memory(512);
  const auto value = [](size_t i) { return small(i, -8, 7); };
  for (size_t i = 0; i < 256; ++i) {
    memory[i / 2] |= uint8_t((value(i) & 15) << (4 * (i % 2)));
    memory[128 + i / 2] |= uint8_t((value(i + 1000) & 15) << (4 * (i % 2)));
  }
  const uint64_t at = m.allocate(memory);
  const Fault fault = m.run({1}, {32}, at);
  ASSERT_FALSE(fault) << text_of(fault);
  const auto d = m.read<int32_t>(at + 256, 64);
  for (size_t row = 0; row < 8; ++row)
    for (size_t column = 0; column < 8; ++column) {
      int sum = 7;
      for (size_t k = 0; k < 32; ++k) sum += value(32 * row + k) * value(32 * column + k + 1000);
      EXPECT_EQ(d[8 * row + column], sum) << row << " " << column;
    }
}

// Single bits, from shared memory, with a stride of twice the width; D by columns.
TEST(Tensor, BitTiles) {
  for (const std::string op : {"and", "xor"}) {
    Machine m;
    m.load_body(
        R"(
  .shared .align 16 .b8 s[512];
  mov.u32 %r10, %tid.x;
  mul.wide.u32 %rd1, %r10, 16;
  add.s64 %rd1, %out, %rd1;
  ld.global.v4.u32 {%r11, %r12, %r13, %r14}, [%rd1];
  mov.u32 %r15, s;
  mad.lo.s32 %r15, %r10, 16, %r15;
  st.shared.v4.u32 [%r15], {%r11, %r12, %r13, %r14};
  bar.sync 0;
  mov.u32 %r16, s;
  mov.u32 %r17, 256;
  wmma.load.a.sync.aligned.row.m8n8k128.shared.b1 {%r1}, [%r16], %r17;
  wmma.load.b.sync.aligned.col.m8n8k128.shared::cta.b1 {%r2}, [%r16+256], 256;
  mov.b32 %r3, 0;
  wmma.mma.)" +
        op +
        R"(.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {%r4, %r5}, {%r1}, {%r2}, {%r3, %r3};
  wmma.store.d.sync.aligned.col.m8n8k128.s32 [%out], {%r4, %r5}, 8;
)");
    std::vector<uint32_t> memory(128);
    for (size_t i = 0; i < memory.size(); ++i) memory[i] = uint32_t(i * 2654435761u) ^ 0x5bd1e995u;
    const uint64_t at = m.allocate(memory);
    const Fault fault = m.run({1}, {32}, at);
    ASSERT_FALSE(fault) << text_of(fault);
    const auto d = m.read<int32_t>(at, 64);
    for (size_t row = 0; row < 8; ++row)
      for (size_t column = 0; column < 8; ++column) {
        int sum = 0;
        for (size_t k = 0; k < 4; ++k) {
          const uint32_t x = memory[8 * row + k], y = memory[64 + 8 * column + k];
          sum += __builtin_popcount(op == "and" ? x & y : x ^ y);
        }
        EXPECT_EQ(d[8 * column + row], sum) << op << " " << row << " " << column;
      }
  }
}

const std::string kSomeMma =
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r3}, "
    "{%f5, %f6, %f7, %f8};\n";

// Lanes that come along different ways meet at the instruction.
TEST(Tensor, WaitsForEveryLane) {
  Machine m;
  m.load_body(R"(
  mov.b32 %r1, 0x3c003c00; mov.b32 %r2, %r1; mov.b32 %r3, %r1;
  mov.f32 %f5, 0f00000000; mov.f32 %f6, %f5; mov.f32 %f7, %f5; mov.f32 %f8, %f5;
  mov.u32 %r10, %tid.x;
  setp.lt.u32 %p1, %r10, 5;
  @%p1 bra LOW;
  mov.f32 %f5, 0f3f800000;
LOW:
  )" + kSomeMma +
              R"(
  cvt.rzi.s32.f32 %r1, %f1;
)" + kStoreR1);
  const auto out = m.output<uint32_t>({1}, {32}, 32);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i < 5 ? 8u : 9u) << i;
}

TEST(Tensor, MissingLanesAreReported) {
  {
    Machine m;
    m.load_body("mov.u32 %r10, %tid.x;\n setp.lt.u32 %p1, %r10, 5;\n @%p1 ret;\n" + kSomeMma);
    const Fault fault = m.run({1}, {32}, m.allocate(std::vector<int>(1)));
    EXPECT_EQ(fault.kind, FaultKind::illegal_instruction);
    EXPECT_NE(text_of(fault).find("all 32 threads of the warp"), std::string::npos) << text_of(fault);
  }
  {
    Machine m;
    m.load_body("mov.u32 %r10, %tid.x;\n setp.lt.u32 %p1, %r10, 5;\n @%p1 bra SKIP;\n" + kSomeMma +
                "SKIP:\n bar.sync 0;\n");
    const Fault fault = m.run({1}, {32}, m.allocate(std::vector<int>(1)));
    EXPECT_EQ(fault.kind, FaultKind::timeout);
    EXPECT_NE(text_of(fault).find("a .sync instruction for lanes 0xffffffff"), std::string::npos)
        << text_of(fault);
  }
}

TEST(Tensor, LoadsAreChecked) {
  const auto kind = [](const std::string& body) {
    Machine m;
    m.load_body(".shared .align 16 .b8 s[512];\n mov.u32 %r10, s;\n" + body);
    return m.run({1}, {32}, m.allocate(std::vector<uint8_t>(512))).kind;
  };
  const std::string load = "ldmatrix.sync.aligned.m8n8.x1";
  EXPECT_EQ(kind(load + ".shared.b16 {%r1}, [%r10];"), FaultKind::none);
  EXPECT_EQ(kind(load + ".shared.b16 {%r1}, [%r10+8];"), FaultKind::misaligned_address);
  EXPECT_EQ(kind(load + ".shared.b16 {%r1}, [%r10+512];"), FaultKind::illegal_address);
  EXPECT_EQ(kind(load + ".b16 {%r1}, [%out];"), FaultKind::invalid_address_space);
  // Lanes whose addresses name no row may hold anything.
  EXPECT_EQ(kind("mov.u32 %r11, %tid.x; setp.lt.u32 %p1, %r11, 8;\n selp.b32 %r10, %r10, 77, %p1;" +
                 load + ".shared.b16 {%r1}, [%r10];"),
            FaultKind::none);
  const std::string tile =
      "wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r1, %r2, %r3, %r4, %r5, "
      "%r6, %r7, %r8}, ";
  EXPECT_EQ(kind(tile + "[%out];"), FaultKind::none);
  EXPECT_EQ(kind(tile + "[%out], 17;"), FaultKind::illegal_address);
  EXPECT_EQ(kind(tile + "[%out+1];"), FaultKind::misaligned_address);
}

TEST(Tensor, WrongOperandsAreRefused) {
  const auto message = [](const std::string& body) {
    Machine m;
    m.load_body(body);
    return text_of(m.run({1}, {32}, m.allocate(std::vector<int>(1))));
  };
  EXPECT_NE(message("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1}, "
                    "{%r3}, {%f5, %f6, %f7, %f8};")
                .find("a vector of 2 registers"),
            std::string::npos);
  const std::string sparse =
      "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, "
      "%f4}, {%r1, %r2, %r3, %r4}, {%r1, %r2, %r3, %r4}, {%f5, %f6, %f7, "
      "%f8}, %r5, ";
  EXPECT_NE(message(sparse + "2;").find("a literal below 2"), std::string::npos);
  EXPECT_NE(message(sparse + "%r6;").find("a literal below 2"), std::string::npos);
}

}  // namespace
}  // namespace ridge::vm::testing
