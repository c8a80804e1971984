// One walk over the items. Single instructions are rewritten as they are met. Foldings need to know
// which instruction an operand came from: inside a basic block that is the latest write; from
// another block only a write that is alone in its web counts, of a source that is so, too.
#include "vm/exec/ptxas.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <string>

#include "vm/exec/edit.h"
#include "vm/exec/reaching.h"

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
float float_of(uint64_t bits) { return std::bit_cast<float>(uint32_t(bits)); }
bool is_half(Type type) { return type == Type::f16 || type == Type::bf16; }
bool is_plain(const Form& form) { return form.modifiers.size() == size_t(form.type_count); }

class PtxasRules {
 public:
  PtxasRules(std::vector<Item>& items, std::vector<std::vector<uint32_t>>& tables,
             std::vector<Register>& registers, Code& code)
      : items_(items),
        tables_(tables),
        registers_(registers),
        editor_(items, tables, registers, code),
        reaching_(items, tables) {}

  void run(bool optimised) {
    prepare();
    for (uint32_t i = 0; i < items_.size(); ++i) {
      if (begins_[i]) ++block_;
      note_sources(i);
      if (items_[i].kind == Item::Kind::op && items_[i].match) {
        translate(i);
        if (optimised) fold(i);
      }
      for (int32_t r : items_[i].defs) latest_[size_t(r)] = {block_, i};
    }
    if (changed_) editor_.finish();
  }

 private:
  struct Write {
    uint32_t block = kNone;
    uint32_t item = kNone;
  };

  void prepare();
  void note_sources(uint32_t at);
  bool is_copy(uint32_t at) const;
  bool is_alone(const Operand& op, uint32_t at);
  uint32_t writer(uint32_t at, int k = 1);
  Operand first_source(uint32_t at);
  void replace(uint32_t at, const std::string& mnemonic, std::initializer_list<Operand> operands) {
    editor_.replace(at, mnemonic, operands);
    changed_ = true;
  }

  void translate(uint32_t at);
  void translate_set(uint32_t at);
  void fold(uint32_t at);
  void fold_shift(uint32_t at);
  void convert_amount(uint32_t at);
  void fold_negation(uint32_t at);
  void fold_rounding(uint32_t at);
  void fold_sign_into_conversion(uint32_t at);
  void fold_sign_into_selection(uint32_t at);
  void select_sign(uint32_t at);
  Operand with_sign(uint32_t at, int k, Type type);
  Operand change_sign(uint32_t at, const Operand& op, bool negates, Type type);
  Operand negate_number(uint32_t at, const Operand& op, Type type);
  bool is(uint32_t at, std::string_view root) const {
    return at != kNone && root_of(items_[at]) == root;
  }
  // neg or abs of this type that passes subnormals.
  bool is_sign(uint32_t at, std::string_view root, Type type) const {
    return is(at, root) && items_[at].match->form.type() == type &&
           !items_[at].match->form.has("ftz");
  }

  std::vector<Item>& items_;
  std::vector<std::vector<uint32_t>>& tables_;
  std::vector<Register>& registers_;
  ItemEditor editor_;
  Reaching reaching_;
  std::vector<uint8_t> begins_;  // by item: a basic block begins here
  std::vector<uint8_t> writes_;  // to each register: none, one, or 2 for more
  std::vector<Write> latest_;    // by register
  // By item: its block's latest writes of its first two sources.
  std::vector<std::array<uint32_t, 2>> sources_;
  std::map<uint32_t, Operand> saved_;  // by item: a register that keeps its first source
  uint32_t block_ = 0;
  bool changed_ = false;
};

void PtxasRules::prepare() {
  writes_.assign(registers_.size(), 0);
  latest_.assign(registers_.size(), {});
  sources_.assign(items_.size(), {kNone, kNone});
  begins_.assign(items_.size() + 1, 0);
  for (size_t i = 0; i < items_.size(); ++i) {
    for (int32_t r : items_[i].defs)
      writes_[size_t(r)] = uint8_t(std::min(2, writes_[size_t(r)] + 1));
    const Item::Kind kind = items_[i].kind;
    if (kind == Item::Kind::op || kind == Item::Kind::call) continue;
    begins_[i + 1] = 1;
    if (kind == Item::Kind::jump || kind == Item::Kind::branch) begins_[items_[i].target] = 1;
  }
  for (const auto& table : tables_)
    for (uint32_t target : table) begins_[target] = 1;
}

void PtxasRules::note_sources(uint32_t at) {
  const Item& item = items_[at];
  if (item.kind != Item::Kind::op || !item.source) return;
  const auto& ops = item.source->operands;
  for (size_t k = 1; k <= 2 && k < ops.size(); ++k)
    if (is_reg(ops[k]) && latest_[size_t(ops[k].reg)].block == block_)
      sources_[at][k - 1] = latest_[size_t(ops[k].reg)].item;
}

bool PtxasRules::is_copy(uint32_t at) const {
  const auto& ops = items_[at].source->operands;
  return is(at, "mov") && ops.size() == 2 && is_reg(ops[0]) && is_reg(ops[1]) &&
         lane_bytes(registers_[size_t(ops[0].reg)].type) ==
             lane_bytes(registers_[size_t(ops[1].reg)].type);
}

// Whether an operand means the same everywhere: a constant, or a register that ptxas has renamed so
// that it is written once.
bool PtxasRules::is_alone(const Operand& op, uint32_t at) {
  if (!is_reg(op)) return true;
  if (size_t(op.reg) >= writes_.size()) return false;
  return writes_[size_t(op.reg)] == 1 || reaching_.only_write(op.reg, at) != kNone;
}

// The instruction that wrote what an item's source k holds, where ptxas knows it; copies are seen
// through.
uint32_t PtxasRules::writer(uint32_t at, int k) {
  bool elsewhere = false;
  while (true) {
    const Operand& op = items_[at].source->operands[size_t(k)];
    if (!is_reg(op) || size_t(op.reg) >= writes_.size()) return kNone;
    uint32_t from = sources_[at][size_t(k) - 1];
    if (from == kNone) {
      elsewhere = true;
      from = writes_[size_t(op.reg)] == 1 ? latest_[size_t(op.reg)].item
                                          : reaching_.only_write(op.reg, at);
    }
    if (from == kNone) return kNone;
    const Item& item = items_[from];
    if (item.kind != Item::Kind::op || item.guard >= 0 || item.defs.size() != 1 ||
        item.source->operands.size() < 2)
      return kNone;
    if (!is_copy(from))
      return elsewhere && !is_alone(item.source->operands[1], from) ? kNone : from;
    at = from;
    k = 1;
  }
}

// An item's first source, as it was then, for whoever needs it later.
Operand PtxasRules::first_source(uint32_t at) {
  const Operand& op = items_[at].source->operands[1];
  if (!is_reg(op) || (size_t(op.reg) < writes_.size() && writes_[size_t(op.reg)] == 1)) return op;
  Operand& saved = saved_[at];
  if (!is_reg(saved)) {
    const Type type = registers_[size_t(op.reg)].type;
    saved = editor_.new_register(type);
    editor_.insert(at, with_type("mov", bits_like(type)), {saved, op});
  }
  return saved;
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
  } else if (root == "slct" && type == Type::s32 && item.match->form.types[1] == Type::s32) {
    // A constant condition is compared as a float is.
    if (is_imm(ops[3]))
      replace(at, "mov.b32", {ops[0], float_of(ops[3].bits) >= 0 ? ops[1] : ops[2]});
  } else if (root == "min" || root == "max") {
    // Of a value with itself: a copy, which leaves a NaN as it is.
    const bool copies = type == Type::f16 || type == Type::f32 || type == Type::f64;
    if (copies && is_plain(item.match->form) && ops.size() == 3 && is_reg(ops[1]) &&
        is_reg(ops[2]) && ops[1].reg == ops[2].reg)
      replace(at, with_type("mov", bits_like(type)), {ops[0], ops[1]});
  } else if ((root == "shl" || root == "shr") && size_of(type) == 8) {
    convert_amount(at);
    if (root == "shl") fold_shift(at);
  } else if (root == "neg" || root == "abs") {
    if (root == "neg") fold_negation(at);
    if (item.guard >= 0) select_sign(at);
  } else if ((root == "selp" || root == "slct") && type == Type::f32) {
    fold_sign_into_selection(at);
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
  const uint32_t product = writer(at);
  if (!is(product, "mul") && !is(product, "mad")) return;
  const Form& form = items_[product].match->form;
  const auto& of = items_[product].source->operands;
  const bool is_mad = of.size() == 4;
  if (is_imm(of[1]) == is_imm(of[2]) || (is_mad && !is_imm(of[3]))) return;
  const bool low = form.has("lo") && size_of(form.type()) == 8;
  const bool wide = form.has("wide") && size_of(form.type()) == 4 && !is_mad;
  if (low || wide) replace(at, "mov.b64", {ops[0], ops[1]});
}

// A shift of 64 bits takes its amount as 64 bits. What a conversion to tf32 has made in the same
// block counts as a float then and is converted to an integer.
void PtxasRules::convert_amount(uint32_t at) {
  const Item& item = items_[at];
  const auto& ops = item.source->operands;
  const uint32_t before = sources_[at][1];
  if (!is(before, "cvt") || items_[before].guard >= 0) return;
  const Form& form = items_[before].match->form;
  if (form.type_count != 2 || form.types[0] != Type::tf32 || form.has("rna")) return;
  const char* conversion =
      item.match->form.type() == Type::s64 ? "cvt.rzi.s64.f32" : "cvt.rzi.u64.f32";
  const Operand wide = editor_.new_register(Type::b64), amount = editor_.new_register(Type::b32);
  editor_.insert(at, conversion, {wide, ops[2]});
  editor_.insert(at, "cvt.u32.u64", {amount, wide});
  replace(at, std::string(item.source->mnemonic), {ops[0], ops[1], amount});
}

// neg of neg is a copy.
void PtxasRules::fold_negation(uint32_t at) {
  const Item& item = items_[at];
  const Form& form = item.match->form;
  const Type type = form.type();
  if (form.has("ftz") || type == Type::bf16x2) return;
  const uint32_t before = writer(at);
  if (!is_sign(before, "neg", type)) return;
  replace(at, with_type("mov", bits_like(type)), {item.source->operands[0], first_source(before)});
}

// Rounding to an integral value and conversion to an integer towards zero are one conversion. Some
// conversions that round to no integral value are taken for one that does so to the nearest: those
// between the two halves, whose source then counts as the other format, and neg.ftz and abs.ftz.
void PtxasRules::fold_rounding(uint32_t at) {
  const Item& item = items_[at];
  const Form& form = item.match->form;
  const Type from = form.types[1];
  if (!form.has("rzi") || !is_half(from) || is_half(form.types[0])) return;
  const uint32_t before = writer(at);
  if (before == kNone || !items_[before].match) return;
  const Form& first = items_[before].match->form;
  const bool negates = is(before, "neg");
  const bool flushes =
      (negates || is(before, "abs")) && first.type() == Type::f16 && first.has("ftz");
  const bool converts = is(before, "cvt") && first.type_count == 2 && first.types[0] == from &&
                        first.has("rn") && first.modifiers.size() == 3 &&
                        first.types[1] == (from == Type::f16 ? Type::bf16 : Type::f16);
  if (!flushes && !converts) return;
  std::string mnemonic(item.source->mnemonic);
  mnemonic.replace(mnemonic.find("rzi"), 3, "rni");
  const Operand source = first_source(before);
  replace(at, mnemonic,
          {item.source->operands[0],
           flushes ? change_sign(at, source, negates, Type::f16) : source});
}

// Source k of an item, or, where neg or abs of this type wrote it, the source of that with its sign
// changed in place: no NaN becomes the one NaN of its format.
Operand PtxasRules::with_sign(uint32_t at, int k, Type type) {
  const Operand op = items_[at].source->operands[size_t(k)];
  const uint32_t before = writer(at, k);
  const bool negates = is_sign(before, "neg", type);
  if (!negates && !is_sign(before, "abs", type)) return op;
  return change_sign(at, first_source(before), negates, type);
}

Operand PtxasRules::change_sign(uint32_t at, const Operand& op, bool negates, Type type) {
  const uint64_t sign = 1ull << (8 * size_of(type) - 1);
  const Operand changed = editor_.new_register(type);
  editor_.insert(at, with_type(negates ? "xor" : "and", bits_like(type)),
                 {changed, op, immediate(negates ? sign : sign - 1)});
  return changed;
}

// The negative of a half that is a number; a NaN stays as it is.
Operand PtxasRules::negate_number(uint32_t at, const Operand& op, Type type) {
  const uint64_t least_nan = type == Type::f16 ? 0x7c01 : 0x7f81;
  const Operand magnitude = editor_.new_register(type), sign = editor_.new_register(type),
                changed = editor_.new_register(type);
  editor_.insert(at, "and.b16", {magnitude, op, immediate(0x7fff)});
  editor_.insert(at, "sub.s16", {sign, magnitude, immediate(least_nan)});
  editor_.insert(at, "and.b16", {sign, sign, immediate(0x8000)});
  editor_.insert(at, "xor.b16", {changed, op, sign});
  return changed;
}

// cvt to f64 keeps a NaN's payload and sign, and takes in the neg or abs before it. A half that is
// a NaN is not negated then.
void PtxasRules::fold_sign_into_conversion(uint32_t at) {
  const Item& item = items_[at];
  const Form& form = item.match->form;
  const Type from = form.types[1];
  if (form.type_count != 2 || form.types[0] != Type::f64) return;
  if (!is_half(from) && from != Type::f32) return;
  if (from == Type::bf16 && is(writer(at), "abs")) return;
  const Operand& op = item.source->operands[1];
  const uint32_t before = writer(at);
  const Operand given = is_half(from) && is_sign(before, "neg", from)
                            ? negate_number(at, first_source(before), from)
                            : with_sign(at, 1, from);
  if (is_reg(op) && given.reg != op.reg)
    replace(at, std::string(item.source->mnemonic), {item.source->operands[0], given});
}

// A selection does so with both.
void PtxasRules::fold_sign_into_selection(uint32_t at) {
  const Item& item = items_[at];
  const auto& ops = item.source->operands;
  if (is_imm(ops[3])) return;  // selects nothing
  const Operand a = with_sign(at, 1, Type::f32), b = with_sign(at, 2, Type::f32);
  if (a.reg != ops[1].reg || b.reg != ops[2].reg)
    replace(at, std::string(item.source->mnemonic), {ops[0], a, b, ops[3]});
}

// neg and abs of f32 under a guard are a selection.
void PtxasRules::select_sign(uint32_t at) {
  const Item& item = items_[at];
  if (!is_sign(at, "neg", Type::f32) && !is_sign(at, "abs", Type::f32)) return;
  const Operand given = with_sign(at, 1, Type::f32);
  replace(at, "mov.b32",
          {item.source->operands[0], change_sign(at, given, root_of(item) == "neg", Type::f32)});
}

}  // namespace

void follow_ptxas(std::vector<Item>& items, std::vector<std::vector<uint32_t>>& tables,
                  std::vector<Register>& registers, Code& code) {
  PtxasRules(items, tables, registers, code).run(code.module->optimised);
}

}  // namespace ridge::vm
