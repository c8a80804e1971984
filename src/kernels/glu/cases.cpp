#include "ladder/cases.h"

#include "kernels/glu/family.h"

namespace ridge::glu {

Family::Family() : Erased(glu::rungs()) {
  family = "glu";
  summary = "out = silu(gate) up, or gelu(gate) up; packed: gate and up are the halves of a row";
  operators = {"swiglu",        "geglu",        "swiglu_bwd",        "geglu_bwd",
               "swiglu_packed", "geglu_packed", "swiglu_packed_bwd", "geglu_packed_bwd"};
  dtypes = {Dtype::f32, Dtype::f16, Dtype::bf16};
  shape_help = "ROWSxCOLUMNS";
  // Packed rows of an odd width put gate and up at different places of a 16-byte pack.
  tests = crossed({.ops = {0, kBackward | kGelu, kPacked | kGelu, kPacked | kBackward},
                   .dtypes = dtypes,
                   .shapes = matrix_shapes(),
                   .padding = {0, 3}});
  append(tests, crossed({.ops = {kGelu, kBackward, kPacked, kPacked | kBackward | kGelu},
                         .dtypes = dtypes,
                         .shapes = {{3, 8}, {17, 257}}}));
  timings = {{.dtype = Dtype::bf16, .shape = {8192, 16384}},
             {.dtype = Dtype::f32, .shape = {8192, 16384}},
             {.dtype = Dtype::bf16, .shape = {8191, 8193}},
             {.op = kBackward, .dtype = Dtype::bf16, .shape = {8192, 16384}},
             {.op = kPacked, .dtype = Dtype::bf16, .shape = {8192, 14336}},
             {.op = kPacked, .dtype = Dtype::bf16, .shape = {8191, 8193}},
             {.op = kPacked | kBackward, .dtype = Dtype::bf16, .shape = {8192, 14336}},
             {.op = kGelu, .dtype = Dtype::bf16, .shape = {8192, 16384}},
             {.op = kGelu | kBackward, .dtype = Dtype::bf16, .shape = {8192, 16384}}};
  tour = {.dtype = Dtype::bf16, .shape = {256, 2048}};
}

Status Family::check(const Case& c) const { return check_case(*this, c, 2); }

Workload Family::workload(const Case& c) const {
  // f as in the activation ladder, and the products after it: one, or two for dgate.
  const bool narrow = c.dtype != Dtype::f32;
  const double rounding = narrow ? 1.125 : 1, arithmetic = narrow ? 2 : 14;
  const auto in = [&](const char* name, int64_t halves, Fill fill) -> TensorSpec {
    return {
        .name = name, .dtype = c.dtype, .shape = {c.shape[0], halves * c.shape[1]}, .fill = fill};
  };
  const auto out = [&](const char* name, int64_t halves) -> TensorSpec {
    return {.name = name,
            .dtype = c.dtype,
            .shape = {c.shape[0], halves * c.shape[1]},
            .role = Role::out,
            .rounding = rounding,
            .arithmetic = arithmetic};
  };
  const bool packed = c.op & kPacked, backward = c.op & kBackward;
  const double one = double(count(c.shape)) * double(size_of(c.dtype));
  Workload w = {.tensors = {}, .cost = {.read = 2 * one, .written = one}};
  if (packed) w.tensors = {in("gate_up", 2, Fill::spread)};
  else w.tensors = {in("gate", 1, Fill::spread), in("up", 1, Fill::uniform)};
  if (!backward) {
    w.tensors.push_back(out("out", 1));
    return w;
  }
  w.cost = {.read = 3 * one, .written = 2 * one};
  w.tensors.push_back(in("dy", 1, Fill::uniform));
  if (packed) {
    w.tensors.push_back(out("dgate_up", 2));
  } else {
    w.tensors.push_back(out("dgate", 1));
    w.tensors.push_back(out("dup", 1));
  }
  return w;
}

Args Family::bind(const Case& c, std::span<void* const> t) {
  const int64_t cols = c.shape[1], stride = cols + c.padding;
  const bool packed = c.op & kPacked;
  const int64_t doubled = packed ? 2 * cols + c.padding : stride;
  const auto half = [&](void* p) {
    return static_cast<char*>(p) + cols * int64_t(size_of(c.dtype));
  };
  Args a = {.f = c.op & kGelu ? Gate::gelu : Gate::silu,
            .backward = bool(c.op & kBackward),
            .gate = t[0],
            .up = packed ? half(t[0]) : t[1],
            .rows = c.shape[0],
            .cols = cols,
            .gate_stride = doubled,
            .up_stride = doubled,
            .dy_stride = stride,
            .out_stride = stride,
            .dgate_stride = doubled,
            .dup_stride = doubled,
            .dtype = c.dtype};
  if (!a.backward) {
    a.out = t.back();
  } else {
    a.dy = t[packed ? 1 : 2];
    a.dgate = t[packed ? 2 : 3];
    a.dup = packed ? half(t[2]) : t[4];
  }
  return a;
}

}  // namespace ridge::glu
