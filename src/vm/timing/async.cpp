#include "vm/timing/async.h"

#include <algorithm>
#include <bit>

#include "vm/exec/tensor_rows.h"
#include "vm/isa/meanings.h"
#include "vm/mem/windows.h"

namespace ridge::vm::timing {
namespace {

using model::Op;
using observe::Touch;

template <class F>
void each_lane(uint32_t mask, F f) {
  for (; mask; mask &= mask - 1) f(uint32_t(std::countr_zero(mask)));
}

// The engine asks for 128 bytes at a time, counted from the beginning of a row.
void add(BulkLines& lines, uint64_t first, uint64_t bytes) {
  lines.bytes += bytes;
  for (uint64_t done = 0; done < bytes; done += 128) {
    const uint64_t begin = first + done, end = first + std::min(done + 128, bytes);
    for (uint64_t line = begin / 128; line * 128 < end; ++line) {
      uint32_t sectors = 0;
      for (uint64_t s = 0; s < 4; ++s) {
        const uint64_t at = line * 128 + s * 32;
        sectors |= uint32_t(at < end && at + 32 > begin) << s;
      }
      lines.at.emplace_back(line, sectors);
    }
  }
}

// Fields: isa/async.cpp, isa/bulk.cpp.
void add_bytes(BulkLines& lines, const Touch& touch, const Warp& w, const Inst* inst) {
  const bool prefetches = touch.bulk == Bulk::prefetch, loads = touch.bulk == Bulk::load;
  const uint32_t* size = w.src<uint32_t>(prefetches ? inst->c : wide(inst).x[1]);
  if (touch.bulk == Bulk::to_peer)
    return each_lane(w.mask, [&](uint32_t lane) { lines.peer_bytes += size[lane]; });
  const uint64_t* base = w.src<uint64_t>(loads ? inst->c : inst->a);
  const auto offset = uint64_t(int64_t(int32_t(loads ? wide(inst).x[0] : inst->b)));
  each_lane(w.mask, [&](uint32_t lane) { add(lines, base[lane] + offset, size[lane]); });
}

void add_boxes(BulkLines& lines, const Touch& touch, const Warp& w, const Inst* inst) {
  each_lane(w.mask, [&](uint32_t lane) {
    const auto copy = tensor_copy_of(w, inst, lane, touch.bulk != Bulk::store);
    if (!copy) return;  // it ends the kernel
    each_row(*copy, [&](const TensorRow& row) {
      if (row.inside()) add(lines, row.global + row.first, row.last - row.first);
      return true;
    });
  });
}

// The mbarriers of a warp's lanes, each once, with the bytes that it is told.
template <class T>
std::vector<T> once(uint32_t lanes, const uint32_t* barriers, const uint32_t* bytes) {
  std::vector<T> out;
  each_lane(lanes, [&](uint32_t lane) {
    const uint32_t more = bytes ? bytes[lane] : 0;
    const auto known = std::ranges::find(out, barriers[lane], &T::barrier);
    if (known == out.end()) out.push_back({barriers[lane], more});
    else known->bytes += more;
  });
  return out;
}

const Block* owner_of(const Warp& w, uint32_t barrier) {
  const auto& blocks = w.block->cluster->blocks;
  const size_t rank = barrier >> kRankShift;
  return rank < blocks.size() ? blocks[rank].get() : nullptr;
}
uint32_t offset_of(uint32_t barrier) { return barrier % uint32_t(kWindowSize); }

}  // namespace

bool is_bulk(const Touch& touch) {
  return touch.kind == Touch::Kind::bulk || touch.kind == Touch::Kind::tensor ||
         touch.kind == Touch::Kind::peer;
}

BulkLines bulk_lines(const Touch& touch, const Warp& w, const Inst* inst, uint64_t origin) {
  BulkLines lines;
  switch (touch.kind) {
    case Touch::Kind::bulk: add_bytes(lines, touch, w, inst); break;
    case Touch::Kind::tensor: add_boxes(lines, touch, w, inst); break;
    case Touch::Kind::peer: lines.peer_bytes = uint64_t(std::popcount(w.mask)) * touch.bytes; break;
    default: break;
  }
  for (auto& [line, sectors] : lines.at) line -= origin / 128;
  return lines;
}

void AsyncWork::begin(model::Work& work) {
  const auto append = [&](Op::Kind kind) {
    Op op;
    op.kind = kind;
    op.issues = 0;
    op.accesses = 1;
    op.ends = true;
    work.steps.push_back({uint32_t(work.ops.size()), 1});
    work.ops.push_back(op);
    work.traffic.resize(work.ops.size());
    return uint32_t(work.steps.size() - 1);
  };
  lands_ = append(Op::Kind::lands);
  delivered_ = append(Op::Kind::delivered);
  arrived_ = append(Op::Kind::arrived);
}

uint32_t AsyncWork::phase_of(const Block& block, uint32_t offset) {
  const std::lock_guard lock(mutex_);
  return phases_[block.index][offset];
}

void AsyncWork::completes(const Block& block, uint32_t offset) {
  const std::lock_guard lock(mutex_);
  ++phases_[block.index][offset];
}

void AsyncWork::tell(Stream to, uint32_t step, const Block& owner, const Told& told) {
  if (!to) return;
  const uint32_t offset = offset_of(told.barrier), phase = phase_of(owner, offset);
  const std::initializer_list<uint32_t> words = {step, told.bytes, 1, offset, phase};
  const size_t at = to.asks_at ? std::min(*to.asks_at, to.words->size()) : to.words->size();
  to.words->insert(to.words->begin() + ptrdiff_t(at), words);
  if (to.asks_at) *to.asks_at = at + words.size();
  ++to.block->signals[model::phase_key(offset, phase)];
}

void AsyncWork::arrive(const Warp& w, const Inst* inst, bool generic, const FindStream& find) {
  uint32_t barriers[kWarpSize] = {};
  each_lane(w.mask, [&](uint32_t lane) {
    const uint64_t base =
        generic ? w.src<uint64_t>(inst->a)[lane] - kSharedWindow : w.src<uint32_t>(inst->a)[lane];
    barriers[lane] = uint32_t(base) + inst->b;
  });
  const Stream own = find(*w.block, w.index);
  const auto all = once<Told>(w.mask, barriers, nullptr);
  if (own) {
    own.words->insert(own.words->end(), {0, 0});
    const size_t count = own.words->size() - 1;
    for (const Told& told : all)
      if (owner_of(w, told.barrier) == w.block) {
        const uint32_t offset = offset_of(told.barrier), phase = phase_of(*w.block, offset);
        own.words->insert(own.words->end(), {offset, phase});
        ++(*own.words)[count];
        ++own.block->signals[model::phase_key(offset, phase)];
      }
  }
  for (const Told& told : all)
    if (const Block* owner = owner_of(w, told.barrier); owner && owner != w.block)
      tell(find(*owner, w.index), arrived_, *owner, told);
}

void AsyncWork::waited(const Warp& w, const uint32_t* barriers, Stream stream) {
  if (!stream) return;
  stream.words->insert(stream.words->end(), {0, 0});
  const size_t count = stream.words->size() - 1;
  for (const Told& told : once<Told>(w.mask, barriers, nullptr)) {
    const uint32_t offset = offset_of(told.barrier), phase = phase_of(*w.block, offset);
    if (!phase) continue;  // the phase before the first one is over from the start
    stream.words->insert(stream.words->end(), {offset, phase - 1});
    ++(*stream.words)[count];
  }
}

void AsyncWork::started(const Warp& w, const AsyncEntry& entry, const FindStream& find) {
  const bool loads = entry.kind == AsyncEntry::Kind::bulk_load;
  if (!loads && entry.kind != AsyncEntry::Kind::peer_store) return;
  for (const Told& told : once<Told>(entry.lanes, entry.barrier, entry.size))
    if (const Block* owner = owner_of(w, told.barrier))
      tell(find(*owner, w.index),
           !loads             ? arrived_
           : owner == w.block ? lands_
                              : delivered_,
           *owner, told);
}

}  // namespace ridge::vm::timing
