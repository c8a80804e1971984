#include "ladder/cases.h"

#include "kernels/vote/vote.h"
#include "ladder/family.h"

namespace ridge::vote {
namespace {

constexpr int64_t kRun = 4096;  // elements of one sign

std::optional<double> input(const Case& c, size_t tensor, int64_t index) {
  if (!c.is_distributed("runs") || tensor != 0) return std::nullopt;
  const double size = double(index * 40503 % 65536) / 65536;
  return index / kRun % 2 ? -size : size;
}

void workload(const Case& c, Workload& w) {
  w["y"].rounding = 0;
  w["y"].arithmetic = kSteps + 1;  // a step of Horner's rule rounds once; so does the subtraction
  w["first"].rounding = w["first"].arithmetic = 0;
  const double n = double(c.size("n"));
  w.cost = {
      .read = 4 * n, .written = 4 * n + 4 * double(masks(c.size("n"))), .flops = 2.0 * kSteps * n};
}

std::vector<Case> tests() {
  return crossed({.shapes = {{0}, {1}, {31}, {32}, {33}, {257}, {20011}},
                  .specials = false,
                  .distributions = {"mixed", "runs"}});
}

std::vector<Case> timings() {
  return {{.shape = {1 << 26}}, {.shape = {1 << 26}, .distribution = "runs"}};
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "one of two series, by sign, and a bit for which",
          .unit = "GFLOP/s",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.shape = {1 << 17}},
          .input = input};
}

}  // namespace ridge::vote
