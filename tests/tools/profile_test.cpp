// What `ridge profile` makes of the software GPU's records, without running anything.
#include <sstream>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "profile/advice.h"
#include "profile/geometry.h"
#include "profile/metrics.h"
#include "profile/page.h"
#include "profile/read.h"
#include "profile/replay.h"
#include "profile/resources.h"
#include "profile/roofline.h"
#include "profile/time.h"
#include "profile/to_json.h"
#include "profile/words.h"

namespace ridge::tools::profile {
namespace {

Access strided(uint32_t bytes, uint64_t stride, uint32_t mask = ~0u) {
  Access access;
  access.mask = mask;
  access.bytes = bytes;
  for (uint64_t lane = 0; lane < 32; ++lane) access.address[lane] = lane * stride;
  return access;
}

Profile read(const std::string& text, const std::string& kernel = "") {
  std::istringstream wire(text);
  auto profile = read_profile(wire, kernel);
  EXPECT_TRUE(profile);
  make_lines(*profile);
  return *profile;
}

TEST(ProfileGeometry, Strides) {
  EXPECT_EQ(stride_of(strided(4, 8))->bytes, 8);
  EXPECT_TRUE(stride_of(strided(4, 8))->everywhere);
  Access tile = strided(4, 4);  // 16 lanes per row
  for (size_t lane = 16; lane < 32; ++lane) tile.address[lane] += 4096;
  EXPECT_EQ(stride_of(tile)->bytes, 4);
  EXPECT_FALSE(stride_of(tile)->everywhere);
  Access scattered = strided(4, 4);
  for (uint64_t lane = 0; lane < 32; ++lane) scattered.address[lane] = lane * lane * 4;
  EXPECT_FALSE(stride_of(scattered));
  EXPECT_FALSE(stride_of(strided(4, 4, 0x55555555)));  // no neighbours
}

TEST(ProfileGeometry, SectorsByAlignment) {
  Access access = strided(4, 4);
  access.base = 12;
  EXPECT_EQ(sectors_of(access), 5u);
  EXPECT_EQ(cache_lines_of(access), 2u);
  EXPECT_EQ(least_sectors(access), 4u);
  EXPECT_EQ(least_sectors(strided(4, 0)), 1u);
  EXPECT_EQ(lanes_a_place(strided(4, 0)), 32u);
  EXPECT_EQ(lanes_a_place(strided(4, 4)), 1u);
}

TEST(ProfileGeometry, Conflicts) {
  const Conflict halves = worst_conflict(strided(2, 64));  // a column of a 32 x 32 tile of halves
  EXPECT_EQ(halves.ways, 16u);
  EXPECT_EQ(halves.bank, 0u);
  EXPECT_EQ(lanes_text(halves.lanes), "0, 2 … 30");
  EXPECT_EQ(worst_conflict(strided(4, 4)).ways, 1u);
  EXPECT_EQ(worst_conflict(strided(4, 0)).ways, 1u);  // one word for all
}

// A kernel with one array in shared memory, and these accesses to it.
Kernel with_accesses(std::vector<Access> accesses) {
  Kernel kernel;
  kernel.grid = {1000, 1, 1};
  kernel.block = {256, 1, 1};
  kernel.arrays = {{"tile", 0, 32 * 1024}};
  kernel.occupancy = occupancy(*find_gpu("h200"), {256, 32, 0});
  for (Access& access : accesses) {
    access.warps = 100;
    Instruction one;
    one.reach = Reach::shared;
    one.bytes = access.bytes;
    one.worst = access;
    one.counters.shared_requests = 100;
    one.counters.wavefronts = 100 * wavefronts_of(access);
    one.counters.conflicts = one.counters.wavefronts - 100 * least_wavefronts(access);
    one.seen_shared.sample = {access};
    kernel.instructions.push_back(one);
  }
  return kernel;
}

TEST(ProfileReplay, PaddingIsTriedOnAllAccesses) {
  for (const uint32_t bytes : {2u, 4u, 8u}) {
    // Of halves, the second column lies differently in its words, and one element is too little.
    const Access column = strided(bytes, 32 * bytes), row = strided(bytes, bytes);
    Access second = column;
    for (uint64_t& at : second.address) at += bytes;
    const Kernel kernel = with_accesses({column, second, row});
    const auto best = best_layout(kernel, kernel.arrays[0], *find_gpu("h200"));
    ASSERT_TRUE(best) << bytes;
    EXPECT_EQ(best->layout.row, 32 * bytes) << bytes;
    EXPECT_EQ(best->layout.more, std::max(4u, bytes)) << bytes;
    EXPECT_EQ(best->wavefronts.now, 100.0 * double(2 * wavefronts_of(column) + wavefronts_of(row)));
    EXPECT_EQ(best->wavefronts.then, 300.0 * double(least_wavefronts(row))) << bytes;
  }
}

TEST(ProfileReplay, PaddingKeepsWideAccessesAligned) {
  const Kernel kernel = with_accesses({strided(4, 128), strided(16, 16)});
  const auto best = best_layout(kernel, kernel.arrays[0], *find_gpu("h200"));
  ASSERT_TRUE(best);
  EXPECT_EQ(best->layout.more % 16, 0u);
}

TEST(ProfileReplay, WhatPaddingMakesWorseIsCounted) {
  // Rows of 31 words: lanes with a diagonal of 33 words are at peace now, and a padding that helps
  // the columns of 32 words puts them all into one bank.
  const Kernel kernel = with_accesses({strided(4, 128), strided(4, 124)});
  const LayoutTrial trial = try_layout(kernel, kernel.arrays[0], {false, 124, 4});
  EXPECT_EQ(trial.of.at(&kernel.instructions[1]).then, 3200);
  EXPECT_GT(trial.of.at(&kernel.instructions[1]).then, trial.of.at(&kernel.instructions[1]).now);
}

TEST(ProfileReplay, NoLayoutWhereAccessesAreNotKnown) {
  Kernel kernel = with_accesses({strided(4, 128)});
  kernel.instructions.push_back(kernel.instructions[0]);
  kernel.instructions[1].seen_shared = {};
  EXPECT_FALSE(best_layout(kernel, kernel.arrays[0], *find_gpu("h200")));
}

TEST(ProfileReplay, ASwizzleKeepsTheArraysSize) {
  const Layout layout = {true, 128, 4};
  std::vector<bool> taken(4096);
  for (uint64_t offset = 0; offset < 4096; ++offset) {
    ASSERT_LT(layout.place(offset), 4096u);
    EXPECT_FALSE(taken[layout.place(offset)]);
    taken[layout.place(offset)] = true;
  }
  const Kernel kernel = with_accesses({strided(4, 128)});
  EXPECT_EQ(try_layout(kernel, kernel.arrays[0], layout).wavefronts.then, 100);
}

TEST(ProfileReplay, DataDecide) {
  Seen regular, random;
  uint64_t state = 1;
  for (int i = 0; i < 16; ++i) {
    regular.sample.push_back(strided(4, i % 2 ? 4 : 128));
    Access access = strided(4, 4);
    for (uint64_t& at : access.address) at = (state = state * 6364136223846793005u + 1) >> 54 << 2;
    random.sample.push_back(access);
  }
  EXPECT_FALSE(is_data_dependent(regular));
  EXPECT_TRUE(is_data_dependent(random));
}

TEST(ProfileReplay, ExchangedThreads) {
  Kernel kernel;
  kernel.block = {32, 32, 1};
  Instruction one;
  one.reach = Reach::global;
  one.counters.requests = 32;
  for (uint32_t warp = 0; warp < 32; ++warp) {
    Access column = strided(4, 4096);
    for (uint64_t& at : column.address) at += warp * 4;
    one.seen_global.of_block[warp] = column;
  }
  kernel.instructions = {one};
  const auto trial = try_swap(kernel);
  ASSERT_TRUE(trial);
  EXPECT_EQ(trial->sectors.at(&kernel.instructions[0]).now, 32 * 32);
  EXPECT_EQ(trial->sectors.at(&kernel.instructions[0]).then, 32 * 4);
  kernel.instructions[0].seen_global.of_block.erase(3);  // not all is known
  EXPECT_FALSE(try_swap(kernel));
}

TEST(ProfileWords, Numbers) {
  EXPECT_EQ(counted(1, "thread"), "1 thread");
  EXPECT_EQ(counted(1024, "thread"), "1,024 threads");
  for (const uint64_t n : {8, 11, 18, 80, 88, 800, 8000, 11000})
    EXPECT_STREQ(article(n), "an") << n;
  for (const uint64_t n : {1, 2, 16, 32, 100, 108, 111, 1000}) EXPECT_STREQ(article(n), "a") << n;
}

TEST(ProfileRead, LaunchesOfOneShapeAreSummed) {
  const std::string launch =
      R"({"kernel": "_Z5scalePf", "grid": [4, 1, 1], "block": [256, 1, 1], "registers": 8, "instructions": [
  {"ptx": "ld.global.f32", "ptx_line": 9, "file": "a.cu", "line": 3, "reach": "global", "action": "ld", "bytes": 4, "warps": 32, "threads": 1024, "requests": 32, "sectors": 128, "worst": {"warps": 32, "mask": "ffffffff", "cost": 4, "addresses": [0], "least": 64}}]}
)";
  std::string other = launch;
  other.replace(other.find("[4, 1, 1]"), 9, "[8, 1, 1]");
  const Profile profile = read(launch + other + launch);
  ASSERT_EQ(profile.kernels.size(), 2u);
  EXPECT_EQ(profile.kernels[0].name, "scale");
  EXPECT_EQ(profile.kernels[0].launches, 2u);
  EXPECT_EQ(profile.kernels[0].total.sectors, 256u);
  EXPECT_EQ(profile.kernels[0].instructions[0].worst->warps, 64u);
  EXPECT_EQ(profile.kernels[0].instructions[0].worst->base, 64u);
  EXPECT_EQ(profile.kernels[1].launches, 1u);
  EXPECT_TRUE(read(launch, "other").kernels.empty());
}

TEST(ProfileRead, WhatIsNotThereIsNothing) {
  const Profile bare = read(R"({"kernel": "k", "instructions": [{"ptx": "ret"}, 3]})"
                            "\n");
  ASSERT_EQ(bare.kernels.size(), 1u);
  EXPECT_EQ(bare.kernels[0].instructions.size(), 1u);
  EXPECT_FALSE(bare.kernels[0].sampled());
  EXPECT_TRUE(bare.kernels[0].lines[0].file.empty());
  EXPECT_TRUE(read("").kernels.empty());
  EXPECT_EQ(
      read(
          R"({"kernel": 3, "grid": "x", "block": [1, "y", 2], "faulted": "no", "instructions": [{"ptx": [], "warps": -1, "bytes": 0, "worst": {"mask": "zz", "addresses": {}}, "split": 4, "inlined_at": [7]}]})"
          "\n")
          .kernels.size(),
      1u);
  EXPECT_TRUE(read("{\"kernel\": \"k\", \"instructions\": [\n  {\"ptx\": \"re")
                  .kernels.empty());  // cut off
}

TEST(ProfileRead, KeptAccesses) {
  const Profile profile = read(
      R"({"kernel": "k", "arrays": [{"name": "_ZZ1kPfE4tile", "at": 16, "bytes": 4096}], "instructions": [{"ptx": "ld.shared.f32", "reach": "shared", "seen_shared": {"bytes": 4, "accesses": ["3 0000000f 64 4*2 -8", "5 80000001 0 128", "x", 7, "1 ff"], "block": ["2 00000001 32"], "requests": 4, "moved": 8, "once": 2}, "range": [1, "x"]}]})"
      "\n");
  const Kernel& kernel = profile.kernels[0];
  ASSERT_EQ(kernel.arrays.size(), 1u);
  EXPECT_EQ(kernel.arrays[0].name, "tile");
  const Seen& seen = kernel.instructions[0].seen_shared;
  ASSERT_EQ(seen.sample.size(), 2u);  // what is not whole is left out
  EXPECT_EQ(seen.sample[0].warps, 3u);
  EXPECT_EQ(seen.sample[0].address[2], 72u);
  EXPECT_EQ(seen.sample[0].address[3], 64u);
  EXPECT_EQ(seen.sample[1].address[31], 128u);
  EXPECT_EQ(seen.of_block.at(2).address[0], 32u);
}

TEST(ProfileRead, SampledCountsAreScaled) {
  const Profile profile = read(
      R"({"kernel": "k", "grid": [100, 1, 1], "blocks": 100, "blocks_run": 25, "instructions": [{"ptx": "ret", "warps": 50, "threads": 1600}]})"
      "\n");
  EXPECT_TRUE(profile.kernels[0].sampled());
  EXPECT_EQ(profile.kernels[0].total.warps, 200u);
}

TEST(ProfileRead, HeadersOfTheToolkitAreTheCallers) {
  const Profile profile = read(
      R"({"kernel": "k", "instructions": [{"ptx": "red", "file": "/x/cuda/include/sm_60_atomic_functions.hpp", "line": 84, "inlined_at": [{"file": "/x/cuda/include/crt/y.h", "line": 1}, {"file": "mine.cu", "line": 5}]}]})"
      "\n");
  EXPECT_EQ(profile.kernels[0].lines[0].file, "mine.cu");
  EXPECT_EQ(profile.kernels[0].lines[0].line, 5u);
  EXPECT_EQ(profile.kernels[0].instructions[0].library, "sm_60_atomic_functions.hpp:84");
}

TEST(ProfileRead, MadeUpInstructionsBelongToTheLineBefore) {
  const Profile profile = read(
      R"({"kernel": "k", "instructions": [{"ptx": "mov", "file": "a.cu", "line": 5}, {"ptx": "add", "file": "a.cu", "line": 0}]})"
      "\n");
  ASSERT_EQ(profile.kernels[0].lines.size(), 1u);
  EXPECT_EQ(profile.kernels[0].lines[0].line, 5u);
}

TEST(ProfileRead, LongNamesHaveAShortOne) {
  Kernel kernel;
  kernel.name = "turn<float, 32>";
  EXPECT_EQ(kernel.short_name(), "turn<float, 32>");
  kernel.name = "DeviceScanKernel<cub::policy_hub<int, int>::Policy1000, int, int>";
  EXPECT_EQ(kernel.short_name(), "DeviceScanKernel<…>");
  kernel.name = "a_kernel_with_a_very_long_name_and_without_any_arguments";
  EXPECT_EQ(kernel.short_name(), kernel.name);
}

TEST(ProfileRead, Names) {
  EXPECT_EQ(short_name("_Z5scalePf"), "scale");
  EXPECT_EQ(short_name("_ZN1a1b4turnIfLi32EEEvPKT_PS2_"), "turn<float, 32>");
  EXPECT_EQ(short_name("plain_c_name"), "plain_c_name");
  EXPECT_EQ(short_name("_ZN12_GLOBAL__N_14workEPf"), "work");
}

TEST(ProfileResources, OfOneKernelAmongSeveral) {
  const char* const said =
      "ptxas info    : Compiling entry function 'kk' for 'sm_90'\n"
      "    0 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads\n"
      "ptxas info    : Used 16 registers, 64 bytes smem\n"
      "ptxas info    : Compiling entry function 'k' for 'sm_90'\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 24 registers\n";
  Resources first, second, none;
  EXPECT_TRUE(read_ptxas(said, "kk", first));
  EXPECT_EQ(first.registers, 16u);
  EXPECT_EQ(first.spill_loads, 8u);
  EXPECT_TRUE(read_ptxas(said, "k", second));
  EXPECT_EQ(second.registers, 24u);
  EXPECT_EQ(second.spill_loads, 0u);
  EXPECT_EQ(second.static_shared, 0u);
  EXPECT_FALSE(read_ptxas(said, "kkk", none));
}

TEST(ProfileResources, AsPtxasSays) {
  Resources r;
  EXPECT_TRUE(
      read_ptxas("ptxas info    : 0 bytes gmem\n"
                 "ptxas info    : Function properties for k\n"
                 "    96 bytes stack frame, 120 bytes spill stores, 88 bytes spill loads\n"
                 "ptxas info    : Used 32 registers, used 1 barriers, 96 bytes cumulative stack "
                 "size, 4224 bytes smem\n",
                 "k", r));
  EXPECT_TRUE(r.from_ptxas);
  EXPECT_EQ(r.registers, 32u);
  EXPECT_EQ(r.spill_stores, 120u);
  EXPECT_EQ(r.spill_loads, 88u);
  EXPECT_EQ(r.static_shared, 4224u);
  EXPECT_EQ(r.local_bytes, 96u);
  Resources none;
  EXPECT_FALSE(read_ptxas("ptxas fatal   : Unresolved extern function 'f'", "k", none));
  EXPECT_FALSE(none.from_ptxas);
}

TEST(ProfileRoofline, Flops) {
  const auto flops = [](const char* ptx, uint64_t warps, uint64_t threads) {
    Instruction one;
    one.ptx = ptx;
    one.counters.warps = warps;
    one.counters.threads = threads;
    return flops_of(one);
  };
  EXPECT_EQ(flops("fma.rn.f32", 1, 32), 64);
  EXPECT_EQ(flops("add.f64", 1, 16), 16);
  EXPECT_EQ(flops("fma.rn.f16x2", 1, 32), 128);
  EXPECT_EQ(flops("mad.lo.s32", 1, 32), 0);
  EXPECT_EQ(flops("ld.global.f32", 1, 32), 0);
  Instruction product;  // what its name says does not matter: the software GPU counted
  product.ptx = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16";
  product.source = Source::f16;
  product.counters.threads = 128;
  product.counters.tensor_ops = 2 * 64 * 128 * 16;
  EXPECT_EQ(flops_of(product), 2 * 64 * 128 * 16);
}

// A kernel of one instruction.
Kernel of_one(const Instruction& one, Size grid, Size block) {
  Kernel kernel;
  kernel.name = "k";
  kernel.launches = 1;
  kernel.grid = grid;
  kernel.block = block;
  kernel.blocks = kernel.blocks_run = grid.count();
  kernel.instructions = {one};
  kernel.total = one.counters;
  kernel.lines.resize(1);
  kernel.lines[0].instructions = {0};
  return kernel;
}

TEST(ProfileAdvice, LowOccupancyNamesTheLimiter) {
  Instruction load;  // that every warp waits for
  load.ptx = "ld.global.f32";
  load.reach = Reach::global;
  load.waits = true;
  load.counters.warps = load.counters.requests = load.counters.sectors = 80000;
  load.counters.threads = 32 * 80000;
  Kernel kernel = of_one(load, {10000, 1, 1}, {256, 1, 1});
  kernel.resources.registers = 200;
  const GpuSpec gpu = *find_gpu("h200");
  kernel.occupancy = occupancy(gpu, {256, 200, 0});
  const auto advice = advise(kernel, gpu);
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_EQ(advice[0].kind, Kind::occupancy);
  EXPECT_NE(advice[0].reason.find("200 registers"), std::string::npos);
  EXPECT_NE(advice[0].fix.find("with 64 registers it would be 50 %"), std::string::npos);
  // Where nobody waits, more warps help nobody.
  kernel.instructions[0].waits = false;
  EXPECT_TRUE(advise(kernel, gpu).empty());
}

TEST(ProfileAdvice, LocalMemoryThatPtxasHasInRegistersIsNone) {
  Instruction store;
  store.ptx = "st.local.f32";
  store.reach = Reach::local;
  store.action = Action::store;
  store.counters.warps = store.counters.requests = store.counters.lines = 80000;
  store.counters.threads = 32 * 80000;
  Kernel kernel = of_one(store, {1000, 1, 1}, {256, 1, 1});
  kernel.resources = {.registers = 32, .local_bytes = 64, .from_ptxas = true};
  const GpuSpec gpu = *find_gpu("h200");
  kernel.occupancy = occupancy(gpu, {256, 32, 0});
  ASSERT_EQ(advise(kernel, gpu).size(), 1u);
  EXPECT_EQ(advise(kernel, gpu)[0].kind, Kind::local);
  kernel.resources.local_bytes = 0;
  EXPECT_TRUE(advise(kernel, gpu).empty());
}

TEST(ProfileTime, AFewBlocksLeaveSmsIdle) {
  Instruction one;
  one.ptx = "fma.rn.f32";
  one.unit = "fma";
  one.counters.warps = 132000;
  one.counters.threads = 32 * one.counters.warps;
  const GpuSpec gpu = *find_gpu("h200");
  const Time few = time_of(of_one(one, {1, 1, 1}, {1024, 1, 1}), gpu);
  const Time many = time_of(of_one(one, {132, 1, 1}, {1024, 1, 1}), gpu);
  EXPECT_DOUBLE_EQ(few.of(Part::issue), 132 * many.of(Part::issue));
  // One block more than SMs: somebody has two of them.
  const Time uneven = time_of(of_one(one, {133, 1, 1}, {1024, 1, 1}), gpu);
  EXPECT_NEAR(uneven.of(Part::issue), 2 * 132.0 / 133 * many.of(Part::issue), 1e-6);
}

TEST(ProfileMetrics, NamesWithCommasAreQuoted) {
  Profile profile;
  profile.kernels.resize(1);
  profile.kernels[0].name = "turn<float, 32>";
  EXPECT_NE(to_csv(profile).find("\n\"turn<float, 32>\",,"), std::string::npos);
}

// Whatever counters.def lists comes through, without a word about it anywhere else.
TEST(ProfileCounters, EachGoesFromTheSoftwareGpuToRecordTableAndPage) {
  std::string numbers;
  uint64_t next = 100;
  for (const Counter& counter : kCounters)
    numbers += fmt::format(R"(, "{}": {})", counter.name, next++);
  const GpuSpec gpu = *find_gpu("h200");
  const Profile profile = read(
      R"({"kernel": "k", "grid": [1, 1, 1], "instructions": [{"ptx": "ld.global.u32", "ptx_line": 7)" +
      numbers + "}]}\n");
  nlohmann::json record = to_json(profile, gpu);
  const nlohmann::json kernel = record["kernels"][0];
  record["program"] = "k.cu";
  const std::string page = to_page(record, profile), table = to_csv(profile);
  next = 100;
  for (const Counter& counter : kCounters) {
    const uint64_t value = next++;
    EXPECT_EQ(kernel["counters"].value(counter.name, 0ull), value) << counter.name;
    EXPECT_EQ(kernel["lines"][0]["counters"].value(counter.name, 0ull), value) << counter.name;
    if (counter.column) {
      EXPECT_EQ(kernel["metrics"].value(counter.column, 0.0), double(value)) << counter.column;
      EXPECT_NE(table.find(counter.column), std::string::npos) << counter.column;
    }
    const bool shown = page.find(counter.meaning) != std::string::npos;
    EXPECT_EQ(shown, counter.shown != Counter::Shown::nowhere) << counter.name;
  }
}
TEST(ProfileCounters, OneOfAKindIsInTheSingular) {
  Counters c;
  c.warps = c.branches = 1;
  EXPECT_EQ(counted(c, &Counters::warps), "1 warp instruction");
  EXPECT_EQ(counted(c, &Counters::branches), "1 branch");
  c.sectors = 1024;
  EXPECT_EQ(counted(c, &Counters::sectors), "1,024 sectors");
}

}  // namespace
}  // namespace ridge::tools::profile
