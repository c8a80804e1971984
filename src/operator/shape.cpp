#include "operator/shape.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace ridge {
namespace {

[[noreturn]] void misspelt(const OperatorDef& op, const std::string& text, const char* why) {
  std::fprintf(stderr, "ridge: the description of %s has the shape '%s': %s\n", op.name.c_str(),
               text.c_str(), why);
  std::abort();
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

// 2*cols, dim/2, ceil(n/32), segments+1, cols..., 3
Extent parse_term(const OperatorDef& op, const std::string& text, std::string term) {
  Extent extent;
  if (is_number(term)) {
    extent.plus = std::stoll(term);
    return extent;
  }
  if (term.ends_with("...")) {
    extent.pack = true;
    term.resize(term.size() - 3);
  }
  if (term.starts_with("ceil(") && term.ends_with(")")) {
    extent.up = true;
    term = term.substr(5, term.size() - 6);
  }
  if (const size_t star = term.find('*'); star != term.npos) {
    extent.times = std::stoll(term.substr(0, star));
    term = term.substr(star + 1);
  }
  if (const size_t plus = term.find('+'); plus != term.npos) {
    extent.plus = std::stoll(term.substr(plus + 1));
    term.resize(plus);
  }
  if (const size_t slash = term.find('/'); slash != term.npos) {
    extent.over = std::stoll(term.substr(slash + 1));
    term.resize(slash);
  }
  extent.dimension = op.dimension_index(term);
  if (extent.dimension < 0) misspelt(op, text, "it names a dimension that the operator lacks");
  return extent;
}

int packs_of(const ShapePattern& pattern) {
  return int(std::count_if(pattern.begin(), pattern.end(), [](const Extent& e) { return e.pack; }));
}
bool is_one_element(const ShapePattern& pattern) {
  return pattern.size() == 1 && pattern[0].dimension < 0 && pattern[0].plus == 1;
}

// How many dimensions of a tensor each extent takes; false where they do not add up.
using Ranks = std::array<int, kMaxRank>;
bool split(const ShapePattern& pattern, const Tensor& tensor, int axis, Ranks& ranks) {
  const int packs = packs_of(pattern), single = int(pattern.size()) - packs;
  const int left = tensor.rank - single;
  if (left < 0 || (packs == 0 && left > 0)) return false;
  int taken = 0;
  bool first = true;
  for (size_t e = 0; e < pattern.size(); ++e) {
    ranks[e] = 1;
    if (!pattern[e].pack) continue;
    // Of two packs the first ends at the axis.
    ranks[e] = packs == 2 && first ? std::clamp(axis < 0 ? axis + tensor.rank : axis, 0, left)
                                   : left - taken;
    taken += ranks[e];
    first = false;
  }
  return true;
}

}  // namespace

ShapePattern parse_shape_pattern(const OperatorDef& op, const std::string& text) {
  ShapePattern pattern;
  std::string term;
  for (const char c : text + ",") {
    if (c == ' ') continue;
    if (c != ',') {
      term += c;
      continue;
    }
    if (!term.empty()) pattern.push_back(parse_term(op, text, term));
    term.clear();
  }
  if (packs_of(pattern) > 2) misspelt(op, text, "it has more than two packs");
  return pattern;
}

Shape shape_of(const ShapePattern& pattern, const Sizes& sizes) {
  Shape shape;
  const auto add = [&](int64_t size) {
    if (shape.rank < kMaxRank) shape.size[size_t(shape.rank)] = size;
    ++shape.rank;
  };
  for (const Extent& e : pattern) {
    const auto d = size_t(std::max(e.dimension, 0));
    if (e.pack)
      for (int i = 0; i < sizes.pack_rank[d]; ++i) add(sizes.pack[d][size_t(i)]);
    else add(e.of(sizes.size[d]));
  }
  return shape;
}

bool learn(const ShapePattern& pattern, const Tensor& tensor, int axis, Sizes& sizes) {
  if (is_one_element(pattern)) return true;  // `fits` looks
  Ranks ranks = {};
  if (!split(pattern, tensor, axis, ranks)) return false;
  int at = 0;
  for (size_t e = 0; e < pattern.size(); ++e) {
    const Extent& extent = pattern[e];
    const auto d = size_t(std::max(extent.dimension, 0));
    if (extent.pack && !sizes.knows(extent.dimension)) {
      sizes.size[d] = 1;
      sizes.pack_rank[d] = ranks[e];
      for (int i = 0; i < ranks[e]; ++i) {
        sizes.pack[d][size_t(i)] = tensor.shape[size_t(at + i)];
        sizes.size[d] *= tensor.shape[size_t(at + i)];
      }
    } else if (!extent.pack && extent.dimension >= 0 && !sizes.knows(extent.dimension)) {
      const int64_t size = tensor.shape[size_t(at)] - extent.plus;
      sizes.size[d] = std::max<int64_t>(size * extent.over / extent.times, 0);
    }
    at += ranks[e];
  }
  return true;
}

bool fits(const ShapePattern& pattern, const Tensor& tensor, const Sizes& sizes) {
  if (is_one_element(pattern)) return tensor.elements() == 1;
  const Shape wanted = shape_of(pattern, sizes);
  return wanted.rank == tensor.rank &&
         std::equal(wanted.size.begin(), wanted.size.begin() + wanted.rank, tensor.shape.begin());
}

}  // namespace ridge
