#include "ladder/cases.h"

#include "kernels/stream_compaction/stream_compaction.h"
#include "ladder/family.h"

namespace ridge::stream_compaction {
namespace {

constexpr size_t kFlags = 1;

std::optional<double> input(const Case& c, size_t tensor, int64_t index) {
  if (tensor != kFlags) return std::nullopt;
  const uint64_t noise = hash(c.seed, uint64_t(c.is_distributed("runs") ? index / 1000 : index));
  const double set = double(1 + noise / 64 % 255);  // any number but 0
  if (c.is_distributed("none")) return 0;
  if (c.is_distributed("all")) return set;
  if (c.is_distributed("few")) return noise % 32 == 0 ? set : 0;
  if (c.is_distributed("most")) return noise % 32 != 0 ? set : 0;
  return noise % 2 ? set : 0;
}

double kept_share(const Case& c) {
  if (c.is_distributed("none")) return 0;
  if (c.is_distributed("all")) return 1;
  if (c.is_distributed("few")) return 1.0 / 32;
  return c.is_distributed("most") ? 31.0 / 32 : 0.5;
}

void workload(const Case& c, Workload& w) {
  for (const char* name : {"x", "out"}) fill_for_moves(w[name]);
  for (const char* name : {"out", "count"}) w[name].rounding = w[name].arithmetic = 0;
  const double n = double(c.size("n")), size = double(size_of(c.dtype));
  w.cost = {.read = n * (size + 1), .written = n * size * kept_share(c)};
}

std::vector<Case> tests() {
  // A block of the first rungs has 256 elements, a tile of the last one 4096.
  std::vector<Case> cases = crossed({.dtypes = {Dtype::f32, Dtype::bf16, Dtype::u8},
                                     .shapes = {{0}, {1}, {255}, {257}, {4095}, {4096}, {4097}},
                                     .misalignments = {0, 1}});
  append(cases, crossed({.dtypes = {Dtype::i32, Dtype::f16},
                         .shapes = {{30011}},
                         .misalignments = {0, 3},
                         .specials = false,
                         .distributions = {"half", "few", "most", "all", "none", "runs"}}));
  for (const int skew : {1, 2, 3})
    cases.push_back({.dtype = Dtype::u32, .shape = {9001}, .seed = 5, .skew = skew});
  return cases;
}

std::vector<Case> timings() {
  std::vector<Case> cases;
  for (const char* distribution : {"half", "few", "most"})
    cases.push_back({.dtype = Dtype::i32, .shape = {1 << 28}, .distribution = distribution});
  cases.push_back({.dtype = Dtype::bf16, .shape = {1 << 28}});
  cases.push_back({.dtype = Dtype::i32, .shape = {1 << 22}});
  cases.push_back({.dtype = Dtype::f32, .shape = {100'000'007}});
  return cases;
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "the elements whose flag is set, one behind the other",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.dtype = Dtype::i32, .shape = {1 << 18}},
          .input = input};
}

}  // namespace ridge::stream_compaction
