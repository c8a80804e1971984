// One walk over the items. Single instructions are rewritten as they are met. Foldings need to know
// which instruction an operand came from: inside a basic block that is the latest write; from
// another block it is known where the register is written once.
#include "vm/exec/ptxas.h"

#include <algorithm>
#include <string>

#include "vm/exec/edit.h"

namespace ridge::vm {
namespace {

constexpr uint32_t kNone = ~0u;

Operand immediate(uint64_t bits) {
  Operand op;
  op.kind = Operand::Kind::imm;
  op.bits = bits;
  return op;
}

std::string with_type(const char* root, Type type) {
  return root + ('.' + std::string(name_of(type)));
}

bool is_reg(const Operand& op) { return op.kind == Operand::Kind::reg; }
bool is_imm(const Operand& op) { return op.kind == Operand::Kind::imm; }
bool is_plain(const Form& form) { return form.modifiers.size() == size_t(form.type_count); }

class PtxasRules {
 public:
  PtxasRules(std::vector<Item>& items, std::vector<std::vector<uint32_t>>& tables,
             std::vector<Register>& registers, Code& code)
      : items_(items),
        tables_(tables),
        registers_(registers),
        editor_(items, tables, registers, code) {}

  void run(bool optimised) {
    count_writes();
    find_blocks();
    for (uint32_t i = 0; i < items_.size(); ++i) {
      if (begins_[i]) ++block_;
      const Item& item = items_[i];
      if (item.kind == Item::Kind::op && item.match) {
        translate(i);
        if (optimised) fold(i);
      }
      write(i);
    }
    if (changed_) editor_.finish();
  }

 private:
  // What an unguarded instruction wrote, and what its first source was written by.
  struct Value {
    uint32_t item;
    uint32_t from = kNone;
    Operand saved;  // a register that keeps the first source, once somebody asked for it
  };
  struct Held {
    uint32_t block = kNone;
    uint32_t value = kNone;
  };

  void count_writes();
  void find_blocks();
  void write(uint32_t at);
  uint32_t value_in(const Operand& op) const;
  Operand first_source(uint32_t value);
  void replace(uint32_t at, const std::string& mnemonic, std::initializer_list<Operand> operands) {
    editor_.replace(at, mnemonic, operands);
    changed_ = true;
  }

  void translate(uint32_t at);
  void translate_set(uint32_t at);
  void fold(uint32_t at);
  void fold_shift(uint32_t at);
  void fold_negation(uint32_t at);
  void fold_rounding(uint32_t at);
  void fold_sign_into_conversion(uint32_t at);
  // The instruction that wrote a register operand, by its root, or nothing.
  const Item* writer(uint32_t value, std::string_view root) const {
    return value != kNone && root_of(items_[values_[value].item]) == root
               ? &items_[values_[value].item]
               : nullptr;
  }
  // neg or abs of this type that passes subnormals.
  bool writes_sign(uint32_t value, std::string_view root, Type type) const {
    const Item* item = writer(value, root);
    return item && item->match->form.type() == type && !item->match->form.has("ftz");
  }

  std::vector<Item>& items_;
  std::vector<std::vector<uint32_t>>& tables_;
  std::vector<Register>& registers_;
  ItemEditor editor_;
  std::vector<uint8_t> writes_;  // to each register: none, one, or 2 for more
  std::vector<uint8_t> begins_;  // by item: a basic block begins here
  std::vector<Held> held_;       // by register
  std::vector<Value> values_;
  uint32_t block_ = 0;
  bool changed_ = false;
};

void PtxasRules::count_writes() {
  writes_.assign(registers_.size(), 0);
  held_.assign(registers_.size(), {});
  for (const Item& item : items_)
    for (int32_t r : item.defs) writes_[size_t(r)] = uint8_t(std::min(2, writes_[size_t(r)] + 1));
}

void PtxasRules::find_blocks() {
  begins_.assign(items_.size() + 1, 0);
  for (size_t i = 0; i < items_.size(); ++i) {
    const Item::Kind kind = items_[i].kind;
    if (kind == Item::Kind::op || kind == Item::Kind::call) continue;
    begins_[i + 1] = 1;
    if (kind == Item::Kind::jump || kind == Item::Kind::branch) begins_[items_[i].target] = 1;
  }
  for (const auto& table : tables_)
    for (uint32_t target : table) begins_[target] = 1;
}

uint32_t PtxasRules::value_in(const Operand& op) const {
  if (!is_reg(op)) return kNone;
  const Held& h = held_[size_t(op.reg)];
  return h.block == block_ || writes_[size_t(op.reg)] == 1 ? h.value : kNone;
}

void PtxasRules::write(uint32_t at) {
  const Item& item = items_[at];
  uint32_t value = kNone;
  if (item.kind == Item::Kind::op && item.match && item.guard < 0 && item.defs.size() == 1 &&
      item.source->operands.size() > 1 && is_reg(item.source->operands[0])) {
    const auto& ops = item.source->operands;
    const uint32_t from = value_in(ops[1]);
    const bool copies = root_of(item) == "mov" && is_reg(ops[1]) &&
                        lane_bytes(registers_[size_t(ops[0].reg)].type) ==
                            lane_bytes(registers_[size_t(ops[1].reg)].type);
    if (copies) {
      value = from;
    } else {
      value = uint32_t(values_.size());
      values_.push_back({at, from, {}});
    }
  }
  for (int32_t r : item.defs) held_[size_t(r)] = {block_, value};
}

// The first source of the instruction that wrote a value, as it was then.
Operand PtxasRules::first_source(uint32_t value) {
  Value& v = values_[value];
  const Operand& op = items_[v.item].source->operands[1];
  if (!is_reg(op) || writes_[size_t(op.reg)] == 1) return op;
  if (!is_reg(v.saved)) {
    const Type type = registers_[size_t(op.reg)].type;
    v.saved = editor_.new_register(type);
    editor_.insert(v.item, with_type("mov", bits_like(type)), {v.saved, op});
  }
  return v.saved;
}

// --- single instructions, with or without optimisation ---

void PtxasRules::translate(uint32_t at) {
  Item& item = items_[at];
  const std::string_view root = root_of(item);
  if (root == "testp" && item.guard >= 0) {  // the guard is lost
    std::erase(item.uses, item.guard);
    item.guard = -1;
  } else if (root == "set" && item.guard >= 0) {
    translate_set(at);
  } else if ((root == "shl" || root == "shr") && size_of(item.match->form.type()) == 2) {
    // An immediate amount is read as 16 bits.
    const auto& ops = item.source->operands;
    if (is_imm(ops[2]) && (ops[2].bits & 0xffffffffu) > 0xffff)
      replace(at, std::string(item.source->mnemonic),
              {ops[0], ops[1], immediate(ops[2].bits & 0xffff)});
  }
}

// A guarded comparison into a float is a guarded one into an integer, 0 or -1, and an unguarded
// conversion of its magnitude: lanes that the guard excludes convert what the register held.
void PtxasRules::translate_set(uint32_t at) {
  const Item& item = items_[at];
  const Type to = item.match->form.types[0], from = item.match->form.types[1];
  Type integer = Type::none;
  if (to == Type::f32 && size_of(from) >= 4) integer = Type::s32;
  if ((to == Type::f16 || to == Type::bf16) && from == to) integer = Type::s16;
  if (integer == Type::none) return;
  const Operand d = item.source->operands[0];
  const Guard excluded{item.guard, !item.guard_negated};
  editor_.insert(at, with_type("abs", integer), {d, d}, excluded);
  editor_.insert(at, with_type("cvt.rn", to) + '.' + std::string(name_of(integer)), {d, d},
                 excluded);
  changed_ = true;
}

// --- foldings ---

void PtxasRules::fold(uint32_t at) {
  const Item& item = items_[at];
  const std::string_view root = root_of(item);
  const auto& ops = item.source->operands;
  const Type type = item.match->form.type();
  if (root == "bfe" && type == Type::s32) {
    // A constant field beyond the register: all ones, whatever the sign is.
    if (is_reg(ops[1]) && is_imm(ops[2]) && is_imm(ops[3]) && ops[2].bits >= 32 && ops[3].bits != 0)
      replace(at, "mov.b32", {ops[0], immediate(0xffffffffu)});
  } else if (root == "bfi" && type == Type::b32) {
    // The mask of a constant field of 32 bits or more is that of its length modulo 32; where bytes
    // move as a whole there is none.
    if (is_reg(ops[2]) && is_imm(ops[3]) && is_imm(ops[4]) && ops[3].bits < 32 &&
        ops[3].bits % 8 != 0 && ops[4].bits >= 32)
      replace(at, "bfi.b32", {ops[0], ops[1], ops[2], ops[3], immediate(ops[4].bits & 31)});
  } else if (root == "min" || root == "max") {
    // Of a value with itself: a copy, which leaves a NaN as it is.
    const bool copies = type == Type::f16 || type == Type::f32 || type == Type::f64;
    if (copies && is_plain(item.match->form) && ops.size() == 3 && is_reg(ops[1]) &&
        is_reg(ops[2]) && ops[1].reg == ops[2].reg)
      replace(at, with_type("mov", bits_like(type)), {ops[0], ops[1]});
  } else if (root == "shl" && type == Type::b64) {
    fold_shift(at);
  } else if (root == "neg") {
    fold_negation(at);
  } else if (root == "cvt") {
    fold_rounding(at);
    fold_sign_into_conversion(at);
  }
}

// A product with a constant is multiplied by a power of two; one that is too large for 64 bits
// counts as 1.
void PtxasRules::fold_shift(uint32_t at) {
  const auto& ops = items_[at].source->operands;
  if (!is_imm(ops[2]) || (ops[2].bits & 0xffffffffu) < 64) return;
  const uint32_t value = value_in(ops[1]);
  const Item* product = writer(value, "mul");
  if (!product) product = writer(value, "mad");
  if (!product) return;
  const Form& form = product->match->form;
  const auto& of = product->source->operands;
  const bool is_mad = of.size() == 4;
  if (is_imm(of[1]) == is_imm(of[2]) || (is_mad && !is_imm(of[3]))) return;
  const bool low = form.has("lo") && size_of(form.type()) == 8;
  const bool wide = form.has("wide") && size_of(form.type()) == 4 && !is_mad;
  if (low || wide) replace(at, "mov.b64", {ops[0], ops[1]});
}

// neg of neg is a copy.
void PtxasRules::fold_negation(uint32_t at) {
  const Item& item = items_[at];
  const Form& form = item.match->form;
  const Type type = form.type();
  if (form.has("ftz") || type == Type::bf16x2) return;
  const uint32_t value = value_in(item.source->operands[1]);
  if (!writes_sign(value, "neg", type)) return;
  replace(at, with_type("mov", bits_like(type)), {item.source->operands[0], first_source(value)});
}

// Rounding to an integral value and conversion to an integer towards zero are one conversion. A
// conversion between the two halves counts as such a rounding: its source is taken for the other
// format.
void PtxasRules::fold_rounding(uint32_t at) {
  const Item& item = items_[at];
  const Form& form = item.match->form;
  const Type from = form.types[1];
  if (!form.has("rzi") || (from != Type::f16 && from != Type::bf16)) return;
  const uint32_t value = value_in(item.source->operands[1]);
  const Item* before = writer(value, "cvt");
  if (!before) return;
  const Form& first = before->match->form;
  if (first.type_count != 2 || first.types[0] != from || !first.has("rn") ||
      first.modifiers.size() != 3 || first.types[1] != (from == Type::f16 ? Type::bf16 : Type::f16))
    return;
  std::string mnemonic(item.source->mnemonic);
  mnemonic.replace(mnemonic.find("rzi"), 3, "rni");
  replace(at, mnemonic, {item.source->operands[0], first_source(value)});
}

// cvt to f64 keeps a NaN's payload and sign, and takes in the neg or abs before it, which would
// have made it the one NaN of its format.
void PtxasRules::fold_sign_into_conversion(uint32_t at) {
  const Item& item = items_[at];
  const Form& form = item.match->form;
  const Type from = form.types[1];
  if (form.type_count != 2 || form.types[0] != Type::f64) return;
  if (from != Type::f16 && from != Type::bf16 && from != Type::f32) return;
  const uint32_t value = value_in(item.source->operands[1]);
  const bool negates = writes_sign(value, "neg", from);
  if (!negates && (from == Type::bf16 || !writes_sign(value, "abs", from))) return;
  const uint64_t sign = 1ull << (8 * size_of(from) - 1);
  const Operand given = first_source(value), changed = editor_.new_register(from);
  editor_.insert(at, with_type(negates ? "xor" : "and", bits_like(from)),
                 {changed, given, immediate(negates ? sign : sign - 1)});
  replace(at, std::string(item.source->mnemonic), {item.source->operands[0], changed});
}

}  // namespace

void follow_ptxas(std::vector<Item>& items, std::vector<std::vector<uint32_t>>& tables,
                  std::vector<Register>& registers, Code& code) {
  PtxasRules(items, tables, registers, code).run(code.module->optimised);
}

}  // namespace ridge::vm
