// Copies of tensors against an H200: the bytes they wrote, what they told the mbarrier, and how bad
// ones ended.
#include <fstream>
#include <map>
#include <memory>

#include "late_landing.h"
#include "machine.h"
#include "vm/hopper/probe/tma_case.h"
#include "vm/mem/tensor_map.h"

namespace ridge::vm::testing {
namespace {

using namespace hopper;

// Shared memory is the image at %image; then thread 0 issues the copy, and loads write the image
// again. The arguments at %args: five coordinates, three offsets, where in shared memory, and the
// bytes that the mbarrier waits for.
std::string kernel(const std::string& copy, bool loads) {
  std::string text = R"(
.visible .entry k(.param .align 128 .b8 k_map[128], .param .u64 k_args, .param .u64 k_image,
                  .param .u64 k_done)
{
  .reg .pred %p<4>; .reg .b16 %h<3>; .reg .b32 %r<32>; .reg .b64 %rd<16>; .reg .b64 %map;
  .shared .align 1024 .b8 s[32768];
  .shared .align 8 .b64 bar;
  mov.u64 %map, k_map; cvta.param.u64 %map, %map;
  ld.param.u64 %rd1, [k_args]; ld.param.u64 %rd2, [k_image]; ld.param.u64 %rd3, [k_done];
  mov.u32 %r20, %tid.x; shl.b32 %r20, %r20, 4; mov.u32 %r21, s; add.u32 %r22, %r21, %r20;
  cvt.u64.u32 %rd4, %r20; add.u64 %rd4, %rd2, %rd4;
  mov.u32 %r23, 0;
IN:
  ld.global.v4.u32 {%r24, %r25, %r26, %r27}, [%rd4];
  st.shared.v4.u32 [%r22], {%r24, %r25, %r26, %r27};
  add.u64 %rd4, %rd4, 2048; add.u32 %r22, %r22, 2048; add.u32 %r23, %r23, 2048;
  setp.lt.u32 %p1, %r23, 32768; @%p1 bra IN;
  fence.proxy.async; bar.sync 0;
  setp.ne.u32 %p1, %r20, 0; @%p1 bra OUT;
  ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%rd1]; ld.global.u32 %r4, [%rd1+16];
  ld.global.u16 %h0, [%rd1+20]; ld.global.u16 %h1, [%rd1+24]; ld.global.u16 %h2, [%rd1+28];
  ld.global.u32 %r5, [%rd1+32]; ld.global.u32 %r6, [%rd1+36];
  add.u32 %r5, %r5, %r21; mov.u32 %r7, bar;
  mbarrier.init.shared.b64 [%r7], 1;
)";
  if (loads) text += "mbarrier.arrive.expect_tx.shared.b64 _, [%r7], %r6;\n";
  text += copy;
  text += loads ? R"(
  mov.u32 %r8, 0;
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p2, [%r7], 0;
  add.u32 %r8, %r8, 1; setp.lt.u32 %p3, %r8, 4; @%p3 bra WAIT;
  selp.u32 %r9, 1, 0, %p2; st.global.u32 [%rd3], %r9;
)"
                : "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n";
  return text + R"(
OUT:
  bar.sync 0;
  mov.u32 %r23, 0; cvt.u64.u32 %rd4, %r20; add.u64 %rd4, %rd2, %rd4; add.u32 %r22, %r21, %r20;
BACK:
  ld.shared.v4.u32 {%r24, %r25, %r26, %r27}, [%r22];
  st.global.v4.u32 [%rd4], {%r24, %r25, %r26, %r27};
  add.u64 %rd4, %rd4, 2048; add.u32 %r22, %r22, 2048; add.u32 %r23, %r23, 2048;
  setp.lt.u32 %p1, %r23, 32768; @%p1 bra BACK;
  ret;
}
)";
}

std::string instruction(const TmaCase& c) {
  const std::string dim = std::to_string(c.rank) + "d.";
  std::string at = "[%map, {", offsets = "{";
  for (int k = 0; k < c.rank; ++k) at += (k ? ", %r" : "%r") + std::to_string(k);
  for (int k = 0; k < c.rank - 2; ++k) offsets += (k ? ", %h" : "%h") + std::to_string(k);
  at += "}]";
  offsets += "}";
  const std::string mode = c.im2col ? "im2col" : "tile";
  switch (c.op) {
    case TmaOp::load:
      return "cp.async.bulk.tensor." + dim + "shared::cluster.global." + mode +
             ".mbarrier::complete_tx::bytes [%r5], " + at + ", [%r7]" +
             (c.im2col ? ", " + offsets : "") + ";\n";
    case TmaOp::store:
      return "cp.async.bulk.tensor." + dim + "global.shared::cta." + mode +
             (c.im2col ? "_no_offs" : "") + ".bulk_group " + at + ", [%r5];\n";
    case TmaOp::reduce:
      return "cp.reduce.async.bulk.tensor." + dim + "global.shared::cta." + kReduceNames[c.reduce] +
             ".tile.bulk_group " + at + ", [%r5];\n";
    default: return "cp.async.bulk.prefetch.tensor." + dim + "L2.global.tile " + at + ";\n";
  }
}

TensorMapBytes map_of(const TmaCase& c, uint64_t buffer) {
  TensorMap map;
  map.address = buffer + c.address;
  map.rank = uint32_t(c.rank);
  set_type(map, uint32_t(c.type));
  map.im2col = c.im2col;
  map.interleave = uint8_t(c.interleave);
  map.swizzle = uint8_t(c.swizzle);
  map.fills_with_nan = c.fill;
  for (size_t k = 0; k < size_t(c.rank); ++k) {
    map.size[k] = c.dims[k];
    map.step[k] = c.steps[k];
    if (k) map.stride[k] = c.strides[k - 1];
    if (!c.im2col) map.box[k] = c.box[k];
  }
  if (c.im2col) {
    map.box[0] = c.channels;
    map.pixels = c.pixels;
    map.lower = c.lower;
    map.upper = c.upper;
  }
  return encode(map);
}

// One line of the record.
struct Recorded {
  bool encoded = false;
  FaultKind error = FaultKind::none;
  uint32_t bytes = 0;  // told to the mbarrier
  uint32_t hash = 0;
};
std::string field(const std::string& line, const std::string& name) {
  const size_t at = line.find(name);
  return at == std::string::npos
             ? ""
             : line.substr(at + name.size(), line.find(' ', at) - at - name.size());
}
Recorded parse(const std::string& line) {
  Recorded r;
  r.encoded = field(line, "encode=") == "0";
  const std::string error = field(line, "error=");
  if (error == "cudaErrorIllegalInstruction") r.error = FaultKind::illegal_instruction;
  if (error == "cudaErrorMisalignedAddress") r.error = FaultKind::misaligned_address;
  if (error == "cudaErrorIllegalAddress") r.error = FaultKind::illegal_address;
  if (error != "cudaSuccess") return r;
  // The mbarrier counts what is left, as a negative number in bits 21 to 41.
  const std::string words = field(line, "words=");
  r.bytes = uint32_t((std::stoull(words.substr(17), nullptr, 16) -
                      std::stoull(words.substr(0, 16), nullptr, 16)) >>
                     21);
  r.hash = uint32_t(std::stoul(field(line, "hash="), nullptr, 16));
  return r;
}

// Machines with the kernel of an instruction, and buffers.
struct Bench {
  Machine m{1};
  uint64_t buffer = 0, args = 0, image = 0, done = 0;
};

void run_case(const TmaCase& c, const Recorded& r, Bench& bench) {
  Machine& m = bench.m;
  const bool loads = c.op == TmaOp::load;
  static const std::vector<uint8_t> global = tma_global();
  const auto put = [&](uint64_t at, const std::vector<uint8_t>& bytes) {
    std::memcpy(m.engine().memory().place(at), bytes.data(), bytes.size());
  };
  put(bench.buffer, global);
  if (!loads) put(bench.buffer, tma_target(c));
  put(bench.image, loads ? std::vector<uint8_t>(kShared, kPoison) : tma_shared(c));
  uint32_t args[10] = {};
  for (size_t k = 0; k < 5; ++k) args[k] = uint32_t(c.at[k]);
  for (size_t k = 0; k < 3; ++k) args[5 + k] = c.offsets[k];
  args[8] = c.shared;
  args[9] = r.bytes;
  std::memcpy(m.engine().memory().place(bench.args), args, sizeof args);
  const Fault fault =
      m.run({1}, {128}, map_of(c, bench.buffer), bench.args, bench.image, bench.done);
  ASSERT_EQ(fault.kind, r.error) << c.name() << "\n" << text_of(fault);
  if (fault) return;
  if (loads) {
    ASSERT_EQ(m.read<uint32_t>(bench.done, 1)[0], 1u)
        << c.name() << ": not " << r.bytes << " bytes";
  }
  const auto result =
      m.read<uint8_t>(loads ? bench.image : bench.buffer, loads ? kShared : kStoreWindow);
  size_t end = result.size();
  if (loads)
    while (end && result[end - 1] == kPoison) --end;
  ASSERT_EQ(uint32_t(hash_bytes(result.data(), end)), r.hash) << c.name();
}

TEST(TensorCopy, EqualsAnH200) {
  std::ifstream record(RIDGE_TEST_RECORDS "/tma.txt");
  std::map<std::string, std::unique_ptr<Bench>> benches;  // by instruction
  size_t ran = 0;
  for (const TmaCase& c : tma_cases()) {
    std::string line;
    ASSERT_TRUE(std::getline(record, line));
    ASSERT_EQ(line.substr(0, line.find('\t')), c.name());
    const Recorded recorded = parse(line.substr(line.find('\t') + 1));
    if (!recorded.encoded) continue;  // the driver's tests have those
    const std::string copy = instruction(c);
    auto& bench = benches[copy];
    if (!bench) {
      bench = std::make_unique<Bench>();
      bench->m.load(kernel(copy, c.op == TmaOp::load));
      bench->buffer = bench->m.allocate(std::vector<uint8_t>(kBuffer));
      bench->args = bench->m.allocate(std::vector<uint32_t>(10));
      bench->image = bench->m.allocate(std::vector<uint8_t>(kShared));
      bench->done = bench->m.allocate(std::vector<uint32_t>(1));
    }
    run_case(c, recorded, *bench);
    ++ran;
  }
  EXPECT_EQ(ran, 852u);
}

// A tensor of 8 x 8 floats at %out, which hold their index, and a map of it behind them. Thread 0
// has a box of 4 x 2 floats in shared memory at %r1, which hold 77.
struct SmallTensor : ::testing::Test {
  Machine m{1};
  Fault fault;
  uint64_t out = 0;

  std::vector<float> run(const std::string& body, unsigned threads = 32) {
    m.load_body(R"(
  .shared .align 128 .b8 s[128]; .shared .align 8 .b64 bar;
  mov.u32 %r1, s; mov.u32 %r2, bar; mov.u32 %r3, 4; mov.u32 %r4, 2; mov.f32 %f1, 0f429A0000;
  st.shared.v4.f32 [%r1], {%f1, %f1, %f1, %f1}; st.shared.v4.f32 [%r1+16], {%f1, %f1, %f1, %f1};
  mbarrier.init.shared.b64 [%r2], 1;
  fence.proxy.async; bar.sync 0;
  mov.u32 %r5, %tid.x; setp.ne.u32 %p1, %r5, 0; @%p1 bra DONE;
)" + body + "\nDONE:\n");
    std::vector<float> memory(64 + 32 + 8);
    for (size_t i = 0; i < 64; ++i) memory[i] = float(i);
    out = m.allocate(memory);
    TensorMap map;
    map.address = out;
    map.rank = 2;
    map.type = TensorType::f32;
    map.size = {8, 8, 1, 1, 1};
    map.stride = {0, 32, 0, 0, 0};
    map.box = {4, 2, 1, 1, 1};
    const TensorMapBytes bytes = encode(map);
    std::memcpy(m.engine().memory().place(out) + 256, &bytes, sizeof bytes);
    fault = m.run({1}, {threads}, out);
    return m.read<float>(out, memory.size());
  }
};
const std::string kLoad =
    "mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 32;\n"
    "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
    "[%r1], [%out+256, {%r3, %r4}], [%r2], 0;\n";
const std::string kWait =
    "WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0; @!%p2 bra WAIT;\n";
const std::string kStore =
    "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%out+256, {%r3, %r4}], [%r1];\n"
    "cp.async.bulk.commit_group;\n";
// What the thread sees in shared memory goes behind the map, and so does element (4, 2).
std::string look(int place) {
  return "ld.shared.f32 %f2, [%r1]; st.global.f32 [%out+" + std::to_string(384 + 8 * place) +
         "], %f2; ld.global.f32 %f2, [%out+80]; st.global.f32 [%out+" +
         std::to_string(388 + 8 * place) + "], %f2;\n";
}

TEST_F(SmallTensor, ALoadLandsWhenSomebodyWaits) {
  const auto memory = run(kLoad + look(0) + kWait + look(1));
  ASSERT_FALSE(fault) << text_of(fault);
  EXPECT_EQ(memory[96], 77);
  EXPECT_EQ(memory[98], 20);  // row 2, column 4
}

TEST_F(SmallTensor, AStoreLandsAtTheWaitForItsGroup) {
  const auto memory = run(kStore + look(0) + "cp.async.bulk.wait_group 0;\n" + look(1));
  ASSERT_FALSE(fault) << text_of(fault);
  EXPECT_EQ(memory[97], 20);
  EXPECT_EQ(memory[99], 77);
  EXPECT_EQ(memory[28], 77);
  EXPECT_EQ(memory[36], 36);  // outside the box
}

TEST_F(SmallTensor, AWaitForReadingFreesTheSource) {
  const std::string overwrite = "mov.f32 %f3, 0f3F800000; st.shared.f32 [%r1], %f3;\n";
  EXPECT_EQ(run(kStore + overwrite)[20], 1);  // as late as it may be: when the block ends
  const LateStores late;
  const auto memory = run(kStore + "cp.async.bulk.wait_group.read 0;\n" + overwrite + look(0));
  ASSERT_FALSE(fault) << text_of(fault);
  EXPECT_EQ(memory[97], 20);  // not written yet
  EXPECT_EQ(memory[20], 77);
}

TEST_F(SmallTensor, EachLaneMayCopyABoxOfItsOwn) {
  run("");
  m.load_body(R"(
  .shared .align 128 .b8 s[4096];
  mov.u32 %r5, %tid.x; mov.u32 %r1, s; mad.lo.u32 %r1, %r5, 128, %r1;
  cvt.rn.f32.u32 %f1, %r5; add.f32 %f1, %f1, 0f42C80000;
  st.shared.v4.f32 [%r1], {%f1, %f1, %f1, %f1}; st.shared.v4.f32 [%r1+16], {%f1, %f1, %f1, %f1};
  fence.proxy.async;
  and.b32 %r3, %r5, 1; shl.b32 %r3, %r3, 2; and.b32 %r4, %r5, 6;
  setp.lt.u32 %p1, %r5, 8;
  @%p1 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%out+256, {%r3, %r4}], [%r1];
)");
  fault = m.run({1}, {32}, out);
  ASSERT_FALSE(fault) << text_of(fault);
  const auto all = m.read<float>(out, 64);
  for (uint32_t y = 0; y < 8; ++y)
    for (uint32_t x = 0; x < 8; ++x) EXPECT_EQ(all[y * 8 + x], float(100 + x / 4 + y / 2 * 2));
}

// Whatever 128 bytes a map has, a copy ends with a fault or writes inside shared memory only.
TEST_F(SmallTensor, RubbishDoesNoHarm) {
  run(kLoad);
  const std::string copies[] = {
      kLoad,
      "cp.async.bulk.tensor.5d.shared::cta.global.tile.mbarrier::complete_tx::bytes "
      "[%r1], [%out+256, {%r3, %r4, %r3, %r4, %r3}], [%r2];\n",
      "cp.async.bulk.tensor.4d.shared::cta.global.im2col.mbarrier::complete_tx::bytes "
      "[%r1], [%out+256, {%r3, %r4, %r3, %r4}], [%r2], {%h1, %h1};\n",
      kStore};
  Stream stream(5);
  for (const std::string& copy : copies) {
    int ran = 0, stopped = 0;
    m.load_body(
        ".shared .align 128 .b8 s[1024]; .shared .align 8 .b64 bar;\n"
        "mov.u32 %r1, s; mov.u32 %r2, bar; mov.u32 %r3, 0; mov.u32 %r4, 0; mov.u16 %h1, 0;\n"
        "mbarrier.init.shared.b64 [%r2], 1;\n" +
        copy + "mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;\n");
    const auto rank = copy.find("5d") != copy.npos ? 5u : copy.find("4d") != copy.npos ? 4u : 2u;
    for (int round = 0; round < 300; ++round) {
      TensorMapBytes map;
      for (uint32_t& word : map.words) word = uint32_t(stream.next());
      const uint32_t mode = copy.find("im2col") != copy.npos;
      if (round % 2) {  // near enough to a good one to be looked at
        map.words[0] = uint32_t(out);
        map.words[1] = uint32_t(out >> 32);
        map.words[2] = (map.words[2] & 0x1f380) | mode | (rank - 1) << 4;
        for (size_t k = 8; k < 13; ++k) map.words[k] &= round % 4 == 1 ? 7 : ~0u;
        map.words[13] &= 0x0fffffff;
        if (round % 4 == 1) map.words[14] &= mode ? ~0u : 0x01010101;
        map.words[15] &= 7;
      }
      std::memcpy(m.engine().memory().place(out) + 256, &map, sizeof map);
      ++(m.run({1}, {1}, out) ? stopped : ran);
    }
    EXPECT_GT(ran, 0) << copy;
    EXPECT_GT(stopped, 0) << copy;
  }
}

}  // namespace
}  // namespace ridge::vm::testing
