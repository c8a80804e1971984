// Copies by the copy engine: what they move between an SM and the L2, or between SMs. Counted when
// they start.
#include <algorithm>
#include <bit>

#include "vm/exec/tensor_rows.h"
#include "vm/isa/memory.h"
#include "vm/observe/count.h"

namespace ridge::vm::observe {
namespace {

// The copy engine asks for 128 bytes of a row at a time, counted from its beginning; a sector that
// two such pieces share moves twice.
constexpr uint64_t kPieceBytes = 128;

uint64_t sectors_in_pieces(uint64_t at, uint64_t bytes) {
  uint64_t sectors = 0;
  for (uint64_t done = 0; done < bytes; done += kPieceBytes) {
    const uint64_t begin = at + done, end = at + std::min(done + kPieceBytes, bytes);
    sectors += (end - 1) / kSectorBytes - begin / kSectorBytes + 1;
  }
  return sectors;
}

struct Copied {
  uint64_t sectors = 0;     // between SM and L2, to one block
  uint64_t l2_sectors = 0;  // in the L2
};

// Adds what one copy moves; `blocks` get it.
void add(Counters& c, const Touch& touch, const Copied& copied, uint32_t blocks) {
  ++c.requests;
  c.l2_sectors += copied.l2_sectors;
  if (touch.action == Action::prefetch) return;
  c.sectors += copied.sectors * blocks;
  if (touch.multicast) c.multicast_sectors += copied.sectors * blocks;
}

// Bytes of global memory that are really read or written.
void use(Counters& c, Memory& memory, const Touch& touch, uint64_t at, uint32_t bytes) {
  if (!bytes) return;
  c.bytes_used += bytes;
  if (!memory.footprint) return;
  Access range;
  range.mask = 1;
  range.bytes = bytes;
  range.address[0] = at;
  const bool writes = touch.action == Action::store || touch.action == Action::reduction;
  c.first_sectors += memory.footprint->touch(range, writes, memory.last_page);
  memory.lowest = std::min(memory.lowest, at);
  memory.end = std::max(memory.end, at + bytes);
}

template <class F>
void each_lane(uint32_t mask, F f) {
  for (; mask; mask &= mask - 1) f(uint32_t(std::countr_zero(mask)));
}

}  // namespace

// Fields: isa/async.cpp, isa/bulk.cpp; of a prefetch a, b = source and c = size.
void count_bulk(Counters& c, Memory& memory, const Touch& touch, const Warp& w, const Inst* inst) {
  const bool prefetches = touch.bulk == Bulk::prefetch;
  const uint32_t* size = w.src<uint32_t>(prefetches ? inst->c : wide(inst).x[1]);
  if (touch.bulk == Bulk::to_peer)
    return each_lane(w.mask, [&](uint32_t lane) {
      ++c.peer_requests;
      c.peer_bytes += size[lane];
    });
  const bool loads = touch.bulk == Bulk::load;
  const uint64_t* base = w.src<uint64_t>(loads ? inst->c : inst->a);
  const auto offset = uint64_t(int64_t(int32_t(loads ? wide(inst).x[0] : inst->b)));
  each_lane(w.mask, [&](uint32_t lane) {
    const uint64_t at = base[lane] + offset, sectors = sectors_in_pieces(at, size[lane]);
    const uint32_t blocks =
        touch.multicast ? uint32_t(std::popcount(w.src<uint16_t>(wide(inst).x[4])[lane])) : 1;
    add(c, touch, {sectors, sectors}, blocks);
    use(c, memory, touch, at, size[lane]);
  });
}

// A load asks the L2 for the rows outside of the tensor, too, and gets zeros for one sector of
// each; a store leaves them out.
void count_tensor(Counters& c, Memory& memory, const Touch& touch, const Warp& w,
                  const Inst* inst) {
  const bool loads = touch.bulk != Bulk::store;
  const uint32_t receivers = w.frame->code->tensors[inst->a].receivers;
  const uint16_t* const ranks = receivers == kNoOperand ? nullptr : w.src<uint16_t>(receivers);
  each_lane(w.mask, [&](uint32_t lane) {
    const auto copy = tensor_copy_of(w, inst, lane, loads);
    if (!copy) return;  // it ends the kernel
    Copied copied;
    each_row(*copy, [&](const TensorRow& row) {
      const uint64_t inside =
          row.inside() ? sectors_in_pieces(row.global + row.first, row.last - row.first) : 0;
      copied.sectors += loads ? sectors_in_pieces(row.global, copy->row_bytes) : inside;
      copied.l2_sectors += loads ? std::max<uint64_t>(inside, 1) : inside;
      if (row.inside()) use(c, memory, touch, row.global + row.first, row.last - row.first);
      return true;
    });
    add(c, touch, copied, ranks ? std::popcount(ranks[lane]) : 1);
  });
}

}  // namespace ridge::vm::observe
