// Accesses outside every allocation that a GPU lets pass: told once for each line, and done.
#include "machine.h"

namespace ridge::vm::testing {
namespace {

class Tolerate : public ::testing::Test {
 protected:
  Tolerate()
      : m({.gpu = *find_gpu("h200"),
           .threads = 1,
           .strict = false,
           .warn = [this](const report::Finding& f) { told.push_back(f); }}) {}
  std::vector<report::Finding> told;
  Machine m;
};

TEST_F(Tolerate, AStoreBehindTheEndCanBeReadBack) {
  m.load_body("mov.u32 %r1, %tid.x; add.u32 %r1, %r1, 5;" + kStoreR1);
  const uint64_t out = m.allocate(std::vector<uint32_t>(100));
  EXPECT_FALSE(m.run({1}, {128}, out));
  ASSERT_EQ(told.size(), 1u);  // not once for each thread
  EXPECT_EQ(told[0].kind, "out-of-bounds");
  EXPECT_EQ(told[0].severity, report::Severity::warning);
  EXPECT_TRUE(told[0].first.act.starts_with("store of 4 bytes")) << told[0].first.act;
  EXPECT_NE(told[0].first.who.find("(100,0,0)"), std::string::npos) << told[0].first.who;
  ASSERT_EQ(told[0].notes.size(), 2u);
  EXPECT_NE(told[0].notes[0].find("0 bytes after the end of cudaMalloc allocation"),
            std::string::npos);
  EXPECT_NE(told[0].notes[1].find("a GPU lets this pass"), std::string::npos);
  EXPECT_EQ(m.read<uint32_t>(out, 128)[127], 132u);
  EXPECT_FALSE(m.run({1}, {128}, out));  // told already
  EXPECT_EQ(told.size(), 1u);
}

TEST_F(Tolerate, WhatWasNeverWrittenReadsAsZeroOnBothSides) {
  m.load_body(R"(
  ld.global.u32 %r1, [%out+4];
  ld.global.u32 %r2, [%out+-1024];
  or.b32 %r1, %r1, %r2;
  st.global.u32 [%out], %r1;)");
  m.allocate(std::vector<uint32_t>(1));  // so that there is something before the other
  m.allocate(std::vector<uint32_t>(2000));
  const uint64_t out = m.allocate(std::vector<uint32_t>(1, 7));
  EXPECT_FALSE(m.run({1}, {1}, out));
  EXPECT_EQ(m.read<uint32_t>(out, 1)[0], 0u);
  EXPECT_EQ(told.size(), 1u);  // the second load is inside another allocation
}

TEST_F(Tolerate, LanesInSeveralAllocationsAndBesideThem) {
  m.load(R"(
.visible .entry k(.param .u64 k_from, .param .u64 k_to)
{
  .reg .b32 %r<4>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [k_from];
  ld.param.u64 %rd2, [k_to];
  mov.u32 %r1, %laneid;
  mul.wide.u32 %rd3, %r1, 8;
  add.u64 %rd4, %rd1, %rd3;
  ld.global.u64 %rd5, [%rd4];
  ld.global.u32 %r2, [%rd5];
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd4, %rd2, %rd3;
  st.global.u32 [%rd4], %r2;
  ret;
}
)");
  const uint64_t device = m.allocate(std::vector<uint32_t>(8, 1));
  const uint64_t managed = *m.engine().memory().allocate(4, 256, MemKind::managed);
  *reinterpret_cast<uint32_t*>(managed) = 2;
  std::vector<uint64_t> from(32, device);
  from[5] = managed;
  from[9] = device + 32;
  const uint64_t out = m.allocate(std::vector<uint32_t>(32));
  EXPECT_FALSE(m.run({1}, {32}, m.allocate(from), out));
  const auto got = m.read<uint32_t>(out, 32);
  EXPECT_EQ(got[4], 1u);
  EXPECT_EQ(got[5], 2u);
  EXPECT_EQ(got[9], 0u);
  EXPECT_EQ(told.size(), 1u);
}

TEST_F(Tolerate, APageThatNobodyHasIsAFault) {
  m.load_body("ld.global.u32 %r1, [%out+8388608];");
  const Fault fault = m.run({1}, {1}, m.allocate(std::vector<uint32_t>(1)));
  EXPECT_EQ(fault.kind, FaultKind::illegal_address);
  EXPECT_TRUE(told.empty());
}

TEST_F(Tolerate, MisalignedIsAFault) {
  m.load_body("ld.global.u32 %r1, [%out+6];");
  const Fault fault = m.run({1}, {1}, m.allocate(std::vector<uint32_t>(1)));
  EXPECT_EQ(fault.kind, FaultKind::misaligned_address);
}

TEST_F(Tolerate, CopiesAndAtomics) {
  m.load_body(R"(
  mov.u32 %r1, buffer;
  cp.async.ca.shared.global [%r1], [%out+4], 4;
  cp.async.wait_all;
  ld.shared.u32 %r2, [%r1];
  atom.global.add.u32 %r3, [%out+8], 3;
  atom.global.add.u32 %r3, [%out+8], 3;
  add.u32 %r2, %r2, %r3;
  st.global.u32 [%out], %r2;)",
              ".shared .align 4 .b8 buffer[4];\n");
  const uint64_t out = m.allocate(std::vector<uint32_t>(1));
  EXPECT_FALSE(m.run({1}, {1}, out));
  EXPECT_EQ(m.read<uint32_t>(out, 1)[0], 3u);
  EXPECT_EQ(told.size(), 3u);  // three lines
}

// As on an H200: of the size only the bits 4 to 19 count. 24 bytes are 16, and so are 2^20 + 16.
TEST_F(Tolerate, BulkCopiesOfOddSizesAreCutOff) {
  m.load_body(R"(
  .shared .align 16 .b32 s[64]; .shared .align 8 .b64 bar;
  mbarrier.init.shared.b64 [bar], 1;
  mov.u32 %r1, 7; st.shared.u32 [s+4], %r1; st.shared.u32 [s+16], %r1;
  cp.async.bulk.global.shared::cta.bulk_group [%out], [s], 24;
  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
  mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;
  cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s+32], [%out], 1048592, [bar];
again:
  mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;
  @!%p1 bra again;
  ld.shared.u32 %r2, [s+36]; st.global.u32 [%out+32], %r2;)");
  const uint64_t out = m.allocate(std::vector<uint32_t>(16, 1));
  const Fault fault = m.run({1}, {1}, out);
  EXPECT_FALSE(fault) << text_of(fault);
  const auto words = m.read<uint32_t>(out, 16);
  EXPECT_EQ(words[1], 7u);
  EXPECT_EQ(words[4], 1u);
  EXPECT_EQ(words[8], 7u);
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].kind, "bulk-size");
  EXPECT_EQ(told[0].severity, report::Severity::warning);
}

}  // namespace
}  // namespace ridge::vm::testing
