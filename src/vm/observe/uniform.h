// Which registers hold one value for all lanes of a warp, as far as a compiler can tell.
#pragma once

#include <vector>

#include "vm/decode/code.h"

namespace ridge::vm::observe {

class Uniform {
 public:
  explicit Uniform(const Function& function);

  // Whether all lanes see one value, or one address, in the operand.
  bool operator()(const Operand& operand) const;

 private:
  bool pass();  // true when a register was found to vary
  bool varies(const Instruction& ins) const;
  void find_divergent();

  const Function& function_;
  std::vector<const Operand*> written_;  // by instruction; nullptr: it writes no register
  std::vector<uint32_t> writes_;         // by register: how many instructions write it
  std::vector<bool> varying_;            // by register
  std::vector<bool> divergent_;          // by instruction: where lanes may have gone different ways
};

}  // namespace ridge::vm::observe
