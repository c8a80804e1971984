// Where ptxas makes one instruction of two and the result is not what the two would give, or takes
// an instruction for one that it is not.
#include <bit>

#include "vm/decode/ptxas_rules.h"

namespace ridge::vm {
namespace {

float float_of(uint64_t bits) { return std::bit_cast<float>(uint32_t(bits)); }
bool is_half(Type type) { return type == Type::f16 || type == Type::bf16; }
bool is_plain(const Form& form) { return form.modifiers.size() == size_t(form.type_count); }

}  // namespace

void PtxasRules::fold(uint32_t at) {
  const Item& item = items_[at];
  const std::string_view root = item.match->root;
  const auto& ops = item.source->operands;
  const Type type = item.match->form.type();
  if (root == "bfe" && type == Type::s32) {
    // A constant field beyond the register: all ones, whatever the sign is.
    if (is_reg(ops[1]) && is_imm(ops[2]) && is_imm(ops[3]) && ops[2].bits >= 32 && ops[3].bits != 0)
      replace(at, "mov.b32", {ops[0], immediate(0xffffffffu)});
  } else if (root == "bfi" && type == Type::b32) {
    // A constant field beyond the register changes nothing. The mask of one of 32 bits or more is
    // that of its length modulo 32; where bytes move as a whole there is none.
    if (is_imm(ops[2]) && is_imm(ops[3]) && (ops[3].bits & 0xff) >= 32)
      replace(at, "mov.b32", {ops[0], ops[2]});
    else if (is_reg(ops[2]) && is_imm(ops[3]) && is_imm(ops[4]) && ops[3].bits < 32 &&
             ops[3].bits % 8 != 0 && ops[4].bits >= 32)
      replace(at, "bfi.b32", {ops[0], ops[1], ops[2], ops[3], immediate(ops[4].bits & 31)});
  } else if (root == "slct" && type == Type::s32 && item.match->form.types[1] == Type::s32) {
    // A constant condition is compared as a float is.
    if (const auto condition = constant(at, 3))
      replace(at, "mov.b32", {ops[0], float_of(*condition) >= 0 ? ops[1] : ops[2]});
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
  const bool low = form.lo && size_of(form.type()) == 8;
  const bool wide = form.wide && size_of(form.type()) == 4 && !is_mad;
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
  if (form.type_count != 2 || form.types[0] != Type::tf32 || form.rounding == Rounding::rna) return;
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
  if (form.ftz || type == Type::bf16x2) return;
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
  if (form.rounding != Rounding::rzi || !is_half(from) || is_half(form.types[0])) return;
  const uint32_t before = writer(at);
  if (before == kNone || !items_[before].match) return;
  const Form& first = items_[before].match->form;
  const bool negates = is(before, "neg");
  const bool flushes = (negates || is(before, "abs")) && first.type() == Type::f16 && first.ftz;
  const bool converts = is(before, "cvt") && first.type_count == 2 && first.types[0] == from &&
                        first.rounding == Rounding::rn && first.modifiers.size() == 3 &&
                        first.types[1] == (from == Type::f16 ? Type::bf16 : Type::f16);
  if (!flushes && !converts) return;
  std::string mnemonic(item.source->mnemonic);
  mnemonic.replace(mnemonic.find("rzi"), 3, "rni");
  const Operand source = first_source(before);
  replace(
      at, mnemonic,
      {item.source->operands[0], flushes ? change_sign(at, source, negates, Type::f16) : source});
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
          {item.source->operands[0], change_sign(at, given, item.match->root == "neg", Type::f32)});
}

}  // namespace ridge::vm
