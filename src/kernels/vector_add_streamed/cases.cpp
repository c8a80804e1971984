#include "ladder/cases.h"

#include "kernels/vector_add_streamed/vector_add_streamed.h"
#include "ladder/family.h"

namespace ridge::vector_add_streamed {
namespace {

void workload(const Case& c, Workload& w) {
  w["out"].arithmetic = 0;  // the sum of two floats is rounded once
  const double bytes = double(c.size("n")) * 4;
  w.cost = {.read = 2 * bytes, .written = bytes, .to_device = 2 * bytes, .to_host = bytes};
}

// Around a chunk, and more chunks than any rung has streams.
std::vector<Case> tests() {
  return crossed({.shapes = {{0}, {1}, {16383}, {16384}, {16385}, {200003}}});
}

std::vector<Case> timings() {
  return {
      {.shape = {1 << 26}}, {.shape = {1 << 24}}, {.shape = {1 << 20}}, {.shape = {100'000'007}}};
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "out = a + b from host memory to host memory",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.shape = {1 << 18}}};
}

}  // namespace ridge::vector_add_streamed
