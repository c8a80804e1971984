#include "ladder/cases.h"

#include "kernels/adamw/adamw.h"
#include "ladder/family.h"

namespace ridge::adamw {
namespace {

// Ends of the tensors that share the arrays of a case: as uneven as a model's, with tiny ones and
// empty ones between large ones.
std::vector<int64_t> ends_of(int64_t n, int64_t tensors) {
  constexpr int64_t kShares[] = {16, 1, 0, 23, 1, 5, 48, 0, 3, 11};  // and again
  const auto share = [&](int64_t i) { return kShares[size_t(i) % std::size(kShares)]; };
  int64_t all = 0;
  for (int64_t i = 0; i < tensors; ++i) all += share(i);
  std::vector<int64_t> ends;
  int64_t shares = 0;
  for (int64_t i = 0; i < tensors; ++i) {
    shares += share(i);
    ends.push_back(int64_t(double(n) * double(shares) / double(all)));
  }
  ends.back() = n;
  return ends;
}

// One call for each tensor: the arrays are cut across their first dimension.
std::vector<Call> group(const Case& c, const Call& whole, std::vector<Tensor>& views) {
  const int64_t tensors = c.size("tensors");
  if (tensors <= 1) return {};
  const size_t arrays = c.def->tensors.size();
  views.resize(size_t(tensors) * arrays);
  std::vector<Call> calls(size_t(tensors), whole);
  int64_t begin = 0;
  const auto ends = ends_of(whole["weight"].shape[0], tensors);
  for (size_t i = 0; i < calls.size(); ++i) {
    for (size_t t = 0; t < arrays; ++t) {
      if (!whole.tensors[t]) continue;
      Tensor& part = views[i * arrays + t];
      part = *whole.tensors[t];
      part.shape[0] = ends[i] - begin;
      part.data =
          static_cast<char*>(part.data) + begin * part.strides[0] * int64_t(size_of(part.dtype));
      calls[i].tensors[t] = &part;
    }
    begin = ends[i];
  }
  return calls;
}

Status check(const Case& c) {
  if (c.size("tensors") < 1 || c.sizes.pack_rank[0] < 1)
    return Error{2, "adamw takes at least one dimension, and cuts it into at least one tensor"};
  return Status::ok();
}

void workload(const Case& c, Workload& w) {
  const bool wide = c.dtype == Dtype::f32;
  // Roundings, those of the constants included: m has 3, v 4 (all of one sign); w those of m and
  // half of v's, the root, its scale, the sum, the quotient, the rate and the last sum.
  w["m"].arithmetic = 3;
  w["v"].arithmetic = 4;
  w["v"].fill = Fill::positive;
  w["weight"].arithmetic = wide ? 12 : 13;
  if (wide) {
    w.tensors.pop_back();  // the master
  } else {
    w["master"].arithmetic = 12;
    w["weight"].role = Role::out;
  }
  const double n = double(c.size("n"));
  w.cost = {.read = n * double(12 + size_of(c.dtype)), .written = n * (wide ? 12 : 14)};
}

std::vector<Case> tests() {
  const std::vector<Dtype> dtypes = {Dtype::f32, Dtype::bf16};
  // Late and early steps: the corrections of the bias go from large to none.
  const auto at = [](double step) {
    return std::vector<std::pair<std::string, double>>{
        {"lr", 3e-3}, {"weight_decay", 0.1}, {"step", step}};
  };
  std::vector<Case> cases = crossed({.dtypes = dtypes,
                                     .shapes = vector_shapes(),
                                     .misalignments = {0, 1, 2},
                                     .parameters = at(101)});
  for (const double step : {1, 201, 401})
    append(cases, crossed({.dtypes = dtypes,
                           .shapes = {{9}, {1031}, {31, 33, 1}},
                           .misalignments = {0},
                           .padding = {0, 3},
                           .parameters = at(step)}));
  append(cases,
         crossed({.dtypes = dtypes,
                  .shapes = {{257}},
                  .misalignments = {0},
                  .parameters = {{"beta1", 0.8}, {"beta2", 0.95}, {"eps", 1e-3}, {"step", 3}}}));
  append(cases, crossed({.dtypes = dtypes, .shapes = {{257}}, .misalignments = {0}}));  // defaults
  append(cases, crossed({// nothing is kept of m and v, and nothing decays
                         .dtypes = dtypes,
                         .shapes = {{257}},
                         .misalignments = {0},
                         .specials = false,
                         .parameters = {{"beta1", 0}, {"beta2", 0}, {"weight_decay", 0}}}));
  // More tensors than a table of the third rung holds; fewer than elements, and more than those.
  append(cases, crossed({.dtypes = dtypes,
                         .shapes = {{0, 100}, {50, 100}, {8192, 100}, {40009, 100}, {1031, 2}},
                         .parameters = at(201)}));
  for (const Dtype dtype : dtypes)  // the arrays of a tensor at different places of a pack
    for (const int64_t tensors : {1, 100}) {
      Case c = {.dtype = dtype, .shape = {8192, tensors}, .parameters = at(301)};
      c.skew = 1;
      cases.push_back(c);
      c.specials = true;
      cases.push_back(c);
      c.specials = false, c.skew = 0;
      c.shape = {97, 33, tensors}, c.padding = 3, c.padding_skew = 1;
      cases.push_back(c);
    }
  return cases;
}

std::vector<Case> timings() {
  return {{.dtype = Dtype::f32, .shape = {1 << 28}},
          {.dtype = Dtype::bf16, .shape = {1 << 28}},
          {.dtype = Dtype::f32, .shape = {1 << 24}},
          {.dtype = Dtype::f32, .shape = {100'000'007}},
          {.dtype = Dtype::f32, .shape = {1 << 28, 100}},
          {.dtype = Dtype::bf16, .shape = {1 << 24, 100}}};
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "one step of AdamW; bf16: weights with an f32 master",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.shape = {1 << 18, 100}},
          .check = check,
          .group = group};
}

}  // namespace ridge::adamw
