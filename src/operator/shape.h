// Shapes in named sizes, as descriptions write them, and what they say of real tensors.
//
//   rows, cols                  two dimensions
//   rows..., cols               any number of dimensions (also none) before the last: `rows` of
//                               them together
//   2*cols  dim/2  segments+1   a size that follows from another
//   ceil(n/32)                  the same, rounded up
//   3                           a number; 1 alone: one element, whatever its dimensions
//   outer..., length, inner...  the parameter `axis` says which dimension `length` is
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/status.h"
#include "operator/description.h"
#include "ridge/tensor.h"

namespace ridge {

// Reads the notation; what is wrong with it is a programmer's error and ends the process.
ShapePattern parse_shape_pattern(const OperatorDef& op, const std::string& text);

// The sizes of an operator's dimensions. Of a pack: its dimensions, and their product as the size.
struct Sizes {
  static constexpr int64_t kUnknown = -1;
  std::array<int64_t, kMostDimensions> size;
  std::array<std::array<int64_t, kMaxRank>, kMostDimensions> pack = {};
  std::array<int, kMostDimensions> pack_rank = {};

  Sizes() { size.fill(kUnknown); }
  bool knows(int dimension) const { return size[size_t(dimension)] != kUnknown; }
};

struct Shape {
  int rank = 0;  // beyond kMaxRank: sizes are missing, and no tensor fits
  std::array<int64_t, kMaxRank> size = {};
};
// The shape that a tensor of this pattern has.
Shape shape_of(const ShapePattern& pattern, const Sizes& sizes);

// Learns sizes from a tensor; false where it has the wrong number of dimensions. `axis` is taken
// where the pattern has two packs. Sizes that are known already are left as they are.
bool learn(const ShapePattern& pattern, const Tensor& tensor, int axis, Sizes& sizes);

// Whether a tensor has the shape that the sizes ask for.
bool fits(const ShapePattern& pattern, const Tensor& tensor, const Sizes& sizes);

}  // namespace ridge
