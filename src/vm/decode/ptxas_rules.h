// The walk that follows ptxas: ptxas.cpp looks things up and rewrites single instructions,
// ptxas_fold.cpp has the foldings.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "vm/decode/edit.h"
#include "vm/decode/reaching.h"

namespace ridge::vm {

inline Operand immediate(uint64_t bits) {
  Operand op;
  op.kind = Operand::Kind::imm;
  op.bits = bits;
  return op;
}

inline std::string with_type(const char* root, Type type) {
  return root + ('.' + std::string(name_of(type)));
}

inline bool is_reg(const Operand& op) { return op.kind == Operand::Kind::reg; }
inline bool is_imm(const Operand& op) { return op.kind == Operand::Kind::imm; }

class PtxasRules {
 public:
  static constexpr uint32_t kNone = ~0u;

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
  std::optional<uint64_t> constant(uint32_t at, int k);
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
    return at != kNone && items_[at].match && items_[at].match->root == root;
  }
  // neg or abs of this type that passes subnormals.
  bool is_sign(uint32_t at, std::string_view root, Type type) const {
    return is(at, root) && items_[at].match->form.type() == type && !items_[at].match->form.ftz;
  }

  std::vector<Item>& items_;
  std::vector<std::vector<uint32_t>>& tables_;
  std::vector<Register>& registers_;
  ItemEditor editor_;
  Reaching reaching_;
  std::vector<uint8_t> begins_;  // by item: a basic block begins here
  std::vector<uint8_t> writes_;  // to each register: none, one, or 2 for more
  std::vector<Write> latest_;    // by register
  // By item: its block's latest writes of its first three sources.
  std::vector<std::array<uint32_t, 3>> sources_;
  std::map<uint32_t, Operand> saved_;  // by item: a register that keeps its first source
  uint32_t block_ = 0;
  bool changed_ = false;
};

}  // namespace ridge::vm
