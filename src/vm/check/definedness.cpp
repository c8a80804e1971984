#include "vm/check/definedness.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

namespace ridge::vm::check {
namespace {

using Kind = Operand::Kind;

// A predicate register and what it has to be.
struct Literal {
  int32_t reg;
  bool holds;
  auto operator<=>(const Literal&) const = default;
};
using Literals = std::set<Literal>;
// All must hold for the value to matter; none: it matters always; nullopt: it never does.
using Need = std::optional<Literals>;

constexpr size_t kMostLiterals = 16;
constexpr int kDeepest = 256;

void intersect(Need& need, const Need& other) {
  if (!other) return;
  if (!need) {
    need = other;
    return;
  }
  std::erase_if(*need, [&](const Literal& l) { return !other->contains(l); });
}

class Needs {
 public:
  explicit Needs(const Listing& listing) : l_(listing) {}

  // When what the register holds can matter.
  Need of(int32_t reg, int depth = 0) {
    if (const auto known = known_.find(reg); known != known_.end()) return known->second;
    if (depth > kDeepest || !is_one_value(reg)) return Literals{};
    known_[reg] = Literals{};  // while it is looked for: a loop may lead here again
    Need need;
    for (const uint32_t user : l_.readers(reg)) {
      intersect(need, at(user, reg, depth));
      if (need && need->empty()) break;
    }
    return known_[reg] = need;
  }

 private:
  // Written once; or, as Triton does it, set to a constant and then loaded by some of the lanes.
  bool is_one_value(int32_t reg) const {
    const auto& writers = l_.writers(reg);
    const auto is_constant = [&](uint32_t i) {
      return l_.root(i) == "mov" && l_.at(i).guard < 0 && l_.at(i).operands.size() == 2 &&
             l_.at(i).operands[1].kind == Kind::imm;
    };
    return l_.only_writer(reg) != Listing::kNone ||
           (!writers.empty() &&
            size_t(std::ranges::count_if(writers, is_constant)) + 1 == writers.size());
  }
  // The predicate has the value; so have those it follows from.
  void add(Literals& all, int32_t reg, bool holds) const {
    if (all.size() >= kMostLiterals || !all.insert({reg, holds}).second) return;
    const uint32_t i = l_.only_writer(reg);
    if (i == Listing::kNone) return;
    const auto& operands = l_.at(i).operands;
    const auto both = [&](size_t from) {
      for (size_t k = from; k < operands.size(); ++k)
        if (operands[k].kind == Kind::reg) add(all, operands[k].reg, holds != operands[k].negated);
    };
    const std::string_view op = l_.root(i);
    if (l_.form(i).last_type() == Type::pred) {
      if ((op == "and" && holds) || (op == "or" && !holds) || op == "mov") both(1);
      if (op == "not" && operands[1].kind == Kind::reg)
        add(all, operands[1].reg, holds == operands[1].negated);
    }
    if (op == "setp" && operands.size() == 4 && operands[0].second < 0 &&
        ((l_.form(i).operation == Operation::bit_and && holds) ||
         (l_.form(i).operation == Operation::bit_or && !holds)))
      both(3);
  }

  bool is_pure(uint32_t i) const {
    static constexpr std::array<std::string_view, 24> pure = {
        "mov", "cvt", "add", "sub", "mul", "mad",  "fma",  "min",  "max",  "and", "or",   "xor",
        "not", "shl", "shr", "neg", "abs", "selp", "setp", "lop3", "prmt", "bfe", "slct", "div"};
    return std::ranges::find(pure, l_.root(i)) != pure.end() && !l_.defs(i).empty();
  }

  Need at(uint32_t user, int32_t reg, int depth) {
    const Instruction& ins = l_.at(user);
    Need need = Literals{};
    if (is_pure(user)) {
      need = std::nullopt;
      for (const int32_t made : l_.defs(user)) intersect(need, of(made, depth + 1));
      if (!need) return need;
      if (ins.guard != reg) absorb(*need, user, reg);
    }
    if (ins.guard >= 0 && ins.guard != reg) add(*need, ins.guard, !ins.guard_negated);
    return need;
  }

  // Operations that may not look at one of their operands.
  void absorb(Literals& need, uint32_t user, int32_t reg) const {
    const auto& operands = l_.at(user).operands;
    const std::string_view op = l_.root(user);
    const auto is = [&](size_t k) {
      return operands[k].kind == Kind::reg && operands[k].reg == reg;
    };
    size_t places = 0;
    for (size_t k = 1; k < operands.size(); ++k) places += is(k);
    if (places != 1) return;
    if (op == "selp" && operands.size() == 4 && !is(3) && operands[3].kind == Kind::reg) {
      add(need, operands[3].reg, is(1) != operands[3].negated);
    } else if ((op == "and" || op == "or") && l_.form(user).last_type() == Type::pred &&
               operands.size() == 3) {
      const Operand& other = operands[is(1) ? 2 : 1];
      if (other.kind == Kind::reg) add(need, other.reg, (op == "and") != other.negated);
    } else if (op == "setp" && operands.size() == 4 && !is(3) && operands[3].kind == Kind::reg &&
               (l_.form(user).operation == Operation::bit_and ||
                l_.form(user).operation == Operation::bit_or)) {
      add(need, operands[3].reg,
          (l_.form(user).operation == Operation::bit_and) != operands[3].negated);
    }
  }

  const Listing& l_;
  std::map<int32_t, Need> known_;
};

// The predicate's place in the frame, and where it is known.
struct Place {
  uint32_t operand, known_at;
};

class Finder {
 public:
  Finder(const Code& code, const Listing& listing) : code_(code), l_(listing), needs_(listing) {
    for (uint32_t k = 0; k < code.insts.size(); ++k)
      if (const InstMeta& meta = code.meta[k];
          meta.source && meta.match && code.insts[k].full == meta.match->handlers.full)
        inst_of_[meta.source] = k;
  }

  // The registers that a load writes, with the bytes that go there.
  std::vector<Speculated> ask(uint32_t inst, uint32_t words) {
    const InstMeta& meta = code_.meta[inst];
    std::vector<Speculated> all;
    bool some = false;
    const auto add = [&](const Instruction* source, int32_t reg, uint32_t bytes) {
      Speculated s;
      s.first_byte = all.empty() ? 0 : all.back().first_byte + all.back().bytes;
      s.bytes = bytes;
      if (reg >= 0) find(inst, source, reg, s);
      some |= !s.predicates.empty();
      all.push_back(std::move(s));
    };
    if (meta.merged >= 0) {
      for (uint32_t k = 0; k < words; ++k) {
        const Instruction* source = code_.merged[size_t(meta.merged) + k];
        add(source, source->operands[0].reg, 4);
      }
    } else {
      const Operand& to = meta.source->operands[0];
      const auto bytes = uint32_t(size_of(meta.match->form.type()));
      if (to.kind == Kind::reg) add(meta.source, to.reg, bytes);
      for (const Operand& e : to.elems) add(meta.source, e.kind == Kind::reg ? e.reg : -1, bytes);
    }
    return some ? all : std::vector<Speculated>{};
  }

 private:
  void find(uint32_t inst, const Instruction* source, int32_t reg, Speculated& s) {
    const Need need = needs_.of(reg);
    if (!need || need->empty()) return;
    const uint32_t load = l_.index_of(source);
    if (load == Listing::kNone) return;
    std::set<int32_t> made;  // what is computed from it says nothing about it
    follow(reg, made);
    for (const Literal& literal : *need) {
      if (made.contains(literal.reg)) continue;
      const auto place = place_of(literal.reg, inst, load);
      if (!place) continue;
      s.predicates.push_back(place->operand | (literal.holds ? 0 : kNegatedBit));
      s.known_at = std::max(s.known_at, place->known_at);
    }
  }

  void follow(int32_t reg, std::set<int32_t>& made) const {
    if (!made.insert(reg).second) return;
    for (const uint32_t user : l_.readers(reg))
      for (const int32_t d : l_.defs(user)) follow(d, made);
  }

  std::optional<Place> place_of(int32_t reg, uint32_t inst, uint32_t load) const {
    const uint32_t writer = l_.only_writer(reg);
    if (writer == Listing::kNone) return std::nullopt;
    const auto found = inst_of_.find(&l_.at(writer));
    if (found == inst_of_.end()) return std::nullopt;  // the decoder has made something else of it
    const uint32_t k = found->second;
    const bool second = l_.at(writer).operands[0].second == reg;
    if (second) return std::nullopt;
    const uint32_t home = l_.block_of(writer), here = l_.block_of(load);
    if (home != here) {
      if (!l_.dominates(home, here)) return std::nullopt;
      return Place{code_.insts[k].d, 0};
    }
    if (k < inst) return Place{code_.insts[k].d, 0};
    for (uint32_t i = load; i < writer; ++i)
      if (l_.facts(i).is_barrier() || l_.facts(i).flow == Flow::call) return std::nullopt;
    return Place{code_.insts[k].d, k + 1 + code_.meta[k].match->handlers.wide};
  }

  const Code& code_;
  const Listing& l_;
  Needs needs_;
  std::unordered_map<const Instruction*, uint32_t> inst_of_;
};

}  // namespace

SpeculatedLoads find_speculated(const Code& code, const Listing& listing,
                                const std::vector<LoadToAsk>& loads) {
  SpeculatedLoads found;
  Finder finder(code, listing);
  for (const LoadToAsk& load : loads) {
    auto all = finder.ask(load.inst, load.words);
    if (!all.empty()) found[load.inst] = std::move(all);
  }
  return found;
}

}  // namespace ridge::vm::check
