// Who runs together, and that everybody runs.
#include "machine.h"

namespace ridge::vm::testing {
namespace {

// Both sides of a branch meet again at its post-dominator: activemask there is the whole warp.
TEST(Divergence, ReconvergesBehindIfElse) {
  Machine m;
  m.load_body(R"(
  mov.u32 %r2, %tid.x;
  setp.lt.u32 %p1, %r2, 7;
  @%p1 bra LOW;
  mov.u32 %r3, 200;
  activemask.b32 %r4;
  bra.uni JOIN;
LOW:
  mov.u32 %r3, 100;
  activemask.b32 %r4;
JOIN:
  activemask.b32 %r5;
  setp.eq.u32 %p2, %r5, -1;
  selp.u32 %r6, 1, 0, %p2;
  popc.b32 %r7, %r4;
  add.u32 %r1, %r3, %r6;
  mad.lo.u32 %r1, %r7, 1000, %r1;
)" + kStoreR1);
  const auto out = m.output<uint32_t>({1}, {32}, 32);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i < 7 ? 7101u : 25201u) << i;
}

// Lanes leave a loop at different times and wait for each other behind it.
TEST(Divergence, ReconvergesBehindLoop) {
  Machine m;
  m.load_body(R"(
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, 0;
LOOP:
  add.u32 %r3, %r3, 1;
  setp.le.u32 %p1, %r3, %r2;
  @%p1 bra LOOP;
  activemask.b32 %r4;
  popc.b32 %r5, %r4;
  mad.lo.u32 %r1, %r5, 100, %r3;
)" + kStoreR1);
  const auto out = m.output<uint32_t>({2}, {48}, 96);
  for (uint32_t i = 0; i < 96; ++i) {
    const uint32_t tid = i % 48;
    EXPECT_EQ(out[i], (tid < 32 ? 3200u : 1600u) + tid + 1) << i;
  }
}

// A return inside a nested branch does not keep the other lanes from meeting where the branch ends.
TEST(Divergence, EarlyReturnKeepsInnerJoin) {
  Machine m;
  m.load_body(R"(
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, 0;
  and.b32 %r4, %r2, 1;
  setp.eq.u32 %p1, %r4, 0;
  @%p1 bra MEET;
  setp.gt.u32 %p2, %r2, 15;
  @%p2 bra DONE;
  mov.u32 %r3, 1;
MEET:
  activemask.b32 %r5;
  popc.b32 %r1, %r5;
)" + kStoreR1 +
              "DONE:");
  const auto out = m.output<uint32_t>({1}, {32}, 32);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i % 2 && i > 15 ? ~0u : 24u) << i;
}

// The classic deadlock of lock-step hardware: two lanes of one warp want the same lock.
TEST(Divergence, SpinLockBetweenLanesEnds) {
  Machine m(1);
  m.load_body(R"(
  mov.u32 %r2, 0;
SPIN:
  atom.global.cas.b32 %r3, [%out], 0, 1;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra SPIN;
  ld.volatile.global.u32 %r4, [%out+4];
  add.u32 %r4, %r4, 1;
  st.volatile.global.u32 [%out+4], %r4;
  membar.gl;
  atom.global.exch.b32 %r5, [%out], 0;
)");
  const uint64_t out = m.allocate(std::vector<uint32_t>{0, 0});
  const Fault fault = m.run({3}, {64}, out);
  EXPECT_FALSE(fault) << text_of(fault);
  EXPECT_EQ(m.read<uint32_t>(out, 2)[1], 192u);
}

// brx.idx sends every lane its own way.
TEST(Divergence, BranchTable) {
  Machine m;
  m.load_body(R"(
  mov.u32 %r2, %tid.x;
  and.b32 %r2, %r2, 3;
  T: .branchtargets A, B, C, D;
  brx.idx %r2, T;
A: mov.u32 %r1, 10; bra JOIN;
B: mov.u32 %r1, 11; bra JOIN;
C: mov.u32 %r1, 12; bra JOIN;
D: mov.u32 %r1, 13;
JOIN:
  activemask.b32 %r3;
  popc.b32 %r3, %r3;
  mad.lo.u32 %r1, %r3, 100, %r1;
)" + kStoreR1);
  const auto out = m.output<uint32_t>({1}, {32}, 32);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], 3210 + i % 4) << i;
}

// Lanes that left a loop with atomics at different times call a function at different times; a vote
// in it is still one vote.
TEST(Divergence, LanesThatCallAtDifferentTimesVoteTogether) {
  Machine m;
  m.load_body(R"(
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd1, %r2, 4;
  add.u64 %rd1, %out, %rd1;
  and.b32 %r3, %r2, 3;
  mov.u32 %r4, 0;
LOOP:
  setp.ge.u32 %p1, %r4, %r3;
  @%p1 bra END;
  atom.global.add.u32 %r5, [%rd1], 1;
  add.u32 %r4, %r4, 1;
  bra LOOP;
END:
  {
  .param .b32 a;
  .param .b32 b;
  st.param.b32 [a], %r2;
  call (b), odd, (a);
  ld.param.b32 %r1, [b];
  }
  st.global.u32 [%rd1], %r1;
)",
              R"(
.func (.param .b32 b) odd(.param .b32 a)
{
  .reg .b32 %r<4>; .reg .pred %p;
  ld.param.b32 %r1, [a];
  and.b32 %r2, %r1, 1;
  setp.ne.u32 %p, %r2, 0;
  vote.sync.ballot.b32 %r3, %p, 0xffffffff;
  st.param.b32 [b], %r3;
  ret;
}
)");
  for (const uint32_t lanes : m.output<uint32_t>({1}, {32}, 32)) EXPECT_EQ(lanes, 0xaaaaaaaau);
}

// A block may wait for an earlier one, whatever the number of workers; a cooperative grid, for
// every other.
TEST(Progress, BlockWaitsForEarlierBlock) {
  for (unsigned threads : {1u, 2u, 3u}) {
    Machine m(threads);
    m.load_body(R"(
  mov.u32 %r2, %ctaid.x;
WAIT:
  ld.acquire.gpu.global.u32 %r3, [%out];
  setp.ne.u32 %p1, %r3, %r2;
  @%p1 bra WAIT;
  add.u32 %r3, %r3, 1;
  st.release.gpu.global.u32 [%out], %r3;
)");
    const uint64_t out = m.allocate(std::vector<uint32_t>{0});
    const Fault fault = m.run({200}, {1}, out);
    EXPECT_FALSE(fault) << text_of(fault);
    EXPECT_EQ(m.read<uint32_t>(out, 1)[0], 200u);
  }
}

TEST(Progress, CooperativeBlocksWaitForLaterOnes) {
  Machine m(2);
  m.load_body(R"(
  atom.global.add.u32 %r3, [%out], 1;
WAIT:
  ld.acquire.gpu.global.u32 %r3, [%out];
  setp.lt.u32 %p1, %r3, 100;
  @%p1 bra WAIT;
)");
  const uint64_t out = m.allocate(std::vector<uint32_t>{0});
  const Fault fault = m.run_as(m.shape({100}, {1}, 0, true), out);
  EXPECT_FALSE(fault) << text_of(fault);
}

}  // namespace
}  // namespace ridge::vm::testing
