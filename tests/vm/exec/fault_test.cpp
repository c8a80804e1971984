// Bad programs: the right fault, a report one can act on, and nothing else harmed.
#include <filesystem>

#include "machine.h"

namespace ridge::vm::testing {
namespace {

void expect_text(const Fault& fault, const std::string& text) {
  EXPECT_NE(text_of(fault).find(text), std::string::npos) << "missing: " << text << "\n"
                                                          << text_of(fault);
}

// What becomes of a kernel with this body, and a parameter that points to `words` words.
Fault run_body(const std::string& body, uint32_t threads = 1, size_t words = 1) {
  Machine m;
  m.load_body(body);
  return m.run({1}, {threads}, m.allocate(std::vector<uint32_t>(words)));
}

TEST(Fault, OutOfBoundsStoreNamesThreadAndAllocation) {
  Machine m;
  m.load_body("mov.u32 %r1, %tid.x;" + kStoreR1);
  const uint64_t before = m.allocate(std::vector<uint32_t>(16, 0xabcd));
  const uint64_t out = m.allocate(std::vector<uint32_t>(100));
  const uint64_t after = m.allocate(std::vector<uint32_t>(16, 0xabcd));
  const Fault fault = m.run({1}, {128}, out);
  EXPECT_EQ(fault.kind, FaultKind::illegal_address);
  expect_text(fault, "in kernel k");
  expect_text(fault, "store of 4 bytes");
  expect_text(fault, "thread (100,0,0) of block (0,0,0)");
  expect_text(fault, "0 bytes after the end of cudaMalloc allocation");
  for (uint64_t other : {before, after})
    for (uint32_t v : m.read<uint32_t>(other, 16)) EXPECT_EQ(v, 0xabcdu);
}

TEST(Fault, SourceLineFromLoc) {
  Machine m;
  m.load(R"(
.visible .entry k(.param .u64 k_out)
{
  .reg .b64 %rd<2>; .reg .b32 %r<2>;
  mov.b64 %rd1, 0;
  .loc 1 27 3
  ld.global.u32 %r1, [%rd1+64];
  ret;
}
.file 1 "saxpy.cu"
)");
  const Fault fault = m.run({1}, {1}, m.allocate(std::vector<uint32_t>(1)));
  EXPECT_EQ(fault.kind, FaultKind::illegal_address);
  expect_text(fault, "saxpy.cu:27");
}

TEST(Fault, SourceFilesBelowTheCurrentFolderAreNamedFromThere) {
  const std::string folder = std::filesystem::current_path().string();
  for (const auto& [file, shown] : {std::pair{folder + "/a/b.cu", "a/b.cu:7: error"},
                                    std::pair{folder + "2/b.cu", "2/b.cu:7: error"}}) {
    Machine m;
    m.load(".visible .entry k() { .loc 1 7 0\n trap; }\n.file 1 \"" + file + "\"\n");
    expect_text(m.run({1}, {1}), shown);
  }
}

TEST(Fault, NullPointer) {
  const Fault fault = run_body("mov.u64 %rd1, 0; st.global.u32 [%rd1+8], 1;", 32);
  EXPECT_EQ(fault.kind, FaultKind::illegal_address);
  expect_text(fault, "null pointer");
}

TEST(Fault, Misaligned) {
  const Fault fault = run_body("add.s64 %rd1, %out, 2; ld.global.u32 %r1, [%rd1];", 1, 4);
  EXPECT_EQ(fault.kind, FaultKind::misaligned_address);
  expect_text(fault, "multiple of 4");
}

TEST(Fault, MisalignedVector) {
  EXPECT_EQ(run_body("ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%out+8];", 1, 8).kind,
            FaultKind::misaligned_address);
}

TEST(Fault, UseAfterFree) {
  Machine m;
  m.load_body("ld.global.u32 %r1, [%out];");
  const uint64_t out = m.allocate(std::vector<uint32_t>(4));
  ASSERT_TRUE(m.engine().memory().release(out, MemKind::device));
  const Fault fault = m.run({1}, {1}, out);
  EXPECT_EQ(fault.kind, FaultKind::illegal_address);
  expect_text(fault, "use after free");
}

TEST(Fault, SharedOutOfBounds) {
  const std::string body = R"(
  .shared .align 4 .b8 s[64];
  mov.u32 %r2, %tid.x; shl.b32 %r2, %r2, 2; mov.u32 %r3, s; add.u32 %r3, %r3, %r2;
  st.shared.u32 [%r3], %r2;
)";
  const Fault fault = run_body(body, 32);
  EXPECT_EQ(fault.kind, FaultKind::illegal_address);
  expect_text(fault, "64 bytes of shared memory");
  expect_text(fault, "thread (16,0,0)");
}

// The decoder merges neighbouring shared loads; the report is that of the loads as written.
TEST(Fault, MergedSharedLoadsNameTheOneThatFails) {
  const auto run = [](uint32_t threads, uint32_t address) {
    Machine m;
    m.load(R"(
.visible .entry k(.param .u32 k_address)
{
  .reg .b32 %r<16>; .shared .align 4 .b8 s[64];
  mov.u32 %r1, s; ld.param.u32 %r2, [k_address]; add.u32 %r3, %r1, %r2;
  .loc 1 10 0
  ld.shared.u32 %r4, [%r3+8];
  .loc 1 11 0
  ld.shared.u32 %r5, [%r3+4];
  .loc 1 12 0
  ld.shared.u32 %r6, [%r3+12];
  .loc 1 13 0
  ld.shared.u32 %r7, [%r3];
  ret;
}
.file 1 "tile.cu"
)");
    return m.run({1}, {threads}, address);
  };
  for (uint32_t threads : {32, 5}) {  // a full warp and a part of one
    EXPECT_FALSE(run(threads, 48));
    const Fault last = run(threads, 52);
    EXPECT_EQ(last.kind, FaultKind::illegal_address);
    expect_text(last,
                "tile.cu:12: error: illegal memory access in kernel k [out-of-bounds]\n"
                "  shared load of 4 bytes at offset 0x40 by ");
    // All four: the program's first, not the lowest address.
    expect_text(run(threads, 64), "tile.cu:10: error");
    // Four bytes below the first.
    expect_text(run(threads, ~0u - 3), "tile.cu:13: error");
    const Fault misaligned = run(threads, 2);
    EXPECT_EQ(misaligned.kind, FaultKind::misaligned_address);
    expect_text(misaligned, "tile.cu:10: error: misaligned");
  }
}

TEST(Fault, Trap) {
  const Fault fault = run_body("mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 5; @%p1 trap;", 32);
  EXPECT_EQ(fault.kind, FaultKind::trap);
  expect_text(fault, "thread (5,0,0)");
}

TEST(Fault, UnknownInstructionIsNamedAtLoadWithItsLine) {
  const Fault fault = run_body("frobnicate.u32 %r1, %r2;");
  EXPECT_EQ(fault.kind, FaultKind::unsupported);
  expect_text(fault, "frobnicate");
  expect_text(fault, "test.ptx:");
  expect_text(fault, "^");
}

TEST(Fault, UnknownFormIsNamed) {
  const Fault fault = run_body("add.u128 %r1, %r2, %r3;");
  EXPECT_EQ(fault.kind, FaultKind::unsupported);
  expect_text(fault, "add.u128");
}

TEST(Fault, EndlessRecursionOverflowsTheStack) {
  Machine m;
  m.load(R"(
.func f(.param .b32 n)
{
  .reg .b32 %r<3>; .local .align 4 .b8 depot[64];
  ld.param.b32 %r1, [n];
  add.s32 %r1, %r1, 1;
  { .param .b32 p0; st.param.b32 [p0], %r1; call f, (p0); }
  ret;
}
.visible .entry k(.param .u64 k_out)
{
  { .param .b32 p0; st.param.b32 [p0], 0; call f, (p0); }
  ret;
}
)");
  EXPECT_EQ(m.run({1}, {1}, uint64_t(0)).kind, FaultKind::hardware_stack);
}

}  // namespace
}  // namespace ridge::vm::testing
