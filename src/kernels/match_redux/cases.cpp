#include "ladder/cases.h"

#include "kernels/match_redux/match_redux.h"
#include "ladder/family.h"

namespace ridge::match_redux {
namespace {

void workload(const Case& c, Workload& w) {
  w["keys"].fill = Fill::index;
  w["keys"].limit = c.is_distributed("few") ? 10 : int64_t(1) << 32;
  for (const char* name : {"counts", "most"}) w[name].rounding = w[name].arithmetic = 0;
  const int64_t n = c.size("n");
  w.cost = {.read = 4.0 * double(n), .written = 4.0 * double(n + groups(n))};
}

std::vector<Case> tests() {
  return crossed({.dtypes = {Dtype::u32},
                  .shapes = {{0}, {1}, {31}, {32}, {33}, {257}, {20011}},
                  .specials = false,
                  .distributions = {"few", "distinct"}});
}

std::vector<Case> timings() {
  return {{.dtype = Dtype::u32, .shape = {1 << 27}},
          {.dtype = Dtype::u32, .shape = {1 << 27}, .distribution = "distinct"}};
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "how often each key occurs among 32",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.dtype = Dtype::u32, .shape = {1 << 16}}};
}

}  // namespace ridge::match_redux
