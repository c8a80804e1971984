#include "operator/check.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace ridge::ops {
namespace {

// The bytes that a tensor spans, strides of either sign included.
}  // namespace

Range range_of(const Tensor& t) {
  const auto start = reinterpret_cast<uintptr_t>(t.data);
  int64_t low = 0, high = 0;
  for (int d = 0; d < t.rank; ++d) {
    if (t.shape[size_t(d)] <= 1) continue;
    const int64_t reach = (t.shape[size_t(d)] - 1) * t.strides[size_t(d)];
    (reach < 0 ? low : high) += reach;
  }
  const int64_t bits = bits_of(t.dtype);  // packed elements share bytes: outwards to whole ones
  return {start + uintptr_t(low * bits >> 3), start + uintptr_t(((high + 1) * bits + 7) >> 3)};
}

namespace {

// Beyond any memory, and so far below 2^63 that sums of a few such spans never pass it.
constexpr int64_t kMost = int64_t(1) << 60;

// Dimensions without elements count as one, so that sizes can be multiplied in any order.
bool has_possible_sizes(const Tensor& t) {
  int64_t count = std::max<int64_t>(bits_of(t.dtype) / 8, 1);
  for (int d = 0; d < t.rank; ++d)
    if (__builtin_mul_overflow(count, std::max<int64_t>(t.shape[size_t(d)], 1), &count) ||
        count > kMost)
      return false;
  return true;
}

// Of a tensor that has elements. Strides of dimensions with a single one are never taken.
bool has_possible_strides(const Tensor& t) {
  int64_t reach = 0;
  for (int d = 0; d < t.rank; ++d) {
    if (t.shape[size_t(d)] <= 1) continue;
    int64_t bytes = 0;
    if (__builtin_mul_overflow(t.strides[size_t(d)], std::max<int64_t>(bits_of(t.dtype) / 8, 1),
                               &bytes) ||
        __builtin_mul_overflow(bytes, t.shape[size_t(d)], &bytes) || bytes > kMost ||
        bytes < -kMost || (reach += std::abs(bytes)) > kMost)
      return false;
  }
  return true;
}

// The grid on which the elements of one tensor lie, or of two with the same strides: its dimensions
// of more than one element, the largest stride first.
struct Grid {
  struct Dimension {
    int64_t stride;     // its absolute value
    int64_t low, high;  // steps along it from an element of b to one of a
  };
  int rank = 0;
  std::array<Dimension, kMaxRank> at = {};
  bool is_one = true;  // false: the strides differ

  Grid(const Tensor& a, const Tensor& b) : is_one(a.rank == b.rank && a.dtype == b.dtype) {
    for (size_t d = 0; is_one && d < size_t(a.rank); ++d) {
      const int64_t size = std::max(a.shape[d], b.shape[d]);
      if (size <= 1) continue;
      if (a.shape[d] > 1 && b.shape[d] > 1) is_one = a.strides[d] == b.strides[d];
      const int64_t stride = a.shape[d] > 1 ? a.strides[d] : b.strides[d];
      const int64_t in_a = a.shape[d] - 1, in_b = b.shape[d] - 1;
      int place = rank++;
      for (; place > 0 && at[size_t(place - 1)].stride < std::abs(stride); --place)
        at[size_t(place)] = at[size_t(place - 1)];
      at[size_t(place)] = {std::abs(stride), stride < 0 ? -in_a : -in_b, stride < 0 ? in_b : in_a};
    }
  }
  // How far the elements of dimensions d and further in can lie apart, to either side.
  int64_t below(int d) const {
    int64_t sum = 0;
    for (; d < rank; ++d) sum += at[size_t(d)].low * at[size_t(d)].stride;
    return sum;
  }
  int64_t above(int d) const {
    int64_t sum = 0;
    for (; d < rank; ++d) sum += at[size_t(d)].high * at[size_t(d)].stride;
    return sum;
  }
  // Whether every dimension steps over all that is further in.
  bool is_nested() const {
    for (int d = 0; d < rank; ++d)
      if (at[size_t(d)].stride <= std::max(-below(d + 1), above(d + 1))) return false;
    return true;
  }
  // Whether an element of b and one of a can lie `delta` apart. Nested: each dimension leaves two
  // steps to try.
  bool spans(int64_t delta, int d = 0) const {
    if (delta < below(d) || delta > above(d)) return false;
    if (d == rank) return true;
    const auto [stride, low, high] = at[size_t(d)];
    for (int64_t k = delta / stride - 1; k <= delta / stride + 1; ++k)
      if (k >= low && k <= high && spans(delta - k * stride, d + 1)) return true;
    return false;
  }
};

// Exact for parts of one larger tensor, such as the halves of its columns; others are held to
// overlap where their ranges do.
bool overlap(const Tensor& a, const Tensor& b) {
  if (a.elements() == 0 || b.elements() == 0) return false;
  const Range x = range_of(a), y = range_of(b);
  if (x.begin >= y.end || y.begin >= x.end) return false;
  const Grid grid(a, b);
  if (!grid.is_one || !grid.is_nested() || is_packed(a.dtype)) return true;
  const auto bytes = reinterpret_cast<intptr_t>(b.data) - reinterpret_cast<intptr_t>(a.data);
  return grid.spans(bytes / int64_t(size_of(a.dtype)));
}

bool same_elements(const Tensor& a, const Tensor& b) {
  if (a.data != b.data || a.dtype != b.dtype || a.rank != b.rank) return false;
  for (int d = 0; d < a.rank; ++d)
    if (a.shape[size_t(d)] != b.shape[size_t(d)] ||
        (a.shape[size_t(d)] > 1 && a.strides[size_t(d)] != b.strides[size_t(d)]))
      return false;
  return true;
}

}  // namespace

bool overlaps(const void* memory, size_t bytes, const Tensor& t) {
  if (bytes == 0 || t.elements() == 0) return false;
  const Range range = range_of(t);
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  return begin < range.end && range.begin < begin + bytes;
}

std::string text(const Tensor& tensor) {
  std::string out = std::string(name_of(tensor.dtype)) + " (";
  for (int d = 0; d < tensor.rank && d < kMaxRank; ++d)
    out += (d ? ", " : "") + std::to_string(tensor.shape[size_t(d)]);
  return out + ")";
}

std::string strides_text(const Tensor& t) {
  std::string out = "(";
  for (int d = 0; d < t.rank && d < kMaxRank; ++d)
    out += (d ? ", " : "") + std::to_string(t.strides[size_t(d)]);
  return out + ")";
}

void Check::fail(const std::string& complaint) {
  status_ = Error{kInvalid, std::string(op_) + ": " + complaint};
}

Check& Check::valid(Named t) {
  const auto name = [&] { return std::string(t.name); };
  that(t.tensor.rank >= 0 && t.tensor.rank <= kMaxRank, [&] {
    return name() + " has rank " + std::to_string(t.tensor.rank) + "; at most " +
           std::to_string(kMaxRank) + " dimensions are possible";
  });
  if (!status_) return *this;
  that(bits_of(t.tensor.dtype) != 0, [&] { return name() + " has an unknown dtype"; });
  for (int d = 0; d < t.tensor.rank; ++d)
    that(t.tensor.shape[size_t(d)] >= 0,
         [&] { return name() + " has a negative size: " + text(t.tensor); });
  if (!status_) return *this;
  that(has_possible_sizes(t.tensor),
       [&] { return name() + " is " + text(t.tensor) + ": more elements than memory can hold"; });
  if (!status_ || t.tensor.elements() == 0) return *this;
  that(has_possible_strides(t.tensor), [&] {
    return name() + " has strides " + strides_text(t.tensor) + " for " + text(t.tensor) +
           ": they reach beyond any memory";
  });
  that(t.tensor.data != nullptr, [&] { return name() + " is null"; });
  const size_t size = std::max<size_t>(size_of(t.tensor.dtype), 1);  // of packed formats: a byte
  return that(reinterpret_cast<uintptr_t>(t.tensor.data) % size == 0, [&] {
    return name() + " is not aligned to its elements, which are " + std::to_string(size) + " bytes";
  });
}

Check& Check::dtype(Named t, std::span<const Dtype> allowed) {
  return that(std::find(allowed.begin(), allowed.end(), t.tensor.dtype) != allowed.end(), [&] {
    std::string names;
    for (const Dtype d : allowed) names += (names.empty() ? "" : ", ") + std::string(name_of(d));
    return std::string(t.name) + " is " + name_of(t.tensor.dtype) + "; it can be " + names;
  });
}

Check& Check::same_dtype(Named a, Named b) {
  return that(a.tensor.dtype == b.tensor.dtype, [&] {
    return std::string(a.name) + " is " + name_of(a.tensor.dtype) + " but " + b.name + " is " +
           name_of(b.tensor.dtype);
  });
}

Check& Check::same_shape(Named a, Named b) {
  if (!status_) return *this;
  bool same = a.tensor.rank == b.tensor.rank;
  for (int d = 0; same && d < a.tensor.rank; ++d)
    same = a.tensor.shape[size_t(d)] == b.tensor.shape[size_t(d)];
  return that(same, [&] {
    return std::string(a.name) + " is " + text(a.tensor) + " but " + b.name + " is " +
           text(b.tensor);
  });
}

Check& Check::no_overlap(Named out, Named in) {
  if (!status_) return *this;
  return that(!overlap(out.tensor, in.tensor),
              [&] { return std::string(out.name) + " and " + in.name + " overlap in memory"; });
}

Check& Check::no_partial_overlap(Named out, Named in) {
  if (!status_) return *this;
  return that(same_elements(out.tensor, in.tensor) || !overlap(out.tensor, in.tensor), [&] {
    return std::string(out.name) + " and " + in.name +
           " overlap in memory without being the same tensor";
  });
}

Check& Check::distinct(Named out) {
  if (!status_ || out.tensor.elements() == 0) return *this;
  return that(Grid(out.tensor, out.tensor).is_nested(), [&] {
    return std::string(out.name) + " has strides " + strides_text(out.tensor) +
           ", by which its own elements overlap";
  });
}

}  // namespace ridge::ops
