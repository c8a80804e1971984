#include <algorithm>

#include "kernels/gemm/gemm.h"
#include "ladder/family.h"
#include "operator/layout.h"

namespace ridge::gemm {
namespace {

// A tensor whose last two dimensions have changed places.
Tensor turned(Tensor t) {
  std::swap(t.shape[size_t(t.rank - 1)], t.shape[size_t(t.rank - 2)]);
  std::swap(t.strides[size_t(t.rank - 1)], t.strides[size_t(t.rank - 2)]);
  return t;
}

// From which dimension on the batch merges to one with a single step, in all tensors.
int merged_from(std::span<const Tensor* const> tensors) {
  const int end = tensors[0]->rank - 2;
  int first = end;
  const auto merges = [&](int from) {
    return std::all_of(tensors.begin(), tensors.end(),
                       [&](const Tensor* t) { return ops::merged(*t, from, end).has_value(); });
  };
  while (first > 0 && merges(first - 1)) --first;
  return first;
}

// The matrices at one place of the dimensions before `first`.
Matrices matrices(const Tensor& t, int first, std::span<const int64_t> place) {
  int64_t offset = 0;
  for (int d = 0; d < first; ++d) offset += place[size_t(d)] * t.strides[size_t(d)];
  return {.data = t.data ? static_cast<const char*>(t.data) + offset * int64_t(size_of(t.dtype))
                         : nullptr,
          .row_step = t.strides[size_t(t.rank - 2)],
          .col_step = t.strides[size_t(t.rank - 1)],
          .batch_step = ops::merged(t, first, t.rank - 2)->stride};
}

Status check(const Call& call) {
  ops::Check check(call.op().name.c_str());
  const Tensor &a = call["a"], &d = call["d"];
  check.that(d.dtype == a.dtype || d.dtype == Dtype::f32, [&] {
    return std::string("d is ") + name_of(d.dtype) + " but a is " + name_of(a.dtype) +
           "; d can be f32, or have the format of a";
  });
  check.that(call.number("beta") == 0 || call.find("c"),
             [&] { return "beta is not 0, but c is missing"; });
  return check.status();
}

}  // namespace

Status bind(const Call& call, Launch<Args>& launch) {
  if (const Status s = check(call); !s) return s;
  Tensor a = call["a"], b = call["b"], d = call["d"];
  const bool adds = call.number("beta") != 0;
  Tensor c = adds ? *call.find("c") : d;
  // Columns one after another: the rows of transpose(d) = transpose(b) transpose(a).
  const auto last = size_t(d.rank - 1);
  if (d.shape[last] > 1 && d.strides[last] != 1) {
    std::swap(a, b);
    for (Tensor* t : {&a, &b, &c, &d}) *t = turned(*t);
  }
  Args args = {.m = d.shape[last - 1],
               .n = d.shape[last],
               .k = a.shape[last],
               .alpha = float(call.number("alpha")),
               .beta = float(call.number("beta")),
               .dtype = a.dtype,
               .result = d.dtype};
  if (d.elements() == 0) return Status::ok();

  const std::array<const Tensor*, 4> all = {&a, &b, &c, &d};
  const int first = merged_from(all);
  std::array<int64_t, kMaxRank> place = {};
  while (true) {
    args.a = matrices(a, first, place);
    args.b = matrices(b, first, place);
    args.c = adds ? matrices(c, first, place) : Matrices();
    const Matrices out = matrices(d, first, place);
    args.d = const_cast<void*>(out.data);
    args.d_step = args.m > 1 ? out.row_step : args.n;
    args.d_batch_step = out.batch_step;
    args.batch = ops::merged(d, first, d.rank - 2)->size;
    if (const Status s = launch(args); !s) return s;
    int at = first - 1;
    while (at >= 0 && ++place[size_t(at)] == d.shape[size_t(at)]) place[size_t(at--)] = 0;
    if (at < 0) return Status::ok();
  }
}

}  // namespace ridge::gemm
