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
  if (products_.size() - head_ >= kMostProducts) make(w, head_ + kMostProducts / 2);
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

void ProductQueue::make(const Warp& w, size_t end) {
  for (; head_ < end; ++head_) make_product(w, products_[head_]);
  if (empty()) clear();
}

void ProductQueue::wait(const Warp& w, uint32_t newest) {
  size_t end = head_;
  while (end < products_.size() && products_[end].group + newest < group_) ++end;
  make(w, end);
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

Warpgroup::Step Warpgroup::missed_by(uint32_t warp) const {
  const uint64_t mine = started_[warp % kWarps] - first_;
  return mine < steps_.size() ? steps_[mine] : Step{};
}

Warpgroup& warpgroup_of(const Warp& w) {
  auto& groups = w.block->warpgroups;
  if (groups.empty()) groups.resize(w.block->warps.size() / Warpgroup::kWarps);
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
