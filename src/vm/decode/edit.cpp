#include "vm/decode/edit.h"

#include <algorithm>

namespace ridge::vm {
namespace {

// An unguarded instruction that writes its first operand and reads the others.
void set_instruction(Item& item, const Instruction& instruction) {
  const auto& ops = instruction.operands;
  item.source = &instruction;
  item.match = instruction.match;
  item.defs = {ops[0].reg};
  item.uses.clear();
  if (item.guard >= 0) item.uses.push_back(item.guard);
  for (size_t k = 1; k < ops.size(); ++k)
    if (ops[k].kind == Operand::Kind::reg) item.uses.push_back(ops[k].reg);
}

}  // namespace

Type bits_like(Type type) {
  const int size = size_of(type);
  return size == 8 ? Type::b64 : size == 4 ? Type::b32 : Type::b16;
}

Operand ItemEditor::new_register(Type type) {
  Operand result;
  result.kind = Operand::Kind::reg;
  result.reg = int32_t(registers_.size());
  registers_.push_back({"%inserted", bits_like(type)});
  return result;
}

Instruction& ItemEditor::keep(const Instruction& like, const std::string& mnemonic,
                              std::initializer_list<Operand> operands) {
  code_.spellings.push_back(mnemonic);
  Instruction& kept = code_.inserted.emplace_back(like);
  kept.mnemonic = code_.spellings.back();
  kept.operands = operands;
  std::string error;
  kept.match = find_instruction(mnemonic, &error, int(operands.size()));
  return kept;
}

void ItemEditor::insert(uint32_t at, const std::string& mnemonic,
                        std::initializer_list<Operand> operands, Guard guard) {
  Item item;
  item.counts = 0;
  item.guard = guard.reg;
  item.guard_negated = guard.negated;
  set_instruction(item, keep(*items_[at].source, mnemonic, operands));
  inserted_.emplace_back(at, std::move(item));
}

void ItemEditor::replace(uint32_t at, const std::string& mnemonic,
                         std::initializer_list<Operand> operands) {
  set_instruction(items_[at], keep(*items_[at].source, mnemonic, operands));
}

void ItemEditor::finish() {
  std::stable_sort(inserted_.begin(), inserted_.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Item> rebuilt;
  rebuilt.reserve(items_.size() + inserted_.size());
  std::vector<uint32_t> moved(items_.size());
  auto next = inserted_.begin();
  for (uint32_t i = 0; i < items_.size(); ++i) {
    moved[i] = uint32_t(rebuilt.size());
    for (; next != inserted_.end() && next->first == i; ++next)
      rebuilt.push_back(std::move(next->second));
    if (!dropped_[i]) rebuilt.push_back(std::move(items_[i]));
  }
  for (Item& item : rebuilt)
    if (item.kind == Item::Kind::jump || item.kind == Item::Kind::branch)
      item.target = moved[item.target];
  for (auto& table : tables_)
    for (uint32_t& target : table) target = moved[target];
  items_ = std::move(rebuilt);
}

}  // namespace ridge::vm
