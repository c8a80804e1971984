#include "vm/observe/address.h"

#include <algorithm>
#include <bit>

namespace ridge::vm::observe {
namespace {

constexpr uint64_t kAll = ~0ull;

uint64_t cut(uint64_t value, int bits) { return bits == 64 ? value : value & ((1ull << bits) - 1); }

int bits_of(Type type) { return 8 * size_of(type); }
bool is_signed(Type type) {
  return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}
bool is_whole(Type type) {
  const std::string_view name = name_of(type);
  return !name.empty() && std::string_view("usb").find(name[0]) != std::string_view::npos;
}

void add_term(Sum& sum, uint32_t unknown, uint64_t factor, int bits) {
  const auto at = std::lower_bound(sum.terms.begin(), sum.terms.end(), unknown,
                                   [](const auto& term, uint32_t u) { return term.first < u; });
  if (at != sum.terms.end() && at->first == unknown) {
    at->second = cut(at->second + factor, bits);
    if (!at->second) sum.terms.erase(at);
  } else if (cut(factor, bits)) {
    sum.terms.insert(at, {unknown, cut(factor, bits)});
  }
}
Sum plus(Sum a, const Sum& b, int bits, uint64_t times = 1) {
  for (const auto& [unknown, factor] : b.terms) add_term(a, unknown, factor * times, bits);
  a.constant = cut(a.constant + b.constant * times, bits);
  return a;
}
Sum scaled(const Sum& a, uint64_t factor, int bits) { return plus({}, a, bits, factor); }

// Bits that cannot be set because all below them in both summands are zero.
uint64_t low_zeros(uint64_t zeros) {
  const int count = std::countr_one(zeros);
  return count == 64 ? kAll : (1ull << count) - 1;
}

bool jumps(const Instruction& ins) { return ins.match && ins.match->facts().leaves(); }
bool always_jumps(const Instruction& ins) { return jumps(ins) && ins.guard < 0; }

}  // namespace

Addresses::Addresses(const Function& function,
                     const std::unordered_map<const Variable*, uint32_t>& shared)
    : function_(function), shared_(shared) {
  find_blocks();
  writes_.resize(function.registers.size());
  for (const Instruction& ins : function.instructions)
    for (const Operand& op : ins.operands) {
      if (&op != &ins.operands[0]) break;
      if (op.reg >= 0 && op.kind == Operand::Kind::reg) ++writes_[size_t(op.reg)];
      if (op.second >= 0) ++writes_[size_t(op.second)];
      for (const Operand& e : op.elems)
        if (e.reg >= 0) ++writes_[size_t(e.reg)];
    }
  // Hopes that every bit is zero, and looks what of it remains.
  merged_zeros_.assign(function.registers.size(), kAll);
  constexpr int kMostPasses = 20;
  for (int k = 0; pass(); ++k)
    if (k == kMostPasses) merged_zeros_.assign(function.registers.size(), 0);
}

void Addresses::find_blocks() {
  const auto& all = function_.instructions;
  begins_.assign(all.size() + 1, false);
  begins_[0] = true;
  std::vector<std::vector<size_t>> from(all.size() + 1);
  for (size_t i = 0; i < all.size(); ++i) {
    if (jumps(all[i])) begins_[i + 1] = true;
    for (const Operand& op : all[i].operands) {
      if (op.kind == Operand::Kind::label) {
        begins_[op.target] = true;
        from[op.target].push_back(i);
      }
      if (op.kind == Operand::Kind::table)
        for (uint32_t target : function_.tables[op.target].targets) {
          begins_[target] = true;
          from[target].push_back(i);
        }
    }
  }
  only_predecessor_.assign(all.size() + 1, -1);
  for (size_t i = 0; i < all.size(); ++i) {
    if (!begins_[i]) continue;
    if (i > 0 && !always_jumps(all[i - 1])) from[i].push_back(i - 1);
    if (from[i].size() == 1 && from[i][0] < i) only_predecessor_[i] = int64_t(from[i][0]);
  }
}

bool Addresses::pass() {
  std::vector<uint64_t> learnt(merged_zeros_.size(), kAll);
  once_.assign(merged_zeros_.size(), std::nullopt);
  values_.clear();
  at_end_.clear();
  unknowns_.clear();
  names_.clear();
  const auto& all = function_.instructions;
  for (size_t i = 0; i < all.size(); ++i) {
    if (begins_[i]) {
      block_ = i;
      // Registers written once keep their value; the others' is known from the only way here.
      const auto before =
          only_predecessor_[i] < 0 ? at_end_.end() : at_end_.find(size_t(only_predecessor_[i]));
      values_ = before == at_end_.end() ? Values{} : before->second;
    }
    const Instruction& ins = all[i];
    for (const Operand& op : ins.operands)
      if (op.kind == Operand::Kind::address) {
        of_[&ins] = address(op);
        break;
      }
    if (!ins.operands.empty()) {
      const Operand& to = ins.operands[0];
      const auto define = [&](int32_t reg, const Sum& sum) {
        if (writes_[size_t(reg)] > 1) values_[reg] = sum;
        else once_[size_t(reg)] = sum;
        const Type type = function_.registers[size_t(reg)].type;
        learnt[size_t(reg)] &= zeros(sum, type == Type::pred ? 1 : 8 * size_of(type));
      };
      if (to.kind == Operand::Kind::reg && to.reg >= 0) {
        Sum result = evaluate(ins);
        if (ins.guard >= 0) result = fresh(to.reg);  // or what it was before
        define(to.reg, result);
      }
      for (const Operand& e : to.elems)
        if (e.reg >= 0 && to.kind == Operand::Kind::vec)
          define(e.reg, unknown("load " + std::to_string(i) + ' ' + std::to_string(e.reg), 0));
      if (to.second >= 0) values_.erase(to.second);
    }
    if (begins_[i + 1] || i + 1 == all.size()) {
      at_end_[i] = values_;
    }
  }
  const bool changed = learnt != merged_zeros_;
  merged_zeros_ = std::move(learnt);
  return changed;
}

const Sum& Addresses::of(const Instruction& instruction) const { return of_.at(&instruction); }

uint64_t Addresses::alignment(const Sum& sum) const {
  uint64_t alignment = 1ull << 63;
  for (const auto& [unknown, factor] : sum.terms) {
    const int bits =
        std::min(63, std::countr_one(unknowns_[unknown].zeros) + std::countr_zero(factor));
    alignment = std::min(alignment, uint64_t(1) << bits);
  }
  return alignment;
}

Sum Addresses::unknown(const std::string& name, uint64_t zeros, bool is_place) {
  const auto [at, is_new] = names_.try_emplace(name, uint32_t(unknowns_.size()));
  if (is_new) unknowns_.push_back({zeros, is_place});
  return {{{at->second, 1}}, 0};
}

// A register that is written in several places, as a block finds it.
Sum Addresses::fresh(int32_t reg) {
  const uint64_t zeros = merged_zeros_[size_t(reg)];
  return unknown("%" + std::to_string(reg) + '@' + std::to_string(block_), zeros);
}

uint64_t Addresses::zeros(const Sum& sum, int bits) const {
  uint64_t result = ~cut(kAll, bits);
  if (sum.terms.empty()) return result | ~sum.constant;
  if (sum.terms.size() == 1 && !sum.constant && std::has_single_bit(sum.terms[0].second)) {
    const int shift = std::countr_zero(sum.terms[0].second);
    return result | unknowns_[sum.terms[0].first].zeros << shift | ((1ull << shift) - 1);
  }
  const uint64_t step =
      std::min<uint64_t>(alignment(sum), sum.constant ? sum.constant & -sum.constant : kAll);
  return result | (std::bit_floor(step) - 1);
}

std::string Addresses::name(const Sum& sum) const {
  std::string out = "(";
  for (const auto& [unknown, factor] : sum.terms)
    out += std::to_string(unknown) + '*' + std::to_string(factor) + '+';
  return out + std::to_string(sum.constant) + ')';
}

Sum Addresses::value(const Operand& op, int bits) {
  switch (op.kind) {
    case Operand::Kind::imm: return {{}, cut(op.bits, bits)};
    case Operand::Kind::special: {
      // A block has at most 1024 threads.
      const bool small = op.text.starts_with("%tid") || op.text.starts_with("%ntid") ||
                         op.text == "%laneid" || op.text == "%warpid";
      return unknown(op.text, small ? ~0x7ffull : ~0xffffffffull);
    }
    case Operand::Kind::symbol: {
      if (!op.variable) return unknown("function", 0);
      const auto at = shared_.find(op.variable);
      const uint64_t place = at == shared_.end() ? op.variable->align : at->second;
      const uint64_t zeros = place ? (place & -place) - 1 : kAll;
      Sum sum = unknown("variable " + op.variable->name, zeros, true);
      sum.constant = cut(uint64_t(op.offset), bits);
      return sum;
    }
    case Operand::Kind::reg: {
      if (op.reg < 0) return unknown("nothing", 0);
      if (once_[size_t(op.reg)]) return *once_[size_t(op.reg)];
      if (const auto found = values_.find(op.reg); found != values_.end()) return found->second;
      return fresh(op.reg);
    }
    default: return unknown("operand", 0);
  }
}

Sum Addresses::address(const Operand& op) {
  Sum sum;
  if (op.reg >= 0) {
    Operand base;
    base.kind = Operand::Kind::reg;
    base.reg = op.reg;
    sum = value(base, 64);
  } else if (op.variable) {
    Operand base;
    base.kind = Operand::Kind::symbol;
    base.variable = op.variable;
    sum = value(base, 64);
  }
  sum.constant += uint64_t(op.offset);
  return sum;
}

Sum Addresses::evaluate(const Instruction& ins) {
  const auto& ops = ins.operands;
  const auto opaque = [&] {
    return unknown("result " + std::to_string(&ins - function_.instructions.data()) + '@' +
                       std::to_string(block_),
                   0);
  };
  if (!ins.match) return opaque();
  const std::string_view root = ins.match->root;
  const Form& form = ins.match->form;
  const size_t modifiers = form.modifiers.size();
  const Type type = form.last_type();
  const int bits = type == Type::none ? 0 : bits_of(type);
  if (ins.match->facts().access == AccessKind::load && form.space == Space::param)
    return unknown("parameter " + (ops[1].variable ? ops[1].variable->name : std::string()) + '+' +
                       std::to_string(ops[1].offset),
                   ~cut(kAll, bits ? bits : 64));
  if (!bits || !is_whole(type) || ops.size() < 2) return opaque();
  for (size_t k = 1; k < ops.size(); ++k)
    if (ops[k].kind == Operand::Kind::address || ops[k].kind == Operand::Kind::vec) return opaque();
  const bool wide = form.wide;
  const auto source = [&](size_t k) {
    return value(ops[k], wide && k < 3 ? bits : wide ? 64 : bits);
  };
  // The same operation on the same values has the same result.
  const auto pure = [&](uint64_t zeros) {
    std::string text(ins.mnemonic);
    for (size_t k = 1; k < ops.size(); ++k) text += name(source(k));
    return unknown(text, zeros);
  };
  const auto widened = [&](const Sum& sum, bool with_sign) {
    if (sum.terms.empty())
      return Sum{{},
                 with_sign && bits == 32 ? uint64_t(int64_t(int32_t(sum.constant))) : sum.constant};
    return unknown((with_sign ? "signed " : "unsigned ") + name(sum),
                   with_sign ? low_zeros(zeros(sum, bits)) : zeros(sum, bits));
  };
  const auto constant = [](const Sum& sum) { return sum.terms.empty(); };

  if (root == "mov") return source(1);
  if (root == "cvta") return source(1);
  if (root == "add" && ops.size() == 3 && modifiers == 1) return plus(source(1), source(2), bits);
  if (root == "sub" && ops.size() == 3 && modifiers == 1)
    return plus(source(1), source(2), bits, cut(kAll, bits));
  if (root == "shl" && ops.size() == 3) {
    const Sum by = source(2);
    if (constant(by) && by.constant < uint64_t(bits))
      return scaled(source(1), 1ull << by.constant, bits);
    return pure(low_zeros(zeros(source(1), bits)));
  }
  if ((root == "mul" || root == "mad") && modifiers == 2 && (form.lo || wide)) {
    const int to = wide ? 2 * bits : bits;
    Sum a = source(1), b = source(2);
    if (wide) a = widened(a, is_signed(type)), b = widened(b, is_signed(type));
    if (constant(a)) std::swap(a, b);
    Sum product;
    if (constant(b)) {
      product = scaled(a, b.constant, to);
    } else {
      if (name(b) < name(a)) std::swap(a, b);
      const int known = std::countr_one(zeros(a, to)) + std::countr_one(zeros(b, to));
      product = unknown("product" + std::to_string(to) + name(a) + name(b),
                        known >= 64 ? kAll : (1ull << known) - 1);
    }
    return root == "mad" ? plus(product, source(3), to) : product;
  }
  if (root == "cvt" && modifiers == 2) {
    const int from = bits_of(form.types[1]), to = bits_of(form.types[0]);
    if (!is_whole(form.types[0]) || !is_whole(form.types[1])) return opaque();
    if (from == to) return value(ops[1], to);
    if (from == 32 && to == 64) {
      const Sum sum = value(ops[1], 32);
      if (constant(sum)) return opaque();
      return unknown((is_signed(form.types[1]) ? "signed " : "unsigned ") + name(sum),
                     is_signed(form.types[1]) ? low_zeros(zeros(sum, 32)) : zeros(sum, 32));
    }
    return pure(to < from ? low_zeros(zeros(value(ops[1], from), from)) : 0);
  }
  if ((root == "and" || root == "or" || root == "xor") && ops.size() == 3) {
    const Sum a = source(1), b = source(2);
    const uint64_t za = zeros(a, bits), zb = zeros(b, bits);
    if (constant(a) && constant(b)) return opaque();
    if (root == "and") return pure(za | zb);
    const auto has_place = [&](const Sum& sum) {
      return std::any_of(sum.terms.begin(), sum.terms.end(),
                         [&](const auto& term) { return unknowns_[term.first].is_place; });
    };
    if ((za | zb) == kAll && !has_place(a) && !has_place(b)) return plus(a, b, bits);  // no carries
    return pure(za & zb);
  }
  if (root == "shr" && ops.size() == 3 && constant(source(2)) && !is_signed(type)) {
    const uint64_t by = source(2).constant;
    return pure(by < 64 ? zeros(source(1), bits) >> by | ~(kAll >> by) : kAll);
  }
  if (root == "selp" && ops.size() == 4)
    return pure(zeros(source(1), bits) & zeros(source(2), bits));
  if (root == "min" || root == "max")
    return pure(low_zeros(zeros(source(1), bits) & zeros(source(2), bits)));
  if (root == "shr" || root == "sub" || root == "add" || root == "div" || root == "rem" ||
      root == "bfe" || root == "bfi" || root == "neg" || root == "not" || root == "abs" ||
      root == "prmt" || root == "lop3" || root == "shf" || root == "cvt")
    return pure(0);
  return opaque();
}

}  // namespace ridge::vm::observe
