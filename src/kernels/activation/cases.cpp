#include "ladder/cases.h"

#include "core/number.h"
#include "kernels/activation/activation.h"
#include "ladder/family.h"

namespace ridge::activation {
namespace {

constexpr int op(Function f, bool backward = false) { return int(f) + (backward ? kFunctions : 0); }

// How far from the truth a result may be. Two-byte formats: their own rounding, and the eighth of
// it that device/activations.cuh promises. f32: the sum of its roundings and of the errors of what
// it calls (expf 2 units, tanhf 4, ex2.approx 3, a polynomial of alternating signs 3), relative to
// the magnitude in reference.cpp, less the last rounding.
struct Tolerance {
  double rounding, arithmetic;
};
Tolerance tolerance_of(Function f, bool backward, Dtype dtype) {
  switch (f) {
    case Function::relu:
    case Function::hardtanh:
    case Function::clip: return {0, 0};  // a choice between numbers that are there
    case Function::leaky_relu: return {1, 1};
    default: break;
  }
  if (dtype != Dtype::f32) return {1.125, 1};
  switch (f) {
    case Function::sigmoid: return {1, backward ? 10.0 : 3.0};
    case Function::tanh: return {1, backward ? 10.0 : 4.0};
    case Function::gelu: return {1, 12};
    case Function::gelu_tanh: return {1, backward ? 12.0 : 8.0};
    case Function::silu: return {1, backward ? 12.0 : 4.0};
    case Function::elu: return {1, 4};
    default: return {1, 8};  // softplus
  }
}

void workload(const Case& c, Workload& w) {
  const bool backward = is_backward(c.op);
  const Tolerance t = tolerance_of(function_of(c.op), backward, c.dtype);
  w["x"].fill = Fill::spread;
  w.tensors.back().rounding = t.rounding;
  w.tensors.back().arithmetic = t.arithmetic;
  const double bytes = double(c.size("n")) * double(size_of(c.dtype));
  w.cost = {.read = (backward ? 2 : 1) * bytes, .written = bytes};
}

// Every number that a two-byte format has, in the order of the bits.
std::optional<double> input(const Case& c, size_t tensor, int64_t index) {
  if (tensor != 0 || !c.is_distributed("every_number")) return std::nullopt;
  const uint16_t pattern = uint16_t(index);
  return load(c.dtype, &pattern, 0);
}

Status check(const Case& c) {
  if (c.is_distributed("every_number") && size_of(c.dtype) != 2)
    return Error{2, "the distribution every_number is for formats of two bytes, not for " +
                        std::string(name_of(c.dtype))};
  return Status::ok();
}

// What a rung must not do is to take a library's defaults for them.
std::vector<std::pair<std::string, double>> tested_parameters(Function f) {
  switch (f) {
    case Function::leaky_relu: return {{"slope", 0.02}};
    case Function::hardtanh: return {{"low", -1.5}, {"high", 0.5}};
    case Function::clip: return {{"low", -0.75}, {"high", 2.5}};
    case Function::elu: return {{"alpha", 1.25}};
    case Function::softplus: return {{"sharpness", 1.5}, {"threshold", 8}};
    default: return {};
  }
}

std::vector<Case> tests() {
  std::vector<Case> cases;
  for (int i = 0; i < 2 * kFunctions; ++i) {
    const auto parameters = tested_parameters(function_of(i));
    append(cases, crossed({.ops = {i},
                           .dtypes = kFloats,
                           .shapes = {{1031}},
                           .misalignments = {0},
                           .parameters = parameters}));
    append(cases, crossed({.ops = {i},
                           .dtypes = {Dtype::f16, Dtype::bf16},
                           .shapes = {{65536}},
                           .misalignments = {0},
                           .specials = false,
                           .parameters = parameters,
                           .distributions = {"every_number"}}));
    if (parameters.empty()) continue;
    append(cases, crossed({// defaults
                           .ops = {i},
                           .dtypes = {Dtype::f32},
                           .shapes = {{257}},
                           .misalignments = {0}}));
  }
  append(cases, crossed({.ops = {op(Function::gelu), op(Function::silu, true)},
                         .dtypes = kFloats,
                         .shapes = vector_shapes()}));
  for (const int i : {op(Function::softplus), op(Function::leaky_relu, true)})
    append(cases, crossed({.ops = {i},
                           .dtypes = kFloats,
                           .shapes = matrix_shapes(),
                           .padding = {0, 3},
                           .parameters = tested_parameters(function_of(i))}));
  // Tensors at different places of a pack; elements with gaps between them; x the other way round.
  for (const int i : {op(Function::relu), op(Function::tanh, true)})
    for (const Dtype dtype : kFloats) {
      cases.push_back({.op = i, .dtype = dtype, .shape = {1031}, .skew = 1});
      cases.push_back(
          {.op = i, .dtype = dtype, .shape = {31, 33}, .padding = 3, .padding_skew = 1});
      cases.push_back({.op = i, .dtype = dtype, .shape = {31, 33}, .step = 2});
      cases.push_back({.op = i, .dtype = dtype, .shape = {3, 31, 33}, .transposed = {"x"}});
    }
  return cases;
}

std::vector<Case> timings() {
  constexpr int kGelu = op(Function::gelu), kGeluBackward = op(Function::gelu, true);
  return {{.op = kGelu, .dtype = Dtype::bf16, .shape = {1 << 28}},
          {.op = kGelu, .dtype = Dtype::f32, .shape = {1 << 28}},
          {.op = kGelu, .dtype = Dtype::f16, .shape = {1 << 28}},
          {.op = kGelu, .dtype = Dtype::bf16, .shape = {1 << 24}},
          {.op = kGelu, .dtype = Dtype::bf16, .shape = {100'000'007}},
          {.op = kGelu, .dtype = Dtype::bf16, .shape = {8191, 8193}},
          {.op = kGeluBackward, .dtype = Dtype::bf16, .shape = {1 << 28}},
          {.op = kGeluBackward, .dtype = Dtype::f32, .shape = {1 << 28}}};
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "y = f(x); backward: dx = dy f'(x)",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.op = op(Function::gelu), .dtype = Dtype::bf16, .shape = {1 << 19}},
          .input = input,
          .check = check};
}

}  // namespace ridge::activation
