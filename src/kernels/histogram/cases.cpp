#include "ladder/cases.h"

#include <cmath>

#include "kernels/histogram/histogram.h"
#include "ladder/family.h"

namespace ridge::histogram {
namespace {

// u8 has 256 values, however many bins there are.
int64_t values_of(const Case& c) {
  const int64_t bins = c.size("bins");
  return c.dtype == Dtype::u8 ? std::min<int64_t>(bins, 256) : bins;
}

// The bin of element `index`; a few lie behind the last one.
int64_t bin_at(const Case& c, int64_t index) {
  const int64_t values = std::max<int64_t>(values_of(c), 1);
  if (c.is_distributed("equal")) return values * 2 / 3;
  if (c.is_distributed("runs")) index /= 64;
  const uint64_t noise = hash(c.seed, uint64_t(index));
  if (c.is_distributed("skewed")) {
    int64_t bin = 0;
    for (uint64_t bits = noise; (bits & 1) && bin < values - 1; bits >>= 1) ++bin;
    return bin;
  }
  if (noise % 31 == 0 && !c.is_distributed("uniform")) return values;
  return int64_t((noise >> 8) % uint64_t(values));
}

// Whole numbers that Fill makes sooner.
bool is_plain(const Case& c) { return c.op == kValues && c.is_distributed("uniform"); }

std::optional<double> input(const Case& c, size_t tensor, int64_t index) {
  if (tensor != 0 || c.specials || is_plain(c)) return std::nullopt;
  const double bin = double(bin_at(c, index));
  if (c.op != kEven) return bin;
  const double lower = c.number("lower"), upper = c.number("upper");
  const double inside = unit(hash(c.seed + 1, uint64_t(index)));
  return lower + (bin + inside) * (upper - lower) / double(std::max<int64_t>(values_of(c), 1));
}

void workload(const Case& c, Workload& w) {
  TensorSpec& counts = w["counts"];
  counts.rounding = counts.arithmetic = 0;
  if (is_plain(c)) w["x"].fill = Fill::index, w["x"].limit = values_of(c);
  if (c.op == kEven) w["x"].fill = Fill::spread;  // with NaN and infinities
  w.cost = {.read = double(c.size("n")) * double(size_of(c.dtype)),
            .written = 4.0 * double(c.size("bins"))};
}

std::vector<Case> tests() {
  // A thread of the later rungs takes 4 packs of 16 bytes at once, a block 512 threads.
  const std::vector<std::string> all = {"uniform", "equal", "skewed", "runs"};
  std::vector<Case> cases =
      crossed({.ops = {kValues},
               .dtypes = {Dtype::u8, Dtype::u32},
               .shapes = {{0, 256}, {1, 256}, {15, 1}, {17, 3}, {8191, 256}, {20011, 256}},
               .specials = false,
               .distributions = {"uniform", "skewed"}});
  append(cases, crossed({.ops = {kValues},
                         .dtypes = {Dtype::u8, Dtype::u32},
                         .shapes = {{32768, 256}, {40009, 4096}},
                         .misalignments = {0, 3},
                         .specials = false,
                         .distributions = all}));
  append(cases, crossed({.ops = {kEven},
                         .shapes = {{1, 7}, {4097, 100}, {20011, 4096}},
                         .distributions = {"uniform", "runs"}}));
  append(cases, crossed({.ops = {kEven},
                         .shapes = {{5003, 100}},
                         .parameters = {{"lower", -4.7}, {"upper", 5.1}}}));
  // Half words are full at 32768: one bin has to pass that several times. Then too many bins for
  // shared memory.
  append(cases, crossed({.ops = {kValues},
                         .dtypes = {Dtype::u32},
                         .shapes = {{150'001, 65536}, {3001, 65535}, {3001, 200'003}},
                         .misalignments = {0},
                         .specials = false,
                         .distributions = {"uniform", "equal"}}));
  return cases;
}

std::vector<Case> timings() {
  std::vector<Case> cases;
  for (const char* distribution : {"uniform", "equal", "skewed"}) {
    cases.push_back({.dtype = Dtype::u8, .shape = {1 << 28, 256}, .distribution = distribution});
    for (const int64_t bins : {256, 4096, 65536})
      cases.push_back(
          {.dtype = Dtype::u32, .shape = {1 << 28, bins}, .distribution = distribution});
  }
  cases.push_back({.op = kEven, .shape = {1 << 28, 256}});
  cases.push_back({.dtype = Dtype::u8, .shape = {1 << 20, 256}});
  cases.push_back({.dtype = Dtype::u8, .shape = {100'000'007, 256}});
  return cases;
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "how often each value occurs, or each interval of values",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.dtype = Dtype::u8, .shape = {1 << 20, 256}},
          .input = input};
}

}  // namespace ridge::histogram
