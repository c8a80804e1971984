#include "ladder/cases.h"

#include <cmath>

#include "kernels/pool/window.h"
#include "ladder/family.h"

namespace ridge::pool {
namespace {

void workload(const Case& c, Workload& w) {
  const CaseWindows windows(c);
  const bool mean = is_mean(c.op), backward = is_backward(c.op);
  TensorSpec& out = w.tensors.back();
  // A mean: sums one after another, and a division. Backward, as many windows as an element is in.
  out.arithmetic = mean ? windows.size + 2 : backward ? windows.size : 0;
  if (!mean && !backward) out.rounding = 0;
  // Equal elements, of which the first one counts; and sums that are exact in any order.
  if (!mean && !c.specials)
    for (TensorSpec& t : w.tensors) t.fill = Fill::small_ints;
  if (!mean) out.arithmetic = 0;
  const double size = double(size_of(c.dtype)) * double(windows.planes);
  w.cost.read =
      size * double(backward ? windows.outputs + (mean ? 0 : windows.inputs) : windows.inputs);
  w.cost.written = size * double(backward ? windows.inputs : windows.outputs);
}

std::optional<double> input(const Case& c, size_t tensor, int64_t index) {
  if (!c.specials) return std::nullopt;
  const uint64_t bits = hash(c.seed * 4 + tensor, uint64_t(index));
  if (tensor == 0 && bits % 64 < 4) {
    constexpr double kValues[] = {NAN, INFINITY, -INFINITY, -0.0};
    return kValues[bits % 64];
  }
  return double(int(bits >> 8 & 7) - 3);
}

Status check(const Case& c) {
  if (2 * c.integer("padding") <= c.integer("kernel")) return Status::ok();
  return Error{2, "padding must be at most half of kernel"};
}

struct Shaped {
  std::vector<int64_t> shape;
  double kernel, stride, padding;
};

std::vector<Case> tests() {
  const std::vector<Shaped> shapes[] = {
      {{{1, 3, 1031}, 2, 0, 0},
       {{5, 1, 33}, 3, 2, 1},
       {{2, 1, 9}, 4, 1, 2},
       {{1, 1, 2}, 3, 1, 0},
       {{0, 2, 5}, 2, 0, 0}},
      {{{2, 3, 17, 34}, 2, 0, 0},
       {{3, 1, 21, 33}, 3, 2, 1},
       {{1, 2, 8, 9}, 3, 1, 1},
       {{1, 1, 13, 70}, 5, 3, 2},
       {{2, 1, 1, 1}, 1, 0, 0}},
      {{{2, 1, 5, 6, 19}, 2, 0, 0}, {{1, 2, 7, 6, 9}, 3, 2, 1}, {{1, 1, 4, 5, 6}, 3, 1, 0}}};
  std::vector<Case> cases;
  for (int op = 0; op < 12; ++op)
    for (const Shaped& s : shapes[directions_of(op) - 1])
      for (const Dtype dtype : kFloats) {
        Case c = {
            .op = op,
            .dtype = dtype,
            .shape = s.shape,
            .seed = cases.size() + 1,
            .parameters = {{"kernel", s.kernel}, {"stride", s.stride}, {"padding", s.padding}}};
        if (is_mean(op) && cases.size() % 2) c.parameters.emplace_back("count_padding", 0);
        if (cases.size() % 3 == 0) c.misalignment = c.skew = 1, c.padding = 3;
        cases.push_back(c);
        if (!is_backward(op) && s.stride == 2) {
          c.specials = true;
          cases.push_back(c);
        }
      }
  // A gradient for maxima among which there are NaN and infinities.
  cases.push_back({.op = 7,
                   .shape = {1, 2, 21, 33},
                   .specials = true,
                   .parameters = {{"kernel", 3}, {"stride", 2}, {"padding", 1}}});
  return cases;
}

std::vector<Case> timings() {
  std::vector<Case> cases;
  for (const int op : {1, 4, 7, 10})
    for (const Dtype dtype : {Dtype::f32, Dtype::bf16}) {
      cases.push_back({.op = op,
                       .dtype = dtype,
                       .shape = {32, 64, 112, 112},
                       .parameters = {{"kernel", 3}, {"stride", 2}, {"padding", 1}}});
      cases.push_back(
          {.op = op, .dtype = dtype, .shape = {32, 64, 112, 112}, .parameters = {{"kernel", 2}}});
    }
  for (const int op : {0, 3, 6, 9})
    cases.push_back({.op = op, .shape = {16, 64, 65536}, .parameters = {{"kernel", 2}}});
  for (const int op : {2, 5, 8, 11})
    cases.push_back({.op = op, .shape = {4, 16, 64, 64, 64}, .parameters = {{"kernel", 2}}});
  return cases;
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "maximum and mean of windows in one, two and three dimensions, and backward",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.op = 1,
                   .shape = {2, 8, 64, 64},
                   .parameters = {{"kernel", 3}, {"stride", 2}, {"padding", 1}}},
          .input = input,
          .check = check};
}

}  // namespace ridge::pool
