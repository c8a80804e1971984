// Barriers, .sync instructions and what happens when they can never be met.
#include "machine.h"

namespace ridge::vm::testing {
namespace {

TEST(Barrier, OrdersSharedMemory) {
  Machine m;
  m.load_body(R"(
  .shared .align 4 .b8 s[1024];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, s;
  shl.b32 %r4, %r2, 2;
  add.u32 %r5, %r3, %r4;
  st.shared.u32 [%r5], %r2;
  bar.sync 0;
  xor.b32 %r6, %r4, 1020;
  add.u32 %r6, %r3, %r6;
  ld.shared.u32 %r1, [%r6];
)" + kStoreR1);
  const auto out = m.output<uint32_t>({5}, {256}, 5 * 256);
  for (uint32_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], 255 - i % 256) << i;
}

// Threads that returned do not keep the others from passing.
TEST(Barrier, ExitedThreadsDoNotCount) {
  Machine m;
  m.load_body(R"(
  mov.u32 %r2, %tid.x;
  setp.ge.u32 %p1, %r2, 50;
  @%p1 ret;
  bar.sync 0;
  mov.u32 %r1, 7;
)" + kStoreR1);
  const auto out = m.output<uint32_t>({1}, {100}, 100);
  for (uint32_t i = 0; i < 100; ++i) EXPECT_EQ(out[i], i < 50 ? 7u : ~0u) << i;
}

// Named barriers with counts: a producer warp arrives, consumer warps wait.
TEST(Barrier, NamedArriveAndSync) {
  Machine m;
  m.load_body(R"(
  .shared .align 4 .b8 s[4];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, s;
  setp.lt.u32 %p1, %r2, 32;
  @%p1 bra PRODUCE;
  bar.sync 3, 64;
  ld.shared.u32 %r1, [%r3];
  bra STORE;
PRODUCE:
  mov.u32 %r1, 55;
  st.shared.u32 [%r3], %r1;
  bar.arrive 3, 64;
STORE:
)" + kStoreR1);
  const auto out = m.output<uint32_t>({1}, {64}, 64);
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], 55u) << i;
}

TEST(Barrier, Reductions) {
  Machine m;
  m.load_body(R"(
  mov.u32 %r2, %tid.x;
  setp.lt.u32 %p1, %r2, 40;
  bar.red.popc.u32 %r3, 0, %p1;
  bar.red.and.pred %p2, 0, %p1;
  bar.red.or.pred %p3, 1, %p1;
  selp.u32 %r4, 1000, 0, %p2;
  selp.u32 %r5, 2000, 0, %p3;
  add.u32 %r1, %r3, %r4;
  add.u32 %r1, %r1, %r5;
)" + kStoreR1);
  for (uint32_t v : m.output<uint32_t>({1}, {96}, 96)) EXPECT_EQ(v, 2040u);
}

TEST(Barrier, NeverMetIsReported) {
  Machine m;
  m.load_body(R"(
  mov.u32 %r2, %tid.x;
  setp.lt.u32 %p1, %r2, 32;
  @%p1 bar.sync 1, 128;
)");
  const Fault fault = m.run({1}, {64}, m.allocate(std::vector<uint32_t>(64)));
  EXPECT_EQ(fault.kind, FaultKind::timeout);
  EXPECT_NE(text_of(fault).find("barrier 1: 32 of the 128 threads"), std::string::npos)
      << text_of(fault);
  EXPECT_NE(text_of(fault).find("block (0,0,0)"), std::string::npos) << text_of(fault);
}

TEST(Barrier, EndlessLoopMeetsTheTimeLimit) {
  Machine m(2, 0.3);
  m.load_body("LOOP: bra LOOP;");
  const Fault fault = m.run({4}, {32}, m.allocate(std::vector<uint32_t>(1)));
  EXPECT_EQ(fault.kind, FaultKind::timeout);
  EXPECT_NE(text_of(fault).find("0 of 4 blocks"), std::string::npos) << text_of(fault);
}

// Lanes arrive at one shuffle from two sides of a branch at different times: it waits for its mask.
TEST(Sync, ShuffleWaitsForItsMask) {
  Machine m;
  m.load_body(R"(
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %r2;
  mov.u32 %r5, 0;
  setp.lt.u32 %p1, %r2, 16;
  @%p1 bra GO;
SPIN:
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p2, %r5, %r2;
  @%p2 bra SPIN;
GO:
  bar.warp.sync -1;
  shfl.sync.bfly.b32 %r1, %r3, 16, 31, -1;
)" + kStoreR1);
  const auto out = m.output<uint32_t>({1}, {32}, 32);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i ^ 16) << i;
}

// The two halves of an if each call __syncwarp for the whole warp.
TEST(Sync, WarpSyncFromTwoPlaces) {
  Machine m;
  m.load_body(R"(
  .shared .align 4 .b8 s[128];
  mov.u32 %r2, %laneid;
  shl.b32 %r4, %r2, 2;
  mov.u32 %r3, s;
  add.u32 %r5, %r3, %r4;
  setp.lt.u32 %p1, %r2, 16;
  @%p1 bra LOW;
  add.u32 %r6, %r2, 100;
  st.shared.u32 [%r5], %r6;
  bar.warp.sync -1;
  bra JOIN;
LOW:
  bar.warp.sync -1;
  ld.shared.u32 %r1, [%r5+64];
JOIN:
  @!%p1 mov.u32 %r1, %r2;
)" + kStoreR1);
  const auto out = m.output<uint32_t>({1}, {32}, 32);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i < 16 ? i + 116 : i) << i;
}

// Tiles of a warp vote with their own masks in one instruction.
TEST(Sync, TilesVoteApart) {
  Machine m;
  m.load_body(R"(
  mov.u32 %r2, %laneid;
  and.b32 %r3, %r2, 24;
  mov.u32 %r4, 255;
  shl.b32 %r4, %r4, %r3;
  and.b32 %r5, %r2, 1;
  setp.eq.u32 %p1, %r5, 1;
  setp.gt.u32 %p2, %r2, 20;
  and.pred %p1, %p1, %p2;
  vote.sync.ballot.b32 %r1, %p1, %r4;
)" + kStoreR1);
  const auto out = m.output<uint32_t>({1}, {32}, 32);
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], (0xaaaaaaaau & ~((1u << 21) - 1)) & (0xffu << (i & 24))) << i;
}

TEST(Sync, MaskThatLeavesOutALaneThatNeverComesIsReported) {
  Machine m;
  m.load_body(R"(
  mov.u32 %r2, %laneid;
  setp.lt.u32 %p1, %r2, 4;
  @%p1 bra WAIT;
LOOP:
  bar.sync 2, 64;
  bra LOOP;
WAIT:
  bar.warp.sync -1;
)");
  const Fault fault = m.run({1}, {32}, m.allocate(std::vector<uint32_t>(1)));
  EXPECT_EQ(fault.kind, FaultKind::timeout);
  EXPECT_NE(text_of(fault).find(".sync"), std::string::npos) << text_of(fault);
}

// A millisecond is the longest that PTX knows; the clock is the GPU's. Two warps sleep side by
// side.
TEST(Sleep, TakesItsTime) {
  Machine m(1);
  m.load_body(R"(
  mov.u64 %rd1, %clock64;
  nanosleep.u32 5000000;
  mov.u64 %rd2, %clock64;
  sub.u64 %rd3, %rd2, %rd1;
  mov.u32 %r1, %tid.x; mad.wide.u32 %rd4, %r1, 8, %out;
  st.global.u64 [%rd4], %rd3;
)");
  const auto cycles = m.output<uint64_t>({1}, {64}, 64);
  const auto millisecond = uint64_t(find_gpu("h200")->clock_khz);
  for (const uint64_t slept : cycles) {
    EXPECT_GE(slept, millisecond);
    EXPECT_LE(slept, 1000 * millisecond);  // on a busy machine
  }
}

TEST(Sleep, LetsOthersRun) {
  Machine m(1);  // the first warp waits for the second, which sleeps before it answers
  m.load_body(R"(
  mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 32;
  @%p1 bra answer;
wait:
  nanosleep.u32 100;
  ld.volatile.global.u32 %r2, [%out];
  setp.ne.u32 %p2, %r2, 7;
  @%p2 bra wait;
  bra.uni done;
answer:
  nanosleep.u32 100000;
  st.volatile.global.u32 [%out], 7;
done:
)");
  EXPECT_EQ(m.output<uint32_t>({1}, {64}, 1)[0], 7u);
}

// Neighbouring readings of the clock are a few cycles apart, not hundreds.
TEST(Sleep, TheClockCountsSingleCycles) {
  Machine m(1);
  std::string body = "mov.u64 %rd9, 0;\n";
  for (int k = 0; k < 64; ++k)
    body +=
        "mov.u64 %rd1, %clock64; mov.u64 %rd2, %clock64; sub.u64 %rd3, %rd2, %rd1;\n"
        "or.b64 %rd9, %rd9, %rd3;\n";
  m.load_body(body + "st.global.u64 [%out], %rd9;");
  EXPECT_NE(m.output<uint64_t>({1}, {1}, 1)[0] % 256, 0u);
}

}  // namespace
}  // namespace ridge::vm::testing
