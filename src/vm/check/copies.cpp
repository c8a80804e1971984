// Asynchronous copies: from their start until they land nobody may touch where they go, or change
// what they read.
#include <algorithm>

#include "vm/check/checker.h"
#include "vm/exec/tensor_rows.h"
#include "vm/isa/lane.h"

namespace ridge::vm::check {

// Fields as in src/vm/isa/async.cpp.
void Checker::on_copy(const Access& a) {
  const Wide& more = wide(a.inst);
  const uint32_t bytes = a.w.src<uint32_t>(more.x[1])[0];
  const uint32_t* to = a.w.src<uint32_t>(a.inst->a);
  const uint64_t* from = a.w.src<uint64_t>(a.inst->c);
  const uint32_t ignored = more.x[3] == kNoOperand ? 0 : a.w.pred(more.x[3]);
  uint64_t at[kWarpSize];
  uint32_t whole = 0;
  each_active(a.w.mask, [&](int i) {
    const uint32_t there = to[i] + a.inst->b - a.w.shared_start;
    at[i] = from[i] + uint64_t(int64_t(int32_t(more.x[0])));
    uint32_t size = ignored >> i & 1 ? 0 : bytes;
    if (more.x[2] != kNoOperand) size = std::min(size, a.w.src<uint32_t>(more.x[2])[i]);
    if (size == bytes) whole |= 1u << i;
    if (uint64_t(there) + bytes > a.w.shared_size) return;
    const uint32_t thread = a.base + uint32_t(i);
    for (uint32_t k = 0; k < bytes; k += 4)
      write_shared(a, (there + k) / 4, 15, thread, 0, Record::kInFlight);
    a.ws.flights.push_back(
        {a.inst, a.s.id, thread, a.segment, there, bytes, size ? at[i] : 0, size});
  });
  on_global(a, whole, at, bytes);
}

void Checker::on_bulk_copy(const Access& a) {
  const Wide& more = wide(a.inst);
  const uint32_t* to = a.w.src<uint32_t>(a.inst->a);
  const uint64_t* from = a.w.src<uint64_t>(a.inst->c);
  const uint32_t* size = a.w.src<uint32_t>(more.x[1]);
  const uint32_t* token = a.w.src<uint32_t>(more.x[2]);
  const bool multicast = more.x[4] != kNoOperand;
  each_active(a.w.mask, [&](int i) {
    const uint32_t there = to[i] + a.inst->b - a.w.shared_start, bytes = size[i];
    const uint64_t begin = from[i] + uint64_t(int64_t(int32_t(more.x[0])));
    const bool own = !multicast && uint64_t(there) + bytes <= a.w.shared_size;
    if (there % 16) return;
    const uint32_t thread = a.base + uint32_t(i);
    for (uint32_t k = 0; k < bytes; k += 4) {
      if (own) write_shared(a, (there + k) / 4, 15, thread, 0, Record::kInFlight);
      uint64_t at[kWarpSize];
      at[i] = begin + k;
      on_global(a, 1u << i, at, 4);
    }
    if (!own) return;  // copy_lands follows
    a.ws.flights.push_back({a.inst, a.s.id, thread, a.segment, there, bytes, begin, bytes});
    // Whoever waits there sees the bytes.
    arrive_at_token(a.b, a.w.index, token[i] + more.x[3] - a.w.shared_start);
  });
}

// Its reads and writes are taken for the thread's own, at the place where it starts.
void Checker::on_bulk_store(const Access& a) {
  const Wide& more = wide(a.inst);
  const uint64_t* to = a.w.src<uint64_t>(a.inst->a);
  const uint32_t* from = a.w.src<uint32_t>(a.inst->c);
  const uint32_t* size = a.w.src<uint32_t>(more.x[1]);
  each_active(a.w.mask, [&](int i) {
    const uint32_t begin = from[i] + more.x[0] - a.w.shared_start;
    const uint32_t bytes = size[i];
    if (uint64_t(begin) + bytes > a.w.shared_size || begin % 16) return;
    uint64_t at[kWarpSize];
    at[i] = to[i] + uint64_t(int64_t(int32_t(a.inst->b)));
    for (uint32_t k = 0; k < bytes; k += 4, at[i] += 4) {
      read_shared(a, (begin + k) / 4, 15, a.base + uint32_t(i), 0);
      on_global(a, 1u << i, at, 4);
    }
  });
}

// Copies of tensors: what they write has a value; `b` is the block whose shared memory the copy
// uses. Who is ordered behind them is not followed.
void Checker::tensor_lands(BlockState& b, const Warp& w, const TensorCopy& copy) {
  const Allocations& memory = *w.worker->memory;
  RangeRef range;
  each_row(copy, [&](const TensorRow& row) {
    if (copy.loads) {
      for (uint32_t k = 0; k < copy.row_bytes; k += 4)
        b.written[swizzled(copy.map.swizzle_rows(), row.shared + k) / 4] = 15;
    } else if (row.inside()) {
      const uint64_t begin = row.global + row.first, end = row.global + row.last;
      if (!range || begin < range->base || end > range->end) range = shadow_.find(memory, begin);
      if (range) range->set_written(begin, end);
    }
    return true;
  });
}

void Checker::copy_lands(const Warp& w, const AsyncEntry& entry, uint32_t lanes) {
  BlockState& b = state_of(*w.block);
  if (!entry.tensors.empty()) {
    each_active(lanes, [&](int i) {
      const TensorCopy& copy = entry.tensors[size_t(i)];
      BlockState* const receiver = copy.loads ? peer_of(w, entry.shared[i]) : nullptr;
      tensor_lands(receiver ? *receiver : b, w, copy);
    });
    return;
  }
  WarpState& ws = b.warps[w.index];
  // A thread that waits for its own copies has them from now on; those that an mbarrier waits for
  // were told to it when the copy arrived there.
  const bool own = b.last_act == Act::copy_wait;
  const bool by_address =
      entry.kind == AsyncEntry::Kind::bulk_load || entry.kind == AsyncEntry::Kind::peer_store;
  each_active(lanes, [&](int i) {
    const uint32_t thread = w.index * kWarpSize + uint32_t(i);
    const uint32_t to = entry.shared[i] - (by_address ? w.shared_start : 0);
    if (by_address && to >= kWindowSize) {  // a peer's
      reach_peer(w, entry.shared[i], entry.size[i]);
      arrive_at_peer(w, entry.barrier[i]);
      return;
    }
    // They land about in the order they started in.
    const auto flight =
        std::find_if(ws.flights.begin() + long(ws.landed), ws.flights.end(), [&](const Flight& f) {
          return f.thread == thread && f.to == to && f.inst == entry.inst && f.bytes;
        });
    if (flight == ws.flights.end()) {
      // A multicast, or a store to the cluster that came to its own block.
      for (uint32_t k = 0; by_address && k < entry.size[i]; k += 4) b.written[(to + k) / 4] = 15;
      return;
    }
    const uint32_t segment = own ? segment_of(b, ws, w.index) : flight->segment;
    for (uint32_t k = 0; k < flight->bytes; k += 4) {
      Cell& cell = b.cells[(to + k) / 4];
      const Record was{cell.write};
      if (was.segment() == Record::kNotOver && was.thread() == thread)
        cell.write = Record::of(segment, 0, 15, thread, flight->site).bits;
      b.written[(to + k) / 4] = 15;
    }
    flight->bytes = 0;
    while (ws.landed < ws.flights.size() && ws.flights[ws.landed].bytes == 0) ++ws.landed;
    if (ws.landed < ws.flights.size()) return;
    ws.flights.clear();
    ws.landed = 0;
  });
}

void Checker::check_sources(const Access& a, uint32_t lanes, const uint64_t* at, uint32_t bytes) {
  each_active(lanes, [&](int i) {
    for (const WarpState& ws : a.b.warps)
      for (const Flight& f : ws.flights) {
        if (!f.bytes || !f.from_bytes || at[i] >= f.from + f.from_bytes || at[i] + bytes <= f.from)
          continue;
        report_flight(a, {a.base + uint32_t(i), 15, at[i] & ~3ull, 0, false}, f.site, f.thread,
                      true);
        return;
      }
  });
}

}  // namespace ridge::vm::check
