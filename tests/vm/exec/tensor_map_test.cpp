// tensormap.replace against an H200, tensormap.cp_fenceproxy, and what is said of bad tensor maps.
#include <fstream>
#include <sstream>

#include "machine.h"
#include "vm/mem/tensor_map.h"

namespace ridge::vm::testing {
namespace {

std::string hex(const std::vector<uint8_t>& bytes) {
  std::string text;
  for (const uint8_t byte : bytes) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", byte);
    text += two;
  }
  return text.substr(0, text.find_last_not_of('0') + 1);  // as the record has it
}

// The map that the record starts from.
TensorMapBytes recorded_map() {
  TensorMap map;
  map.address = 0x7f1234567000;
  map.rank = 5;
  map.type = TensorType::f32;
  map.size = {64, 32, 16, 8, 4};
  map.stride = {0, 256, 8192, 131072, 1048576};
  map.box = {16, 2, 2, 2, 2};
  return encode(map);
}
uint64_t put(Machine& m, const TensorMapBytes& map) {
  return m.allocate(std::vector<uint32_t>(map.words.begin(), map.words.end()));
}

// "box_dim 1 9": the field, perhaps a dimension, and the value.
std::string replace(const std::string& field, const std::string& operands, const char* space,
                    const char* at) {
  const bool wide = field == "global_address" || field == "global_stride";
  return "tensormap.replace.tile." + field + space + ".b1024" + (wide ? ".b64 " : ".b32 ") + at +
         ", " + operands + ";\n";
}
const std::string kIntoShared = R"(
  .shared .align 128 .b8 s[128];
  mov.u32 %r1, s;
  mov.u32 %r2, 0;
COPY:
  cvt.u64.u32 %rd1, %r2; add.u64 %rd1, %rd1, %out; ld.global.u32 %r3, [%rd1];
  add.u32 %r4, %r1, %r2; st.shared.u32 [%r4], %r3;
  add.u32 %r2, %r2, 4; setp.lt.u32 %p1, %r2, 128; @%p1 bra COPY;
  cvt.u64.u32 %rd8, %r1; cvta.shared.u64 %rd9, %rd8;
)";
const std::string kBack =
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
    "[%out], [%r1], 128;\n"
    "fence.proxy.tensormap::generic.acquire.gpu [%out], 128;\n";

std::string body(const std::string& where, const std::string& what) {
  std::istringstream words(what);
  std::string field, first, second;
  words >> field >> first >> second;
  if (field == "nothing") return where == "global" ? "" : kIntoShared + kBack;
  const std::string operands = second.empty() ? first : first + ", " + second;
  if (where == "global") return replace(field, operands, ".global", "[%out]");
  if (where == "generic") return kIntoShared + replace(field, operands, "", "[%rd9]") + kBack;
  return kIntoShared + replace(field, operands, ".shared::cta", "[%r1]") + kBack;
}

TEST(TensorMapReplace, EqualsAnH200) {
  std::ifstream record(RIDGE_TEST_RECORDS "/tensor_map_replace.txt");
  size_t lines = 0;
  for (std::string line; std::getline(record, line); ++lines) {
    const size_t blank = line.find(' '), first = line.find('\t'),
                 second = line.find('\t', first + 1);
    const std::string where = line.substr(0, blank);
    const std::string what = line.substr(blank + 1, first - blank - 1);
    for (const std::string& space : {where, std::string("generic")}) {
      Machine m(1);
      m.load_body(body(space, what));
      const uint64_t map = put(m, recorded_map());
      const Fault fault = m.run({1}, {32}, map);
      ASSERT_FALSE(fault) << line << text_of(fault);
      EXPECT_EQ(hex(m.read<uint8_t>(map, 128)), line.substr(second + 1)) << space << ' ' << what;
    }
  }
  EXPECT_GT(lines, 50u);
}

// A copy with the map at %out, whose first 128 bytes it is, and a box of 1024 bytes.
Fault copy_with(const TensorMapBytes& map, const std::string& at, const std::string& setup = "") {
  Machine m(1);
  m.load_body(R"(
  .shared .align 128 .b8 s[1024]; .shared .align 8 .b64 bar;
  mov.u32 %r1, s; mov.u32 %r2, bar; mov.u32 %r3, 0;
  mbarrier.init.shared.b64 [%r2], 1;
)" + setup + "cp.async.bulk.tensor." +
              at + ", [%r2];\n");
  return m.run({1}, {1}, put(m, map));
}
TensorMap tile_of(uint64_t address) {
  TensorMap map;
  map.address = address;
  map.rank = 2;
  map.type = TensorType::f32;
  map.size = {64, 32, 1, 1, 1};
  map.stride = {0, 256, 0, 0, 0};
  map.box = {16, 16, 1, 1, 1};
  return map;
}

TEST(TensorMap, BadOnesAreReportedWhereTheCopyStarts) {
  const std::string load = "2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes ";
  const auto expect = [&](const TensorMap& map, const std::string& at, FaultKind kind,
                          const char* text) {
    const Fault fault = copy_with(encode(map), at);
    EXPECT_EQ(fault.kind, kind) << text;
    EXPECT_NE(text_of(fault).find(text), std::string::npos) << text_of(fault);
  };
  const TensorMap good = tile_of(0);
  expect(good, load + "[%r1], [%out, {%r3, %r3}]", FaultKind::illegal_address, "null pointer");
  expect(good, load + "[%r1], [%out+16, {%r3, %r3}]", FaultKind::misaligned_address,
         "a multiple of 64");
  expect(good, load + "[%r1+64], [%out, {%r3, %r3}]", FaultKind::misaligned_address,
         "a multiple of 128");
  expect(good, load + "[%r1+128], [%out, {%r3, %r3}]", FaultKind::illegal_address,
         "bytes of shared memory");
  expect(good, load + "[%r1], [%out, {1, %r3}]", FaultKind::illegal_instruction,
         "no multiple of 16 bytes");
  expect(good, load + "[%r1], [%out, {1, %r3}]", FaultKind::illegal_instruction,
         "fix: it is 1; let it be a multiple of 4 elements");
  expect(good,
         "3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
         "[%r1], [%out, {%r3, %r3, %r3}]",
         FaultKind::illegal_instruction, "another rank");
  TensorMap bad = good;
  bad.box[0] = 15;
  expect(bad, load + "[%r1], [%out, {%r3, %r3}]", FaultKind::illegal_instruction,
         "the innermost row of the tensor map's box");
  for (const uint32_t word : {0u, ~0u, 0x5a5a5a5au}) {
    TensorMapBytes rubbish;
    rubbish.words.fill(word);
    if (word == 0) {
      EXPECT_NE(text_of(copy_with(rubbish, load + "[%r1], [%out, {%r3, %r3}]")).find("all zeros"),
                std::string::npos);
    }
    EXPECT_EQ(copy_with(rubbish, load + "[%r1], [%out, {%r3, %r3}]").kind,
              FaultKind::illegal_instruction)
        << word;
  }
}

TEST(TensorMap, WrongOperandsAreRefusedWhenTheModuleIsLoaded) {
  const auto message = [](const std::string& copy) {
    Engine engine({.gpu = *find_gpu("h200"), .threads = 1});
    const auto program = engine.load(
        ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
        ".reg .b64 %m; .reg .b32 %r<4>; .reg .b16 %h; ld.param.u64 %m, [p];\n" +
            copy + "ret; }\n",
        "test.ptx");
    if (!program) return program.error().message;
    Kernel* const kernel = engine.find_kernel(*program, "k");
    Launch launch;
    launch.kernel = kernel;
    launch.params.resize(8);
    return kernel ? text_of(engine.run(launch)) : std::string("no kernel");
  };
  const std::string load =
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes";
  EXPECT_NE(message(load + " [%r1], [%m, {%r2}], [%r3];\n").find("2 coordinates"),
            std::string::npos);
  EXPECT_NE(message("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::"
                    "bytes [%r1], [%m, {%r2, %r2, %r2, %r2}], [%r3], {%h};\n")
                .find("2 offsets"),
            std::string::npos);
  EXPECT_NE(message(load + ".multicast::cluster [%r1], [%m, {%r2, %r2}], [%r3];\n")
                .find("does not take 3 operands"),
            std::string::npos);
}

}  // namespace
}  // namespace ridge::vm::testing
