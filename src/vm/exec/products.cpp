#include "vm/exec/products.h"

#include <algorithm>

#include "vm/exec/warp.h"
#include "vm/isa/wgmma.h"

namespace ridge::vm {
namespace {

// A program that never waits must not fill the memory: its oldest products are made when there are
// more.
constexpr size_t kMostProducts = 1024;

}  // namespace

Product& ProductQueue::push(const Warp& w, const Inst* inst) {
  if (products_.size() - head_ >= kMostProducts) make(w, made_ + kMostProducts / 2);
  if (head_ && head_ >= products_.size() / 2) {
    products_.erase(products_.begin(), products_.begin() + long(head_));
    head_ = 0;
  }
  Product& product = products_.emplace_back();
  product.inst = inst;
  product.registers = w.base[0];
  product.group = group_;
  return product;
}

uint64_t ProductQueue::due(uint32_t newest) const {
  size_t end = head_;
  while (end < products_.size() && products_[end].group + newest < group_) ++end;
  return made_ + (end - head_);
}

void ProductQueue::make(const Warp& w, uint64_t count) {
  for (; head_ < products_.size() && made_ < count; ++head_, ++made_)
    make_product(w, products_[head_]);
  if (!empty()) return;
  products_.clear();
  head_ = 0;
}

const Inst* wait_for_products(Warp& w, const Inst* inst, uint32_t newest) {
  const uint64_t due = w.products.due(newest);
  if (due == w.products.made()) return inst + 1;
  if (!warpgroup_of(w).has_started(*w.block, due)) {
    Fragment& f = w.fragments[w.current];
    f.state = Fragment::State::at_products;
    f.wake = due;
    f.pc = inst;
    w.stop = Stop::reschedule;
    return nullptr;
  }
  const uint32_t first = w.index / Warpgroup::kWarps * Warpgroup::kWarps;
  for (uint32_t k = first; k < first + Warpgroup::kWarps; ++k) {
    Warp& other = w.block->warps[k];
    other.products.make(other, due);
  }
  return inst + 1;
}

bool Warpgroup::starts(const Warp& w, const Inst* inst) {
  uint64_t& mine = started_[w.index % kWarps];
  const uint64_t known = first_ + steps_.size();
  if (mine == known) {
    if (steps_.size() >= 64) {
      const uint64_t least = *std::min_element(started_.begin(), started_.end());
      if (least - first_ >= steps_.size() / 2) {
        steps_.erase(steps_.begin(), steps_.begin() + long(least - first_));
        first_ = least;
      }
    }
    steps_.push_back({inst, w.frame->code});
  } else if (steps_[mine - first_].inst != inst) {
    return false;
  }
  ++mine;
  return true;
}

bool Warpgroup::has_started(const Block& block, uint64_t count) const {
  for (uint32_t k = 0; k < kWarps; ++k)
    if (started_[k] < count && !block.warps[first_warp_ + k].fragments.empty()) return false;
  return true;
}

Warpgroup::Step Warpgroup::missed_by(uint32_t warp) const {
  const uint64_t mine = started_[warp % kWarps] - first_;
  return mine < steps_.size() ? steps_[mine] : Step{};
}

Warpgroup& warpgroup_of(const Warp& w) {
  auto& groups = w.block->warpgroups;
  if (groups.empty())
    for (uint32_t k = 0; k + Warpgroup::kWarps <= w.block->warps.size(); k += Warpgroup::kWarps)
      groups.emplace_back(k);
  return groups[w.index / Warpgroup::kWarps];
}

bool warpgroups_agree(Block& block) {
  for (size_t k = 0; k < block.warpgroups.size() * Warpgroup::kWarps; ++k) {
    Warp& w = block.warps[k];
    const auto [inst, code] = warpgroup_of(w).missed_by(w.index);
    if (!inst) continue;
    Frame there;
    there.code = code;
    w.frame = &there;
    raise(w, inst, FaultKind::illegal_instruction, 0, 0, 0,
          "this warp ended without the wgmma that other warps of its warpgroup have executed: all "
          "four must execute it");
    w.frame = w.frames[0].get();
    return false;
  }
  return true;
}

}  // namespace ridge::vm
