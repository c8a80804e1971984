// Counters of single instructions, run on the engine.
#include "vm/observe/profile.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

namespace ridge::vm::observe {
namespace {

using nlohmann::json;

// Profiles of a kernel of one block; its instructions by PTX mnemonic (the last of each).
struct Profiled {
  json launch;
  std::map<std::string, json> by_name;
};
// `blocks` are one cluster.
Profiled run(const std::string& body, uint32_t threads = 32, uint32_t blocks = 1) {
  const std::string text = R"(.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 o_param)
{
 .reg .pred %p<9>; .reg .f32 %f<20>; .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .b16 %rs<9>;
 .shared .align 128 .b8 s[16384];
 .local .align 16 .b8 l[64];
 ld.param.u64 %rd1, [o_param];
 mov.u32 %r1, %tid.x;
 mul.wide.u32 %rd2, %r1, 16;
 add.s64 %rd3, %rd1, %rd2;
 mov.u32 %r2, s;
 shl.b32 %r3, %r1, 7;
 and.b32 %r3, %r3, 4095;
 add.s32 %r4, %r2, %r3;
 shl.b32 %r5, %r1, 4;
 add.s32 %r6, %r2, %r5;
 setp.lt.u32 %p1, %r1, 16;
)" + body + "\n ret;\n}\n";
  std::FILE* file = std::tmpfile();
  Profiler profiler(file, 0, 0);
  EngineOptions options;
  options.gpu = *find_gpu("h200");
  options.threads = 1;
  Engine engine(options);
  const auto program = engine.load(text, "test.ptx");
  EXPECT_TRUE(program) << (program ? "" : program.error().message);
  Launch launch;
  launch.kernel = engine.kernels(*program).at(0);
  launch.block.x = threads;
  launch.grid.x = launch.cluster.x = blocks;
  launch.explicit_cluster = blocks > 1;
  const uint64_t memory = *engine.memory().allocate(1 << 16, 256, MemKind::device, 0, "test");
  launch.params.resize(8);
  std::memcpy(launch.params.data(), &memory, 8);
  add_observer(&profiler);
  engine.run(launch);
  remove_observer(&profiler);
  std::rewind(file);
  std::string out(1 << 16, '\0');
  out.resize(std::fread(out.data(), 1, out.size(), file));
  std::fclose(file);
  Profiled result;
  result.launch = json::parse(out);
  for (const json& one : result.launch["instructions"]) result.by_name[one["ptx"]] = one;
  return result;
}
uint64_t count(const json& instruction, const char* key) { return instruction.value(key, 0ull); }

TEST(Profile, GuardsSwitchLanesOff) {
  const auto p = run("@%p1 st.global.u32 [%rd3], %r1;");
  const json& store = p.by_name.at("st.global.u32");
  EXPECT_EQ(count(store, "warps"), 1);
  EXPECT_EQ(count(store, "requests"), 1);
  EXPECT_EQ(count(store, "sectors"), 8);  // 16 lanes, 16 bytes apart
  EXPECT_EQ(store["worst"]["mask"], "0000ffff");
}
TEST(Profile, AGuardForNobodyMakesNoRequest) {
  const auto p = run("setp.gt.u32 %p2, %r1, 99; @%p2 st.global.u32 [%rd3], %r1;");
  EXPECT_EQ(count(p.by_name.at("st.global.u32"), "requests"), 0);
  EXPECT_EQ(count(p.by_name.at("st.global.u32"), "warps"), 1);
  EXPECT_EQ(count(p.by_name.at("st.global.u32"), "switched_off"), 1);
}
TEST(Profile, VolatileLoadsAreCountedAtTheirAddresses) {
  const auto p = run("ld.volatile.shared.u32 %r7, [%r4];");
  EXPECT_EQ(count(p.by_name.at("ld.volatile.shared.u32"), "wavefronts"), 32);
  EXPECT_EQ(count(p.by_name.at("ld.volatile.shared.u32"), "ideal_wavefronts"), 1);
}
TEST(Profile, SharedBytesAreCountedForEachLaneThatAsks) {
  const auto p =
      run("@%p1 st.shared.u16 [%r6], %rs1; ld.volatile.shared.v4.u32 {%r7, %r8, %r9, %r10}, [%r6];"
          "ld.volatile.shared.u32 %r11, [%r2]; ld.global.u32 %r12, [%rd3];"
          "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r13, %r14}, [%r6];");
  EXPECT_EQ(count(p.by_name.at("st.shared.u16"), "shared_bytes"), 16 * 2);  // half of the warp
  EXPECT_EQ(count(p.by_name.at("ld.volatile.shared.v4.u32"), "shared_bytes"), 32 * 16);
  // One word for all lanes.
  EXPECT_EQ(count(p.by_name.at("ld.volatile.shared.u32"), "shared_bytes"), 32 * 4);
  EXPECT_EQ(count(p.by_name.at("ld.global.u32"), "shared_bytes"), 0);
  const json& rows = p.by_name.at("ldmatrix.sync.aligned.m8n8.x2.shared.b16");
  EXPECT_EQ(count(rows, "shared_bytes"), 2 * 8 * 16);  // two matrices of eight rows
}
TEST(Profile, MatricesAreReadEightRowsAtATime) {
  const std::string load = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, ";
  const auto good = run(load + "[%r6];"), bad = run(load + "[%r4];");
  const std::string name = "ldmatrix.sync.aligned.m8n8.x4.shared.b16";
  EXPECT_EQ(count(good.by_name.at(name), "wavefronts"), 4);
  EXPECT_EQ(count(bad.by_name.at(name), "wavefronts"), 32);
  EXPECT_EQ(count(bad.by_name.at(name), "ideal_wavefronts"), 4);
}
TEST(Profile, CopiesReadGlobalAndWriteSharedMemory) {
  const auto p = run("cp.async.cg.shared.global [%r6], [%rd3], 16; cp.async.wait_all;");
  const json& copy = p.by_name.at("cp.async.cg.shared.global");
  EXPECT_EQ(copy["action"], "copy");
  EXPECT_EQ(count(copy, "requests"), 1);
  EXPECT_EQ(count(copy, "sectors"), 16);
  EXPECT_EQ(count(copy, "shared_requests"), 1);
  EXPECT_EQ(count(copy, "wavefronts"), 4);
}
TEST(Profile, BulkCopiesMoveTheSectorsOfTheirPieces) {
  const auto p =
      run("setp.eq.u32 %p2, %r1, 0; @!%p2 bra End; add.s64 %rd4, %rd1, 16;"
          "cp.async.bulk.prefetch.L2.global [%rd4], 4096;"
          "cp.async.bulk.global.shared::cta.bulk_group [%rd4], [%r2], 48;"
          "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; End:");
  const json& prefetch = p.by_name.at("cp.async.bulk.prefetch.L2.global");
  EXPECT_EQ(prefetch["reach"], "bulk");
  EXPECT_EQ(prefetch["action"], "prefetch");
  EXPECT_EQ(count(prefetch, "requests"), 1);
  EXPECT_EQ(count(prefetch, "sectors"), 0);
  EXPECT_EQ(count(prefetch, "l2_sectors"), 4096 / 128 * 5);  // each piece begins inside of a sector
  EXPECT_EQ(count(prefetch, "first_sectors"), 4096 / 32 + 1);
  const json& store = p.by_name.at("cp.async.bulk.global.shared::cta.bulk_group");
  EXPECT_EQ(store["action"], "st");
  EXPECT_EQ(count(store, "sectors"), 2);
  EXPECT_EQ(count(store, "bytes_used"), 48);
  EXPECT_EQ(count(p.by_name.at("cp.async.bulk.wait_group"), "copy_waits"), 1);
}
TEST(Profile, AMulticastBringsItsSectorsToEachBlock) {
  const std::string copy =
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster";
  const auto p = run(
      "setp.eq.u32 %p2, %r1, 0; mov.u32 %r7, %cluster_ctarank; setp.eq.and.u32 %p3, %r7, 0, %p2;"
      "@%p2 mbarrier.init.shared.b64 [%r2], 1;"
      "@%p2 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 256;"
      "barrier.cluster.arrive; barrier.cluster.wait; mov.u16 %rs1, 3;"
      "@%p3 " + copy + " [%r2+1024], [%rd1], 256, [%r2], %rs1;"
      "Try: mbarrier.try_wait.parity.shared.b64 %p4, [%r2], 0; @!%p4 bra Try;"
      "barrier.cluster.arrive; barrier.cluster.wait;",
      32, 2);
  const json& one = p.by_name.at(copy);
  EXPECT_EQ(count(one, "requests"), 1);
  EXPECT_EQ(count(one, "sectors"), 2 * 8);
  EXPECT_EQ(count(one, "multicast_sectors"), 2 * 8);
  EXPECT_EQ(count(one, "l2_sectors"), 8);
  EXPECT_EQ(count(p.by_name.at("barrier.cluster.wait"), "cluster_barriers"), 2);
}
TEST(Profile, LanesReachTheirOwnBlockOrOthers) {
  // Every block stores to the first one: its own for one of the two.
  const auto p = run(
      "barrier.cluster.arrive; barrier.cluster.wait; mapa.shared::cluster.u32 %r7, %r6, 0;"
      "st.shared::cluster.u32 [%r7], %r1; cvt.u64.u32 %rd5, %r6; cvta.shared.u64 %rd6, %rd5;"
      "mapa.u64 %rd7, %rd6, 0; st.u64 [%rd7+8], %rd1;"
      "barrier.cluster.arrive; barrier.cluster.wait;",
      32, 2);
  for (const char* name : {"st.shared::cluster.u32", "st.u64"}) {
    const json& store = p.by_name.at(name);
    EXPECT_EQ(count(store, "peer_requests"), 1) << name;
    EXPECT_EQ(count(store, "peer_sectors"), 16) << name;  // lanes are 16 bytes apart
    EXPECT_EQ(count(store, "peer_bytes"), 16 * 32) << name;
    EXPECT_EQ(count(store, "shared_requests"), 1) << name;
    EXPECT_EQ(count(store, "wavefronts"), 4) << name;
  }
}
TEST(Profile, AWaitThatTriesAgainIsOneWait) {
  // Warp 0 waits for warp 1, which arrives when warp 0 has: whoever comes first must try again.
  const auto p =
      run("setp.eq.u32 %p2, %r1, 0; setp.eq.u32 %p3, %r1, 32; setp.lt.u32 %p5, %r1, 32;"
          "@%p2 mbarrier.init.shared.b64 [%r2], 1; @%p2 mbarrier.init.shared.b64 [%r2+8], 1;"
          "selp.b32 %r7, 0, 8, %p5; add.u32 %r7, %r7, %r2; bar.sync 0;"
          "@%p2 mbarrier.arrive.shared.b64 _, [%r2+8];"
          "Try: mbarrier.try_wait.parity.shared.b64 %p4, [%r7], 0; @!%p4 bra Try;"
          "@%p3 mbarrier.arrive.shared.b64 _, [%r2];",
          64);
  const json& wait = p.by_name.at("mbarrier.try_wait.parity.shared.b64");
  EXPECT_GT(count(wait, "warps"), 2);
  EXPECT_EQ(count(wait, "mbarrier_waits"), 2);
}
TEST(Profile, ProductsAreCountedByTheirSource) {
  const auto p =
      run("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f1,%f2,%f3,%f4},"
          "{%r1,%r1,%r1,%r1}, {%r1,%r1}, {%f1,%f2,%f3,%f4};",
          96);
  const json& product = p.by_name.at("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32");
  EXPECT_EQ(product["source"], "bf16");
  EXPECT_EQ(count(product, "tensor_instructions"), 3);
  EXPECT_EQ(count(product, "tensor_ops"), 3 * 2 * 16 * 8 * 16);
}
TEST(Profile, LocalWordsLieSideBySide) {
  const auto p = run("mov.b64 %rd5, 7; st.local.u32 [l], %r1; st.local.u64 [l+8], %rd5;");
  EXPECT_EQ(count(p.by_name.at("st.local.u32"), "sectors"), 4);
  EXPECT_EQ(count(p.by_name.at("st.local.u64"), "sectors"), 8);
}
TEST(Profile, GenericAccessesGoWhereTheyPoint) {
  const auto p =
      run("cvt.u64.u32 %rd5, %r4; cvta.shared.u64 %rd6, %rd5; selp.b64 %rd7, %rd6, %rd3, %p1;"
          "st.u32 [%rd7], %r1;");
  const json& store = p.by_name.at("st.u32");
  EXPECT_EQ(count(store, "requests"), 1);
  EXPECT_EQ(count(store, "sectors"), 8);
  EXPECT_EQ(count(store, "wavefronts"), 16);
}
TEST(Profile, BranchesAndBarriers) {
  const auto p = run("@%p1 bra Near; mov.u32 %r8, 1; mov.u32 %r9, 2; Near: bar.sync 0;", 64);
  const json& branch = p.by_name.at("bra");
  EXPECT_EQ(count(branch, "branches"), 2);   // one per warp
  EXPECT_EQ(count(branch, "divergent"), 1);  // the second warp's lanes all go on
  EXPECT_EQ(count(p.by_name.at("bar.sync"), "barriers"), 2);
}
TEST(Profile, LanesThatComeLateToAShuffleMakeOneOfIt) {
  const auto p =
      run("mov.u32 %r8, 1; @%p1 bra Late; mov.u32 %r8, 2; Late:"
          "shfl.sync.bfly.b32 %r9, %r8, 1, 31, -1;");
  EXPECT_EQ(count(p.by_name.at("shfl.sync.bfly.b32"), "warps"), 1);
  EXPECT_EQ(count(p.by_name.at("shfl.sync.bfly.b32"), "threads"), 32);
}
TEST(Profile, MergedLoadsTellTheirLead) {
  const auto p =
      run("ld.shared.u32 %r8, [%r6]; ld.shared.b32 %r9, [%r6+4]; add.s32 %r10, %r8, %r9;"
          "st.global.u32 [%rd3], %r10;");
  const json &lead = p.by_name.at("ld.shared.u32"), &other = p.by_name.at("ld.shared.b32");
  EXPECT_EQ(lead["width"], 8);
  EXPECT_EQ(count(lead, "shared_requests"), 1);
  EXPECT_EQ(other["merged_into"], lead["ptx_line"]);
  EXPECT_EQ(count(other, "shared_requests"), 0);
  EXPECT_EQ(count(other, "warps"), 1);
}
TEST(Profile, AFaultIsToldWithWhatCameBefore) {
  const auto p =
      run("st.global.u32 [%rd3], %r1; mov.b64 %rd5, 0; st.global.f32 [%rd5], 0f00000000;");
  EXPECT_EQ(p.launch["faulted"], true);
  EXPECT_EQ(count(p.by_name.at("st.global.u32"), "requests"), 1);
}

}  // namespace
}  // namespace ridge::vm::observe
