// The rows of a tensor copy, one after the other (tensor_copy.h).
#pragma once

#include <algorithm>

#include "vm/exec/tensor_copy.h"

namespace ridge::vm {

// Where a byte of a row lies in shared memory. 16 bytes stay together.
inline uint32_t swizzled(uint32_t rows, uint32_t address) {
  return address ^ (address >> 7 & rows) << 4;
}

namespace tensor_rows {

// Which bytes of a row are inside. Stores write whole pieces of 16 bytes.
inline void clip(const TensorCopy& copy, TensorRow& row) {
  const auto size = int64_t(copy.map.element_bytes());
  int64_t end = int64_t(copy.map.size[0]) * size;
  if (!copy.loads) end = (end + 15) / 16 * 16;
  const int64_t at = copy.at[0] * size, bytes = copy.row_bytes;
  row.first = uint32_t(std::clamp<int64_t>(-at, 0, bytes));
  row.last = uint32_t(std::clamp<int64_t>(end - at, row.first, bytes));
}

// Dimensions from `inner` on are walked; those before are inside a row.
template <class Visit>
bool each_of_box(const TensorCopy& copy, Visit visit) {
  const TensorMap& map = copy.map;
  const bool slices = map.interleave != 0;
  const uint32_t inner = slices ? 0 : 1;
  std::array<uint32_t, 6> count{1, 1, 1, 1, 1, 1}, i{};
  for (uint32_t k = inner; k < map.rank; ++k) count[k] = map.elements_of_box(k);
  if (slices) count[map.rank - 2] = 1;  // channel slices: the box has one, whatever it says
  const auto stride = [&](uint32_t k) { return k ? map.stride[k] : map.slice_bytes(); };
  TensorRow whole;
  if (slices) whole.last = copy.row_bytes;
  else clip(copy, whole);
  uint64_t begin = map.address;
  if (!slices) begin += uint64_t(int64_t(copy.at[0]) * map.element_bytes());
  uint32_t shared = copy.shared;
  while (true) {
    bool inside = true;
    uint64_t global = begin;
    for (uint32_t k = inner + 1; k < map.rank; ++k) {
      const int64_t at = copy.at[k] + int64_t(i[k]) * map.step[k];
      inside = inside && at >= 0 && uint64_t(at) < map.size[k];
      global += uint64_t(at) * stride(k);
    }
    int64_t at = copy.at[inner];
    for (uint32_t row = 0; row < count[inner]; ++row, at += map.step[inner], shared += copy.pitch) {
      TensorRow r = whole;
      if (!inside || uint64_t(at) >= map.size[inner]) r.first = r.last = 0;
      r.shared = shared;
      r.global = global + uint64_t(at) * stride(inner);
      if (!visit(r)) return false;
    }
    uint32_t k = inner + 1;
    while (k < map.rank && ++i[k] == count[k]) i[k++] = 0;
    if (k >= map.rank) return true;
  }
}

// W moves first. Past the upper end of the bounding box it returns to the lower one, and the next
// dimension moves.
template <class Visit>
bool each_pixel(const TensorCopy& copy, Visit visit) {
  const TensorMap& map = copy.map;
  const bool slices = map.interleave != 0;
  const uint32_t w = slices ? 0 : 1, end = w + map.rank - 2, batch = map.rank - 1;
  TensorRow whole;
  if (slices) whole.last = copy.row_bytes;
  else clip(copy, whole);
  std::array<int64_t, TensorMap::kMaxRank> at;
  std::copy(copy.at.begin(), copy.at.end(), at.begin());
  for (uint32_t pixel = 0; pixel < map.pixels; ++pixel) {
    TensorRow r = whole;
    r.shared = copy.shared + pixel * copy.pitch;
    r.global = map.address;
    if (!slices) r.global += uint64_t(at[0] * map.element_bytes());
    bool inside = true;
    for (uint32_t k = w; k < map.rank; ++k) {
      const int64_t here = at[k] + (k < end ? copy.offsets[k - w] : 0);
      inside = inside && here >= 0 && uint64_t(here) < map.size[k];
      r.global += uint64_t(here) * (k ? map.stride[k] : map.slice_bytes());
    }
    if (!inside) r.first = r.last = 0;
    if (!visit(r)) return false;
    uint32_t k = w;
    for (; k < end; ++k) {
      at[k] += map.step[k];
      if (at[k] <= int64_t(map.size[k]) - 1 + map.upper[k - w]) break;
      at[k] = map.lower[k - w];
    }
    if (k == end) at[batch] += map.step[batch];
  }
  return true;
}

}  // namespace tensor_rows

// Calls `visit(row)` for each row in the order of shared memory, as long as it returns true.
template <class Visit>
bool each_row(const TensorCopy& copy, Visit visit) {
  return copy.map.im2col ? tensor_rows::each_pixel(copy, visit)
                         : tensor_rows::each_of_box(copy, visit);
}

}  // namespace ridge::vm
