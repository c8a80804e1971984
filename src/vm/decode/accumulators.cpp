#include "vm/decode/accumulators.h"

#include <algorithm>
#include <numeric>

#include "vm/isa/operands.h"

namespace ridge::vm {
namespace {

bool starts_product(const Item& item) {
  if (item.kind != Item::Kind::op || !item.match) return false;
  const auto& specs = operand_specs(*item.match->row);
  return !specs.empty() && specs[0].updated;
}
bool writes_accumulators(const Item& item) {
  return starts_product(item) || item.kind == Item::Kind::ret ||
         (item.kind == Item::Kind::op && item.match &&
          item.match->facts().sync == Sync::product_wait);
}

// A move of one register to another of the same width.
bool is_copy(const Item& item, const std::vector<Register>& registers) {
  return item.kind == Item::Kind::op && item.match && item.guard < 0 &&
         item.match->facts().encoding == Encoding::move && item.defs.size() == 1 &&
         item.uses.size() == 1 && item.source->operands.size() == 2 &&
         item.source->operands[0].kind == Operand::Kind::reg &&
         item.source->operands[1].kind == Operand::Kind::reg &&
         lane_bytes(registers[size_t(item.defs[0])].type) ==
             lane_bytes(registers[size_t(item.uses[0])].type);
}

using Bits = std::vector<uint64_t>;
void set(Bits& bits, size_t i) { bits[i / 64] |= 1ull << (i % 64); }
void reset(Bits& bits, size_t i) { bits[i / 64] &= ~(1ull << (i % 64)); }

// Chaitin's coalescing, for the accumulators and what copies connect with them: two registers can
// share a place unless one is written, other than by a copy of the other, while the other is live.
class Coalescing {
 public:
  Coalescing(std::vector<Item>& items, const FlowGraph& flow,
             const std::vector<Register>& registers, const std::vector<int32_t>& accumulators)
      : items_(items), flow_(flow), registers_(registers), stands_for_(registers.size()) {
    std::iota(stands_for_.begin(), stands_for_.end(), 0);
    choose(accumulators);
    words_ = (chosen_.size() + 63) / 64;
  }

  std::vector<int32_t> run() {
    find_conflicts();
    members_.assign(chosen_.size(), Bits(words_));
    for (size_t i = 0; i < chosen_.size(); ++i) set(members_[i], i);
    for (const Item& item : items_)
      if (is_copy(item, registers_))
        unite(number_[size_t(item.defs[0])], number_[size_t(item.uses[0])]);
    for (int32_t& r : stands_for_) r = root(r);
    return std::move(stands_for_);
  }

 private:
  static constexpr uint32_t kNone = ~0u;

  // The accumulators, and all registers that copies lead to or from.
  void choose(const std::vector<int32_t>& accumulators) {
    number_.assign(registers_.size(), kNone);
    const auto take = [&](int32_t r) {
      if (number_[size_t(r)] != kNone) return false;
      number_[size_t(r)] = uint32_t(chosen_.size());
      chosen_.push_back(r);
      return true;
    };
    for (int32_t r : accumulators) take(r);
    for (bool grew = true; grew;) {
      grew = false;
      for (const Item& item : items_) {
        if (!is_copy(item, registers_)) continue;
        const int32_t to = item.defs[0], from = item.uses[0];
        if (number_[size_t(to)] != kNone) grew |= take(from);
        else if (number_[size_t(from)] != kNone) grew |= take(to);
      }
    }
  }

  void find_conflicts() {
    conflicts_.assign(chosen_.size(), Bits(words_));
    const Liveness liveness = find_liveness(items_, flow_, registers_.size());
    for (size_t b = 0; b < flow_.blocks.size(); ++b) {
      Bits live(words_);
      for (size_t i = 0; i < chosen_.size(); ++i) {
        const auto r = size_t(chosen_[i]);
        if (liveness.live_out[b][r / 64] >> (r % 64) & 1) set(live, i);
      }
      for (uint32_t k = flow_.blocks[b].end; k-- > flow_.blocks[b].begin;) step(items_[k], live);
    }
  }
  // What is live behind an item, to what is live before it.
  void step(const Item& item, Bits& live) {
    const bool copy = is_copy(item, registers_);
    for (int32_t r : item.defs) {
      const uint32_t d = number_[size_t(r)];
      if (d == kNone) continue;
      const uint32_t from = copy ? number_[size_t(item.uses[0])] : kNone;
      for (size_t w = 0; w < words_; ++w)
        for (uint64_t bits = live[w]; bits; bits &= bits - 1) {
          const auto other = uint32_t(w * 64 + size_t(__builtin_ctzll(bits)));
          if (other == d || other == from) continue;
          set(conflicts_[d], other);
          set(conflicts_[other], d);
        }
    }
    if (item.guard < 0)
      for (int32_t r : item.defs)
        if (number_[size_t(r)] != kNone) reset(live, number_[size_t(r)]);
    for (int32_t r : item.uses)
      if (number_[size_t(r)] != kNone) set(live, number_[size_t(r)]);
  }

  int32_t root(int32_t r) const {
    while (stands_for_[size_t(r)] != r) r = stands_for_[size_t(r)];
    return r;
  }
  void unite(uint32_t x, uint32_t y) {
    if (x == kNone || y == kNone) return;
    x = number_[size_t(root(chosen_[x]))];
    y = number_[size_t(root(chosen_[y]))];
    if (x == y) return;
    for (size_t w = 0; w < words_; ++w)
      if (conflicts_[x][w] & members_[y][w]) return;
    for (size_t w = 0; w < words_; ++w) {
      conflicts_[x][w] |= conflicts_[y][w];
      members_[x][w] |= members_[y][w];
    }
    // Others see the conflict with any member of the class.
    for (size_t i = 0; i < chosen_.size(); ++i)
      if (conflicts_[x][i / 64] >> (i % 64) & 1) set(conflicts_[i], x);
    stands_for_[size_t(chosen_[y])] = chosen_[x];
  }

  std::vector<Item>& items_;
  const FlowGraph& flow_;
  const std::vector<Register>& registers_;
  std::vector<int32_t> stands_for_;
  std::vector<int32_t> chosen_;   // registers
  std::vector<uint32_t> number_;  // by register: its place in chosen_
  size_t words_ = 0;
  std::vector<Bits> conflicts_, members_;
};

}  // namespace

std::vector<int32_t> place_accumulators(std::vector<Item>& items, const FlowGraph& flow,
                                        const std::vector<Register>& registers) {
  std::vector<int32_t> accumulators;
  for (const Item& item : items)
    if (starts_product(item))
      accumulators.insert(accumulators.end(), item.defs.begin(), item.defs.end());
  if (accumulators.empty()) return {};
  std::sort(accumulators.begin(), accumulators.end());
  accumulators.erase(std::unique(accumulators.begin(), accumulators.end()), accumulators.end());

  const std::vector<int32_t> stands_for = Coalescing(items, flow, registers, accumulators).run();
  const auto replace = [&](std::vector<int32_t>& list) {
    for (int32_t& r : list) r = stands_for[size_t(r)];
  };
  replace(accumulators);
  for (Item& item : items) {
    replace(item.defs);
    replace(item.uses);
    if (writes_accumulators(item))
      item.uses.insert(item.uses.end(), accumulators.begin(), accumulators.end());
  }
  return stands_for;
}

}  // namespace ridge::vm
