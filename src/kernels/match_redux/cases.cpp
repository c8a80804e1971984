#include "ladder/cases.h"
#include "kernels/match_redux/family.h"

namespace ridge::match_redux {
namespace {

// Few keys, so that many are equal; and so many that hardly any are.
enum Op { kFew, kMany };

}  // namespace

Family::Family() : Erased(match_redux::rungs()) {
  family = "match_redux";
  summary = "how often each key occurs among 32";
  operators = {"match_redux", "match_redux_distinct"};
  dtypes = {Dtype::u32};
  shape_help = "N";
  tests = crossed({.ops = {kFew, kMany},
                   .dtypes = dtypes,
                   .shapes = {{0}, {1}, {31}, {32}, {33}, {257}, {20011}},
                   .specials = false});
  timings = {{.op = kFew, .dtype = Dtype::u32, .shape = {1 << 27}},
             {.op = kMany, .dtype = Dtype::u32, .shape = {1 << 27}}};
  tour = {.dtype = Dtype::u32, .shape = {1 << 16}};
}

Status Family::check(const Case& c) const { return check_case(*this, c, 1); }

Workload Family::workload(const Case& c) const {
  const int64_t n = c.shape[0];
  const auto exact = [&](const char* name, int64_t elements) {
    return TensorSpec{.name = name,
                      .dtype = c.dtype,
                      .shape = {elements},
                      .role = Role::out,
                      .rounding = 0,
                      .arithmetic = 0};
  };
  return {.tensors = {{.name = "keys",
                       .dtype = c.dtype,
                       .shape = {n},
                       .fill = Fill::index,
                       .limit = c.op == kFew ? 10 : int64_t(1) << 32},
                      exact("counts", n),
                      exact("most", groups(n))},
          .cost = {.read = 4.0 * double(n), .written = 4.0 * double(n + groups(n))}};
}

Args Family::bind(const Case& c, std::span<void* const> t) {
  return {.keys = static_cast<const uint32_t*>(t[0]),
          .counts = static_cast<uint32_t*>(t[1]),
          .most = static_cast<uint32_t*>(t[2]),
          .n = c.shape[0],
          .dtype = c.dtype};
}

}  // namespace ridge::match_redux
