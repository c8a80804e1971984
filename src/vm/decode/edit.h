// Changes to a function's items by the passes that follow ptxas (ptxas.cpp, contract.cpp): items
// put before others, items left out, instructions that the PTX text does not have.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "vm/decode/flow.h"

namespace ridge::vm {

// The register type, and the suffix of mov, of a value of this type.
Type bits_like(Type type);

struct Guard {
  int32_t reg = -1;
  bool negated = false;
};

class ItemEditor {
 public:
  ItemEditor(std::vector<Item>& items, std::vector<std::vector<uint32_t>>& tables,
             std::vector<Register>& registers, Code& code)
      : items_(items),
        tables_(tables),
        registers_(registers),
        code_(code),
        dropped_(items.size(), 0) {}

  // A new register of this type's width.
  Operand new_register(Type type);
  // `mnemonic` with these operands, before item `at`.
  void insert(uint32_t at, const std::string& mnemonic, std::initializer_list<Operand> operands,
              Guard guard = {});
  // The item becomes another instruction under the same guard.
  void replace(uint32_t at, const std::string& mnemonic, std::initializer_list<Operand> operands);
  void drop(uint32_t at) { dropped_[at] = 1; }

  // Does it. Jumps to an item come to what was put before it.
  void finish();

 private:
  Instruction& keep(const Instruction& like, const std::string& mnemonic,
                    std::initializer_list<Operand> operands);

  std::vector<Item>& items_;
  std::vector<std::vector<uint32_t>>& tables_;
  std::vector<Register>& registers_;
  Code& code_;
  std::vector<std::pair<uint32_t, Item>> inserted_;  // before an item
  std::vector<uint8_t> dropped_;
};

}  // namespace ridge::vm
