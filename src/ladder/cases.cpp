#include "ladder/cases.h"

#include <algorithm>

#include "core/mix.h"

namespace ridge {

Shapes vector_shapes() {
  return {{0}, {1}, {7}, {8}, {9}, {255}, {256}, {257}, {1031}, {8192}, {40009}};
}

Shapes matrix_shapes() {
  return {{0, 5}, {5, 0}, {1, 1},   {1, 257}, {257, 1},
          {3, 8}, {7, 9}, {31, 33}, {64, 64}, {37, 1031}};
}

std::vector<Case> crossed(const Crossing& x) {
  std::vector<Case> cases;
  uint64_t seed = 1;
  const auto add = [&](Case c) {
    c.seed = seed++;
    cases.push_back(std::move(c));
  };
  const auto add_all = [&](const Case& plain) {
    for (const int misalignment : x.misalignments) {
      Case c = plain;
      c.misalignment = misalignment;
      add(c);
    }
    if (!x.specials || count(plain.shape) == 0) return;
    Case c = plain;
    c.specials = true;
    add(c);
  };
  for (const int op : x.ops)
    for (const Dtype dtype : x.dtypes)
      for (const auto& shape : x.shapes)
        for (const int64_t padding : x.padding)
          for (const std::string& distribution : x.distributions)
            add_all({.op = op,
                     .dtype = dtype,
                     .shape = shape,
                     .skew = x.skew,
                     .padding = padding,
                     .padding_skew = x.padding_skew,
                     .same = x.same,
                     .parameters = x.parameters,
                     .distribution = distribution});
  return cases;
}

void append(std::vector<Case>& cases, std::vector<Case> more) {
  cases.insert(cases.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
}

void fill_for_moves(TensorSpec& tensor) {
  if (is_floating(tensor.dtype)) return;
  constexpr int kExactBits = 53;  // of a double, in which inputs are made
  const int bits = std::min(int(8 * size_of(tensor.dtype)), kExactBits);
  tensor.fill = Fill::index;
  tensor.limit = int64_t(1) << (tensor.dtype == Dtype::i32 ? bits - 1 : bits);
}

uint64_t hash(uint64_t seed, uint64_t index) {
  return mixed((seed ^ 0x2545f4914f6cdd1du) * kMixStep + index);
}
double unit(uint64_t bits) { return double(bits >> 11) * 0x1p-53; }
}  // namespace ridge
