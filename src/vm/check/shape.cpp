#include "vm/check/shape.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>

namespace ridge::vm::check {
namespace {

using Kind = Operand::Kind;

// What happened to a value between a load and a store.
enum Change : uint32_t {
  kAdds = 1,
  kSubtracts = 2,
  kMin = 4,
  kMax = 8,
  kAnds = 16,
  kOrs = 32,
  kXors = 64,
  kOther = 128,
};

uint32_t change_of(const Listing& l, uint32_t i) {
  const std::string_view op = l.root(i);
  if (op == "mov" || op == "cvt" || op == "cvta") return 0;
  if (op == "add" || op == "fma" || op == "mad") return kAdds;
  if (op == "sub") return kSubtracts;
  if (op == "min") return kMin;
  if (op == "max") return kMax;
  if (op == "and") return kAnds;
  if (op == "or") return kOrs;
  if (op == "xor") return kXors;
  return kOther;
}

// The registers that the result of an instruction is made of, where `change_of` says how.
std::vector<int32_t> carried_by(const Listing& l, uint32_t i) {
  const auto& operands = l.at(i).operands;
  const std::string_view op = l.root(i);
  const bool last_only = op == "fma" || op == "mad", first_only = op == "sub";
  std::vector<int32_t> registers;
  for (size_t k = 1; k < operands.size(); ++k) {
    if ((last_only && k + 1 != operands.size()) || (first_only && k != 1)) continue;
    if (operands[k].kind == Kind::reg) registers.push_back(operands[k].reg);
    for (const Operand& e : operands[k].elems)
      if (e.kind == Kind::reg) registers.push_back(e.reg);
  }
  return registers;
}

struct Origin {
  uint32_t load = Listing::kNone;
  uint32_t changes = 0;
  uint32_t last = Listing::kNone;  // the instruction that made the change, if there is one
};

// How the register's value comes from a load of `address`.
Origin origin_of(const Listing& l, int32_t reg, const Listing::Address& address,
                 std::set<uint32_t>& seen) {
  for (const uint32_t i : l.writers(reg)) {
    if (!seen.insert(i).second) continue;
    if (l.facts(i).access == AccessKind::load) {
      if (l.address(i) == address) return {.load = i};
      continue;
    }
    if (l.is_opaque(i)) continue;
    const uint32_t change = change_of(l, i);
    const auto sources = change == kOther ? l.uses(i) : carried_by(l, i);
    for (const int32_t source : sources) {
      Origin from = origin_of(l, source, address, seen);
      if (from.load == Listing::kNone) continue;
      from.changes |= change;
      if (change) from.last = i;
      return from;
    }
  }
  return {};
}

std::vector<int32_t> stored_registers(const Listing& l, uint32_t store) {
  const auto& operands = l.at(store).operands;
  std::vector<int32_t> registers;
  if (operands.size() < 2) return registers;
  if (operands[1].kind == Kind::reg) registers.push_back(operands[1].reg);
  for (const Operand& e : operands[1].elems)
    if (e.kind == Kind::reg) registers.push_back(e.reg);
  return registers;
}

bool is_float(Type type) {
  return type == Type::f16 || type == Type::f16x2 || type == Type::f32 || type == Type::f64;
}

// Functions of CUDA C++ that do it; there is none for small types, nor min and max of floats.
std::string atomic_for(const Listing& l, uint32_t store, uint32_t changes, bool floats) {
  const Type type = l.form(store).last_type();
  if (size_of(type) < 4 && type != Type::bf16) return {};
  switch (changes) {
    case kAdds: return "atomicAdd";
    case kSubtracts: return floats ? "" : "atomicSub";
    case kMin: return floats ? "" : "atomicMin";
    case kMax: return floats ? "" : "atomicMax";
    case kAnds: return "atomicAnd";
    case kOrs: return "atomicOr";
    case kXors: return "atomicXor";
    default: return {};
  }
}

std::string number(const Operand& op, bool is_float) {
  if (op.kind != Kind::imm) return {};
  if (!is_float) return std::to_string(int64_t(op.bits));
  double value = 0;
  if (op.is_f64) {
    std::memcpy(&value, &op.bits, sizeof value);
  } else {
    float single = 0;
    const auto bits = uint32_t(op.bits);
    std::memcpy(&single, &bits, sizeof single);
    value = double(single);
  }
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

// `if (*p < v) *p = v`: whether the store is behind a comparison of what was there with what it
// writes, and which way.
std::optional<Update> guarded_update(const Listing& l, uint32_t store,
                                     const Listing::Address& address) {
  const auto values = stored_registers(l, store);
  if (values.size() != 1) return std::nullopt;
  for (uint32_t i = 0; i < l.size(); ++i) {
    if (l.root(i) != "setp" || l.at(i).operands.size() < 3) continue;
    const Operand &a = l.at(i).operands[1], &b = l.at(i).operands[2];
    if (a.kind != Kind::reg || b.kind != Kind::reg) continue;
    std::set<uint32_t> seen_a, seen_b;
    const Origin from_a = origin_of(l, a.reg, address, seen_a),
                 from_b = origin_of(l, b.reg, address, seen_b);
    const bool old_first =
        from_a.load != Listing::kNone && !from_a.changes && l.same_value(b.reg, values[0]);
    const bool old_second =
        from_b.load != Listing::kNone && !from_b.changes && l.same_value(a.reg, values[0]);
    if (!old_first && !old_second) continue;
    // Does the store happen when the comparison holds, or when it does not?
    const int32_t p = l.defs(i).empty() ? -1 : l.defs(i)[0];
    std::optional<bool> holds;
    if (l.at(store).guard == p) holds = !l.at(store).guard_negated;
    for (const uint32_t k : p >= 0 ? l.readers(p) : std::vector<uint32_t>{}) {
      if (l.facts(k).flow != Flow::jump || l.at(k).guard != p || l.next(k).size() != 2) continue;
      const uint32_t taken = l.next(k)[0], other = l.next(k)[1];
      if (l.dominates(l.block_of(other), l.block_of(store))) holds = l.at(k).guard_negated;
      else if (l.dominates(l.block_of(taken), l.block_of(store))) holds = !l.at(k).guard_negated;
    }
    if (!holds) continue;
    const bool less = l.form(i).comparison == Comparison::less;
    const bool greater = l.form(i).comparison == Comparison::greater;
    if (!less && !greater) continue;
    // old < new, and it is written: the largest stays.
    const bool max = (less == old_first) == *holds;
    const bool floats = is_float(l.form(i).last_type());
    Update update{.load = old_first ? from_a.load : from_b.load, .atomic = {}, .value = {}};
    update.atomic = atomic_for(l, store, max ? kMax : kMin, floats);
    return update;
  }
  return std::nullopt;
}

// Everything that is computed from the register, as far as registers go.
void follow(const Listing& l, int32_t reg, std::set<uint32_t>& users) {
  for (const uint32_t i : l.readers(reg)) {
    if (!users.insert(i).second) continue;
    if (l.facts(i).access == AccessKind::atomic) continue;
    for (const int32_t d : l.defs(i)) follow(l, d, users);
  }
}

// Whether memory has a say in what these instructions compute.
bool comes_from_memory(const Listing& l, std::vector<uint32_t> open) {
  std::set<uint32_t> seen;
  while (!open.empty()) {
    const uint32_t k = open.back();
    open.pop_back();
    if (!seen.insert(k).second) continue;
    if (l.is_opaque(k)) return true;
    for (const int32_t reg : l.uses(k))
      open.insert(open.end(), l.writers(reg).begin(), l.writers(reg).end());
  }
  return false;
}

}  // namespace

std::optional<Update> update_of(const Listing& l, uint32_t store) {
  const auto address = l.address(store);
  if (!address) return std::nullopt;
  for (const int32_t reg : stored_registers(l, store)) {
    std::set<uint32_t> seen;
    const Origin from = origin_of(l, reg, *address, seen);
    if (from.load == Listing::kNone || !from.changes) continue;
    Update update{.load = from.load, .atomic = {}, .value = {}};
    const bool floats = from.last != Listing::kNone && is_float(l.form(from.last).last_type());
    update.atomic = atomic_for(l, store, from.changes, floats);
    const auto& operands = l.at(from.last).operands;
    if (!update.atomic.empty() && operands.size() == 3 && l.root(from.last) != "fma")
      for (size_t k = 1; k < 3; ++k)
        if (const std::string text = number(operands[k], floats); !text.empty())
          update.value = text;
    return update;
  }
  return guarded_update(l, store, *address);
}

bool is_computed_from(const Listing& l, uint32_t store, uint32_t load) {
  std::set<uint32_t> users;
  for (const int32_t reg : l.defs(load)) follow(l, reg, users);
  if (!users.contains(store)) return false;
  const auto values = stored_registers(l, store);
  std::set<uint32_t> seen(users);
  return std::ranges::any_of(values, [&](int32_t reg) {
    return std::ranges::find(l.defs(load), reg) != l.defs(load).end() ||
           std::ranges::any_of(l.writers(reg), [&](uint32_t i) { return users.contains(i); });
  });
}

bool is_looked_at_again(const Listing& l, uint32_t load, uint32_t atomic) {
  const AccessKind access = l.facts(atomic).access;
  if (l.facts(load).access != AccessKind::load) return false;
  if (access != AccessKind::atomic && access != AccessKind::reduction) return false;
  const Operation op = l.form(atomic).operation;
  const bool looks = op == Operation::min || op == Operation::max || op == Operation::cas ||
                     op == Operation::bit_or || op == Operation::bit_and || op == Operation::exch;
  if (!looks || l.address(load) != l.address(atomic)) return false;
  std::set<uint32_t> users;
  for (const int32_t reg : l.defs(load)) follow(l, reg, users);
  return !users.empty() && std::ranges::all_of(users, [&](uint32_t i) {
    const std::string_view root = l.root(i);
    if (i == atomic || l.facts(i).flow == Flow::jump) return true;
    if (root == "setp" || root == "cvt" || root == "mov") return true;
    // Its guard, or a combination of conditions.
    return l.form(i).last_type() == Type::pred ||
           (l.facts(i).access == AccessKind::atomic && l.address(i) == l.address(atomic));
  });
}

bool decides_branch(const Listing& l, uint32_t load) {
  std::set<uint32_t> users;
  for (const int32_t reg : l.defs(load)) follow(l, reg, users);
  return std::ranges::any_of(users, [&](uint32_t i) { return l.facts(i).flow == Flow::jump; });
}

bool is_claim(const Listing& l, uint32_t store) {
  std::vector<uint32_t> conditions;
  const auto add = [&](int32_t reg) {
    conditions.insert(conditions.end(), l.writers(reg).begin(), l.writers(reg).end());
  };
  if (l.at(store).guard >= 0) add(l.at(store).guard);
  for (uint32_t k = 0; k < l.size(); ++k)
    if (l.facts(k).flow == Flow::jump && l.at(k).guard >= 0 && l.next(k).size() == 2 &&
        l.block_of(k) != l.block_of(store) && l.dominates(l.block_of(k), l.block_of(store)) &&
        !l.is_back_edge(k, l.next(k)[0]))
      add(l.at(k).guard);
  std::vector<uint32_t> values;
  for (const int32_t reg : stored_registers(l, store))
    values.insert(values.end(), l.writers(reg).begin(), l.writers(reg).end());
  return comes_from_memory(l, std::move(conditions)) && !comes_from_memory(l, std::move(values));
}

}  // namespace ridge::vm::check
