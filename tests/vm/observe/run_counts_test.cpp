// Counters that follow from how often an instruction ran.
#include "vm/observe/run_counts.h"

#include <gtest/gtest.h>

#include "loaded.h"

namespace ridge::vm::observe {
namespace {

TensorWork work(const std::string& spelling) {
  std::string error;
  const Match* match = find_instruction(spelling, &error);
  if (!match) ADD_FAILURE() << error;
  return match ? tensor_work(*match, nullptr) : TensorWork{};
}
uint32_t instructions(const std::string& spelling) { return work(spelling).instructions; }

// Each number was seen in ptxas 13.0's machine code for sm_90a.
TEST(TensorWork, InstructionsAreTheMachines) {
  EXPECT_EQ(instructions("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16"), 1u);
  EXPECT_EQ(instructions("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"), 1u);
  EXPECT_EQ(instructions("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32"), 1u);
  EXPECT_EQ(instructions("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"), 1u);
  EXPECT_EQ(instructions("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64"), 1u);
  EXPECT_EQ(instructions("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32"), 1u);
  EXPECT_EQ(instructions("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32"), 1u);
  EXPECT_EQ(instructions("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"), 1u);
  EXPECT_EQ(instructions("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32"),
            1u);
  EXPECT_EQ(instructions("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32"), 2u);
  EXPECT_EQ(instructions("wmma.mma.sync.aligned.row.col.m8n32k16.f16.f16"), 2u);
  EXPECT_EQ(instructions("wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32"), 2u);
}
TEST(TensorWork, SomeTypesAreMadeOfOthers) {
  const TensorWork fp8 = work("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32");
  EXPECT_EQ(fp8.instructions, 2u);
  EXPECT_EQ(fp8.source, Element::f16);
  EXPECT_EQ(fp8.operations, 2u * 16 * 8 * 32);
  EXPECT_EQ(instructions("mma.sp.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32"), 2u);
  const TensorWork s4 = work("mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32");
  EXPECT_EQ(s4.instructions, 2u);
  EXPECT_EQ(s4.source, Element::s8);
  EXPECT_EQ(instructions("mma.sync.aligned.m8n8k32.row.col.s32.u4.s4.s32"), 2u);
  EXPECT_EQ(instructions("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc"), 1u);
  const TensorWork parity = work("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc");
  EXPECT_EQ(parity.instructions, 2u);
  EXPECT_EQ(parity.operations, 2u * 2 * 16 * 8 * 256);
  // Not by tensor cores at all.
  EXPECT_EQ(instructions("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32"), 0u);
}
TEST(TensorWork, SparseProductsCountInFull) {
  const TensorWork sparse = work("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32");
  EXPECT_TRUE(sparse.sparse);
  EXPECT_EQ(sparse.operations, 2u * 16 * 8 * 32);
}

// The counters of an instruction that 3 warps executed, with 90 threads.
Counters counted(const std::string& instruction) {
  const Loaded loaded(R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry k()
{
 .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .pred %p<3>;
 .shared .align 128 .b8 s[1024];
 mov.u32 %r1, s; mov.u64 %rd1, 0; mov.u32 %r2, 0;
 )" + instruction + "\n ret;\n}\n");
  Counters c;
  if (!loaded.code) {
    ADD_FAILURE() << loaded.error;
    return c;
  }
  c.warps = 3;
  c.threads = 90;
  const Plan plan = plan_of(*loaded.code);
  for (const Entry& entry : plan.entries)
    if (entry.source->mnemonic == instruction.substr(0, instruction.find(' ')))
      add_run_counts(c, entry);
  return c;
}
TEST(RunCounts, TexturesAndSurfacesAreRequests) {
  for (const char* one : {"tex.2d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%rd1, {%r2,%r2}];",
                          "tld4.r.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%f1,%f1}];",
                          "suld.b.2d.b32.trap %r2, [%rd1, {%r2,%r2}];",
                          "sust.b.2d.b32.trap [%rd1, {%r2,%r2}], %r2;"}) {
    const Counters c = counted(one);
    EXPECT_EQ(c.image_requests, 3u) << one;
    EXPECT_EQ(c.image_fetches, 90u) << one;
  }
}
TEST(RunCounts, WaitsAreCountedByKind) {
  EXPECT_EQ(counted("barrier.cluster.wait.aligned ;").cluster_barriers, 3u);
  EXPECT_EQ(counted("barrier.cluster.arrive.aligned ;").cluster_barriers, 0u);
  EXPECT_EQ(counted("cp.async.bulk.wait_group 0;").copy_waits, 3u);
  EXPECT_EQ(counted("cp.async.wait_group 0;").copy_waits, 3u);
  EXPECT_EQ(counted("cp.async.bulk.commit_group ;").bulk_commits, 3u);
  EXPECT_EQ(counted("wgmma.wait_group.sync.aligned 0;").product_waits, 3u);
  EXPECT_EQ(counted("mbarrier.arrive.shared.b64 _, [%r1];").mbarrier_arrivals, 3u);
}

}  // namespace
}  // namespace ridge::vm::observe
