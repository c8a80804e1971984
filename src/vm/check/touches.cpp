#include "vm/check/touches.h"

#include "vm/isa/internal.h"
#include "vm/isa/operands.h"

namespace ridge::vm::check {
namespace {

using Kind = Operand::Kind;

bool is_move(const Instruction& source) {
  return source.match && source.match->facts().encoding == Encoding::move;
}
bool is_copy(const Instruction& source) {
  return is_move(source) && source.guard < 0 && source.operands[0].kind == Kind::reg &&
         source.operands[1].kind == Kind::reg;
}

void collect(const Operand& op, std::vector<int32_t>& out) {
  if ((op.kind == Kind::reg || op.kind == Kind::address) && op.reg >= 0) out.push_back(op.reg);
  for (const Operand& e : op.elems) collect(e, out);
}
struct Registers {
  std::vector<int32_t> defs, uses;
};
Registers registers_of(const Instruction& source) {
  Registers found;
  const Flow flow = source.match->facts().flow;
  const bool has_specs = flow == Flow::next || flow == Flow::trap;
  const auto* specs = has_specs ? &operand_specs(*source.match->row) : nullptr;
  for (size_t k = 0; k < source.operands.size(); ++k) {
    const bool dest = specs && k < specs->size() && (*specs)[k].dest;
    collect(source.operands[k], dest ? found.defs : found.uses);
    if (dest && (*specs)[k].updated) collect(source.operands[k], found.uses);
  }
  return found;
}

// The first instruction of each that the PTX has, without the guard before it.
template <class F>
void each_source(const Code& code, F f) {
  const Instruction* before = nullptr;
  for (size_t k = 0; k < code.insts.size(); ++k) {
    const Instruction* source = code.meta[k].source;
    if (!source || source == before || !source->match || !code.meta[k].match) continue;
    if (code.insts[k].full == internal::kGuard.full) continue;
    before = source;
    f(k, *source);
  }
}

}  // namespace

bool starts_product(const Match& match) {
  if (match.facts().encoding != Encoding::fragments) return false;
  const auto& specs = operand_specs(*match.row);
  return !specs.empty() && specs[0].updated;
}

Touches::Touches(const Code& code) {
  find_products(code);
  if (!any()) return;
  join_accumulators(code);
  follow_moves(code);
  for (auto& [inst, product] : products_) {
    for (auto* list : {&product.d, &product.a})
      for (uint32_t& place : *list) place = number_.at(int32_t(place));
  }
  begins_.assign(code.insts.size() + 1, 0);
  size_t filled = 0;
  each_source(code, [&](size_t k, const Instruction& source) {
    for (; filled <= k; ++filled) begins_[filled] = uint32_t(touches_.size());
    if (!starts_product(*source.match)) add_touches(source);
  });
  for (; filled < begins_.size(); ++filled) begins_[filled] = uint32_t(touches_.size());
}

// Their lists hold registers at first.
void Touches::find_products(const Code& code) {
  each_source(code, [&](size_t k, const Instruction& source) {
    if (!starts_product(*source.match)) return;
    ProductPlaces& product = products_[k];
    for (const size_t operand : {0, 1}) {
      if (operand == 1 && source.operands[1].kind != Kind::vec) continue;
      std::vector<int32_t> registers;
      collect(source.operands[operand], registers);
      for (const int32_t r : registers) (operand ? product.a : product.d).push_back(uint32_t(r));
    }
  });
}

// Registers that lie where an accumulator lies, as the copies between them show.
void Touches::join_accumulators(const Code& code) {
  std::unordered_map<int32_t, int32_t> parent;
  const auto root = [&](int32_t r) {
    for (auto found = parent.find(r); found != parent.end() && found->second != r;
         found = parent.find(r))
      r = found->second;
    return r;
  };
  each_source(code, [&](size_t k, const Instruction& source) {
    if (!is_copy(source) || code.insts[k].d != code.insts[k].a) return;
    const int32_t to = source.operands[0].reg, from = source.operands[1].reg;
    parent.try_emplace(to, to);
    parent.try_emplace(from, from);
    parent[root(to)] = root(from);
  });
  for (const auto& [inst, product] : products_)
    for (const uint32_t r : product.d)
      number_[int32_t(r)] = number_.try_emplace(root(int32_t(r)), places_).second
                                ? places_++
                                : number_.at(root(int32_t(r)));
  for (const auto& [reg, above] : parent)
    if (const auto found = number_.find(root(reg)); found != number_.end())
      number_[reg] = found->second;
}

void Touches::follow_moves(const Code& code) {
  const auto take = [&](int32_t r) {
    const bool fresh = number_.try_emplace(r, places_).second;
    places_ += fresh;
    return fresh;
  };
  for (const auto& [inst, product] : products_)
    for (const uint32_t r : product.a) take(int32_t(r));
  for (bool grew = true; grew;) {
    grew = false;
    each_source(code, [&](size_t, const Instruction& source) {
      if (!is_move(source)) return;
      const auto [defs, uses] = registers_of(source);
      bool connected = false;
      for (const auto* list : {&defs, &uses})
        for (const int32_t r : *list) connected |= number_.contains(r);
      if (!connected) return;
      for (const auto* list : {&defs, &uses})
        for (const int32_t r : *list) grew |= take(r);
    });
  }
}

void Touches::add_touches(const Instruction& source) {
  const auto number = [&](int32_t r) {
    const auto found = number_.find(r);
    return found == number_.end() ? kNone : found->second;
  };
  const auto [defs, uses] = registers_of(source);
  if (is_move(source)) {
    for (const int32_t d : defs) {
      const uint32_t to = number(d);
      if (to == kNone) continue;
      if (uses.empty()) touches_.push_back({Touch::How::sets, to});
      Touch::How how = Touch::How::moves;
      for (const int32_t u : uses) {
        if (number(u) != to) touches_.push_back({how, to, number(u)});
        how = Touch::How::moves_also;
      }
    }
    return;
  }
  for (const int32_t u : uses)
    if (const uint32_t place = number(u); place != kNone)
      touches_.push_back({Touch::How::reads, place});
  for (const int32_t d : defs)
    if (const uint32_t place = number(d); place != kNone)
      touches_.push_back({Touch::How::writes, place});
}

}  // namespace ridge::vm::check
