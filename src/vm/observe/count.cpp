#include "vm/observe/count.h"

#include <algorithm>
#include <bit>

#include "vm/isa/memory.h"
#include "vm/observe/fragments.h"

namespace ridge::vm::observe {
namespace {

template <class T>
void remember(Worst& worst, const AccessOf<T>& access, uint32_t cost) {
  if (cost < worst.cost || !access.mask) return;
  if (cost > worst.cost) {
    worst.warps = 0;
    worst.cost = cost;
    worst.mask = access.mask;
    std::copy(access.address.begin(), access.address.end(), worst.address.begin());
  }
  ++worst.warps;
}

Service service_of(const Touch& touch) {
  using Way = MachineAtomic::Way;
  switch (touch.action) {
    case Action::load: return Service::load;
    case Action::store:
    case Action::copy: return Service::store;
    case Action::prefetch:
    case Action::operand:  // not by lanes
    case Action::reduction:
    case Action::atomic: break;
  }
  const Way way = touch.atomic.way;
  return way == Way::counting  ? Service::counting
         : way == Way::compare ? Service::compare
         : way == Way::loop    ? Service::spin
                               : Service::atomic;
}

void count_shared(Counters& c, Memory& memory, const SharedAccess& access, const Touch& touch) {
  // Banks repeat: a shift by whole words, or by whole accesses, changes nothing.
  const SharedCost& cost =
      memory.shared.of(access, std::max(access.bytes, 4u),
                       [&](const SharedAccess& a) { return shared_cost(a, service_of(touch)); });
  ++c.shared_requests;
  c.shared_bytes += uint64_t(std::popcount(access.mask)) * access.bytes;
  c.wavefronts += cost.wavefronts;
  c.ideal_wavefronts += cost.ideal;
  c.conflicts += cost.conflicts;
  c.wavefronts_by_line += cost.by_line;
  remember(memory.worst, access, cost.wavefronts);
  if (memory.seen_shared) memory.seen_shared->take(access);
}

// The sectors that the launch touches here for the first time, and how far they reach.
void count_footprint(Counters& c, Memory& memory, const Access& access, Action action) {
  const bool writes = action != Action::load && action != Action::copy;
  c.first_sectors += memory.footprint->touch(access, writes, memory.last_page);
  for (uint32_t left = access.mask; left; left &= left - 1) {
    const uint64_t at = access.address[size_t(std::countr_zero(left))];
    memory.lowest = std::min(memory.lowest, at);
    memory.end = std::max(memory.end, at + access.bytes);
  }
}

void count_global(Counters& c, Memory& memory, const Access& access, Action action) {
  ++c.requests;
  const WholeGlobalCost& cost = memory.global.of(access, kLineBytes, [&](const Access& a) {
    const GlobalCost plain = global_cost(a);
    const bool takes_turns = action == Action::reduction || action == Action::atomic;
    return WholeGlobalCost{plain, takes_turns ? atomic_sectors(a) : plain.sectors};
  });
  c.lines += cost.plain.lines;
  c.bytes_used += cost.plain.bytes_used;
  c.sectors += cost.sectors;
  remember(memory.worst, access, cost.sectors);
  if (memory.footprint) count_footprint(c, memory, access, action);
  if (!memory.seen_global) return;
  memory.seen_global->take(access);
  memory.seen_global->take_sectors(access, cost.sectors);
}

// Local memory holds a word of each lane side by side, then the next word of each.
void count_local(Counters& c, Memory& memory, const SharedAccess& offsets) {
  const uint32_t bytes = offsets.bytes;
  Access access;
  access.mask = offsets.mask;
  access.bytes = std::min(bytes, 4u);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint64_t at = offsets.address[lane];
    access.address[lane] = (at / 4 * kWarpSize + lane) * 4 + at % 4;
  }
  c.requests += std::max(bytes / 4, 1u);
  uint32_t sectors = 0;
  for (uint32_t done = 0; done < bytes; done += 4) {
    const GlobalCost cost = global_cost(access);
    c.lines += cost.lines;
    c.bytes_used += cost.bytes_used;
    sectors += cost.sectors;
    if (done + 4 < bytes)
      for (uint64_t& at : access.address) at += 4 * kWarpSize;
  }
  c.sectors += sectors;
  remember(memory.worst, access, sectors);
}

template <class T>
AccessOf<T> read_addresses(const Warp& w, uint32_t base, int64_t offset, uint32_t bytes) {
  AccessOf<T> access;
  access.bytes = bytes;
  access.mask = w.mask;
  const T* from = w.src<T>(base);
  for (size_t i = 0; i < 32; ++i) access.address[i] = from[i] + T(offset);
  return access;
}

// The low half of generic addresses is what they are in their window; in shared memory, from where
// the block's own begins.
SharedAccess in_window(const Access& access, uint32_t lanes, uint32_t start = 0) {
  SharedAccess out;
  out.bytes = access.bytes;
  out.mask = lanes;
  for (size_t i = 0; i < 32; ++i) out.address[i] = uint32_t(access.address[i]) - start;
  return out;
}

// Which lanes' generic addresses lie in shared, local and parameter memory.
struct Windows {
  uint32_t lanes[3] = {0, 0, 0};
  uint32_t all() const { return lanes[0] | lanes[1] | lanes[2]; }
};
Windows windows_of(const Access& access) {
  Windows found;
  for (uint32_t left = access.mask; left; left &= left - 1) {
    const auto i = size_t(std::countr_zero(left));
    const uint64_t window = (access.address[i] - kSharedWindow) >> 32;
    if (window < 3) found.lanes[window] |= 1u << i;
  }
  return found;
}

// An atomic of which one lane does the work of all.
template <class T>
void put_together(AccessOf<T>& access, MachineAtomic::Lanes lanes) {
  using Lanes = MachineAtomic::Lanes;
  if (lanes == Lanes::one || (lanes == Lanes::one_of_all && access.mask == ~0u))
    access.mask &= -access.mask;
}

// The rounds of a loop around a compare-and-swap, at least: in each, one lane of every word gets
// through, of shared memory one of every bank.
template <class T, class F>
void each_round(AccessOf<T> access, F count) {
  constexpr bool kShared = sizeof(T) == 4;
  const auto place = [&](uint32_t lane) {
    if (!kShared) return uint64_t(access.address[lane]);
    const uint32_t part = access.bytes == 8 ? lane / 16 : 0;  // halves are served one after another
    return uint64_t(access.address[lane] % kLineBytes + part * kLineBytes);
  };
  while (access.mask) {
    count(access);
    uint32_t through = 0;
    for (uint32_t left = access.mask; left; left &= left - 1) {
      const auto lane = uint32_t(std::countr_zero(left));
      bool first = true;
      for (uint32_t before = through; before; before &= before - 1)
        first &= place(uint32_t(std::countr_zero(before))) != place(lane);
      if (first) through |= 1u << lane;
    }
    access.mask &= ~through;
  }
}

// A compare-and-swap is of whole words.
template <class T>
AccessOf<T> in_words(AccessOf<T> access) {
  if (access.bytes >= 4) return access;
  access.bytes = 4;
  for (T& at : access.address) at &= ~T(3);
  return access;
}

void count_shared_lanes(Counters& c, Memory& memory, const SharedAccess& access,
                        const Touch& touch) {
  if (touch.atomic.way != MachineAtomic::Way::loop) return count_shared(c, memory, access, touch);
  each_round(in_words(access),
             [&](const SharedAccess& round) { count_shared(c, memory, round, touch); });
}

// An access that may reach every block of the cluster.
void count_cluster_lanes(Counters& c, Memory& memory, SharedAccess access, const Touch& touch) {
  const uint32_t peers = lanes_of_peers(access), own = access.mask & ~peers;
  if (peers) {
    access.mask = peers;
    count_peers(c, access, touch);
  }
  access.mask = own;
  if (own) count_shared_lanes(c, memory, access, touch);
}

void count_global_lanes(Counters& c, Memory& memory, const Access& access, const Touch& touch) {
  const bool is_load = touch.action == Action::load;
  if (is_load && touch.atomic.loops_in_shared) return;  // and only there
  const auto count = [&](const Access& round) {
    count_global(c, memory, round, touch.action);
    if (touch.generic && touch.action == Action::atomic)
      c.probes += touch.atomic.way == MachineAtomic::Way::direct ? 1 : 2;
  };
  if (touch.atomic.way != MachineAtomic::Way::loop) return count(access);
  // What a swap finds is what the next round starts with: one load does.
  is_load ? count(in_words(access)) : each_round(in_words(access), count);
}

void count_lanes(Counters& c, Memory& memory, const Touch& touch, const Warp& w, const Inst* inst) {
  const int64_t offset = int64_t(int32_t(inst->b)) + touch.offset;
  if (touch.reach == Reach::shared) {
    auto access = read_addresses<uint32_t>(w, inst->a, offset - w.shared_start, touch.bytes);
    put_together(access, touch.atomic.lanes);
    return touch.peers ? count_cluster_lanes(c, memory, access, touch)
                       : count_shared_lanes(c, memory, access, touch);
  }
  if (touch.reach == Reach::local)
    return count_local(c, memory, read_addresses<uint32_t>(w, inst->a, offset, touch.bytes));
  Access access = read_addresses<uint64_t>(w, inst->a, offset, touch.bytes);
  put_together(access, touch.atomic.lanes);
  if (!touch.generic) return count_global_lanes(c, memory, access, touch);
  const Windows windows = windows_of(access);
  access.mask &= ~windows.all();
  if (access.mask) count_global_lanes(c, memory, access, touch);
  if (windows.lanes[0]) {
    Touch as = touch;
    if (touch.atomic.loops_in_shared) as.atomic.way = MachineAtomic::Way::loop;
    if (as.atomic.way == MachineAtomic::Way::loop && touch.action == Action::atomic) ++c.probes;
    count_cluster_lanes(c, memory, in_window(access, windows.lanes[0], w.shared_start), as);
  }
  if (windows.lanes[1]) count_local(c, memory, in_window(access, windows.lanes[1]));
}

// Eight rows at a time, the addresses of which eight lanes give.
void count_rows(Counters& c, Memory& memory, SharedAccess access, uint32_t matrices) {
  uint32_t wavefronts = 0;
  for (uint32_t m = 0; m < matrices; ++m) {
    access.mask = 0xffu << 8 * m;
    wavefronts += shared_cost(access, Service::store).wavefronts;
  }
  ++c.shared_requests;
  c.wavefronts += wavefronts;
  c.wavefronts_by_line += wavefronts;
  c.ideal_wavefronts += matrices;
  c.conflicts += wavefronts - matrices;
  access.mask = matrices == 4 ? ~0u : (1u << 8 * matrices) - 1;
  c.shared_bytes += uint64_t(std::popcount(access.mask)) * access.bytes;
  remember(memory.worst, access, wavefronts);
  if (memory.seen_shared) memory.seen_shared->take(access);
}

void count_matrices(Counters& c, Memory& memory, const Touch& touch, const Warp& w,
                    const Inst* inst) {
  SharedAccess access =
      touch.generic ? in_window(read_addresses<uint64_t>(w, inst->a, int32_t(inst->b), touch.bytes),
                                0, w.shared_start)
                    : read_addresses<uint32_t>(
                          w, inst->a, int64_t(int32_t(inst->b)) - w.shared_start, touch.bytes);
  count_rows(c, memory, access, touch.matrices);
}

void count_fragments(Counters& c, Memory& memory, const Touch& touch, const Warp& w,
                     const Inst* inst) {
  WmmaTile tile = wmma_tile(w, inst);
  const bool shared =
      touch.generic ? tile.base - kSharedWindow < 1ull << 32 : touch.reach == Reach::shared;
  if (shared) tile.base -= w.shared_start;
  KeptFragment& kept = memory.fragment;
  const uint64_t phase = tile.base % kLineBytes + (shared ? kLineBytes : 0);
  if (kept.pitch != tile.pitch || kept.phase != phase) {
    kept = {tile.pitch, phase, {}, {}};
    Memory once;
    for (const FragmentAccess& one : accesses_of(tile, touch.matrices)) {
      if (one.matrices) count_rows(kept.cost, once, in_window(one.access, 0), one.matrices);
      else if (shared) count_shared(kept.cost, once, in_window(one.access, one.access.mask), touch);
      else count_global(kept.cost, once, one.access, touch.action);
    }
    kept.worst = once.worst;
  }
  c += kept.cost;
  memory.worst.meet(kept.worst);
  if (shared || !memory.footprint) return;
  for (const FragmentAccess& one : accesses_of(tile, touch.matrices))
    count_footprint(c, memory, one.access, touch.action);
}

// Past the first cache, a line of the source at a time is brought to the sectors where it goes.
uint32_t sectors_past_cache(const Access& source, const SharedAccess& target) {
  uint32_t sectors = 0;
  Access part;
  part.bytes = source.bytes;
  std::copy(target.address.begin(), target.address.end(), part.address.begin());
  for (uint32_t left = source.mask; left; left &= ~part.mask) {
    const uint64_t line = source.address[size_t(std::countr_zero(left))] / kLineBytes;
    part.mask = 0;
    for (uint32_t lane = 0; lane < 32; ++lane)
      if (left >> lane & 1 && source.address[lane] / kLineBytes == line) part.mask |= 1u << lane;
    sectors += global_cost(part).sectors;
  }
  return sectors;
}

// cp.async: reads global memory and writes shared. Fields: isa/async.cpp.
void count_copy(Counters& c, Memory& memory, const Touch& touch, const Warp& w, const Inst* inst) {
  const Wide& more = wide(inst);
  const uint32_t bytes = w.src<uint32_t>(more.x[1])[0];
  const auto target =
      read_addresses<uint32_t>(w, inst->a, int64_t(int32_t(inst->b)) - w.shared_start, bytes);
  const uint64_t before = c.wavefronts_by_line;
  count_shared(c, memory, target, touch);
  Access source = read_addresses<uint64_t>(w, inst->c, int32_t(more.x[0]), bytes);
  if (more.x[2] != kNoOperand)  // lanes that read nothing
    for (uint32_t i = 0; i < 32; ++i)
      if (!w.src<uint32_t>(more.x[2])[i]) source.mask &= ~(1u << i);
  if (more.x[3] != kNoOperand) source.mask &= ~w.pred(more.x[3]);
  if (!source.mask) return;
  count_global(c, memory, source, Action::load);
  if (!touch.bypasses) {
    // Read through the cache, the source's banks are in the way as the target's are.
    const auto least = uint32_t(c.wavefronts_by_line - before);
    c.wavefronts_by_line +=
        std::max(least, shared_cost(in_window(source, source.mask), Service::store).by_line);
    c.wavefronts_by_line -= least;
    return;
  }
  c.sectors += sectors_past_cache(source, target);
  c.sectors -= global_cost(source).sectors;
}

}  // namespace

void count_touch(Counters& counters, Memory& memory, const Touch& touch, const Warp& w,
                 const Inst* inst) {
  for (Seen* seen : {memory.seen_global.get(), memory.seen_shared.get()})
    if (seen) seen->begin(w.block->index, w.index);
  switch (touch.kind) {
    case Touch::Kind::lanes: return count_lanes(counters, memory, touch, w, inst);
    case Touch::Kind::matrices: return count_matrices(counters, memory, touch, w, inst);
    case Touch::Kind::fragments: return count_fragments(counters, memory, touch, w, inst);
    case Touch::Kind::copy: return count_copy(counters, memory, touch, w, inst);
    case Touch::Kind::bulk: return count_bulk(counters, memory, touch, w, inst);
    case Touch::Kind::tensor: return count_tensor(counters, memory, touch, w, inst);
    case Touch::Kind::peer: return count_peer_store(counters, touch, w, inst);
  }
}

}  // namespace ridge::vm::observe
