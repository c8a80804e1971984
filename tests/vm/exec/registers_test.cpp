// setmaxnreg: the registers of a block, and what happens when they do not suffice.
#include "machine.h"

namespace ridge::vm::testing {
namespace {

constexpr uint32_t kThreads = 384;  // a producer's warpgroup and two consumers'

// 168 registers for each of 384 threads, unless other bounds are given.
std::string kernel(const std::string& body, const std::string& bounds = ".minnctapersm 1") {
  return ".visible .entry k(.param .u64 k_out) .maxntid 384, 1, 1 " + bounds + R"(
{
  .reg .pred %p<8>; .reg .b32 %r<8>; .reg .b64 %rd<8>, %out;
  ld.param.u64 %out, [k_out];
  mov.u32 %r1, %tid.x;
  setp.lt.u32 %p1, %r1, 128;
)" + body +
         R"(
DONE:
  mul.wide.u32 %rd1, %r1, 4;
  add.u64 %rd1, %out, %rd1;
  st.global.u32 [%rd1], %r1;
  ret;
}
)";
}
std::string two_roles(int producer, int consumers) {
  return kernel("  @%p1 bra PRODUCE;\n  setmaxnreg.inc.sync.aligned.u32 " +
                std::to_string(consumers) +
                ";\n  bra DONE;\nPRODUCE:\n  setmaxnreg.dec.sync.aligned.u32 " +
                std::to_string(producer) + ";\n");
}

void expect_all_ran(Machine& m) {
  const uint64_t out = m.allocate(std::vector<uint32_t>(kThreads, ~0u));
  const Fault fault = m.run({1}, {kThreads}, out);
  ASSERT_FALSE(fault) << text_of(fault);
  const auto values = m.read<uint32_t>(out, kThreads);
  for (uint32_t i = 0; i < kThreads; ++i) EXPECT_EQ(values[i], i);
}

std::string fault_of(Machine& m, FaultKind kind) {
  const Fault fault = m.run({1}, {kThreads}, m.allocate(std::vector<uint32_t>(kThreads)));
  EXPECT_EQ(fault.kind, kind) << text_of(fault);
  EXPECT_EQ(fault.finding.kind, "setmaxnreg");
  return text_of(fault);
}

TEST(Registers, ConsumersGetWhatTheProducerGivesBack) {
  for (const auto& [producer, consumers] : {std::pair(40, 232), std::pair(24, 240)}) {
    Machine m;
    m.load(two_roles(producer, consumers));
    expect_all_ran(m);
  }
}

TEST(Registers, TooManyIsADeadlockWithNumbers) {
  Machine m;
  m.load(two_roles(40, 240));
  const std::string text = fault_of(m, FaultKind::timeout);
  EXPECT_NE(text.find("asks for 240 registers per thread and has 168"), text.npos) << text;
  EXPECT_NE(text.find("64512 registers: 168 for each of 384 threads"), text.npos) << text;
  EXPECT_NE(text.find("warps 0 to 3: 40 registers per thread"), text.npos) << text;
  EXPECT_NE(text.find("setmaxnreg.inc 240"), text.npos) << text;
}

// The producer waits for consumers that wait for its registers.
TEST(Registers, SpinningIsNoWayOut) {
  Machine m;
  m.load(".shared .align 4 .b8 flag[4];\n" + kernel(R"(
  mov.u32 %r2, flag;
  mov.u32 %r3, 0;
  st.shared.u32 [%r2], %r3;
  bar.sync 0;
  @%p1 bra SPIN;
  setmaxnreg.inc.sync.aligned.u32 232;
  mov.u32 %r3, 1;
  st.shared.u32 [%r2], %r3;
  bra DONE;
SPIN:
  ld.volatile.shared.u32 %r4, [%r2];
  setp.eq.u32 %p2, %r4, 0;
  @%p2 bra SPIN;
)"));
  const std::string text = fault_of(m, FaultKind::timeout);
  EXPECT_NE(text.find("0 of the block are free"), text.npos) << text;
  EXPECT_NE(text.find("at most 168 registers"), text.npos) << text;
}

TEST(Registers, AllWarpsOfAWarpgroupExecuteIt) {
  Machine m;
  m.load(kernel(R"(
  setp.lt.u32 %p2, %r1, 96;
  @%p2 setmaxnreg.dec.sync.aligned.u32 40;
)"));
  const std::string text = fault_of(m, FaultKind::registers);
  EXPECT_NE(text.find("other warps of its warpgroup"), text.npos) << text;
  EXPECT_NE(text.find("40, 40, 40, 168"), text.npos) << text;
}

// ptxas does not know how many there are, and ignores it.
TEST(Registers, WithoutBoundsItHasNoEffect) {
  Machine m;
  m.load(kernel("  setmaxnreg.inc.sync.aligned.u32 256;\n", ""));
  expect_all_ran(m);
}

TEST(Registers, AttributesTellWhatItStartsWith) {
  for (const auto& [bounds, registers] :
       {std::pair(".minnctapersm 1", 168u), std::pair(".maxnreg 96", 96u)}) {
    Engine engine({.gpu = *find_gpu("h200"), .threads = 1});
    auto program = engine.load(".version 8.0\n.target sm_90a\n.address_size 64\n" +
                                   kernel("  setmaxnreg.dec.sync.aligned.u32 40;\n", bounds),
                               "test.ptx");
    ASSERT_TRUE(program) << program.error().message;
    const auto usage = engine.usage(engine.find_kernel(*program, "k"));
    ASSERT_TRUE(usage) << usage.error().message;
    EXPECT_EQ(usage->registers, registers) << bounds;
  }
}

TEST(Registers, WrongCountsAreErrors) {
  for (const auto& [body, message] :
       {std::pair("  setmaxnreg.inc.sync.aligned.u32 100;\n", "multiple of 8 between 24 and 256"),
        std::pair("  setmaxnreg.dec.sync.aligned.u32 16;\n", "multiple of 8 between 24 and 256"),
        std::pair("  setmaxnreg.inc.sync.aligned.u32 264;\n", "multiple of 8 between 24 and 256"),
        std::pair("  setmaxnreg.dec.sync.aligned.u32 200;\n", "never has more than 168")}) {
    Machine m;
    m.load(kernel(body));
    const Fault fault = m.run({1}, {kThreads}, m.allocate(std::vector<uint32_t>(kThreads)));
    EXPECT_EQ(fault.kind, FaultKind::unsupported);
    EXPECT_NE(fault.finding.message.find(message), std::string::npos) << fault.finding.message;
  }
}

}  // namespace
}  // namespace ridge::vm::testing
