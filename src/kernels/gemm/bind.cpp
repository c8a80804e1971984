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

// A tensor of the call: `own` dimensions of a matrix or a vector, and the batch before them. It may
// be left out.
struct Part {
  const Tensor* tensor;
  int own = 2;

  int batch_dims() const { return tensor->rank - own; }
  // Its first element at one place of the dimensions before `first`, and the step of the others.
  const void* at(int first, std::span<const int64_t> place) const {
    int64_t offset = 0;
    for (int d = 0; d < first; ++d) offset += place[size_t(d)] * tensor->strides[size_t(d)];
    return tensor->data
               ? static_cast<const char*>(tensor->data) + offset * int64_t(size_of(tensor->dtype))
               : nullptr;
  }
  int64_t batch_step(int first) const { return ops::merged(*tensor, first, batch_dims())->stride; }
};

// From which dimension on the batch merges to one with a single step, in all tensors.
int merged_from(std::span<const Part> parts) {
  int first = parts[0].batch_dims();
  const auto merges = [&](int from) {
    return std::all_of(parts.begin(), parts.end(), [&](const Part& p) {
      return !p.tensor || ops::merged(*p.tensor, from, p.batch_dims()).has_value();
    });
  };
  while (first > 0 && merges(first - 1)) --first;
  return first;
}

Matrices matrices(const Part& p, int first, std::span<const int64_t> place) {
  if (!p.tensor) return {};
  const Tensor& t = *p.tensor;
  return {.data = p.at(first, place),
          .row_step = t.strides[size_t(t.rank - 2)],
          .col_step = t.strides[size_t(t.rank - 1)],
          .batch_step = p.batch_step(first)};
}
Vectors vectors_of(const Part& p, int first, std::span<const int64_t> place) {
  if (!p.tensor) return {};
  return {.data = p.at(first, place), .batch_step = p.batch_step(first)};
}

Status check(const Call& call) {
  ops::Check check(call.op().name.c_str());
  const Tensor &a = call["a"], &d = call["d"];
  check.that(d.dtype == a.dtype || d.dtype == Dtype::f32, [&] {
    return std::string("d is ") + name_of(d.dtype) + " but a is " + name_of(a.dtype) +
           "; d can be f32, or have the format of a";
  });
  if (call.op().index != kSwiglu)
    check.that(call.number("beta") == 0 || call.find("c"),
               [&] { return "beta is not 0, but c is missing"; });
  return check.status();
}

// Of the operators that have them; a vector that is left out is null.
struct Wanted {
  const Tensor *bias = nullptr, *row_scale = nullptr, *col_scale = nullptr, *amax = nullptr;
  Epilogue epilogue = {};
  float beta = 0;
  bool may_round = false;

  explicit Wanted(const Call& call) {
    if (call.op().index == kSwiglu) {
      bias = call.find("bias");
      epilogue.swiglu = true;
      return;
    }
    beta = float(call.number("beta"));
    if (call.op().index == kGemm) may_round = call.integer("precision") == kTf32;
    if (call.op().index != kFused) return;
    bias = call.find("bias");
    row_scale = call.find("row_scale");
    col_scale = call.find("col_scale");
    amax = call.find("amax");
    epilogue.activation = Activation(call.integer("activation"));
  }
};

}  // namespace

Status bind(const Call& call, Launch<Args>& launch) {
  if (const Status s = check(call); !s) return s;
  Tensor a = call["a"], b = call["b"], d = call["d"];
  const Wanted wanted(call);
  const bool adds = wanted.beta != 0;
  Tensor c = adds ? *call.find("c") : d;
  // Columns one after another: the rows of transpose(d) = transpose(b) transpose(a). Only gemm
  // itself takes such a d.
  const auto last = size_t(d.rank - 1);
  if (d.shape[last] > 1 && d.strides[last] != 1) {
    std::swap(a, b);
    for (Tensor* t : {&a, &b, &c, &d}) *t = turned(*t);
  }
  Args args = {.m = d.shape[last - 1],
               .n = b.shape[last],
               .k = a.shape[last],
               .alpha = float(call.number("alpha")),
               .beta = wanted.beta,
               .epilogue = wanted.epilogue,
               .dtype = a.dtype,
               .result = d.dtype,
               .may_round = wanted.may_round};
  // Rows without columns still have a largest number: 0.
  if (d.elements() == 0 && !(wanted.amax && wanted.amax->elements() > 0)) return Status::ok();

  enum { kA, kB, kD, kC, kBias, kRowScale, kColScale, kAmax };
  const Part parts[] = {{&a},
                        {&b},
                        {&d},
                        {adds ? &c : nullptr},
                        {wanted.bias, 1},
                        {wanted.row_scale, 1},
                        {wanted.col_scale, 1},
                        {wanted.amax, 1}};
  const int first = merged_from(parts);
  std::array<int64_t, kMaxRank> place = {};
  while (true) {
    args.a = matrices(parts[kA], first, place);
    args.b = matrices(parts[kB], first, place);
    args.c = matrices(parts[kC], first, place);
    const Matrices out = matrices(parts[kD], first, place);
    args.d = const_cast<void*>(out.data);
    args.d_step = args.m > 1 ? out.row_step : columns_of_d(args);
    args.d_batch_step = out.batch_step;
    args.batch = ops::merged(d, first, d.rank - 2)->size;
    args.epilogue.bias = vectors_of(parts[kBias], first, place);
    args.epilogue.row_scale = vectors_of(parts[kRowScale], first, place);
    args.epilogue.col_scale = vectors_of(parts[kColScale], first, place);
    const Vectors amax = vectors_of(parts[kAmax], first, place);
    args.epilogue.amax = static_cast<float*>(const_cast<void*>(amax.data));
    args.epilogue.amax_step = amax.batch_step;
    if (const Status s = launch(args); !s) return s;
    int at = first - 1;
    while (at >= 0 && ++place[size_t(at)] == d.shape[size_t(at)]) place[size_t(at--)] = 0;
    if (at < 0) return Status::ok();
  }
}

}  // namespace ridge::gemm
