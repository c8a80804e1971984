#include "ladder/cases.h"

#include "kernels/conv/shape.h"
#include "kernels/conv_backward/conv_backward.h"
#include "ladder/family.h"

namespace ridge::conv_backward {
namespace {

bool has_dbias(const Case& c) { return c.seed % 3 != 0; }

void workload(const Case& c, Workload& w) {
  const bool weights = is_of_weights(c.op);
  const conv::CaseShape s(c, directions_of(c.op), false);
  if (!has_dbias(c))
    std::erase_if(w.tensors, [](const TensorSpec& t) { return t.name == "dbias"; });
  const double pixels = double(s.batch) * double(s.pixels());
  const double terms = weights ? pixels : double(s.group_filters()) * double(s.taps());
  const bool exact = c.seed % 2 == 0;  // whole numbers: no product can be lost in a tolerance
  for (TensorSpec& t : w.tensors) {
    if (exact) t.fill = Fill::counted;
    if (t.role == Role::in) continue;
    // Products and sums, each rounded once.
    t.arithmetic = exact ? 0 : terms + 2;
    if (weights) t.rounding = 0;
  }
  const double size = double(size_of(c.dtype));
  const double inputs = double(s.batch) * double(s.channels) * double(s.in_pixels());
  const double filters = double(s.filters) * double(s.group_channels) * double(s.taps());
  const double outputs = pixels * double(s.filters);
  w.cost = {.read = size * (outputs + (weights ? inputs : filters)),
            .written = weights ? 4 * filters : size * inputs,
            .flops = 2 * outputs * double(s.group_channels) * double(s.taps())};
}

Status check(const Case& c) { return conv::CaseShape(c, directions_of(c.op), false).check(); }

using Parameters = std::vector<std::pair<std::string, double>>;
struct Shaped {
  int directions;
  std::vector<int64_t> shape;  // batch, channels, sizes, filters, kernel
  Parameters parameters = {};
};

std::vector<Case> tests() {
  // Around 8 levels and 64 x 128 results of a block; the last ones have several blocks for dw.
  const std::vector<Shaped> shapes = {
      {2, {0, 2, 5, 5, 3, 3, 3}},
      {2, {2, 3, 2, 2, 3, 3, 3}},
      {2, {1, 1, 1, 1, 1, 1, 1}},
      {2, {2, 3, 9, 17, 5, 3, 3}, {{"padding", 1}}},
      {2, {1, 3, 21, 23, 8, 5, 5}, {{"stride", 2}, {"padding", 2}}},
      {2, {1, 2, 12, 17, 3, 1, 5}, {{"padding_width", 2}, {"stride_width", 3}}},
      {2, {1, 2, 15, 13, 4, 3, 3}, {{"dilation", 3}, {"stride", 2}, {"stride_width", 1}}},
      {2, {2, 6, 8, 11, 9, 3, 3}, {{"groups", 3}, {"padding", 2}}},
      {2, {2, 7, 10, 9, 7, 3, 3}, {{"groups", 7}, {"padding", 1}}},
      {2, {1, 65, 5, 6, 66, 1, 1}},
      {2, {1, 15, 4, 5, 9, 3, 3}, {{"padding", 1}}},
      {1, {2, 3, 301, 5, 7}, {{"padding", 3}}},
      {1, {3, 4, 50, 4, 3}, {{"groups", 4}, {"dilation", 2}, {"stride", 3}}},
      {3, {1, 2, 4, 5, 9, 3, 3}, {{"padding", 1}}},
      {3, {2, 3, 6, 5, 8, 4, 2, 3, 1}, {{"stride_height", 2}, {"dilation_width", 3}}},
      {2, {1, 1, 40, 41, 2, 3, 3}, {{"padding", 1}}},
      {1, {2, 2, 999, 3, 3}}};
  std::vector<Case> cases;
  for (const bool weights : {false, true})
    for (const Shaped& s : shapes)
      for (const Dtype dtype : kFloats) {
        Case c = {.op = s.directions - 1 + (weights ? 3 : 0),
                  .dtype = dtype,
                  .shape = s.shape,
                  .seed = cases.size() + 1,
                  .parameters = s.parameters};
        if (cases.size() % 4 == 0) c.misalignment = c.skew = 1, c.padding = 3;
        cases.push_back(c);
      }
  return cases;
}

std::vector<Case> timings() {
  std::vector<Case> cases;
  for (const int op : {1, 4})
    for (const Dtype dtype : {Dtype::f32, Dtype::bf16}) {
      cases.push_back({.op = op,
                       .dtype = dtype,
                       .shape = {32, 64, 56, 56, 64, 3, 3},
                       .parameters = {{"padding", 1}}});
      cases.push_back({.op = op,
                       .dtype = dtype,
                       .shape = {32, 256, 14, 14, 256, 3, 3},
                       .parameters = {{"padding", 1}}});
    }
  return cases;
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "the gradients of convolutions: of their inputs, and of their filters",
          .unit = "TFLOP/s",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.op = 1, .shape = {1, 16, 14, 14, 16, 3, 3}, .parameters = {{"padding", 1}}},
          .check = check};
}

}  // namespace ridge::conv_backward
