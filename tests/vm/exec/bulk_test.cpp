// Bulk stores: when they land, when their source is free, and what is said of bad ones.
#include "machine.h"

namespace ridge::vm::testing {
namespace {

// Thread t has 16 bytes of shared memory at %r3, which hold t, and 16 bytes of global memory at
// %rd1, which hold 0xff….
const std::string kSetup = R"(
  .shared .align 16 .b8 s[512];
  mov.u32 %r2, %tid.x;
  shl.b32 %r4, %r2, 4;
  mov.u32 %r3, s;
  add.u32 %r3, %r3, %r4;
  cvt.u64.u32 %rd2, %r4;
  add.s64 %rd1, %out, %rd2;
  st.shared.v4.u32 [%r3], {%r2, %r2, %r2, %r2};
  fence.proxy.async.shared::cta;
)";
const std::string kStore = "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r3], 16;\n";
const std::string kCommit = "cp.async.bulk.commit_group;\n";
const std::string kOverwrite = "mov.u32 %r5, 77; st.shared.u32 [%r3], %r5;\n";
// What the thread itself sees at its destination goes into the second 512 bytes.
const std::string kLook = "ld.global.u32 %r6, [%rd1]; st.global.u32 [%rd1+512], %r6;\n";

struct BulkStore : ::testing::Test {
  Machine m;
  Fault fault;
  std::vector<uint32_t> run(const std::string& body) {
    m.load_body(kSetup + body);
    const uint64_t out = m.allocate(std::vector<uint32_t>(256, ~0u));
    fault = m.run({1}, {32}, out);
    return m.read<uint32_t>(out, 256);
  }
  void expect(const std::string& store, FaultKind kind, const char* text) {
    run(store);
    EXPECT_EQ(fault.kind, kind) << store;
    EXPECT_NE(text_of(fault).find(text), std::string::npos) << text_of(fault);
  }
};

TEST_F(BulkStore, LandsAtTheWaitForItsGroup) {
  const auto out = run(kStore + kCommit + kLook + "cp.async.bulk.wait_group 0;\n");
  ASSERT_FALSE(fault) << text_of(fault);
  for (uint32_t t = 0; t < 32; ++t) {
    EXPECT_EQ(out[4 * t], t);
    EXPECT_EQ(out[128 + 4 * t], ~0u);  // before the wait
  }
  const auto seen = run(kStore + kCommit + "cp.async.bulk.wait_group 0;\n" + kLook);
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(seen[128 + 4 * t], t);
}

TEST_F(BulkStore, AWaitForReadingFreesTheSource) {
  const auto early = run(kStore + kCommit + kOverwrite);
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(early[4 * t], 77u);  // as late as it may be
  const auto right =
      run(kStore + kCommit + "cp.async.bulk.wait_group.read 0;\n" + kLook + kOverwrite);
  ASSERT_FALSE(fault) << text_of(fault);
  for (uint32_t t = 0; t < 32; ++t) {
    EXPECT_EQ(right[4 * t], t);
    EXPECT_EQ(right[128 + 4 * t], ~0u);  // read, but not written yet
  }
}

TEST_F(BulkStore, AWaitLeavesTheNewestGroups) {
  const std::string second = "cp.async.bulk.global.shared::cta.bulk_group [%rd1+512], [%r3], 16;\n";
  const auto out =
      run(kStore + kCommit + second + kCommit + "cp.async.bulk.wait_group.read 1;\n" + kOverwrite);
  for (uint32_t t = 0; t < 32; ++t) {
    EXPECT_EQ(out[4 * t], t);
    EXPECT_EQ(out[128 + 4 * t], 77u);
  }
}

TEST_F(BulkStore, GroupsOfCopiesAreOthers) {
  const auto out = run(kStore + "cp.async.commit_group;\ncp.async.wait_all;\n" + kLook);
  ASSERT_FALSE(fault) << text_of(fault);
  for (uint32_t t = 0; t < 32; ++t) {
    EXPECT_EQ(out[128 + 4 * t], ~0u);
    EXPECT_EQ(out[4 * t], t);  // the block has ended
  }
}

TEST_F(BulkStore, BadOnesAreReportedWhereTheyStart) {
  const auto store = [](const char* to, const char* from, const char* size) {
    return std::string("cp.async.bulk.global.shared::cta.bulk_group ") + to + ", " + from + ", " +
           size + ";\n";
  };
  expect(store("[%rd1+8]", "[%r3]", "16"), FaultKind::misaligned_address, "multiple of 16");
  expect(store("[%rd1]", "[%r3+4]", "16"), FaultKind::misaligned_address, "multiple of 16");
  expect(store("[%rd1]", "[%r3]", "24"), FaultKind::illegal_instruction, "no multiple of 16");
  expect(store("[%rd1]", "[%r3]", "1024"), FaultKind::illegal_address, "shared");
  expect(store("[%rd1+1024]", "[%r3]", "16"), FaultKind::illegal_address, "after the end");
}

}  // namespace
}  // namespace ridge::vm::testing
