#include "ladder/cases.h"

#include "kernels/rearrange/rearrange.h"
#include "ladder/family.h"

namespace ridge::rearrange {
namespace {

enum { kReverse, kSwap, kInterleave };  // operators.cpp

const Formats kTested = {Dtype::f32, Dtype::bf16, Dtype::u8};
const std::vector<std::pair<std::string, std::string>> kInPlace = {{"out", "in"}};

void workload(const Case& c, Workload& w) {
  for (TensorSpec& t : w.tensors) {
    fill_for_moves(t);
    t.rounding = t.arithmetic = 0;  // bits are moved
  }
  // Each element is read once and written once.
  const double arrays = c.op == kReverse ? 1 : 2;
  const double bytes = arrays * double(count(c.shape)) * double(size_of(c.dtype));
  w.cost = {.read = bytes, .written = bytes};
}

std::vector<Case> tests() {
  // Around packs, around tiles of 1024 elements and of 8 KB, and several of them.
  Crossing crossing = {
      .ops = {kReverse, kSwap, kInterleave},
      .dtypes = kTested,
      .shapes = {{0}, {1}, {2}, {15}, {16}, {33}, {1023}, {1025}, {4099}, {16384}, {40009}},
      .specials = false};
  std::vector<Case> cases = crossed(crossing);
  crossing.ops = {kReverse};
  crossing.same = kInPlace;
  append(cases, crossed(crossing));
  const auto add = [&](Case c) {
    c.seed = cases.size() + 1;
    cases.push_back(std::move(c));
  };
  for (const Dtype dtype : kTested)
    for (const int64_t n : {31, 20011}) {
      for (const int op : {kReverse, kSwap, kInterleave})
        for (const int skew : {1, 2, 7})
          add({.op = op, .dtype = dtype, .shape = {n}, .misalignment = 1, .skew = skew});
      for (const int misalignment : {2, 7})
        add({.dtype = dtype, .shape = {n}, .misalignment = misalignment, .same = kInPlace});
    }
  // Rows, with gaps where the kernels take them one by one; elements of 8 bytes as two of 4.
  add({.op = kSwap, .shape = {7, 131}, .padding = 1, .padding_skew = 4});
  add({.op = kSwap, .dtype = Dtype::f64, .shape = {7, 131}, .misalignment = 1, .padding = 3});
  add({.op = kSwap, .shape = {7, 131}, .transposed = {"x", "y"}});
  add({.op = kInterleave, .shape = {7, 131}, .misalignment = 1});
  return cases;
}

std::vector<Case> timings() {
  std::vector<Case> cases;
  const auto add = [&](const Case& like) {
    for (const auto& [dtype, n] : {std::pair<Dtype, int64_t>{Dtype::f32, 1 << 28},
                                   {Dtype::bf16, 1 << 28},
                                   {Dtype::u8, 1 << 28},
                                   {Dtype::f32, 100'000'007},
                                   {Dtype::u8, 300'000'007}}) {
      cases.push_back(like);
      cases.back().dtype = dtype;
      cases.back().shape = {n};
    }
  };
  add({.op = kReverse});
  add({.op = kReverse, .same = kInPlace});
  add({.op = kSwap});
  add({.op = kInterleave});
  return cases;
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "elements change places: turned round, exchanged, shuffled together",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.shape = {1 << 20}}};
}

}  // namespace ridge::rearrange
