#include "ladder/cases.h"

#include "core/number.h"
#include "kernels/activation/family.h"

namespace ridge::activation {
namespace {

constexpr int op(Function f, bool backward = false) { return int(f) + (backward ? kFunctions : 0); }

// Two numbers a function: what a rung must not do is to take a library's defaults for them.
struct Parameters {
  float alpha, beta;
};
Parameters parameters_of(Function f) {
  switch (f) {
    case Function::leaky_relu: return {0.01f, 0};
    case Function::hardtanh: return {-1, 1};
    case Function::clip: return {-0.75f, 2.5f};
    case Function::elu: return {1.25f, 0};
    case Function::softplus: return {1.5f, 8};
    default: return {0, 0};
  }
}

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

constexpr int64_t kPatterns = 65536;

}  // namespace

Family::Family() : Erased(activation::rungs()) {
  family = "activation";
  summary = "out = f(x); backward: out = dy f'(x)";
  const char* const names[kFunctions] = {"relu",    "leaky_relu", "hardtanh", "clip",
                                         "sigmoid", "tanh",       "gelu",     "gelu_tanh",
                                         "silu",    "elu",        "softplus"};
  for (const char* name : names) operators.push_back(name);
  for (const char* name : names) operators.push_back(std::string(name) + "_bwd");
  dtypes = {Dtype::f32, Dtype::f16, Dtype::bf16};
  shape_help = "N, or ROWSxCOLUMNS";

  std::vector<int> all;
  for (int i = 0; i < 2 * kFunctions; ++i) all.push_back(i);
  tests = crossed({.ops = all, .dtypes = dtypes, .shapes = {{1031}}, .misalignments = {0}});
  // Every number that a two-byte format has, once: see `input`.
  append(tests, crossed({.ops = all,
                         .dtypes = {Dtype::f16, Dtype::bf16},
                         .shapes = {{kPatterns}},
                         .misalignments = {0},
                         .specials = false}));
  append(tests, crossed({.ops = {op(Function::gelu), op(Function::silu, true)},
                         .dtypes = dtypes,
                         .shapes = vector_shapes()}));
  append(tests, crossed({.ops = {op(Function::softplus), op(Function::leaky_relu, true)},
                         .dtypes = dtypes,
                         .shapes = matrix_shapes(),
                         .padding = {0, 3}}));

  timings = {{.op = op(Function::gelu), .dtype = Dtype::bf16, .shape = {1 << 28}},
             {.op = op(Function::gelu), .dtype = Dtype::f32, .shape = {1 << 28}},
             {.op = op(Function::gelu), .dtype = Dtype::f16, .shape = {1 << 28}},
             {.op = op(Function::gelu), .dtype = Dtype::bf16, .shape = {1 << 24}},
             {.op = op(Function::gelu), .dtype = Dtype::bf16, .shape = {100'000'007}},
             {.op = op(Function::gelu), .dtype = Dtype::bf16, .shape = {8191, 8193}},
             {.op = op(Function::gelu, true), .dtype = Dtype::bf16, .shape = {1 << 28}},
             {.op = op(Function::gelu, true), .dtype = Dtype::f32, .shape = {1 << 28}}};
  tour = {.op = op(Function::gelu), .dtype = Dtype::bf16, .shape = {1 << 19}};
}

Status Family::check(const Case& c) const {
  return check_case(*this, c, c.shape.size() > 1 ? 2 : 1);
}

Workload Family::workload(const Case& c) const {
  const Tolerance t = tolerance_of(function_of(c), is_backward(c), c.dtype);
  const double bytes = double(count(c.shape)) * double(size_of(c.dtype));
  Workload w = {
      .tensors = {{.name = "x", .dtype = c.dtype, .shape = c.shape, .fill = Fill::spread}},
      .cost = {.read = bytes, .written = bytes}};
  if (is_backward(c)) {
    w.tensors.push_back({.name = "dy", .dtype = c.dtype, .shape = c.shape});
    w.cost.read += bytes;
  }
  w.tensors.push_back({.name = is_backward(c) ? "dx" : "y",
                       .dtype = c.dtype,
                       .shape = c.shape,
                       .role = Role::out,
                       .rounding = t.rounding,
                       .arithmetic = t.arithmetic});
  return w;
}

std::optional<double> Family::input(const Case& c, size_t tensor, int64_t index) const {
  if (tensor != 0 || size_of(c.dtype) != 2 || c.shape != std::vector<int64_t>{kPatterns})
    return std::nullopt;
  const uint16_t pattern = uint16_t(index);
  return load(c.dtype, &pattern, 0);
}

Args Family::bind(const Case& c, std::span<void* const> t) {
  const int64_t cols = c.shape.back(), stride = cols + c.padding;
  const Parameters p = parameters_of(function_of(c));
  return {.function = function_of(c),
          .backward = is_backward(c),
          .x = t[0],
          .dy = is_backward(c) ? t[1] : nullptr,
          .out = t.back(),
          .rows = c.shape.size() > 1 ? c.shape[0] : 1,
          .cols = cols,
          .x_stride = stride,
          .dy_stride = stride,
          .out_stride = stride,
          .dtype = c.dtype,
          .alpha = p.alpha,
          .beta = p.beta};
}

}  // namespace ridge::activation
