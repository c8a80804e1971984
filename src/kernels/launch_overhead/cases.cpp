#include "ladder/cases.h"

#include "kernels/launch_overhead/launch_overhead.h"
#include "ladder/family.h"

namespace ridge::launch_overhead {
namespace {

void workload(const Case& c, Workload& w) {
  TensorSpec& counters = w["counters"];
  counters.fill = Fill::index;
  counters.limit = 1000;
  counters.rounding = counters.arithmetic = 0;
  w.cost = {.read = 4.0 * kCounters,
            .written = 4.0 * kCounters,
            .flops = c.number("steps") * kCounters,
            .arithmetic = Arithmetic::integer};
}

// Around a graph of 64 steps.
std::vector<Case> tests() {
  return crossed(
      {.dtypes = {Dtype::u32}, .shapes = {{0}, {1}, {63}, {64}, {65}, {200}}, .specials = false});
}

std::vector<Case> timings() { return {{.dtype = Dtype::u32, .shape = {4096}}}; }

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "256 counters go up by one, many times",
          .unit = "GOP/s",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.dtype = Dtype::u32, .shape = {256}}};
}

}  // namespace ridge::launch_overhead
