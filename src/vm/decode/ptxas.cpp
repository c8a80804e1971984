// One walk over the items. Single instructions are rewritten as they are met. Foldings need to know
// which instruction an operand came from: inside a basic block that is the latest write; from
// another block only a write that is alone in its web counts, of a source that is so, too.
#include "vm/decode/ptxas.h"

#include <algorithm>

#include "vm/decode/ptxas_rules.h"

namespace ridge::vm {

void PtxasRules::prepare() {
  writes_.assign(registers_.size(), 0);
  latest_.assign(registers_.size(), {});
  sources_.assign(items_.size(), {kNone, kNone, kNone});
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
  for (size_t k = 1; k <= 3 && k < ops.size(); ++k)
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

// The bits of source k where it is a constant, or a register that one was moved to.
std::optional<uint64_t> PtxasRules::constant(uint32_t at, int k) {
  const Operand& op = items_[at].source->operands[size_t(k)];
  if (is_imm(op)) return op.bits;
  const uint32_t before = writer(at, k);
  if (!is(before, "mov") || !is_imm(items_[before].source->operands[1])) return {};
  return items_[before].source->operands[1].bits;
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
  const std::string_view root = item.match->root;
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

void follow_ptxas(std::vector<Item>& items, std::vector<std::vector<uint32_t>>& tables,
                  std::vector<Register>& registers, Code& code) {
  PtxasRules(items, tables, registers, code).run(code.module->optimised);
}

}  // namespace ridge::vm
