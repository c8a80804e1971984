// cp.async: when copies land, what they leave alone, and what is said of bad ones.
#include "machine.h"

namespace ridge::vm::testing {
namespace {

// %rd1 = &out[4096 + 4 * tid words], %r3 = &s[tid * 16]; s holds 0xaa… to begin with.
const std::string kSetup = R"(
  .shared .align 16 .b8 s[4096];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, s;
  shl.b32 %r4, %r2, 4;
  add.u32 %r3, %r3, %r4;
  cvt.u64.u32 %rd2, %r4;
  add.s64 %rd1, %out, %rd2;
  add.s64 %rd1, %rd1, 16384;
  mov.u32 %r5, 0xaaaaaaaa;
  st.shared.v4.u32 [%r3], {%r5, %r5, %r5, %r5};
)";

struct Copy : ::testing::Test {
  Machine m;
  // Runs the body for `threads` threads and returns what each left in %r1; the sources are
  // 1000 * thread + word.
  std::vector<uint32_t> run(const std::string& body, uint32_t threads = 32) {
    m.load_body(kSetup + body + kStoreR1);
    std::vector<uint32_t> memory(4096 + 4 * threads);
    for (uint32_t i = 0; i < 4 * threads; ++i) memory[4096 + i] = i / 4 * 1000 + i % 4;
    const uint64_t out = m.allocate(memory);
    const Fault fault = m.run({1}, {threads}, out);
    EXPECT_FALSE(fault) << text_of(fault);
    return m.read<uint32_t>(out, threads);
  }
};

TEST_F(Copy, LandsAtTheWaitAndNotBefore) {
  const auto before = run(R"(
  cp.async.ca.shared.global [%r3], [%rd1], 4;
  cp.async.commit_group;
  bar.sync 0;
  ld.shared.u32 %r1, [%r3];
)");
  for (uint32_t v : before) EXPECT_EQ(v, 0xaaaaaaaau);
  const auto after = run(R"(
  cp.async.ca.shared.global [%r3], [%rd1+4], 4;
  cp.async.commit_group;
  cp.async.wait_group 0;
  ld.shared.u32 %r1, [%r3];
)");
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(after[i], 1000 * i + 1);
}

TEST_F(Copy, WaitGroupLeavesTheNewest) {
  const std::string copies = R"(
  cp.async.ca.shared.global [%r3], [%rd1], 4;
  cp.async.commit_group;
  cp.async.ca.shared.global [%r3+4], [%rd1], 4;
  cp.async.commit_group;
  cp.async.commit_group;
  cp.async.ca.shared.global [%r3+8], [%rd1], 4;
)";
  const std::string count = R"(
  mov.u32 %r1, 0;
  ld.shared.u32 %r6, [%r3];   setp.ne.u32 %p1, %r6, %r5; @%p1 or.b32 %r1, %r1, 1;
  ld.shared.u32 %r6, [%r3+4]; setp.ne.u32 %p1, %r6, %r5; @%p1 or.b32 %r1, %r1, 2;
  ld.shared.u32 %r6, [%r3+8]; setp.ne.u32 %p1, %r6, %r5; @%p1 or.b32 %r1, %r1, 4;
)";
  const std::pair<const char*, uint32_t> waits[] = {
      {"wait_group 3", 0}, {"wait_group 2", 1}, {"wait_group 1", 3},
      {"wait_group 0", 3}, {"wait_all", 7},
  };
  for (const auto& [wait, landed] : waits)
    for (uint32_t v : run(copies + "cp.async." + wait + ";" + count)) EXPECT_EQ(v, landed) << wait;
}

// A thread's groups are its own: odd lanes have committed one more than even ones.
TEST_F(Copy, GroupsBelongToThreads) {
  const auto out = run(R"(
  cp.async.ca.shared.global [%r3], [%rd1], 4;
  cp.async.commit_group;
  and.b32 %r6, %r2, 1;
  setp.eq.u32 %p1, %r6, 1;
  @%p1 cp.async.commit_group;
  cp.async.wait_group 1;
  ld.shared.u32 %r1, [%r3];
)");
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i % 2 ? 1000 * i : 0xaaaaaaaau) << i;
}

TEST_F(Copy, SizesAndZeroFill) {
  const auto sum = [](const char* copy) {
    return std::string(copy) + R"(
  cp.async.wait_all;
  ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [%r3];
  setp.eq.u32 %p1, %r7, %r5; selp.u32 %r7, 100, %r7, %p1;
  setp.eq.u32 %p1, %r8, %r5; selp.u32 %r8, 200, %r8, %p1;
  setp.eq.u32 %p1, %r9, %r5; selp.u32 %r9, 400, %r9, %p1;
  add.u32 %r1, %r6, %r7; add.u32 %r1, %r1, %r8; add.u32 %r1, %r1, %r9;
)";
  };
  // `words` come from the source; `old` are those that keep what they had.
  struct Case {
    const char* copy;
    uint32_t words, old;
  };
  const Case cases[] = {
      {"cp.async.ca.shared.global [%r3], [%rd1], 4;", 1, 700},
      {"cp.async.ca.shared::cta.global.L2::128B [%r3], [%rd1], 8;", 2, 600},
      {"cp.async.cg.shared.global.L2::256B [%r3], [%rd1], 16;", 4, 0},
      {"cp.async.ca.shared.global [%r3], [%rd1], 16, 8;", 2, 0},
      {"cp.async.ca.shared.global [%r3], [%rd1], 8, 4;", 1, 600},
      {"mov.u32 %r10, 12; cp.async.cg.shared.global [%r3], [%rd1], 16, %r10;", 3, 0},
      {"mov.u64 %rd3, 0; cp.async.cg.shared.global.L2::cache_hint [%r3], [%rd1], 16, %rd3;", 4, 0},
      {"mov.u64 %rd3, 0; cp.async.cg.shared.global.L2::cache_hint [%r3], [%rd1], 16, 4, %rd3;", 1,
       0},
  };
  for (const auto& [copy, words, old] : cases) {
    const auto out = run(sum(copy));
    for (uint32_t i = 0; i < 32; ++i)
      EXPECT_EQ(out[i], 1000 * i * words + words * (words - 1) / 2 + old) << copy;
  }
}

// Sources that are not read may be anywhere: how kernels treat the edges of a tile.
TEST_F(Copy, AnIgnoredSourceMayBeNull) {
  const auto by_size = run(R"(
  mov.u64 %rd3, 0;
  cp.async.cg.shared.global [%r3], [%rd3], 16, 0;
  cp.async.wait_all;
  ld.shared.u32 %r1, [%r3+12];
)");
  for (uint32_t v : by_size) EXPECT_EQ(v, 0u);
  const auto by_predicate = run(R"(
  setp.lt.u32 %p1, %r2, 7;
  selp.b64 %rd3, 8, %rd1, %p1;
  cp.async.ca.shared.global [%r3], [%rd3], 8, %p1;
  cp.async.wait_all;
  ld.shared.u32 %r1, [%r3+4];
)");
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(by_predicate[i], i < 7 ? 0 : 1000 * i + 1);
}

TEST_F(Copy, ManyCopiesThatNobodyWaitsForLandInTheEnd) {
  const auto out = run(R"(
  mov.u32 %r6, 0;
LOOP:
  cp.async.ca.shared.global [%r3], [%rd1], 4;
  cp.async.commit_group;
  add.u32 %r6, %r6, 1;
  setp.lt.u32 %p1, %r6, 5000;
  @%p1 bra LOOP;
  ld.shared.u32 %r1, [%r3];
)");
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], 1000 * i);
}

// Warp 0 copies and arrives; warp 1 waits for the barrier and reads.
TEST_F(Copy, ArrivesAtABarrierWhenItHasLanded) {
  for (const char* noinc : {"", ".noinc"}) {
    // Without .noinc the phase needs an arrival of its own.
    const std::string plain = *noinc ? "" : "mbarrier.arrive.shared.b64 _, [b];";
    const auto out = run(std::string(R"(
  .shared .align 8 .b64 b;
  setp.eq.u32 %p1, %r2, 0;
  @%p1 mbarrier.init.shared.b64 [b], 32;
  bar.sync 0;
  setp.ge.u32 %p2, %r2, 32;
  @%p2 bra WAIT;
  cp.async.ca.shared.global [%r3], [%rd1], 4;
  cp.async.mbarrier.arrive)") +
                             noinc + R"(.shared.b64 [b];
  )" + plain + R"(
  bra END;
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p3, [b], 0;
  @!%p3 bra WAIT;
  sub.u32 %r3, %r3, 512;
END:
  ld.shared.u32 %r1, [%r3];
)",
                         64);
    for (uint32_t i = 0; i < 64; ++i)
      EXPECT_EQ(out[i], i < 32 ? 0xaaaaaaaau : 1000 * (i - 32)) << i << noinc;
  }
}

// What cuda::memcpy_async makes of large copies on sm_90.
TEST_F(Copy, ABlockOfBytesTellsItsBarrier) {
  const auto out = run(R"(
  .shared .align 8 .b64 b;
  setp.eq.u32 %p1, %r2, 0;
  @%p1 mbarrier.init.shared.b64 [b], 1;
  bar.sync 0;
  @!%p1 bra WAIT;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 512, [b];
  mbarrier.arrive.expect_tx.shared.b64 _, [b], 512;
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p3, [b], 0;
  @!%p3 bra WAIT;
  ld.shared.u32 %r1, [%r3+8];
)");
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], 1000 * i + 2);
}

struct BadCopy : ::testing::Test {
  Fault run(const std::string& copy) {
    Machine m;
    m.load_body(kSetup + copy + "\n  cp.async.wait_all;");
    return m.run({1}, {32}, m.allocate(std::vector<uint32_t>(4096 + 128)));
  }
  void expect(const std::string& copy, FaultKind kind, std::initializer_list<const char*> texts) {
    const Fault fault = run(copy);
    EXPECT_EQ(fault.kind, kind) << copy << text_of(fault);
    for (const char* text : texts)
      EXPECT_NE(text_of(fault).find(text), std::string::npos) << text << "\n" << text_of(fault);
  }
};

TEST_F(BadCopy, IsReportedWhereItStarted) {
  expect("cp.async.cg.shared.global [%r3], [%rd1+512], 16;", FaultKind::illegal_address,
         {"cp.async of 16 bytes", ": cp.async.cg.shared.global", "thread (0,0,0)",
          "after the end of cudaMalloc allocation"});
  expect("cp.async.cg.shared.global [%r3], [%rd1+16], 16;", FaultKind::illegal_address,
         {"thread (31,0,0)"});
  expect("cp.async.cg.shared.global [%r3], [%rd1+520], 16, 8;", FaultKind::misaligned_address, {});
  expect("cp.async.cg.shared.global [%r3], [%rd1+512], 16, 8;", FaultKind::illegal_address,
         {"cp.async of 8 bytes"});
  expect("cp.async.cg.shared.global [%r3], [%rd1+4], 16;", FaultKind::misaligned_address,
         {"multiple of 16"});
  expect("cp.async.ca.shared.global [%r3+4], [%rd1], 8;", FaultKind::misaligned_address,
         {"shared cp.async of 8 bytes", "multiple of 8"});
  expect("cp.async.ca.shared.global [%r3+4096], [%rd1], 8;", FaultKind::illegal_address,
         {"shared cp.async of 8 bytes", "4096 bytes of shared memory"});
}

TEST_F(BadCopy, DoesNotDecode) {
  for (const auto& [copy, text] : {
           std::pair{"cp.async.ca.shared.global [%r3], [%rd1], 12;", "4, 8 or 16 bytes"},
           std::pair{"cp.async.cg.shared.global [%r3], [%rd1], 8;", "copies 16 bytes"},
           std::pair{"cp.async.ca.shared.global [%r3], [%rd1], 4, 8;", "source is larger"},
           std::pair{"cp.async.wait_group %r1;", "needs a constant"},
           std::pair{"cp.async.bulk.wait_group %r1;", "needs a constant"},
           std::pair{"cp.async.bulk.tensor.1d.shared::cta.global [%r3], [%rd1, {%r1}], [%r4];",
                     "yet (bulk and tensor copies)"},
       }) {
    const Fault fault = run(copy);
    EXPECT_EQ(fault.kind, FaultKind::unsupported);
    EXPECT_NE(text_of(fault).find(text), std::string::npos) << text_of(fault);
  }
}

}  // namespace
}  // namespace ridge::vm::testing
