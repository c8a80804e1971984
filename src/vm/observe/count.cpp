#include "vm/observe/count.h"

#include <algorithm>
#include <bit>

#include "vm/isa/memory.h"
#include "vm/observe/access.h"

namespace ridge::vm::observe {
namespace {

void remember(Worst& worst, const Access& access, uint32_t cost) {
  if (cost < worst.cost || !access.mask) return;
  if (cost > worst.cost) worst = {0, cost, access.mask, access.address};
  ++worst.warps;
}

void count_shared(Counters& c, const Access& access) {
  const SharedCost cost = shared_cost(access);
  ++c.shared_requests;
  c.wavefronts += cost.wavefronts;
  c.ideal_wavefronts += cost.ideal;
  remember(c.worst, access, cost.wavefronts);
}

void count_global(Counters& c, const Access& access, Action action) {
  ++c.requests;
  const GlobalCost cost = global_cost(access);
  const uint32_t sectors = action == Action::reduction || action == Action::atomic
                               ? atomic_sectors(access)
                               : cost.sectors;
  c.lines += cost.lines;
  c.bytes_used += cost.bytes_used;
  c.sectors += sectors;
  remember(c.worst, access, sectors);
}

// Local memory holds a word of each lane side by side, then the next word of each.
void count_local(Counters& c, Access access) {
  const uint32_t bytes = access.bytes;
  access.bytes = std::min(bytes, 4u);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint64_t at = access.address[lane];
    access.address[lane] = (at / 4 * kWarpSize + lane) * 4 + at % 4;
  }
  ++c.requests;
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
  remember(c.worst, access, sectors);
}

template <class T>
void read_addresses(Access& access, const Warp& w, uint32_t base, int64_t offset) {
  const T* from = w.src<T>(base);
  for (size_t i = 0; i < 32; ++i) access.address[i] = uint64_t(T(from[i] + T(offset)));
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

void count_lanes(Counters& c, const Touch& touch, const Warp& w, const Inst* inst) {
  Access access;
  access.bytes = touch.bytes;
  access.mask = w.mask;
  const int64_t offset = int64_t(int32_t(inst->b)) + touch.offset;
  if (touch.reach != Reach::global) {
    read_addresses<uint32_t>(access, w, inst->a, offset);
    if (touch.reach == Reach::shared) return count_shared(c, access);
    return count_local(c, access);
  }
  read_addresses<uint64_t>(access, w, inst->a, offset);
  if (!touch.generic) return count_global(c, access, touch.action);
  const Windows windows = windows_of(access);
  const uint32_t global = access.mask & ~windows.all();
  if ((access.mask = global)) count_global(c, access, touch.action);
  if ((access.mask = windows.lanes[0])) count_shared(c, access);
  if ((access.mask = windows.lanes[1])) {
    for (uint64_t& at : access.address) at = uint32_t(at);
    count_local(c, access);
  }
}

// Eight rows at a time, the addresses of which eight lanes give.
void count_matrices(Counters& c, const Touch& touch, const Warp& w, const Inst* inst) {
  Access access;
  access.bytes = touch.bytes;
  if (touch.generic) read_addresses<uint64_t>(access, w, inst->a, int32_t(inst->b));
  else read_addresses<uint32_t>(access, w, inst->a, int32_t(inst->b));
  const uint32_t lanes = touch.matrices == 4 ? ~0u : (1u << 8 * touch.matrices) - 1;
  uint32_t wavefronts = 0;
  for (uint32_t m = 0; m < touch.matrices; ++m) {
    access.mask = 0xffu << 8 * m;
    wavefronts += shared_cost(access).wavefronts;
  }
  ++c.shared_requests;
  c.wavefronts += wavefronts;
  c.ideal_wavefronts += touch.matrices;
  access.mask = lanes;
  remember(c.worst, access, wavefronts);
}

// cp.async: reads global memory and writes shared. Fields: isa/async.cpp.
void count_copy(Counters& c, const Warp& w, const Inst* inst) {
  const Wide& more = wide(inst);
  Access access;
  access.bytes = w.src<uint32_t>(more.x[1])[0];
  access.mask = w.mask;
  read_addresses<uint32_t>(access, w, inst->a, int32_t(inst->b));
  count_shared(c, access);
  if (more.x[2] != kNoOperand)  // lanes that read nothing
    for (uint32_t i = 0; i < 32; ++i)
      if (!w.src<uint32_t>(more.x[2])[i]) access.mask &= ~(1u << i);
  if (more.x[3] != kNoOperand) access.mask &= ~w.pred(more.x[3]);
  if (!access.mask) return;
  read_addresses<uint64_t>(access, w, inst->c, int32_t(more.x[0]));
  count_global(c, access, Action::load);
}

}  // namespace

void count_touch(Counters& counters, const Touch& touch, const Warp& w, const Inst* inst) {
  switch (touch.kind) {
    case Touch::Kind::lanes: return count_lanes(counters, touch, w, inst);
    case Touch::Kind::matrices: return count_matrices(counters, touch, w, inst);
    case Touch::Kind::copy: return count_copy(counters, w, inst);
  }
}

}  // namespace ridge::vm::observe
