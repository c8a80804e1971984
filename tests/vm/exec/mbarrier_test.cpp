// mbarrier: phases, counts, transactions, and barriers that are used wrongly.
#include "machine.h"

namespace ridge::vm::testing {
namespace {

// One thread runs the body with the barrier b and returns %r1.
uint32_t run_one(const std::string& body) {
  Machine m;
  m.load_body(".shared .align 8 .b64 b;\n" + body + kStoreR1);
  return m.output<uint32_t>({1}, {1}, 1)[0];
}
// Sets bit `bit` of %r1 where the phase of this parity is over.
std::string test(uint32_t parity, uint32_t bit) {
  return "mbarrier.test_wait.parity.shared.b64 %p1, [b], " + std::to_string(parity) +
         ";\n@%p1 or.b32 %r1, %r1, " + std::to_string(1u << bit) + ";\n";
}
const std::string kInit = "mov.u32 %r1, 0; mbarrier.init.shared::cta.b64 [b], 2;\n";
const std::string kArrive = "mbarrier.arrive.shared.b64 %rd1, [b];\n";

TEST(Mbarrier, PhasesAlternate) {
  EXPECT_EQ(run_one(kInit + test(0, 0) + test(1, 1)), 2u) << "the phase before the first is over";
  EXPECT_EQ(run_one(kInit + kArrive + test(0, 0)), 0u);
  EXPECT_EQ(run_one(kInit + kArrive + kArrive + test(0, 0) + test(1, 1)), 1u);
  EXPECT_EQ(run_one(kInit + kArrive + kArrive + kArrive + kArrive + test(0, 0) + test(1, 1)), 2u);
}

TEST(Mbarrier, CountsAndDrops) {
  EXPECT_EQ(run_one(kInit + "mbarrier.arrive.release.cta.shared::cta.b64 _, [b], 2;" + test(0, 0)),
            1u);
  // After a drop the next phases need one arrival.
  const std::string drop = kInit + "mbarrier.arrive_drop.shared.b64 %rd2, [b];\n" + kArrive;
  EXPECT_EQ(run_one(drop + test(0, 0) + test(1, 1)), 1u);
  EXPECT_EQ(run_one(drop + kArrive + test(0, 0) + test(1, 1)), 2u);
  // The state is that before the arrival.
  const std::string pending = "mbarrier.pending_count.b64 %r1, %rd1;\n";
  EXPECT_EQ(run_one(kInit + kArrive + pending), 2u);
  EXPECT_EQ(
      run_one(kInit + "mbarrier.arrive.noComplete.shared.b64 %rd1, [b], 1;" + kArrive + pending),
      1u);
}

TEST(Mbarrier, StatesNameTheirPhase) {
  const std::string wait = "mbarrier.test_wait.shared.b64 %p1, [b], %rd1; selp.u32 %r1, 1, 0, %p1;";
  EXPECT_EQ(run_one(kInit + kArrive + wait), 0u);
  EXPECT_EQ(run_one(kInit + kArrive + "mbarrier.arrive.shared.b64 _, [b];" + wait), 1u);
}

TEST(Mbarrier, WaitsForBytes) {
  const std::string init = "mov.u32 %r1, 0; mbarrier.init.shared.b64 [b], 1;\n";
  const std::string done = "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [b], 64;\n";
  EXPECT_EQ(run_one(init + "mbarrier.arrive.expect_tx.shared.b64 _, [b], 128;" + done + test(0, 0)),
            0u);
  EXPECT_EQ(run_one(init + "mbarrier.arrive.expect_tx.shared.b64 _, [b], 128;" + done + done +
                    test(0, 0)),
            1u);
  // Bytes may come before they are expected.
  EXPECT_EQ(run_one(init + done + "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [b], 64;" +
                    test(0, 0) + "mbarrier.arrive.shared.b64 _, [b];" + test(0, 1)),
            2u);
}

TEST(Mbarrier, GenericAddresses) {
  EXPECT_EQ(run_one(R"(
  mov.u64 %rd5, b;
  cvta.shared.u64 %rd5, %rd5;
  mbarrier.init.b64 [%rd5], 1;
  mbarrier.arrive.b64 %rd1, [%rd5];
  mbarrier.try_wait.b64 %p1, [%rd5], %rd1, 1000;
  selp.u32 %r1, 1, 0, %p1;
  mbarrier.inval.b64 [%rd5];
)"),
            1u);
}

// All warps meet sixteen times; the last one of each phase lets the others go.
TEST(Mbarrier, ThreadsOfABlockMeet) {
  Machine m;
  m.load_body(R"(
  .shared .align 8 .b64 b;
  .shared .align 4 .b32 sum;
  mov.u32 %r2, %tid.x;
  setp.eq.u32 %p1, %r2, 0;
  @%p1 mbarrier.init.shared.b64 [b], 256;
  @%p1 st.shared.u32 [sum], 0;
  bar.sync 0;
  mov.u32 %r3, 0;
  mov.u32 %r1, 0;
LOOP:
  atom.shared.add.u32 %r4, [sum], 1;
  mbarrier.arrive.shared.b64 %rd1, [b];
WAIT:
  mbarrier.try_wait.shared.b64 %p2, [b], %rd1;
  @!%p2 bra WAIT;
  ld.volatile.shared.u32 %r5, [sum];
  add.u32 %r3, %r3, 1;
  mul.lo.u32 %r6, %r3, 256;
  setp.lt.u32 %p3, %r5, %r6;
  @%p3 add.u32 %r1, %r1, 1;
  setp.lt.u32 %p4, %r3, 16;
  @%p4 bra LOOP;
)" + kStoreR1);
  for (uint32_t early : m.output<uint32_t>({3}, {256}, 3 * 256)) EXPECT_EQ(early, 0u);
}

// Half a warp waits for the other half: independent thread scheduling.
TEST(Mbarrier, LanesOfAWarpMeet) {
  Machine m;
  m.load_body(R"(
  .shared .align 8 .b64 b;
  mov.u32 %r2, %tid.x;
  setp.eq.u32 %p1, %r2, 0;
  @%p1 mbarrier.init.shared.b64 [b], 16;
  bar.sync 0;
  setp.lt.u32 %p2, %r2, 16;
  @%p2 bra WAIT;
  mbarrier.arrive.shared.b64 _, [b];
  bra END;
WAIT:
  mbarrier.test_wait.parity.shared.b64 %p3, [b], 0;
  @!%p3 bra WAIT;
END:
  mov.u32 %r1, 9;
)" + kStoreR1);
  for (uint32_t v : m.output<uint32_t>({1}, {32}, 32)) EXPECT_EQ(v, 9u);
}

// As on an H200: what was invalidated works on until something else is stored there.
TEST(Mbarrier, InvalidationLeavesTheBits) {
  EXPECT_EQ(run_one(R"(
  mbarrier.init.shared.b64 [b], 2;
  mbarrier.inval.shared.b64 [b];
  mbarrier.arrive.shared.b64 %rd1, [b];
  mbarrier.test_wait.shared.b64 %p1, [b], %rd1;
  selp.u32 %r1, 10, 20, %p1;
  mbarrier.arrive.shared.b64 _, [b];
  mbarrier.test_wait.shared.b64 %p1, [b], %rd1;
  selp.u32 %r2, 1, 2, %p1;
  add.u32 %r1, %r1, %r2;
)"),
            21u);
}

TEST(Mbarrier, WrongUseIsReported) {
  struct {
    std::string body, text;
    FaultKind kind = FaultKind::trap;
  } const cases[] = {
      {"st.shared.u64 [b], 0;" + kArrive, "has not been initialised"},
      {kInit + "mbarrier.arrive.shared.b64 _, [b], 3;", "more arrivals than"},
      {"mbarrier.init.shared.b64 [b], 0;" + kArrive, "more arrivals than"},
      {kInit + "mbarrier.arrive.shared.b64 _, [b], 3;", "wait until the phase is over"},
      {kInit + "mbarrier.expect_tx.shared.b64 [b], 1048576;", "tx-count is out of range"},
      {"mbarrier.init.shared.b64 [b+4], 1;", "multiple of 8", FaultKind::misaligned_address},
      {"mbarrier.init.b64 [%out], 1;", "outside shared memory", FaultKind::invalid_address_space},
  };
  for (const auto& c : cases) {
    Machine m;
    m.load_body(".shared .align 8 .b64 b;\n" + c.body);
    const Fault fault = m.run({1}, {1}, m.allocate(std::vector<uint32_t>(1)));
    EXPECT_EQ(fault.kind, c.kind) << c.body;
    EXPECT_NE(text_of(fault).find(c.text), std::string::npos) << c.text << "\n" << text_of(fault);
  }
}

// Counts that PTX does not allow are taken: what is above 2^20 goes into the parity.
TEST(Mbarrier, AnyCountIsTaken) {
  const auto init = [](const std::string& count) {
    return "mov.u32 %r1, 0; mbarrier.init.shared.b64 [b], " + count + ";\n";
  };
  EXPECT_EQ(run_one(init("2097152") + test(0, 0)), 1u);
  EXPECT_EQ(run_one(init("1048575") + test(0, 0)), 0u);
}

}  // namespace
}  // namespace ridge::vm::testing
