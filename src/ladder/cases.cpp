#include "ladder/cases.h"

#include <algorithm>

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
  for (const int op : x.ops)
    for (const Dtype dtype : x.dtypes)
      for (const auto& shape : x.shapes)
        for (const int64_t padding : x.padding) {
          const Case plain = {.op = op, .dtype = dtype, .shape = shape, .padding = padding};
          for (const int misalignment : x.misalignments) {
            Case c = plain;
            c.misalignment = misalignment;
            add(c);
          }
          if (x.specials && count(shape) > 0) {
            Case c = plain;
            c.specials = true;
            add(c);
          }
        }
  return cases;
}

void append(std::vector<Case>& cases, std::vector<Case> more) {
  cases.insert(cases.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
}

Status check_case(const Ladder& ladder, const Case& c, int rank) {
  const std::string& name = ladder.operators[size_t(c.op)];
  if (int(c.shape.size()) != rank)
    return Error{2, name + " takes a shape of " + std::to_string(rank) +
                        (rank == 1 ? " number" : " numbers") + " (" + ladder.shape_help +
                        "), not " + shape_text(c.shape)};
  if (std::any_of(c.shape.begin(), c.shape.end(), [](int64_t n) { return n < 0; }))
    return Error{2, "a shape has no negative numbers: " + shape_text(c.shape)};
  if (std::find(ladder.dtypes.begin(), ladder.dtypes.end(), c.dtype) == ladder.dtypes.end()) {
    std::string known;
    for (const Dtype d : ladder.dtypes)
      known += (known.empty() ? "" : ", ") + std::string(name_of(d));
    return Error{2, name + " has no " + name_of(c.dtype) + "; it has " + known};
  }
  return Status::ok();
}

uint64_t hash(uint64_t seed, uint64_t index) {
  uint64_t z = (seed ^ 0x2545f4914f6cdd1du) * 0x9e3779b97f4a7c15u + index * 0xd1342543de82ef95u;
  z = (z ^ (z >> 29)) * 0xbf58476d1ce4e5b9u;
  return z ^ (z >> 32);
}
double unit(uint64_t bits) { return double(bits >> 11) * 0x1p-53; }

int64_t count(std::span<const int64_t> shape) {
  int64_t n = 1;
  for (const int64_t size : shape) n *= size;
  return n;
}

}  // namespace ridge
