// What warps of a block know of each other: rows of BlockState::known.
//
// A row has one column per warp: up to which tick the row's warp is ordered behind that one. With
// the first asynchronous copy or mbarrier more columns come. Their values only rise as well, and
// are passed on in the same way:
//   one per warp: up to which tick its writes are fenced for the asynchronous proxy
//   one: the interval before which all writes are
//   one per mbarrier: how many of its phases the row's warp is ordered behind
//   one per warpgroup that multiplies: how many of its products, and one more
#pragma once

#include <algorithm>

#include "vm/check/state.h"

namespace ridge::vm::check {

// A new stretch of the warp's life: what it does from now on is not part of what it has told.
inline uint32_t next_tick(WarpState& ws) {
  ws.segment = 0;
  return ++ws.tick;
}

// A warp gets to know what others have done.
inline void learn(BlockState& b, uint32_t warp, const std::vector<uint32_t>& other) {
  uint32_t* row = b.row(warp);
  bool news = false;
  for (size_t k = 0; k < other.size(); ++k)
    if (other[k] > row[k]) {
      row[k] = other[k];
      news = true;
    }
  if (news) b.warps[warp].told = {};
}

// What a warp knows, itself included.
inline void add_to(std::vector<uint32_t>& told, BlockState& b, uint32_t warp, uint32_t tick) {
  if (told.size() < b.columns) told.resize(b.columns, 0);
  if (!b.known.empty()) {
    const uint32_t* row = b.row(warp);
    for (size_t k = 0; k < told.size(); ++k) told[k] = std::max(told[k], row[k]);
  }
  told[warp] = std::max(told[warp], tick);
}

inline uint32_t fenced_column(const BlockState& b, uint32_t warp) {
  return uint32_t(b.warps.size()) + warp;
}
inline uint32_t fenced_interval_column(const BlockState& b) { return 2 * uint32_t(b.warps.size()); }
inline bool has_fence_columns(const BlockState& b) { return b.columns > b.warps.size(); }

// `count` more columns, and those of fences if they are not there yet.
inline void add_columns(BlockState& b, uint32_t count) {
  const uint32_t before = b.columns, warps = uint32_t(b.warps.size());
  b.columns = std::max(before, 2 * warps + 1) + count;
  if (b.known.empty() || b.columns == before) return;
  std::vector<uint32_t> wider(size_t(warps) * b.columns, 0);
  for (uint32_t w = 0; w < warps; ++w)
    std::copy_n(b.known.begin() + w * before, before, wider.begin() + w * b.columns);
  b.known = std::move(wider);
}

// After a barrier of the whole block. Ticks of warps need no such thing: the interval says it.
inline void share_columns(BlockState& b) {
  const uint32_t warps = uint32_t(b.warps.size());
  if (b.known.empty() || b.columns == warps) return;
  for (uint32_t column = warps; column < b.columns; ++column) {
    uint32_t most = 0;
    for (uint32_t w = 0; w < warps; ++w) most = std::max(most, b.row(w)[column]);
    for (uint32_t w = 0; w < warps; ++w) b.row(w)[column] = most;
  }
}

}  // namespace ridge::vm::check
