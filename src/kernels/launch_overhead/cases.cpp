#include "ladder/cases.h"
#include "kernels/launch_overhead/family.h"

namespace ridge::launch_overhead {

Family::Family() : Erased(launch_overhead::rungs()) {
  family = "launch_overhead";
  summary = "256 counters go up by one, many times";
  operators = {"launch_overhead"};
  dtypes = {Dtype::u32};
  shape_help = "STEPS";
  unit = "GOP/s";
  // Around a graph of 64 steps.
  tests =
      crossed({.dtypes = dtypes, .shapes = {{0}, {1}, {63}, {64}, {65}, {200}}, .specials = false});
  timings = {{.dtype = Dtype::u32, .shape = {4096}}};
  tour = {.dtype = Dtype::u32, .shape = {256}};
}

Status Family::check(const Case& c) const { return check_case(*this, c, 1); }

Workload Family::workload(const Case& c) const {
  return {.tensors = {{.name = "counters",
                       .dtype = c.dtype,
                       .shape = {kCounters},
                       .role = Role::inout,
                       .fill = Fill::index,
                       .limit = 1000,
                       .rounding = 0,
                       .arithmetic = 0}},
          .cost = {.read = 4.0 * kCounters,
                   .written = 4.0 * kCounters,
                   .flops = double(c.shape[0]) * kCounters}};
}

Args Family::bind(const Case& c, std::span<void* const> t) {
  return {.counters = static_cast<uint32_t*>(t[0]), .steps = c.shape[0], .dtype = c.dtype};
}

}  // namespace ridge::launch_overhead
