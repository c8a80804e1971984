// Bulk stores and reductions: when they land, when their source is free, and what is said of bad
// ones.
#include "core/mix.h"
#include "late_landing.h"
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
  const std::string wait = kStore + kCommit + "cp.async.bulk.wait_group.read 0;\n" + kLook;
  const auto right = run(wait + kOverwrite);
  ASSERT_FALSE(fault) << text_of(fault);
  for (uint32_t t = 0; t < 32; ++t) {
    EXPECT_EQ(right[4 * t], t);
    EXPECT_EQ(right[128 + 4 * t], t);  // not promised, but so it is on hardware
  }
  const LateStores late;
  const auto looked_early = run(wait + kOverwrite);
  for (uint32_t t = 0; t < 32; ++t) {
    EXPECT_EQ(looked_early[4 * t], t);
    EXPECT_EQ(looked_early[128 + 4 * t], ~0u);  // read, but not written yet
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
  expect(store("[%rd1]", "[%r3]", "24"), FaultKind::bulk_size, "it copies 16 bytes");
  expect(store("[%rd1]", "[%r3]", "0x100000"), FaultKind::bulk_size, "it copies 0 bytes");
  expect(store("[%rd1]", "[%r3]", "1024"), FaultKind::illegal_address, "shared");
  expect(store("[%rd1+1024]", "[%r3]", "16"), FaultKind::illegal_address, "after the end");
}

// cp.reduce.async.bulk: what an H200 left in 1024 bytes of global memory, as FNV-1a hashes.
constexpr struct {
  const char* operation;
  uint64_t hash;
} kRecorded[] = {
    {"add.u32", 0x5454e358e958378b},        {"add.s32", 0x5454e358e958378b},
    {"add.u64", 0x488ff3dd71366516},        {"add.f32", 0x8f8df6b89e42434f},
    {"add.f64", 0x8064fb154c7dd8e6},        {"add.noftz.f16", 0xa8ee5d8650d9a8fe},
    {"add.noftz.bf16", 0x32f5b49f987bed7d}, {"min.u32", 0x013f04ec87bc6d44},
    {"min.s32", 0xdcf602458ca64151},        {"min.u64", 0xbd6a2b386dd22c55},
    {"min.s64", 0x11a3ba8e6890bcc5},        {"min.f16", 0x9552ca624e36fca9},
    {"min.bf16", 0xd5fbb3d512c29c6d},       {"max.u32", 0xae2d2cc1cbb824f6},
    {"max.s32", 0xa480f1f1771fa833},        {"max.u64", 0x01f3dec45b201213},
    {"max.s64", 0x5da7e0fcb947a2c7},        {"max.f16", 0x75a80a00f0dc5c25},
    {"max.bf16", 0xb1ac83506af25f97},       {"inc.u32", 0x087dc18fbc915fec},
    {"dec.u32", 0x85bb780928eb1b44},        {"and.b32", 0xcf7b18b6d3410013},
    {"and.b64", 0xcf7b18b6d3410013},        {"or.b32", 0xafb93a6e73b98539},
    {"or.b64", 0xafb93a6e73b98539},         {"xor.b32", 0xa91821a6599609fb},
    {"xor.b64", 0xa91821a6599609fb},
};

// The bytes that the record was made with: numbers of all sizes in every format, and NaNs.
std::vector<uint32_t> recorded_input(uint64_t seed, size_t words) {
  std::vector<uint32_t> out(words);
  for (size_t i = 0; i < words; ++i) {
    out[i] = uint32_t(next_mixed(seed));
    if (i % 3 == 0) out[i] &= 0x3fff3fff;
    if (i % 8 == 3) out[i] &= 0x807fffff;
    if (i % 9 == 4) out[i] |= 0x7f800000;
  }
  return out;
}
uint64_t hash_of(const std::vector<uint32_t>& words) {
  uint64_t hash = kFnvStart;
  for (size_t i = 0; i < words.size() * 4; ++i)
    hash = fnv1a(hash, uint8_t(words[i / 4] >> (i % 4 * 8)));
  return hash;
}

TEST(BulkReduction, EqualsAnH200) {
  for (const auto& [operation, hash] : kRecorded) {
    Machine m;
    m.load_body(std::string(R"(
  .shared .align 16 .b8 s[1024];
  mov.u32 %r2, %tid.x;
  shl.b32 %r2, %r2, 2;
  cvt.u64.u32 %rd1, %r2;
  add.s64 %rd1, %rd1, %out;
  ld.global.u32 %r1, [%rd1+1024];
  mov.u32 %r3, s;
  add.u32 %r4, %r3, %r2;
  st.shared.u32 [%r4], %r1;
  fence.proxy.async;
  bar.sync 0;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra DONE;
  cp.reduce.async.bulk.global.shared::cta.bulk_group.)") +
                operation + R"( [%out], [%r3], 1024;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
DONE:
)");
    std::vector<uint32_t> memory = recorded_input(100, 256);
    const std::vector<uint32_t> source = recorded_input(200, 256);
    memory.insert(memory.end(), source.begin(), source.end());
    const uint64_t out = m.allocate(memory);
    const Fault fault = m.run({1}, {256}, out);
    ASSERT_FALSE(fault) << operation << text_of(fault);
    EXPECT_EQ(hash_of(m.read<uint32_t>(out, 256)), hash) << operation;
  }
}

}  // namespace
}  // namespace ridge::vm::testing
