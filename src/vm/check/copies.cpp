// Asynchronous copies: from their start until they land nobody may touch where they go, or change
// what they read. cp.async is here, bulk copies are in bulk.cpp.
#include <algorithm>

#include "vm/check/checker.h"
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
  check_tensor(a, whole, at, bytes);
  on_global(a, whole, at, bytes);
}

void Checker::copy_lands(const Warp& w, const AsyncEntry& entry, uint32_t lanes) {
  using Kind = AsyncEntry::Kind;
  BlockState& b = state_of(*w.block);
  // A thread that waits for its own copies has them from now on; those that an mbarrier waits for
  // were told to it when the copy arrived there.
  const bool own = b.last_act == Act::copy_wait;
  each_active(lanes, [&](int i) {
    switch (entry.kind) {
      case Kind::copy: small_copy_lands(b, w, entry, i, own); break;
      case Kind::bulk_store: store_lands(b, w, entry, i); break;
      default: load_lands(b, w, entry, i);
    }
  });
}

void Checker::small_copy_lands(BlockState& b, const Warp& w, const AsyncEntry& entry, int lane,
                               bool own) {
  WarpState& ws = b.warps[w.index];
  const uint32_t thread = w.index * kWarpSize + uint32_t(lane), to = entry.shared[lane];
  // They land about in the order they started in.
  const auto flight =
      std::find_if(ws.flights.begin() + long(ws.landed), ws.flights.end(), [&](const Flight& f) {
        return f.thread == thread && f.to == to && f.inst == entry.inst && f.bytes;
      });
  if (flight == ws.flights.end()) return;
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
}

void Checker::check_sources(const Access& a, uint32_t lanes, const uint64_t* at, uint32_t bytes) {
  each_active(lanes, [&](int i) {
    for (const WarpState& ws : a.b.warps)
      for (const Flight& f : ws.flights) {
        if (!f.bytes || !f.from_bytes || at[i] >= f.from + f.from_bytes || at[i] + bytes <= f.from)
          continue;
        report_flight(a, {a.base + uint32_t(i), 15, at[i] & ~3ull, 0, false}, f.site, f.thread,
                      true, true);
        return;
      }
    for (const BulkLoad& load : a.b.loads)
      if (at[i] < load.from_end && at[i] + bytes > load.from)
        return report_flight(a, {a.base + uint32_t(i), 15, at[i] & ~3ull, 0, false}, load.by.site,
                             load.by.thread, true, true);
  });
}

}  // namespace ridge::vm::check
