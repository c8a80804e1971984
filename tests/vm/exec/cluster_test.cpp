// Clusters: who is who, whose shared memory an address is, how the blocks meet, and what is said of
// accesses that no block can take.
#include <numeric>

#include "machine.h"
#include "vm/mem/tensor_map.h"

namespace ridge::vm::testing {
namespace {

Launch cluster_of(Dim3 grid, Dim3 block, Dim3 cluster) {
  Launch launch = Machine::shape(grid, block);
  launch.cluster = cluster;
  launch.explicit_cluster = true;
  return launch;
}

struct Clusters : ::testing::Test {
  Machine m;
  Fault fault;
  std::vector<uint32_t> run(const Launch& launch, const std::string& body) {
    m.load_body(body);
    const auto count = size_t(launch.grid.count() * launch.block.count());
    const uint64_t out = m.allocate(std::vector<uint32_t>(count, ~0u));
    fault = m.run_as(launch, out);
    return m.read<uint32_t>(out, count);
  }
  // Clusters of four blocks with one thread each.
  std::vector<uint32_t> run_four(const std::string& body) {
    const auto out = run(cluster_of({8}, {1}, {4}), body);
    EXPECT_FALSE(fault) << text_of(fault);
    return out;
  }
  void expect(const std::string& body, FaultKind kind, const char* text) {
    run(cluster_of({4}, {1}, {4}), body);
    EXPECT_EQ(fault.kind, kind) << body;
    EXPECT_NE(text_of(fault).find(text), std::string::npos) << text_of(fault);
  }
};
using Words = std::vector<uint32_t>;

const std::string kSync = "barrier.cluster.arrive; barrier.cluster.wait;\n";
// %r2 = the rank, %r3 = the next rank, %r4 = the address of s there; s holds the rank.
const std::string kNext = R"(
  .shared .align 8 .b32 s[2];
  mov.u32 %r2, %cluster_ctarank;
  add.u32 %r3, %r2, 1;
  and.b32 %r3, %r3, 3;
  st.shared.u32 [s], %r2;
  mapa.shared::cluster.u32 %r4, s, %r3;
)" + kSync;

TEST_F(Clusters, KnowTheirPlace) {
  const Words ranks = run(cluster_of({4, 2}, {1}, {2, 2}), R"(
  mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %clusterid.x; mad.lo.u32 %r1, %r2, 10, %r1;
  mov.u32 %r2, %cluster_nctarank; mad.lo.u32 %r1, %r2, 100, %r1;
  mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ctaid.y; mad.lo.u32 %r3, %r4, 4, %r3;
  mul.wide.u32 %rd1, %r3, 4; add.s64 %rd1, %out, %rd1; st.global.u32 [%rd1], %r1;
)");
  EXPECT_FALSE(fault) << text_of(fault);
  EXPECT_EQ(ranks, (Words{400, 401, 410, 411, 402, 403, 412, 413}));
}

TEST_F(Clusters, ReadEachOthersMemory) {
  const Words next = {1, 2, 3, 0, 1, 2, 3, 0};
  EXPECT_EQ(run_four(kNext + "ld.shared::cluster.u32 %r1, [%r4];" + kSync + kStoreR1), next);
  // Through a generic address, which the owner or anybody else may have made.
  EXPECT_EQ(run_four(kNext + R"(
  mov.u64 %rd1, s; cvta.shared.u64 %rd1, %rd1; mapa.u64 %rd2, %rd1, %r3; ld.u32 %r1, [%rd2];
)" + kSync + kStoreR1),
            next);
  EXPECT_EQ(run_four(kNext + "getctarank.shared::cluster.u32 %r1, %r4;" + kStoreR1), next);
}

TEST_F(Clusters, WriteEachOthersMemory) {
  const Words before = {103, 100, 101, 102, 103, 100, 101, 102};
  EXPECT_EQ(run_four(kNext + "add.u32 %r5, %r2, 100; st.shared::cluster.u32 [%r4], %r5;" + kSync +
                     "ld.shared.u32 %r1, [s];" + kStoreR1),
            before);
  EXPECT_EQ(run_four(kNext + R"(
  mov.u32 %r6, 0; st.shared.u32 [s+4], %r6;
)" + kSync + R"(
  mapa.shared::cluster.u32 %r7, s, 0; red.shared::cluster.add.u32 [%r7+4], %r2;
)" + kSync + "ld.shared::cluster.u32 %r1, [%r7+4];" +
                     kSync + kStoreR1),
            Words(8, 6));
}

TEST_F(Clusters, TellSpacesApart) {
  // Bit 0: the own address is the block's; 1: and the cluster's; 2, 3: the same of a peer's.
  EXPECT_EQ(run_four(kNext + R"(
  mov.u64 %rd1, s; cvta.shared.u64 %rd1, %rd1; mapa.u64 %rd2, %rd1, %r3; mov.u32 %r1, 0;
  isspacep.shared::cta %p1, %rd1; @%p1 or.b32 %r1, %r1, 1;
  isspacep.shared::cluster %p1, %rd1; @%p1 or.b32 %r1, %r1, 2;
  isspacep.shared::cta %p1, %rd2; @%p1 or.b32 %r1, %r1, 4;
  isspacep.shared::cluster %p1, %rd2; @%p1 or.b32 %r1, %r1, 8;
  isspacep.global %p1, %rd2; @%p1 or.b32 %r1, %r1, 16;
)" + kStoreR1),
            Words(8, 11));
}

// Block 0 leaves at once; thread 0 of the others arrives twice before it waits once.
TEST_F(Clusters, BarrierCountsThreadsThatHaveLeft) {
  const Words out = run(cluster_of({4}, {64}, {4}), R"(
  mov.u32 %r1, 5; mov.u32 %r2, %ctaid.x; setp.eq.u32 %p1, %r2, 0;
  @%p1 exit;
  mov.u32 %r3, %tid.x; setp.eq.u32 %p2, %r3, 0;
  @%p2 barrier.cluster.arrive;
  barrier.cluster.arrive; barrier.cluster.wait; barrier.cluster.wait;
)" + kStoreR1);
  EXPECT_FALSE(fault) << text_of(fault);
  for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], i < 64 ? ~0u : 5u);
}

TEST_F(Clusters, RefuseMemoryThatIsNotThere) {
  const std::string read = "ld.shared::cluster.u32 %r1, [%r4];" + kSync;
  expect(kNext + "mapa.shared::cluster.u32 %r4, s, 4;" + read, FaultKind::trap,
         "a block that the cluster does not have");
  expect(kNext + "add.u32 %r4, %r4, 8;" + read, FaultKind::trap, "past the memory of a peer");
  expect(kNext + "ld.shared.u32 %r1, [s+8];", FaultKind::illegal_address, "shared");
  // Rank 3 leaves, and rank 2 comes much later.
  expect(kNext + R"(
  setp.eq.u32 %p1, %r2, 3; @%p1 exit;
  nanosleep.u32 1000000;
  ld.shared::cluster.u32 %r1, [%r4];
)",
         FaultKind::trap, "a block that has left the kernel");
}

// A block that is a few instructions behind its peer's end meets no error on a GPU either, where
// the two run side by side: matrix products that do not drain their pipeline live on that.
TEST_F(Clusters, MemoryStaysForPeersThatAreCloseBehind) {
  const Words next = {1, 2, 3, 0, 1, 2, 3, 0};
  EXPECT_EQ(run_four(kNext + "ld.shared::cluster.u32 %r1, [%r4];" + kStoreR1), next);
  // The last rank ends before the first one reads.
  EXPECT_EQ(run_four(kNext + R"(
  setp.eq.u32 %p1, %r2, 3; @%p1 bra $end;
  sub.u32 %r5, 3, %r2; shl.b32 %r5, %r5, 8;
  $again: sub.u32 %r5, %r5, 1; setp.ne.u32 %p2, %r5, 0; @%p2 bra $again;
  $end: ld.shared::cluster.u32 %r1, [%r4];
)" + kStoreR1),
            next);
}

TEST_F(Clusters, AsynchronousStoresNeedACluster) {
  const std::string store = R"(
  .shared .align 8 .b64 b; .shared .align 8 .b32 s[2];
  mbarrier.init.shared.b64 [b], 1;
  st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [s], 7, [b];
)";
  run(Machine::shape({1}, {1}), store);
  EXPECT_EQ(fault.kind, FaultKind::illegal_instruction);
  // It lands when somebody waits, not before.
  const std::string look = "ld.shared.u32 %r1, [s];";
  const std::string wait = R"(
  mbarrier.arrive.expect_tx.shared.b64 _, [b], 4;
again:
  mbarrier.try_wait.parity.shared.b64 %p1, [b], 0;
  @!%p1 bra again;
)";
  const Launch alone = cluster_of({1}, {1}, {1});
  const std::string zero = "mov.u32 %r9, 0; st.shared.u32 [s], %r9;";
  EXPECT_EQ(run(alone, store + zero + look + kStoreR1), Words{0});
  EXPECT_EQ(run(alone, store + zero + wait + look + kStoreR1), Words{7});
}

// Rank 1 starts two copies. The box at (0, 2, 1) goes to the blocks of `ranks`, the first box of
// the tensor to block 2. Each block waits for one box. Its result is what it saw
// before, times 1000, plus what it saw then.
struct TensorMulticast : Clusters {
  Words run_copies(bool im2col, int ranks) {
    Words data(64);
    std::iota(data.begin(), data.end(), 0);
    TensorMap map;
    map.address = m.allocate(data);
    map.rank = 3;
    map.type = TensorType::u32;
    map.im2col = im2col;
    map.size = {4, 8, 2, 1, 1};
    map.stride = {0, 16, 128, 0, 0};
    map.box = {4, im2col ? 1u : 2u, 1, 1, 1};
    map.pixels = im2col ? 2 : 1;
    const TensorMapBytes bytes = encode(map);
    Words out(bytes.words.begin(), bytes.words.end());
    out.resize(bytes.words.size() + 4, ~0u);
    const uint64_t at = m.allocate(out);
    const std::string copy = std::string("@%p1 cp.async.bulk.tensor.3d.shared::cluster.global.") +
                             (im2col ? "im2col" : "tile") +
                             ".mbarrier::complete_tx::bytes.multicast::cluster [%r3], [%out, ";
    const std::string rest = im2col ? "], [%r4], {%h0}, " : "], [%r4], ";
    m.load_body(R"(
  .shared .align 128 .b8 s[128]; .shared .align 8 .b64 b;
  mov.u32 %r2, %cluster_ctarank; mov.u32 %r3, s; mov.u32 %r4, b; mov.u32 %r5, 0;
  mov.u32 %r6, 2; mov.u32 %r7, 1; mov.b16 %h0, 0; mov.b16 %h1, 4;
  mbarrier.init.shared.b64 [%r4], 1;
  st.shared.u32 [%r3+20], %r5;
  mbarrier.arrive.expect_tx.shared.b64 _, [%r4], 32;
)" + kSync + "setp.eq.u32 %p1, %r2, 1;\n" +
                copy + "{%r5, %r6, %r7}" + rest + std::to_string(ranks) + ";\n" + copy +
                "{%r5, %r5, %r5}" + rest + "%h1;\n" + R"(
  ld.shared.u32 %r8, [%r3+20];
again:
  mbarrier.try_wait.parity.shared.b64 %p2, [%r4], 0;
  @!%p2 bra again;
  ld.shared.u32 %r1, [%r3+20]; mad.lo.u32 %r1, %r8, 1000, %r1;
  add.u64 %out, %out, 128;
)" + kSync + kStoreR1);
    fault = m.run_as(cluster_of({4}, {1}, {4}), at);
    return m.read<uint32_t>(at + sizeof bytes.words, 4);
  }
};

TEST_F(TensorMulticast, ReachesEachBlockAndItsBarrier) {
  for (const bool im2col : {false, true}) {
    EXPECT_EQ(run_copies(im2col, 11), (Words{45, 45, 5, 45}));
    EXPECT_FALSE(fault) << text_of(fault);
  }
}

TEST_F(TensorMulticast, NeedsBlocksThatAreThere) {
  run_copies(false, 27);
  EXPECT_EQ(fault.kind, FaultKind::illegal_instruction);
  EXPECT_NE(text_of(fault).find("multicast to a block that the cluster does not have"),
            std::string::npos)
      << text_of(fault);
}

// Each block's own map in shared memory, by both kinds of address: bit 0 and bit 1 where it holds.
TEST_F(Clusters, ReplaceFieldsOfTheirOwnTensorMaps) {
  EXPECT_EQ(run_four(R"(
  .shared .align 128 .b8 s[128];
  mov.u32 %r2, 0; st.shared.u32 [s], %r2; mov.u32 %r3, s; mov.u64 %rd1, 0x1000; mov.u32 %r1, 0;
  tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r3], %rd1;
  ld.shared.u32 %r4, [s]; setp.ne.u32 %p1, %r4, 0; @%p1 or.b32 %r1, %r1, 1;
  mov.u64 %rd2, s; cvta.shared.u64 %rd2, %rd2; mov.u64 %rd1, 0;
  tensormap.replace.tile.global_address.b1024.b64 [%rd2], %rd1;
  ld.shared.u32 %r5, [s]; setp.eq.u32 %p1, %r5, 0; @%p1 or.b32 %r1, %r1, 2;
)" + kStoreR1),
            Words(8, 3));
}

TEST_F(Clusters, WaitsThatNeverEndAreReported) {
  const Launch launch = cluster_of({2}, {64}, {2});
  run(launch, R"(
  mov.u32 %r2, %tid.x; setp.lt.u32 %p1, %r2, 32;
  @%p1 bra first;
  barrier.cluster.arrive; barrier.cluster.wait;
  bra end;
first:
  barrier.cta.sync 1, 64;
end:
)");
  EXPECT_EQ(fault.kind, FaultKind::timeout);
  EXPECT_NE(text_of(fault).find("barrier.cluster.wait"), std::string::npos) << text_of(fault);
}

}  // namespace
}  // namespace ridge::vm::testing
