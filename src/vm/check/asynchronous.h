// What the checker knows of a block's mbarriers, and of bulk copies that are under way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "vm/check/clock.h"
#include "vm/check/record.h"
#include "vm/exec/async.h"
#include "vm/exec/tensor_rows.h"

namespace ridge::vm::check {

// Where something was done, and by which thread of which block.
struct Doer {
  uint32_t site = 0;  // 0: nobody has
  uint32_t thread = 0;
  uint32_t block = 0;
};

struct Mbarrier {
  // The copies that signal it are one more party beside the warps, with a column of its own in what
  // warps know of each other. Its ticks are the phases.
  uint32_t column = 0;
  uint32_t phase = 0;        // completed ones, of all objects that were at this place
  uint32_t first_phase = 0;  // of the object that is there now
  Doer init;
  Segment init_at;
  Doer armed;                   // who arrived last, or said how many bytes to expect
  uint64_t delivered = 0;       // bytes, in this phase
  uint32_t landed_segment = 0;  // of what landed in this phase; 0: nothing has
  // What those who arrived in this phase knew; and in all phases that are over.
  std::vector<uint32_t> arriving, told;
  ClockRef peers_arriving, peers_told;
  uint32_t arriving_interval = 0;  // the last one that somebody arrived in
  // By warp: the phase that it waited for last, and when.
  struct Waited {
    uint32_t phase = 0;                         // as many were over
    uint32_t site = 0;                          // 0: it has not waited yet
    uint32_t lane = 0, tick = 0, interval = 0;  // of the first wait that found it over
    uint64_t event = 0;                         // of the last
    bool again = false;                         // there were several
  };
  std::vector<Waited> waited;
};

// The bytes of shared memory that a bulk copy reads or writes: rows, swizzled.
struct Box {
  uint32_t begin = 0, end = 0;  // offsets in the block's shared memory
  uint32_t rows = 0, pitch = 0, row_bytes = 0, swizzle = 0;

  bool holds(uint32_t at) const {
    if (at < begin || at >= end) return false;
    const uint32_t inside = swizzled(swizzle, at) - begin;
    return inside / pitch < rows && inside % pitch < row_bytes;
  }
};
Box box_of(const AsyncEntry& entry, int lane, uint32_t offset);

// A bulk copy into the block's shared memory that has not landed.
struct BulkLoad {
  const Inst* inst = nullptr;
  Doer by;
  Box box;
  uint32_t barrier = 0, phase = 0;  // the one under way when it started
  uint64_t event = 0;
  uint64_t from = 0, from_end = 0;  // in global memory; of a box of a tensor not noted
};

// A bulk store that reads, or has read, the block's shared memory.
struct BulkRead {
  const Inst* inst = nullptr;
  Doer by;
  Box box;
  bool is_over = false;  // its thread has waited for it, then
  Segment over_at;
};

// A bulk store that may not have written global memory yet.
struct BulkWrite {
  const Inst* inst = nullptr;
  Doer by;
  uint32_t from = 0;     // offset in the block's shared memory
  uint32_t segment = 0;  // when it started
  struct Row {
    uint64_t begin, end;
  };
  std::vector<Row> rows;
  uint64_t begin = ~0ull, end = 0;  // of all rows

  void add(uint64_t first, uint64_t last) {
    rows.push_back({first, last});
    begin = std::min(begin, first);
    end = std::max(end, last);
  }
  bool holds(uint64_t at, uint32_t bytes) const {
    if (at >= end || at + bytes <= begin) return false;
    return std::ranges::any_of(rows,
                               [&](const Row& r) { return at < r.end && at + bytes > r.begin; });
  }
};

}  // namespace ridge::vm::check
