#include "ladder/cases.h"
#include "kernels/vote/family.h"

namespace ridge::vote {
namespace {

enum Op { kMixed, kRuns };
constexpr int64_t kRun = 4096;  // elements of one sign

}  // namespace

Family::Family() : Erased(vote::rungs()) {
  family = "vote";
  summary = "one of two series, by sign, and a bit for which";
  operators = {"vote", "vote_runs"};  // signs at random, and in long runs
  dtypes = {Dtype::f32};
  shape_help = "N";
  unit = "GFLOP/s";
  tests = crossed({.ops = {kMixed, kRuns},
                   .shapes = {{0}, {1}, {31}, {32}, {33}, {257}, {20011}},
                   .specials = false});
  timings = {{.op = kMixed, .shape = {1 << 26}}, {.op = kRuns, .shape = {1 << 26}}};
  tour = {.shape = {1 << 17}};
}

Status Family::check(const Case& c) const { return check_case(*this, c, 1); }

std::optional<double> Family::input(const Case& c, size_t tensor, int64_t index) const {
  if (c.op != kRuns || tensor != 0) return std::nullopt;
  const double size = double(index * 40503 % 65536) / 65536;
  return index / kRun % 2 ? -size : size;
}

Workload Family::workload(const Case& c) const {
  const int64_t n = c.shape[0];
  return {
      .tensors =
          {{.name = "x", .shape = {n}},
           // A step of Horner's rule rounds once, and so does the subtraction.
           {.name = "y", .shape = {n}, .role = Role::out, .rounding = 0, .arithmetic = kSteps + 1},
           {.name = "first",
            .dtype = Dtype::u32,
            .shape = {masks(n)},
            .role = Role::out,
            .rounding = 0,
            .arithmetic = 0}},
      .cost = {.read = double(n) * 4,
               .written = double(n) * 4 + double(masks(n)) * 4,
               .flops = 2.0 * kSteps * double(n)}};
}

Args Family::bind(const Case& c, std::span<void* const> t) {
  return {.x = static_cast<const float*>(t[0]),
          .y = static_cast<float*>(t[1]),
          .first = static_cast<uint32_t*>(t[2]),
          .n = c.shape[0],
          .dtype = c.dtype};
}

}  // namespace ridge::vote
