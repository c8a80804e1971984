#include "ladder/cases.h"
#include "kernels/rearrange/family.h"

namespace ridge::rearrange {

Family::Family() : Erased(rearrange::rungs()) {
  family = "rearrange";
  summary = "elements change places: turned round, exchanged, shuffled together";
  operators = {"reverse_array", "reverse_in_place", "swap", "interleave"};  // in the order of Op
  dtypes = {Dtype::f32, Dtype::bf16, Dtype::u8};
  shape_help = "N, the length of each input";
  // Around packs, around tiles of 1024 elements and of 8 KB, and several of them.
  Shapes shapes = {{0}, {1}, {2}, {15}, {16}, {33}, {1023}, {1025}, {4099}, {16384}, {40009}};
  tests = crossed({.ops = {0, 1, 2, 3}, .dtypes = dtypes, .shapes = shapes, .specials = false});
  for (const int op : {0, 1, 2, 3})
    for (const Dtype dtype : dtypes)
      for (const int skew : {1, 2, 7})
        for (const int64_t n : {31, 20011})
          tests.push_back({.op = op,
                           .dtype = dtype,
                           .shape = {n},
                           .seed = tests.size() + 1,
                           .misalignment = 1,
                           .skew = skew});
  for (const int op : {0, 1, 2, 3}) {
    timings.push_back({.op = op, .dtype = Dtype::f32, .shape = {1 << 28}});
    timings.push_back({.op = op, .dtype = Dtype::bf16, .shape = {1 << 28}});
    timings.push_back({.op = op, .dtype = Dtype::u8, .shape = {1 << 28}});
    timings.push_back({.op = op, .dtype = Dtype::f32, .shape = {100'000'007}});
    timings.push_back({.op = op, .dtype = Dtype::u8, .shape = {300'000'007}});
  }
  tour = {.shape = {1 << 20}};
}

Status Family::check(const Case& c) const { return check_case(*this, c, 1); }

Workload Family::workload(const Case& c) const {
  const auto tensor = [&](const char* name, Role role, int64_t elements) {
    // Bits are moved: exact.
    return TensorSpec{.name = name,
                      .dtype = c.dtype,
                      .shape = {elements},
                      .role = role,
                      .fill = c.dtype == Dtype::u8 ? Fill::bytes : Fill::uniform,
                      .rounding = 0,
                      .arithmetic = 0};
  };
  const int64_t n = c.shape[0];
  Workload w;
  switch (Op(c.op)) {
    case Op::reverse: w.tensors = {tensor("a", Role::in, n), tensor("x", Role::out, n)}; break;
    case Op::reverse_in_place: w.tensors = {tensor("x", Role::inout, n)}; break;
    case Op::swap: w.tensors = {tensor("x", Role::inout, n), tensor("y", Role::inout, n)}; break;
    case Op::interleave:
      w.tensors = {tensor("a", Role::in, n), tensor("b", Role::in, n),
                   tensor("x", Role::out, 2 * n)};
  }
  const double half = bytes({.op = Op(c.op), .n = n, .dtype = c.dtype}) / 2;
  w.cost = {.read = half, .written = half};
  return w;
}

Args Family::bind(const Case& c, std::span<void* const> t) {
  Args a = {.op = Op(c.op), .n = c.shape[0], .dtype = c.dtype};
  switch (a.op) {
    case Op::reverse: a.a = t[0], a.x = t[1]; break;
    case Op::reverse_in_place: a.x = t[0]; break;
    case Op::swap: a.x = t[0], a.y = t[1]; break;
    case Op::interleave: a.a = t[0], a.b = t[1], a.x = t[2];
  }
  return a;
}

}  // namespace ridge::rearrange
