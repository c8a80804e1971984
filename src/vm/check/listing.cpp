#include "vm/check/listing.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "vm/isa/operands.h"

namespace ridge::vm::check {
namespace {

void collect(const Operand& op, std::vector<int32_t>& out) {
  if ((op.kind == Operand::Kind::reg || op.kind == Operand::Kind::address) && op.reg >= 0)
    out.push_back(op.reg);
  for (const Operand& e : op.elems) collect(e, out);
}

uint64_t mix(uint64_t a, uint64_t b) {
  return (a ^ (b + 0x9e3779b97f4a7c15ull + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccdull;
}
uint64_t mix(uint64_t a, std::string_view text) {
  return mix(a, uint64_t(std::hash<std::string_view>{}(text)));
}

}  // namespace

Listing::Listing(const Function& function) : function_(function) {
  const auto& all = function.instructions;
  nodes_.resize(all.size());
  writers_.resize(function.registers.size());
  readers_.resize(function.registers.size());
  for (uint32_t i = 0; i < all.size(); ++i) {
    const Instruction& ins = all[i];
    Node& node = nodes_[i];
    if (ins.guard >= 0) node.uses.push_back(ins.guard);
    const Flow flow = facts(i).flow;
    const bool has_specs = ins.match && (flow == Flow::next || flow == Flow::trap);
    const auto* specs = has_specs ? &operand_specs(*ins.match->row) : nullptr;
    for (size_t k = 0; k < ins.operands.size(); ++k) {
      const bool writes = specs && k < specs->size() && (*specs)[k].dest;
      collect(ins.operands[k], writes ? node.defs : node.uses);
      if (ins.operands[k].second >= 0) node.defs.push_back(ins.operands[k].second);
    }
    for (const Operand& op : ins.operands) {
      if (flow == Flow::jump && op.kind == Operand::Kind::label && op.target < all.size())
        node.next.push_back(op.target);
      if (flow == Flow::table && op.kind == Operand::Kind::table)
        for (const uint32_t target : function.tables[op.target].targets)
          if (target < all.size()) node.next.push_back(target);
    }
    if (i + 1 < all.size() && (ins.guard >= 0 || !facts(i).leaves())) node.next.push_back(i + 1);
    for (const int32_t r : node.defs) writers_[size_t(r)].push_back(i);
    for (const int32_t r : node.uses) readers_[size_t(r)].push_back(i);
  }
  find_blocks();
  find_dominators();
}

uint32_t Listing::index_of(const Instruction* source) const {
  const Instruction* first = function_.instructions.data();
  return source >= first && source < first + nodes_.size() ? uint32_t(source - first) : kNone;
}

const Form& Listing::form(uint32_t i) const {
  static const Form none;
  return at(i).match ? at(i).match->form : none;
}

bool Listing::is_opaque(uint32_t i) const {
  const Facts& f = facts(i);
  return (f.access == AccessKind::load && form(i).space != Space::param) ||
         f.access == AccessKind::atomic || f.access == AccessKind::sample || f.flow == Flow::call ||
         f.exchanges;
}

uint32_t Listing::only_writer(int32_t reg) const {
  const auto& all = writers(reg);
  return all.size() == 1 && at(all[0]).guard < 0 ? all[0] : kNone;
}

void Listing::find_blocks() {
  std::vector<uint8_t> begins(size() + 1, 0);
  if (size()) begins[0] = 1;
  for (uint32_t i = 0; i < size(); ++i) {
    const auto& to = next(i);
    if (to.size() == 1 && to[0] == i + 1) continue;
    begins[i + 1] = 1;
    for (const uint32_t t : to) begins[t] = 1;
  }
  for (uint32_t i = 0; i < size(); ++i) {
    if (begins[i]) begins_.push_back(i);
    block_of_.push_back(uint32_t(begins_.size()) - 1);
  }
  predecessors_.resize(begins_.size());
  for (uint32_t i = 0; i < size(); ++i)
    for (const uint32_t t : next(i))
      if (begins[t]) predecessors_[block_of_[t]].push_back(block_of_[i]);
}

// Cooper, Harvey and Kennedy's iteration, in the order of the text where it has no better one.
void Listing::find_dominators() {
  const uint32_t n = uint32_t(begins_.size());
  std::vector<uint32_t> order, number(n, kNone);
  std::vector<std::pair<uint32_t, size_t>> stack;
  std::vector<uint8_t> seen(n, 0);
  const auto successors = [&](uint32_t block) -> const std::vector<uint32_t>& {
    const uint32_t end = block + 1 < n ? begins_[block + 1] : size();
    return next(end - 1);
  };
  if (n) stack.push_back({0, 0}), seen[0] = 1;
  while (!stack.empty()) {
    auto& [block, done] = stack.back();
    if (done < successors(block).size()) {
      const uint32_t to = block_of_[successors(block)[done++]];
      if (!seen[to]) seen[to] = 1, stack.push_back({to, 0});
    } else {
      order.push_back(block);
      stack.pop_back();
    }
  }
  std::reverse(order.begin(), order.end());
  for (uint32_t k = 0; k < order.size(); ++k) number[order[k]] = k;
  dominator_.assign(n, kNone);
  if (n) dominator_[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (const uint32_t block : order) {
      if (block == 0) continue;
      uint32_t best = kNone;
      for (uint32_t p : predecessors_[block]) {
        if (dominator_[p] == kNone) continue;
        for (; best != kNone && best != p;)
          if (number[best] > number[p]) best = dominator_[best];
          else p = dominator_[p];
        best = p;
      }
      if (best != dominator_[block]) dominator_[block] = best, changed = true;
    }
  }
}

bool Listing::dominates(uint32_t block, uint32_t other) const {
  while (other != block && dominator_[other] != kNone && dominator_[other] != other)
    other = dominator_[other];
  return other == block;
}

bool Listing::is_back_edge(uint32_t from, uint32_t to) const {
  return begins_[block_of_[to]] == to && dominates(block_of_[to], block_of_[from]);
}

Listing::Paths Listing::paths(uint32_t from, uint32_t to,
                              const std::function<bool(uint32_t)>& stops) const {
  // Twice each instruction: reached within the turn, and by way of another.
  std::vector<uint8_t> seen(size() * 2, 0);
  std::vector<std::pair<uint32_t, bool>> open;
  Paths result;
  const auto step = [&](uint32_t i, bool turned) {
    for (const uint32_t t : next(i)) {
      const bool turns = turned || is_back_edge(i, t);
      if (seen[t * 2 + turns]) continue;
      seen[t * 2 + turns] = 1;
      open.push_back({t, turns});
    }
  };
  step(from, false);
  while (!open.empty()) {
    const auto [i, turned] = open.back();
    open.pop_back();
    if (i == to) (turned ? result.by_turn : result.within_turn) = true;
    if (!stops(i)) step(i, turned);
  }
  return result;
}

bool Listing::loop_stores(uint32_t tail, uint32_t head) const {
  std::vector<uint8_t> seen(size(), 0);
  std::vector<uint32_t> open{head};
  while (!open.empty()) {
    const uint32_t i = open.back();
    open.pop_back();
    if (std::exchange(seen[i], 1) || !dominates(block_of_[head], block_of_[i])) continue;
    if (facts(i).access == AccessKind::store && form(i).space != Space::local &&
        form(i).space != Space::param)
      return true;
    if (i != tail) open.insert(open.end(), next(i).begin(), next(i).end());
  }
  return false;
}

// A number for what a register holds: equal numbers, equal values. Only registers that are written
// once say more than their name.
uint64_t Listing::value_of(int32_t reg, int depth) const {
  const uint64_t name = mix(0x5bd1e995u, uint64_t(uint32_t(reg)));
  if (const auto known = values_.find(reg); known != values_.end()) return known->second;
  const uint32_t i = only_writer(reg);
  if (i == kNone || depth > 40) return name;
  const std::string_view op = root(i);
  if (is_opaque(i)) return values_[reg] = name;
  const auto& operands = at(i).operands;
  // A copy is what it copies; so is an address in another notation.
  uint64_t value = op == "mov" || op == "cvta" ? 1 : mix(7, at(i).mnemonic);
  for (size_t k = 1; k < operands.size(); ++k) {
    const Operand& o = operands[k];
    uint64_t part = 0;
    switch (o.kind) {
      case Operand::Kind::reg: part = mix(value_of(o.reg, depth + 1), o.negated); break;
      case Operand::Kind::imm: part = mix(2, o.bits); break;
      case Operand::Kind::special: part = mix(3, o.text); break;
      case Operand::Kind::symbol:
      case Operand::Kind::address:
        part = mix(mix(4, reinterpret_cast<uintptr_t>(o.variable)), uint64_t(o.offset));
        if (o.reg >= 0) part = mix(part, value_of(o.reg, depth + 1));
        break;
      default: part = name;
    }
    if (value == 1 && operands.size() == 2 && o.kind == Operand::Kind::reg && !o.negated)
      return values_[reg] = value_of(o.reg, depth + 1);
    value = mix(value, part);
  }
  return values_[reg] = value;
}

std::optional<Listing::Address> Listing::address(uint32_t i) const {
  for (const Operand& op : at(i).operands)
    if (op.kind == Operand::Kind::address)
      return Address{op.reg >= 0 ? value_of(op.reg, 0) : 0, op.variable, op.offset};
  return std::nullopt;
}

}  // namespace ridge::vm::check
